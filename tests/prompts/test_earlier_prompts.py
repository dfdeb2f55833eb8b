"""A run that goes on is asked in the words that it was asked in; a new one in those of today."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

import dialectree
from dialectree import prompts
from dialectree.contests import Add
from dialectree.records.folder import RunFolder
from tests.cli.commands import command
from tests.endpoint import LocalEndpoint
from tests.grounding import pointing

ROOM = Path(prompts.__file__).parent
EARLIER = sorted(ROOM.glob("*/earlier/*.md"))
OLD = Path(__file__).parents[1] / "running" / "old_runs"
JUDGE = "pairwise_judge"
LANGUAGE = "Write in the language of the question or claim."


@pytest.mark.parametrize("path", EARLIER, ids=lambda path: path.stem)
def test_earlier_words_have_the_version_that_their_file_names(path: Path) -> None:
    stem, _, version = path.stem.rpartition("@")
    name = f"{path.parents[1].name}/{stem}"
    old, new = prompts.load(name, int(version)), prompts.load(name)
    assert (old.version, old.label) == (int(version), f"{name}@{version}")
    assert new.version > old.version and new.body != old.body
    assert name in prompts.names(path.parents[1].name) and path.stem not in str(prompts.names)


def test_words_that_are_gone_are_those_of_today() -> None:
    name = "role_switching_debate/role_switch"
    assert prompts.load(name, 1) == prompts.load(name, None) == prompts.load(name)


def test_a_contest_of_an_old_run_asks_in_its_words_and_a_new_run_in_ours() -> None:
    shutil.copytree(OLD / "art" / "finished", Path("runs", "art"))
    with LocalEndpoint(seed=3) as endpoint:
        model: dict[str, Any] = {"model": f"openai:any@{endpoint.url}", "cache": False}
        wish = Add("attack", "0", "A whale has fins.")
        old = dialectree.contest(Path("runs", "art"), [wish], **model)
        new = dialectree.verify("Whales are no fish.", **model)
    assert old.path is not None and new.path is not None
    for record, version in ((old, 2), (new, 3)):
        assert record.path is not None
        calls = RunFolder(record.path).calls()
        labels = {call.prompt for call in calls if call.role == JUDGE}
        assert labels == {f"adaptive_reasoning_tree/{JUDGE}@{version}"}
    assert old.settings["language"] == "" and new.settings["language"] == "auto"


def test_a_resume_says_before_it_pays_which_words_are_gone() -> None:
    shutil.copytree(OLD / "rsd" / "broken_off", folder := Path("runs", "rsd"))
    journal = folder / "calls.jsonl"
    journal.write_text(journal.read_text().replace("/proposal@3", "/proposal@1"))
    line = "version 1 of the prompt role_switching_debate/proposal, now gone"
    with LocalEndpoint(seed=3) as endpoint:
        done = command("resume", str(folder), "--model", f"openai:any@{endpoint.url}", "--no-cache")
        assert endpoint.stats()["calls"] > 0
    first = done.err.split("\ndialectree: ")[0].replace("\n", " ")
    assert line in " ".join(first.split()), done.err
    assert [line in notice for notice in RunFolder(folder).record().notices] == [True]


@pytest.mark.parametrize(
    ("language", "said"), [("auto", LANGUAGE), ("German", "Write in German."), ("", None)]
)
def test_speakers_are_told_in_which_language_to_write(language: str, said: str | None) -> None:
    model = pointing()
    asyncio.run(dialectree.arun("rsd", question="What?", options=["a", "b"], model=model, language=language))
    assert model.calls
    for call in model.calls:
        assert call.prompt.count("\n\nWrite in ") == (said is not None)
        assert said is None or f"\n\n{said}" in call.prompt
