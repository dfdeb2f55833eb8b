"""What the terminal shows of a run after it, and of its turns one by one."""

from __future__ import annotations

import io
from functools import reduce
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from dialectree.records import Node, RunRecord, RunSummary, Tree
from dialectree.report import overview, result, transcript, tree
from dialectree.report.figures import format_money, format_share
from dialectree.report.words import census
from dialectree.text import clean, duration, figure, line
from tests.report.recorded import DEMOS, HOSTILE, everywhere, failed, prefix, record, seen

steady = settings(derandomize=True, database=None, deadline=None, max_examples=80)
each = pytest.mark.parametrize("name", DEMOS)


TREES: list[tuple[RunRecord, str]] = [
    (
        record("tsd"),
        """\
├── 0.0 Can a person on the Moon see the Great Wall of China with the naked eye? — 0.98: No.
│   Not split: the depth limit was reached. Won by A.
Confidence 0.74 · source: judges
24 calls · 24 attempts · 17,379 prompt tokens (0 cached)""",
    ),
    (
        failed("tsd"),
        """\
Degraded. There is an answer, but 4 parts of the debate failed for good.
│   Any judge failed: no reply came at 0.0""",
    ),
    (
        prefix("tsd", 12),
        """\
 • the budget is used up
0 Can the Great Wall of China be seen from space, even from the Moon? — no verdict yet
There is no verdict yet.""",
    ),
    (
        record("art"),
        """\
├── 0.2 ✗ attacks · τ 0.41, θ 0.50 → τ′ 0.45 → s 0.45 ████░░░░
│   Making the battery takes much energy and material.
│   lost to 0.0 · beat 0.1
P(claim) 0.65: more likely true than false""",
    ),
    (
        record("rsd"),
        "Debate. A: Sequential integers, against B: Random UUIDs. Won by B: Random UUIDs.",
    ),
    (
        record("tod"),
        """\
└── 0.1 What either way costs, and which districts and riders it leaves out — b concedes""",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("run", "rows"), TREES)
def test_the_tree_shows_each_node_and_what_came_of_it(run: RunRecord, rows: str) -> None:
    shown = seen(tree(run), 120)
    assert [row for row in rows.splitlines() if f"\n{row}" not in f"\n{shown}"] == []


@each
def test_a_run_is_shown_with_the_result_at_its_top(name: str) -> None:
    run = record(name)
    assert seen(tree(run)).startswith(seen(result(run, whole=True)))
    assert f"Rests on {census(run)} with " in " ".join(seen(result(run)).split())


def test_the_verdict_is_bold_and_a_status_has_a_colour() -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="standard")
    run = failed("art")
    console.print(tree(run))
    lacking = record("tsd")
    lacking.tree.nodes["0.1"].verdict, lacking.tree.nodes["0.1"].status = None, "missing"
    console.print(tree(lacking))
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "\x1b[1mP(claim) 0.65: more likely true than false\x1b[0m" in shown
    assert "31m" in next(row for row in shown.splitlines() if "no answer" in row)
    assert not {"True", "False"} & {*clean(shown).splitlines()}


@pytest.mark.parametrize(
    "begun", [Tree(nodes={"0": Node(id="0", text="", depth=0, children=["0.7"])}), Tree()]
)
def test_a_run_that_hardly_began_is_shown_too(begun: Tree) -> None:
    run = record("tsd").model_copy(update={"tree": begun, "verdict": None})
    assert "Can the Great Wall" in seen(tree(run))


TRICKS = "\n".join([*(text for text in HOSTILE if len(text) < 1_000), "漢字" * 50, "👩‍👩‍👧" * 20])


@each
@pytest.mark.parametrize("hostile", [TRICKS, ""])
@pytest.mark.parametrize("width", [100, 24])
def test_no_text_steers_the_terminal_or_leaves_its_column(name: str, hostile: str, width: int) -> None:
    run = everywhere(name, hostile)
    transcripts = (transcript(node, run) for node in run.tree.nodes.values())
    for part in (
        tree(run),
        result(run),
        overview([RunSummary.model_validate(run.model_dump())]),
        *transcripts,
    ):
        shown = seen(part, width)
        assert all(c == "\n" or c.isprintable() or c == "\u200d" for c in shown)
        assert max(map(cell_len, shown.splitlines())) <= width


ODD = "\x1b[2J\u202e\x9b1m\x07"
PLACES = [
    ("art", "tree.nodes.0.comparisons.0.supporter"),
    ("art", "settings.semantics"),
    ("rsd", "tree.nodes.0.id"),
    ("tod", "tree.nodes.0.data.counter.a1.0"),
]


@pytest.mark.parametrize(("name", "place"), PLACES)
def test_no_id_or_setting_of_a_record_steers_the_terminal(name: str, place: str) -> None:
    """A run's folder may come from anywhere."""
    told: Any = record(name).model_dump(mode="json")
    *above, last = place.split(".")
    part = reduce(lambda held, name: held[int(name) if isinstance(held, list) else name], above, told)
    part[0 if isinstance(part, list) else last] = ODD
    run = RunRecord.model_validate(told)
    for drawn in (tree(run), *(transcript(node, run) for node in run.tree.nodes.values())):
        assert not [c for c in seen(drawn) if c != "\n" and not c.isprintable()]


def test_markup_of_rich_in_a_text_is_text() -> None:
    run = everywhere("tsd", "[red]bold[/red]")
    assert "0 [red]bold[/red] — 0.74" in seen(tree(run))
    assert "[red]bold[/red]" in seen(transcript(run.tree.nodes["0.0"], run))


@steady
@given(st.text())
def test_clean_text_is_plain_and_stays_so(text: str) -> None:
    once = clean(text)
    assert clean(once) == once or "    " in once
    assert not any(ord(c) < 32 and c != "\n" for c in once)
    once.encode()
    assert len(line(text, 20)) <= 20
    assert "\n" not in line(text, 20)


NUMBERS: list[tuple[str, str]] = [
    (figure(None), "–"),
    (figure(0.5 - 1e-9), "<0.5"),
    (figure(1e-9), ">0"),
    (figure(0.5028), "0.503"),
    (format_share(None), "not determined"),
    (format_share(0), "0.00"),
    (format_share(0.0004), "0.0004"),
    (format_share(0.04153437), "0.04"),
    (format_share(0.5), "0.50"),
    (format_share(0.4999), "0.4999"),
    (format_share(0.99999), "0.99999"),
    (format_share(1), "1.00"),
    (format_money(0), "0.00"),
    (format_money(0.01234), "0.0123"),
    (format_money(1234.5), "1,234.50"),
    (duration(0.94), "0.9 s"),
    (duration(9.96), "10 s"),
    (duration(59.6), "1 min 00 s"),
    (duration(86), "1 min 26 s"),
    (duration(3599.6), "1 h 00 min"),
    (duration(7380), "2 h 03 min"),
]


@pytest.mark.parametrize(("shown", "words"), NUMBERS)
def test_numbers_follow_one_rule_and_no_share_is_rounded_to_certainty(shown: str, words: str) -> None:
    assert shown == words


def test_the_transcript_of_a_leaf_says_what_each_debater_defends() -> None:
    run = record("tsd")
    leaf = run.tree.nodes["0.0"]
    for turn in leaf.transcript:
        turn.side = {"A": "YES", "B": "OTHER"}.get(turn.speaker)
    shown = seen(transcript(leaf, run))
    assert "Leaf debater A (defends YES" in shown and "strongest other answer" in shown
