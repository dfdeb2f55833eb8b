"""A comparison of two papers as it is read: the summary and its ground, the topics, who conceded.

Whatever lacks is left out, and whatever has an odd shape is shown by its name like any other field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pydantic import JsonValue

from dialectree.records import (
    Claim,
    Letter,
    Node,
    Position,
    RunRecord,
    Sentence,
    Turn,
    path_key,
    topic_of,
)
from dialectree.report import contributions, evidence, view, words
from dialectree.report.contributions import LETTERS, conceded
from dialectree.report.evidence import Reference
from dialectree.report.view import Entry, Stage

EXCHANGE = ("present", "respond", "revise")
PROPOSED = "Suggested in the debate, claimed by neither paper"


def compares(record: RunRecord | None) -> bool:
    """True for a comparison of two papers, by whatever method."""
    return record is not None and words.outcome_of(record) == "comparison"


def debated(node: Node) -> bool:
    """True for a topic of a comparison."""
    return node.kind == "topic"


class Paper(NamedTuple):
    """One of the two papers."""

    letter: Letter
    title: str
    name: str
    """Of its file."""
    key: str
    abstract: str
    cited: int
    """How many of its segments anything rests on."""

    @property
    def about(self) -> str:
        """``gp-a.txt · rahimi2007 · 12 segments cited``."""
        cited = f"{words.count(self.cited, 'segment')} cited" if self.cited else ""
        return " · ".join(words.line(part, 120) for part in (self.name, self.key, cited) if part)


def papers(record: RunRecord) -> list[Paper]:
    """Both papers, as far as the record knows them."""
    given = record.input.get("papers") if compares(record) else None
    cited = [entry.segment.id[:1] for entry in evidence.cited(record)]
    return [
        Paper(
            letter,
            _text(paper, "title"),
            _text(paper, "name"),
            evidence.key(record, letter),
            _text(paper, "abstract"),
            cited.count(letter),
        )
        for letter, paper in zip(LETTERS, given if isinstance(given, list) else [], strict=False)
        if isinstance(paper, dict)
    ]


def title(record: RunRecord | None, letter: str, limit: int = 90) -> str:
    """What a paper is called, shortened; empty where that is not known."""
    known = papers_by_letter(record)
    return words.line(known.get(letter, ""), limit)


def papers_by_letter(record: RunRecord | None) -> dict[str, str]:
    """The titles of both papers."""
    given = record.input.get("papers") if record is not None else None
    both = zip(LETTERS, given if isinstance(given, list) else [], strict=False)
    return {letter: _text(paper, "title") for letter, paper in both if isinstance(paper, dict)}


def _text(fields: Mapping[str, JsonValue], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


class Said(NamedTuple):
    """One sentence of the summary, with what it rests on."""

    number: int
    text: str
    nodes: list[Reference]
    segments: list[Reference]
    faults: list[str]

    @property
    def references(self) -> str:
        """``[0.1; a:12, b:3]``, with page and key where they are known; empty without any."""
        nodes = ", ".join(ref.id for ref in self.nodes)
        segments = ", ".join(_placed(ref) for ref in self.segments)
        named = "; ".join(part for part in (nodes, segments) if part)
        return f"[{words.line(named, 2000)}]" if named else ""


def _placed(ref: Reference) -> str:
    return f"{ref.id} ({ref.place})" if ref.place else ref.id


class Summary(NamedTuple):
    """What came of a comparison: two paragraphs, and what nobody claims."""

    similarities: list[Said]
    differences: list[Said]
    proposals: list[Said]

    @property
    def paragraphs(self) -> list[tuple[str, list[Said]]]:
        """Similarities, then differences."""
        both = [("What they share", self.similarities), ("What sets them apart", self.differences)]
        return [(name, said) for name, said in both if said]


def summary(record: RunRecord) -> Summary | None:
    """The comparison sentence by sentence; None where it has no sentences, or another text."""
    root = record.tree.nodes.get(record.tree.root)
    sentences = topic_of(root).sentences if root is not None else []
    if not sentences or _overruled(record, sentences):
        return None
    parts = Summary([], [], [])
    shelves = {
        "similarity": parts.similarities,
        "difference": parts.differences,
        "proposal": parts.proposals,
    }
    for number, one in enumerate(sentences, 1):
        nodes = [evidence.topic(record, name) for name in sorted(one.nodes, key=path_key)]
        segments = evidence.segments(record, one.segments)
        shelves[one.part].append(Said(number, one.text, nodes, segments, one.faults))
    return parts


def _overruled(record: RunRecord, sentences: Iterable[Sentence]) -> bool:
    """True where the verdict is not the one that these sentences make, such as a person's own."""
    answer = record.verdict.answer if record.verdict is not None else None
    own = [one.text for one in sentences if one.part != "proposal"]
    return answer is not None and not all(text in answer for text in own)


def paragraphs(record: RunRecord) -> list[str]:
    """The result as plain text: the summary with its references, then the papers."""
    made = summary(record)
    if made is None:
        verdict = record.verdict
        answer = verdict.answer if verdict is not None else None
        said = [answer or words.unresolved(record)]
        said += [verdict.rationale] if verdict is not None and verdict.rationale else []
    else:
        said = [" ".join(map(plain, part)) for _, part in made.paragraphs]
        if made.proposals:
            said.append("\n".join([f"{PROPOSED}:", *(f"- {plain(s)}" for s in made.proposals)]))
    known = [f"{p.letter}: {words.line(p.title, 200)} ({p.about})" for p in papers(record)]
    return [*said, *(["\n".join(known)] if known else [])]


def plain(said: Said) -> str:
    """A sentence with its references and what is wrong with it."""
    faults = f"[marked: {'; '.join(said.faults)}]" if said.faults else ""
    return " ".join(part for part in (said.text, said.references, faults) if part)


def remarks(record: RunRecord) -> list[str]:
    """The notes on the verdict that the report does not say by other means."""
    notes = words.notes(record)
    if summary(record) is None:
        return notes
    known = {f"paper {who} conceded at {', '.join(where)}" for who, where in concessions(record)}
    return [note for note in notes if note not in known and not note.endswith(" are marked")]


def marked(record: RunRecord) -> str:
    """``2 of 9 sentences are marked``; empty where none is."""
    root = record.tree.nodes.get(record.tree.root)
    sentences = topic_of(root).sentences if root is not None else []
    faulty = sum(bool(one.faults) for one in sentences)
    verb = "is" if faulty == 1 else "are"
    return f"{faulty} of {words.count(len(sentences), 'sentence')} {verb} marked" if faulty else ""


def concessions(record: RunRecord) -> list[tuple[Letter, list[str]]]:
    """Who conceded where: a paper, and the ids of topics."""
    nodes = record.tree.nodes.values()
    places: list[tuple[Letter, list[str]]] = [
        (who, [n.id for n in nodes if who in conceded(n)]) for who in LETTERS
    ]
    return [(who, where) for who, where in places if where]


def outcome(node: Node) -> str:
    """What came of a topic's debate: ``b concedes``, ``neither concedes``."""
    gave = conceded(node)
    if node.dropped:
        return "dropped by a person"
    if not topic_of(node).positions:
        if node.parent is None:
            return ""
        return "no argument" if node.status == "missing" else "not debated yet"
    if len(gave) == 2:
        return "both concede"
    if len(topic_of(node).positions) == 1 and not gave:
        return f"only {topic_of(node).positions[0].paper} argues"
    return f"{gave[0]} concedes" if gave else "neither concedes"


def position(node: Node, letter: str) -> Position | None:
    """A persona's last word."""
    return next((one for one in topic_of(node).positions if one.paper == letter), None)


def silence(node: Node, letter: str) -> str:
    """Why a persona has no last word at a topic.

    A failure does not tell its stage: where both arguments were dropped it was of something else.
    """
    if node.status == "open":
        return "Not heard yet."
    failed = any((one.role, one.who) == ("persona", letter) for one in node.failures)
    arguments = (f"{node.id}/{letter}1/{stage}" for stage in ("present", "revise"))
    if failed and not all(f"{name} dropped by a person" in node.notes for name in arguments):
        return "Its argument failed for good."
    return "A person dropped its argument."


def course(record: RunRecord, node: Node) -> str:
    """Whether a topic was split, or why it was not."""
    if node.children:
        what = words.count(len(node.children), "topic")
        return f"split into {what}"
    if node.dropped:
        return "not split: dropped by a person"
    if node.stopped:
        return f"not split: {words.why(node.stopped)}"
    done = node.status != "open" or record.status not in ("running", "partial")
    return "not split" if done else "not split yet"


class Decision(NamedTuple):
    """What the moderator made of a debate: whether it should go on."""

    turn: Turn
    explanation: str
    grounds: list[tuple[str, str]]
    """What it was asked, and its yes or no."""
    rest: list[Entry]


_GROUNDS = {
    "progression_of_arguments": "The arguments moved on",
    "meaningful_questions": "Questions that matter are open",
    "clear_winner": "One paper has clearly won",
}


def decision(node: Node) -> Decision | None:
    """The moderator's decision at a topic; None where it was not asked."""
    turn = next((turn for turn in node.transcript if turn.stage == "progress"), None)
    if turn is None:
        return None
    grounds = [
        (name, "yes" if value else "no")
        for field, name in _GROUNDS.items()
        if isinstance(value := turn.fields.get(field), bool)
    ]
    if turn.fields.get("meaningful_questions") is True and not _asked(node):
        place = next(n for n, (name, _) in enumerate(grounds) if name.startswith("Questions"))
        grounds[place] = (grounds[place][0], "yes, but nobody asked one: it counts as no")
    known = {name for name in _GROUNDS if isinstance(turn.fields.get(name), bool)}
    explanation = _text(turn.fields, "explanation")
    known |= {"explanation"} if explanation else set()
    return Decision(turn, explanation, grounds, view.entries(turn, node, {}, known))


def _asked(node: Node) -> bool:
    return any(turn.fields.get("questions") for turn in node.transcript if turn.stage == "respond")


class Words(NamedTuple):
    """What a persona said in one turn."""

    turn: Turn
    title: str
    text: str
    evidence: list[Reference]
    questions: list[str]
    proposals: list[str]
    concedes: bool
    rest: list[Entry]
    """Fields of no known shape."""


def said(record: RunRecord | None, node: Node, turn: Turn) -> Words:
    """One turn of a persona, field by field."""
    fields = turn.fields
    lists = {n: _lines(fields.get(n)) for n in ("evidence", "questions", "proposals")}
    known = {name for name, texts in lists.items() if texts is not None}
    known |= {name for name in ("title", "description") if isinstance(fields.get(name), str)}
    known |= {"concedes"} if isinstance(fields.get("concedes"), bool) else set()
    return Words(
        turn,
        _text(fields, "title"),
        _text(fields, "description"),
        references(record, evidence.of(turn)),
        lists["questions"] or [],
        lists["proposals"] or [],
        fields.get("concedes") is True,
        view.entries(turn, node, {}, known),
    )


def _lines(value: JsonValue) -> list[str] | None:
    """A list of texts; None for anything else."""
    if not isinstance(value, list):
        return None
    texts = [one for one in value if isinstance(one, str)]
    return texts if len(texts) == len(value) else None


def references(record: RunRecord | None, ids: Iterable[str]) -> list[Reference]:
    """References to segments; without a record nothing is known of them."""
    if record is None:
        return [Reference(name, known=False) for name in ids]
    return evidence.segments(record, ids)


class Round(NamedTuple):
    """What both personas said in one stage of their exchange."""

    stage: str
    columns: list[tuple[Letter, list[Words]]]

    @property
    def title(self) -> str:
        """``Present``."""
        return words.stage(self.stage)


def exchange(record: RunRecord | None, node: Node) -> list[Round]:
    """Present, respond, revise: a beside b."""
    rounds: list[Round] = []
    for stage in EXCHANGE:
        turns = [turn for turn in node.transcript if turn.stage == stage]
        columns: list[tuple[Letter, list[Words]]] = [
            (letter, [said(record, node, turn) for turn in turns if turn.who == letter])
            for letter in LETTERS
        ]
        if any(spoken for _, spoken in columns):
            rounds.append(Round(stage, columns))
    return rounds


def others(node: Node) -> list[Stage]:
    """What else was said at a topic, reply by reply."""
    shown = (*EXCHANGE, "progress", *(("claims", "relevance") if topic_of(node).claims else ()))
    return [stage for stage in view.stages(node) if stage.name not in shown]


class Made(NamedTuple):
    """A claim as it is shown: what it rests on, and what the other paper says to it."""

    claim: Claim
    evidence: list[Reference]
    counter: list[tuple[Reference, str]]
    """Segments of the other paper, and what they do to the claim."""
    unaddressed: str
    """Why there are none."""
    left_out: list[Reference]
    """Segments that were found for it and have nothing to say on it."""


def claims(record: RunRecord | None, node: Node) -> list[tuple[Letter, list[Made]]]:
    """The claims that were made at a topic, paper by paper; empty where none was."""
    data = topic_of(node)
    made: list[tuple[Letter, list[Made]]] = [
        (who, [_made(record, node, c) for c in data.all_claims if c.paper == who])
        for who in LETTERS
    ]
    return made if data.claims else []


def _made(record: RunRecord | None, node: Node, claim: Claim) -> Made:
    other = "b" if claim.paper == "a" else "a"
    effects = contributions.effects(node, claim.id)
    found = topic_of(node).counter.get(claim.id)
    counter = [
        (ref, words.listed(effects.get(ref.id, []))) for ref in references(record, found or [])
    ]
    why = ""
    if found is None:
        why = f"Not known whether {other} addresses it."
    elif not found:
        why = f"{other} does not address it."
    left_out = [name for name in effects if name not in (found or [])]
    return Made(
        claim, references(record, claim.evidence), counter, why, references(record, left_out)
    )


def relevant(record: RunRecord, node: Node) -> list[Claim]:
    """The claims of its parent that a topic is about."""
    above = record.tree.nodes.get(node.parent or "")
    return contributions.relevant(above, node) if above else []


class Table(NamedTuple):
    """Who contributes what: the topics right below the root, and those further down."""

    parts: list[contributions.Row]
    deeper: list[contributions.Row]


COLUMNS = (("a", "Unique to a"), ("b", "Unique to b"), ("shared", "Shared"))
RULE = (
    "Shared: a claim of one paper that the other paper’s own text supports. Unique: that text is "
    "silent on it, refutes it, or only helps to understand it."
)


def table(record: RunRecord) -> Table | None:
    """The table of contributions; None where nobody made claims."""
    rows = contributions.rows(record.tree) if compares(record) else []
    made = Table([row for row in rows if row.depth <= 1], [row for row in rows if row.depth > 1])
    return made if rows else None


def gave_way(row: contributions.Row) -> str:
    """Who conceded there; a dash where nobody did."""
    if row.topic is None:
        return "–"
    return words.listed(row.conceded) or (
        "–" if topic_of(row.topic).positions else outcome(row.topic)
    )
