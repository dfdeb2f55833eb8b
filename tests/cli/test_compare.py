"""``dialectree compare`` as a person or a script meets it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import huggingface_hub.constants
import pytest

from tests.cli.commands import Done, command, refused, runs
from tests.endpoint import LocalEndpoint
from tests.graphs.tree_of_debate.comparing import PAPER_A, PAPER_B, TOPIC

WORDS = ["--topic", TOPIC, "--embeddings", "bm25", "--max-depth", "1"]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(seed=5) as started:
        yield started


@pytest.fixture
def model(endpoint: LocalEndpoint) -> tuple[str, str]:
    return "--model", f"openai:any@{endpoint.url}"


@pytest.fixture(autouse=True)
def files() -> None:
    """Both papers, and files that are none."""
    text = "\n\n".join((PAPER_A["title"], PAPER_A["abstract"], PAPER_A["body"]))
    Path("ladder.txt").write_text(text)
    Path("mesh.json").write_text(json.dumps({k: v for k, v in PAPER_B.items() if k != "name"}))
    Path("bare.json").write_text(json.dumps({"body": PAPER_B["body"]}))
    Path("empty.pdf").write_bytes(b"")
    Path("list.json").write_text("[1, 2]")


def compare(*words: str, papers: tuple[str, str] = ("ladder.txt", "mesh.json")) -> Done:
    return command("compare", *papers, *words)


WRONG: dict[str, tuple[tuple[str, str], list[str], str]] = {
    "an empty file": (("empty.pdf", "mesh.json"), WORDS, "empty.pdf: an empty file"),
    "a list": (("ladder.txt", "list.json"), WORDS, "list.json: not a JSON object"),
    "the same file": (("ladder.txt", "ladder.txt"), WORDS, "ladder.txt: both papers are the same"),
    "no title": (
        ("ladder.txt", "bare.json"), WORDS, "no title found in it; give it with --title-b",
    ),
    "a key that BibTeX would not take": (
        ("ladder.txt", "mesh.json"),
        [*WORDS, "--key-a", "foo{bar}"],
        "paper a: 'foo{bar}' is no BibTeX key; give one like rahimi2007",
    ),
    "an empty topic": (("ladder.txt", "mesh.json"), ["--topic", " "], "the topic is empty"),
    "another protocol": (
        ("ladder.txt", "mesh.json"),
        [*WORDS, "--method", "rsd"],
        "known: tod, no_tree, no_self_deliberation, single_stage, two_stage, best_comparison",
    ),
    "a role of another protocol": (
        ("ladder.txt", "mesh.json"), [*WORDS, "--role", "judge=openai:x"], "judge",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("papers", "words", "said"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_compared_is_said_before_a_folder_is_made(
    papers: tuple[str, str], words: list[str], said: str
) -> None:
    refused(compare(*words, "--model", "openai:x", papers=papers), said)
    assert not runs()


def test_without_the_embedding_model_the_line_says_how_to_get_one(
    model: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", "nowhere")
    done = compare("--topic", TOPIC, "--quiet", "--no-cache", *model)
    assert done.status == 3, done.err
    assert "BAAI/bge-small-en-v1.5" in done.err and "--embeddings" in done.err
    assert "Traceback" not in done.err
    (run,) = runs()
    assert json.loads((run / "run.json").read_text())["status"] == "partial"
    assert json.loads((run / "run.json").read_text())["usage"]["calls"] == 0


def test_a_paper_without_an_abstract_is_compared_and_a_notice_says_so_before_the_debate(
    model: tuple[str, str],
) -> None:
    words = [*WORDS, "--title-a", "Mesh", "--max-calls", "1", "--json", *model]
    done = compare(*words, papers=("bare.json", "ladder.txt"))
    said = "bare.json: no abstract found in it; its opening paragraphs are used as the abstract"
    assert done.err.splitlines()[1] == f"dialectree: {said}" and done.err.count(said) == 1
    assert done.record["notices"][0] == said
    resumed = command("resume", done.record["run_id"], "--json", *model)
    assert (resumed.status, resumed.record["notices"]) == (0, [said])
    assert resumed.err.count(said) == 1


def test_an_error_that_quotes_a_name_steers_no_terminal_and_begins_no_line() -> None:
    odd = "\x1b[31mred\x9b1m\u202e\u2028dialectree: all is well\r.pdf"
    done = compare(*WORDS, "--model", "openai:x", papers=(odd, "mesh.json"))
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("dialectree: red") and "no such file" in done.err
    assert not [c for c in done.err if c != "\n" and not c.isprintable()]
    assert done.err.count("\ndialectree:") == 0
