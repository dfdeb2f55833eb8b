"""Draw a run's progress and its last turn on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from dialectree.records import Event, RunRecord, turns
from dialectree.report import words
from dialectree.report.figures import format_money
from dialectree.report.progress import ACCENT, SOFT, Lines, Progress
from dialectree.text import clean, count, duration

_FRAMES_A_SECOND = 4


class LiveProgress(Lines):
    """Draw a line with a run's progress, and below it as much of the last turn as fits.

    At the end the line and the turn disappear, because the result follows. Failures and long waits stay, as
    :class:`Lines` prints them.

    Args:
        console: The terminal to draw on.
        record: The record of the run, which says which part of a reply is its text.
    """

    def __init__(self, console: Console, record: RunRecord | None = None) -> None:
        super().__init__(console)
        self._record, self._progress = record, Progress()
        self._said = Text()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def watch(self, event: Event) -> None:
        """Apply ``event``; an invalid event changes nothing."""
        with suppress(LookupError, ValueError, TypeError, ArithmeticError):
            super().watch(event)
            self._progress.watch(event)
            if event.kind == "spoke" and (text := turns.text(self._record, event.turn())):
                turn = event.turn()
                who = f"{event.node} {words.speaker(turn, None, self._record)}"
                self._said = Text.assemble(
                    (f"{clean(who)} · {words.caption(self._record, turn.phase)}: ", ACCENT), clean(text)
                )

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Draw nothing inside the block, so that a person can be asked."""
        self._stop()
        try:
            yield
        finally:
            self._start()

    def _start(self) -> None:
        self._live = Live(
            console=self._console,
            get_renderable=self.frame,
            refresh_per_second=_FRAMES_A_SECOND,
            redirect_stdout=False,
            transient=True,
        )
        self._live.start(refresh=True)

    def _stop(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def frame(self) -> RenderableType:
        """Return what is drawn now, in fewer lines than the screen has."""
        progress, room = self._progress, max(self._console.height - 3, 1)
        waiting = len(progress.waiting)
        parts = [
            self._count_calls(),
            duration(progress.seconds),
            *([f"{waiting:,} under way"] if waiting else []),
            *([count(progress.tokens, "token")] if progress.tokens else []),
            *([f"cost {format_money(progress.cost)}"] if progress.cost else []),
        ]
        head = Text(" · ".join(parts), SOFT, no_wrap=True, overflow="ellipsis")
        lines = [*self._said.wrap(self._console, self._console.width)]
        if len(lines) > room:
            lines = lines[:room]
            lines[-1].truncate(self._console.width - 2)
            lines[-1].append(" …")
        return Group(head, *lines, Text())  # typed text, such as ^C, gets its own line

    def _count_calls(self) -> str:
        """Return ``12 of about 31 calls``; ``12 calls`` if the expected number is unknown or exceeded."""
        calls, expected = self._progress.calls, self._progress.expected
        if expected is None or calls > expected[1]:
            return count(calls, "call")
        minimum, maximum = expected
        about = "about " if minimum < maximum else ""
        return f"{calls:,} of {about}{count((minimum + maximum) // 2, 'call')}"
