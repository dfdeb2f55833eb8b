"""Draw the tree of a run on a terminal while it grows.

Each event is applied to the record's own nodes. Below the tree stand the newest words of those who
speak, and what the calls to models wait for. Live redraws all of it a few times a second, however
many events there are.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from dialectree.records import Event, Folding, Node, RunRecord, Turn, path_key, turns
from dialectree.report import words
from dialectree.report.progress import (
    ACCENT,
    LONGEST,
    SECOND,
    SOFT,
    WARN,
    Lines,
    Progress,
    Waiting,
)
from dialectree.system import clock
from dialectree.text import count, duration, figure, line, money

_FRAMES_A_SECOND = 4
"""A frame takes 5 to 10 ms of the processor, which the debate needs too."""
_VOICES = 8
"""Speakers whose newest words are shown, at most."""
_BAD = "red"
_WAITS = {
    "rate_limit": "rate limit",
    "retry": "another try",
    "repair": "repair of an invalid reply",
    "queued": "waiting for a slot",
    "starting": "starting the model",
    "asked": "speaking",
}
_STANCES = {"support": ("✓ ", ACCENT), "attack": ("✗ ", SECOND)}


class LiveTree:
    """Draw the tree of a run while it grows.

    Args:
        console: Where it is drawn.
        question: What stands at the top until the tree begins.
        rounds: The rounds of each phase that has several.
        record: The record of the run, which says what in a reply is its text.
    """

    def __init__(
        self,
        console: Console,
        question: str,
        *,
        rounds: Mapping[str, int] | None = None,
        record: RunRecord | None = None,
    ) -> None:
        self._console = console
        self._record = record
        self._question = line(question, LONGEST)
        self._rounds = rounds or {}
        self._progress = Progress()
        self._folding = Folding()
        self._nodes: dict[str, Node] = self._folding.nodes
        self._rows: list[Node] = []
        self._busy: dict[str, str] = {}
        """By node, its last turn in words, until the node is settled or waits for others."""
        self._voices: dict[tuple[str, str], Text] = {}
        """By node and speaker, the newest last."""
        self._lock = Lock()
        self._live: Live | None = None
        self._whole = False

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
                self._progress.watch(event)
                self._folding.apply(event)
                if new and event.node in self._nodes:
                    insort(self._rows, self._nodes[event.node], key=lambda one: path_key(one.id))
                self._note(event)
            except (LookupError, ValueError, TypeError, ArithmeticError):
                return
            if not self._nodes:  # failed calls are made again, and all is told anew
                self._rows.clear()
                self._busy.clear()
                self._voices.clear()

    def _note(self, event: Event) -> None:
        """Note what goes on at the node of ``event``, which was applied before."""
        node = self._nodes.get(event.node)
        if event.kind == "concluded":
            self._busy.clear()
        elif node is None:
            return
        elif event.kind == "spoke":
            turn = event.turn()
            self._busy[node.id] = self._turn(node, turn)
            self._voices.pop((node.id, turn.speaker), None)
            if text := turns.text(self._record, turn):
                heading = f"{node.id} {self._busy[node.id]}: "
                said = Text.assemble((heading, ACCENT), line(text, LONGEST))
                said.no_wrap, said.overflow = True, "ellipsis"
                self._voices[node.id, turn.speaker] = said
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
        return line(f"{again}{phase}{number}, {speaker}", 40)

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
            room = self._console.height - 4
            below: list[Text] = []
            if not self._whole and room >= 8:
                below = self._spoken(max(room // 3, room - len(self._rows)) - 2)
                room = max(room - len(below) - 1, 2)
                below += [self._doing()] if self._progress.waiting else []
            rows = self._rows if self._whole else self._shown(max(room, 2), settled)
            if hidden := len(self._rows) - len(rows):
                below.insert(0, Text(f"… and {hidden} more", SOFT))
            grid = Table.grid(padding=(0, 1), expand=True)
            grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
            width = 26 if self._console.width >= 72 else 20
            grid.add_column(justify="right", no_wrap=True, overflow="ellipsis", width=width)
            for node in rows:
                grid.add_row(self._asked(node, settled), self._state(node, settled))
            # what is typed, such as ^C, would wrap at the end of a full line
            typed = [] if self._whole else [Text()]
            return Group(self._head(len(settled)), grid, *below, *typed)

    def _head(self, settled: int) -> Text:
        tokens, cost = self._progress.tokens, self._progress.cost
        parts = [
            self._made(),
            duration(self._progress.seconds),
            f"{settled} of {len(self._rows):,} settled",
            *([count(tokens, "token")] if tokens else []),
            *([f"cost {money(cost)}"] if cost else []),
        ]
        head = Text(" · ".join(parts), SOFT, no_wrap=True, overflow="ellipsis")
        if not self._rows:
            head = Text(f"{self._question}\n", no_wrap=True, overflow="ellipsis").append_text(head)
        return head

    def _made(self) -> str:
        """``12 of about 31 calls``; ``12 calls`` if the number is unknown or exceeded."""
        made, expected = self._progress.calls, self._progress.expected
        if expected is None or made > expected[1]:
            return count(made, "call")
        least, most = expected
        about = "about " if least < most else ""
        return f"{made:,} of {about}{count((least + most) // 2, 'call')}"

    def _spoken(self, room: int) -> list[Text]:
        """Return the newest words of those who speak, in at most ``room`` lines.

        The nodes where a model is asked now go first. All stand in the order of the tree.
        """
        asked = {one.place.node for one in self._progress.waiting.values()}
        voices = [
            (node not in asked, -age, node, text)
            for age, ((node, _), text) in enumerate(self._voices.items())
            if node in asked or node in self._busy
        ]
        chosen = sorted(voices)[: max(min(room, _VOICES), 0)]
        return [text for *_, text in sorted(chosen, key=lambda one: path_key(one[2]))]

    def _doing(self) -> Text:
        """Return what the calls to models are doing, and why they wait, in one line."""
        by_state: dict[str, list[Waiting]] = {}
        for one in self._progress.waiting.values():
            by_state.setdefault(one.why, []).append(one)
        parts: list[Text] = []
        for state, what in _WAITS.items():
            if several := by_state.get(state):
                one = several[-1]
                left = max(0.0, one.until - clock.seconds())
                wait = f"in {duration(left)}" if one.until else ""
                about = ", ".join(filter(None, [one.who, wait, line(one.fault, 40)]))
                more = f" and {len(several) - 1} more" if len(several) > 1 else ""
                style = SOFT if state == "asked" else WARN
                parts.append(Text(f"{what}: {about}{more}", style))
        joined = Text(" · ", SOFT).join(parts)
        joined.no_wrap, joined.overflow = True, "ellipsis"
        return joined

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
        return Text.assemble(
            "  " * node.id.count("."),
            (f"{line(node.id, 40)} ", ACCENT),
            _STANCES[node.stance] if node.stance else "",
            *((f"({side} declined) ", WARN) for side in words.declined_sides(node)),
            (line(node.text, LONGEST), SOFT if node.id in settled else ""),
        )

    def _state(self, node: Node, settled: set[str]) -> Text:
        """Return what goes on at ``node``, what it waits for, or what came of it."""
        failures = (f"{count(len(node.failures), 'failure')} ", _BAD) if node.failures else ""
        if node.id in settled and node.id not in self._busy:
            return Text.assemble(failures, self._outcome(node))
        scores = [f"{name} {figure(value)}" for name, value in node.scores.items()]
        state = self._busy.get(node.id) or line(scores[-1] if scores else "under way", 40)
        if node.id not in self._busy and node.children:
            kinds = {self._nodes[name].kind for name in node.children if name in self._nodes}
            kind = kinds.pop() if len(kinds) == 1 else "part"
            kind = "part" if kind in ("open", "branch", "leaf") else line(kind, 12)
            ended = len(settled.intersection(node.children))
            state = f"{ended} of {count(len(node.children), kind)} settled"
        return Text.assemble(failures, (state, WARN if self._runs(node, settled) else SOFT))

    def _outcome(self, node: Node) -> Text:
        """Return the strength or the confidence of a settled node, or what its view says of it."""
        if node.status == "missing":
            return Text("dropped", SOFT) if node.dropped else Text("no answer", _BAD)
        strength, own = node.score("strength"), words.own_view(self._record)
        share = node.verdict.confidence if node.verdict and strength is None else strength
        if share is not None and 0 <= share <= 1:
            filled = round(share * 6)
            bar = ("█" * filled, ACCENT), ("░" * (6 - filled), SOFT)
            return Text.assemble(*bar, f" {figure(share):>5}")
        shown = own.outcome(node) if own is not None and own.shows(node) else ""
        return Text(shown or "settled", SOFT)


Watcher = Lines | LiveTree
"""What follows a run: a tree on a terminal, lines elsewhere."""
