"""Describe runs as the tools return them: as structured content and as text."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from dialectree.flow.steps import DEMONSTRATION
from dialectree.interfaces.background import BackgroundRun
from dialectree.records import UNFINISHED, Call, Node, RunRecord, RunStatus, RunSummary, Tree, Verdict
from dialectree.report import markdown
from dialectree.report.verdicts import basis, verdict_text
from dialectree.text import clean, count, line

_NEXT = {
    "running": "It goes on. Call `result` with this run_id to wait for it.",
    "partial": "It was broken off; `resume` goes on with it.",
}


class Debate(Verdict):
    """One run: its verdict, or how far it has come."""

    model_config = ConfigDict(use_attribute_docstrings=True, extra="ignore")

    run_id: str
    method: str
    status: RunStatus
    """`running`; `partial`: broken off, and `resume` goes on with it; `answered`; `degraded`:
    answered, but some part failed for good; `unresolved`: there is no answer."""
    question: str
    """What was asked, or the claim, or the topic."""
    basis: str = ""
    """What the verdict rests on, in one line."""
    rests_on: dict[str, str] = Field(default_factory=dict)
    """The words of the nodes that the verdict rests on, by id; `show` and `contest` take the id."""
    contests: str | None = None
    """The id of the run that this one contests."""
    moved: str | None = None
    """What the contest did to the verdict, in one line."""
    started: str
    calls: int
    """Calls to models so far."""
    expected_calls: int | None = None
    """The most calls that it was estimated to take, while it runs."""
    seconds: float
    cost: float | None = None
    """In the unit of the prices that the server's owner gave."""
    next: str = ""
    """What can be done now."""
    _text: str = PrivateAttr("")


class RunList(BaseModel):
    """Runs, the newest first."""

    runs: list[Debate]


class Report(BaseModel):
    """A run for a reader, or one node of it."""

    run_id: str
    nodes: list[str]
    """The ids of the nodes of its tree."""
    report: str | None = None
    """The run in Markdown: the verdict, the tree, every turn with its id."""
    node: Node | None = None
    """The node that was asked for, with its transcript."""


def debate(record: RunRecord, background_run: BackgroundRun | None = None, *, busy: bool = False) -> Debate:
    """Return the outcome of a run, or its progress.

    ``background_run`` is given if this server conducts the run; ``busy`` if another process does.
    """
    running = busy or (background_run is not None and not background_run.task.done())
    done = not running and record.status not in UNFINISHED
    verdict, tree = record.verdict if not running else None, record.tree
    notes = [*(verdict.notes if verdict else []), *[DEMONSTRATION] * record.demonstration]
    notes += [*record.notices, *(background_run.remarks if background_run else [])]
    status: RunStatus = "running" if running else record.status if done else "partial"
    verdict_fields = verdict.model_dump(exclude={"notes", "probability"}) if verdict else {}
    state = Debate(
        **verdict_fields,
        run_id=record.run_id,
        method=record.method,
        status=status,
        question=str(record.input["question"]),
        notes=[*dict.fromkeys(notes)],
        basis=basis(record) if done else "",
        rests_on=_parts(tree) if done else {},
        contests=record.contest.run if record.contest else None,
        moved=record.contest.why if record.contest and done else None,
        started=record.started,
        calls=background_run.progress.calls if running and background_run else record.usage.calls,
        expected_calls=background_run.count_expected() if running and background_run else None,
        seconds=round(background_run.progress.seconds, 1)
        if running and background_run
        else record.usage.wall_s,
        cost=record.usage.cost,
        next=_NEXT.get(status, "`show` has the whole debate; `contest` changes something in it."),
    )
    state._text = _in_words(state, verdict_text(record, "answer", "measure", "arithmetic", "reason") * done)
    return state


def summarize_run(summary: RunSummary, *, busy: bool) -> Debate:
    """Return a run as a list shows it; ``busy`` means that the run goes on in this server."""
    done = not busy and summary.status not in UNFINISHED
    verdict = summary.verdict.model_dump(exclude={"probability"}) if summary.verdict and done else {}
    about = summary.model_dump(include={*Debate.model_fields} - {*Verdict.model_fields, "status"})
    status: RunStatus = "running" if busy else summary.status if done else "partial"
    return Debate(**verdict, **about, status=status, seconds=summary.wall_s, next=_NEXT.get(status, ""))


def _parts(tree: Tree) -> dict[str, str]:
    """Return the texts of the nodes that the verdict rests on, by id, or else of the root's children."""
    root = tree.nodes.get(tree.root)
    if root is None:
        return {}
    names = [name for name in root.provenance if name != root.id] or root.children
    return {name: tree.nodes[name].text for name in names if name in tree.nodes}


def _in_words(state: Debate, verdict: str) -> str:
    """Return a run in words, for a model that does not see the structured content."""
    spent = count(state.calls, "call")
    if state.expected_calls:
        spent += f" of at most {state.expected_calls:,}"
    ended = f"Run {state.run_id}: {state.status}, {spent}. {state.next}"
    notes = [f"Note: {note}" for note in state.notes]
    parts = [verdict, state.moved, state.basis, *notes, ended]
    return "\n\n".join(clean(part) for part in parts if part)


def report(record: RunRecord, calls: list[Call], node: Node | None) -> Report:
    """Return a run, or one of its nodes, in full."""
    markdown_text = markdown(record, calls) if node is None else None
    return Report(run_id=record.run_id, nodes=[*record.tree.nodes], report=markdown_text, node=node)


def text(result: BaseModel) -> str:
    """Return a result in words."""
    match result:
        case Debate():
            return result._text
        case Report():
            return result.node.model_dump_json() if result.node else result.report or ""
        case RunList():
            rows = (f"{run.run_id} {run.method} {run.status}: {run.question}" for run in result.runs)
            return "\n".join(line(row, 300) for row in rows) or "There are no runs."
    return str(result)
