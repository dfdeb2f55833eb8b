"""What the terminal shows of a run, after it and while it lasts."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue
from rich.cells import cell_len
from rich.console import Console, RenderableType

from dialectree.cli import progress
from dialectree.protocol import installed
from dialectree.records import Event, EventKind, Node, RunRecord, Tree
from dialectree.report import Lines, LiveTree, markdown, overview, result, transcript, tree
from dialectree.report.picture import Growing, shown
from dialectree.report.words import clean, heading, line, percent
from tests.report import sample, sample_art, sample_rsd, sample_tod
from tests.report.test_markdown import HOSTILE, read

steady = settings(derandomize=True, database=None, deadline=None, max_examples=80)


def seen(renderable: RenderableType, width: int = 80, height: int = 24) -> str:
    """What a person sees of it, without colour."""
    console = Console(file=io.StringIO(), width=width, height=height, color_system=None)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def told(kind: EventKind, node: str = "0", /, **data: JsonValue) -> Event:
    return Event(t="t", run_id="r", node=node, kind=kind, data=data)


def grown(parts: int) -> list[Event]:
    """A root that was split into ``parts``, none of which has begun to debate."""
    ids = [f"0.{n}" for n in range(parts)]
    opened = [told("opened", i, text=f"part {i}", depth=1, parent="0") for i in ids]
    split = told("branched", children=[*ids])
    return [told("opened", text="whole", depth=0, parent=None), split, *opened]


def spoke(node: str, who: str, round_: int, stage: str = "debate", take: int = 1) -> Event:
    data: dict[str, JsonValue] = {"stage": stage, "round": round_, "who": who, "take": take}
    return told("spoke", node, role="debater", step=0, fields={}, **data)


def live(events: Iterable[Event], height: int = 24, width: int = 80) -> tuple[LiveTree, Console]:
    console = Console(
        file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None
    )
    drawing = LiveTree(console, "Is it so?", lambda: 7, rounds={"debate": 2, "synthesis": 2})
    for event in events:
        drawing.watch(event)
    return drawing, console


def frame(events: Iterable[Event], height: int = 24, width: int = 80) -> str:
    drawing, _ = live(events, height, width)
    return seen(drawing.frame(), width, height).rstrip("\n")


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
0 Which language do all people in Europe speak? — 36%: None.
Note: 0.1 asks the same as 0
├── 0.0 Is there one such language? — 40%: No.
│   Not split: the depth limit was reached. Won by A.
Confidence: 36% · source: judges
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
P(claim): 0.41, below the threshold 0.5: False""",
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


def test_the_result_of_a_contest_says_what_it_changed() -> None:
    shown = seen(result(sample_art.contested()))
    assert "0.41 → 0.51, False → True" in shown and sample_art.WHY[:40] in shown
    assert "above the threshold 0.5: True" in shown


def test_the_command_prints_the_same_result_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    progress._say(sample_art.contested(), json=False)
    shown = capsys.readouterr().out
    assert "0.41 → 0.51, False → True" in shown and "above the threshold 0.5: True" in shown


def test_a_status_has_a_colour() -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="standard")
    console.print(tree(sample.degraded()))
    assert isinstance(console.file, io.StringIO)
    failed = next(row for row in console.file.getvalue().splitlines() if "no answer" in row)
    assert "31m" in failed


def hardly_begun() -> RunRecord:
    begun = Tree(nodes={"0": Node(id="0", text="", depth=0, children=["0", "0.7"])})
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
    assert "0 [red]bold[/red] — 36%" in seen(tree(run))
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


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (None, "not determined"),
        (0, "0%"),
        (0.0004, "<0.1%"),
        (0.04153437, "4.2%"),
        (0.0996, "10%"),
        (0.5, "50%"),
        (0.996, "99.6%"),
        (0.99999, "99.9%"),
        (1, "100%"),
    ],
)
def test_a_confidence_is_never_rounded_to_certainty(share: float | None, words: str) -> None:
    assert percent(share) == words


def test_the_live_tree_says_where_each_debate_stands() -> None:
    events = [
        *grown(4),
        spoke("0.0", "A", 1),
        spoke("0.1", "A", 2),
        spoke("0.1", "B", 2),
        told("settled", "0.2", verdict={"confidence": 0.75}),
        told("failed", "0.3", role="leaf_judge", fault="no"),
        told("settled", "0.3", verdict=None),
    ]
    rows = frame(events).splitlines()
    assert rows[0].startswith("7 calls · ") and "2 of 5 settled" in rows[0]
    assert rows[1].startswith("0 whole") and rows[1].endswith("2 of 4 parts")
    assert rows[2].startswith("  0.0 part 0.0") and rows[2].endswith("round 1 of 2, A")
    assert rows[3].endswith("with the judge")
    assert rows[4].endswith("━━━━──   75%")
    assert rows[5].endswith("1 failure no answer")


def test_a_second_pass_takes_a_settled_node_up_again() -> None:
    settled = [told("settled", i, verdict={"confidence": 0.5}) for i in ("0.0", "0.1", "0")]
    events = [*grown(2), *settled, spoke("0.1", "A", 1, take=2)]
    assert "again, round 1 of 2, A" in frame(events)
    assert "again" not in frame([*events, told("settled", "0.1", verdict={"confidence": 0.6})])


def test_a_synthesis_is_shown_as_merging() -> None:
    settled = [told("settled", i, verdict={"confidence": 0.5}) for i in ("0.0", "0.1")]
    assert frame([*grown(2), *settled]).splitlines()[1].endswith("merging")
    merged = frame([*grown(2), *settled, spoke("0", "full", 1, "synthesis")])
    assert merged.splitlines()[1].endswith("merging 1 of 2, full")


@pytest.mark.parametrize(("width", "height"), [(80, 24), (60, 12), (30, 6)])
def test_a_tree_higher_than_the_screen_keeps_what_is_under_way(width: int, height: int) -> None:
    done = [told("settled", f"0.{n}", verdict={"confidence": 0.5}) for n in range(38)]
    shown = frame([*grown(40), *done, spoke("0.38", "A", 1)], height, width)
    rows = shown.splitlines()
    assert len(rows) + 1 < height  # an empty one follows
    assert max(map(cell_len, rows)) <= width
    assert any(row.startswith("0 whole") for row in rows)
    assert any(row.startswith("  0.38") for row in rows)
    assert rows[-1] == f"… and {41 - (len(rows) - 2)} more"


def test_a_node_is_shown_with_its_ancestors_or_not_at_all() -> None:
    ids = ["0", "0.0", "0.0.0", "0.1", "0.1.0"]
    nodes = {i: Growing(i, i, i.count(".")) for i in ids}
    for i in ("0", "0.0", "0.1"):
        nodes[i].children, nodes[i].doing = ["x"], ""
    assert [node.id for node in shown(nodes, 4)] == ["0", "0.0", "0.0.0", "0.1"]


def test_a_very_long_question_takes_one_line() -> None:
    events = [told("opened", text="why " * 10_000, depth=0, parent=None)]
    rows = frame(events, width=60).splitlines()
    assert len(rows) == 2
    assert cell_len(rows[1]) <= 60 and "…" in rows[1]


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)
names = ["text", "depth", "stage", "round", "who", "take", "children", "verdict", "role", "note"]
names += ["kind", "stance", "scores", "data", "why", "status", "winner", "change", "dropped"]
stages = [*{phase for one in installed().values() for phase in one.order.phases}, "dreaming"]
kinds = ["open", "branch", "leaf", "knockout", "claim", "argument", "topic"]
data = st.dictionaries(st.sampled_from(names), json)
data |= st.fixed_dictionaries({"stage": st.sampled_from(stages), "who": st.sampled_from("abc")})
data |= st.fixed_dictionaries(
    {"kind": st.sampled_from(kinds), "stance": st.sampled_from(["support", "attack"])}
)
scores = st.fixed_dictionaries({name: st.floats() for name in ("tau", "strength")})
data |= st.fixed_dictionaries({"scores": scores})
data |= st.fixed_dictionaries(
    {"data": st.dictionaries(st.sampled_from(["positions", "declined"]), json)}
)
data |= st.fixed_dictionaries({"verdict": st.dictionaries(st.just("confidence"), json)})
events = st.builds(
    lambda node, kind, held: Event(t="", run_id="", node=node, kind=kind, data=held),
    st.sampled_from(["0", "0.0", "0.10", "0.9.1", "", "²", "x.y"]),
    st.sampled_from(get_args(EventKind)),
    data,
)


def phase(stage: str, who: str, node: str = "0", round_: int = 1, take: int = 1) -> Event:
    return spoke(node, who, round_, stage, take)


@pytest.mark.parametrize(
    ("said", "doing"),
    [
        ([], "answering"),
        ([phase("direct", "1", round_=0), phase("direct", "2", round_=0)], "2 direct answers"),
        ([phase("proposals", "b")], "proposals, b"),
        ([phase("proposals", "same_answer", round_=0)], "proposals"),
        ([phase("cross_examination", "b", round_=2)], "cross-examination, b"),
        ([phase("role_switch", "a", round_=3)], "role switch, a"),
        ([phase("uncertainty", "a", round_=4)], "uncertainty, a"),
        ([phase("uncertainty", "a"), phase("uncertainty", "b")], "with the judge"),
        ([phase("judgment", "swapped")], "judgment, swapped"),
        ([phase("role_switch", "a", take=2)], "again, role switch, a"),
        ([phase("uncertainty", "b"), told("answered", note="ruled", answer="B")], "judgment"),
    ],
)
def test_the_live_tree_says_which_phase_a_debate_is_in(said: list[Event], doing: str) -> None:
    opened = told("opened", text="whole", depth=0, kind="leaf")
    assert frame([opened, *said]).splitlines()[1].split("  ")[-1].strip() == doing


def test_the_live_tree_calls_a_debater_by_the_label_that_it_defends() -> None:
    said = [phase("proposals", "a"), phase("role_switch", "a", round_=2)]
    said += [phase("uncertainty", "b", round_=3)]
    for event, more in zip(said, ({"names": "C"}, {"label": "E"}, {"label": "E"}), strict=True):
        event.data.update(more)
    opened = told("opened", text="whole", depth=0, kind="leaf")
    shown = [frame([opened, *said[:count]]).splitlines()[1].split("  ")[-1] for count in (1, 2, 3)]
    assert [doing.strip() for doing in shown] == [
        "proposals, C",
        "role switch, C",
        "uncertainty, E",
    ]


def test_the_live_tree_counts_the_debates_of_a_knockout() -> None:
    events = [
        told("opened", text="whole", depth=0, kind="knockout"),
        told("opened", "0.0", text="B or C", depth=1, parent="0", kind="leaf"),
        told("branched", children=["0.0"], kind="knockout"),
    ]
    assert frame(events).splitlines()[1].endswith("0 debates over")
    settled = told("settled", "0.0", verdict={"confidence": 0.5})
    assert frame([*events, settled]).splitlines()[1].endswith("1 debate over")


def test_the_live_tree_shows_an_argument_as_soon_as_it_is_scored() -> None:
    events = sample_art.events()
    before = frame(events[:5]).splitlines()
    assert before[1].startswith("0 Chameleons") and before[1].endswith("arguing")
    assert before[2].startswith("  0.0 ✓ Many") and before[2].endswith("being scored")
    rows = frame(events[:18]).splitlines()
    assert "0 of 4 settled" in rows[0]
    assert rows[1].endswith("3 of 3 scored, 2 met")
    assert rows[2].endswith("τ 0.68")
    assert rows[3].startswith("  0.1 ✗ They")


def test_an_argument_is_settled_when_it_is_weighed() -> None:
    rows = frame(sample_art.events()).splitlines()
    assert "5 of 5 settled" in rows[0]
    assert rows[1].endswith("━━────  0.41")
    assert rows[3].startswith("  0.1 ✗ (attacker declined) They") and rows[3].endswith("0.97")
    lost = frame([*sample_art.events(), told("scored", "0.2", scores={"strength": None})])
    assert lost.splitlines()[-1].endswith("no answer")


def test_the_trees_of_an_ensemble_are_counted() -> None:
    claims = [told("opened", f"0.{n}", text="c", depth=1, kind="claim") for n in range(2)]
    root = told("opened", text="c", depth=0, kind="claim")
    split = told("branched", children=["0.0", "0.1"], kind="claim")
    weighed = told("scored", "0.1", scores={"strength": 0.6})
    assert frame([root, *claims, split, weighed]).splitlines()[1].endswith("1 of 2 trees")


@steady
@given(st.lists(events, max_size=12))
def test_no_event_is_too_odd_to_watch(told: list[Event]) -> None:
    shown = frame(told, height=8, width=60)
    assert len(shown.splitlines()) < 8
    quiet = Lines(Console(file=io.StringIO()), "q", lambda: 0)
    for event in told:
        quiet.watch(event)


def test_what_is_typed_while_the_tree_is_drawn_has_a_line_of_its_own() -> None:
    drawing, _ = live(grown(2))
    assert seen(drawing.frame()).endswith("\n\n")
    with drawing:
        pass
    assert not seen(drawing.frame()).endswith("\n\n")


def test_the_whole_tree_is_left_on_the_screen_at_the_end() -> None:
    drawing, console = live([], height=10)
    with drawing:
        for event in grown(40):
            drawing.watch(event)
    assert isinstance(console.file, io.StringIO)
    last = console.file.getvalue().rpartition("7 calls")[2]
    assert all(f"part 0.{n}" in last for n in range(40))


def test_nothing_is_drawn_while_a_person_is_asked() -> None:
    drawing, console = live(grown(2))
    assert isinstance(console.file, io.StringIO)
    before = sys.stderr
    with drawing:
        with drawing.pause():
            assert sys.stderr is before
            console.file.seek(0)
            console.file.truncate()
            drawing.watch(spoke("0.0", "A", 1))
        assert "round 1 of 2, A" in console.file.getvalue()
    assert sys.stderr is before


def test_an_error_leaves_the_terminal_as_it_was() -> None:
    drawing, console = live(grown(2))
    with pytest.raises(KeyboardInterrupt), drawing:
        raise KeyboardInterrupt
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().rindex("\x1b[?25h") > console.file.getvalue().rindex("\x1b[?25l")


def test_a_plain_terminal_gets_plain_characters() -> None:
    console = Console(file=io.TextIOWrapper(io.BytesIO(), "ascii"), width=60, height=20)
    drawing = LiveTree(console, "q", lambda: 1)
    settled = told("settled", "0.0", verdict={"confidence": 0.5})
    for event in [*grown(3), settled, *sample_art.events()[4:12]]:
        drawing.watch(event)
    assert seen(drawing.frame(), 60).isascii()


def test_lines_say_once_what_must_not_be_missed_and_nothing_else() -> None:
    console = Console(file=io.StringIO(), width=40)
    failed = told("failed", "0.1", role="leaf_judge", fault="no [b]reply[/b]\x1b[2J came")
    asked = told("asked", "0", note="missing: which year")
    with Lines(console, "Is it so?", lambda: 0) as lines:
        for event in [*grown(3), failed, failed, asked, told("noted", note="hm")]:
            lines.watch(event)
        with lines.pause():
            pass
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == [
        "0.1: Leaf judge failed: no [b]reply[/b] came",
        "0: missing: which year",
    ]


def test_the_transcript_of_a_leaf_says_what_each_debater_defends() -> None:
    run = sample.record()
    leaf = run.tree.nodes["0.0"].model_copy(deep=True)
    for turn in leaf.transcript:
        turn.side = {"A": "YES", "B": "OTHER"}.get(turn.who)
    shown = seen(transcript(leaf, run))
    assert "Leaf debater A (defends YES)" in shown
    assert "Leaf debater B (defends the strongest other answer, won)" in shown
