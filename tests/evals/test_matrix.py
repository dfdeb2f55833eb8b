"""What is compared with what, written down in a file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dialectree.evals import rows
from dialectree.evals.dataset_items import Task
from dialectree.evals.matrix import MatrixEntry, list_packaged_matrices, read_matrix

EVALUATIONS = Path(__file__).resolve().parents[2] / "docs" / "evaluations.md"
WHOLE = """
title: All that can be message
settings: {judge_orders: both}
models: {judge: openai:small}
rows:
  - {name: mine, method: rsd, settings: {gate: 3}, models: openai:mine}
  - {method: self_consistency}
axes:
  methods: [basic, {name: whole, method: rsd}]
  settings: {candidates: [oracle, balanced], gate: 1}
  models: {plain: openai:plain, pair: {debater: openai:wide, judge: openai:other}}
"""


def read(text: str, name: str = "matrix.yaml") -> list[MatrixEntry]:
    Path(name).write_text(text)
    return read_matrix(name).rows


def test_rows_and_products() -> None:
    found = {row.name: row for row in read(WHOLE)}
    assert [*found] == [
        "mine",
        "self_consistency",
        "basic, candidates=oracle, plain",
        "basic, candidates=oracle, pair",
        "basic, candidates=balanced, plain",
        "basic, candidates=balanced, pair",
        "whole, candidates=oracle, plain",
        "whole, candidates=oracle, pair",
        "whole, candidates=balanced, plain",
        "whole, candidates=balanced, pair",
    ]
    assert found["mine"].settings == {"judge_orders": "both", "gate": 3}
    assert found["mine"].models == {"judge": "openai:small", "model": "openai:mine"}
    assert found["self_consistency"].settings == {}  # it has no judge
    last = found["whole, candidates=balanced, pair"]
    assert last.settings == {"judge_orders": "both", "gate": 1, "candidates": "balanced"}
    assert last.models == {"judge": "openai:other", "debater": "openai:wide"}


# The tables of the papers


TASKS: dict[str, Task] = {"tsd": "answer", "art": "verify", "rsd": "decide", "tod": "compare"}


@pytest.mark.parametrize("name", ["art", "rsd", "tod", "tsd"])
def test_every_matrix_that_comes_with_the_program_can_be_run(name: str) -> None:
    found = read_matrix(name)
    assert found.title
    made = rows.ready(found.rows, TASKS[name], {"model": "openai:x"})
    assert len(made) == len(found.rows)
    text = list_packaged_matrices()[name].read_text()
    assert text.startswith("#") and f"--matrix {name}" in text


# Rows made whole


def ready(*found: MatrixEntry, **given: object) -> list[rows.Ready]:
    return rows.ready(found, "decide", {"model": "openai:x", **given})


def test_a_row_tells_its_settings_and_the_model_of_every_role(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIALECTREE_GATE", "3")
    (made,) = ready(
        MatrixEntry(
            name="r",
            method="rsd",
            settings={"judge_orders": "both"},
            models={"judge": "openai:y@http://h:1/v1"},
        ),
        candidates="balanced",
        max_calls=5,
        base_url="http://127.0.0.1:1/v1",
    )
    assert made.row.settings == {"candidates": "balanced", "gate": 3, "judge_orders": "both"}
    assert made.row.models == {
        "debater_a": "openai:x@http://127.0.0.1:1/v1",
        "debater_b": "openai:x@http://127.0.0.1:1/v1",
        "judge": "openai:y@http://h:1/v1",
    }
    assert made.context.max_calls is None  # the evaluation's


def named(made: rows.Ready) -> dict[str, str]:
    """The model of each role, without provider and address."""
    return {role: spec.split("@")[0].split(":")[1] for role, spec in made.row.models.items()}


def test_the_example_of_the_document_runs() -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", EVALUATIONS.read_text(), re.DOTALL)
    made = {one.row.name: named(one) for one in rows.ready(read(text), "verify", {})}
    assert len(made) == 9
    plain, strong = made["ART, breadth=2, self"], made["ART, breadth=2, strong"]
    generator = {"supporter": "8b", "attacker": "8b"}
    assert plain == {**generator, "scorer": "small", "pairwise_judge": "8b"}
    assert strong == {**generator, "scorer": "70b", "pairwise_judge": "70b"}


@pytest.mark.parametrize(
    ("given", "answerer"),
    [
        ({"model": "openai:weak", "roles": {"debater": "openai:strong"}}, "strong"),
        ({"roles": {"debater_a": "openai:strong", "judge": "openai:weak"}}, "strong"),
    ],
)
def test_the_samples_beside_role_switching_debates_are_of_the_debaters_model(
    given: dict[str, object], answerer: str
) -> None:
    made = rows.ready(read_matrix("rsd").rows, "decide", given)
    for samples in (one for one in made if one.row.method == "self_consistency"):
        assert named(samples) == {"answerer": answerer}
        assert set(samples.context.roles) == {"answerer"}


@pytest.mark.parametrize(
    ("row", "block", "file", "flag", "scorer", "pairwise_judge"),
    [
        ("evaluator", "scorer", "", "", "row", "row"),
        ("", "evaluator", "scorer", "", "block", "block"),
        ("", "evaluator", "", "scorer", "block", "block"),
        ("scorer", "evaluator", "pairwise_judge", "", "row", "block"),
        ("model", "", "", "scorer", "flag", "row"),
    ],
)
def test_what_is_said_nearer_goes_first_for_a_role_and_for_a_family(
    row: str, block: str, file: str, flag: str, scorer: str, pairwise_judge: str
) -> None:
    def message(place: str, name: str) -> dict[str, str]:
        return {name: f"openai:{place}"} if name else {}

    axes = {"methods": [{"method": "art", "models": message("row", row)}]}
    block_of_one = axes | {"models": {"": message("block", block)}}
    text = json.dumps({"models": message("file", file), "axes": block_of_one})
    given = {"model": "openai:x", "roles": message("flag", flag)}
    (made,) = rows.ready(read(text), "verify", given)
    found = named(made)
    assert (found["scorer"], found["pairwise_judge"]) == (scorer, pairwise_judge)
