"""What the terminal shows of a run, after it and while it lasts."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
from functools import reduce
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from dialectree.cli import progress
from dialectree.records import Node, RunRecord, Tree
from dialectree.report import markdown, overview, result, transcript, tree
from dialectree.report.words import census, heading
from dialectree.text import clean, duration, line, money, share
from tests.report import sample, sample_art, sample_rsd, sample_tod
from tests.report.test_live import seen
from tests.report.test_markdown import HOSTILE, read

steady = settings(derandomize=True, database=None, deadline=None, max_examples=80)


def details(record: RunRecord) -> str:
    """Return what the Markdown says of the nodes, as a reader sees it."""
    page = markdown(record, [])
    page = page[page.index(f"## {heading(record)}\n") :]
    return read(re.split(r"\n## (?:Evidence|What it took)\n", page)[0])[1]


RUNS = [sample.record, sample.degraded, sample.partial, sample_rsd.won, sample_rsd.biased]
RUNS += [sample_rsd.again, sample_rsd.gated, sample_rsd.leaf_of_a_tree, sample_art.both_orders]
RUNS += [sample_art.contested, sample_art.leaf_of_a_tree, *sample_tod.RUNS]


@pytest.mark.parametrize("make", RUNS)
def test_the_transcripts_hold_every_word_of_the_report(make: Callable[[], RunRecord]) -> None:
    record = make()
    shown = [seen(transcript(node, record), 400) for node in record.tree.nodes.values()]
    title = heading(record).split()
    assert {*details(record).split()} - {*" ".join(shown).split(), *title} == set()


TREES: list[tuple[Callable[[], RunRecord], str]] = [
    (
        sample.record,
        """\
0 Which language do all people in Europe speak? — 0.36: None.
Note: 0.1 asks the same as 0
├── 0.0 Is there one such language? — 0.40: No.
│   Not split: the depth limit was reached. Won by A.
Confidence 0.36 · source: judges
20 calls · 21 attempts · 1,234 tokens in (0 cached) · 99 out · not priced""",
    ),
    (
        sample.degraded,
        """\
Degraded. There is an answer, but 1 part of the debate failed for good.
└── 0.1 Who speaks English? — no answer
    Leaf debater failed: no reply came""",
    ),
    (
        sample.partial,
        """\
 • the budget of 20 calls is used up
0 Which language do all people in Europe speak? — no verdict yet
There is no verdict yet.""",
    ),
    (
        sample_art.record,
        """\
├── 0.1 ✗ attacks  τ 0.80, θ 1.00 → τ′ 0.90 → s 0.97 ████████
│   beat 0.0
P(claim) 0.41: more likely false than true""",
    ),
    (
        sample_rsd.won,
        "Debate. B: plant materials, against C: oil products. Won by C: oil products.",
    ),
    (
        sample_tod.record,
        """\
│   ├── 0.0.0 Cost for a single object — neither concedes
├── 0.1 Trust: how far an orbit can be off — a concedes
│   a (concedes) No bound, admittedly
│   b Every orbit has a bound
What they share""",
    ),
]


@pytest.mark.parametrize(("make", "rows"), TREES)
def test_the_tree_shows_what_was_asked_and_what_came_of_it(
    make: Callable[[], RunRecord], rows: str
) -> None:
    shown = seen(tree(make()), 120)
    assert [row for row in rows.splitlines() if f"\n{row}" not in f"\n{shown}"] == []


@pytest.mark.parametrize("make", RUNS)
def test_a_run_is_shown_with_the_result_at_its_top(make: Callable[[], RunRecord]) -> None:
    record = make()
    assert seen(tree(record)).startswith(seen(result(record)))
    assert f"Rests on {census(record)} with " in " ".join(seen(result(record)).split())


def test_the_verdict_is_bold_and_no_bare_word_about_a_claim() -> None:
    for record, bold in (
        (sample_art.record(), "P(claim) 0.41: more likely false than true"),
        (sample_rsd.won(), "C: oil products"),
    ):
        console = Console(file=io.StringIO(), width=80, force_terminal=True)
        console.print(result(record))
        assert isinstance(console.file, io.StringIO)
        shown = console.file.getvalue()
        assert f"\x1b[1m{bold}\x1b[0m" in shown
        assert not {"True", "False"} & {*clean(shown).splitlines()}


def test_the_result_of_a_contest_says_what_it_changed() -> None:
    shown = seen(result(sample_art.contested()))
    assert "0.41 → 0.51, False → True" in shown and sample_art.WHY[:40] in shown
    assert "P(claim) 0.51: more likely true than false" in shown


def test_the_command_prints_the_same_result_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    progress._say(sample_art.contested(), json=False)
    shown = capsys.readouterr().out
    assert (
        "0.41 → 0.51, False → True" in shown
        and "P(claim) 0.51: more likely true than false" in shown
    )


def test_a_status_has_a_colour() -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="standard")
    console.print(tree(sample.degraded()))
    assert isinstance(console.file, io.StringIO)
    failed = next(row for row in console.file.getvalue().splitlines() if "no answer" in row)
    assert "31m" in failed


def hardly_begun() -> RunRecord:
    begun = Tree(nodes={"0": Node(id="0", text="", depth=0, children=["0.7"])})
    return sample.record().model_copy(update={"tree": begun, "verdict": None})


@pytest.mark.parametrize("begun", [hardly_begun().tree, Tree()])
def test_a_run_that_hardly_began_is_shown_too(begun: Tree) -> None:
    run = hardly_begun().model_copy(update={"tree": begun})
    assert sample.QUESTION in seen(tree(run))


RECORDS = [module.everywhere for module in (sample, sample_art, sample_rsd, sample_tod)]


@pytest.mark.parametrize("everywhere", RECORDS)
@pytest.mark.parametrize("hostile", ["\n".join([HOSTILE, "漢字" * 50, "👩‍👩‍👧" * 20]), ""])
@pytest.mark.parametrize("width", [100, 24])
def test_no_text_steers_the_terminal_or_leaves_its_column(
    everywhere: Callable[[str], RunRecord], hostile: str, width: int
) -> None:
    run = everywhere(hostile)
    transcripts = (transcript(node, run) for node in run.tree.nodes.values())
    for part in (tree(run), result(run), overview([run]), *transcripts):
        shown = seen(part, width)
        assert all(c == "\n" or c.isprintable() or c == "\u200d" for c in shown)
        assert max(map(cell_len, shown.splitlines())) <= width


ODD = "\x1b[2J\u202e\x9b1m\x07"
PLACES: list[tuple[Callable[[], RunRecord], str]] = [
    (sample_art.record, "tree.nodes.0.comparisons.0.supporter"),
    (sample_art.record, "settings.semantics"),
    (sample_art.contested, "contest.path.0.node"),
    (sample_rsd.won, "tree.nodes.0.id"),
    (sample_tod.record, "tree.nodes.0.data.counter.a1.0"),
]


@pytest.mark.parametrize(("make", "place"), PLACES)
def test_no_id_or_setting_of_a_record_steers_the_terminal(
    make: Callable[[], RunRecord], place: str
) -> None:
    """A run's folder may come from anywhere."""
    told: Any = make().model_dump(mode="json")
    *above, last = place.split(".")
    part = reduce(
        lambda held, name: held[int(name) if isinstance(held, list) else name], above, told
    )
    part[0 if isinstance(part, list) else last] = ODD
    run = RunRecord.model_validate(told)
    for drawn in (tree(run), *(transcript(node, run) for node in run.tree.nodes.values())):
        assert not [c for c in seen(drawn) if c != "\n" and not c.isprintable()]


def test_markup_of_rich_in_a_text_is_text() -> None:
    run = sample.everywhere("[red]bold[/red]")
    assert "0 [red]bold[/red] — 0.36" in seen(tree(run))
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
    (share(None), "not determined"),
    (share(0), "0.00"),
    (share(0.0004), "0.0004"),
    (share(0.04153437), "0.04"),
    (share(0.5), "0.50"),
    (share(0.4999), "0.4999"),
    (share(0.996), "0.996"),
    (share(0.99999), "0.99999"),
    (share(1), "1.00"),
    (money(0), "0.00"),
    (money(0.01234), "0.0123"),
    (money(1234.5), "1,234.50"),
    (duration(0.94), "0.9 s"),
    (duration(59.6), "1 min 00 s"),
    (duration(86), "1 min 26 s"),
    (duration(7380), "2 h 03 min"),
]


@pytest.mark.parametrize(("shown", "words"), NUMBERS)
def test_numbers_follow_one_rule_and_no_confidence_is_rounded_to_certainty(
    shown: str, words: str
) -> None:
    assert shown == words


def test_the_transcript_of_a_leaf_says_what_each_debater_defends() -> None:
    run = sample.record()
    leaf = run.tree.nodes["0.0"].model_copy(deep=True)
    for turn in leaf.transcript:
        turn.side = {"A": "YES", "B": "OTHER"}.get(turn.speaker)
    shown = seen(transcript(leaf, run))
    assert "Leaf debater A (defends YES)" in shown
    assert "Leaf debater B (defends the strongest other answer, won)" in shown
