"""A run as Markdown: the same content as the page, for an issue, a notebook or a paper's appendix.

Our own headings, lists and quotes are the only markup; every text of a model is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from pydantic import JsonValue

from dialectree.records import Call, Node, NodeVerdict, RunRecord, Turn
from dialectree.report import view, words

_ENTITIES = {ord(char): f"&#{ord(char)};" for char in "[]{}|~`\\$^="}
_ENTITIES |= {ord("<"): "&lt;", ord(">"): "&gt;", ord("&"): "&amp;"}
_ENTITIES |= {ord(char): f"\\{char}" for char in "*_#"}
_BREAKER = "\u2060"
"""A word joiner: unseen, and no address or mention goes on across it."""
_LINKS = re.compile(
    r"(?<=:)(?=//)|(?<=@)(?=[^\W\d]|\w+[.-])|(?<=www)(?=\.)|(?<=mailto)(?=:)|(?<=xmpp)(?=:)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(\d+|[A-Za-z]|[ivxlcdm]+)([.)])(?=\s|$)")


def escaped(text: str) -> str:
    """``text`` as one line of Markdown that means nothing but itself.

    Entities can open no markup in any dialect; a backslash is used where all dialects know it.
    """
    flat = " ".join(words.clean(text).split())
    inert = _LINKS.sub(_BREAKER, flat).translate(_ENTITIES)
    if (found := _NUMBERED.match(inert)) is not None:
        return f"{found[1]}\\{inert[found.end(1) :]}"
    if inert[:1] in set("+-:!?%\"'(,./;@"):
        return f"&#{ord(inert[0])};{inert[1:]}"
    return inert


def lines(text: str) -> list[str]:
    """``text`` as lines of Markdown: its own line breaks stay, heaps of empty lines do not."""
    flat = [escaped(line) for line in words.clean(text).split("\n")]
    kept = [line for n, line in enumerate(flat) if line or (n and flat[n - 1])]
    while kept and not kept[-1]:
        kept.pop()
    return [_broken(line, after) for line, after in pairwise([*kept, ""])] or ["–"]


def _broken(line: str, after: str) -> str:
    """``line`` with a hard break where another one follows at once."""
    return f"{line}\\" if line and after else line


def quoted(text: str) -> str:
    """``text`` as a block quote."""
    return "\n".join(f"> {line}".rstrip() for line in lines(text))


def _bold(text: str) -> str:
    return f"**{escaped(text) or '–'}**"


def markdown(record: RunRecord, calls: Sequence[Call]) -> str:
    """The run as Markdown; ``calls`` are the lines of its ledger."""
    blocks = [
        *_head(record),
        *_verdict(record),
        *_state(record),
        "## The tree",
        "\n".join(_tree(record)),
        "## The debates",
        *(block for row in view.rows(record) for block in _node(record, row.node)),
        *_ledger(record, calls),
        *_setup(record),
    ]
    return "\n\n".join(blocks) + "\n"


def _head(record: RunRecord) -> Iterator[str]:
    question = words.question(record)
    yield f"# {escaped(words.line(question, 200)) or '–'}"
    yield f"{escaped(words.method(record))} · run {escaped(record.run_id)} · " + words.moment(
        record.started
    )
    if words.line(question, 200) != question.strip():
        yield "The whole question:"
        yield quoted(question)
    if record.demonstration:
        yield (
            "**A demonstration.** The embedded model answers at chance; "
            "this shows how the program works, not what is true."
        )


def _verdict(record: RunRecord) -> Iterator[str]:
    yield "## Verdict"
    verdict = record.verdict
    if verdict is None:
        yield "There is no verdict yet."
        return
    if verdict.label:
        yield _bold(verdict.label)
    if verdict.answer is None:
        yield "The debate ended without an answer."
    else:
        yield quoted(verdict.answer)
    source = f" · source: {escaped(verdict.confidence_source or 'unknown')}"
    known = verdict.confidence is not None
    yield f"Confidence: **{_share(verdict.confidence)}**{source if known else ''}"
    root = record.tree.nodes.get(record.tree.root)
    if root:
        yield from _product(record, root)
    if verdict.explanation:
        yield from ("Explanation:", quoted(verdict.explanation))
    yield from _notes(verdict.notes)


def _share(share: float | None) -> str:
    return words.percent(share).replace("<", "&lt;")


def _product(record: RunRecord, node: Node) -> Iterator[str]:
    if made := view.product(record, node):
        yield (
            f"{_share(made.local)} by the judge of this question × "
            f"{_share(made.lowest)} of its weakest part, {escaped(made.weakest)}."
        )


def _notes(notes: Iterable[str]) -> Iterator[str]:
    if said := [f"- Note: {escaped(note)}" for note in notes]:
        yield "\n".join(said)


def _state(record: RunRecord) -> Iterator[str]:
    yield f"**{words.label(record.status)}.** {escaped(words.state(record))}"
    points = [escaped(notice) for notice in record.notices]
    if waiting := words.waiting(record):
        points.append(f"Without a verdict yet: {escaped(', '.join(waiting))}")
    if given_up := words.unanswered(record):
        points.append(f"Given up without a verdict: {escaped(', '.join(given_up))}")
    points += [escaped(f"{node}: {words.failed(failure)}") for node, failure in record.degraded()]
    if points:
        yield "\n".join(f"- {point}" for point in points)


def _tree(record: RunRecord) -> Iterator[str]:
    for level, node in view.rows(record):
        found = _share(node.verdict.confidence) if node.verdict else _open(node)
        said = f": {escaped(words.line(node.verdict.answer, 160))}" if node.verdict else ""
        asked = escaped(words.line(node.text, 200))
        yield f"{'    ' * level}- {_bold(node.id)} {asked} — {found}{said}"


def _open(node: Node) -> str:
    return "no answer" if node.status == "missing" else "no verdict yet"


def _node(record: RunRecord, node: Node) -> Iterator[str]:
    yield f"### {escaped(node.id)} · {escaped(words.line(node.text, 160)) or '–'}"
    if words.line(node.text, 160) != node.text.strip():
        yield quoted(node.text)
    yield _kind(node)
    if node.verdict:
        yield from _ruling(node.verdict)
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
        yield from _ruling(ruled)
    for stage in view.stages(node):
        yield from _stage(record, node, stage)


def _kind(node: Node) -> str:
    if node.kind == "branch":
        return f"Split into {words.count(len(node.children), 'part')}."
    if node.stopped:
        return f"Not split: {escaped(words.why(node.stopped))}."
    return "Not split." if node.kind == "leaf" else "Not split yet."


def _ruling(ruled: NodeVerdict) -> Iterator[str]:
    yield quoted(ruled.answer)
    winner = f" · winner of the debate: {escaped(ruled.winner)}" if ruled.winner else ""
    yield f"Confidence: **{_share(ruled.confidence)}**{winner}"
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
            said = [escaped(f"defends {words.side(turn.side)}")] if turn.side else []
            said += ["won"] if won else []
            yield _bold(words.speaker(turn)) + (f" ({', '.join(said)})" if said else "")
            yield "\n".join(_said(turn, node, texts))


def _said(turn: Turn, node: Node, texts: Mapping[str, str]) -> Iterator[str]:
    """The fields of one reply as a list, each text whole."""
    for entry in view.entries(turn, node, texts):
        indent, share = "    " * entry.level, ""
        if entry.share is not None:
            share = f" ({_share(entry.share)})" if entry.text else f" {_share(entry.share)}"
        body = lines(entry.text) if entry.text else [""]
        if entry.node:
            body[-1] += f" → {escaped(entry.node)}"
        colon = ":" if entry.text or not share else ""
        yield f"{indent}- {escaped(entry.label)}{share}{colon} {body[0]}".rstrip()
        yield from (f"{indent}  {line}".rstrip() for line in body[1:])


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
        table = [names, rule, *(_row(call) for call in calls)]
        yield "\n".join(f"| {' | '.join(row)} |" for row in table)
    if unused := view.unused(record, calls):
        yield "### Replies that never entered the debate"
        for call in unused:
            yield f"{_bold(words.speaker(call))} at {escaped(call.node)}"
            yield quoted(call.error or call.reply or "")


def _row(call: Call) -> list[str]:
    name = words.speaker(call)
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
    yield from _pairs("Settings", record.settings)
    yield from _pairs("Prompts", record.prompts)
    yield from _pairs("Versions", record.versions)
    if len(record.input) > 1:
        yield from _pairs("Input", record.input)
    yield f"Started {words.moment(record.started)}, ended {words.moment(record.ended)}."


def _pairs(title: str, values: Mapping[str, JsonValue]) -> Iterator[str]:
    if values:
        yield f"### {title}"
        yield "\n".join(f"- {escaped(k)}: {escaped(view.plain(v))}" for k, v in values.items())
