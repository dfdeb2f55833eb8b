"""Settings of the tests of the command line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dialectree.models import endpoints
from tests.endpoint import LocalEndpoint


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    """Start an endpoint whose replies are drawn; a file of tests shares it."""
    with LocalEndpoint(seed=3) as started:
        yield started


@pytest.fixture
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the report of an evaluation, which has tests of its own."""
    after_run = "dialectree.interfaces.cli.evaluation_report.report_after_run"
    monkeypatch.setattr(after_run, lambda folder: [])


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up sooner where nobody answers; the pauses between tries grow to two seconds."""
    monkeypatch.setattr(endpoints, "UNREACHABLE_AFTER_S", 2.5)
