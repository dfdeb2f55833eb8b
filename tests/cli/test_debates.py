"""``dialectree decide`` and ``dialectree verify`` as a person or a script meets them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dialectree.errors import (
    BudgetReached,
    DialectreeError,
    KeyRefused,
    RequestError,
    Unreachable,
)
from dialectree.models.endpoints import Completion, Endpoint
from tests.cli.commands import Done, command, refused, runs
from tests.endpoint import LocalEndpoint
from tests.rules import FOUR_CHILDREN

PROGRAM = Path(sys.executable).with_name("dialectree")
QUESTION = "Which of them is right?"
CLAIM = "Chameleons change colour mainly for camouflage."
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(seed=3) as started:
        yield started


@pytest.fixture
def model(endpoint: LocalEndpoint) -> tuple[str, str]:
    return "--model", f"openai:any@{endpoint.url}"


Model = tuple[str, str]


def options(*texts: str) -> list[str]:
    return [word for text in texts for word in ("--option", text)]


def ended_well(done: Done) -> dict[str, Any]:
    """The record of a run that came to its end: answered, or without a ruling that says so."""
    record = done.record
    assert (done.status, record["status"]) in ((0, "answered"), (5, "unresolved")), done.err
    assert json.loads((Path("runs") / record["run_id"] / "run.json").read_text()) == record
    return record


# Options


@pytest.mark.parametrize("count", [0, 2, 4, 26])
def test_a_debate_takes_no_options_or_2_to_26(count: int, model: Model) -> None:
    given = [f"answer {n}" for n in range(count)]
    record = ended_well(command("decide", QUESTION, *options(*given), "--json", *model))
    assert record["input"] == {"question": QUESTION, **({"options": given} if given else {})}
    assert (record["protocol"], record["method"]) == ("rsd", "rsd")
    assert record["verdict"]["label"] in [*LETTERS[:count], None] or not count


def test_an_option_may_have_5_000_characters_and_is_data(model: Model) -> None:
    long = "<script>alert(1)</script> {{ 7 * 7 }} " * 130
    assert 5000 > len(long) > 4900
    record = ended_well(command("decide", QUESTION, *options(long, "b"), "--json", *model))
    assert record["input"]["options"][0] == long.strip()
    assert "<script>alert" not in (runs()[0] / "report.html").read_text()


DECIDE = {
    "one option": (options("a"), "one option is no choice"),
    "equal options": (options("a", "b", "a "), "options 1 and 3 are the same"),
    "27 options": (options(*map(str, range(27))), "27 options; there are letters for 26"),
    "an empty option": (options("a", " "), "the option 2 is empty"),
    "an endless option": (options("a", "b" * 6001), "option 2 is longer than 6,000 characters"),
    "a knockout of nothing": (["--candidates", "knockout"], "there are no options"),
    "no gold": ([*options("a", "b"), "--candidates", "oracle"], "--gold LABEL"),
    "gold that is none": (
        [*options("a", "b"), "--candidates", "oracle", "--gold", "C"],
        "--gold C: there is no such option",
    ),
    "gold that is none, and not needed": (
        [*options("a", "b"), "--gold", "Z"],
        "--gold Z: there is no such option",
    ),
    "gold that no sample can give": (
        [*options("a", "b"), "--gold", "Z", "--method", "self_consistency"],
        "--gold Z: there is no such option",
    ),
    "gold of an open question": (["--gold", "A"], "--gold A: there is no such option"),
    "gold without options": (["--candidates", "balanced", "--gold", "A"], "no such option"),
    "a gate below 0": (["--gate", "-1"], "--gate"),
    "no samples": (["--method", "self_consistency", "--samples", "0"], "--samples"),
    "a role of another protocol": (["--role", "leaf_judge=openai:x"], "leaf_judge"),
    "tsd": (["--method", "tsd"], "known: rsd, no_role_switch, no_uncertainty, basic, self_con"),
    "art": (["--method", "art"], "known: rsd"),
}
VERIFY = {
    "a question": (["Is it so?"], "this is a question"),
    "a question after a blank": (["Is it so? "], "this is a question"),
    "a question that is shouted": (["Is the sky blue?!"], "this is a question"),
    "a question in Arabic": (["هل السماء زرقاء؟"], "this is a question"),
    "no word": (["..."], "this claim has no word in it"),
    "an empty claim": ([""], "empty"),
    "no breadth": ([CLAIM, "--breadth", "0"], "--breadth"),
    "too much breadth": ([CLAIM, "--breadth", "101"], "--breadth"),
    "no depth": ([CLAIM, "--depth", "0"], "--depth"),
    "too much depth": ([CLAIM, "--depth", "51"], "--depth"),
    "a blend above 1": ([CLAIM, "--blend", "1.1"], "--blend"),
    "a blend that is no number": ([CLAIM, "--blend", "nan"], "--blend"),
    "no trees": ([CLAIM, "--trees", "0"], "--trees"),
    "too many trees": ([CLAIM, "--trees", "26"], "--trees"),
    "a threshold above 1": ([CLAIM, "--prune-below", "2"], "--prune-below"),
    "a question for one call": (["Is it so?", "--method", "direct"], "this is a question"),
    "a role of another protocol": ([CLAIM, "--role", "judge=openai:x"], "judge"),
    "rsd": ([CLAIM, "--method", "rsd"], "known: art, argllm, direct, cot"),
}


@pytest.mark.parametrize(("words", "said"), DECIDE.values(), ids=DECIDE.keys())
def test_what_decide_cannot_take_is_said_before_a_folder_is_made(
    words: list[str], said: str
) -> None:
    refused(command("decide", QUESTION, *words, "--model", "openai:x"), said)
    assert not runs()


@pytest.mark.parametrize(("words", "said"), VERIFY.values(), ids=VERIFY.keys())
def test_what_verify_cannot_take_is_said_before_a_folder_is_made(
    words: list[str], said: str
) -> None:
    refused(command("verify", *words, "--model", "openai:x"), said)
    assert not runs()


@pytest.mark.parametrize(
    "words",
    [
        ["decide", QUESTION, "--candidates", "best"],
        ["decide", QUESTION, "--judge", "you"],
        ["decide", QUESTION, "--breadth", "2"],
        ["verify", CLAIM, "--semantics", "sum"],
        ["verify", CLAIM, "--ties", "maybe"],
        ["verify", CLAIM, "--option", "a"],
    ],
)
def test_a_flag_or_a_choice_that_is_none_is_refused(words: list[str]) -> None:
    done = command(*words)
    assert (done.status, done.out) == (2, "")
    assert words[2] in done.err and "Traceback" not in done.err
    assert not runs()


@pytest.mark.parametrize(
    ("words", "flag"),
    [
        (["answer", QUESTION, "--method", "single_shot", "--max-depth", "2"], "--max-depth"),
        (
            ["compare", "a", "b", "--topic", "t", "--method", "two_stage", "--max-depth", "2"],
            "--max-depth",
        ),
    ],
)
def test_a_flag_that_the_method_does_not_read_is_refused(words: list[str], flag: str) -> None:
    said = f"{flag}: that is no setting of {words[words.index('--method') + 1]}\n"
    refused(command(*words, "--model", "openai:x"), said)
    assert not runs()


@pytest.mark.parametrize(
    ("protocol", "given"),
    [
        ("art", {"breadth": 2, "trees": 2, "judge_orders": "both"}),
        ("rsd", {"cross_examination": "simultaneous", "allow_uncertain": True}),
    ],
)
def test_the_leaves_of_a_tree_take_the_settings_of_the_protocol_that_settles_them(
    protocol: str, given: dict[str, Any], model: Model
) -> None:
    pairs = [word for name, v in given.items() for word in ("--set", f"{protocol}.{name}={v}")]
    words = ["answer", "Do chameleons change colour?", "--max-depth", "0", *pairs]
    done = command(*words, "--leaf-protocol", protocol, "--json", *model)
    leaf = ended_well(done)["settings"]["leaf"]
    assert {name: leaf[name] for name in given} == given
    refused(command(*words, *model), "--set: --leaf-protocol names no other protocol")


# What they print


@pytest.mark.parametrize(
    ("method", "calls"),
    [
        ("rsd", {9, 10}),
        ("no_role_switch", {7, 8}),
        ("no_uncertainty", {7, 8}),
        ("basic", {5, 6}),
        ("self_consistency", {9}),
    ],
)
def test_decide_by_every_method(method: str, calls: set[int], model: Model) -> None:
    words = ["decide", QUESTION, *options("yes", "no"), "--method", method, "--json"]
    record = ended_well(command(*words, *model))
    assert (record["method"], record["protocol"]) == (method, "rsd")
    assert record["usage"]["calls"] in calls


@pytest.mark.parametrize(
    ("method", "calls"), [("art", 5), ("argllm", 4), ("direct", 1), ("cot", 1)]
)
def test_verify_by_every_method(method: str, calls: int, model: Model) -> None:
    record = ended_well(command("verify", CLAIM, "--method", method, "--json", *model))
    assert (record["method"], record["protocol"]) == (method, "art")
    assert record["usage"]["calls"] == calls
    assert record["verdict"]["label"] in ("True", "False")


def test_the_result_alone_is_on_stdout(model: Model) -> None:
    done = command("verify", CLAIM, *model)
    assert done.out.splitlines()[0] in ("True", "False")
    assert "\nP(claim): " in done.out
    assert "dialectree:" not in done.out and "report.html" in done.err
    done = command("decide", QUESTION, *options("yes", "no"), *model)
    assert done.out.startswith(("A: yes\n", "B: no\n")) or done.status == 5
    assert "\nConfidence: " in done.out
    assert "dialectree:" not in done.out and "\x1b" not in done.out + done.err
    quiet = command("decide", QUESTION, *options("yes", "no"), "--quiet", *model)
    assert quiet.out == done.out


def test_question_and_claim_can_come_from_standard_input(model: Model) -> None:
    record = command("verify", "-", "--json", *model, stdin=f" {CLAIM}\n").record
    assert record["input"] == {"question": CLAIM}
    words = ["decide", "-", *options("yes", "no"), "--json"]
    assert command(*words, *model, stdin="What?\n").record["input"]["question"] == "What?"
    refused(command("verify", "-", *model, stdin="\n"), "the claim is empty")


def test_candidates_of_each_kind(model: Model) -> None:
    words = ["decide", QUESTION, *options("x", "y", "z"), "--json", *model, "--candidates"]
    for given in (["knockout"], ["oracle", "--gold", "b"], ["balanced", "--gold", "B"]):
        record = ended_well(command(*words, *given))
        assert record["settings"]["candidates"] == given[0]
        kind = "knockout" if given == ["knockout"] else "leaf"
        assert record["tree"]["nodes"]["0"]["kind"] == kind


# A person judges


def test_a_person_rules_with_a_label(model: Model) -> None:
    words = ["decide", QUESTION, *options("yes", "no"), "--judge", "me"]
    done = command(*words, *model, stdin="both\nb\nA\n")
    assert done.status == 0, done.err
    assert done.out.startswith("B: no\n")
    assert "'BOTH' is no such label" in done.err or "'both' is no such label" in done.err
    assert done.err.count("Which answer is right?") == 2
    assert "rebuttal" in done.err.lower() or "debater a" in done.err.lower()


def test_an_empty_ruling_leaves_a_debate_unresolved(model: Model) -> None:
    words = ["decide", QUESTION, *options("yes", "no"), "--judge", "me", "--json"]
    done = command(*words, *model, stdin="\n")
    assert (done.status, done.record["status"]) == (5, "unresolved")
    assert "the person gave no ruling" in str(done.record["verdict"]["notes"])


@pytest.mark.parametrize(("depth", "leaves"), [("0", 1), ("1", 4)])
def test_a_leaf_that_is_debated_in_vain_says_why(depth: str, leaves: int) -> None:
    words = ["answer", QUESTION, "--max-depth", depth, "--leaf-protocol", "rsd"]
    words += ["--set", "rsd.judge=me"]
    with LocalEndpoint(rules=FOUR_CHILDREN) as endpoint:
        done = command(*words, "--model", f"openai:any@{endpoint.url}", stdin="\n" * 9)
    assert done.status == 5
    assert done.err.count(": unresolved: the person gave no ruling") == leaves


def test_a_debate_that_nobody_judged_goes_on_with_a_ruling(model: Model) -> None:
    words = ["decide", QUESTION, *options("yes", "no"), "--judge", "me", "--json"]
    done = command(*words, *model)
    assert (done.status, done.record["status"]) == (4, "partial")
    assert "nobody ruled" in done.err and "dialectree resume" in done.err
    resumed = command("resume", done.record["run_id"], "--json", *model, stdin="B\n")
    assert (resumed.status, resumed.record["verdict"]["label"]) == (0, "B")
    assert resumed.record["usage"]["calls"] == 8


@pytest.mark.skipif(os.name == "nt", reason="a pipe that nobody reads")
def test_a_person_who_reads_no_questions_any_more_breaks_the_run_off(
    endpoint: LocalEndpoint,
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    words = ["decide", QUESTION, *options("yes", "no"), "--judge", "me", "--json"]
    done = subprocess.run(
        [PROGRAM, *words, "--model", f"openai:any@{endpoint.url}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=writing,
        check=False,
    )
    os.close(writing)
    record = json.loads(done.stdout)
    assert (done.returncode, record["status"], record["usage"]["calls"]) == (4, "partial", 8)
    assert record["notices"] == ["nobody can be asked: what read the questions is gone"]


# What can go wrong


def test_a_key_that_is_refused_ends_both_with_status_3() -> None:
    with LocalEndpoint(key="secret") as endpoint:
        for words in (["decide", QUESTION, *options("a", "b")], ["verify", CLAIM]):
            done = command(*words, "--json", "--model", f"openai:any@{endpoint.url}")
            assert (done.status, done.record["status"]) == (3, "partial")
            assert endpoint.url in done.err and "resume" in done.err


@pytest.mark.parametrize("error", [RequestError, KeyRefused, Unreachable, BudgetReached])
def test_an_error_in_the_middle_of_a_run_names_the_command_that_goes_on(
    error: type[DialectreeError], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def complete(*_: object) -> Completion:
        raise error("so it is")

    monkeypatch.setattr(Endpoint, "complete", complete)
    done = command("verify", CLAIM, "--model", "openai:any@http://127.0.0.1:1/v1", "--quiet")
    (folder,) = runs()
    assert done.status == error.status
    (line,) = [line for line in done.err.splitlines() if "so it is" in line]
    assert f"dialectree resume {folder}" in line


def test_a_model_that_says_nothing_leaves_both_unresolved() -> None:
    with LocalEndpoint(empty=1.0) as endpoint:
        for words in (
            ["decide", QUESTION, *options("a", "b")],
            ["decide", QUESTION, "--method", "self_consistency", "--samples", "2"],
            ["verify", CLAIM],
            ["verify", CLAIM, "--method", "direct"],
        ):
            done = command(*words, "--json", "--model", f"openai:any@{endpoint.url}")
            assert (done.status, done.record["status"]) == (5, "unresolved"), done.err
            assert done.record["verdict"]["answer"] is None
            assert "finished, but unresolved" in done.err


@pytest.mark.skipif(os.name == "nt", reason="a shell closes streams")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_debate_needs_no_standard_stream(closed: str, endpoint: LocalEndpoint) -> None:
    words = ["decide", QUESTION, *options("yes", "no"), "--model", f"openai:any@{endpoint.url}"]
    done = subprocess.run(["sh", "-c", f'"$0" "$@" {closed}', PROGRAM, *words], check=False)
    (run,) = runs()
    assert done.returncode in (0, 5)
    assert {"report.html", "report.md"} <= {path.name for path in run.iterdir()}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a file on a full disk")
def test_what_cannot_be_printed_ends_with_status_4(endpoint: LocalEndpoint) -> None:
    words = ["decide", QUESTION, *options("yes", "no"), "--model", f"openai:any@{endpoint.url}"]
    for more in ([*words, "--json"], words, ["show", "RUN", "--json"], ["show", "RUN"]):
        given = [str(runs()[0]) if word == "RUN" else word for word in more]
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [PROGRAM, *given], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 4, done.stderr
        assert done.stderr.endswith("dialectree: no room left to write what was to be printed\n")
        assert "Traceback" not in done.stderr


def but_for_times_and_ids(record: dict[str, Any]) -> dict[str, Any]:
    for name in ("run_id", "started", "ended"):
        del record[name]
    del record["usage"]["wall_s"]
    return record


@pytest.mark.parametrize(
    ("words", "seen"),
    [(["decide", QUESTION, *options("yes", "no")], 4), (["verify", CLAIM, "--depth", "2"], 3)],
    ids=["decide", "verify"],
)
def test_one_that_is_killed_is_resumed_and_nothing_is_paid_twice(
    words: list[str], seen: int
) -> None:
    with LocalEndpoint(seed=3, latency_ms=150, spread=0.5) as slow:
        words = [*words, "--no-cache", "--json", "--model", f"openai:any@{slow.url}"]
        victim = subprocess.Popen(
            [PROGRAM, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _wait_for(lambda: slow.stats()["calls"] >= seen)
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
        _wait_for(lambda: slow.stats()["running"] == 0)
        paid = {json.loads(line)["key"] for line in _lines(runs()[0] / "calls.jsonl")}
        slow.reset()
        went_on = command("resume", str(runs()[0]), "--json")
        assert went_on.status in (0, 5), went_on.err
        keys = [json.loads(line)["key"] for line in _lines(runs()[0] / "calls.jsonl")]
        assert len(keys) == len(set(keys)) == went_on.record["usage"]["calls"]
        assert slow.stats()["calls"] == len(keys) - len(paid) > 0
        undisturbed = command(*words).record
    assert but_for_times_and_ids(went_on.record) == but_for_times_and_ids(undisturbed)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _wait_for(true: Any) -> None:
    give_up = time.monotonic() + 30
    while not true():
        assert time.monotonic() < give_up
        time.sleep(0.01)
