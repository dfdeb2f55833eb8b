"""How a run ends where it cannot begin, or where its program ends: with a record, and unlocked."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import dialectree
from dialectree.errors import SettingsError
from dialectree.records import Event
from dialectree.report import part
from dialectree.running.runner import again
from tests import running
from tests.endpoint import LocalEndpoint


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with LocalEndpoint(seed=3) as endpoint:
        yield f"openai:any@{endpoint.url}"


def test_a_run_whose_cache_cannot_be_opened_says_so_in_its_record(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIALECTREE_CACHE_URL", "bogus://nowhere")
    run = running.begin("cot", "Cows eat grass.", tmp_path, model=model, cache=True)
    with pytest.raises(SettingsError, match="must begin with postgresql") as fault:
        asyncio.run(run.conduct())
    record = run.folder.record()
    assert (record.status, record.notices) == ("partial", [str(fault.value)])
    kinds = [event.kind for event in run.folder.events()]
    assert (kinds[0], kinds[-1]) == ("began", "ended")
    monkeypatch.delenv("DIALECTREE_CACHE_URL")
    assert asyncio.run(again(run.folder, {}).conduct()).status == "answered"


def test_a_program_that_ends_within_a_run_leaves_its_folder_unlocked(model: str, tmp_path: Path) -> None:
    def leave(event: Event) -> None:
        sys.exit(3)

    run = running.begin("cot", "Cows eat hay.", tmp_path, model=model)
    with pytest.raises(SystemExit):
        asyncio.run(run.conduct(watch=leave))
    assert asyncio.run(again(run.folder, {}).conduct()).status == "answered"


def test_waiting_reports_are_written_during_a_later_debate_and_not_by_a_fork(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "_MOST_WAITING", 1)

    def debate(claim: str) -> Path:
        record = dialectree.run("art", claim, method_name="cot", model=model, runs=tmp_path)
        return record.path / "report.html"

    first = debate("Cows eat.")
    child = os.fork()
    if child == 0:
        os._exit(len(part._waiting))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not first.exists()
    second = debate("Cows drink.")
    assert first.exists() and not second.exists()
    shutil.rmtree(second.parent)
    part.write_waiting()  # of the second one nothing is left
    assert not second.parent.exists()
