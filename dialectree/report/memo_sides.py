"""Show in a memo what speaks on either side: arguments, topics, parts or speakers.

The section follows from the shape of the record, so that any protocol's runs have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dialectree.records import Node, RunRecord, Stance, Turn, path_key, turns
from dialectree.records.tree import Point
from dialectree.report import arguments, exchange, view, words
from dialectree.report.citations import CitedNotes
from dialectree.report.excerpts import first_sentences
from dialectree.report.figures import format_share
from dialectree.report.grounds import MARKS, EvidenceUse
from dialectree.report.memo_blocks import (
    MemoBlock,
    MemoLine,
    bullets,
    heading,
    line,
    paragraph,
    strong,
    subheading,
)
from dialectree.report.node_data import Sentence, topic_of
from dialectree.text import count, figure, format_list
from dialectree.text import line as shorten

_LONG, _SHORT = 300, 200
"""The most characters of a point; the short limit holds where there are many."""
_ARGUMENTS, _PARTS, _SENTENCES, _SPEAKERS = 3, 6, 6, 6
"""The most arguments on a side, parts, sentences of a comparison, and speakers."""
_PAIR = 2
"""The number of speakers up to which each has several points."""
_FEW_WORDS = 3
_REPORT = "The report of the run has the others: {}."


def both_sides(record: RunRecord, citations: CitedNotes) -> list[MemoBlock]:
    """Return the section on both sides; empty if nobody argued."""
    root = record.tree.nodes.get(record.tree.root)
    if root is None:
        return []
    if claims := _claims_with_arguments(record, root):
        return _arguments(record, claims, citations)
    if comparison := [*_comparison(record, root, citations), *_topics(record, citations)]:
        return comparison
    if parts := _parts(record, root):
        return _list_parts(record, root, parts, citations)
    return _speakers(record, _debated_node(record, root), citations)


def current_sentences(record: RunRecord) -> list[Sentence]:
    """Return the sentences of a comparison that its verdict still consists of."""
    root = record.tree.nodes.get(record.tree.root)
    answer = record.verdict.answer if record.verdict is not None else None
    sentences = topic_of(root).sentences if root is not None else []
    if answer is None or any(s.text not in answer for s in sentences if s.part != "proposal"):
        return []  # a person gave another verdict
    return sentences


# Arguments for and against


def _claims_with_arguments(record: RunRecord, root: Node) -> list[Node]:
    """Return the claims at the root that have arguments; an ensemble has several."""
    nodes = record.tree.nodes
    return [
        claim
        for claim in arguments.roots(record) or [root]
        if arguments.by_strength(record, claim)
        and any(nodes[name].kind == "argument" for name in claim.children if name in nodes)
    ]


def ranked_arguments(record: RunRecord, stance: Stance) -> list[Node]:
    """Return the arguments on one side of the claim that count, the strongest first."""
    nodes, root = record.tree.nodes, record.tree.nodes.get(record.tree.root)
    claims = _claims_with_arguments(record, root) if root is not None else []
    found = [
        nodes[name]
        for claim in claims
        for name in claim.children
        if name in nodes and nodes[name].stance == stance and not arguments.standing(record, nodes[name])
    ]
    return sorted(found, key=lambda node: -(node.score("strength") or 0.0))


def _arguments(record: RunRecord, claims: Sequence[Node], citations: CitedNotes) -> list[MemoBlock]:
    blocks = [heading("The strongest arguments")]
    sides: tuple[tuple[str, Stance], ...] = (("For the claim", "support"), ("Against the claim", "attack"))
    evidence_use = EvidenceUse(record)
    for title, stance in sides:
        ranked = ranked_arguments(record, stance)
        blocks.append(subheading(title))
        blocks += bullets(_argument(node, evidence_use, citations) for node in ranked[:_ARGUMENTS])
        if declined := any(stance in words.list_declined_sides(claim) for claim in claims):
            blocks.append(paragraph(words.describe_declined_side(stance)))
        if not ranked and not declined:
            blocks.append(paragraph("No argument counts on this side."))
        blocks += _remaining(len(ranked) - _ARGUMENTS, "argument")
    return blocks


def _argument(node: Node, evidence_use: EvidenceUse, citations: CitedNotes) -> MemoLine:
    strength, points = node.score("strength"), evidence_use.find_argument_points(node)
    shown = "No strength" if strength is None else f"Strength {figure(strength)}"
    text = first_sentences(node.text, 3, _LONG) or "–"
    return line(
        strong(f"{shown}:"), f" {text}", *_marks(points, evidence_use), notes=_cite(points, text, citations)
    )


def _cite(points: Sequence[Point], text: str, citations: CitedNotes) -> tuple[int, ...]:
    return citations.cite([id for point in points for id in point.sentences], text)


def _marks(points: Sequence[Point], evidence_use: EvidenceUse) -> list[str]:
    """Return a remark on the points that a checker did not find in their sentences."""
    doubts = dict.fromkeys(mark for point in points if (mark := evidence_use.find_mark(point)))
    doubts.pop(MARKS["yes"], None)
    return (
        [f" (checked against the cited sentences: {shorten(format_list(doubts).lower(), _SHORT)})"]
        if doubts
        else []
    )


# Two papers


_SENTENCE_HEADINGS = {
    "similarity": "What both papers share",
    "difference": "Where they differ",
    "proposal": "Suggested in the debate, claimed by neither paper",
}


def _comparison(record: RunRecord, root: Node, citations: CitedNotes) -> Iterator[MemoBlock]:
    sentences = current_sentences(record)
    for part, title in _SENTENCE_HEADINGS.items():
        of_part = [sentence for sentence in sentences if sentence.part == part]
        if of_part:
            yield heading(title)
            yield from bullets(_sentence(record, root, s, citations) for s in of_part[:_SENTENCES])
            yield from _remaining(len(of_part) - _SENTENCES, "sentence")


def _sentence(record: RunRecord, root: Node, sentence: Sentence, citations: CitedNotes) -> MemoLine:
    topics = [name for name in sorted(sentence.nodes, key=path_key) if name != root.id]
    noun = "topic" if len(topics) == 1 else "topics"
    about = f" ({noun} {shorten(format_list(topics), _SHORT)})" if topics else ""
    faults = f" (marked: {shorten('; '.join(sentence.faults), _SHORT)})" if sentence.faults else ""
    text = shorten(sentence.text, _LONG) or "–"
    return line(text, about, faults, notes=citations.cite(sentence.segments, sentence.text, most=2))


def _topics(record: RunRecord, citations: CitedNotes) -> Iterator[MemoBlock]:
    debated = [node for _, node in view.rows(record) if topic_of(node).positions and not node.dropped]
    if not debated:
        return
    yield heading("Topic by topic")
    yield from bullets(_topic(node, citations) for node in debated[:_PARTS])
    yield from _remaining(len(debated) - _PARTS, "topic")


def _topic(node: Node, citations: CitedNotes) -> MemoLine:
    positions = [
        f"paper {position.paper}: {shorten(position.title or position.description, _SHORT) or '–'}"
        + (" (concedes)" if position.concedes else "")
        for position in topic_of(node).positions
    ]
    return line(strong(f"{node.id} {shorten(node.text, _SHORT)}"), f" — {'; '.join(positions)}")


# Parts of a question


def _parts(record: RunRecord, root: Node) -> list[Node]:
    """Return the parts that the verdict rests on: leaves, or the debates below the root."""
    nodes = record.tree.nodes
    places = [place for place in root.provenance if place != root.id] or root.children
    parts = [nodes[place] for place in places if place in nodes and not nodes[place].dropped]
    return parts if len(parts) > 1 or any(part.text != root.text for part in parts) else []


def _list_parts(
    record: RunRecord, root: Node, parts: Sequence[Node], citations: CitedNotes
) -> list[MemoBlock]:
    title = f"The {words.unit(record)}s that it rests on"
    lines = [_part(record, root, part, citations) for part in parts[:_PARTS]]
    return [heading(title), *bullets(lines), *_remaining(len(parts) - _PARTS, words.unit(record))]


def _part(record: RunRecord, root: Node, part: Node, citations: CitedNotes) -> MemoLine:
    verdict = part.verdict
    same = part.text == root.text
    name = exchange.format_opposing_candidates(record, part) if same else part.text
    about = strong(f"{part.id} {shorten(name or part.text, _SHORT)}".strip())
    if verdict is None or verdict.answer is None:
        return line(about, f" — {'no answer' if part.status == 'missing' else 'no verdict'}")
    answer = f" — {first_sentences(verdict.answer, 2, _LONG)}"
    probable = verdict.probable or arguments.by_strength(None, part)
    label = f" ({'probability' if probable else 'confidence'} {format_share(verdict.confidence)})"
    grounds = citations.cite([ground.id for ground in verdict.grounds], verdict.answer)
    return line(about, answer, label, notes=grounds)


# Speakers who face each other


def _debated_node(record: RunRecord, root: Node) -> Node:
    """Return the lowest node at which speakers face each other, or the root."""
    rows = [row.node for row in view.rows(record) if not row.node.dropped]
    return next((node for node in reversed(rows) if _speeches(record, node)), root)


class Speech(NamedTuple):
    """A turn in which a speaker argues for its own side."""

    turn: Turn
    caption: str
    """The name of the text for a reader."""
    text: str


def _speeches(record: RunRecord, node: Node) -> dict[str, list[Speech]]:
    """Return what the speakers who face each other said for their own sides in the last pass, by speaker."""
    take = max((turn.take for turn in node.transcript), default=1)
    own_labels = turns.labels(node, take)
    speeches: dict[str, list[Speech]] = {}
    for stage in view.stages(record, node):
        for turn in (turn for part in stage.rounds if part.speakers for turn in part.turns):
            phase = turns.find_declared_phase(record, turn)
            rules = phase is not None and (phase.rules or phase.weighs)
            own_side = own_labels.get(turn.speaker, turn.label) == turn.label
            speech = _speech(record, turn)
            if turn.take == take and not rules and own_side and speech.text.strip():
                speeches.setdefault(turn.speaker, []).append(speech)
    return speeches


def _speakers(record: RunRecord, node: Node, citations: CitedNotes) -> list[MemoBlock]:
    speeches = _speeches(record, node)
    if not speeches:
        return []
    blocks, evidence_use = [heading("What each side said")], EvidenceUse(record)
    several = len(speeches) <= _PAIR
    single_points: list[MemoLine] = []
    for speaker, said in [*speeches.items()][:_SPEAKERS]:
        title = _side(record, node, speaker, said)
        if several:
            blocks.append(subheading(title))
            chosen = said if len(said) <= 3 else [said[0], *said[-2:]]
            blocks += bullets(_point(chosen, speech, evidence_use, citations) for speech in chosen)
        else:
            points, text = said[-1].turn.evidence, first_sentences(said[-1].text, 2, _SHORT)
            notes = _cite(points, text, citations)
            single_points.append(
                line(strong(title), f" — {text}", *_marks(points, evidence_use), notes=notes)
            )
    blocks += bullets(single_points)
    return [*blocks, *_remaining(len(speeches) - _SPEAKERS, "speaker")]


def _side(record: RunRecord, node: Node, speaker: str, said: Sequence[Speech]) -> str:
    """Return a speaker with the answer that it defends: ``Debater A: Random UUIDs (0.75 sure, won)``."""
    turn = said[0].turn
    name = shorten(words.speaker(turn, node, record), _SHORT)
    side = next(
        (
            side
            for debate in exchange.exchanges(record, node)
            for side in debate.sides
            if debate.take == turn.take and side.speaker == speaker
        ),
        None,
    )
    answer = side.answer if side is not None else ""
    defended = f": {shorten(answer, _SHORT)}" if answer else ""
    remarks = [] if answer or not (task := words.task(turn, record)) else [shorten(task, _SHORT)]
    remarks += [f"{format_share(side.percent)} sure"] if side is not None and side.percent is not None else []
    won = {speaker, turns.labels(node, turn.take).get(speaker, speaker)}
    remarks += ["won"] if any(view.won(node, turn.take, label) for label in won) else []
    return f"{name}{defended}" + (f" ({', '.join(remarks)})" if remarks else "")


def _point(
    chosen: Sequence[Speech], speech: Speech, evidence_use: EvidenceUse, citations: CitedNotes
) -> MemoLine:
    captions = [other.caption for other in chosen]
    numbered = captions.count(speech.caption) > 1 and speech.turn.round
    caption = f"{speech.caption}, round {speech.turn.round}" if numbered else speech.caption
    text, points = first_sentences(speech.text, 3, _LONG), speech.turn.evidence
    notes = _cite(points, text, citations)
    return line(strong(f"{caption}:"), f" {text}", *_marks(points, evidence_use), notes=notes)


def _speech(record: RunRecord, turn: Turn) -> Speech:
    """Return the main text of ``turn``: the first declared one that is longer than a few words."""
    phase = turns.editable(record, turn)
    texts = {
        name: text
        for name in (phase.editable if phase is not None else ())
        if isinstance(text := turn.fields.get(name), str) and text.strip()
    }
    if phase is None or not texts:
        return Speech(turn, turn.phase.replace("_", " ").capitalize(), turns.text(record, turn))
    name = next((name for name, text in texts.items() if len(text.split()) > _FEW_WORDS), next(iter(texts)))
    return Speech(turn, phase.captions.get(name, name), texts[name])


def _remaining(number: int, noun: str) -> list[MemoBlock]:
    return [paragraph(_REPORT.format(count(number, f"more {noun}")))] if number > 0 else []
