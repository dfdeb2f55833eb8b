"""Draw a run as it happens: a growing tree on a terminal, a few lines elsewhere.

Each event is applied to the record's own nodes. Live redraws them a few times a second, however
many events there are.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import NamedTuple, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from dialectree import clock, turns
from dialectree.records import Event, Failure, Node, Turn, apply, path_key
from dialectree.report import topics, words
from dialectree.report.drawing import ACCENT, BAD, SECOND, SOFT, WARN, bar

_FRAMES_A_SECOND = 4
"""A frame takes 5 to 10 ms of the processor, which the debate needs too."""
_LONGEST = 300
"""Characters of a text that are shown."""


def remark(event: Event) -> str | None:
    """Return a failure, or what a person is asked, in one line; None for any other event."""
    text = ""
    if event.kind == "failed":
        data = {name: str(event.data.get(name) or "") for name in Failure.model_fields}
        text = words.failed(Failure(**data))
    elif event.kind == "asked":
        text = str(event.data.get("note") or "")
    return words.line(f"{event.node}: {text}", _LONGEST) if text else None


class Lines:
    """Print failures and what a person is asked, each once."""

    def __init__(self, console: Console, question: str, answered: Callable[[], int]) -> None:
        self._console = console
        self._printed: set[str] = set()

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

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Do nothing: nothing is drawn."""
        yield


class _Marks(NamedTuple):
    """The characters that a terminal can draw."""

    full: str
    empty: str
    dot: str
    more: str
    support: str
    attack: str


_FINE = _Marks("━", "─", "·", "…", "✓", "✗")
_PLAIN = _Marks("#", "-", "|", "...", "+", "-")


class LiveTree:
    """Draw the tree of a run while it grows.

    ``answered`` returns the calls so far. ``rounds`` holds the rounds of a phase, where known.
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
        self._marks = _FINE if console.encoding.startswith("utf") else _PLAIN
        self._question = words.line(question, _LONGEST)
        self._rounds = rounds or {}
        self._nodes: dict[str, Node] = {}
        self._rows: list[Node] = []
        self._busy: dict[str, str] = {}
        """By node, its last turn in words, until the node is settled or waits for others."""
        self._lock = Lock()
        self._live: Live | None = None
        self._whole = False
        self._began = clock.seconds()

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the whole tree on the screen."""
        self._whole = True
        self._stop(erase=False)

    def watch(self, event: Event) -> None:
        """Apply ``event`` to the tree. An event that the record would refuse is not drawn."""
        with self._lock:
            new = event.node not in self._nodes
            try:
                apply(self._nodes, event)
                if new and event.node in self._nodes:
                    insort(self._rows, self._nodes[event.node], key=lambda one: path_key(one.id))
                self._follow(event)
            except (LookupError, ValueError, TypeError, ArithmeticError):
                return

    def _follow(self, event: Event) -> None:
        """Note what goes on at the node of ``event``, which was applied before."""
        node = self._nodes.get(event.node)
        if event.kind == "concluded":
            self._busy.clear()
        elif node is None:
            return
        elif event.kind == "spoke":
            self._busy[node.id] = self._turn(node, Turn.model_validate(event.data))
        elif event.kind == "asked":
            self._busy[node.id] = "a person is asked"
        elif event.kind in ("answered", "branched", "scored", "settled"):
            self._busy.pop(node.id, None)

    def _turn(self, node: Node, turn: Turn) -> str:
        """``debate 1 of 2, A``, ``again, judgment, judge``."""
        speaker = turns.speaker(node, turn).replace("_", " ")
        if speaker.isdigit():
            speaker = f"{turn.role.replace('_', ' ')} {speaker}"
        last = self._rounds.get(turn.phase)
        number = f" {turn.round} of {last}" if last and turn.round else ""
        again = "again, " if turn.take > 1 else ""
        phase = turn.phase.replace("_", " ")
        return words.line(f"{again}{phase}{number}, {speaker}", 40)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Draw nothing meanwhile, so that a person can be asked."""
        self._stop(erase=True)
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
            vertical_overflow="visible",
        )
        self._live.start(refresh=True)

    def _stop(self, *, erase: bool) -> None:
        if self._live is not None:
            self._live.transient = erase
            self._live.stop()
            self._live = None

    def frame(self) -> RenderableType:
        """Return the tree as it is now; while it grows, no higher than the screen."""
        with self._lock:
            settled = self._settled()
            head = self._head(len(settled))
            room = max(self._console.height - 4, 2)
            rows = self._rows if self._whole else self._shown(room, settled)
            hidden = len(self._rows) - len(rows)
            grid = Table.grid(padding=(0, 1), expand=True)
            grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
            width = 26 if self._console.width >= 72 else 20
            grid.add_column(justify="right", no_wrap=True, overflow="ellipsis", width=width)
            for node in rows:
                grid.add_row(self._asked(node, settled), self._state(node, settled))
        more = [Text(f"{self._marks.more} and {hidden} more", SOFT)] if hidden else []
        if not self._whole:  # what is typed, such as ^C, would wrap at the end of a full line
            more.append(Text())
        return Group(head, grid, *more)

    def _head(self, settled: int) -> Text:
        parts = [
            words.count(self._answered(), "call"),
            words.duration(clock.seconds() - self._began),
            f"{settled} of {len(self._rows):,} settled",
        ]
        head = Text(f" {self._marks.dot} ".join(parts), SOFT, no_wrap=True, overflow="ellipsis")
        if not self._rows:
            head = Text(f"{self._question}\n", no_wrap=True, overflow="ellipsis").append_text(head)
        return head

    def _settled(self) -> set[str]:
        """Return the ids of the nodes that are settled, and all below them."""
        settled: set[str] = set()
        for node in reversed(self._rows):
            ended = node.status != "open" and node.id not in self._busy
            if ended and settled.issuperset(node.children):
                settled.add(node.id)
        return settled

    def _runs(self, node: Node, settled: set[str]) -> bool:
        """Return whether somebody speaks at ``node``; if not, it waits for others."""
        waits = bool(node.children or node.scores)
        return node.id in self._busy or (node.id not in settled and not waits)

    def _shown(self, room: int, settled: set[str]) -> list[Node]:
        """Return the nodes for ``room`` lines: where somebody speaks, then what is near the root.

        A node is shown with its ancestors or not at all.
        """
        if len(self._rows) <= room:
            return self._rows
        chosen: set[str] = set()
        for node in sorted(
            self._rows, key=lambda one: (not self._runs(one, settled), one.id.count("."))
        ):
            parts = node.id.split(".")
            above = {".".join(parts[: n + 1]) for n in range(len(parts))} & self._nodes.keys()
            if len(chosen | above) <= room:
                chosen |= above
        return [node for node in self._rows if node.id in chosen]

    def _asked(self, node: Node, settled: set[str]) -> Text:
        """Return the id and the text of ``node``, with its stance and the sides that declined."""
        support, attack = (f"{self._marks.support} ", ACCENT), (f"{self._marks.attack} ", SECOND)
        roles = {"support": "supporter", "attack": "attacker"}
        return Text.assemble(
            "  " * node.id.count("."),
            (f"{words.line(node.id, 40)} ", ACCENT),
            "" if node.stance is None else support if node.stance == "support" else attack,
            *((f"({roles[side]} declined) ", WARN) for side in words.declined_sides(node)),
            (words.line(node.text, _LONGEST), SOFT if node.id in settled else ""),
        )

    def _state(self, node: Node, settled: set[str]) -> Text:
        """Return what goes on at ``node``, what it waits for, or what came of it."""
        failures = (f"{words.count(len(node.failures), 'failure')} ", BAD) if node.failures else ""
        style = WARN if self._runs(node, settled) else SOFT
        if node.id in self._busy:
            return Text.assemble(failures, (self._busy[node.id], style))
        if node.id in settled:
            return Text.assemble(failures, _outcome(node, self._marks))
        if node.children:
            kinds = {self._nodes[name].kind for name in node.children if name in self._nodes}
            kind = kinds.pop() if len(kinds) == 1 else "part"
            kind = "part" if kind in ("open", "branch", "leaf") else words.line(kind, 12)
            ended = len(settled.intersection(node.children))
            state = f"{ended} of {words.count(len(node.children), kind)} settled"
        else:
            scores = [f"{name} {words.figure(value)}" for name, value in node.scores.items()]
            state = words.line(scores[-1] if scores else "under way", 40)
        return Text.assemble(failures, (state, style))


def _outcome(node: Node, marks: _Marks) -> Text:
    """Return the strength or the confidence of a settled node, or who conceded at a topic."""
    if node.status == "missing":
        return Text("dropped", SOFT) if node.dropped else Text("no answer", BAD)
    strength = node.score("strength")
    share = node.verdict.confidence if node.verdict and strength is None else strength
    if share is None or not 0 <= share <= 1:
        try:
            concession = topics.outcome(node) if topics.debated(node) else ""
        except ValueError:  # data of another shape
            concession = ""
        return Text(concession or "settled", SOFT)
    figure = words.percent(share) if strength is None else words.figure(share)
    return Text.assemble(bar(share, 6, marks.full, marks.empty), f" {figure:>5}")


Watcher = Lines | LiveTree
"""What follows a run: a tree on a terminal, lines elsewhere."""
