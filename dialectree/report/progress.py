"""Show in one line what goes on, for who waits in a notebook or a program."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from html import escape
from importlib import import_module
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from dialectree.records import Event
from dialectree.report import words
from dialectree.system import clock

_EVERY_S = 0.5
_SELDOM_S = 10.0
"""Seconds between two lines where no terminal can draw one over the other."""
_LONGEST = 100
"""Characters of the newest text."""


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
            text = words.line(words.gist(turn), _LONGEST)
            self._newest = f" · {event.node} {words.speaker(turn)}: {text}"
        elif event.kind == "asked":
            self._newest = " · a person is asked"
        elif event.kind == "concluded":
            self._newest = " · done"
        if self._watch is not None:
            self._watch(event)

    def line(self) -> str:
        """``run 20260131-120000-1a2b3c · 3 replies, 12 s · 0.1 Leaf debater A: Tin came ...``."""
        took = words.duration(clock.seconds() - self._began)
        replies = words.count(self._replies, "reply", "replies")
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
