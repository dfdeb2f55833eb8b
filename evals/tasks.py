"""Define for each task how to ask its items and how to score the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from dialectree.errors import InputError
from dialectree.evals.dataset_items import Item
from dialectree.evals.results import Sides
from dialectree.protocols.options import juries
from dialectree.protocols.protocol import Evaluation, Method, Task, load, load_protocols
from dialectree.protocols.protocol import method as named_method
from dialectree.protocols.protocol import methods as every_method
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import RunRecord, path_key
from dialectree.running.runner import prepare_graph_input


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """The words and scores of the items of one task."""

    items: str
    """The word for the items, in messages and in the head of a report."""
    singular: str = "question"
    many: str | None = None
    """The word for one item, and the word for several items if it is not ``singular`` with an s."""
    asks: str
    """The parts that are equal if one item repeats another."""
    computed: tuple[str, ...] = ()
    """Scores that need no model."""
    judged: tuple[str, ...] = ()
    """Scores that a judge gives."""
    right: str | None = None
    """The score for right or wrong."""
    references: tuple[str, ...] = ()
    """The references that the score ``right`` can use; it needs one of them."""


TASKS: Mapping[Task, Scoring] = {
    "answer": Scoring(
        items="open questions",
        asks="question",
        computed=("informative",),
        judged=("truthful",),
        right="truthful",
        references=("true", "false"),
    ),
    "decide": Scoring(
        items="questions with options",
        asks="question and options",
        computed=("choice",),
        right="choice",
        references=("gold",),
    ),
    "verify": Scoring(
        items="claims",
        singular="claim",
        asks="claim",
        computed=("claim_label", "claim_brier"),
        right="claim_label",
        references=("label",),
    ),
    "compare": Scoring(
        items="pairs of papers",
        singular="pair of papers",
        many="pairs of papers",
        asks="topic and papers",
        judged=("factuality", "breadth", "contextualisation"),
    ),
}


def require_declared_evaluation(method: Method) -> Evaluation:
    """Return how ``method`` is evaluated; InputError if its protocol does not declare it."""
    if method.protocol.evaluation is None:
        raise InputError(f"{method.name}: its protocol does not say how it is evaluated")
    return method.protocol.evaluation


def methods(task: Task) -> list[str]:
    """Return the names of the methods of a task."""
    return [
        name
        for name, method in every_method().items()
        if (how := method.protocol.evaluation) and task in (how.task, *how.also)
    ]


def usual_method(task: Task) -> str:
    """Return the protocol that answers a task by default."""
    of_task = [
        (not protocol.ours, how.task != task, protocol.name)
        for protocol in load_protocols().values()
        if (how := protocol.evaluation) and task in (how.task, *how.also)
    ]
    if not of_task:
        raise InputError(f"no installed protocol is evaluated by {TASKS[task].items}")
    return min(of_task)[-1]


def evaluations(task: Task | None = None) -> list[Evaluation]:
    """Return the evaluations of protocols with this main task, or of all protocols."""
    declared = [protocol.evaluation for protocol in load_protocols().values() if protocol.evaluation]
    return [evaluation for evaluation in declared if task in (None, evaluation.task)]


def equal_tokens(task: Task) -> list[str]:
    """Return the methods that spend a debate's tokens on samples instead."""
    return [evaluation.equal_tokens for evaluation in evaluations(task) if evaluation.equal_tokens]


def name_as_in_papers(name: str, method: Method, settings: Mapping[str, JsonValue]) -> str:
    """Return the name of a row in reports: ``Best-of-5`` for ``best_of_n, samples=5``.

    A name that does not begin with the method's own name was given by a person and stays.
    """
    declared = method.protocol.evaluation
    more = name.removeprefix(method.name)
    if declared is None or name == more or more[:1].isalnum() or more[:1] in ("_", "-"):
        return name
    paper_name = declared.paper_names.get(method.name, method.name)
    number = settings.get("samples") or declared.samples
    more = more.replace(f", samples={number}", "") if "{samples}" in paper_name else more
    return paper_name.replace("{samples}", str(number)) + more


def is_baseline(name: str) -> bool:
    """Return whether a method is a baseline for debates."""
    return named_method(name).variant.baseline


def baselines(task: Task, *, on_a_pair: bool = False) -> list[str]:
    """Return the baselines of a task, the plainest first.

    Baselines that protocols declare as plainest come first. ``on_a_pair`` is for debates that get
    two answers to choose from.
    """
    declared = evaluations(task)
    names = [name for evaluation in declared for name in evaluation.plainest_on_a_pair if on_a_pair]
    names += [name for evaluation in declared for name in evaluation.plainest]
    return [name for name in dict.fromkeys([*names, *methods(task)]) if is_baseline(name)]


def arguers(method: Method, models: Mapping[str, str]) -> set[str]:
    """Return the models that argue in a debate: those of the voter's role and of its family.

    ``models`` are the debate's models by role. If another protocol debates inside, its roles argue.
    In a debate without voters all roles argue.
    """
    inner = method.protocol.inner is not None
    other_protocols = [
        other_protocol
        for other_protocol in load_protocols().values()
        if inner and other_protocol is not method.protocol
    ]
    for protocol in (*other_protocols, method.protocol):
        voters = protocol.evaluation.voters.values() if protocol.evaluation else ()
        for voter in dict.fromkeys(voters):
            family = protocol.roles.get(voter)
            if voter in models and (protocol is method.protocol or voter not in method.own_roles()):
                return {
                    model
                    for role, model in models.items()
                    if role == voter or (family and protocol.roles.get(role) == family)
                }
    return set(models.values())


def debates() -> list[str]:
    """Return the methods that a vote can precede; other methods hold no debate, or compare papers."""
    return [name for evaluation in evaluations() for name in evaluation.voters]


def graph_input(
    method: Method, item: Item, gold: str | None, context: ProtocolSettings
) -> dict[str, JsonValue]:
    """Return the input of the graph of ``method`` for an item.

    Only a method that argues from sources gets them. If the method's input has no ``claim``, a claim
    becomes its ``question``. Raises InputError for an item that the method refuses.
    """
    fields = item.inputs.model_dump(mode="json", exclude_defaults=True)
    if "claim" in fields and "claim" not in (input_fields := method.protocol.input.model_fields):
        fields |= {"question": fields.pop("claim")} if "question" in input_fields else {}
    fields |= dict(zip(("paper_a", "paper_b"), fields.pop("papers", ()), strict=False))
    read = fields.pop("sources", [])
    prepared_input = prepare_graph_input(
        method, fields if gold is None else {**fields, "gold": gold}, context
    )
    if read and method.grounded:
        prepared_input["sources"] = [{"id": f"s{n}", **source} for n, source in enumerate(read, 1)]
    return prepared_input


def remove_program_marks(method: Method, answer: str) -> str:
    """Return an answer without the program's marks, ready for a judge."""
    path = require_declared_evaluation(method).unmarked
    return str(load(path)(answer)) if path else answer


def sides(record: RunRecord, gold: str | None, method: Method) -> Sides | None:
    """Return the position of the gold answer in a debate, or None if the protocol declares none."""
    path = require_declared_evaluation(method).sides
    where = load(path)(record, gold) if path else None
    return None if where is None else Sides(**where)


def rulings(record: RunRecord, context: ProtocolSettings) -> dict[str, str | None]:
    """Return the label that each judge of a jury named on the question, by the judge's number.

    None for a judge without a ruling, or with different rulings in the two orders. In a knockout the
    last debate counts. Empty without a jury that ruled on the question as a whole.
    """
    juries_of = {role: len(context.jury_of(role)) for role in juries(type(context))}
    jury_sizes = {role: judges for role, judges in juries_of.items() if judges > 1}
    if record.verdict is None or record.verdict.agreement is None or not jury_sizes:
        return {}
    ruled = [
        turn
        for node in record.tree.nodes.values()
        for turn in node.transcript
        if turn.role in jury_sizes and turn.names is not None and turn.name[:1].isdigit()
    ]
    last = max((path_key(turn.node) for turn in ruled), default=())
    labels_by_judge: dict[str, dict[str, str]] = {}
    for turn in ruled:
        if path_key(turn.node) == last:  # the last ruling of a speaker counts
            labels_by_judge.setdefault(turn.name.partition("_")[0], {})[turn.name] = turn.names or ""
    ruling_by_judge: dict[str, str | None] = {}
    for number in map(str, range(1, max(jury_sizes.values()) + 1)):
        labels = {*labels_by_judge.get(number, {}).values()}
        ruling_by_judge[number] = (labels.pop() or None) if len(labels) == 1 else None
    return ruling_by_judge
