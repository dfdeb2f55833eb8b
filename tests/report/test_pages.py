"""The page and the card: whole, safe, and drawn whatever stands in a record."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, seed, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from rich.console import Console

from dialectree import report
from dialectree.records import Call, Node, RunRecord, RunSummary, Tree
from dialectree.report import html, player
from dialectree.report.pages import card, macros
from dialectree.text import clean
from tests.report.recorded import DEMOS, HOSTILE, Page, calls, everywhere, failed, prefix, record

steady = settings(derandomize=True, database=None, deadline=None, max_examples=12)
each = pytest.mark.parametrize("name", DEMOS)
FOLDED = {"details", "summary"}
"""Elements in which a long text is folded away."""


@each
def test_a_page_is_one_file_that_asks_for_nothing(name: str) -> None:
    ledger = calls(name)
    for run, paid in ((record(name), ledger), (failed(name), ledger), (prefix(name, 8), [])):
        page = html(run, paid)
        parsed = Page(page)
        assert "default-src 'none'; script-src 'sha256-" in page
        assert not {"img", "iframe", "object", "form"} & set(parsed.elements)
        assert parsed.elements.count("script") == 2
        assert parsed.links == ["data:,"]
        assert "url(" not in page and "@import" not in page
        assert parsed.open == []
        assert len(parsed.ids) == len(set(parsed.ids))
        assert html(run, paid) == page


def test_a_page_that_would_be_large_leaves_the_text_to_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "<h1" in html(record("tsd"), calls("tsd")).partition("<noscript>")[2]
    monkeypatch.setattr(player, "_LARGEST", len(player.page()))
    text = html(record("tsd"), calls("tsd")).partition("<noscript>")[2].partition("</noscript>")[0]
    assert "report.md" in text and "<h1" not in text


@steady
@given(
    st.sampled_from(DEMOS), st.text() | st.sampled_from(HOSTILE).flatmap(lambda t: st.text().map(t.__add__))
)
@example("tsd", HOSTILE[0])
@example("tod", HOSTILE[1])
@example("art", HOSTILE[2])
def test_no_text_becomes_an_element_of_the_page(name: str, text: str) -> None:
    hostile, ordinary = (everywhere(name, words) for words in (text, "x"))
    for shown, plain in (
        (Page(html(hostile, calls(name))), Page(html(ordinary, calls(name)))),
        (Page(card(hostile)), Page(card(ordinary))),
    ):
        assert set(shown.elements) <= {*plain.elements, *FOLDED, "div", "p"}
        assert shown.names <= plain.names | {"class", "open"}
        assert shown.open == []
        assert shown.links == plain.links


@each
@pytest.mark.parametrize("text", HOSTILE)
def test_the_known_tricks_come_out_as_text(name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "_LARGEST", 10**9)
    run, plain = everywhere(name, text), everywhere(name, "x")
    page, ordinary = html(run, calls(name)), Page(html(plain, calls(name)))
    shown = Page(page)
    assert " ".join(clean(text).split()) in " ".join(shown.text.split())
    for element in ("h1", "h2", "h3", "article", "section", "li", "tr"):
        assert shown.elements.count(element) <= ordinary.elements.count(element)
    assert not any(c in page for c in "\x00\x07\x1b\x9b\ud800\u202e\u2066")
    page.encode()


# Fields of strangers, damaged ones, none


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
    card(run)
    repr(run)
    console.print(report.tree(run), report.overview([RunSummary.model_validate(run.model_dump())]))
    for node in run.tree.nodes.values():
        console.print(report.transcript(node, run))
    for part in ("answer", "why"):
        macros(run)(part)


@seed(1)
@settings(
    max_examples=20,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(st.sampled_from(RECORDS), st.data())
def test_whatever_stands_in_a_field_the_reports_are_drawn(whole: dict[str, Any], data: st.DataObject) -> None:
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
        {"0": Node(id="0", text="", depth=0, parent="1"), "1": Node(id="1", text="", depth=0, parent="0")},
    ],
)
def test_nodes_in_a_circle_are_no_tree(nodes: dict[str, Node]) -> None:
    with pytest.raises(ValidationError, match="nodes in a circle"):
        Tree(nodes=nodes)
