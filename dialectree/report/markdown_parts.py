"""Role-switching debates and argument trees as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from dialectree.records import Contest, Node, RunRecord, Turn
from dialectree.report import arguments, contested, exchange, words
from dialectree.report.markdown_text import bold, escaped, quoted, said, share


def options(record: RunRecord) -> Iterator[str]:
    """The answers to choose from, with their letters and what became of them."""
    given = []
    for option in exchange.options(record):
        remarks = f" ({escaped('; '.join(option.remarks))})" if option.remarks else ""
        given.append(f"- **{option.letter}** {escaped(option.text)}{remarks}")
    if given:
        yield "\n".join(given)


def contest(record: RunRecord) -> Iterator[str]:
    """What a person changed in another run, and what that did."""
    made = record.contest
    if made is None:
        return
    yield "## Contested"
    yield f"This contests run {escaped(made.run)}."
    if contested.debated(made):
        yield from _contested(record, made)
        return
    if made.changes:
        yield "\n".join(f"- {escaped(change)}" for change in made.changes)
    yield f"P(claim): **{arguments.outcome(made)}**"
    yield from ([quoted(made.why)] if made.why else [])
    steps = [
        f"- {escaped(step.node)}: {words.move(step.before, step.after)}, "
        f"{escaped(words.line(step.text, 160)) or '–'}"
        for step in arguments.moved(record)
    ]
    if steps:
        yield "What moved, from the bottom up:"
        yield "\n".join(steps)


def _contested(record: RunRecord, made: Contest) -> Iterator[str]:
    """A debate before and after."""
    if restored := [f"- {escaped(change)}" for change in contested.restored(made)]:
        yield "\n".join(restored)
    for text in contested.texts(made):
        yield f"{bold(text.title)}:"
        yield _both(text.before, text.after)
    yield "**The verdict:**"
    yield _both(*contested.verdicts(made))
    yield from ([quoted(made.why)] if made.why else [])
    if steps := contested.steps(record):
        yield "What moved, from the bottom up:"
    for step in steps:
        yield f"{bold(step.node)} {escaped(words.line(step.text, 160))}"
        yield _both(step.before, step.after)
    yield contested.anew(record)


def _both(before: str, after: str) -> str:
    return f"- before: {escaped(before) or '–'}\n- after: {escaped(after) or '–'}"


def probability(record: RunRecord) -> Iterator[str]:
    """P(claim) against its threshold, and how it was reckoned."""
    figure = record.verdict.confidence if record.verdict is not None else None
    if words.probable(record.verdict) and figure is not None:
        yield f"P(claim): **{words.figure(figure)}**, {words.threshold(figure)}"
    if trees := arguments.roots(record):
        parts = ", ".join(f"{escaped(t.id)} {words.figure(t.score('strength'))}" for t in trees)
        yield f"The mean of {words.count(len(trees), 'tree')}: {parts}."
    if how := arguments.reckoning(record):
        yield escaped(" · ".join(how))


def row(record: RunRecord, node: Node) -> str:
    """One argument on one line of the tree."""
    stance = f"{words.stance(node.stance)} " if node.stance else ""
    text = escaped(words.line(node.text, 200))
    text = f"~~{text}~~" if node.dropped and text else text
    told = [arguments.chain(node), *arguments.edges(record, node), arguments.remark(record, node)]
    known = escaped("; ".join(part for part in told if part)) or arguments.unweighed(node)
    return f"{bold(node.id)} {stance}{text} — {known}"


def argument(record: RunRecord, node: Node) -> Iterator[str]:
    """The strengths of an argument, whom it beat, who declined."""
    stance = f"{words.stance(node.stance)} {escaped(node.parent or '')}" if node.stance else ""
    if stance or node.kind == "claim":
        yield f"{stance or 'The claim'}."
    if out := arguments.remark(record, node):
        yield bold(words.label(out))
    known = [f"- {f.sign} {f.name}: **{words.figure(f.value)}**" for f in arguments.figures(node)]
    yield "\n".join(known) or f"{words.label(arguments.unweighed(node))}."
    if edges := arguments.edges(record, node):
        yield f"Against its opponents: {escaped('; '.join(edges))}."
    if words.declined_sides(node):
        yield "\n".join(f"- {words.declined(side)}" for side in words.declined_sides(node))


def meetings(record: RunRecord, node: Node) -> Iterator[str]:
    """Who among the arguments below ``node`` beat whom, and why."""
    met = []
    for meeting in arguments.meetings(record, node):
        ended = f"{escaped(meeting.supporter)} {meeting.verb} {escaped(meeting.attacker)}"
        ended = f"~~{ended}~~" if meeting.voided else ended
        remarks = f" ({'; '.join(meeting.remarks)})" if meeting.remarks else ""
        why = f": {escaped(meeting.rationale)}" if meeting.rationale else ""
        met.append(f"- {ended}{remarks}{why}")
    if met:
        yield "Supporters against attackers:"
        yield "\n".join(met)


def debate(record: RunRecord, node: Node, held: exchange.Exchange) -> Iterator[str]:
    """A role-switching debate, phase by phase."""
    again = f"Pass {held.take}: " if held.take > 1 else ""
    if held.samples:
        yield f"#### {again}Direct answers, without debate"
        yield escaped(held.votes)
        for turn in held.samples:
            yield f"{bold(words.speaker(turn))}{tagged(record, node, turn)}"
            yield from _fields(said(exchange.rest(turn, node)))
    if held.sides:
        yield "\n".join(_sides(held))
    for phase in held.phases:
        yield f"#### {again}{phase.title}"
        for column in phase.columns:
            yield from _column(record, node, column)
        for turn in phase.asides:
            yield bold(words.speaker(turn))
            yield from _fields(said(exchange.rest(turn, node)))
    if held.rulings:
        yield f"#### {again}Judgment"
    if held.split:
        yield "**The two readings come to different answers: position bias.**"
    for ruling in held.rulings:
        yield from _ruling(record, node, ruling)


def tagged(record: RunRecord, node: Node, *spoken: Turn) -> str:
    """The names by which turns can be contested, after who speaks."""
    tags = [tag for turn in spoken if (tag := contested.tag(record, node, turn))]
    return f" · {escaped('; '.join(tags))}" if tags else ""


def _sides(held: exchange.Exchange) -> Iterator[str]:
    yield "| Debater | defends | says it is sure | |"
    yield "| --- | --- | --- | --- |"
    for side in held.sides:
        sure = share(side.percent) if side.percent is not None else "–"
        won = "won" if side.won else ""
        yield f"| {side.name} | {escaped(side.answer)} | {sure} | {won} |"


def _column(record: RunRecord, node: Node, column: exchange.Column) -> Iterator[str]:
    task = f"for {escaped(words.line(column.holder.answer, 200))}"
    if column.switched:
        task = f"speaks for the answer of debater {column.holder.name}, {task[4:]}"
    yield f"**Debater {column.speaker.name}** ({task}){tagged(record, node, *column.turns)}"
    if not column.turns:
        yield "Did not speak in this phase."
    for turn in column.turns:
        if turn is not column.turns[-1]:
            yield "Its first proposal, set aside: both had proposed the same."
        for error in exchange.errors(turn):
            if not error.occurs:
                yield "**The opponent never wrote this:**"
            yield quoted(error.quote)
            yield f"What is wrong with it: {escaped(error.fault) or '–'}"
        if turn.fields.get("errors") == []:
            yield "Found no error in its opponent’s words."
        if (sure := exchange.share(turn)) is not None:
            yield f"**{share(sure)}** sure of its own answer"
        yield from _fields(said(exchange.rest(turn, node, column)))


def _ruling(record: RunRecord, node: Node, ruling: exchange.Ruling) -> Iterator[str]:
    yield f"**{ruling.title}**{tagged(record, node, ruling.turn)}"
    if not ruling.counts:
        yield (
            "Letter and answer did not name the same candidate, so the judge was asked again. "
            "This ruling does not count."
        )
    elif not ruling.agrees:
        yield "Letter and answer do not name the same candidate."
    named = f"{bold(ruling.letter)} {escaped(ruling.answer)}"
    yield f"{named} · confidence: **{share(ruling.confidence)}**"
    if ruling.rationale:
        yield quoted(ruling.rationale)
    yield from _fields(said(exchange.rest(ruling.turn, node)))


def _fields(lines: Iterator[str]) -> Iterator[str]:
    """The lines of a list as one block, if there are any."""
    if block := "\n".join(lines):
        yield block
