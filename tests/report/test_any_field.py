"""A report is drawn whatever stands in a record: fields of strangers, damaged ones, none."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pydantic import ValidationError
from rich.console import Console

from dialectree import report
from dialectree.records import Call, Node, RunRecord, Tree
from dialectree.report import pages
from dialectree.report.pages import macros
from tests.report.recorded import DEMOS, calls, failed, record

RECORDS: list[dict[str, Any]] = [
    json.loads(make(name).model_dump_json()) for make in (record, failed) for name in DEMOS
]
SOME = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
NAMES = st.sampled_from(["id", "text", "quote", "answer", "title", "a"])
ANYTHING = st.recursive(
    SOME | st.sampled_from(["0", "0.1", "0.2", "a1", "a:1", "A"]),
    lambda parts: st.lists(parts, max_size=2) | st.dictionaries(NAMES, parts, max_size=2),
    max_leaves=6,
)


def paths(value: object) -> Iterator[tuple[str | int, ...]]:
    """Yield the place of every part of ``value``."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)  # type: ignore[arg-type]
    for name, part in parts:
        yield (name,)
        if isinstance(part, dict | list):
            yield from ((name, *below) for below in paths(part))


def replaced(value: Any, path: tuple[str | int, ...], part: object) -> Any:
    """Return ``value`` with another part at ``path``."""
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], part) if path[1:] else part
    return copy


def draw(run: RunRecord, ledger: list[Call]) -> None:
    """Draw everything that is made of a record."""
    console = Console(file=io.StringIO())
    report.html(run, ledger)
    report.markdown(run, ledger)
    pages.card(run)
    repr(run)
    console.print(report.tree(run), report.overview([run]))
    for node in run.tree.nodes.values():
        console.print(report.transcript(node, run))
    for part in ("answer", "why"):
        macros(run)(part)


@seed(1)
@hypothesis_settings(
    max_examples=20,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(st.sampled_from(RECORDS), st.data())
def test_whatever_stands_in_a_field_the_reports_are_drawn(
    whole: dict[str, Any], data: st.DataObject
) -> None:
    places = [path for path in paths(whole) if path[:2] != ("tree", "segments")]
    path = data.draw(st.sampled_from(places))
    try:
        run = RunRecord.model_validate(replaced(whole, path, data.draw(ANYTHING)))
    except ValidationError:
        assume(False)
    draw(run, calls())


def _reply(**fields: Any) -> RunRecord:
    run = record("rsd")
    for turn in run.tree.nodes["0"].transcript:
        turn.fields |= {name: value for name, value in fields.items() if name in turn.fields}
    return run


def _at(node: str, **changes: Any) -> Callable[[RunRecord], RunRecord]:
    def change(record: RunRecord) -> RunRecord:
        for name, value in changes.items():
            setattr(record.tree.nodes[node], name, value)
        return record

    return change


@pytest.mark.parametrize(
    "run",
    [
        _reply(percent="x"),
        _reply(errors=[{"quote": 1}], label=["B"], confidence="high", rationale=None),
        _at("0", data={"claims": [], "positions": "x"})(record("tod")),
        _at("0", scores={"strength": 1e300, "tau": float("nan")})(record("art")),
    ],
)
def test_a_field_of_another_shape_stands_as_it_is(run: RunRecord) -> None:
    draw(run, [])


def test_a_percentage_that_is_no_number_is_shown() -> None:
    assert "about half" in report.html(_reply(percent="about half"), [])
    assert "about half" in report.markdown(_reply(percent="about half"), [])


@pytest.mark.parametrize(
    "nodes",
    [
        {"0": Node(id="0", text="", depth=0, children=["0"])},
        {
            "0": Node(id="0", text="", depth=0, parent="1"),
            "1": Node(id="1", text="", depth=0, parent="0"),
        },
    ],
)
def test_nodes_in_a_circle_are_no_tree(nodes: dict[str, Node]) -> None:
    with pytest.raises(ValidationError, match="nodes in a circle"):
        Tree(nodes=nodes)
