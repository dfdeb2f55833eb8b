"""What the tools return: models of their structured content, and the same as text."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, PrivateAttr

from dialectree.flow.steps import DEMONSTRATION
from dialectree.records import Call, Node, RunRecord, RunStatus
from dialectree.report import markdown
from dialectree.report.verdicts import basis, verdict_text
from dialectree.service.debates import Underway
from dialectree.text import clean, count, line


class Result(BaseModel):
    """The structured content of a tool. What is not known is left out."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Support(Result):
    """A node of the tree that the verdict rests on."""

    node: str
    """Its id, which `show` and `contest` take."""
    text: str
    """The question, the claim, the argument or the topic."""
    stance: str | None = None
    """For or against the claim, of an argument."""
    answer: str | None = None
    confidence: float | None = None
    scores: dict[str, float] = {}
    """Numbers by name, such as its strength, 0 to 1."""


class Debate(Result):
    """One run: its verdict, or how far it has come."""

    run_id: str
    method: str
    status: RunStatus
    """`running`; `partial`: broken off, and `resume` goes on with it; `answered`; `degraded`:
    answered, but some part failed for good; `unresolved`: there is no answer."""
    question: str
    """What was asked, or the claim, or the topic."""
    answer: str | None = None
    label: str | None = None
    """The letter of the option that was chosen."""
    probability: float | None = None
    """Of the claim, 0 to 1."""
    confidence: float | None = None
    """In the answer, 0 to 1; of a claim its probability."""
    confidence_source: str | None = None
    """Whose figure the confidence is."""
    rationale: str | None = None
    notes: list[str] = []
    """What to know about the verdict, and what went wrong on the way."""
    basis: str = ""
    """What the verdict rests on, in one line."""
    rests_on: list[Support] = []
    """The parts of the tree that the verdict rests on."""
    contests: str | None = None
    """The id of the run that this one contests."""
    moved: str | None = None
    """What the contest did to the verdict, in one line."""
    started: str
    ended: str | None = None
    calls: int
    """Calls to models so far."""
    seconds: float
    tokens: int | None = None
    expected_calls: int | None = None
    """The most calls that it was estimated to take, while it runs."""
    cost: float | None = None
    """In the unit of the prices that the server's owner gave."""
    next: str = ""
    """What can be done now."""
    _record: RunRecord | None = PrivateAttr(None)


class Row(Result):
    """One run of a list."""

    run_id: str
    method: str
    status: RunStatus
    question: str
    started: str
    answer: str | None = None
    contests: str | None = None


class RunList(Result):
    """Runs, the newest first."""

    runs: list[Row]


class Report(Result):
    """A run for a reader, or one node of it."""

    run_id: str
    nodes: list[str]
    """The ids of the nodes of its tree."""
    report: str | None = None
    """The run in Markdown: the verdict, the tree, every turn with its id."""
    node: Node | None = None
    """The node that was asked for, with its transcript."""


def finished(record: RunRecord, more: list[str]) -> Debate:
    """Return the verdict of a run; ``more`` are notes beside its own."""
    verdict, usage = record.verdict, record.usage
    demonstration = [DEMONSTRATION] if record.demonstration else []
    notes = [*(verdict.notes if verdict else []), *demonstration, *record.notices, *more]
    done = record.status not in ("running", "partial")
    following = "`show` has the whole debate; `contest` changes something in it."
    result = Debate(
        run_id=record.run_id,
        method=record.method,
        status=record.status if done else "partial",
        question=str(record.input["question"]),
        **(verdict.model_dump(exclude={"notes"}) if verdict else {}),
        notes=[*dict.fromkeys(notes)],
        basis=basis(record) if done else "",
        rests_on=_supports(record) if done else [],
        contests=record.contest.run if record.contest else None,
        moved=record.contest.why if record.contest and done else None,
        started=record.started,
        ended=record.ended,
        calls=usage.calls,
        tokens=usage.prompt_tokens + usage.completion_tokens,
        cost=usage.cost,
        seconds=usage.wall_s,
        next=following if done else "It was broken off; `resume` goes on with it.",
    )
    result._record = record if done else None
    return result


def underway(one: Underway) -> Debate:
    """Return how far a run in the background has come, or what came of it."""
    record = one.record
    if one.task is None or one.task.done():
        return finished(record, one.remarks)
    return Debate(
        run_id=record.run_id,
        method=record.method,
        status="running",
        question=str(record.input["question"]),
        notes=one.remarks,
        started=record.started,
        calls=one.calls,
        expected_calls=one.expected(),
        seconds=one.seconds(),
        next=f'It goes on. Call `result` with run_id "{record.run_id}" to wait for it.',
    )


def row(record: RunRecord, *, here: bool) -> Row:
    """Return a run of a list; ``here`` says that it is under way in this server."""
    status = "partial" if record.status == "running" else record.status
    return Row(
        run_id=record.run_id,
        method=record.method,
        status="running" if here else status,
        question=str(record.input["question"]),
        started=record.started,
        answer=record.verdict.answer if record.verdict else None,
        contests=record.contest.run if record.contest else None,
    )


def report(record: RunRecord, calls: list[Call], node: Node | None) -> Report:
    """Return a run, or one of its nodes, in full."""
    whole = markdown(record, calls) if node is None else None
    return Report(run_id=record.run_id, nodes=[*record.tree.nodes], report=whole, node=node)


def _supports(record: RunRecord) -> list[Support]:
    """Return the leaves that the verdict rests on; without any, the children of the root."""
    nodes = record.tree.nodes
    root = nodes.get(record.tree.root)
    if root is None:
        return []
    leaves = [name for name in root.provenance if name != root.id]
    return [_support(nodes[name]) for name in leaves or root.children if name in nodes]


def _support(node: Node) -> Support:
    return Support(
        node=node.id,
        text=node.text,
        stance=node.stance,
        answer=node.verdict.answer if node.verdict else None,
        confidence=node.verdict.confidence if node.verdict else None,
        scores=node.scores,
    )


def text(result: BaseModel) -> str:
    """Return a result in words, for a model that is not shown the structured content."""
    match result:
        case Debate():
            return _debate_in_words(result)
        case Report(report=None):
            return result.node.model_dump_json() if result.node else ""
        case Report():
            return result.report or ""
        case RunList():
            rows = (
                f"{one.run_id} {one.method} {one.status}: {one.question}" for one in result.runs
            )
            return "\n".join(line(row, 300) for row in rows) or "There are no runs."
    return str(result)


def _debate_in_words(result: Debate) -> str:
    record, parts = result._record, list[str | None]()
    if record is not None:
        parts.append(verdict_text(record, "answer", "measure", "reason"))
    parts += [result.moved, result.basis, *(f"Note: {note}" for note in result.notes)]
    spent = count(result.calls, "call")
    if result.expected_calls:
        spent += f" of at most {result.expected_calls:,}"
    parts.append(f"Run {result.run_id}: {result.status}, {spent}. {result.next}")
    return "\n\n".join(clean(part) for part in parts if part)
