"""A call that the command line itself refuses: one line says what, in the form of all others."""

from __future__ import annotations

import pytest

from tests.cli.commands import command, refused

WRONG = {
    "answer Q? --depth-profile deep": (
        "--depth-profile: one of 'adaptive', 'fixed', 'safety', not 'deep'"
    ),
    "answer Q? --max-depth deep": "--max-depth: input should be a valid integer",
    "answer Q? --stop-threshold 1,5": "not '1,5'",
    "eval Q? --engine slow": "--engine: one of 'local', 'ray', not 'slow'",
    "answer Q? --depht 1": "no such option: --depht (Possible options: --max-depth,",
    "answr Q?": "no such command 'answr'. Did you mean 'answer'?",
    "resume": "missing argument 'run'",
    "show --node 0": "which run? dialectree show lists them",
    "answer Q? --model": "option '--model' requires an argument",
    "answer Q? --json=yes": "option '--json' does not take a value",
    "answer Q? --replay --no-cache": "--replay and --no-cache exclude each other",
    "answer Q? Again?": "unexpected extra argument",
}


@pytest.mark.parametrize(("words", "said"), WRONG.items(), ids=WRONG)
def test_a_wrong_call_is_one_line_that_says_what_was_given(words: str, said: str) -> None:
    done = command(*words.split())
    refused(done, said)
    assert "Value error" not in done.err


@pytest.mark.parametrize("words", [[], ["eval"], ["decide"]])
def test_a_command_without_words_shows_its_help(words: list[str]) -> None:
    done = command(*words)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("Usage: ") and "--help" in done.err


def test_the_help_that_was_asked_for_is_the_result() -> None:
    done = command("answer", "--help")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("Usage: ") and "Split a question" in done.out
