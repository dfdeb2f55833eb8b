"""What the tests of the door share."""

from __future__ import annotations

import pytest

from dialectree.system import clock
from tests.models.asking import QuickClock


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> QuickClock:
    """Nobody has to wait for retries."""
    made = QuickClock()
    monkeypatch.setattr(clock, "seconds", made.seconds)
    monkeypatch.setattr(clock, "sleep", made.sleep)
    return made


@pytest.fixture
def anyio_backend() -> str:
    """Let asynchronous tests run in asyncio alone."""
    return "asyncio"
