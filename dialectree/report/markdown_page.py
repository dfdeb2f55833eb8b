"""A run as Markdown: the same content as the page, for an issue, a notebook or a paper's appendix.

Our own headings, lists and quotes are the only markup; every text of a model is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import JsonValue

from dialectree.records import Call, Node, NodeVerdict, RunRecord
from dialectree.report import (
    arguments,
    exchange,
    markdown_parts,
    markdown_topics,
    topics,
    view,
    words,
)
from dialectree.report.markdown_text import bold, escaped, quoted, said, share


def markdown(record: RunRecord, calls: Sequence[Call]) -> str:
    """The run as Markdown; ``calls`` are the lines of its ledger."""
    blocks = [
        *_head(record),
        *markdown_parts.options(record),
        *markdown_topics.papers(record),
        *markdown_parts.contest(record),
        *_verdict(record),
        *_state(record),
        *markdown_topics.table(record),
        "## The tree",
        "\n".join(_tree(record)),
        f"## {words.heading(record)}",
        *(block for row in view.rows(record) for block in _node(record, row.node)),
        *(markdown_topics.appendix(record) if topics.compares(record) else []),
        *_ledger(record, calls),
        *_setup(record),
    ]
    return "\n\n".join(blocks) + "\n"


def _head(record: RunRecord) -> Iterator[str]:
    question = words.question(record)
    yield f"# {escaped(words.line(question, 200)) or '–'}"
    begun = escaped(words.moment(record.started))
    yield f"{escaped(words.method(record))} · run {escaped(record.run_id)} · {begun}"
    if words.line(question, 200) != question.strip():
        yield "The whole question:"
        yield quoted(question)
    if record.demonstration:
        yield (
            "**A demonstration.** The embedded model answers at chance; "
            "this shows how the program works, not what is true."
        )


def _verdict(record: RunRecord) -> Iterator[str]:
    yield f"## {words.heading_of_verdict(record)}"
    verdict = record.verdict
    if topics.compares(record) and (made := topics.summary(record)) is not None:
        yield from markdown_topics.summary(record, made)
        yield from _notes(topics.remarks(record))
        return
    if verdict is None:
        yield words.pending(record)
        return
    if verdict.label:
        yield bold(verdict.label)
    if verdict.answer is None:
        running = record.status in ("running", "partial")
        yield words.pending(record) if running else escaped(words.unresolved(record))
    elif verdict.answer != verdict.label:
        yield quoted(verdict.answer)
    if words.asserts(record):
        source = f" · source: {escaped(verdict.confidence_source or 'unknown')}"
        known = verdict.confidence is not None
        yield f"Confidence: **{share(verdict.confidence)}**{source if known else ''}"
    yield from markdown_parts.probability(record)
    root = record.tree.nodes.get(record.tree.root)
    if root:
        yield from _product(record, root)
    if verdict.rationale:
        yield from ("Explanation:", quoted(verdict.rationale))
    yield from _notes(words.notes(record))


def _product(record: RunRecord, node: Node) -> Iterator[str]:
    if made := view.product(record, node):
        yield (
            f"{share(made.local)} by the judge of this question × "
            f"{share(made.lowest)} of its weakest part, {escaped(made.weakest)}."
        )


def _notes(notes: Iterable[str]) -> Iterator[str]:
    if told := [f"- Note: {escaped(note)}" for note in notes]:
        yield "\n".join(told)


def _state(record: RunRecord) -> Iterator[str]:
    yield f"**{words.label(record.status)}.** {escaped(words.state(record))}"
    points = [escaped(notice) for notice in record.notices]
    if waiting := words.waiting(record):
        points.append(f"{words.waiting_for(record)}: {escaped(', '.join(waiting))}")
    if given_up := words.unanswered(record):
        points.append(f"{words.given_up(record)}: {escaped(', '.join(given_up))}")
    points += [escaped(f"{node}: {words.failed(failure)}") for node, failure in record.degraded()]
    if points:
        yield "\n".join(f"- {point}" for point in points)


def _tree(record: RunRecord) -> Iterator[str]:
    for level, node in view.rows(record):
        yield f"{'    ' * level}- {_row(record, node)}"
        if topics.debated(node):
            yield from (f"{'    ' * level}    - {s}" for s in markdown_topics.words_of(node))


def _row(record: RunRecord, node: Node) -> str:
    if arguments.by_strength(record, node):
        return markdown_parts.row(record, node)
    if topics.debated(node):
        return markdown_topics.row(node)
    found = share(node.verdict.confidence) if node.verdict else _open(node)
    if node.verdict and topics.compares(record):
        found = "compared"
    answer = f": {escaped(words.line(node.verdict.answer or '', 160))}" if node.verdict else ""
    return f"{bold(node.id)} {escaped(words.line(node.text, 200))} — {found}{answer}"


def _open(node: Node) -> str:
    if node.dropped:
        return "dropped by a person"
    return "no answer" if node.status == "missing" else "no verdict yet"


def _node(record: RunRecord, node: Node) -> Iterator[str]:
    if topics.debated(node):
        yield from markdown_topics.topic(record, node)
        for stage in topics.others(node):
            yield from _stage(record, node, stage)
        return
    yield f"### {escaped(node.id)} · {escaped(words.line(node.text, 160)) or '–'}"
    if words.line(node.text, 160) != node.text.strip():
        yield quoted(node.text)
    if arguments.weighs(node):
        yield from markdown_parts.argument(record, node)
        yield from markdown_parts.meetings(record, node)
    else:
        yield _kind(record, node)
    if arguments.by_strength(record, node):
        pass
    elif node.verdict:
        yield from _ruling(record, node, node.verdict)
        yield from _product(record, node)
        if node.provenance and node.provenance != [node.id]:
            yield f"Rests on {escaped(', '.join(node.provenance))}."
    else:
        yield f"{words.label(_open(node))}."
    yield from _notes(node.notes)
    if node.failures:
        yield "\n".join(f"- {escaped(words.failed(failure))}" for failure in node.failures)
    for ruled in node.earlier:
        yield f"#### Pass {ruled.take}: its verdict"
        yield from _ruling(record, node, ruled)
    for part in exchange.parts(record, node):
        if isinstance(part, exchange.Exchange):
            yield from markdown_parts.debate(record, node, part)
        else:
            yield from _stage(record, node, part)


def _kind(record: RunRecord, node: Node) -> str:
    if node.kind == "branch":
        return f"Split into {words.count(len(node.children), 'part')}."
    if node.kind == "knockout":
        return f"{words.label(exchange.course(node))}."
    if node.stopped:
        return f"Not split: {escaped(words.why(node.stopped))}."
    if topics.compares(record):
        return "No debate."
    if words.view_of(record) in ("two_sided", "arguments"):
        return f"{words.label(exchange.kind(node))}."
    if words.view_of(record) == "rounds":
        return f"{words.label(words.unit(record))}."
    return "Not split." if node.kind == "leaf" else "Not split yet."


def _ruling(record: RunRecord, node: Node, ruled: NodeVerdict) -> Iterator[str]:
    yield quoted(ruled.answer or "")
    won = exchange.winner(record, node, ruled)
    winner = f" · winner of the debate: {escaped(won)}" if won else ""
    if not topics.compares(record):
        yield f"Confidence: **{share(ruled.confidence)}**{winner}"
    if ruled.rationale:
        yield from ("Rationale:", quoted(ruled.rationale))


def _stage(record: RunRecord, node: Node, stage: view.Stage) -> Iterator[str]:
    yield f"#### {escaped(stage.title)}"
    texts = view.children(record, node)
    for part in stage.rounds:
        if part.speakers and part.number:
            yield f"##### Round {part.number}"
        for turn in part.turns:
            won = part.speakers and view.won(node, stage.take, turn.who)
            told = [escaped(words.task(turn))] if words.task(turn) else []
            told += ["won"] if won else []
            yield (
                bold(words.speaker(turn))
                + (f" ({', '.join(told)})" if told else "")
                + markdown_parts.tagged(record, node, turn)
            )
            yield "\n".join(said(view.entries(turn, node, texts)))


def _ledger(record: RunRecord, calls: Sequence[Call]) -> Iterator[str]:
    usage = record.usage
    cost = "not priced" if usage.cost is None else f"{usage.cost:.4g}"
    yield "## What it took"
    yield (
        f"{words.count(usage.calls, 'call')}, {words.count(usage.attempts, 'attempt')}, "
        f"{usage.prompt_tokens:,} prompt tokens (of them {usage.cached_tokens:,} cached), "
        f"{usage.completion_tokens:,} completion tokens, cost: {cost}, "
        f"{words.duration(usage.wall_s)}, longest chain: "
        f"{words.count(usage.critical_path_calls, 'call')}."
    )
    if calls:
        names = ["Node", "Speaker", "Round", "Prompt", "Model"]
        names += ["Attempts", "In", "Out", "Cost", "Finish", "Error"]
        rule = ["---"] * len(names)
        table = [names, rule, *(_ledger_row(record, call) for call in calls)]
        yield "\n".join(f"| {' | '.join(row)} |" for row in table)
    if unused := view.unused(record, calls):
        yield "### Replies that never entered the debate"
        for call in unused:
            speaker = words.speaker(call, record.tree.nodes.get(call.node))
            yield f"{bold(speaker)} at {escaped(call.node)}"
            yield quoted(call.error or call.reply or "")


def _ledger_row(record: RunRecord, call: Call) -> list[str]:
    name = words.speaker(call, record.tree.nodes.get(call.node))
    name += f", pass {call.take}" if call.take > 1 else ""
    name += f", repair {call.repair}" if call.repair else ""
    model = f"{call.model} (cache)" if call.source == "cache" else call.model
    cost = "" if call.cost is None else f"{call.cost:.4g}"
    tokens = [f"{call.prompt_tokens:,}", f"{call.completion_tokens:,}"]
    ended = [call.finish or "", words.line(call.error or "", 300)]
    row = [call.node, name, str(call.round or ""), call.prompt, model, str(call.attempts)]
    return [escaped(cell) for cell in [*row, *tokens, cost, *ended]]


def _setup(record: RunRecord) -> Iterator[str]:
    yield "## How it was set up"
    yield from _pairs("Models", record.models)
    yield from _pairs("Settings", view.settings(record))
    yield from _pairs("Prompts", record.prompts)
    yield from _pairs("Versions", record.versions)
    if len(record.input) > 1 and not topics.compares(record):
        yield from _pairs("Input", record.input)
    began, ended = (escaped(words.moment(at)) for at in (record.started, record.ended))
    yield f"Started {began}, ended {ended}."


def _pairs(title: str, values: Mapping[str, JsonValue]) -> Iterator[str]:
    if values:
        yield f"### {title}"
        yield "\n".join(f"- {escaped(k)}: {escaped(view.plain(v))}" for k, v in values.items())
