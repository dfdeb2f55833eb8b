"""A wrong call is answered with the right one: each message can be pasted, and nothing is paid."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from dialectree.models import endpoints
from dialectree.models.error_mapping import SERVERS, describe_silence
from dialectree.models.specs import Spec
from dialectree.protocols.protocol import Protocol, load_protocols
from dialectree.records.folder import RunFolder
from tests.cli.commands import command, refused, runs
from tests.endpoint import LocalEndpoint
from tests.servers import free_port

Q = "answer Q? --model openai:x"
SAYS_BATS = "verify 'Bats are blind.' --model openai:x"
NOT_FETCHED = "addresses are not fetched; save the page as a file and name the file"

CALLS = {
    # a question or a claim without a command
    "'Is tea healthy?'": 'dialectree answer "Is tea healthy?"',
    "'Is tea healthy?' --option yes --option no": 'decide "Is tea healthy?" --option yes --option no',
    "'Bats are blind.'": 'dialectree verify "Bats are blind."',
    "'Does it cost $5?'": "dialectree answer 'Does it cost $5?'",
    "Is tea healthy? --quiet": 'dialectree answer "Is tea healthy?" --quiet',
    # words for what there is a command for
    "debate 'Is tea healthy?'": 'dialectree answer "Is tea healthy?"',
    "debate": "did you mean: dialectree answer",
    "debate Which? --option=a --option=b": "dialectree decide",
    "ask 'Bats are blind.'": 'dialectree verify "Bats are blind."',
    "check 'Bats are blind.'": 'dialectree verify "Bats are blind."',
    "vs one.pdf other.pdf --topic t": "dialectree compare one.pdf other.pdf --topic t",
    "choose Which?": "dialectree decide",
    "ls": "did you mean: dialectree show",
    "continue last": "dialectree resume last",
    "rm last": "dialectree delete last",
    # names of protocols, methods, and commands of a group
    "tsd Q": "did you mean: dialectree answer Q",
    "self_consistency Q": "dialectree decide Q --method self_consistency",
    "calibrate DIR": "dialectree eval calibrate DIR",
    "preferences last": "dialectree export preferences last",
    # misspelt, and unlike anything
    "Verfy Q": "did you mean: dialectree verify Q",
    "xyzzy": "dialectree --help lists the commands",
    # a group without its command
    "export last": "export takes preferences, memo, such as: dialectree export preferences last",
    "model smollm2": "model takes list, get, remove, such as: dialectree model get smollm2",
    "model gte smollm2": "did you mean: dialectree model get smollm2",
    "run rds Q": "did you mean: dialectree run rsd Q",
    # one argument of two
    "compare one.pdf": "compare needs 2 of these; for example: dialectree compare one.pdf other.pdf --topic",
    "compare 'Memory is saved by sharing'": "'Memory is saved by sharing' is a text, not a file",
    "compare one.pdf other.pdf": "missing option '--topic'; for example: dialectree compare",
    "answer --max-depth 2": "missing argument 'QUESTION'; for example: dialectree answer",
    # several values in one
    "decide Q --option yes,no --model openai:x": "each value: --option yes --option no",
    "vote Q --option 'yes; not now' --model openai:x": '--option yes --option "not now"',
    f"{SAYS_BATS} --sources a.pdf,b.pdf": "each value: --sources a.pdf --sources b.pdf",
    # misspelt names
    "decide Q --method rds": "did you mean rsd?",
    "answer Q --model opnai:gpt-4.1-mini": "did you mean openai:gpt-4.1-mini?",
    "answer Q --model opnai:m@http://127.0.0.1:9/v1": "did you mean openai:m@http://127.0.0.1:9/v1?",
    "answer Q --model locl:smollm2": "did you mean local:smollm2?",
    "answer Q --model gpt-4.1-mini": "did you mean openai:gpt-4.1-mini?",
    "answer Q --model OpenAI:gpt-4.1-mini": "did you mean openai:gpt-4.1-mini?",
    "answer Q --model openai/gpt-4.1-mini": "did you mean openai:gpt-4.1-mini?",
    "answer Q --model claude-x": "did you mean anthropic:claude-x?",
    "answer Q --model smollm2": "did you mean local:smollm2?",
    "answer Q --model some.gguf": "did you mean local:some.gguf?",
    "answer Q --model local:smolm2": "did you mean local:smollm2?",
    "model get smolm2": "did you mean smollm2?",
    "answer Q --role leaf_juge=openai:x": "did you mean leaf_judge?",
    f"{SAYS_BATS} --role leaf_judge=openai:x": "art has no such role; known: ",
    "answer Q --leaf-protocol rsd --set rsd.gat=1 --model openai:x": "did you mean rsd.gate?",
    "demo tsdd": "did you mean tsd?",
    "demo decid": "did you mean decide?",
    "eval fevr": "did you mean fever?",
    f"{Q} --max-dept 3": "--max-depth",
    # addresses
    "answer Q --model openai:m@localhost:8000/v1": "did you mean openai:m@http://localhost:8000/v1?",
    "answer Q --model openai:m@127.0.0.1/v1": "did you mean openai:m@http://127.0.0.1/v1?",
    "answer Q --model openai:m --base-url host:8000": "did you mean http://host:8000?",
    f"{SAYS_BATS} --sources https://example.org/x.pdf": f"https://example.org/x.pdf: {NOT_FETCHED}",
    "sources https://example.org/x.pdf": f"https://example.org/x.pdf: {NOT_FETCHED}",
    "gate https://example.org/x.pdf": NOT_FETCHED,
    "gate 'Bats are blind.'": "'Bats are blind.' is a text, not a file",
    "eval https://example.org/x.csv": NOT_FETCHED,
    "view https://example.org/ --no-open": NOT_FETCHED,
    "compare https://example.org/x.pdf y.pdf --topic t": NOT_FETCHED,
    "compare 'A text about it' y.pdf --topic t": "'A text about it' is a text, not a file",
}


@pytest.mark.parametrize(("words", "said"), CALLS.items(), ids=[words[:60] for words in CALLS])
def test_a_wrong_call_is_answered_with_the_right_one(words: str, said: str) -> None:
    refused(command(*shlex.split(words)), said)
    assert not runs()


@pytest.mark.parametrize("spec", ["openai:m@me:sesame@host:80", "openai:m@host:80/v1?key=sesame"])
def test_a_correction_quotes_no_password(spec: str) -> None:
    for words in (["--model", spec], ["--model", "openai:m", "--base-url", spec.partition("@")[2]]):
        done = command("answer", "Q?", *words)
        assert done.status == 2 and "sesame" not in done.err and "did you mean" not in done.err


def test_what_is_suggested_can_be_pasted() -> None:
    done = command('Is "tea" $HOME healthy?', "--model", "openai:x", "--dry-run")
    suggested = shlex.split(done.err.partition("did you mean: dialectree ")[2])
    assert suggested == ["answer", 'Is "tea" $HOME healthy?', "--model", "openai:x", "--dry-run"]
    assert command(*suggested).status == 0


# A server that is down, and keys that are missing


@pytest.mark.parametrize("server", [None, *SERVERS], ids=str)
def test_an_address_where_nobody_answers_asks_for_the_server_of_its_port(
    server: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "UNREACHABLE_AFTER_S", 0.0)
    port, question = free_port(), ""
    if server is not None:  # the usual port may be in use here
        monkeypatch.setitem(SERVERS, port, SERVERS[server])
        question = f"is {SERVERS[server][0]} running (`{SERVERS[server][1]}`)? "
    done = command("answer", "Q?", "--model", f"openai:m@http://127.0.0.1:{port}/v1")
    assert done.status == 3
    assert f"nobody answers at http://127.0.0.1:{port}/v1: {question}Cannot connect" in done.err


def test_ollamas_own_package_is_asked_for_and_its_server_too() -> None:
    refused(command("answer", "Q?", "--model", "ollama:m"), "pip install langchain-ollama")
    assert "is Ollama running" in describe_silence(Spec("ollama", "m"), "")


KEY = "needs a key: set OPENAI_API_KEY"
KEYLESS = {
    "the model": (["--model", "openai:x"], [f"https://api.openai.com/v1 {KEY}"]),
    "one role": (["--model", "openai:x@{url}", "--role", "leaf_judge=openai:x"], [KEY]),
    "two keys": (
        ["--model", "openai:x", "--role", "leaf_judge=other:y"],
        [KEY, "other:y needs a key: set OTHER_API_KEY"],
    ),
}


@pytest.mark.parametrize(("words", "said"), KEYLESS.values(), ids=KEYLESS)
def test_missing_keys_are_named_before_a_folder_is_made(
    words: list[str], said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    def no_key(*args: object, **options: object) -> None:
        raise ValueError("Did not find other_api_key")

    monkeypatch.setattr("langchain.chat_models.init_chat_model", no_key)
    with LocalEndpoint() as endpoint:
        words = [word.format(url=endpoint.url) for word in words]
        done = command("answer", "Q?", *words)
        assert (done.status, done.out, endpoint.calls()) == (3, "", [])
        assert all(text in done.err for text in said) and done.err.count("\n") == 1
        assert not runs()
        assert command("answer", "Q?", *words, "--dry-run").status == 0
    assert not runs()


# Runs


def folders() -> list[Path]:
    """Return the folders of all runs, without the index."""
    return [path for path in runs() if path.is_dir()]


@pytest.mark.parametrize(
    "declared", [one for one in load_protocols().values() if one.demo and one.ours], ids=lambda one: one.name
)
def test_a_contest_without_a_change_lists_changes_that_the_run_takes(declared: Protocol) -> None:
    assert command("demo", declared.command, "--quiet").status == 0
    (path,) = runs()
    assert RunFolder(path).record().protocol == declared.name
    done = command("contest", "last")
    assert (done.status, done.out, folders()) == (2, "", [path])
    assert "nothing is contested; this run takes:" in done.err
    examples = re.findall(r"^  dialectree (contest .+)$", done.err, re.MULTILINE)
    changes = {re.findall(r" --([a-z-]+)", example)[0] for example in examples}
    weighed = {"set", "flip", "void", "add", "drop"}
    assert changes == (weighed if declared.name == "art" else {"replace", "verdict", "drop"})
    for example in examples:
        tried = command(*shlex.split(example), "--model", "openai:x@http://127.0.0.1:9", "--dry-run")
        assert tried.status == 0, tried.err
    assert folders() == [path]


def test_a_finished_run_is_not_resumed_and_costs_nothing() -> None:
    assert command("demo", "answer", "--quiet").status == 0
    (path,) = runs()
    before = {file: file.read_bytes() for file in path.iterdir()}
    for words in ([], ["--model", "openai:x@http://127.0.0.1:9"]):
        done = command("resume", "last", *words)
        assert done.status == 0 and "nothing to resume" in done.err
        assert "dialectree show last" in done.err and "dialectree contest last" in done.err
    assert {file: file.read_bytes() for file in path.iterdir()} == before and folders() == [path]


def test_a_folder_of_runs_is_listed_and_is_no_run() -> None:
    assert command("demo", "verify", "--quiet").status == 0
    listed = command("show").out
    assert command("show", "runs").out == listed
    Path("runs").rename("others")
    assert command("show", "others").out == listed
    assert command("show", "others", "--json").out == command("show", "--runs", "others", "--json").out
    for words in (["contest", "others", "--drop", "0.0"], ["resume", "others"]):
        refused(command(*words), "others is a folder of runs; name one; dialectree show others lists them")


ARITHMETIC = ("λ", "DF-QuAD", "by the judge of this question")


@pytest.mark.parametrize("name", ["verify", "answer"])
def test_the_verdict_leaves_its_arithmetic_to_show(name: str) -> None:
    told = command("demo", name).out
    shown = command("show", "last").out
    assert [sign for sign in ARITHMETIC if sign in shown] and not [
        sign for sign in ARITHMETIC if sign in told
    ]
    assert "written by hand" in told
