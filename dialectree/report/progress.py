"""Say in lines what goes on in a run: on a terminal, in a notebook, in a program."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from dialectree.records import Event, Failure, turns
from dialectree.report import words
from dialectree.system import clock
from dialectree.text import count, duration, line

if TYPE_CHECKING:
    from dialectree.trace.events import Activity

SOFT, WARN, ACCENT, SECOND = "dim", "yellow", "cyan", "magenta"
LONGEST = 300
"""Characters of a text that are shown."""
_LONG_WAIT_S = 10.0
"""Seconds without a reply that are worth a line where nothing is drawn."""
_SAY_AGAIN_S = 60.0
"""Seconds between two such lines."""
_EVERY_S = 0.5
_SELDOM_S = 10.0
"""Seconds between two lines where no terminal can draw one over the other."""


def remark(event: Event) -> str | None:
    """Return a failure, or what a person is asked, in one line; None for any other event."""
    text = ""
    if event.kind == "failed":
        data = {name: str(event.data.get(name) or "") for name in Failure.model_fields}
        text = words.failed(Failure(**data))
    elif event.kind == "asked":
        text = str(event.data.get("note") or "")
    return line(f"{event.node}: {text}", LONGEST) if text else None


def who(activity: Activity) -> str:
    """Return where a call stands in the debate and who speaks: ``0.1 leaf judge``."""
    return line(f"{activity.place.node} {activity.place.speaking()}", 60)


class Lines:
    """Print failures, what a person is asked, and long waits, each once."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._printed: set[str] = set()
        self._replied = clock.seconds()
        self._complained = -_SAY_AGAIN_S

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave everything as it is."""

    def watch(self, event: Event) -> None:
        """Print the remark on ``event``, unless it was printed before."""
        text = remark(event)
        if text is not None and text not in self._printed:
            self._printed.add(text)
            self._console.print(Text(text), soft_wrap=True)

    def follow(self, activity: Activity) -> None:
        """Print why no reply came or comes for long, at most once a minute."""
        now = clock.seconds()
        if activity.state == "answered":
            self._replied = now
        if activity.state not in ("rate_limit", "retry"):
            return
        without_s = activity.until - self._replied
        if without_s < _LONG_WAIT_S or now - self._complained < _SAY_AGAIN_S:
            return
        self._complained = now
        limited = activity.state == "rate_limit"
        why = (
            "for the endpoint's rate limit" if limited else f"after {line(activity.fault, LONGEST)}"
        )
        wait = duration(max(0.0, activity.until - now))
        text = f"{who(activity)}: waiting {why}: the next request goes out in {wait}"
        self._console.print(Text(text), soft_wrap=True)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Do nothing: nothing is drawn."""
        yield


class Account:
    """Follow the events of a run, and say what goes on."""

    def __init__(self, run_id: str, watch: Callable[[Event], None] | None) -> None:
        self._run_id, self._watch = run_id, watch
        self._replies = 0
        self._newest = ""
        self._began = clock.seconds()

    def watch(self, event: Event) -> None:
        """Note an event and hand it on."""
        if event.kind == "spoke":
            turn = event.turn()
            self._replies += 1
            text = line(turns.text(None, turn), 100)
            self._newest = f" · {event.node} {words.speaker(turn)}: {text}"
        elif event.kind == "asked":
            self._newest = " · a person is asked"
        elif event.kind == "concluded":
            self._newest = " · done"
        if self._watch is not None:
            self._watch(event)

    def line(self) -> str:
        """``run 20260131-120000-1a2b3c · 3 replies, 12 s · 0.1 Leaf debater A: Tin came ...``."""
        took = duration(clock.seconds() - self._began)
        replies = count(self._replies, "reply", "replies")
        return f"run {self._run_id} · {replies}, {took}{self._newest}"


@asynccontextmanager
async def show(line: Callable[[], str], wanted: bool | None) -> AsyncIterator[None]:
    """Show ``line()`` until the block ends, redrawn twice a second; its last text stays.

    Where stderr is neither a terminal nor a notebook a line is printed every 10 seconds.
    ``wanted`` True shows it anywhere, False nowhere, and None in a notebook only.
    """
    console = Console(stderr=True)
    if wanted is False or (wanted is None and not console.is_jupyter):
        yield
        return

    every_s = _EVERY_S if console.is_jupyter or console.is_terminal else _SELDOM_S

    async def repeat(draw: Callable[[str], None]) -> None:
        while True:
            await asyncio.sleep(every_s)
            draw(line())

    with _in_a_cell() if console.is_jupyter else _on(console) as draw:
        drawing = asyncio.create_task(repeat(draw))
        try:
            yield
        finally:
            drawing.cancel()
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
