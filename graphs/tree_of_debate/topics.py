"""Show a comparison of two papers: summary, topics, exchange, contributions and evidence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pydantic import BaseModel

from dialectree.records import (
    Claim,
    Letter,
    Node,
    Position,
    RunRecord,
    Segment,
    Sentence,
    Tree,
    Turn,
    fitting,
    path_key,
    segment_key,
    topic_of,
)
from dialectree.report import view, words
from dialectree.report.view import Entry, Stage
from dialectree.text import count, label, line, listed

LETTERS: tuple[Letter, Letter] = ("a", "b")
PROPOSED = "Suggested in the debate, claimed by neither paper"
COLUMNS = (("a", "Unique to a"), ("b", "Unique to b"), ("shared", "Shared"))
RULE = (
    "Shared: a claim of one paper that the other paper’s own text supports. Unique: that text is "
    "silent on it, refutes it, or only helps to understand it."
)
_EFFECTS = ("supports", "refutes", "clarifies")
_GROUNDS = {
    "progression_of_arguments": "The arguments moved on",
    "meaningful_questions": "Questions that matter are open",
    "clear_winner": "One paper has clearly won",
}


# What every report asks of a view


def introduction(record: RunRecord) -> list[str]:
    """Return the papers, each in a line."""
    return [f"Paper {paper.letter}: {paper.title}" for paper in papers(record)]


def answer(record: RunRecord) -> list[str]:
    """Return the outcome in plain paragraphs: the summary with its references, then the papers."""
    made, verdict = summary(record), record.verdict
    if made is not None:
        texts = [" ".join(one.plain for one in part) for _, part in made.paragraphs]
        if made.proposals:
            texts.append("\n".join([f"{PROPOSED}:", *(f"- {s.plain}" for s in made.proposals)]))
    else:
        texts = [verdict.answer] if verdict is not None and verdict.answer else []
        texts += [verdict.rationale] if texts and verdict and verdict.rationale else []
    known = [f"{p.letter}: {line(p.title, 200)} ({p.about})" for p in papers(record)]
    return [*texts, *(["\n".join(known)] if texts and known else [])]


def notes(record: RunRecord) -> list[str] | None:
    """Return the notes on the verdict that the summary does not show by itself."""
    if summary(record) is None or record.verdict is None:
        return None
    known = {f"paper {who} conceded at {', '.join(where)}" for who, where in concessions(record)}
    return [
        one for one in record.verdict.notes if one not in known and not one.endswith(" are marked")
    ]


def heading(record: RunRecord) -> str:
    """Return the heading above the details of the nodes."""
    return "The topics" if any(map(shows, record.tree.nodes.values())) else "The replies"


def shows(node: Node) -> bool:
    """Return whether ``node`` is a topic, which the view shows itself."""
    return node.kind == "topic"


# The papers and their segments


class _GivenPaper(BaseModel):
    """One paper of a run's input."""

    title: str = ""
    name: str = ""
    abstract: str = ""
    key: str | None = None


class Paper(NamedTuple):
    """One of the two papers."""

    letter: Letter
    title: str
    name: str
    """The name of its file."""
    key: str
    """Its BibTeX key; empty without one."""
    abstract: str
    cited: int
    """How many of its segments are cited."""

    @property
    def about(self) -> str:
        """``gp-a.txt · rahimi2007 · 12 segments cited``."""
        cited = f"{count(self.cited, 'segment')} cited" if self.cited else ""
        return " · ".join(line(part, 120) for part in (self.name, self.key, cited) if part)


def papers(record: RunRecord) -> list[Paper]:
    """Return both papers."""
    used = [entry.segment.id[:1] for entry in cited(record)]
    return [
        Paper(who, paper.title, paper.name, key(record, who), paper.abstract, used.count(who))
        for who in LETTERS
        if (paper := _paper(record, who))
    ]


def _paper(record: RunRecord | None, letter: str) -> _GivenPaper | None:
    both = record.input.get("papers") if record is not None else None
    papers = dict(zip("ab", both if isinstance(both, list) else [], strict=False))
    return fitting(_GivenPaper, papers[letter]) if letter in papers else None


def title(record: RunRecord | None, letter: str, limit: int = 90) -> str:
    """Return the title of a paper, shortened; empty without one."""
    paper = _paper(record, letter)
    return line(paper.title, limit) if paper else ""


def key(record: RunRecord, letter: str) -> str:
    """Return the BibTeX key of a paper; empty without one."""
    paper = _paper(record, letter)
    return line(paper.key or "", 80) if paper else ""


def latex(record: RunRecord, cited: Segment) -> str:
    r"""``\cite[p.~3]{rahimi2007}``; empty without a key."""
    known = key(record, cited.id[:1])
    page = f"[p.~{cited.page}]" if cited.page is not None else ""
    return rf"\cite{page}{{{known}}}" if known else ""


class Reference(NamedTuple):
    """A reference to a topic or a segment."""

    id: str
    known: bool
    """True if the report has a place for it."""
    place: str = ""
    """``rahimi2007, p. 3``; ``p. 3`` without a key, empty without a page."""
    about: str = ""
    """How the text begins."""

    def __str__(self) -> str:
        return f"{self.id} ({self.place})" if self.place else self.id


def segment(record: RunRecord, name: str) -> Reference:
    """Return a reference to a segment, by BibTeX key and page."""
    found = record.tree.segments.get(name)
    if found is None:
        return Reference(name, known=False)
    page = f"p. {found.page}" if found.page is not None else ""
    place = ", ".join(part for part in (key(record, name[:1]), page) if part)
    return Reference(name, known=True, place=place, about=line(found.text, 200))


def references(record: RunRecord | None, ids: Iterable[str]) -> list[Reference]:
    """Return references to segments in the order of the papers; a paper's key stands once."""
    if record is None:
        return [Reference(name, known=False) for name in ids]
    keyed: set[str] = set()
    found: list[Reference] = []
    for name in sorted(ids, key=segment_key):
        ref, letter = segment(record, name), name[:1]
        if letter in keyed:
            ref = ref._replace(place=ref.place.removeprefix(key(record, letter)).lstrip(", "))
        if ref.known:
            keyed.add(letter)
        found.append(ref)
    return found


class Cited(NamedTuple):
    """A segment, and what cites it."""

    segment: Segment
    reference: Reference
    sentences: list[int]
    """Sentences of the summary, by number."""
    topics: list[str]
    """The ids of the topics where an argument cites it."""
    claims: list[tuple[str, str]]
    """Claims that it shows, each with the topic at which it was made."""
    counters: list[tuple[str, str]]
    """Claims of the other paper that it speaks to."""


def cited(record: RunRecord) -> list[Cited]:
    """Return every segment that is cited, in the order of the papers."""
    nodes = record.tree.nodes.values()
    topics = {node.id: topic_of(node) for node in nodes}
    arguments = {node.id: _argued(node) for node in nodes}
    sentences = list(enumerate(_sentences(record), 1)) if summary(record) is not None else []
    claims = [(node, claim) for node, topic in topics.items() for claim in topic.all_claims]
    found: list[Cited] = []
    for name, one in sorted(record.tree.segments.items(), key=lambda item: segment_key(item[0])):
        entry = Cited(
            one,
            segment(record, name),
            [number for number, sentence in sentences if name in sentence.segments],
            [node for node, used in arguments.items() if name in used],
            [(node, claim.id) for node, claim in claims if name in claim.evidence],
            [(at, c.id) for at, c in claims if name in topics[at].counter.get(c.id, [])],
        )
        if entry.sentences or entry.topics or entry.claims or entry.counters:
            found.append(entry)
    return found


def uncited(record: RunRecord) -> list[Segment]:
    """Return the segments that were retrieved and never cited."""
    used = {entry.segment.id for entry in cited(record)}
    return [one for name, one in record.tree.segments.items() if name not in used]


def _argued(node: Node) -> set[str]:
    """Return the segments that the arguments at a topic cite."""
    replies = [_argument(turn).evidence for turn in node.transcript if _argues(turn)]
    positions = [position.evidence for position in topic_of(node).positions]
    return {name for evidence in (*replies, *positions) for name in evidence}


# The summary


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
        both = (", ".join(map(str, refs)) for refs in (self.nodes, self.segments))
        named = "; ".join(part for part in both if part)
        return f"[{line(named, 2000)}]" if named else ""

    @property
    def plain(self) -> str:
        """The sentence with its references and its faults."""
        faults = f"[marked: {'; '.join(self.faults)}]" if self.faults else ""
        return " ".join(part for part in (self.text, self.references, faults) if part)


class Summary(NamedTuple):
    """The outcome of a comparison: two paragraphs, and the proposals."""

    similarities: list[Said]
    differences: list[Said]
    proposals: list[Said]

    @property
    def paragraphs(self) -> list[tuple[str, list[Said]]]:
        """The similarities, then the differences."""
        both = [("What they share", self.similarities), ("What sets them apart", self.differences)]
        return [(name, said) for name, said in both if said]


def _sentences(record: RunRecord) -> list[Sentence]:
    root = record.tree.nodes.get(record.tree.root)
    return topic_of(root).sentences if root is not None else []


def summary(record: RunRecord) -> Summary | None:
    """Return the comparison by sentence; None without sentences, or if a person overruled it."""
    sentences = _sentences(record)
    answer = record.verdict.answer if record.verdict is not None else None
    own = [one.text for one in sentences if one.part != "proposal"]
    if not sentences or (answer is not None and not all(text in answer for text in own)):
        return None
    parts: dict[str, list[Said]] = {"similarity": [], "difference": [], "proposal": []}
    for number, one in enumerate(sentences, 1):
        nodes = [_topic(record, name) for name in sorted(one.nodes, key=path_key)]
        segments = references(record, one.segments)
        parts[one.part].append(Said(number, one.text, nodes, segments, one.faults))
    return Summary(*parts.values())


def _topic(record: RunRecord, name: str) -> Reference:
    node = record.tree.nodes.get(name)
    return Reference(name, node is not None, about=line(node.text, 160) if node else "")


def marked(record: RunRecord) -> str:
    """``2 of 9 sentences are marked``; empty if none is."""
    sentences = _sentences(record)
    faulty = sum(bool(one.faults) for one in sentences)
    verb = "is" if faulty == 1 else "are"
    return f"{faulty} of {count(len(sentences), 'sentence')} {verb} marked" if faulty else ""


# One topic


def conceded(node: Node) -> list[Letter]:
    """Return the papers that concede in their last word."""
    return sorted(one.paper for one in topic_of(node).positions if one.concedes)


def concessions(record: RunRecord) -> list[tuple[Letter, list[str]]]:
    """Return the papers that conceded, each with the ids of the topics."""
    nodes = record.tree.nodes.values()
    found: list[tuple[Letter, list[str]]] = []
    for who in LETTERS:
        if where := [node.id for node in nodes if who in conceded(node)]:
            found.append((who, where))
    return found


def outcome(node: Node) -> str:
    """Return what came of a topic's debate: ``b concedes``, ``neither concedes``."""
    gave, positions = conceded(node), topic_of(node).positions
    if node.dropped:
        return "dropped by a person"
    if not positions and node.parent is None:
        return ""
    if not positions:
        return "no argument" if node.status == "missing" else "not debated yet"
    if len(gave) == 2:
        return "both concede"
    if gave:
        return f"{gave[0]} concedes"
    return "neither concedes" if len(positions) > 1 else f"only {positions[0].paper} argues"


def position(node: Node, letter: str) -> Position | None:
    """Return a persona's last word."""
    return next((one for one in topic_of(node).positions if one.paper == letter), None)


def silence(node: Node, letter: str) -> str:
    """Return why a persona has no last word at a topic.

    A failure does not name its phase. If both arguments were dropped, another reply failed.
    """
    if node.status == "open":
        return "Not heard yet."
    failed = any((one.role, one.speaker) == ("persona", letter) for one in node.failures)
    dropped = [n for n in node.notes if n.startswith(f"{node.id}/{letter}1/") and "dropped" in n]
    if failed and len(dropped) < 2:
        return "Its argument failed for good."
    return "A person dropped its argument."


def course(record: RunRecord, node: Node) -> str:
    """Return whether a topic was split, or why it was not."""
    if node.children:
        return f"split into {count(len(node.children), 'topic')}"
    if node.dropped:
        return "not split: dropped by a person"
    if node.stopped:
        return f"not split: {words.why(record, node.stopped)}"
    done = node.status != "open" or record.status not in ("running", "partial")
    return "not split" if done else "not split yet"


class Decision(NamedTuple):
    """The moderator's decision whether a debate should go on."""

    turn: Turn
    explanation: str
    grounds: list[tuple[str, str]]
    """What it was asked, and its yes or no."""
    rest: list[Entry]


def decision(node: Node) -> Decision | None:
    """Return the moderator's decision at a topic; None without one."""
    turn = next((turn for turn in node.transcript if "clear_winner" in turn.fields), None)
    if turn is None:
        return None
    answers = {field: "yes" if turn.fields.get(field) else "no" for field in _GROUNDS}
    asked = any(_argument(turn).questions for turn in node.transcript if _argues(turn))
    if answers["meaningful_questions"] == "yes" and not asked:
        answers["meaningful_questions"] = "yes, but nobody asked one: it counts as no"
    grounds = [(name, answers[field]) for field, name in _GROUNDS.items()]
    rest = view.entries(turn, node, {}, {*_GROUNDS, "explanation"})
    return Decision(turn, str(turn.fields.get("explanation", "")), grounds, rest)


class _Argument(BaseModel):
    """The fields of a persona's reply."""

    title: str = ""
    description: str = ""
    evidence: list[str] = []
    questions: list[str] = []
    proposals: list[str] = []
    concedes: bool = False


def _argues(turn: Turn) -> bool:
    """Return whether ``turn`` is part of the exchange: there a persona may concede."""
    return "concedes" in turn.fields


def _argument(turn: Turn) -> _Argument:
    return fitting(_Argument, turn.fields)


class Words(NamedTuple):
    """One turn of a persona in the exchange."""

    turn: Turn
    title: str
    text: str
    evidence: list[Reference]
    questions: list[str]
    proposals: list[str]
    concedes: bool
    rest: list[Entry]
    """Fields of another protocol's."""


class Round(NamedTuple):
    """The turns of both personas in one phase of their exchange."""

    phase: str
    columns: list[tuple[Letter, list[Words]]]

    @property
    def title(self) -> str:
        """``Present``."""
        return label(self.phase)


def exchange(record: RunRecord | None, node: Node) -> list[Round]:
    """Return the exchange of a topic phase by phase, a beside b."""
    turns = [turn for turn in node.transcript if _argues(turn)]
    return [
        Round(
            phase,
            [(who, [_words(record, node, t) for t in turns if (t.phase, t.speaker) == (phase, who)])
             for who in LETTERS],
        )
        for phase in dict.fromkeys(turn.phase for turn in turns)
    ]  # fmt: skip


def _words(record: RunRecord | None, node: Node, turn: Turn) -> Words:
    argument = _argument(turn)
    return Words(
        turn,
        argument.title,
        argument.description,
        references(record, dict.fromkeys(argument.evidence)),
        argument.questions,
        argument.proposals,
        argument.concedes,
        view.entries(turn, node, {}, argument.model_fields_set),
    )


def others(node: Node) -> list[Stage]:
    """Return the phases of a topic that are shown by reply."""
    shown = {turn.phase for turn in node.transcript if _argues(turn)}
    shown |= {turn.phase for turn in node.transcript if "clear_winner" in turn.fields}
    if topic_of(node).claims:
        claimed = ({"claims"}, {"claim", "segments"})
        shown |= {t.phase for t in node.transcript if any(c <= t.fields.keys() for c in claimed)}
    return [stage for stage in view.stages(None, node) if stage.name not in shown]


# Claims


class Made(NamedTuple):
    """A claim, with its evidence and what the other paper says to it."""

    claim: Claim
    evidence: list[Reference]
    counter: list[tuple[Reference, str]]
    """Segments of the other paper, and what they do to the claim."""
    unaddressed: str
    """Why there are none."""
    left_out: list[Reference]
    """Segments that were retrieved for it and have nothing to say on it."""


def claims(record: RunRecord | None, node: Node) -> list[tuple[Letter, list[Made]]]:
    """Return the claims that were made at a topic, by paper; empty without claims."""
    made = topic_of(node).claims
    return [(who, [_made(record, node, c) for c in made.get(who, [])]) for who in LETTERS if made]


def _made(record: RunRecord | None, node: Node, claim: Claim) -> Made:
    effects, counter = _effects(node, claim.id), topic_of(node).counter.get(claim.id)
    left_out = [name for name in effects if name not in (counter or [])]
    remark = _remark(claim, counter, [])
    return Made(
        claim,
        references(record, claim.evidence),
        [(r, listed(effects.get(r.id, []))) for r in references(record, counter or [])],
        "" if counter else f"{remark.replace('not known', 'Not known')}.",
        references(record, left_out),
    )


def _effects(home: Node, claim: str) -> dict[str, list[str]]:
    """Return what each segment of the other paper does to a claim, by the replies at ``home``."""
    weighed = [
        fitting(_Weighed, turn.fields).segments
        for turn in home.transcript
        if turn.fields.get("claim") == claim and "segments" in turn.fields
    ]
    return {
        one.get("id", ""): [effect for effect in _EFFECTS if one.get(effect) == "yes"]
        for segments in weighed
        for one in segments
    }


class _Weighed(BaseModel):
    """A reply that weighs segments against a claim, each effect yes or no."""

    segments: list[dict[str, str]] = []


def _remark(claim: Claim, counter: list[str] | None, effects: list[str]) -> str:
    other = "b" if claim.paper == "a" else "a"
    if counter is None:
        return f"not known whether {other} addresses it"
    if not counter:
        return f"{other} does not address it"
    return f"{other} {listed(effects) or 'speaks to'} it"


def relevant(record: RunRecord, node: Node) -> list[Claim]:
    """Return the claims of its parent that a topic is about."""
    above = record.tree.nodes.get(node.parent or "")
    return _about(above, node) if above else []


def _about(above: Node, node: Node) -> list[Claim]:
    named = topic_of(node).relevant
    return [claim for claim in topic_of(above).all_claims if claim.id in named]


class Contribution(NamedTuple):
    """A claim, and what the other paper does to it."""

    home: str
    """The id of the topic at which it was made."""
    claim: Claim
    remark: str
    """``b does not address it``, ``b supports and clarifies it``."""
    segments: list[str]
    """The ids of the segments of the other paper that speak to it."""


class Row(NamedTuple):
    """One topic and its claims by column; without a topic, the claims that no topic is about."""

    topic: Node | None
    columns: dict[str, list[Contribution]]

    def column(self, name: str) -> list[Contribution]:
        """Return the claims under ``a``, ``b`` or ``shared``."""
        return self.columns[name]


def rows(tree: Tree) -> list[Row]:
    """Return every topic that is about claims, level by level; claims of no topic come last.

    The claims of a topic are its parent's, so the root has no row of its own.
    """
    found: list[Row] = []
    topics = [node for node in tree.nodes.values() if shows(node)]
    for node in sorted(topics, key=lambda node: (node.depth, path_key(node.id))):
        above = tree.nodes.get(node.parent or "")
        if above is not None and (about := _about(above, node)):
            found.append(_row(node, above, about))
    root = tree.nodes.get(tree.root)
    if root is not None:
        below = [tree.nodes[child] for child in root.children if child in tree.nodes]
        taken = {name for child in below for name in topic_of(child).relevant}
        if left := [claim for claim in topic_of(root).all_claims if claim.id not in taken]:
            found.append(_row(None, root, left))
    return found


def _row(topic: Node | None, home: Node, claims: list[Claim]) -> Row:
    """Sort claims into columns: a claim is shared if the other paper's segments support it.

    If no reply says what the segments do to the claim, it is shared if there are any.
    """
    row = Row(topic, {name: [] for name, _ in COLUMNS})
    for claim in claims:
        counter = topic_of(home).counter.get(claim.id)
        weighed = {effect for done in _effects(home, claim.id).values() for effect in done}
        effects = [effect for effect in _EFFECTS if effect in weighed]
        shared = bool(counter) and ("supports" in effects or not effects)
        made = Contribution(home.id, claim, _remark(claim, counter, effects), counter or [])
        row.columns["shared" if shared else claim.paper].append(made)
    return row


def gave_way(row: Row) -> str:
    """Return who conceded at the topic of a row; a dash if nobody did."""
    if row.topic is None:
        return "–"
    silent = "–" if topic_of(row.topic).positions else outcome(row.topic)
    return listed(conceded(row.topic)) or silent
