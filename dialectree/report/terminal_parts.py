"""The terminal's words for role-switching debates and for argument trees."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from dialectree.records import Contest, Node, RunRecord, Turn
from dialectree.report import arguments, contested, exchange, words
from dialectree.report.drawing import (
    ACCENT,
    BAD,
    SECOND,
    SHOWN,
    SOFT,
    WARN,
    bar,
    confidence,
    entries,
    gauge,
)


def options(record: RunRecord) -> Iterator[Text]:
    """The answers to choose from, with their letters and what became of them."""
    for option in exchange.options(record):
        remarks = f"  {'; '.join(option.remarks)}" if option.remarks else ""
        said = words.line(option.text, SHOWN)
        yield Text.assemble((f"{option.letter} ", ACCENT), said, (remarks, SOFT))


def contest(record: RunRecord) -> Iterator[RenderableType]:
    """What a person changed in another run, and what that did."""
    made = record.contest
    if made is None:
        return
    yield Rule(Text("Contested", "bold"), align="left", style=SOFT)
    yield Text(f"This contests run {words.line(made.run, 80)}.")
    if contested.debated(made):
        yield from _contested(record, made)
        return
    yield from (Text(f"· {words.line(change, 2000)}") for change in made.changes)
    yield Text(f"P(claim) {arguments.outcome(made)}", "bold")
    yield from ([Text(words.clean(made.why))] if made.why else [])
    for step in arguments.moved(record):
        moved = words.move(step.before, step.after)
        yield Text.assemble(
            ("  ", ""), (f"{step.node} ", ACCENT), f"{moved} ", (words.line(step.text, 48), SOFT)
        )
    yield Text()


def _contested(record: RunRecord, made: Contest) -> Iterator[RenderableType]:
    """A debate before and after."""
    yield from (Text(words.line(change, 200), ACCENT) for change in contested.restored(made))
    for text in contested.texts(made):
        yield Text(words.line(text.title, 200), ACCENT)
        yield from _both(text.before, text.after)
    yield Text("The verdict", "bold")
    yield from _both(*contested.verdicts(made))
    yield from ([Text(words.clean(made.why))] if made.why else [])
    for step in contested.steps(record):
        yield Text.assemble((f"{words.line(step.node, 40)} ", ACCENT), words.line(step.text, SHOWN))
        yield from _both(step.before, step.after)
    yield Text(contested.anew(record), SOFT)
    yield Text()


def _both(before: str, after: str) -> Iterator[Text]:
    yield Text.assemble(("  before: ", SOFT), words.line(before, SHOWN) or "–")
    yield Text.assemble(("  after:  ", SOFT), words.line(after, SHOWN) or "–")


def probability(record: RunRecord) -> Iterator[Text]:
    """``P(claim) ████│░░░░ 0.41, below the threshold 0.5: False``, and how it was reckoned."""
    share = record.verdict.confidence if record.verdict is not None else None
    if words.probable(record.verdict) and share is not None:
        drawn = Text.assemble(gauge(share, 16), f" {words.figure(share)}")
        yield Text.assemble(("P(claim) ", SOFT), drawn, (f" · {words.threshold(share)}", SOFT))
    trees = arguments.roots(record)
    if trees:
        means = ", ".join(f"{tree.id} {words.figure(tree.score('strength'))}" for tree in trees)
        yield Text(f"The mean of {words.count(len(trees), 'tree')}: {means}", SOFT)
    if how := arguments.reckoning(record):
        yield Text(" · ".join(how), SOFT)


def argument(record: RunRecord | None, node: Node, *, whole: bool = False) -> Iterator[Text]:
    """``0.1 ✗ attacks  τ 0.68 → τ′ 0.59 → s 0.41 ███░░``, the text, whom it beat."""
    text = words.clean(node.text) if whole else words.line(node.text, SHOWN)
    out = arguments.remark(record, node)
    style = SOFT if arguments.standing(record, node) else ""
    name = Text.assemble((f"{words.line(node.id, 40)} ", ACCENT))
    if node.stance:
        name.append(
            f"{words.stance(node.stance)}  ", ACCENT if node.stance == "support" else SECOND
        )
    chain = arguments.chain(node)
    strength = node.score("strength")
    if strength is not None:
        drawn = (gauge if node.kind == "claim" else bar)(strength, 8)
        yield Text.assemble(name, f"{chain} ", drawn)
    else:
        style_of_none = "" if node.dropped else BAD if node.status == "missing" else WARN
        yield Text.assemble(name, f"{chain} ", (arguments.unweighed(node), style_of_none))
    if out:
        yield Text(out, WARN)
    yield Text(text or "–", "strike" if node.dropped else style)
    if edges := arguments.edges(record, node):
        yield Text(" · ".join(edges), SOFT)
    yield from (Text(words.declined(side), SOFT) for side in words.declined_sides(node))


def meetings(record: RunRecord | None, node: Node) -> Iterator[Text]:
    """Who among the arguments below ``node`` beat whom, and why."""
    met = arguments.meetings(record, node)
    if met:
        yield Text("Supporters against attackers", SOFT)
    for meeting in met:
        ended = f"{meeting.supporter} {meeting.verb} {meeting.attacker}"
        remarks = f" ({'; '.join(meeting.remarks)})" if meeting.remarks else ""
        yield Text.assemble((ended, "strike" if meeting.voided else ""), (remarks, SOFT))
        if meeting.rationale:
            yield Text(f"  {words.line(meeting.rationale, 2000)}", SOFT)


def debate(
    record: RunRecord | None, node: Node, held: exchange.Exchange
) -> Iterator[RenderableType]:
    """A role-switching debate, phase by phase."""
    if held.samples:
        yield from _titled("Direct answers, without debate", held.take)
        yield Text(words.line(held.votes, SHOWN), SOFT)
        for turn in held.samples:
            speaker = Text(words.line(words.speaker(turn), 80), f"bold {ACCENT}")
            yield Text.assemble(speaker, tagged(record, node, turn))
            yield from entries(exchange.rest(turn, node))
    if held.sides:
        yield Text()
    for side in held.sides:
        won = " · won" if side.won else ""
        yield Text.assemble(_name(side), f" defends {words.line(side.answer, SHOWN)}", won)
    for side in held.sides:
        if side.percent is not None:
            sure = Text.assemble(bar(side.percent, 16), f" {words.percent(side.percent)}")
            yield Text.assemble(_name(side), " ", sure, (" sure of that, it says", SOFT))
    for phase in held.phases:
        yield from _titled(phase.title, held.take)
        for column in phase.columns:
            yield from _column(record, node, column)
        for turn in phase.asides:
            yield Text(words.line(words.speaker(turn), 80), "bold")
            yield from entries(exchange.rest(turn, node))
    if held.rulings:
        yield from _titled("Judgment", held.take)
    if held.split:
        yield Text("The two readings come to different answers: position bias.", WARN)
    for ruling in held.rulings:
        yield from _ruling(record, node, ruling)


def tagged(record: RunRecord | None, node: Node, *spoken: Turn) -> Text:
    """The names by which turns can be contested, after who speaks."""
    tags = [tag for turn in spoken if (tag := contested.tag(record, node, turn))]
    return Text(f"  {words.line('; '.join(tags), 160)}" if tags else "", SOFT)


def _titled(title: str, take: int) -> Iterator[RenderableType]:
    again = f"Pass {take}: {title.lower()}" if take > 1 else title
    yield from (Text(), Rule(Text(again, "bold"), align="left", style=SOFT))


def _name(side: exchange.Side) -> Text:
    return Text(f"Debater {side.name}", f"bold {ACCENT if side.who == 'a' else SECOND}")


def _column(
    record: RunRecord | None, node: Node, column: exchange.Column
) -> Iterator[RenderableType]:
    held = words.line(column.holder.answer, SHOWN)
    task = f" for {held}"
    if column.switched:
        task = f" now speaks for the answer of debater {column.holder.name}, {held}"
    style = "" if column.switched else SOFT
    yield Text.assemble(_name(column.speaker), (task, style), tagged(record, node, *column.turns))
    if not column.turns:
        yield Text("  Did not speak in this phase.", SOFT)
    for turn in column.turns:
        if turn is not column.turns[-1]:
            yield Text("  Its first proposal, set aside: both had proposed the same.", WARN)
        for error in exchange.errors(turn):
            yield from _error(error)
        if turn.fields.get("errors") == []:
            yield Text("  Found no error in its opponent’s words.", SOFT)
        if (share := exchange.share(turn)) is not None:
            sure = f" {words.percent(share)} sure of its own answer"
            yield Text.assemble("  ", bar(share, 10), sure)
        yield from entries(exchange.rest(turn, node, column))


def _error(error: exchange.Error) -> Iterator[RenderableType]:
    if not error.occurs:
        yield Text("  The opponent never wrote this:", BAD)
    yield Padding(Text(f"“{words.clean(error.quote)}”", "italic"), (0, 0, 0, 2), expand=False)
    fault = Text.assemble(("What is wrong with it: ", SOFT), words.clean(error.fault))
    yield Padding(fault, (0, 0, 0, 4), expand=False)


def _ruling(
    record: RunRecord | None, node: Node, ruling: exchange.Ruling
) -> Iterator[RenderableType]:
    yield Text.assemble((ruling.title, "bold"), tagged(record, node, ruling.turn))
    if not ruling.counts:
        told = "Letter and answer did not name the same candidate; the judge was asked again."
        yield Text(f"  {told} This does not count.", WARN)
    elif not ruling.agrees:
        yield Text("  Letter and answer do not name the same candidate.", WARN)
    named = words.line(f"{ruling.letter}: {ruling.answer}", SHOWN)
    yield Padding(Text(named), (0, 0, 0, 2), expand=False)
    yield Padding(confidence(ruling.confidence), (0, 0, 0, 2), expand=False)
    if ruling.rationale:
        yield Padding(Text(words.clean(ruling.rationale)), (0, 0, 0, 2), expand=False)
    yield from entries(exchange.rest(ruling.turn, node))
