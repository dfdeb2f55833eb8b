"""Settings of the tests of the command line."""

from __future__ import annotations

import pytest

from dialectree.models import endpoints


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up sooner where nobody answers; the pauses between tries grow to two seconds."""
    monkeypatch.setattr(endpoints, "UNREACHABLE_AFTER_S", 2.5)
