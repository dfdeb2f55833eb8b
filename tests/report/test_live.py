"""What the terminal shows of a run while it lasts."""

from __future__ import annotations

import asyncio
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

from dialectree.interfaces.cli import streams
from dialectree.protocols.protocol import load_protocols
from dialectree.records import Event, EventKind, RunRecord, turns
from dialectree.report import Lines, LiveProgress, progress
from dialectree.system import clock
from tests.report.recorded import events as recorded_events
from tests.report.recorded import record, seen

steady = settings(derandomize=True, database=None, deadline=None, max_examples=80)


def told(kind: EventKind, node: str = "0", /, **data: JsonValue) -> Event:
    return Event(t="t", run_id="r", node=node, kind=kind, data=data)


SPEAKER = {"phase": "debate", "role": "debater", "speaker": "B"}


def spoke(
    node: str, who: str, round_: int = 1, stage: str = "debate", take: int = 1, **more: JsonValue
) -> Event:
    data: dict[str, JsonValue] = {"phase": stage, "round": round_, "speaker": who, "take": take}
    return told("spoke", node, **{"role": "debater", "step": 0, "fields": {}, **data, **more})


def live(
    events: Iterable[Event], height: int = 24, width: int = 80, record: RunRecord | None = None
) -> tuple[LiveProgress, Console]:
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None)
    drawing = LiveProgress(console, record)
    for event in events:
        drawing.watch(event)
    return drawing, console


def frame(events: Iterable[Event], height: int = 24, width: int = 80) -> str:
    drawing, _ = live(events, height, width)
    return seen(drawing.frame(), width, height).rstrip("\n")


WORDS = "Sugar beets grow where the soil is deep, and the mill stands beside the field. " * 4


def call(node: str, why: str, **more: JsonValue) -> Event:
    return told("calling", node, **SPEAKER, why=why, **more)


def answered(node: str) -> Event:
    """A call that took 1,200 tokens and cost 0.0123."""
    took: dict[str, Any] = {"prompt_tokens": 1000, "completion_tokens": 200, "cost": 0.0123}
    return told("called", node, **SPEAKER, **took)


@pytest.mark.parametrize("name", ["art", "rsd", "tod", "tsd"])
@pytest.mark.parametrize(("width", "height"), [(80, 24), (30, 6), (140, 50)])
def test_the_last_turn_stands_below_as_far_as_it_has_room(name: str, width: int, height: int) -> None:
    run = record(name)
    drawing, _ = live([], height, width, run)
    for event in recorded_events(name):
        drawing.watch(event)
        rows = seen(drawing.frame(), width, height).rstrip("\n").splitlines()
        assert len(rows) + 1 < height and max(map(cell_len, rows)) <= width
        if event.kind == "spoke" and (text := " ".join(turns.text(run, event.turn()).split())):
            said = " ".join(" ".join(rows[1:]).split())
            assert said.startswith(event.node)
            assert said.endswith((text, "…")) and (width < 80 or text in said)


def test_a_turn_is_headed_by_its_place_its_speaker_and_its_phase() -> None:
    said = frame([spoke("0.1", "B", fields={"text": "It is so."})]).splitlines()
    assert said[1:] == ["0.1 Debater B · Debate: It is so."]


def test_the_head_says_how_many_calls_are_under_way() -> None:
    events = [call("0.1", "asked"), call("0.2", "queued"), call("0.3", "asked"), answered("0.1")]
    assert frame(events).startswith("1 call · ")
    assert " · 2 under way · 1,200 tokens" in frame(events)


@pytest.mark.parametrize(
    ("expected", "head"),
    [
        (None, "2 calls · "),
        ((31, 31), "2 of 31 calls · "),
        ((25, 37), "2 of about 31 calls · "),
        ((1, 1), "2 calls · "),
    ],
)
def test_the_head_counts_calls_tokens_and_money(expected: tuple[int, int] | None, head: str) -> None:
    drawing = LiveProgress(Console(width=80))
    if expected is not None:
        drawing.watch(told("began", estimate=[*expected]))
    unpriced = answered("0.2")
    del unpriced.data["cost"]
    for one in (answered("0.1"), unpriced):
        drawing.watch(one)
    first = seen(drawing.frame()).splitlines()[0]
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


class SimulatedClock:
    """Time that passes only by ``pass_until``, and in which tasks sleep."""

    def __init__(self) -> None:
        self.now = 0.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def seconds(self) -> float:
        return self.now

    async def sleep(self, duration_s: float) -> None:
        sleeper = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.now + duration_s, sleeper))
        await sleeper

    async def pass_until(self, moment: float) -> None:
        """Wake the tasks in the order of time."""
        await asyncio.sleep(0)
        while due := [entry for entry in self._sleepers if entry[0] <= moment]:
            wake = min(due, key=lambda entry: entry[0])
            self._sleepers.remove(wake)
            self.now = wake[0]
            wake[1].set_result(None)
            for _ in range(3):
                await asyncio.sleep(0)
        self.now = moment


@pytest.mark.parametrize(
    ("seconds", "printed_at"),
    [(1, [1]), (59, [59]), (61, [60]), (150, [60, 120]), (599, [60 * n for n in range(1, 10)])],
)
def test_progress_is_one_line_a_minute_where_it_cannot_be_redrawn(
    seconds: float, printed_at: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    simulated, lines = SimulatedClock(), list[float]()
    monkeypatch.setattr(clock, "seconds", simulated.seconds)
    monkeypatch.setattr(clock, "sleep", simulated.sleep)
    console = Console(file=io.StringIO(), width=80)
    monkeypatch.setattr(console, "print", lambda *_, **__: lines.append(simulated.now))
    monkeypatch.setattr(progress, "Console", lambda stderr: console)

    async def conduct() -> None:
        async with progress.show(lambda: "12 of 40 questions", True):
            await simulated.pass_until(seconds)

    asyncio.run(conduct())
    assert lines == printed_at


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)
names = ["text", "depth", "phase", "round", "speaker", "take", "children", "verdict", "role", "note"]
names += ["kind", "stance", "scores", "data", "why", "status", "fault", "change", "dropped"]
phases = [*{phase for one in load_protocols().values() for phase in one.order.phases}, "dreaming"]
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
    lambda node, more: told("opened", node).model_copy(update={"data": more}), st.sampled_from(ids), opening
)


@steady
@given(st.lists(begun, max_size=4), st.lists(events, max_size=12))
def test_no_event_is_too_odd_to_watch(opened: list[Event], odd: list[Event]) -> None:
    shown = frame([*opened, *odd], height=8, width=60)
    assert len(shown.splitlines()) < 8
    quiet = Lines(Console(file=io.StringIO()))
    for event in odd:
        quiet.watch(event)


def test_what_is_typed_meanwhile_has_a_line_of_its_own_and_nothing_is_left_at_the_end() -> None:
    drawing, console = live([spoke("0", "A", fields={"text": "It is so."})])
    assert seen(drawing.frame()).endswith("\n\n")
    with drawing:
        pass
    assert isinstance(console.file, io.StringIO)
    after = console.file.getvalue().rpartition("It is so.")[2]
    assert after.count("\x1b[2K") == 3  # each line is erased


def test_nothing_is_drawn_while_a_person_is_asked() -> None:
    drawing, console = live([])
    assert isinstance(console.file, io.StringIO)
    before = sys.stderr
    with drawing:
        with drawing.pause():
            assert sys.stderr is before
            console.file.seek(0)
            console.file.truncate()
            drawing.watch(spoke("0.0", "A", fields={"text": "It is so."}))
        assert "It is so." in console.file.getvalue()
    assert sys.stderr is before


def test_an_error_leaves_the_terminal_as_it_was() -> None:
    drawing, console = live([])
    with pytest.raises(KeyboardInterrupt), drawing:
        raise KeyboardInterrupt
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().rindex("\x1b[?25h") > console.file.getvalue().rindex("\x1b[?25l")


def test_a_plain_terminal_gets_plain_characters() -> None:
    codecs.register_error("plainly", streams._plainly)
    for name in ("art", "tod"):
        drawing, _ = live([], record=record(name))
        for event in recorded_events(name):
            drawing.watch(event)
            shown = seen(drawing.frame(), 30, 8)
            plain = shown.encode("ascii", "plainly").decode()
            assert plain.count("?") == shown.count("?")


def test_lines_say_once_what_must_not_be_missed_and_nothing_else() -> None:
    console = Console(file=io.StringIO(), width=40)
    failed = told("failed", "0.1", role="persona", speaker="a", fault="no [b]reply[/b]\x1b[2J came")
    with Lines(console) as lines:
        for event in [failed, failed, told("noted", note="hm")]:
            lines.watch(event)
        with lines.pause():
            pass
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == ["0.1: Persona a failed: no [b]reply[/b] came"]
