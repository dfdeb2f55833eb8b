"""What the terminal shows of a run while it lasts."""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Iterable
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue
from rich.cells import cell_len
from rich.console import Console

from dialectree.protocols.protocol import installed
from dialectree.records import Event, EventKind, RunRecord
from dialectree.report import Lines, LiveTree
from dialectree.system import clock, streams
from tests.report.recorded import events as recorded_events
from tests.report.recorded import record, seen

steady = settings(derandomize=True, database=None, deadline=None, max_examples=80)


def told(kind: EventKind, node: str = "0", /, **data: JsonValue) -> Event:
    return Event(t="t", run_id="r", node=node, kind=kind, data=data)


def grown(parts: int, kind: str = "leaf") -> list[Event]:
    """A root that was split into ``parts``, none of which has begun to debate."""
    ids = [f"0.{n}" for n in range(parts)]
    opened = [told("opened", i, text=f"part {i}", depth=1, parent="0", kind=kind) for i in ids]
    split = told("branched", children=[*ids])
    return [told("opened", text="whole", depth=0, parent=None), split, *opened]


SPEAKER = {"phase": "debate", "role": "debater", "speaker": "B"}


def spoke(
    node: str, who: str, round_: int = 1, stage: str = "debate", take: int = 1, **more: JsonValue
) -> Event:
    data: dict[str, JsonValue] = {"phase": stage, "round": round_, "speaker": who, "take": take}
    return told("spoke", node, **{"role": "debater", "step": 0, "fields": {}, **data, **more})


def settled(node: str, confidence: float = 0.5, take: int = 1) -> Event:
    return told("settled", node, verdict={"confidence": confidence, "take": take})


def live(
    events: Iterable[Event], height: int = 24, width: int = 80, record: RunRecord | None = None
) -> tuple[LiveTree, Console]:
    console = Console(
        file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None
    )
    drawing = LiveTree(console, "Is it so?", rounds={"debate": 2, "synthesis": 2}, record=record)
    for n in range(7):
        drawing.watch(told("called", f"call {n}", **SPEAKER))
    for event in events:
        drawing.watch(event)
    return drawing, console


def frame(events: Iterable[Event], height: int = 24, width: int = 80) -> str:
    drawing, _ = live(events, height, width)
    return seen(drawing.frame(), width, height).rstrip("\n")


def test_each_node_says_where_it_stands() -> None:
    events = [
        *grown(4),
        spoke("0.0", "A"),
        spoke("0.1", "B", 2),
        settled("0.2", 0.75),
        told("failed", "0.3", role="leaf_judge", fault="no"),
        told("settled", "0.3", verdict=None),
    ]
    rows = frame(events).splitlines()
    assert rows[0].startswith("7 calls · ") and "2 of 5 settled" in rows[0]
    assert rows[1].startswith("0 whole") and rows[1].endswith("2 of 4 parts settled")
    assert rows[2].startswith("  0.0 part 0.0") and rows[2].endswith("debate 1 of 2, A")
    assert rows[3].endswith("debate 2 of 2, B")
    assert rows[4].endswith("████░░  0.75")
    assert rows[5].endswith("1 failure no answer")


CASES: list[tuple[list[Event], str]] = [
    ([], "under way"),
    ([spoke("0", "2", 0, "direct", role="answerer")], "direct, answerer 2"),
    ([spoke("0", "leaf_judge", 0, role="leaf_judge")], "debate, leaf judge"),
    ([spoke("0", "b", 2, "cross_examination")], "cross examination, b"),
    ([spoke("0", "a", 1, "role_switch", take=2)], "again, role switch, a"),
    ([spoke("0", "a", 1, "proposals", names="C")], "proposals, a"),
    ([spoke("0", "a", label="E"), spoke("0", "a", 2, "role_switch")], "role switch, E"),
    ([spoke("0", "member_1", 2, "vote", role="member")], "vote, member 1"),
    ([spoke("0", "b"), told("asked", note="Who wins?")], "a person is asked"),
    ([told("asked", note="Who wins?"), told("answered", answer="B")], "under way"),
    ([settled("0"), spoke("0", "A", take=2)], "again, debate 1 of 2, A"),
    ([settled("0"), spoke("0", "A", take=2), settled("0", 0.6, 2)], "████░░  0.60"),
    ([told("settled", verdict=None, status="answered")], "settled"),
    ([told("scored", scores={"tau": 0.68})], "tau 0.68"),
    ([told("scored", scores={"strength": 0.5}), settled("0", 0.9)], "███░░░  0.50"),
    (grown(2)[1:], "0 of 2 parts settled"),
    ([*grown(2, "claim")[1:], settled("0.1")], "1 of 2 claims settled"),
    ([*grown(1)[1:], settled("0.0"), spoke("0", "full", 1, "synthesis")], "synthesis 1 of 2, full"),
]


@pytest.mark.parametrize(("events", "state"), CASES, ids=[state for _, state in CASES])
def test_a_node_says_what_goes_on_there_or_what_came_of_it(events: list[Event], state: str) -> None:
    opened = told("opened", text="whole", depth=0, kind="leaf")
    assert frame([opened, *events]).splitlines()[1].split("  ", 1)[1].strip() == state


def test_an_argument_shows_its_strength_as_soon_as_it_is_scored() -> None:
    events = recorded_events("art")
    scored = 1 + next(n for n, e in enumerate(events) if e.node == "0.0" and e.kind == "scored")
    rows = frame(events[:scored]).splitlines()
    assert "0 of 5 settled" in rows[0]
    assert rows[2].startswith("  0.0 ✓ An") and rows[2].endswith("tau 0.76")
    declined = told("noted", "0.1", data={"declined": {"attack": True}})
    rows = frame([*events, declined]).splitlines()
    assert "5 of 5 settled" in rows[0]
    assert rows[1].endswith("████░░  0.65")
    assert rows[3].startswith("  0.1 ✓ (attack declined) A") and rows[3].endswith("0.36")


def test_a_topic_shows_who_conceded() -> None:
    drawing, _ = live(recorded_events("tod"), record=record("tod"))
    rows = {row.split()[0]: row for row in seen(drawing.frame(), 100).splitlines() if row.strip()}
    assert rows["0.0"].endswith("neither concedes") and rows["0.1"].endswith("b concedes")


@pytest.mark.parametrize(("width", "height"), [(80, 24), (60, 12), (30, 6)])
def test_a_tree_higher_than_the_screen_keeps_where_somebody_speaks(width: int, height: int) -> None:
    ended = [settled(f"0.{n}") for n in range(38)]
    shown = frame([*grown(40), *ended, spoke("0.38", "A")], height, width)
    rows = shown.splitlines()
    assert len(rows) + 1 < height  # an empty one follows
    assert max(map(cell_len, rows)) <= width
    assert any(row.startswith("0 whole") for row in rows)
    assert any(row.startswith("  0.38") for row in rows)
    assert rows[-1] == f"… and {41 - (len(rows) - 2)} more"


WORDS = "Sugar beets grow where the soil is deep, and the mill stands beside the field. " * 4


def call(node: str, why: str, **more: JsonValue) -> Event:
    return told("calling", node, **SPEAKER, why=why, **more)


def answered(node: str) -> Event:
    """A call that took 1,200 tokens and cost 0.0123."""
    took: dict[str, Any] = {"prompt_tokens": 1000, "completion_tokens": 200, "cost": 0.0123}
    return told("called", node, **SPEAKER, **took)


@pytest.mark.parametrize(("width", "height"), [(80, 24), (80, 40), (140, 50)])
def test_the_newest_words_of_those_who_speak_stand_below_the_tree(width: int, height: int) -> None:
    said = [spoke(f"0.{n}", "A", fields={"text": f"Part {n}. {WORDS}"}) for n in range(84)]
    drawing, _ = live([*grown(84), *said, settled("0.83")], height, width)
    drawing.watch(call("0.7", "asked"))
    shown = seen(drawing.frame(), width, height)
    rows = shown.splitlines()
    assert len(rows) < height and max(map(cell_len, rows)) <= width
    first = next(n for n, row in enumerate(rows) if row.startswith("0.7 debate 1 of 2, A: Part 7."))
    assert rows[first].endswith("…")
    assert "Part 83." not in shown and "Part 82." in shown


WAITS: list[tuple[list[Event], str]] = [
    ([call("0.1", "asked"), call("0.2", "asked")], "speaking: 0.2 debater B and 1 more"),
    ([call("0.1", "queued")], "waiting for a slot: 0.1 debater B"),
    ([call("0.1", "rate_limit")], "rate limit: 0.1 debater B"),
    ([call("0.1", "asked", repair=1)], "repair of an invalid reply: 0.1 debater B"),
    ([call("0.1", "retry", fault="status 503")], "another try: 0.1 debater B, status 503"),
    ([call("0.1", "asked"), answered("0.1")], ""),
]


@pytest.mark.parametrize(("calls", "line"), WAITS)
def test_a_line_says_what_the_calls_wait_for(calls: list[Event], line: str) -> None:
    drawing, _ = live(grown(2))
    for one in calls:
        drawing.watch(one)
    below = seen(drawing.frame()).splitlines()[4:]
    assert [row.strip() for row in below] == ([line, ""] if line else [""])


@pytest.mark.parametrize(
    ("expected", "head"),
    [
        (None, "2 calls · "),
        ((31, 31), "2 of 31 calls · "),
        ((25, 37), "2 of about 31 calls · "),
        ((1, 1), "2 calls · "),
    ],
)
def test_the_head_counts_calls_tokens_and_money(
    expected: tuple[int, int] | None, head: str
) -> None:
    drawing = LiveTree(Console(width=80), "q")
    if expected is not None:
        drawing.watch(told("began", estimate=[*expected]))
    unpriced = answered("0.2")
    del unpriced.data["cost"]
    for one in (answered("0.1"), unpriced):
        drawing.watch(one)
    first = seen(drawing.frame()).splitlines()[1]
    assert first.startswith(head) and first.endswith("2,400 tokens · cost 0.0123")


def test_lines_say_once_a_minute_why_no_reply_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(clock, "seconds", lambda: now)
    console = Console(file=io.StringIO(), width=40)
    lines = Lines(console)
    for moment in (100.0, 106.0, 112.0, 118.0, 180.0):
        now = moment
        lines.watch(call("0.1", "rate_limit", wait=6))
    lines.watch(answered("0.1"))
    lines.watch(call("0.1", "retry", wait=2, fault="status 503"))
    assert isinstance(console.file, io.StringIO)
    printed = console.file.getvalue().splitlines()
    assert len(printed) == 2
    assert all("0.1 debater B" in one and "6.0 s" in one and "rate limit" in one for one in printed)


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
names = [
    "text",
    "depth",
    "phase",
    "round",
    "speaker",
    "take",
    "children",
    "verdict",
    "role",
    "note",
]
names += ["kind", "stance", "scores", "data", "why", "status", "fault", "change", "dropped"]
phases = [*{phase for one in installed().values() for phase in one.order.phases}, "dreaming"]
kinds = ["open", "branch", "leaf", "knockout", "claim", "argument", "topic"]
ids = ["0", "0.0", "0.10", "0.9.1", "", "²", "x.y"]
opening = st.fixed_dictionaries(
    {"text": st.text(), "depth": st.integers(0), "kind": st.sampled_from(kinds)},
    optional={"stance": st.sampled_from(["support", "attack"])},
)
speech = st.fixed_dictionaries(
    {
        "phase": st.sampled_from(phases),
        "role": st.sampled_from(["debater", "judge"]),
        "speaker": st.text(max_size=3),
        "step": st.integers(),
        "round": st.integers(),
        "fields": st.dictionaries(st.text(max_size=5), json),
    }
)
scores = st.dictionaries(st.sampled_from(["tau", "strength"]), st.floats() | st.integers())
extra = st.dictionaries(st.sampled_from(["positions", "declined"]), json)
data = (
    st.dictionaries(st.sampled_from(names), json)
    | opening
    | speech
    | st.fixed_dictionaries({"scores": scores})
    | st.fixed_dictionaries({"data": extra, "verdict": st.none(), "status": st.just("answered")})
    | st.fixed_dictionaries({"children": st.lists(st.sampled_from(ids))})
)
events = st.builds(told, st.sampled_from(get_args(EventKind)), st.sampled_from(ids)).flatmap(
    lambda event: data.map(lambda more: event.model_copy(update={"data": more}))
)
begun = st.builds(
    lambda node, more: told("opened", node).model_copy(update={"data": more}),
    st.sampled_from(ids),
    opening,
)


@steady
@given(st.lists(begun, max_size=4), st.lists(events, max_size=12))
def test_no_event_is_too_odd_to_watch(opened: list[Event], odd: list[Event]) -> None:
    shown = frame([*opened, *odd], height=8, width=60)
    assert len(shown.splitlines()) < 8
    quiet = Lines(Console(file=io.StringIO()))
    for event in odd:
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
            drawing.watch(spoke("0.0", "A"))
        assert "debate 1 of 2, A" in console.file.getvalue()
    assert sys.stderr is before


def test_an_error_leaves_the_terminal_as_it_was() -> None:
    drawing, console = live(grown(2))
    with pytest.raises(KeyboardInterrupt), drawing:
        raise KeyboardInterrupt
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().rindex("\x1b[?25h") > console.file.getvalue().rindex("\x1b[?25l")


def test_a_plain_terminal_gets_plain_characters() -> None:
    codecs.register_error("plainly", streams._plainly)
    for name in ("art", "tod"):
        drawing, _ = live(recorded_events(name))
        shown = seen(drawing.frame(), 160).encode("ascii", "plainly").decode()
        assert "?" not in shown.replace("Is it so?", "")


def test_lines_say_once_what_must_not_be_missed_and_nothing_else() -> None:
    console = Console(file=io.StringIO(), width=40)
    failed = told("failed", "0.1", role="persona", speaker="a", fault="no [b]reply[/b]\x1b[2J came")
    with Lines(console) as lines:
        for event in [*grown(3), failed, failed, told("noted", note="hm")]:
            lines.watch(event)
        with lines.pause():
            pass
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == ["0.1: Persona a failed: no [b]reply[/b] came"]
