"""A run whose protocol is not installed any more looks as it did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dialectree import report
from dialectree.protocols import plugins, protocol
from dialectree.records import RunRecord
from dialectree.report.pages import card
from tests.report.recorded import FOLDERS, calls, record

OWN_VIEW = "tod"
"""A protocol with a view of its own, whose code does not travel with a run."""


def drawn(run: RunRecord, name: str) -> list[Any]:
    ledger = calls(name)
    return [report.html(run, ledger), report.markdown(run, ledger), card(run), repr(run)]


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(plugins, "load_declarations", lambda: ({}, {}))
        assert protocol.load_protocols() == {}
        yield


WANTED = {name: drawn(record(name), name) for name in FOLDERS if name != OWN_VIEW}


@pytest.mark.usefixtures("nothing_installed")
@pytest.mark.parametrize("name", WANTED)
def test_reports_read_the_record_and_not_what_is_installed(name: str) -> None:
    assert drawn(record(name), name) == WANTED[name]


@pytest.mark.usefixtures("nothing_installed")
def test_a_comparison_with_a_view_of_its_own_is_drawn_round_by_round() -> None:
    assert "Tree-of-Debate" in report.markdown(record(OWN_VIEW), calls(OWN_VIEW))
