"""A run as it happens: a tree that grows in the terminal, or a few lines where there is none.

Events come from the event loop and only change a small picture of the run; a thread of its own
draws that picture eight times a second, however many events there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from threading import Lock
from typing import NamedTuple, Protocol, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from dialectree import clock
from dialectree.records import Event
from dialectree.report import words
from dialectree.report.drawing import ACCENT, BAD, SECOND, SOFT, WARN, bar
from dialectree.report.picture import KEPT, Growing, Picture, remark, shown

_FRAMES_A_SECOND = 4
"""A frame takes 5 to 10 ms of the processor, which the debate needs too."""


class Watcher(Protocol):
    """Whatever follows a run: :class:`LiveTree` on a terminal, :class:`Lines` elsewhere."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def watch(self, event: Event) -> None: ...

    def pause(self) -> AbstractContextManager[None]: ...


class Lines:
    """Says only what a person should not miss: what failed, and what the question lacks."""

    def __init__(self, console: Console, question: str, answered: Callable[[], int]) -> None:
        self._console = console
        self._said: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is left to clear away."""

    def watch(self, event: Event) -> None:
        """Say what is important in ``event``, once."""
        said = remark(event)
        if said is not None and said not in self._said:
            self._said.add(said)
            self._console.print(Text(said), soft_wrap=True)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Nothing is drawn, so nothing needs to stop."""
        yield


class _Marks(NamedTuple):
    """What a terminal can draw."""

    full: str
    empty: str
    dot: str
    etc: str
    tau: str
    support: str
    attack: str


_FINE = _Marks("━", "─", "·", "…", "τ", "✓", "✗")
_PLAIN = _Marks("#", "-", "|", "...", "tau", "+", "-")


class LiveTree:
    """Draws the tree of a run while it grows.

    ``answered`` tells the calls so far; ``rounds`` the rounds of a stage, where they are known.
    """

    def __init__(
        self,
        console: Console,
        question: str,
        answered: Callable[[], int],
        *,
        rounds: Mapping[str, int] | None = None,
    ) -> None:
        self._console, self._answered = console, answered
        self._question = words.line(question, KEPT)
        self._picture, self._lock = Picture(rounds), Lock()
        self._live: Live | None = None
        self._whole = False
        self._began = clock.seconds()

    def __enter__(self) -> Self:
        self._draw()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the whole tree as it stands."""
        self._whole = True
        self._stop(erase=False)

    def watch(self, event: Event) -> None:
        """Put ``event`` into the picture; it is drawn with the next frame."""
        with self._lock:
            self._picture.take(event)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Draws nothing meanwhile, so that a person can be asked."""
        self._stop(erase=True)
        try:
            yield
        finally:
            self._draw()

    def _draw(self) -> None:
        self._live = Live(
            console=self._console,
            get_renderable=self.frame,
            refresh_per_second=_FRAMES_A_SECOND,
            redirect_stdout=False,
            vertical_overflow="visible",
        )
        self._live.start(refresh=True)

    def _stop(self, *, erase: bool) -> None:
        if self._live is not None:
            self._live.transient = erase
            self._live.stop()
            self._live = None

    def frame(self) -> RenderableType:
        """The picture as it is now, no higher than the screen while it is still drawn over."""
        marks = _FINE if self._console.encoding.startswith("utf") else _PLAIN
        with self._lock:
            head = self._head(marks)
            room = max(self._console.height - 4, 2)
            count = len(self._picture.nodes)
            nodes = shown(self._picture.nodes, count if self._whole else room)
            grid = Table.grid(padding=(0, 1), expand=True)
            grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
            width = 24 if self._console.width >= 72 else 20
            grid.add_column(justify="right", no_wrap=True, overflow="ellipsis", width=width)
            for node in nodes:
                grid.add_row(_asked(node, marks), self._doing(node, marks))
        hidden = count - len(nodes)
        more = [Text(f"{marks.etc} and {hidden} more", SOFT)] if hidden else []
        if not self._whole:  # what is typed, such as ^C, would wrap at the end of a full line
            more.append(Text())
        return Group(head, grid, *more)

    def _head(self, marks: _Marks) -> Text:
        picture, dot = self._picture, f" {marks.dot} "
        told = [
            words.count(self._answered(), "call"),
            words.duration(clock.seconds() - self._began),
            f"{picture.settled()} of {len(picture.nodes):,} settled",
        ]
        head = Text(dot.join(told), SOFT, no_wrap=True, overflow="ellipsis")
        if not picture.nodes:
            head = Text(f"{self._question}\n", no_wrap=True, overflow="ellipsis").append_text(head)
        return head

    def _doing(self, node: Growing, marks: _Marks) -> Text:
        failures = (f"{words.count(node.failures, 'failure')} ", BAD) if node.failures else ""
        if node.missing:
            return Text.assemble(failures, ("no answer", BAD))
        if node.settled and node.outcome:
            return Text.assemble(failures, (node.outcome, SOFT))
        if node.settled:
            weighed = node.strength is not None
            share = node.strength if weighed else node.confidence
            said = words.figure(share) if weighed else words.percent(share)
            drawn = bar(share, 6, marks.full, marks.empty) if share is not None else Text()
            return Text.assemble(failures, drawn, f" {said:>5}")
        doing = node.doing or self._picture.waits_for(node)
        if node.stance and node.tau is not None and not node.children:
            doing = f"{marks.tau} {words.figure(node.tau)}"
        return Text.assemble(failures, (doing, WARN if node.running else SOFT))


def _asked(node: Growing, marks: _Marks) -> Text:
    style = SOFT if node.settled else ""
    taken = {"support": (f"{marks.support} ", ACCENT), "attack": (f"{marks.attack} ", SECOND)}
    declined = [(f"({side} declined) ", WARN) for side in sorted(node.declined)]
    return Text.assemble(
        "  " * node.depth,
        (f"{words.line(node.id, 40)} ", ACCENT),
        taken[node.stance] if node.stance else "",
        *declined,
        (node.text, style),
    )
