"""The terminal's words for comparisons of two papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from dialectree.records import Node, RunRecord, segment_key, topic_of
from dialectree.report import contributions, terminal_parts, topics, words
from dialectree.report.contributions import LETTERS
from dialectree.report.drawing import ACCENT, BAD, SECOND, SHOWN, SOFT, WARN, entries
from dialectree.report.evidence import Reference

_INKS = {"a": ACCENT, "b": SECOND}
_ROOM = 56
"""Columns that two texts side by side need; with fewer they stand one above the other."""


class SideBySide:
    """What paper a and paper b say, in two columns where there is room."""

    def __init__(self, a: RenderableType, b: RenderableType) -> None:
        self._both = a, b

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """One row of a table, or two texts."""
        if options.max_width < _ROOM:
            yield from self._both
            return
        grid = Table.grid(padding=(0, 2, 0, 0), expand=True)
        grid.add_column(ratio=1)
        grid.add_column(ratio=1)
        grid.add_row(*self._both)
        yield grid


def _ink(letter: str) -> str:
    return _INKS.get(letter, ACCENT)


def papers(record: RunRecord) -> Iterator[Text]:
    """Both papers, one line each."""
    for paper in topics.papers(record):
        told = f"  {paper.about}" if paper.about else ""
        title = words.line(paper.title, SHOWN) or "–"
        yield Text.assemble((f"{paper.letter} ", _ink(paper.letter)), title, (told, SOFT))


def row(record: RunRecord, node: Node) -> Iterator[RenderableType]:
    """A topic of the tree, with both last words side by side."""
    came = topics.outcome(node)
    failed = node.status == "missing" and not node.dropped
    title = words.line(node.text, SHOWN) or "–"
    told = (f"  {came}", BAD if failed else SOFT) if came else ""
    yield Text.assemble((f"{words.line(node.id, 40)} ", ACCENT), (title, "bold"), told)
    yield Text(words.line(topics.course(record, node), 120), SOFT)
    if topic_of(node).positions:
        yield SideBySide(*(_brief(node, letter) for letter in LETTERS))


def _brief(node: Node, letter: str) -> Text:
    held = topics.position(node, letter)
    if held is None:
        return Text.assemble((f"{letter} ", _ink(letter)), (topics.silence(node, letter), SOFT))
    gives = (" · concedes", WARN) if held.concedes else ""
    title = words.line(held.title, SHOWN) or "–"
    return Text.assemble((f"{letter} ", _ink(letter)), title, gives)


def table(record: RunRecord) -> Iterator[RenderableType]:
    """The contributions by topic: unique to a, unique to b, shared."""
    made = topics.table(record)
    if made is None:
        return
    yield Rule(Text("Contributions", "bold"), align="left", style=SOFT)
    for part in made.parts:
        name = "Claims that no topic is about"
        if part.topic is not None:
            name = f"{part.topic.id} {part.topic.text}"
        gave = topics.gave_way(part)
        told = f"  {gave} conceded" if part.conceded else ""
        yield Text.assemble((words.line(name, SHOWN), "bold"), (told, WARN))
        for column, label in topics.COLUMNS:
            yield from _contributions(label, part.column(column))
    if made.deeper:
        yield Text(f"{words.count(len(made.deeper), 'topic')} further down: see the report", SOFT)
    yield Text()


def _contributions(
    label: str, those: Sequence[contributions.Contribution]
) -> Iterator[RenderableType]:
    for made in those:
        named = ", ".join(sorted(made.segments, key=segment_key))
        segments = f": {named}" if named else ""
        said = Text.assemble(
            (f"{label}: ", SOFT),
            (f"{words.line(made.claim.id, 20)} ", _ink(made.claim.paper)),
            words.line(made.claim.title, SHOWN),
            (f" ({made.remark}{segments})", SOFT),
        )
        yield Padding(said, (0, 0, 0, 2), expand=False)


def summary(record: RunRecord, made: topics.Summary) -> Iterator[RenderableType]:
    """Similarities, differences, and apart from them what neither paper claims."""
    for name, sentences in made.paragraphs:
        yield Text(name, SOFT)
        yield Text(" ").join(map(_sentence, sentences))
        yield Text()
    if made.proposals:
        yield Text(topics.PROPOSED, SOFT)
        for one in made.proposals:
            yield Padding(Text.assemble("· ", _sentence(one)), (0, 0, 0, 2), expand=False)
        yield Text()
    if faulty := topics.marked(record):
        yield Text(faulty, WARN)
    for who, where in topics.concessions(record):
        told = words.line(f"concedes at {', '.join(where)}", SHOWN)
        yield Text.assemble((f"{who} ", _ink(who)), told)
    yield from (Text(f"note: {words.clean(note)}", WARN) for note in topics.remarks(record))


def _sentence(one: topics.Said) -> Text:
    shown = Text(words.clean(one.text), "bold")
    if one.references:
        shown = Text.assemble(shown, " ", (one.references, SOFT))
    for fault in one.faults:
        shown = Text.assemble(shown, " ", (f"[marked: {words.line(fault, SHOWN)}]", BAD))
    return shown


def topic(record: RunRecord | None, node: Node) -> Iterator[RenderableType]:
    """A topic from close by; without a record segments are known by their ids only."""
    yield Text.assemble((f"{words.line(node.id, 40)} ", ACCENT), (words.clean(node.text), "bold"))
    if topic_of(node).description:
        yield Text(words.clean(topic_of(node).description))
    if record is not None:
        yield Text(words.line(topics.course(record, node), 120), SOFT)
        if about := ", ".join(claim.id for claim in topics.relevant(record, node)):
            yield Text(f"about {words.line(about, SHOWN)} of {node.parent}", SOFT)
    for text in topic_of(node).raised_by:
        yield Text.assemble(("raised by: ", SOFT), words.clean(text))
    if topic_of(node).positions:
        yield SideBySide(*(_position(record, node, letter) for letter in LETTERS))
    elif came := topics.outcome(node):
        yield Text(came, WARN)


def _position(record: RunRecord | None, node: Node, letter: str) -> RenderableType:
    held = topics.position(node, letter)
    title = topics.title(record, letter)
    gives = (" · concedes", WARN) if held is not None and held.concedes else ""
    head = Text.assemble((letter, f"bold {_ink(letter)}"), (f" {title}", SOFT), gives)
    if held is None:
        return Group(head, Text(topics.silence(node, letter), SOFT))
    parts = [head, Text(words.clean(held.title), "bold"), Text(words.clean(held.description))]
    parts += _resting(topics.references(record, held.evidence))
    parts += [Text.assemble((_BEYOND, SOFT), words.clean(text)) for text in held.proposals]
    return Group(*parts)


_BEYOND = "suggested, beyond either paper: "


def _resting(refs: Sequence[Reference], verb: str = "rests on") -> list[Text]:
    named = ", ".join(_named(ref) for ref in refs)
    return [Text(f"{verb} {words.line(named, 2000)}", SOFT)] if named else []


def _named(ref: Reference) -> str:
    return f"{ref.id} ({ref.place})" if ref.place else ref.id


def parts(record: RunRecord | None, node: Node) -> Iterator[RenderableType]:
    """What was said at a topic: the moderator's decision, the exchange, the claims."""
    yield from _decision(record, node)
    for held in topics.exchange(record, node):
        yield from _titled(held.title)
        yield SideBySide(*(_column(record, node, *column) for column in held.columns))
    made = topics.claims(record, node)
    if made:
        yield from _titled("Claims, made before the split")
        yield SideBySide(*(_claims(who, those) for who, those in made))


def _titled(title: str) -> Iterator[RenderableType]:
    yield from (Text(), Rule(Text(words.line(title, 60), "bold"), align="left", style=SOFT))


def _decision(record: RunRecord | None, node: Node) -> Iterator[RenderableType]:
    made = topics.decision(node)
    if made is None:
        return
    yield from _titled("Whether to go on")
    speaker = Text("The moderator", f"bold {ACCENT}")
    yield Text.assemble(speaker, terminal_parts.tagged(record, node, made.turn))
    if made.explanation:
        yield Text(words.clean(made.explanation))
    for name, answer in made.grounds:
        yield Text.assemble((f"  {name}: ", SOFT), answer)
    yield from entries(made.rest)


def _column(
    record: RunRecord | None, node: Node, letter: str, spoken: Sequence[topics.Words]
) -> RenderableType:
    shown: list[RenderableType] = []
    for said in spoken:
        gives = (" concedes", WARN) if said.concedes else ""
        tag = terminal_parts.tagged(record, node, said.turn)
        shown.append(Text.assemble((letter, f"bold {_ink(letter)}"), gives, tag))
        shown += [Text(words.clean(said.title), "bold")] if said.title else []
        shown += [Text(words.clean(said.text))] if said.text else []
        shown += [Text.assemble(("asks: ", SOFT), words.clean(text)) for text in said.questions]
        shown += _resting(said.evidence)
        shown += [Text.assemble((_BEYOND, SOFT), words.clean(text)) for text in said.proposals]
        shown += entries(said.rest)
    silent = Text.assemble((letter, f"bold {_ink(letter)}"), (" did not speak", SOFT))
    return Group(*(shown or [silent]))


def _claims(letter: str, those: Sequence[topics.Made]) -> RenderableType:
    shown: list[RenderableType] = []
    for made in those:
        name = (f"{words.line(made.claim.id, 20)} ", _ink(letter))
        shown.append(Text.assemble(name, (words.clean(made.claim.title), "bold")))
        shown.append(Text(words.clean(made.claim.description)))
        shown += _resting(made.evidence, "shown by")
        counter = ", ".join(f"{_named(ref)} {does}".rstrip() for ref, does in made.counter)
        shown += [Text(f"the other paper: {words.line(counter, 2000)}", SOFT)] if counter else []
        shown += [Text(made.unaddressed, SOFT)] if made.unaddressed else []
        shown += _resting(made.left_out, "left out:")
    silent = Text.assemble((letter, f"bold {_ink(letter)}"), (" made no claim", SOFT))
    return Group(*(shown or [silent]))
