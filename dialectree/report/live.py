"""Draw a run as it happens: a growing tree on a terminal, a few lines elsewhere.

Each event is applied to the record's own nodes. Below the tree stand the newest words of those who
speak, and what the calls to models wait for. Live redraws all of it a few times a second, however
many events there are.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from dialectree.records import Event, Failure, Folding, Node, RunRecord, Turn, path_key, turns
from dialectree.report import topics, words
from dialectree.report.drawing import ACCENT, BAD, SECOND, SOFT, WARN, bar
from dialectree.system import clock

if TYPE_CHECKING:
    from dialectree.trace.activity import Activity

_FRAMES_A_SECOND = 4
"""A frame takes 5 to 10 ms of the processor, which the debate needs too."""
_LONGEST = 300
"""Characters of a text that are shown."""
_VOICES = 8
"""Speakers whose newest words are shown, at most."""
_LONG_WAIT_S = 10.0
"""Seconds without a reply that are worth a line where nothing is drawn."""
_SAY_AGAIN_S = 60.0
"""Seconds between two such lines."""


def remark(event: Event) -> str | None:
    """Return a failure, or what a person is asked, in one line; None for any other event."""
    text = ""
    if event.kind == "failed":
        data = {name: str(event.data.get(name) or "") for name in Failure.model_fields}
        text = words.failed(Failure(**data))
    elif event.kind == "asked":
        text = str(event.data.get("note") or "")
    return words.line(f"{event.node}: {text}", _LONGEST) if text else None


def _who(activity: Activity) -> str:
    """Return where a call stands in the debate and who speaks: ``0.1 leaf judge``."""
    return words.line(f"{activity.place.node} {activity.place.speaking()}", 60)


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
        wait = words.duration(max(0.0, activity.until - now))
        if activity.state == "rate_limit":
            why = f"the endpoint's rate limit: the next request goes out in {wait}"
        else:
            why = f"another try in {wait} ({words.line(activity.fault, _LONGEST)})"
        self._console.print(Text(f"{_who(activity)}: waiting for {why}"), soft_wrap=True)

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


class _Voice(NamedTuple):
    """The newest words of one speaker at one node."""

    node: str
    heading: str
    text: str


_FINE = _Marks("━", "─", "·", "…", "✓", "✗")
_PLAIN = _Marks("#", "-", "|", "...", "+", "-")


class LiveTree:
    """Draw the tree of a run while it grows.

    ``expected`` is the least and the most calls that the run should take, ``rounds`` holds the
    rounds of a phase, and ``record`` says whose words of a reply are its text.
    """

    def __init__(
        self,
        console: Console,
        question: str,
        *,
        rounds: Mapping[str, int] | None = None,
        record: RunRecord | None = None,
        expected: tuple[int, int] | None = None,
    ) -> None:
        self._console = console
        self._record, self._expected = record, expected
        self._marks = _FINE if console.encoding.startswith("utf") else _PLAIN
        self._question = words.line(question, _LONGEST)
        self._rounds = rounds or {}
        self._folding = Folding()
        self._nodes: dict[str, Node] = self._folding.nodes
        self._rows: list[Node] = []
        self._busy: dict[str, str] = {}
        """By node, its last turn in words, until the node is settled or waits for others."""
        self._voices: dict[tuple[str, str], _Voice] = {}
        """By node and speaker, the newest last."""
        self._wrapped: dict[_Voice, tuple[int, list[Text]]] = {}
        self._under_way: dict[tuple[object, ...], Activity] = {}
        """By place, the calls that are not answered yet."""
        self._calls: set[tuple[object, ...]] = set()
        self._tokens, self._cost = 0, 0.0
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
                self._folding.apply(event)
                if new and event.node in self._nodes:
                    insort(self._rows, self._nodes[event.node], key=lambda one: path_key(one.id))
                self._note(event)
            except (LookupError, ValueError, TypeError, ArithmeticError):
                return

    def follow(self, activity: Activity) -> None:
        """Note what a call to a model is doing, and what it took once it is answered."""
        with self._lock:
            call, spot = activity.call, activity.place.spot()
            if activity.state != "answered":
                self._under_way[spot] = activity
                return
            self._under_way.pop(spot, None)
            if call is None or call.run is not None or call.source == "person":
                return  # of the run that is contested, or of nobody who is paid
            if (made := (call.key, *spot)) not in self._calls:
                self._calls.add(made)
                self._tokens += call.prompt_tokens + call.completion_tokens
                self._cost += call.cost or 0.0

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
                heading = f"{node.id} {self._busy[node.id]}"
                voice = _Voice(node.id, heading, words.line(text, 2 * _LONGEST))
                self._voices[node.id, turn.speaker] = voice
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
            below: list[Text] = []
            room = self._console.height - 4
            if not self._whole and room >= 8:
                below = self._spoken(max(room // 3, room - len(self._rows)) - 2)
                room = max(room - len(below) - 1, 2)
                below += [self._doing()] if self._under_way else []
            room = max(room, 2)
            rows = self._rows if self._whole else self._shown(room, settled)
            hidden = len(self._rows) - len(rows)
            grid = Table.grid(padding=(0, 1), expand=True)
            grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
            width = 26 if self._console.width >= 72 else 20
            grid.add_column(justify="right", no_wrap=True, overflow="ellipsis", width=width)
            for node in rows:
                grid.add_row(self._asked(node, settled), self._state(node, settled))
        more = [Text(f"{self._marks.more} and {hidden} more", SOFT)] if hidden else []
        more += below
        if not self._whole:  # what is typed, such as ^C, would wrap at the end of a full line
            more.append(Text())
        return Group(head, grid, *more)

    def _head(self, settled: int) -> Text:
        parts = [
            self._made(),
            words.duration(clock.seconds() - self._began),
            f"{settled} of {len(self._rows):,} settled",
        ]
        if self._tokens:
            parts.append(words.count(self._tokens, "token"))
        if self._cost:
            parts.append(f"cost {words.money(self._cost)}")
        head = Text(f" {self._marks.dot} ".join(parts), SOFT, no_wrap=True, overflow="ellipsis")
        if not self._rows:
            head = Text(f"{self._question}\n", no_wrap=True, overflow="ellipsis").append_text(head)
        return head

    def _made(self) -> str:
        """``12 of about 31 calls``; ``12 calls`` where nobody knows how many, or more were made."""
        made = len(self._calls)
        if self._expected is None or made > self._expected[1]:
            return words.count(made, "call")
        least, most = self._expected
        about = "about " if least < most else ""
        return f"{made:,} of {about}{words.count((least + most) // 2, 'call')}"

    def _spoken(self, room: int) -> list[Text]:
        """Return the newest words of those who speak, under an empty line, in ``room`` lines.

        The last words at each node where a model is asked now go first, those before them last. All
        stand in the order of the tree.
        """
        asked = {activity.place.node for activity in self._under_way.values()}
        last = {voice.node: voice for voice in self._voices.values()}
        open_ones = [one for one in self._voices.values() if one.node in asked | self._busy.keys()]
        open_ones.reverse()
        open_ones.sort(key=lambda one: (one is not last[one.node], one.node not in asked))
        chosen: dict[_Voice, list[Text]] = {}
        for voice in open_ones[:_VOICES]:
            lines = self._lines(voice)
            if len(lines) > room:
                break
            room -= len(lines)
            chosen[voice] = lines
        shown = [voice for voice in self._voices.values() if voice in chosen]
        shown.sort(key=lambda voice: path_key(voice.node))
        lines = [line for voice in shown for line in chosen[voice]]
        return [Text(), *lines] if lines else []

    def _lines(self, voice: _Voice) -> list[Text]:
        """Return one or two lines of ``voice``, cut between words."""
        width = self._console.width
        known = self._wrapped.get(voice)
        if known is not None and known[0] == width:
            return known[1]
        text = Text.assemble((f"{voice.heading}: ", ACCENT), voice.text)
        first, *rest = text.wrap(self._console, max(width - 6, 8))  # room for an ellipsis
        lines = [first]
        if rest:
            second = rest[0]
            if len(rest) > 1:
                second.rstrip()
                second.append(f" {self._marks.more}")
            lines.append(Text.assemble("  ", second))
        self._wrapped[voice] = width, lines
        return lines

    def _doing(self) -> Text:
        """Return what the calls to models are doing, and why they wait, in one line."""
        by_state: dict[str, list[Activity]] = {}
        for one in self._under_way.values():
            state = "repair" if one.state == "asked" and one.repair else one.state
            by_state.setdefault(state, []).append(one)
        now, parts = clock.seconds(), list[tuple[str, str]]()
        if limited := by_state.get("rate_limit"):
            wait = words.duration(max(0.0, min(one.until for one in limited) - now))
            parts.append((f"rate limit: {words.count(len(limited), 'call')}, next in {wait}", WARN))
        for state, what in (("retry", "another try"), ("repair", "repair of an invalid reply")):
            if several := by_state.get(state):
                one = several[-1]
                wait = words.duration(max(0.0, one.until - now)) if one.until else ""
                fault = words.line(one.fault, 40)
                about = ", ".join(filter(None, [_who(one), wait and f"in {wait}", fault]))
                others = f" and {len(several) - 1} more" if len(several) > 1 else ""
                parts.append((f"{what}: {about}{others}", WARN))
        if queued := by_state.get("queued"):
            parts.append((f"waiting for a slot: {words.count(len(queued), 'call')}", WARN))
        if asked := by_state.get("asked"):
            speaking = f"speaking: {_who(asked[-1])}"
            others = f" and {len(asked) - 1} more" if len(asked) > 1 else ""
            parts.append((f"{speaking}{others}", SOFT))
        dot = f" {self._marks.dot} "
        line = Text(dot, SOFT).join(Text(*part) for part in parts)
        line.no_wrap, line.overflow = True, "ellipsis"
        return line

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
        concession = topics.outcome(node) if topics.debated(node) else ""
        return Text(concession or "settled", SOFT)
    return Text.assemble(bar(share, 6, marks.full, marks.empty), f" {words.figure(share):>5}")


Watcher = Lines | LiveTree
"""What follows a run: a tree on a terminal, lines elsewhere."""
