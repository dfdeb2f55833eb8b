"""What a person and a script are told before the first call, and when they are asked."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import dialectree
from dialectree.interfaces.cli import consent
from tests.cli.commands import Done, command, refused, runs
from tests.endpoint import LocalEndpoint

CLAIM = "Bats are blind."
MANY = ("verify", CLAIM, "--breadth", "5", "--depth", "2")
"""More than 300 calls."""
LINE = re.compile(r"^dialectree: 5 calls, 2 in a row; about 1,\d00 tokens; how long is not .+\n")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint() as started:
        yield started


@pytest.fixture
def model(endpoint: LocalEndpoint) -> Iterator[tuple[str, str]]:
    endpoint.reset()
    yield "--model", f"openai:any@{endpoint.url}"


def asked_nothing(endpoint: LocalEndpoint) -> bool:
    """Whether no model was called and no run begun."""
    return endpoint.stats()["calls"] == 0 and runs() == []


def test_a_line_before_the_debate_says_what_it_will_take(model: tuple[str, str]) -> None:
    done = command("verify", CLAIM, *model)
    assert LINE.match(done.err) and done.status == 0
    assert "in a row" not in command("verify", CLAIM, "--quiet", *model).err


def test_a_dry_run_prints_the_line_alone(endpoint: LocalEndpoint, model: tuple[str, str]) -> None:
    done = command("verify", CLAIM, "--dry-run", *model)
    assert (done.status, done.err) == (0, "")
    assert LINE.match(f"dialectree: {done.out}")
    shown = json.loads(command("verify", CLAIM, "--dry-run", "--json", *model).out)
    assert (shown["calls"], shown["measured_in"]) == ({"least": 5, "median": 5, "most": 5}, None)
    assert command(*MANY, "--dry-run", *model).status == 0  # nobody is asked
    assert asked_nothing(endpoint)


def test_a_preset_begins_with_its_settings_and_a_flag_goes_over_it(model: tuple[str, str]) -> None:
    dry = ("verify", CLAIM, "--dry-run", *model)
    lines = [command(*dry, "--preset", name).out for name in ("fast", "usual", "thorough")]
    assert [line.partition(",")[0] for line in lines] == ["4 calls", "5 calls", "50 calls"]
    assert command(*dry, "--preset", "thorough", "--depth", "1").out.startswith("10 calls")
    refused(command(*dry, "--preset", "quick"), "--preset quick: art has no such preset; use fast, usual,")


def test_a_script_that_would_make_many_calls_has_to_say_so(
    endpoint: LocalEndpoint, model: tuple[str, str]
) -> None:
    refused(command(*MANY, "--quiet", *model), "calls: give --yes to go on, or a --max-calls")
    assert asked_nothing(endpoint)
    assert command(*MANY, "--quiet", "--max-calls", "3", *model).status == 4
    assert endpoint.stats()["calls"] == 3
    assert command(*MANY, "--quiet", "--max-calls", "201", "--yes", *model).status == 4
    assert endpoint.stats()["calls"] > 200


@pytest.mark.parametrize(("reply", "begun"), [("y\n", True), ("\n", False), ("", False)])
def test_a_person_is_asked_before_many_calls(
    reply: str, begun: bool, model: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consent, "terminal", lambda: True)
    monkeypatch.setattr(consent, "UNASKED", 4)
    done = command("verify", CLAIM, *model, stdin=reply)
    assert "Up to 5 calls. Go on? [y/N] " in done.err
    assert (done.status == 0, len(runs())) == (begun, begun)
    assert begun or done.err.endswith("dialectree: nothing was begun\n")


def data() -> str:
    rows = [{"question": f"Is it {n}?", "options": ["yes", "no"], "gold": "no"} for n in range(30)]
    Path("own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "own.jsonl"


def evaluated(*words: str, model: tuple[str, str], stdin: str = "") -> Done:
    methods = "self_consistency,judge_alone"
    words = ("--methods", methods, "--samples", "4", "--no-cache", *words)
    return command("eval", data(), *words, *model, stdin=stdin)


def test_an_evaluation_is_estimated_as_a_whole_and_goes_on(
    endpoint: LocalEndpoint, model: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = evaluated("--limit", "3", "--dry-run", model=model)
    assert few.out.startswith("15 calls, 1 in a row; about ")
    votes = command("eval", data(), "--methods", "basic", "--vote-first", "2", "--dry-run", *model)
    least = re.match(r"(\d+) to ", votes.out)
    assert least and 30 * (5 + 2) <= int(least[1]) <= 30 * (6 + 2)
    listed = command("eval", "own.jsonl", "--methods", "rsd", "--dry-run", "--model", "openai:gpt-4o")
    assert re.search(r"; about \$\d\.\d+ by list prices of \d{4}-\d\d-\d\d\n$", listed.out)
    assert asked_nothing(endpoint) and not Path("evaluations").exists()
    monkeypatch.setattr(consent, "UNASKED", 10)
    assert evaluated("--limit", "3", model=model).status == 0
    assert endpoint.stats()["calls"] == 15
    left = evaluated("--limit", "4", "--dry-run", model=model)
    assert left.out.startswith("5 calls, ")
    assert evaluated("--limit", "3", "--dry-run", model=model).out == "no calls\n"
    monkeypatch.setattr(consent, "terminal", lambda: True)
    stopped = evaluated("--limit", "9", model=model, stdin="n\n")
    assert stopped.status == 2 and "Up to 30 calls. Go on? [y/N] " in stopped.err


def test_the_examples_of_the_page_on_estimates_run(
    model: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "estimates.md"
    text = page.read_text(encoding="utf-8")
    Path(data()).rename("mine.jsonl")
    lines = re.findall(r"^\$ dialectree (.+)$", text, re.MULTILINE)
    assert len(lines) == 5
    for line in lines:
        done = command(*shlex.split(line), *model)
        assert done.status == 0 and "calls" in done.out + done.err, line
    (program,) = re.findall(r"```python\n(.+?)```", text, re.DOTALL)
    monkeypatch.setenv("DIALECTREE_MODEL", model[1])
    exec(program, {"dialectree": dialectree})
    assert capsys.readouterr().out.startswith("9 to 10 calls, 6 to 7 in a row")


def test_nobody_is_asked_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert not consent.terminal()
