"""Settings of all tests of evaluations."""

from __future__ import annotations

import pytest

from dialectree.evals.reporting import answers
from tests.browser import browser

__all__ = ["browser", "few_resamples"]


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Resample a report's figures a few times only: no test looks at these intervals."""
    monkeypatch.setattr(answers, "resamples", lambda n: 20)
