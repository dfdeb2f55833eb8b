"""An evaluation of questions with sources, through the command line: debates and baselines."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands import command
from tests.endpoint import LocalEndpoint
from tests.evals.evaluating import write
from tests.planted import LANGUAGES, folder, planted

METHODS = ("rsd", "static_debate", "consultancy", "judge_alone", "self_consistency")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    """Whatever is asked names the first sentence, and a checker bears out every point."""
    said = {"sentences": ["e1"], "rests_on": ["e1"], "look_for": []}
    rules = [{"match": "", "set": said}, {"match": "You check points", "set": {"verdict": "yes"}}]
    for one in map(planted, LANGUAGES):
        ruled = {"label": "A", "answer": one.right}
        rules.append({"match": re.escape(one.question), "set": ruled})
    with LocalEndpoint(seed=3, rules=rules) as started:
        yield started


def table(name: str) -> dict[str, dict[str, str]]:
    with Path("out/report", f"{name}.csv").open() as file:
        return {line["method"]: line for line in csv.DictReader(file)}


def test_debates_and_baselines_on_a_planted_corpus(endpoint: LocalEndpoint) -> None:
    every = [planted(language) for language in LANGUAGES]
    for one in every:
        folder(one, "docs")
    data = write([one.row("docs", id=language) for one, language in zip(every, LANGUAGES, strict=True)])
    asked = ("eval", str(data), "--methods", ",".join(METHODS), "--model", f"openai:any@{endpoint.url}")
    done = command(*asked, "--samples", "2", "--out", "out", "--no-cache")
    assert done.status == 0, done.err
    rows = table("evidence")
    papers = "Consultancy (Khan et al.)", "Debate (Khan et al.)", "Judge alone", "RSD", "Self-consistency@2"
    assert (*sorted(rows),) == papers
    for row in rows.values():
        assert row["questions"] == "3" and row["gold evidence retrieved: share"] == "1.0"
        assert row["invented quotations"] == "0"
    assert float(rows["RSD"]["texts with a point: share"]) > 0
    assert rows["Debate (Khan et al.)"]["points borne out: share"] == "1.0"
    assert rows["Judge alone"]["texts with a point: n"] == ""  # it points at nothing
    report = Path("out/report.md").read_text()
    assert "## Evidence" in report and "gold evidence cited" in report
    begun = json.loads(Path("out/evaluation.json").read_text())
    models = {row["name"]: row["models"] for row in begun["rows"]}
    assert "checker" in models["consultancy"] and "checker" not in models["judge_alone"]
    before = Path("out/report/evidence.csv").read_text()
    assert command("eval", "report", "out").status == 0
    assert Path("out/report/evidence.csv").read_text() == before


def test_a_method_that_reads_no_sources_is_named(endpoint: LocalEndpoint) -> None:
    folder(planted(), "docs")
    data = write([{"question": "Which oil?", "true": ["tarnium"], "sources": "docs"}])
    model = f"openai:any@{endpoint.url}"
    done = command("eval", str(data), "--methods", "one_critique,two_round", "--model", model, "--out", "out")
    assert "asked without the sources: two_round" in done.err and done.status == 0, done.err
    assert {*table("evidence")} == {"One critique"}
