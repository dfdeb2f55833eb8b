"""``local:PATH.gguf``: a wrong file is refused before a run, and a small model is announced."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import dialectree
from dialectree.embedded import engine as embedded
from dialectree.errors import SettingsError
from dialectree.flow.steps import DEMONSTRATION as TOOK_PART
from dialectree.graphs.tree_structured_debate.baselines import single_shot
from dialectree.interfaces.cli.progress import demonstration
from tests.cli.commands import command, refused, runs
from tests.endpoint import LocalEndpoint
from tests.models.gguf_file import gguf

pytestmark = pytest.mark.skipif(
    not importlib.util.find_spec("xllamacpp"), reason="needs xllamacpp, which serves such files"
)
WRONG = {
    "nowhere": "there is no model file nowhere.gguf: write local:smollm2 or local:FILE.gguf",
    "folder": "there is no model file folder.gguf",
    "notes": "notes.gguf is not a GGUF file",
    "truncated": "truncated.gguf is truncated at 300 bytes",
    "plain": "plain.gguf has no chat template (tokenizer.chat_template), so it cannot be asked",
}
QUESTION = ("decide", "What do cows eat?", "--option", "plants", "--option", "meat")


@pytest.fixture(scope="module")
def served() -> Iterator[LocalEndpoint]:
    with LocalEndpoint() as endpoint:
        yield endpoint


@pytest.fixture(autouse=True)
def files(served: LocalEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write files to the current folder; a file that can be served answers from an endpoint."""
    Path("folder.gguf").mkdir()
    Path("notes.gguf").write_text("Dear diary")
    truncated = gguf(Path("truncated.gguf"), [(8, 8), (64,)])
    truncated.write_bytes(truncated.read_bytes()[:300])
    gguf(Path("plain.gguf"), [(8, 8)], template=None)
    gguf(Path("small.gguf"), [(1000, 1000, 999)])
    gguf(Path("large.gguf"), [(1000, 1000, 1000)])
    Path("mine.jsonl").write_text(
        json.dumps({"id": "a", "question": "Hot?", "options": ["yes", "no"], "gold": "A"})
    )

    async def serve(model: str) -> tuple[str, str]:
        return served.url, ""

    monkeypatch.setattr(embedded, "serve", serve)


@pytest.mark.parametrize(("name", "line"), WRONG.items())
def test_a_wrong_file_is_refused_in_one_line_before_a_run_is_begun(name: str, line: str) -> None:
    model = f"local:{name}.gguf"
    refused(command(*QUESTION, "--model", model), line)
    refused(command(*QUESTION, "--role", f"judge={model}", "--model", "local:small.gguf"), line)
    refused(command("eval", "mine.jsonl", "--methods", "basic", "--model", model), line)
    with pytest.raises(SettingsError) as error:
        dialectree.decide("What do cows eat?", options=["plants", "meat"], model=model)
    assert line in str(error.value)
    assert runs() == [] and not Path("evals").exists()


def test_a_judge_that_cannot_be_served_is_refused_before_an_evaluation_is_begun() -> None:
    item = {"id": "a", "question": "Hot?", "true": ["yes"], "false": ["no"]}
    Path("mine.jsonl").write_text(json.dumps(item))
    words = ("eval", "mine.jsonl", "--methods", "single_shot", "--model", "local:small.gguf")
    refused(command(*words, "--judge", "local:plain.gguf"), WRONG["plain"])
    assert not Path("evals").exists()


@pytest.mark.parametrize("name", ["small", "large"])
def test_a_model_below_a_billion_parameters_is_announced(name: str) -> None:
    model, small = f"local:{name}.gguf", name == "small"
    done = command(*QUESTION, "--model", model, "--json")
    assert (demonstration().splitlines()[0] in done.err) is small
    assert done.record["demonstration"] is small
    (run,) = runs()
    page = (run / "report.html").read_text()
    assert ("A model below 1 billion parameters answers at chance" in page) is small
    assert (dialectree.load(run).demonstration) is small
    done = command("eval", "mine.jsonl", "--methods", "basic", "--model", model, "--out", "out")
    assert (demonstration().splitlines()[0] in done.err) is small
    assert json.loads(Path("out/evaluation.json").read_text())["demonstration"] is small
    assert ("answers at chance" in command("doctor", "--model", model).out) is small


@pytest.mark.parametrize(("name", "notes"), [("small", [TOOK_PART]), ("large", [])])
def test_a_host_is_told_where_a_model_that_answers_at_chance_took_part(name: str, notes: list[str]) -> None:
    context = {"model": f"local:{name}.gguf", "cache": False}
    asked = single_shot.ainvoke({"question": "What do cows eat?"}, context=context)
    assert asyncio.run(asked)["verdict"]["notes"] == notes
