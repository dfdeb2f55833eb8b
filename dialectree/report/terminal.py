"""A run in the terminal: the whole tree with its verdict, or one node from close by.

Texts are put into :class:`rich.text.Text`, never into markup, and cleaned of control characters.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text
from rich.tree import Tree

from dialectree.records import Node, NodeVerdict, RunRecord, Turn
from dialectree.report import view, words

SOFT, WARN, BAD, ACCENT = "dim", "yellow", "red", "cyan"
_SHOWN = 400
"""Characters of a text that the tree shows; the transcript shows it whole."""


def tree(record: RunRecord) -> RenderableType:
    """The whole record: question, tree, verdict, and what it took."""
    return Group(
        Text(words.line(words.question(record), 2000), style="bold"),
        Text(f"{words.line(words.method(record), 80)} · {words.line(record.run_id, 80)}", SOFT),
        *_state(record),
        Text(),
        *_trees(record),
        Text(),
        Rule(Text("Verdict", "bold"), align="left", style=SOFT),
        *_verdict(record),
        Text(),
        Text(_sums(record), SOFT),
    )


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
        label = Text("\n").join(_node(node))
        if level == 0:
            roots.append(Tree(label, guide_style=SOFT))
            above = roots[-1:]
        else:
            above[level:] = [above[level - 1].add(label)]
    return roots


def _node(node: Node) -> Iterator[Text]:
    asked = words.line(node.text, _SHOWN) or "–"
    yield Text.assemble((words.line(node.id, 40), ACCENT), " ", _found(node), " ", asked)
    if kind := _kind(node):
        yield Text(kind, SOFT)
    if node.verdict is not None:
        yield Text(f"→ {words.line(node.verdict.answer, _SHOWN) or '–'}")
    yield from _remarks(node)


def _found(node: Node) -> Text:
    """The confidence of a node's verdict, or why there is none."""
    if node.verdict is not None:
        return Text(words.percent(node.verdict.confidence), "bold")
    if node.status == "missing":
        return Text("no answer", BAD)
    return Text("no verdict yet", WARN)


def _kind(node: Node) -> str:
    """How a node was split or why it was not, and who won its debate."""
    said = []
    if node.kind == "branch":
        said.append(f"split into {words.count(len(node.children), 'part')}")
    elif node.stopped:
        said.append(f"not split: {words.line(words.why(node.stopped), 80)}")
    if node.verdict is not None and node.verdict.winner:
        said.append(f"won by {words.line(node.verdict.winner, 60)}")
    if node.verdict is not None and node.verdict.take > 1:
        said.append(f"pass {node.verdict.take}")
    return " · ".join(said)


def _remarks(node: Node) -> Iterator[Text]:
    """What the program remarks on a node, and what failed there."""
    yield from (Text(f"note: {words.line(note, _SHOWN)}", WARN) for note in node.notes)
    yield from (Text(words.line(words.failed(f), _SHOWN), BAD) for f in node.failures)


def _verdict(record: RunRecord) -> Iterator[RenderableType]:
    verdict = record.verdict
    if verdict is None:
        yield Text("There is no verdict yet.", WARN)
        return
    if verdict.label:
        yield Text(words.clean(verdict.label), "bold")
    if verdict.answer is None:
        yield Text("The debate ended without an answer.", WARN)
    else:
        yield Text(words.clean(verdict.answer), "bold")
    source = words.line(verdict.confidence_source or "", 80)
    yield _confidence(verdict.confidence, f" · source: {source}" if source else "")
    if verdict.explanation:
        yield Text(words.clean(verdict.explanation))
    yield from (Text(f"note: {words.clean(note)}", WARN) for note in verdict.notes)


def _confidence(share: float | None, after: str = "") -> Text:
    """``Confidence ███░░░ 52%``."""
    drawn = Text.assemble(bar(share, 16), " ") if share is not None else Text()
    return Text.assemble(("Confidence ", SOFT), drawn, words.percent(share), (after, SOFT))


def bar(share: float, width: int, full: str = "█", empty: str = "░") -> Text:
    """A share of 1 as a bar that reads without colour, too."""
    filled = round(share * width)
    return Text.assemble((full * filled, ACCENT), (empty * (width - filled), SOFT))


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


def transcript(node: Node) -> RenderableType:
    """All that was said at one node, whole and in order, under what came of it."""
    parts: list[RenderableType] = [
        Text.assemble((f"{words.line(node.id, 40)} ", ACCENT), (words.clean(node.text), "bold")),
    ]
    if kind := _kind(node):
        parts.append(Text(kind, SOFT))
    parts += _ruling(node.verdict) if node.verdict else [_found(node)]
    parts += _remarks(node)
    for ruled in node.earlier:
        parts += [Text(), Text(f"The verdict of pass {ruled.take}", SOFT), *_ruling(ruled)]
    for stage in view.stages(node):
        parts += [Text(), Rule(Text(words.line(stage.title, 60), "bold"), align="left", style=SOFT)]
        parts += _stage(node, stage)
    return Group(*parts)


def _ruling(ruled: NodeVerdict) -> Iterator[RenderableType]:
    yield Text(words.clean(ruled.answer))
    yield _confidence(ruled.confidence)
    if ruled.local_confidence not in (None, ruled.confidence):
        yield Text(f"its judge alone: {words.percent(ruled.local_confidence)}", SOFT)
    if ruled.rationale:
        yield Text(words.clean(ruled.rationale), SOFT)


def _stage(node: Node, stage: view.Stage) -> Iterator[RenderableType]:
    for part in stage.rounds:
        if part.speakers and part.number:
            yield Text(f"\nRound {part.number}", SOFT)
        for turn in part.turns:
            won = bool(part.speakers) and view.won(node, stage.take, turn.who)
            first = not part.speakers or turn.who == part.speakers[0]
            yield Text.assemble(
                "\n" if not part.speakers else "",
                (words.line(words.speaker(turn), 80), f"bold {ACCENT if first else 'magenta'}"),
                (f" defends {words.line(words.side(turn.side), 80)}" if turn.side else "", SOFT),
                (" · won" if won else "", SOFT),
            )
            yield from _said(turn, node)


def _said(turn: Turn, node: Node) -> Iterator[RenderableType]:
    for entry in view.entries(turn, node, {}):
        said = Text(f"{words.line(entry.label, 80)}: ", SOFT)
        if entry.share is not None:
            said = Text.assemble(said, bar(entry.share, 10), f" {words.percent(entry.share)} ")
        said = Text.assemble(said, words.clean(entry.text))
        yield Padding(said, (0, 0, 0, 2 + 2 * entry.level), expand=False)
