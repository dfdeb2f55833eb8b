"""How a run ends where it cannot begin, or where its program ends: with a record, and unlocked."""

from __future__ import annotations

import asyncio
import os
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


def test_a_program_that_ends_within_a_run_leaves_its_folder_unlocked(
    model: str, tmp_path: Path
) -> None:
    def leave(event: Event) -> None:
        sys.exit(3)

    run = running.begin("cot", "Cows eat hay.", tmp_path, model=model)
    with pytest.raises(SystemExit):
        asyncio.run(run.conduct(watch=leave))
    assert asyncio.run(again(run.folder, {}).conduct()).status == "answered"


def test_reports_are_no_business_of_a_process_that_was_forked_meanwhile(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "SOON_S", 60)
    record = dialectree.run("art", "Cows eat.", method_name="cot", model=model, runs=tmp_path)
    with part._writing:  # as a thread holds it that writes
        child = os.fork()
        if child == 0:
            free = part._writing.acquire(blocking=False)
            os._exit(0 if free and not part._waiting else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not (record.path / "report.html").exists()
    part.write_waiting()
    assert (record.path / "report.html").exists()
