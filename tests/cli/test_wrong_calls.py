"""A call that cannot be carried out: status 2, one line on stderr that says what, and no run."""

from __future__ import annotations

import shlex

import pytest

from tests.cli.commands import command, refused, runs
from tests.endpoint import LocalEndpoint

Q = "answer Q? --model openai:x"
DECIDE = "decide Q? --model openai:x --option a"
VERIFY = "verify 'Bees can count.' --model openai:x"
WRONG = {
    f"{Q} --depth-profile deep": ("--depth-profile: one of 'adaptive', 'fixed', 'safety', not 'deep'"),
    f"{Q} --max-depth deep": "--max-depth: input should be a valid integer",
    f"{Q} --stop-threshold 1,5": "not '1,5'",
    f"{Q} --depht 1": "no such option: --depht",
    f"{Q} --json=yes": "option '--json' does not take a value",
    f"{Q} --replay --no-cache": "--replay and --no-cache exclude each other",
    "verify Bats are blind. --model openai:x": "put the text in quotes",
    f"{Q} --breadth 2": "an option of verify, gate",
    "run nosuch": "run takes art, rsd",
    f"{Q} --method single_shot --max-depth 2": "--max-depth: single_shot has no such setting",
    f"{Q} --set rsd.gate=1": "--set rsd: with these settings tsd holds no debate by rsd",
    f"{Q} --role leaf_judge": "--role 'leaf_judge': write NAME=VALUE",
    f"{Q} --role leaf_judge=openai:a --role leaf_judge=openai:b": ("--role leaf_judge: two values; give one"),
    f"{Q} --price openai:x=1": "write SPEC=PROMPT,COMPLETION[,CACHED]",
    "answer Q? --model": "option '--model' requires an argument",
    "answer Q? --model gpt": "openai:NAME",
    "answer ' \n'": "the question is empty",
    "answr Q?": "no such command 'answr'; did you mean: dialectree answer \"Q?\"",
    DECIDE: "one option is no choice",
    f"{DECIDE} --option b --gold C": "--gold C: there is no such option",
    f"{DECIDE} --option b --candidates oracle": "--gold LABEL",
    f"{DECIDE} --option b --method tsd": "known: rsd, no_role_switch, no_uncertainty",
    f"{VERIFY} --blend nan": "--blend",
    "verify 'Is it so?' --model openai:x": "this is a question",
    "verify ... --model openai:x": "this claim has no word in it",
    "compare a.txt b.txt --topic t --model openai:x": "a.txt: no such file",
    "compare a.txt b.txt --model openai:x": "missing option '--topic'",
    "eval Q? --engine slow": "--engine: one of 'local', 'ray', not 'slow'",
    "resume": "missing argument 'run'",
    "resume nothing": "there is no run 'nothing'",
    f"show {'x' * 300}": "there is no run",
    "show --node 0": "which run? dialectree show lists them",
}


@pytest.mark.parametrize(("words", "said"), WRONG.items(), ids=[words[:60] for words in WRONG])
def test_a_wrong_call_is_one_line_that_says_what_is_wrong(words: str, said: str) -> None:
    done = command(*shlex.split(words))
    refused(done, said)
    assert "Value error" not in done.err
    assert not runs()


def test_a_wrong_pair_names_those_that_were_compared() -> None:
    with LocalEndpoint() as endpoint:
        model = ["--model", f"openai:any@{endpoint.url}"]
        assert command("verify", "Bees can count.", *model).status == 0
    refused(command("contest", "last", "--flip", "0.0:0.0"), "compared were 0.0:0.1")


def test_a_long_question_is_remarked_on() -> None:
    done = command("answer", "x" * 120_000, "--model", "openai:x", "--dry-run")
    assert done.status == 0 and "120,000 characters" in done.err


@pytest.mark.parametrize("words", [[], ["answer"], ["eval"]])
def test_a_command_without_words_shows_its_help(words: list[str]) -> None:
    done = command(*words)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("Usage: ") and "--help" in done.err


def test_the_help_that_was_asked_for_is_the_result() -> None:
    done = command("answer", "--help")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("Usage: ") and "Split a question" in done.out
