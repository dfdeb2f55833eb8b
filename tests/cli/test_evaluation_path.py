"""The path of an evaluation: each step names the command of the next, which can be pasted."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.commands import Done, command
from tests.endpoint import LocalEndpoint
from tests.evals import evaluating
from tests.evals.routed import sample, written
from tests.evals.test_calibrating import drawn, write

STEPS = ["evaluate", "audit", "route", "calibrate"]


pytestmark = pytest.mark.usefixtures("no_report")


def next_command(done: Done, step: str) -> list[str]:
    """Return the words of the next command, which is for ``step``."""
    assert done.status == 0, done.err
    number = STEPS.index(step) + 1
    named, command_line = done.err.splitlines()[-2:]
    assert named.startswith(f"Next, step {number} of 4, {step}: ")
    program, *words = shlex.split(command_line)
    assert program == "dialectree"
    return words


def test_the_help_shows_the_steps_as_one_path_in_the_words_of_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = " ".join(command("eval", "--help").out.split())
    places = [shown.index(f"{number}. {step}: ") for number, step in enumerate(STEPS, 1)]
    assert places == sorted(places)
    folder = written(tmp_path / "e", sample("helps everywhere", 1, 100))
    purpose = re.search(r"Next, step 4 of 4, calibrate: ([^;\n]*)", command("eval", "route", str(folder)).err)
    assert purpose and f"4. calibrate: {purpose[1]}" in shown


def test_each_step_can_be_pasted_from_the_one_before(endpoint: LocalEndpoint) -> None:
    endpoint.reset()
    data = evaluating.choices(1).rename("my data.jsonl")
    model = f"openai:any@{endpoint.url}"
    begun = command(
        *(
            "eval",
            str(data),
            "--methods",
            "rsd,judge_alone",
            "--model",
            model,
            "--limit",
            "2",
            "--max-calls",
            "900",
        )
    )
    audit = next_command(begun, "audit")
    assert audit[:3] == ["eval", "audit", "my data.jsonl"]
    assert {"--limit", "--model", "--max-calls"} <= {*audit}
    calls = endpoint.stats()["calls"]
    audited = command(*audit, "--yes")
    votes = next_command(audited, "route")
    assert votes[votes.index("--vote-first") + 1] == "3" and model in votes
    voted = command(*votes, "--yes")
    route = next_command(voted, "route")
    assert route == ["eval", "route", "evaluations/my data-votes"]
    assert {path.name for path in Path("evaluations").iterdir()} == {
        "my data",
        "my data-audit",
        "my data-votes",
    }
    routed = command(*route)
    calibrate = next_command(routed, "calibrate")
    assert calibrate == ["eval", "calibrate", "evaluations/my data-votes"]
    assert "it needs 50 answers of a method, and here are " in routed.err
    assert endpoint.stats()["calls"] > calls > 0


def test_the_last_step_saves_the_calibration_and_shows_a_debate_that_takes_it() -> None:
    write(drawn("inverted", 150))
    save = next_command(command("eval", "calibrate", "out"), "calibrate")
    assert save == ["eval", "calibrate", "out", "--save", "out/calibration.json"]
    saved = command(*save)
    assert Path("out/calibration.json").is_file()
    ending, debate = saved.err.splitlines()[-2:]
    assert ending.startswith("The path ends here")
    assert debate.startswith("  dialectree run rsd ") and save[-1] in debate
    write(drawn("constant and right", 150))
    ended = command("eval", "calibrate", "out").err
    assert ended == "The path ends here: no calibration improves the confidences.\n"


def test_a_quiet_step_names_no_next_one_and_questions_without_right_answers_have_none(
    endpoint: LocalEndpoint,
) -> None:
    model = ("--model", f"openai:any@{endpoint.url}", "--methods", "direct")
    assert command("eval", str(evaluating.claims(1)), *model, "-q").err == ""
    data = evaluating.write([{"claim": "Cows eat grass."}], Path("open.jsonl"))
    assert "Next" not in command("eval", str(data), *model).err
