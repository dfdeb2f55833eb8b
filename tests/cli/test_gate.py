"""``dialectree gate``: which claims of a text pass, for people and for other programs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

import pytest

import dialectree
from dialectree.interfaces.agents.claims import Finding
from dialectree.interfaces.cli import gate_formats
from dialectree.interfaces.cli.gate_formats import Findings
from tests.cli.commands import Done, command, refused, runs
from tests.endpoint import LocalEndpoint
from tests.grounding import written

TEXT = "# Heat\n\nFire is hot. Ice is warm.\n\nWater boils at 100 °C\nat sea level.\n\nIs it so?\n"
CLAIMS = [
    {"lines": ["3"], "claim": "Fire is hot."},
    {"lines": ["3"], "claim": "Ice is warm."},
    {"lines": ["5", "6"], "claim": "Water boils at 100 °C\u0007 at <sea> level."},
]
SPLIT = "List the claims that it makes"
SCORE = "Say how likely it is to be true.*"
RULES = [
    {"match": "", "set": {"truth": 0.5, "weight": 0.5}},
    {"match": SPLIT, "set": {"claims": CLAIMS}},
    {"match": f"{SPLIT}.*Buy milk!", "set": {"claims": []}},
    {"match": f"{SCORE}Fire", "set": {"truth": 0.9}},
    {"match": f"{SCORE}Ice", "set": {"truth": 0.2}},
    {"match": f"{SCORE}Water", "set": {"truth": 0.75}},
]
"""Arguments weigh alike on both sides, so that a claim stays as probable as its scorer says."""


@pytest.fixture(scope="module")
def served() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(rules=RULES) as endpoint:
        yield endpoint


@pytest.fixture(autouse=True)
def endpoint(served: LocalEndpoint, monkeypatch: pytest.MonkeyPatch) -> LocalEndpoint:
    served.reset()
    monkeypatch.setenv("DIALECTREE_MODEL", f"openai:any@{served.url}")
    monkeypatch.setenv("DIALECTREE_ROOT_STRENGTH", "estimated")
    monkeypatch.setenv("DIALECTREE_BLEND", "0")
    Path("heat.md").write_text(TEXT, encoding="utf-8")
    return served


def gate(*words: str, stdin: str = "") -> Done:
    return command("gate", *words, stdin=stdin)


@pytest.mark.parametrize(("least", "failed"), [("0.1", []), ("0.7", [2]), ("0.8", [2, 3])])
def test_claims_below_the_least_probability_fail_the_gate(least: str, failed: list[int]) -> None:
    done = gate("heat.md", "--min", least)
    claims = [line for line in done.out.splitlines() if line.startswith("heat.md:")]
    assert [line.split(":")[1] for line in claims] == ["3", "3", "5"]
    assert [n for n, line in enumerate(claims, 1) if ": FAIL 0." in line] == failed
    assert done.status == (5 if failed else 0)
    assert f"{3 - len(failed)} of 3 claims reached {least}" in done.err
    assert [dialectree.load(run.name).run_id for run in runs()] == [run.name for run in runs()]
    assert all(any(run.name in line for line in claims) for run in runs()) and len(runs()) == 3


def test_each_claim_is_verified_by_sources_that_are_read_once() -> None:
    notes = written(Path("notes"))
    (notes / "tool.exe").write_bytes(b"MZ")
    done = gate("heat.md", "--sources", "notes", "--embeddings", "bm25", "--quiet")
    assert done.status in (0, 5) and done.err.count("tool.exe: files that end") == 1
    every: list[Any] = [dialectree.load(run.name).input["sources"] for run in runs()]
    assert [[one["name"] for one in listed] for listed in every] == [["clay.md", "cows.txt", "tides.md"]] * 3
    refused(gate("heat.md", "--sources", "notes", "--method", "cot"), "--sources: cot does not")
    refused(gate("heat.md", "--sources", "nowhere"), "nowhere: no such file or folder")


def test_the_json_document_holds_every_finding_with_its_lines_and_its_run() -> None:
    done = gate("-", "--format", "json", stdin=TEXT)
    found = json.loads(done.out)
    assert (found["file"], found["method"], found["min"]) == ("stdin", "art", 0.7)
    assert (found["passed"], found["complete"], found["demonstration"]) == (False, True, False)
    assert [(one["line"], one["last_line"], one["passed"]) for one in found["claims"]] == [
        (3, 3, True), (3, 3, False), (5, 6, True),
    ]  # fmt: skip
    for one in found["claims"]:
        verdict = dialectree.load(one["run"]).verdict
        assert verdict is not None and verdict.probability == one["probability"]


def test_the_junit_report_has_a_case_for_each_claim_and_a_failure_for_each_that_fails() -> None:
    suites = ElementTree.fromstring(gate("heat.md", "--format", "junit").out)
    (suite,) = suites.findall("testsuite")
    assert suites.tag == "testsuites" and suite.get("name")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "0")
    cases = suite.findall("testcase")
    assert [(one.get("classname"), one.get("line")) for one in cases] == [
        ("heat.md", "3"), ("heat.md", "3"), ("heat.md", "5"),
    ]  # fmt: skip
    assert cases[2].get("name") == "Water boils at 100 °C at <sea> level."
    failures = [one.find("failure") for one in cases]
    assert [one is not None for one in failures] == [False, True, False]
    assert failures[1] is not None and failures[1].get("message", "").startswith("P(claim) 0.20")


HOSTILE = "\ufffe\uffff\x1b[31m\x00\ud800\U0001ffff"


@pytest.mark.parametrize("file", [os.fsdecode(b"\xff\x1b.md"), os.fsdecode(b"/tmp/\xff.md")])
def test_reports_for_other_programs_are_valid_whatever_a_claim_or_a_file_is_called(file: str) -> None:
    one = Finding(line=1, last_line=1, claim=HOSTILE, passed=False, reason=HOSTILE)
    findings = Findings(file, "art", 0.7, False, [one], True)
    suites = ElementTree.fromstring(gate_formats.junit(findings).encode())
    assert suites.find("testsuite/testcase/failure") is not None
    (result,) = json.loads(gate_formats.sarif(findings))["runs"][0]["results"]
    assert result["message"]["text"].isprintable()
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert os.fsencode(file) == unquote_to_bytes(uri.removeprefix("file://"))


def test_the_sarif_log_has_a_result_with_its_lines_for_each_claim_that_fails() -> None:
    log = json.loads(gate("heat.md", "--min", "0.8", "--format", "sarif").out)
    assert (log["version"], "sarif-2.1.0" in log["$schema"]) == ("2.1.0", True)
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "dialectree"
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
    assert run["invocations"] == [{"executionSuccessful": True}]
    known, regions = {rule["id"] for rule in driver["rules"]}, []
    for result in run["results"]:
        assert result["ruleId"] in known and result["level"] == "error"
        assert result["message"]["text"].startswith("P(claim) 0.")
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"] == {"uri": "heat.md"}
        regions.append(place["region"])
    assert regions == [{"startLine": 3, "endLine": 3}, {"startLine": 5, "endLine": 6}]


@pytest.mark.parametrize("text", ["", " \n\n", "Buy milk!\n"])
def test_a_text_without_a_claim_passes_and_a_line_says_so(text: str) -> None:
    Path("heat.md").write_text(text)
    done = gate("heat.md")
    assert (done.status, done.out) == (0, "")
    assert done.err == "dialectree: heat.md makes no claim: there is nothing to verify\n"
    for form in ("junit", "sarif", "json"):
        assert gate("heat.md", "--format", form).status == 0
    assert not json.loads(gate("heat.md", "--format", "sarif").out)["runs"][0]["results"]


WRONG = {
    "no file": (["nothing.md"], "nothing.md: no such file"),
    "a folder": (["."], "is a directory"),
    "no text": (["bytes"], "bytes: not a text in UTF-8; convert it"),
    "too long": (["long"], "long: longer than 200,000 characters"),
    "no probability": (["heat.md", "--method", "tsd"], "choose from art, argllm, direct, cot"),
    "a setting": (["heat.md", "--method", "cot", "--breadth", "2"], "cot has no such setting"),
    "no share": (["heat.md", "--min", "70"], "--min"),
}


@pytest.mark.parametrize(("words", "message"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_call_is_refused_in_one_line(words: list[str], message: str, endpoint: LocalEndpoint) -> None:
    Path("bytes").write_bytes(b"\xff\xfe\xff")
    Path("long").write_text("x" * 200_001)
    refused(gate(*words), message)
    assert endpoint.stats()["calls"] == 0


def test_a_budget_counts_over_all_claims_and_what_is_known_is_printed() -> None:
    done = gate("heat.md", "--max-calls", "8", "--no-cache", "--format", "json")
    found = json.loads(done.out)
    assert (done.status, found["complete"], found["passed"]) == (4, False, False)
    broken_off = ["`max_calls` 8 is used up" in one["reason"] for one in found["claims"]]
    assert sum(broken_off) >= len(broken_off) - 1  # eight calls are enough for one claim of six
    assert "the budget --max-calls 8 is used up; broken off" in done.err
    assert gate("heat.md", "--min", "0.1").status == 0


def test_nothing_is_asked_before_a_dry_run_ends(endpoint: LocalEndpoint) -> None:
    done = gate("heat.md", "--dry-run")
    assert done.out.startswith("up to 6 claims, one a sentence: ") and done.status == 0
    assert (endpoint.stats()["calls"], runs()) == (0, [])


def test_a_method_without_a_probability_passes_what_it_calls_true() -> None:
    answers = [("Fire", "yes"), ("Ice|Water", "no")]
    rules = [{"match": match, "set": {"answer": answer}} for match, answer in answers]
    with LocalEndpoint(rules=[*RULES, *rules]) as endpoint:
        words = ["--method", "cot", "--model", f"openai:any@{endpoint.url}"]
        found = json.loads(gate("heat.md", "--format", "json", *words).out)["claims"]
    assert [(one["passed"], one["probability"]) for one in found] == [
        (True, None), (False, None), (False, None),
    ]  # fmt: skip
