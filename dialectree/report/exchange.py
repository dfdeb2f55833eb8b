"""Show the debate of two speakers who face each other, phase by phase, and the rulings on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile
from string import ascii_uppercase
from typing import NamedTuple

from pydantic import BaseModel

from dialectree.records import Node, RunRecord, Turn, Verdict
from dialectree.records import turns as naming
from dialectree.report import view, words
from dialectree.report.node_data import read_fields
from dialectree.report.view import ReplyLine, Stage
from dialectree.text import count


class Error(BaseModel):
    """An error that one side finds in its opponent's words."""

    quote: str
    fault: str
    occurs: bool = True
    """False if the opponent never wrote the words in ``quote``."""


class _Reply(BaseModel):
    """The fields of a side's or a judge's reply that are shown in a special form."""

    errors: list[Error] | None = None
    percent: float | None = None
    answer: str = ""
    label: str = ""
    confidence: float | None = None
    rationale: str = ""


_RULING = frozenset({"rationale", "label", "answer", "confidence"})


def _reply(turn: Turn) -> _Reply:
    return read_fields(_Reply, turn.fields)


class Side(NamedTuple):
    """One side and the answer that it defends."""

    speaker: str
    """The name in ``Turn.speaker``."""
    letter: str
    """The letter of the answer; empty for an answer without a letter."""
    answer: str
    percent: float | None
    """The confidence in its answer that the side disclosed, as a share of 1."""
    won: bool

    @property
    def name(self) -> str:
        """Return the letter that the side defends, or else the speaker's name."""
        return self.letter or self.speaker

    @property
    def candidate(self) -> str:
        """Return the answer with its letter: ``B: plant materials``."""
        return f"{self.letter}: {self.answer}" if self.letter else self.answer


class Column(NamedTuple):
    """The turns of one side in a phase, and the side whose answer it speaks for."""

    speaker: Side
    holder: Side
    """The side whose answer is defended: the opponent if the sides are switched, else the speaker."""
    turns: list[Turn]

    @property
    def switched(self) -> bool:
        """Return whether the speaker argues for its opponent's answer."""
        return self.speaker.speaker != self.holder.speaker


class PhaseTurns(NamedTuple):
    """One phase of the debate."""

    title: str
    columns: list[Column]
    asides: list[Turn]
    """Turns of neither side, such as the check whether two proposals are the same."""


class JudgeRuling(NamedTuple):
    """One ruling of a judge."""

    turn: Turn
    counts: bool
    """False if the judge was asked again after this ruling."""
    reply: _Reply
    holder: Side | None
    """The side that defends the letter in the ruling; None if neither side does."""

    @property
    def title(self) -> str:
        """Return ``Ruling``, ``Ruling of judge 2 with the sides swapped, asked again``."""
        order = " with the sides swapped" if self.turn.name.endswith("swapped") else ""
        again = ", asked again" if self.turn.round > 1 else ""
        return f"Ruling{self.judge and f' of judge {self.judge}'}{order}{again}"

    @property
    def judge(self) -> str:
        """Return the number of the judge if several rule, else ""."""
        return "".join(takewhile(str.isdigit, self.turn.name))

    @property
    def agrees(self) -> bool:
        """Return whether the ruling's answer is the text of the ruling's letter."""
        return self.turn.names != "" or self.reply.answer == self.reply.label


class Exchange(NamedTuple):
    """One debate of a node in one pass."""

    take: int
    sides: list[Side]
    phases: list[PhaseTurns]
    rulings: list[JudgeRuling]
    samples: list[Turn]
    """Direct answers without a debate."""

    @property
    def split(self) -> bool:
        """Return whether two rulings of one judge, such as with the sides swapped, differ in the letter."""
        ruled = {(ruling.judge, ruling.reply.label) for ruling in self.rulings if ruling.counts}
        return len(ruled) > len({judge for judge, _ in ruled})

    @property
    def title(self) -> str:
        """Return ``Debate``, ``Pass 2: debate`` or ``Direct answers``."""
        name = "Debate" if self.phases or self.rulings else "Direct answers"
        return name if self.take == 1 else f"Pass {self.take}: {name.lower()}"

    @property
    def votes(self) -> str:
        """Return how often each direct answer was given: ``2 × plant materials, 1 × animal products``."""
        answers = Counter(_reply(turn).answer or "–" for turn in self.samples)
        return ", ".join(f"{number} × {answer}" for answer, number in answers.most_common())


def parts(record: RunRecord, node: Node) -> list[Stage | Exchange]:
    """Return the transcript of ``node`` in order, each two-sided debate in one piece."""
    phases = _two_sided(record)
    pieces: list[Stage | Exchange] = []
    takes: set[int] = set()
    for stage in view.stages(record, node):
        if stage.name not in phases:
            pieces.append(stage)
        elif stage.take not in takes:
            takes.add(stage.take)
            turns = [t for t in node.transcript if t.take == stage.take and t.phase in phases]
            pieces.append(_exchange(record, node, stage.take, turns))
    return pieces


def _two_sided(record: RunRecord) -> set[str]:
    """Return the phases that only protocols with the view ``two_sided`` declare."""
    phases: dict[bool, set[str]] = {True: set(), False: set()}
    for declaration in record.declared.values():
        phases[declaration.view == "two_sided"].update(declaration.order.phases)
    return phases[True] - phases[False]


def exchanges(record: RunRecord, node: Node) -> list[Exchange]:
    """Return the two-sided debates of ``node``, one for each pass."""
    return [part for part in parts(record, node) if isinstance(part, Exchange)]


def _exchange(record: RunRecord, node: Node, take: int, turns: Sequence[Turn]) -> Exchange:
    facing, sides = words.look(record).facing, _both_sides(record, node, take, turns)
    exchange = Exchange(take, sides, [], [], [])
    for name in dict.fromkeys(turn.phase for turn in turns):
        here = [turn for turn in turns if turn.phase == name]
        if all(turn.fields.keys() >= _RULING for turn in here):
            exchange.rulings.extend(_ruling(turn, sides, here) for turn in here)
        elif any(turn.speaker in (*facing, turn.role) for turn in here):
            asides = [turn for turn in here if turn.speaker not in facing]
            meet = asides != here
            columns = [_column(side, sides, here) for side in sides if meet]
            exchange.phases.append(PhaseTurns(words.caption(record, name), columns, asides))
        else:
            exchange.samples.extend(here)
    return exchange


def _both_sides(record: RunRecord, node: Node, take: int, turns: Sequence[Turn]) -> list[Side]:
    """Return the sides that spoke."""
    options, labels = dict(_options(record)), naming.labels(node, take)
    sides: list[Side] = []
    for who in words.look(record).facing:
        side_turns = [turn for turn in turns if turn.speaker == who]
        if side_turns:
            letter = labels.get(who, "")
            percent = next((p for turn in side_turns if (p := share(turn)) is not None), None)
            answer = options.get(letter) or _answer(side_turns)
            won = any(view.won(node, take, name) for name in {letter, who} - {""})
            sides.append(Side(who, letter, answer, percent, won))
    return sides


def _answer(turns: Sequence[Turn]) -> str:
    """Return the last answer that a side proposed itself, else its assigned answer."""
    proposed = [_reply(turn).answer for turn in turns if "answer" in turn.fields]
    assigned = [turn.side for turn in turns if turn.side]
    chose = any("answer" in turn.fields and turn.side is None for turn in turns)
    return proposed[-1] if chose else (assigned or [""])[0]


def _column(side: Side, sides: Sequence[Side], turns: Sequence[Turn]) -> Column:
    side_turns = [turn for turn in turns if turn.speaker == side.speaker]
    other_side = next((candidate for candidate in sides if candidate.speaker != side.speaker), side)
    assigned = {turn.label for turn in turns if turn.label and turn.speaker == side.speaker}
    switched = other_side.letter in assigned
    return Column(side, other_side if switched else side, side_turns)


def _ruling(turn: Turn, sides: Sequence[Side], rulings: Sequence[Turn]) -> JudgeRuling:
    reply = _reply(turn)
    asked_again = any(ruling.speaker == turn.speaker and ruling.round > turn.round for ruling in rulings)
    holder = next((side for side in sides if side.letter and side.letter == reply.label), None)
    return JudgeRuling(turn, not asked_again, reply, holder)


def errors(turn: Turn) -> list[Error]:
    """Return the errors that a reply finds in the opponent's words."""
    return _reply(turn).errors or []


def share(turn: Turn) -> float | None:
    """Return the confidence that a reply disclosed in percent, as a share of 1."""
    percent = _reply(turn).percent
    return None if percent is None else percent / 100


def rest(
    turn: Turn, node: Node, record: RunRecord | None = None, column: Column | None = None
) -> list[ReplyLine]:
    """Return the fields of a reply that have no special form. An answer equal to the side's is left out."""
    field_names = {"errors", "percent"}
    if turn.fields.keys() >= _RULING:
        field_names |= _RULING
    without = field_names & _reply(turn).model_fields_set  # fields of another shape stay
    if column is not None and turn.fields.get("answer") == column.holder.answer:
        without.add("answer")
    return view.entries(turn, node, {}, without, record)


class Option(NamedTuple):
    """One of the answers to choose from."""

    letter: str
    text: str
    remarks: list[str]
    """What is known of the option: ``debated``, ``the answer``, ``known to be right``."""


def _options(record: RunRecord) -> list[tuple[str, str]]:
    texts = record.input.get("options")
    return [*zip(ascii_uppercase, map(str, texts if isinstance(texts, list) else []), strict=False)]


def options(record: RunRecord) -> list[Option]:
    """Return the options of the input with their letters and remarks."""
    places: dict[str, list[str]] = {}
    for node in record.tree.nodes.values():
        for side in (side for debate in exchanges(record, node) for side in debate.sides):
            ids = places.setdefault(side.letter, [])
            ids += [node.id] if node.id != record.tree.root else []
    verdict, gold = record.verdict, record.input.get("gold")
    chosen = verdict.label if verdict and verdict.answer is not None else None
    right = gold.strip().upper() if isinstance(gold, str) else ""
    answer_options: list[Option] = []
    for letter, text in _options(record):
        ids = [*dict.fromkeys(places.get(letter, []))]
        remarks = [f"debated in {', '.join(ids)}" if ids else "debated"] if letter in places else []
        remarks += ["the answer"] if letter == chosen else []
        remarks += ["known to be right"] if letter == right else []
        answer_options.append(Option(letter, text, remarks))
    return answer_options


def format_opposing_candidates(record: RunRecord, node: Node) -> str:
    """Return the answers of both sides: ``B: plants, against C: oil``; empty without a debate."""
    debates = exchanges(record, node)
    return ", against ".join(side.candidate for side in debates[-1].sides) if debates else ""


def winner(record: RunRecord, node: Node, ruled: Verdict) -> str:
    """Return the winner of the debate of ``node`` in words; empty without a winner."""
    for debate in exchanges(record, node):
        for side in debate.sides:
            if debate.take == ruled.take and side.won:
                return side.candidate
    won = ruled.winner or ""
    text = dict(_options(record)).get(won) if node.children else None
    return f"{won}: {text}" if text else won


def kind(record: RunRecord, node: Node) -> str:
    """Return ``debate``, or ``no debate`` if no speaker faced another."""
    facing = words.look(record).facing
    faced = any(turn.speaker in facing for turn in node.transcript)
    return "debate" if faced or not node.transcript else "no debate"


def course(node: Node) -> str:
    """Return how a node with debates below it was decided."""
    debates = count(len(node.children), "debate")
    return f"a knockout of {debates}; the winners meet until one option is left"
