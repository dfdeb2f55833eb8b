"""A comparison of two papers as Markdown; its references are links within the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote

from dialectree.records import Node, RunRecord, topic_of
from dialectree.report import contributions, evidence, markdown_parts, topics, words
from dialectree.report.contributions import LETTERS
from dialectree.report.evidence import Reference
from dialectree.report.markdown_text import bold, escaped, quoted, said
from dialectree.report.topics import Made, Said, Words


def anchor(name: str) -> str:
    """A place to jump to; the only markup here that is not Markdown's own."""
    return f'<a id="{name}"></a>'


def place(node: str) -> str:
    """The name of a topic's place."""
    return f"node-{quote(node, safe='.')}"


def _segment_place(name: str) -> str:
    return f"segment-{quote(name.replace(':', '-'), safe='')}"


def _claim_place(home: str, name: str) -> str:
    return f"claim-{quote(f'{home}-{name}', safe='.')}"


def _link(text: str, to: str) -> str:
    return f"[{escaped(text)}](#{to})"


def _topic(ref: Reference) -> str:
    return _link(ref.id, place(ref.id)) if ref.known else escaped(ref.id)


def _segment(ref: Reference) -> str:
    shown = _link(ref.id, _segment_place(ref.id)) if ref.known else escaped(ref.id)
    told = escaped(ref.place).replace("p\\. ", "p. ")  # in brackets it cannot begin a list
    return f"{shown} ({told})" if told else shown


def _segments(refs: Iterable[Reference]) -> str:
    return ", ".join(map(_segment, refs))


def _places(nodes: Iterable[str]) -> str:
    return ", ".join(_link(node, place(node)) for node in nodes)


def papers(record: RunRecord) -> Iterator[str]:
    """Both papers, one line each."""
    if known := topics.papers(record):
        yield "\n".join(
            f"- **{paper.letter}** {escaped(words.line(paper.title, 300)) or '–'}"
            + (f" ({escaped(paper.about)})" if paper.about else "")
            for paper in known
        )


def summary(record: RunRecord, made: topics.Summary) -> Iterator[str]:
    """Similarities, then differences; apart from them what neither paper claims."""
    for name, sentences in made.paragraphs:
        yield f"**{name}**"
        yield " ".join(map(_sentence, sentences))
    if made.proposals:
        yield f"**{topics.PROPOSED}**"
        yield "\n".join(f"> - {_sentence(one)}" for one in made.proposals)
    if faulty := topics.marked(record):
        yield f"⚠ {faulty}."
    gave = [f"**{who}** concedes at {_places(where)}" for who, where in topics.concessions(record)]
    if gave:
        yield f"{'; '.join(gave)}."


def _sentence(one: Said) -> str:
    refs = "; ".join(
        part for part in (", ".join(map(_topic, one.nodes)), _segments(one.segments)) if part
    )
    parts = [f"{anchor(f'sentence-{one.number}')}{escaped(one.text)}"]
    parts += [f"&#91;{refs}&#93;"] if refs else []
    parts += [f"**⚠ {escaped(fault)}**" for fault in one.faults]
    return " ".join(parts)


def table(record: RunRecord) -> Iterator[str]:
    """The contributions: unique to a, unique to b, shared."""
    made = topics.table(record)
    if made is None:
        return
    yield "## Contributions"
    yield f"What the papers claim, topic by topic. {topics.RULE}"
    yield from _table(record, made.parts)
    if made.deeper:
        yield "Further down:"
        yield from _table(record, made.deeper)


def _table(record: RunRecord, rows: Sequence[contributions.Row]) -> Iterator[str]:
    names = ["Topic", *(label for _, label in topics.COLUMNS), "Concedes"]
    lines = [names, ["---"] * len(names)]
    for row in rows:
        topic = "Claims that no topic is about"
        if row.topic is not None:
            title = escaped(words.line(row.topic.text, 200))
            topic = f"{_link(row.topic.id, place(row.topic.id))} {title}"
        cells = [
            "<br>".join(_contribution(record, one) for one in row.column(name)) or "–"
            for name, _ in topics.COLUMNS
        ]
        lines.append([topic, *cells, topics.gave_way(row)])
    yield "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _contribution(record: RunRecord, made: contributions.Contribution) -> str:
    claim = made.claim
    name = _link(claim.id, _claim_place(made.home, claim.id))
    refs = _segments(topics.references(record, made.segments))
    remark = f"{made.remark}: {refs}" if refs else made.remark
    return f"{name} {escaped(words.line(claim.title, 240))} ({remark})"


def row(node: Node) -> str:
    """One topic on one line of the tree, and the last words on the next two."""
    came = topics.outcome(node)
    title = f"{_link(node.id, place(node.id))} {escaped(words.line(node.text, 200))}"
    return f"{title} — {came}" if came else title


def words_of(node: Node) -> Iterator[str]:
    """Both last words in short, for the tree."""
    for held in topic_of(node).positions:
        gives = " (concedes)" if held.concedes else ""
        yield f"**{held.paper}**{gives} {escaped(words.line(held.title, 200)) or '–'}"


def topic(record: RunRecord, node: Node) -> Iterator[str]:
    """A topic from close by."""
    title = escaped(words.line(node.text, 160)) or "–"
    yield f"### {anchor(place(node.id))}{escaped(node.id)} · {title}"
    if words.line(node.text, 160) != node.text.strip():
        yield quoted(node.text)
    if topic_of(node).description:
        yield quoted(topic_of(node).description)
    yield f"{words.label(escaped(topics.course(record, node)))}."
    if about := topics.relevant(record, node):
        names = ", ".join(_link(c.id, _claim_place(node.parent or "", c.id)) for c in about)
        yield f"About {names} of {_places([node.parent or ''])}."
    if topic_of(node).raised_by:
        yield "\n".join(f"- Raised by: {escaped(text)}" for text in topic_of(node).raised_by)
    if topic_of(node).positions:
        yield "\n".join(_positions(record, node))
    elif came := topics.outcome(node):
        yield f"{words.label(came)}."
    notes = [f"- Note: {escaped(note)}" for note in node.notes]
    notes += [f"- {escaped(words.failed(failure))}" for failure in node.failures]
    if notes:
        yield "\n".join(notes)
    yield from _decision(record, node)
    yield from _exchange(record, node)
    yield from _claims(record, node)


def _positions(record: RunRecord, node: Node) -> Iterator[str]:
    """Both last words side by side."""
    both = [topics.position(node, who) for who in LETTERS]
    heads = [
        _head(record, who, held is not None and held.concedes)
        for who, held in zip(LETTERS, both, strict=True)
    ]
    lines = [heads, ["---", "---"]]
    lines.append(
        [
            bold(p.title) if p else topics.silence(node, who)
            for who, p in zip(LETTERS, both, strict=True)
        ]
    )
    lines.append([_cell(p.description) if p else "" for p in both])
    rests = [_segments(topics.references(record, p.evidence)) if p else "" for p in both]
    if any(rests):
        lines.append([f"Rests on {refs}" if refs else "" for refs in rests])
    proposed = ["<br>".join(map(escaped, p.proposals)) if p else "" for p in both]
    if any(proposed):
        lines.append([f"Suggested, beyond either paper: {t}" if t else "" for t in proposed])
    yield from (f"| {left} | {right} |" for left, right in lines)


def _cell(text: str) -> str:
    paragraphs = [escaped(part) for part in words.clean(text).split("\n\n")]
    return "<br>".join(part for part in paragraphs if part) or "–"


def _head(record: RunRecord, who: str, concedes: bool) -> str:
    title = escaped(topics.title(record, who))
    return f"{who}: {title}{' (concedes)' if concedes else ''}"


def _decision(record: RunRecord, node: Node) -> Iterator[str]:
    made = topics.decision(node)
    if made is None:
        return
    yield f"**The moderator: {escaped(topics.course(record, node))}**" + markdown_parts.tagged(
        record, node, made.turn
    )
    if made.explanation:
        yield quoted(made.explanation)
    grounds = [f"- {name}: {answer}" for name, answer in made.grounds]
    if lines := [*grounds, *said(made.rest)]:
        yield "\n".join(lines)


def _exchange(record: RunRecord, node: Node) -> Iterator[str]:
    for part in topics.exchange(record, node):
        yield f"#### {escaped(part.title)}"
        for who, spoken in part.columns:
            if not spoken:
                yield f"**{who}** did not speak."
            for one in spoken:
                gives = " (concedes)" if one.concedes else ""
                yield f"**{who}**{gives}{markdown_parts.tagged(record, node, one.turn)}"
                yield from _words(one)


def _words(one: Words) -> Iterator[str]:
    if one.title:
        yield bold(one.title)
    if one.text:
        yield quoted(one.text)
    lines = [f"- asks: {escaped(text)}" for text in one.questions]
    lines += [f"- rests on {_segments(one.evidence)}"] if one.evidence else []
    lines += [f"- suggests, beyond either paper: {escaped(text)}" for text in one.proposals]
    if lines := [*lines, *said(one.rest)]:
        yield "\n".join(lines)


def _claims(record: RunRecord, node: Node) -> Iterator[str]:
    made = topics.claims(record, node)
    if made:
        yield "#### Claims, made before the split"
    for who, those in made:
        if not those:
            yield f"**{who}** made no claim."
        for one in those:
            yield from _claim(node, one)


def _claim(node: Node, made: Made) -> Iterator[str]:
    claim = made.claim
    yield f"{anchor(_claim_place(node.id, claim.id))}**{escaped(claim.id)}** {bold(claim.title)}"
    yield quoted(claim.description)
    lines = [f"- shown by {_segments(made.evidence)}"] if made.evidence else []
    counter = [f"{_segment(ref)} {does}".rstrip() for ref, does in made.counter]
    lines += [f"- the other paper: {', '.join(counter)}"] if counter else []
    lines += [f"- {made.unaddressed}"] if made.unaddressed else []
    lines += [f"- left out: {_segments(made.left_out)}"] if made.left_out else []
    if lines:
        yield "\n".join(lines)


def appendix(record: RunRecord) -> Iterator[str]:
    """Every segment that something rests on."""
    cited, left = evidence.cited(record), evidence.uncited(record)
    if not cited and not left:
        return
    yield "## Evidence"
    for one in cited:
        yield from _cited(record, one)
    if left:
        names = ", ".join(f"{anchor(_segment_place(s.id))}{escaped(s.id)}" for s in left)
        yield f"{words.count(len(left), 'segment')} found and never cited: {names}."


def _cited(record: RunRecord, one: evidence.Cited) -> Iterator[str]:
    name, heading = one.segment.id, words.line(one.segment.heading or "", 160)
    about = [one.reference.place, heading, evidence.latex(record, one.segment)]
    told = " · ".join(escaped(part) for part in about if part)
    yield f"{anchor(_segment_place(name))}{bold(name)}{f' · {told}' if told else ''}"
    if one.segment.contested:
        yield "**In a person’s words, not the paper’s.**"
    yield quoted(one.segment.text)
    lines = []
    if one.sentences:
        numbers = ", ".join(_link(str(n), f"sentence-{n}") for n in one.sentences)
        lines.append(f"- sentence {numbers}")
    if one.topics:
        lines.append(f"- arguments at {_places(one.topics)}")
    for verb, claims in (("shows", one.claims), ("speaks to", one.counters)):
        if claims:
            names = [f"{_link(c, _claim_place(home, c))} of {escaped(home)}" for home, c in claims]
            lines.append(f"- {verb} {', '.join(names)}")
    if one.hits:
        lines.append(f"- retrieved: {escaped(one.found)}")
    if lines:
        yield "\n".join(lines)
