"""A run as it happens: a tree that grows in the terminal, or a few lines where there is none.

Events come from the event loop and only change a small picture of the run; a thread of its own
draws that picture eight times a second, however many events there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple, Protocol, Self

from pydantic import JsonValue
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from dialectree import clock
from dialectree.records import Event
from dialectree.report import words
from dialectree.report.terminal import ACCENT, BAD, SOFT, WARN, bar

_FRAMES_A_SECOND = 8
_KEPT = 300
"""Characters of a text that are kept for drawing."""


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


def remark(event: Event) -> str | None:
    """An event that a person should not miss, in one line; None for any other."""
    said = {"failed": _text(event.data, "fault"), "asked": _text(event.data, "note")}
    if event.kind not in said:
        return None
    role = f"{words.label(_text(event.data, 'role'))} failed: " if event.kind == "failed" else ""
    return words.line(f"{event.node}: {role}{said[event.kind]}", _KEPT)


def _text(data: Mapping[str, JsonValue], name: str) -> str:
    value = data.get(name)
    return value[: 8 * _KEPT] if isinstance(value, str) else ""


def _number(data: Mapping[str, JsonValue], name: str) -> int:
    value = data.get(name)
    return value if isinstance(value, int) and 0 < value < 10_000 else 0


@dataclass
class Growing:
    """One node of the tree as far as it has come."""

    id: str
    text: str
    depth: int
    doing: str = "splitting"
    children: list[str] = field(default_factory=list)
    settled: bool = False
    missing: bool = False
    confidence: float | None = None
    failures: int = 0

    def __post_init__(self) -> None:
        self.place = tuple((len(part), part) for part in self.id.split("."))

    @property
    def running(self) -> bool:
        """True while it is worked on itself; a branch that waits for its parts is not."""
        return not self.settled and not (self.children and not self.doing)


class Picture:
    """What is known of a run so far. Takes any event, however odd, and draws no conclusion from it
    that it does not hold."""

    def __init__(self, rounds: Mapping[str, int] | None = None) -> None:
        self.nodes: dict[str, Growing] = {}
        self.concluded = False
        self._rounds = rounds or {}
        self._spoken: dict[tuple[str, str, int], set[str]] = {}

    def take(self, event: Event) -> None:
        """Put ``event`` into the picture."""
        data, node = event.data, self.nodes.get(event.node)
        if event.kind == "concluded":
            self.concluded = True
        elif node is None:
            if event.kind == "opened":
                depth = event.node.count(".")
                doing = "answering" if data.get("kind") == "leaf" else "splitting"
                text = words.line(_text(data, "text"), _KEPT)
                self.nodes[event.node] = Growing(event.node, text, depth, doing)
        elif event.kind == "spoke":
            self._spoke(node, data)
        elif event.kind == "stopped":
            node.doing = "debating"
        elif event.kind == "branched":
            children = data.get("children")
            node.children = list(map(str, children)) if isinstance(children, list) else []
            node.doing = ""
        elif event.kind == "failed":
            node.failures += 1
        elif event.kind == "asked":
            node.doing = "lacks something"
        elif event.kind == "clarified":
            node.doing = "splitting"
        elif event.kind == "settled":
            _settle(node, data)

    def _spoke(self, node: Growing, data: Mapping[str, JsonValue]) -> None:
        """Say where the debate at ``node`` stands after a reply."""
        stage, number, who = _text(data, "stage"), _number(data, "round"), _text(data, "who")
        if stage == "answer":
            return
        if stage == "expansion" or not number:
            role = words.line(words.label(_text(data, "role")), 40)
            node.doing = "splitting" if stage == "expansion" else f"{role} spoke"
            return
        second = "again, " if _number(data, "take") > 1 else ""
        node.settled = False
        speakers = self._spoken.setdefault((node.id, f"{stage} {second}", number), set())
        speakers.add(who)
        last = self._rounds.get(stage)
        if last == number and len(speakers) > 1:
            node.doing = f"{second}with the judge"
        else:
            verb = "merging" if stage == "synthesis" else "round"
            of = f" of {last}" if last else ""
            node.doing = f"{second}{verb} {number}{of}, {words.line(who, 20)}"

    def waits_for(self, node: Growing) -> str:
        """How many parts of a split question are settled."""
        settled = sum(self.nodes[c].settled for c in node.children if c in self.nodes)
        if settled == len(node.children):
            return "merging"
        return f"{settled} of {words.count(len(node.children), 'part')}"

    def settled(self) -> int:
        """How many nodes have their verdict, or none for good."""
        return sum(node.settled for node in self.nodes.values())


def _settle(node: Growing, data: Mapping[str, JsonValue]) -> None:
    verdict = data.get("verdict")
    share = verdict.get("confidence") if isinstance(verdict, dict) else None
    node.confidence = None
    if isinstance(share, int | float) and 0 <= share <= 1:
        node.confidence = float(share)
    node.settled, node.missing = True, not isinstance(verdict, dict)


def shown(nodes: Mapping[str, Growing], room: int) -> list[Growing]:
    """The nodes worth their line where there is room for ``room``, in the order of the tree.

    Those that are worked on come first, each with its ancestors; then whatever is nearest the root.
    """
    if len(nodes) <= room:
        return sorted(nodes.values(), key=lambda node: node.place)
    wanted = sorted(nodes.values(), key=lambda n: (not n.running, n.depth, n.place))
    kept: dict[str, Growing] = {}
    for node in wanted:
        names = node.id.split(".")
        line = [".".join(names[: n + 1]) for n in range(len(names))]
        new = {i: nodes[i] for i in line if i in nodes and i not in kept}
        if len(kept) + len(new) <= room:
            kept |= new
    return sorted(kept.values(), key=lambda node: node.place)


class _Marks(NamedTuple):
    """What a terminal can draw."""

    full: str
    empty: str
    dot: str
    etc: str


_FINE, _PLAIN = _Marks("━", "─", "·", "…"), _Marks("#", "-", "|", "...")


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
        self._question = words.line(question, _KEPT)
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
            room = max(self._console.height - 4, 3)
            count = len(self._picture.nodes)
            nodes = shown(self._picture.nodes, count if self._whole else room)
            grid = Table.grid(padding=(0, 1), expand=True)
            grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
            width = 24 if self._console.width >= 72 else 20
            grid.add_column(justify="right", no_wrap=True, overflow="ellipsis", width=width)
            for node in nodes:
                grid.add_row(_asked(node), self._doing(node, marks))
        hidden = count - len(nodes)
        more = [Text(f"{marks.etc} and {hidden} more", SOFT)] if hidden else []
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
        if node.settled:
            share = node.confidence
            drawn = bar(share, 6, marks.full, marks.empty) if share is not None else Text()
            return Text.assemble(failures, drawn, f" {words.percent(share):>5}")
        doing = node.doing or self._picture.waits_for(node)
        return Text.assemble(failures, (doing, WARN if node.running else SOFT))


def _asked(node: Growing) -> Text:
    style = SOFT if node.settled else ""
    return Text.assemble(
        "  " * node.depth, (f"{words.line(node.id, 40)} ", ACCENT), (node.text, style)
    )
