"""Print a run's progress in lines: on a terminal, in a notebook, in a program."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from html import escape
from importlib import import_module
from typing import Any, NamedTuple, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from dialectree.records import Event, Failure, Place, Turn, turns
from dialectree.records.place import Spot
from dialectree.report import words
from dialectree.system import clock
from dialectree.text import count, duration, line

SOFT, WARN, ACCENT, SECOND = "dim", "yellow", "cyan", "magenta"
LONGEST = 300
"""The most characters of a text that are shown."""
_LONG_WAIT_S = 10.0
"""Seconds without a reply after which a line on the wait is printed."""
_SAY_AGAIN_S = 60.0
"""Seconds between two lines on progress, or on a wait, where a line cannot be redrawn."""
_EVERY_S = 0.5
"""Seconds between two drawings of a line."""


def remark(event: Event) -> str | None:
    """Return a line on a failure or a starting model; None for any other event."""
    text = ""
    if event.kind == "calling" and event.data.get("why") == "starting":
        name = event.data.get("waits_for", "")
        return line(f"starting the model {name}", LONGEST)
    if event.kind == "failed":
        data = {name: str(event.data.get(name) or "") for name in Failure.model_fields}
        text = words.describe_failure(Failure(**data))
    return line(f"{event.node}: {text}", LONGEST) if text else None


class Waiting(NamedTuple):
    """A call that is not answered yet."""

    place: Place
    why: str
    """``queued``, ``starting``, ``asked``, ``rate_limit``, ``retry`` or, after an invalid reply,
    ``repair``."""
    until: float = 0.0
    """When the pause before the next request ends, by ``clock.seconds``; 0 without a pause."""
    fault: str = ""

    @classmethod
    def from_event(cls, event: Event) -> Waiting:
        """Return the call of a ``calling`` event."""
        data: dict[str, Any] = event.data
        repaired = data["why"] == "asked" and data.get("repair")
        until = clock.seconds() + data["wait"] if "wait" in data else 0.0
        why = "repair" if repaired else data["why"]
        return cls(_place(event), why, until, data.get("fault", ""))

    @property
    def who(self) -> str:
        """Return ``0.1 leaf judge``: the node and the speaker of the call."""
        return line(f"{self.place.node} {Turn.at(self.place).speaking()}", 60)


def _place(event: Event) -> Place:
    """Return the place of the call that ``event`` is about."""
    place: dict[str, Any] = {n: event.data[n] for n in Place.model_fields if n in event.data}
    return Place(**{**place, "node": event.node})


class Progress:
    """Compute the progress of a run from its events, for every display of a run.

    Args:
        run_id: The run's name in :meth:`line`.
        expected: The least and the most expected calls, until an event gives an estimate.
    """

    def __init__(self, run_id: str = "", expected: tuple[int, int] | None = None) -> None:
        self._run_id = run_id
        self.expected = expected
        self.calls = self.tokens = 0
        """The calls that have ended, and their tokens."""
        self.cost = 0.0
        self.waiting: dict[Spot, Waiting] = {}
        """The calls that are not answered yet, by place. The call that changed last comes last."""
        self._failed: set[int] = set()
        """The event numbers of the calls without a reply."""
        self.over = False
        """Whether the run has ended."""
        self._replies = 0
        self._newest: Event | None = None
        self._began = clock.seconds()

    def watch(self, event: Event) -> None:
        """Apply ``event``."""
        data: dict[str, Any] = event.data
        match event.kind:
            case "began" if "estimate" in data:
                minimum, maximum = data["estimate"]
                self.expected = minimum, maximum
            case "calling":
                waiting_call = Waiting.from_event(event)
                self.waiting.pop(waiting_call.place.spot(), None)
                self.waiting[waiting_call.place.spot()] = waiting_call
            case "called":
                self.calls += 1
                self.tokens += data.get("prompt_tokens", 0) + data.get("completion_tokens", 0)
                self.cost += data.get("cost", 0.0)
                self._failed |= {event.n} if data.get("failed") else set()
                self.waiting.pop(_place(event).spot(), None)
            case "resumed" | "ended":
                self.over = event.kind == "ended"
                self.waiting.clear()
                self.calls -= len(self._failed.intersection(data.get("void", ())))
            case "spoke":
                self._replies += 1
                self._newest = event
            case "asked" | "concluded":
                self._newest = event

    @property
    def seconds(self) -> float:
        """Return the seconds since this object was made."""
        return clock.seconds() - self._began

    def line(self) -> str:
        """Return ``run 20260131-120000-1a2b3c · 3 replies, 12 s · 0.1 Leaf debater A: Tin came ...``."""
        replies = count(self._replies, "reply", "replies")
        return f"run {self._run_id} · {replies}, {duration(self.seconds)}{self.newest()}"

    def newest(self) -> str:
        """Return a dot and the newest event: a turn, a question to a person or the end."""
        match self._newest:
            case Event(kind="spoke") as event:
                turn = event.turn()
                text = line(turns.text(None, turn), 100)
                return f" · {event.node} {words.speaker(turn)}: {text}"
            case Event(kind="asked"):
                return " · a person is asked"
            case Event():
                return " · done"
            case None:
                return ""


class Several:
    """Compute the progress of several runs from their events."""

    def __init__(self) -> None:
        self._runs: dict[str, Progress] = {}
        self._newest: Progress | None = None

    def watch(self, event: Event) -> None:
        """Apply an event of one of the runs."""
        self._newest = self._runs.setdefault(event.run_id, Progress(event.run_id))
        self._newest.watch(event)

    @property
    def over(self) -> int:
        """Return how many runs have ended."""
        return sum(run.over for run in self._runs.values())

    def newest(self) -> str:
        """Return a dot and the newest event of the run that changed last; empty if that run has ended."""
        run = self._newest
        return "" if run is None or run.over else run.newest()


class Lines:
    """Print each failure and each start of a model once, and long waits."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._printed: set[str] = set()
        self._replied = clock.seconds()
        self._complained = -_SAY_AGAIN_S

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: printed lines stay."""

    def watch(self, event: Event) -> None:
        """Print a remark on ``event`` unless it was printed before, or the reason for a long wait."""
        text = remark(event)
        if text is not None and text not in self._printed:
            self._printed.add(text)
            self._console.print(Text(text), soft_wrap=True)
        if event.kind == "called":
            self._replied = clock.seconds()
        elif event.kind == "calling" and "wait" in event.data:
            self._complain(Waiting.from_event(event))

    def _complain(self, waiting_call: Waiting) -> None:
        """Print the reason for a long wait, at most once a minute."""
        now = clock.seconds()
        without_s = waiting_call.until - self._replied
        if without_s < _LONG_WAIT_S or now - self._complained < _SAY_AGAIN_S:
            return
        self._complained = now
        limited = waiting_call.why == "rate_limit"
        why = "for the endpoint's rate limit" if limited else f"after {line(waiting_call.fault, LONGEST)}"
        wait = duration(max(0.0, waiting_call.until - now))
        text = f"{waiting_call.who}: waiting {why}: the next request goes out in {wait}"
        self._console.print(Text(text), soft_wrap=True)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Do nothing: there is no drawing to interrupt."""
        yield


@asynccontextmanager
async def show(line: Callable[[], str], display: bool | None) -> AsyncIterator[None]:
    """Show ``line()`` until the block ends, redrawn twice a second; its last text stays.

    If stderr is neither a terminal nor a notebook, a line is printed every minute, and the last text
    unless a line came less than a minute before it. ``display`` True shows the line anywhere, False
    nowhere, and None in a notebook only.
    """
    console = Console(stderr=True)
    if display is False or (display is None and not console.is_jupyter):
        yield
        return

    redrawn = console.is_jupyter or console.is_terminal
    every_s = _EVERY_S if redrawn else _SAY_AGAIN_S
    drawn = -math.inf

    async def repeat(draw: Callable[[str], None]) -> None:
        nonlocal drawn
        while True:
            await clock.sleep(every_s)
            draw(line())
            drawn = clock.seconds()

    with _in_a_cell() if console.is_jupyter else _on(console) as draw:
        drawing = asyncio.create_task(repeat(draw))
        try:
            yield
        finally:
            drawing.cancel()
            if redrawn or clock.seconds() - drawn >= every_s:
                draw(line())


@contextmanager
def _in_a_cell() -> Iterator[Callable[[str], None]]:
    """Draw in the output of a notebook's cell, always in the same place."""
    display: Any = import_module("IPython.display").display

    def data(text: str) -> dict[str, str]:
        html = f'<div style="font-size: .85em; opacity: .75" dir="auto">{escape(text)}</div>'
        return {"text/plain": text, "text/html": html}

    handle = display(data(""), raw=True, display_id=True)
    yield lambda text: handle.update(data(text), raw=True)


@contextmanager
def _on(console: Console) -> Iterator[Callable[[str], None]]:
    """Draw in one line of a terminal; elsewhere print every text."""
    if not console.is_terminal:
        yield lambda text: console.print(Text(text), soft_wrap=True)
        return
    with Live(console=console, auto_refresh=False, redirect_stdout=False) as live:

        def draw(text: str) -> None:
            live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)

        yield draw
