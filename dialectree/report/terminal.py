"""A run in the terminal: the whole tree with its verdict, or one node from close by.

Texts are put into :class:`rich.text.Text`, never into markup, and cleaned of control characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.rule import Rule
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from dialectree.records import Node, NodeVerdict, RunRecord
from dialectree.report import (
    arguments,
    exchange,
    terminal_parts,
    terminal_topics,
    topics,
    view,
    words,
)
from dialectree.report.drawing import (
    ACCENT,
    BAD,
    SECOND,
    SHOWN,
    SOFT,
    WARN,
    confidence,
    entries,
)


class _Inert:
    """Cleans each piece of text of what it holds when it is drawn, ids and settings included."""

    def __init__(self, *held: RenderableType) -> None:
        self._held = Group(*held)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for piece in console.render(self._held, options):
            yield piece if piece.control else piece._replace(text=words.clean(piece.text))


def tree(record: RunRecord) -> RenderableType:
    """The whole record: question, tree, verdict, and what it took."""
    return _Inert(
        Text(words.line(words.question(record), 2000), style="bold"),
        Text(f"{words.line(words.method(record), 160)} · {words.line(record.run_id, 80)}", SOFT),
        *_state(record),
        *terminal_parts.options(record),
        *terminal_topics.papers(record),
        Text(),
        *terminal_parts.contest(record),
        *_trees(record),
        Text(),
        *terminal_topics.table(record),
        Rule(Text(words.heading_of_verdict(record), "bold"), align="left", style=SOFT),
        *_verdict(record),
        Text(),
        Text(_sums(record), SOFT),
    )


def overview(records: Sequence[RunRecord]) -> RenderableType:
    """A line a run: its id, its method, its status, and what was asked."""
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style=SOFT)
    for title in ("run", "method", "status"):
        grid.add_column(title, no_wrap=True)
    grid.add_column("question", no_wrap=True, overflow="ellipsis")
    for record in records:
        asked = Text(words.line(words.question(record), 200))
        if record.contest is not None:
            asked.append(f" (contests {words.line(record.contest.run, 80)})", SOFT)
        status = Text(words.label(record.status), "" if record.status == "answered" else WARN)
        grid.add_row(
            Text(words.line(record.run_id, 80)), Text(words.line(record.method, 80)), status, asked
        )
    return grid


def _state(record: RunRecord) -> Iterator[Text]:
    style = SOFT if record.status == "answered" else WARN
    yield Text(f"{words.label(record.status)}. {words.clean(words.state(record))}", style)
    if record.demonstration:
        yield Text(
            "A demonstration: the embedded model answers at chance; "
            "this shows how the program works, not what is true.",
            WARN,
        )
    yield from (Text(words.clean(notice), WARN) for notice in record.notices)


def _trees(record: RunRecord) -> list[Tree]:
    """The tree, and after it whatever hangs nowhere."""
    roots: list[Tree] = []
    above: list[Tree] = []
    for level, node in view.rows(record):
        label: RenderableType
        if topics.debated(node):
            label = Group(*terminal_topics.row(record, node), *_remarks(node))
        else:
            label = Text("\n").join(_node(record, node))
        if level == 0:
            roots.append(Tree(label, guide_style=SOFT))
            above = roots[-1:]
        else:
            above[level:] = [above[level - 1].add(label)]
    return roots


def _node(record: RunRecord, node: Node) -> Iterator[Text]:
    if arguments.by_strength(record, node):
        yield from terminal_parts.argument(record, node)
    else:
        asked = words.line(node.text, SHOWN) or "–"
        found = Text.assemble(" ", _found(node)) if not topics.compares(record) else Text()
        yield Text.assemble((words.line(node.id, 40), ACCENT), found, " ", asked)
        if kind := _kind(record, node):
            yield Text(kind, SOFT)
        if opposed := exchange.opposed(record, node):
            yield Text(words.line(opposed, SHOWN), SOFT)
        if arguments.weighs(node):
            yield Text(arguments.chain(node), SOFT)
        if node.verdict is not None:
            yield Text(f"→ {words.line(node.verdict.answer or '', SHOWN) or '–'}")
    yield from _remarks(node)


def _found(node: Node) -> Text:
    """The confidence of a node's verdict, or why there is none."""
    if node.verdict is not None:
        return Text(words.percent(node.verdict.confidence), "bold")
    if node.status == "missing":
        return Text("dropped", WARN) if node.dropped else Text("no answer", BAD)
    return Text("no verdict yet", WARN)


def _kind(record: RunRecord | None, node: Node) -> str:
    """How a node was split or why it was not, and who won its debate."""
    said = []
    if node.kind == "branch":
        said.append(f"split into {words.count(len(node.children), 'part')}")
    elif node.kind == "knockout":
        said.append(exchange.course(node))
    elif node.stopped:
        said.append(f"not split: {words.line(words.why(node.stopped), 80)}")
    if node.verdict is not None and node.verdict.winner:
        said.append(f"won by {words.line(exchange.winner(record, node, node.verdict), 80)}")
    if node.verdict is not None and node.verdict.take > 1:
        said.append(f"pass {node.verdict.take}")
    return " · ".join(said)


def _remarks(node: Node) -> Iterator[Text]:
    """What the program remarks on a node, and what failed there."""
    yield from (Text(f"note: {words.line(note, SHOWN)}", WARN) for note in node.notes)
    yield from (Text(words.line(words.failed(f), SHOWN), BAD) for f in node.failures)


def _verdict(record: RunRecord) -> Iterator[RenderableType]:
    verdict = record.verdict
    if topics.compares(record) and (made := topics.summary(record)) is not None:
        yield from terminal_topics.summary(record, made)
        return
    if verdict is None:
        yield Text(words.pending(record), WARN)
        return
    if verdict.answer is None:
        yield from ([Text(words.clean(verdict.label), "bold")] if verdict.label else [])
        running = record.status in ("running", "partial")
        said = words.pending(record) if running else words.unresolved(record)
        yield Text(words.clean(said), WARN)
    else:
        label = verdict.label if verdict.label != verdict.answer else None
        shown = f"{label}: {verdict.answer}" if label else verdict.answer
        yield Text(words.clean(shown), "bold")
    if words.asserts(record):
        source = words.line(verdict.confidence_source or "", 80)
        yield confidence(verdict.confidence, f" · source: {source}" if source else "")
    yield from terminal_parts.probability(record)
    if verdict.rationale:
        yield Text(words.clean(verdict.rationale))
    yield from (Text(f"note: {words.clean(note)}", WARN) for note in words.notes(record))


def _sums(record: RunRecord) -> str:
    usage = record.usage
    cost = "not priced" if usage.cost is None else f"cost {usage.cost:.4g}"
    return " · ".join(
        [
            words.count(usage.calls, "call"),
            words.count(usage.attempts, "attempt"),
            f"{usage.prompt_tokens:,} tokens in ({usage.cached_tokens:,} cached)",
            f"{usage.completion_tokens:,} out",
            cost,
            words.duration(usage.wall_s),
            f"longest chain {words.count(usage.critical_path_calls, 'call')}",
        ]
    )


def transcript(node: Node, record: RunRecord | None = None) -> RenderableType:
    """All that was said at one node, whole and in order, under what came of it.

    ``record`` knows what the node does not: the letters of the options, whom an argument beat.
    """
    parts: list[RenderableType] = []
    if arguments.weighs(node):
        parts += terminal_parts.argument(record, node, whole=True)
        parts += terminal_parts.meetings(record, node)
    elif topics.debated(node):
        parts += terminal_topics.topic(record, node)
    else:
        name = (f"{words.line(node.id, 40)} ", ACCENT)
        parts.append(Text.assemble(name, (words.clean(node.text), "bold")))
    if (kind := _kind(record, node)) and not topics.debated(node):
        parts.append(Text(kind, SOFT))
    if not arguments.by_strength(record, node) and not topics.debated(node):
        sure = not topics.compares(record)
        parts += _ruling(node.verdict, sure=sure) if node.verdict else [_found(node)]
    parts += _remarks(node)
    for ruled in node.earlier:
        parts += [Text(), Text(f"The verdict of pass {ruled.take}", SOFT), *_ruling(ruled)]
    if topics.debated(node):
        parts += terminal_topics.parts(record, node)
        rest: Sequence[view.Stage | exchange.Exchange] = topics.others(node)
    else:
        rest = exchange.parts(record, node)
    for part in rest:
        if isinstance(part, exchange.Exchange):
            parts += terminal_parts.debate(record, node, part)
        else:
            title = Text(words.line(part.title, 60), "bold")
            parts += [Text(), Rule(title, align="left", style=SOFT), *_stage(record, node, part)]
    return _Inert(*parts)


def _ruling(ruled: NodeVerdict, *, sure: bool = True) -> Iterator[RenderableType]:
    """What was ruled, and how ``sure``; of a comparison nobody says."""
    yield Text(words.clean(ruled.answer or ""))
    yield from ([confidence(ruled.confidence)] if sure else [])
    if ruled.local_confidence not in (None, ruled.confidence):
        yield Text(f"its judge alone: {words.percent(ruled.local_confidence)}", SOFT)
    if ruled.rationale:
        yield Text(words.clean(ruled.rationale), SOFT)


def _stage(record: RunRecord | None, node: Node, stage: view.Stage) -> Iterator[RenderableType]:
    for part in stage.rounds:
        if part.speakers and part.number:
            yield Text(f"\nRound {part.number}", SOFT)
        for turn in part.turns:
            won = bool(part.speakers) and view.won(node, stage.take, turn.who)
            first = not part.speakers or turn.who == part.speakers[0]
            task = words.line(words.task(turn), 120)
            yield Text.assemble(
                "\n" if not part.speakers else "",
                (words.line(words.speaker(turn), 80), f"bold {ACCENT if first else SECOND}"),
                (f" {task}" if task else "", SOFT),
                (" · won" if won else "", SOFT),
                terminal_parts.tagged(record, node, turn),
            )
            yield from entries(view.entries(turn, node, {}))
