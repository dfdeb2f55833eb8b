"""A role-switching debate as it is read: two sides facing each other, five phases, the rulings.

Whatever lacks is left out, and whatever has an odd shape is shown by its name like any other field.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from string import ascii_uppercase
from typing import NamedTuple

from dialectree import turns as naming
from dialectree.records import Node, NodeVerdict, RunRecord, Turn
from dialectree.report import view
from dialectree.report.view import Entry, Stage
from dialectree.report.words import count, label

PHASES = ("proposals", "cross_examination", "role_switch", "uncertainty")
STAGES = ("direct", *PHASES, "judgment")
_SIDES = ("a", "b")


class Side(NamedTuple):
    """One debater and the answer that it defends."""

    who: str
    """As ``Turn.who`` has it."""
    letter: str
    """The answer's letter; empty where none is known."""
    answer: str
    percent: float | None
    """How sure it said it is of that answer, as a share of 1."""
    won: bool

    @property
    def name(self) -> str:
        """Return the letter that it defends: so it is called."""
        return self.letter or self.who

    @property
    def candidate(self) -> str:
        """``B: plant materials``."""
        return f"{self.letter}: {self.answer}" if self.letter else self.answer


class Error(NamedTuple):
    """What one debater finds wrong in its opponent's words."""

    quote: str
    fault: str
    occurs: bool
    """False for a quotation that the opponent never wrote."""


class Column(NamedTuple):
    """What one side said in a phase, and for whose answer."""

    speaker: Side
    holder: Side
    """In the role switch the opponent; else the speaker itself."""
    turns: list[Turn]

    @property
    def switched(self) -> bool:
        """True where it speaks for its opponent's answer."""
        return self.speaker.who != self.holder.who


class Phase(NamedTuple):
    """One phase of the debate."""

    name: str
    columns: list[Column]
    asides: list[Turn]
    """What neither side said, such as whether two proposals are the same."""

    @property
    def title(self) -> str:
        """``Cross-examination``."""
        return label(self.name)


class Ruling(NamedTuple):
    """One ruling of a judge, as it came."""

    turn: Turn
    swapped: bool
    """True where the judge read the other side's words first."""
    counts: bool
    """False where the judge was asked again after it."""
    letter: str
    answer: str
    confidence: float | None
    rationale: str
    holder: Side | None
    """Who holds the answer that the letter names."""

    @property
    def title(self) -> str:
        """``Ruling``, ``Ruling with the sides swapped, asked again``."""
        order = " with the sides swapped" if self.swapped else ""
        again = ", asked again" if self.turn.round > 1 else ""
        return f"Ruling{order}{again}"

    @property
    def agrees(self) -> bool:
        """Return False where the answer is not the text that bears the letter."""
        return self.turn.names != "" or self.answer == self.letter


class Exchange(NamedTuple):
    """One debate of a node, of one pass."""

    take: int
    sides: list[Side]
    phases: list[Phase]
    rulings: list[Ruling]
    samples: list[Turn]
    """Direct answers that were asked for without a debate."""

    @property
    def split(self) -> bool:
        """True where two readings of the judge come to different letters."""
        return len({ruling.letter for ruling in self.rulings if ruling.counts}) > 1

    @property
    def title(self) -> str:
        """``Debate`` or what else there is of it."""
        name = "Debate" if self.phases or self.rulings else "Direct answers"
        return name if self.take == 1 else f"Pass {self.take}: {name.lower()}"

    @property
    def votes(self) -> str:
        """``2 × plant materials, 1 × animal products``: what the direct answers say."""
        said = Counter(_text(turn, "answer") or "–" for turn in self.samples)
        return ", ".join(f"{number} × {answer}" for answer, number in said.most_common())


def parts(record: RunRecord | None, node: Node) -> list[Stage | Exchange]:
    """The transcript of ``node`` in order, the phases of a role-switching debate in one piece."""
    found: list[Stage | Exchange] = []
    seen: set[int] = set()
    for stage in view.stages(node):
        if stage.name not in STAGES:
            found.append(stage)
        elif stage.take not in seen:
            seen.add(stage.take)
            found.append(_exchange(record, node, stage.take))
    return found


def exchanges(record: RunRecord | None, node: Node) -> list[Exchange]:
    """The role-switching debates of ``node``, one for each pass."""
    return [part for part in parts(record, node) if isinstance(part, Exchange)]


def _exchange(record: RunRecord | None, node: Node, take: int) -> Exchange:
    turns = [turn for turn in node.transcript if turn.take == take and turn.stage in STAGES]
    sides = _held(record, node, take, turns)
    phases = [_phase(name, sides, turns) for name in PHASES]
    judged = [turn for turn in turns if turn.stage == "judgment"]
    return Exchange(
        take,
        sides,
        [phase for phase in phases if phase.columns or phase.asides],
        [_ruling(turn, sides, judged) for turn in judged],
        [turn for turn in turns if turn.stage == "direct"],
    )


def _held(record: RunRecord | None, node: Node, take: int, turns: Sequence[Turn]) -> list[Side]:
    """Both sides, if anybody spoke for them."""
    options, labels = dict(_options(record)), naming.labels(node, take)
    sides: list[Side] = []
    for who in _SIDES:
        said = [turn for turn in turns if turn.who == who and turn.stage in PHASES]
        if said:
            letter = labels.get(who, "")
            percent = next((p for turn in said if (p := share(turn)) is not None), None)
            answer = options.get(letter) or _answer(said)
            won = any(view.won(node, take, name) for name in {letter, who} - {""})
            sides.append(Side(who, letter, answer, percent, won))
    return sides


def _answer(said: Sequence[Turn]) -> str:
    """What a side proposed last, else what it was told to defend, which may be shortened."""
    proposed = [_text(turn, "answer") for turn in said if turn.stage == "proposals"]
    return proposed[-1] if _chose(said) else next((turn.side or "" for turn in _told(said)), "")


def _chose(said: Sequence[Turn]) -> bool:
    """Whether a side chose its answer itself."""
    return any(turn.stage == "proposals" and turn.side is None for turn in said)


def _told(said: Sequence[Turn]) -> list[Turn]:
    """The turns in which a side was told to defend its own answer."""
    return [turn for turn in said if turn.side and turn.stage != "role_switch"]


def _phase(name: str, sides: Sequence[Side], turns: Sequence[Turn]) -> Phase:
    here = [turn for turn in turns if turn.stage == name]
    others = {side.who: other for side in sides for other in sides if other.who != side.who}
    columns: list[Column] = []
    for side in sides:
        holder = others.get(side.who, side) if name == "role_switch" else side
        columns.append(Column(side, holder, [turn for turn in here if turn.who == side.who]))
    spoken = columns if any(column.turns for column in columns) else []
    return Phase(name, spoken, [turn for turn in here if turn.who not in _SIDES])


def _ruling(turn: Turn, sides: Sequence[Side], judged: Sequence[Turn]) -> Ruling:
    letter = _text(turn, "label")
    later = [t for t in judged if t.who == turn.who and t.round > turn.round]
    return Ruling(
        turn,
        turn.who == "swapped",
        not later,
        letter,
        _text(turn, "answer"),
        _confidence(turn),
        _text(turn, "rationale"),
        next((side for side in sides if side.letter and side.letter == letter), None),
    )


def _confidence(turn: Turn) -> float | None:
    figure = turn.fields.get("confidence")
    if isinstance(figure, bool) or not isinstance(figure, int | float):
        return None
    return float(figure) if 0 <= figure <= 1 else None


def errors(turn: Turn) -> list[Error]:
    """The errors that a reply locates; none where they are of another shape."""
    given = turn.fields.get("errors")
    found: list[Error] = []
    for item in given if isinstance(given, list) else []:
        if not isinstance(item, dict):
            return []
        quote, fault = item.get("quote"), item.get("fault")
        if not isinstance(quote, str) or not isinstance(fault, str):
            return []
        found.append(Error(quote, fault, item.get("occurs") is not False))
    return found


def share(turn: Turn) -> float | None:
    """The percent that a reply disclosed, as a share of 1."""
    percent = turn.fields.get("percent")
    if isinstance(percent, bool) or not isinstance(percent, int | float):
        return None
    return percent / 100 if 0 <= percent <= 100 else None


def rest(turn: Turn, node: Node, column: Column | None = None) -> list[Entry]:
    """The fields that have no form of their own; an answer that is the one held says nothing."""
    without = {"errors"} if errors(turn) or turn.fields.get("errors") == [] else set[str]()
    if share(turn) is not None:
        without.add("percent")
    if turn.stage == "judgment":
        without |= {name for name in ("rationale", "label", "answer") if _text(turn, name)}
        without |= {"confidence"} if _confidence(turn) == turn.fields.get("confidence") else set()
    if column is not None and _text(turn, "answer") == column.holder.answer:
        without.add("answer")
    return view.entries(turn, node, {}, without)


def _text(turn: Turn, name: str) -> str:
    value = turn.fields.get(name)
    return value if isinstance(value, str) else ""


class Option(NamedTuple):
    """One of the answers to choose from."""

    letter: str
    text: str
    remarks: list[str]
    """What became of it: debated, won, right."""


def _options(record: RunRecord | None) -> list[tuple[str, str]]:
    given = record.input.get("options") if record is not None else None
    texts = [str(text) for text in given] if isinstance(given, list) else []
    return [*zip(ascii_uppercase, texts, strict=False)]


def options(record: RunRecord) -> list[Option]:
    """The options of the input with their letters, and what became of each."""
    held: dict[str, list[str]] = {}
    for node in record.tree.nodes.values():
        for debate in exchanges(record, node):
            for side in debate.sides:
                spots = held.setdefault(side.letter, [])
                spots += [node.id] if node.id != record.tree.root else []
    verdict, gold = record.verdict, record.input.get("gold")
    found: list[Option] = []
    for letter, text in _options(record):
        nodes = ", ".join(dict.fromkeys(held.get(letter, [])))
        remarks = [f"debated in {nodes}" if nodes else "debated"] if letter in held else []
        if verdict and verdict.answer is not None and verdict.label == letter:
            remarks.append("the answer")
        if isinstance(gold, str) and gold.strip().upper() == letter:
            remarks.append("known to be right")
        found.append(Option(letter, text, remarks))
    return found


def opposed(record: RunRecord | None, node: Node) -> str:
    """``B: plants, against C: oil``; empty without a debate."""
    held = exchanges(record, node)
    sides = held[-1].sides if held else []
    return ", against ".join(side.candidate for side in sides)


def winner(record: RunRecord | None, node: Node, ruled: NodeVerdict) -> str:
    """Who won the debate of ``node``, in words; empty where nobody is said to have."""
    for debate in exchanges(record, node):
        for side in debate.sides:
            if debate.take == ruled.take and side.won:
                return side.candidate
    texts = dict(_options(record)) if node.kind == "knockout" else {}
    won = ruled.winner or ""
    return f"{won}: {texts[won]}" if won in texts else won


def kind(node: Node) -> str:
    """``debate``, or ``no debate`` where there were direct answers only."""
    stages = {turn.stage for turn in node.transcript}
    return "no debate" if stages and stages <= {"direct", "answer"} else "debate"


def course(node: Node) -> str:
    """How a node with debates below it was decided: ``3 debates, one after another``."""
    debates = count(len(node.children), "debate")
    return f"a knockout of {debates}; the winner of each meets the next option"
