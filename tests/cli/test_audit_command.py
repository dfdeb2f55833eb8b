"""``dialectree eval audit`` as a person or a script meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import command, refused
from tests.endpoint import LocalEndpoint
from tests.evals import evaluating
from tests.evals.test_audit import ANSWERS

pytestmark = pytest.mark.usefixtures("no_report")


def test_an_audit_of_two_models_prints_figures_pages_and_one_sentence(endpoint: LocalEndpoint) -> None:
    models = [word for name in "ab" for word in ("--model", f"openai:{name}@{endpoint.url}")]
    asking = ["eval", "audit", str(evaluating.claims(2)), *models, "--out", "out"]
    dry = command(*asking, "--dry-run")
    assert "calls" in dry.out and "tokens" in dry.out and not Path("out").exists()
    done = command(*asking, "--yes")
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].startswith("judge alone: openai:a: right ") and "tokens" in lines[0]
    assert ANSWERS.fullmatch(lines[-1])
    assert lines[-1][1:] in Path("out/audit.html").read_text()
    assert "left out: consultancy" in done.err
    told = json.loads(command(*asking, "--json", "-q").out)
    assert told["sentence"] == lines[-1] and told["questions"] == 2
    ratios = [one["tokens_ratio"] for one in told["comparisons"] if one["tokens_ratio"]]
    assert len(ratios) == 2 and all(0.8 <= ratio <= 1.25 for ratio in ratios)
    assert {one["debate"] for one in told["comparisons"]} == {"debate, one model", "debate, unlike models"}
    assert command(*asking, "--dry-run").out == "no calls\n"


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--role", "supporter=openai:x"], "only judge=SPEC"),
        (["--debate", "direct"], "--debate direct"),
        (["--points", "0"], "--points"),
    ],
)
def test_a_wrong_audit_is_refused(words: list[str], fault: str) -> None:
    refused(command("eval", "audit", str(evaluating.claims(1)), *words), fault)
