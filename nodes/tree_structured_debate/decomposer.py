"""The expansion of a question: split it, judge the split, rate its parts, open the children."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, BeforeValidator, Field, model_validator

from dialectree.answers import normal, tokens
from dialectree.flow.human_input import ask_person
from dialectree.models.door import ask
from dialectree.nodes.tree_structured_debate.sides import CLARIFIED, as_asked
from dialectree.nodes.tree_structured_debate.state import Question, Settings, Subtree
from dialectree.nodes.tree_structured_debate.tree import children_that_fit, hardest, shares
from dialectree.records import Place
from dialectree.trace.events import tell

_QID = 16
"""The most characters of a part's name in a reply."""


def _cut(value: object) -> object:
    """Cut the name to ``_QID`` characters; no role reads it."""
    return str(value)[:_QID] if type(value) in (str, int) else value


class ChildReply(BaseModel):
    """One sub-question."""

    qid: Annotated[str, BeforeValidator(_cut), Field(max_length=_QID)]
    text: Annotated[str, Field(min_length=1, max_length=600)]


class DecomposerReply(BaseModel):
    """A proposed split."""

    canonical_parent: Annotated[str, Field(min_length=1)]
    children: Annotated[list[ChildReply], Field(max_length=12)]
    coverage_justification: Annotated[str, Field(max_length=1500)]
    stop: bool


def number_subquestions(drafted: Sequence[str]) -> list[dict[str, str]]:
    """Return the sub-questions with ids c1, c2, ... for the next reply to refer to."""
    return [{"qid": f"c{n}", "text": text} for n, text in enumerate(drafted, 1)]


def expansion(state: Subtree, role: str, step: int) -> Place:
    """Return the place of a call in an expansion: three in the first attempt, then three in a second."""
    attempt = state["attempt"]
    return Place(node=state["id"], phase="expansion", role=role, round=attempt, step=3 * (attempt - 1) + step)


async def decomposer(state: Subtree, runtime: Runtime[Settings]) -> dict[str, object]:
    """Propose two or more sub-questions, or call the question atomic."""
    reply = await ask(
        runtime,
        expansion(state, "decomposer", 0),
        "tree_structured_debate/decomposer",
        DecomposerReply,
        max_tokens=max(1200, 600 + tokens(state["question"])),
        question=state["question"],
        path=state["path"],
        max_children=runtime.context.max_children,
    )
    return {
        "canonical": reply.canonical_parent,
        "drafted": [child.text for child in reply.children],
        "atomic": reply.stop,
        "difficulty": [],
    }


class DecompositionJudgeReply(BaseModel):
    """A ruling on a split."""

    rationale: Annotated[str, Field(max_length=1500)]
    decision: Literal["approve", "revise"]
    children: Annotated[list[ChildReply], Field(max_length=12)]
    confidence: Annotated[float, Field(ge=0, le=1)]


async def decomposition_judge(state: Subtree, runtime: Runtime[Settings]) -> dict[str, list[str]]:
    """Approve the decomposer's list, or put another one in its place."""
    reply = await ask(
        runtime,
        expansion(state, "decomposition_judge", 1),
        "tree_structured_debate/decomposition_judge",
        DecompositionJudgeReply,
        max_tokens=1200,
        canonical=state["canonical"],
        children=number_subquestions(state["drafted"]),
        max_children=runtime.context.max_children,
    )
    if reply.decision == "approve":
        return {}
    return {"drafted": [child.text for child in reply.children]}


class Score(BaseModel):
    """How difficult one part is. The reason is asked for so that it is thought of first.

    Nobody reads it, so a score without one counts.
    """

    qid: str
    reason: Annotated[str, Field(max_length=600)]
    difficulty: Annotated[float, Field(ge=0, le=1)]

    @model_validator(mode="before")
    @classmethod
    def _without_reason(cls, score: object) -> object:
        return {"reason": "", **score} if isinstance(score, dict) else score


class ComplexityReply(BaseModel):
    """The difficulty of every part, and a decision."""

    scores: list[Score]
    clarification_request: Annotated[str | None, Field(max_length=600)]
    decision: Literal["decompose", "atomic", "clarify"]


async def complexity_evaluator(state: Subtree, runtime: Runtime[Settings]) -> dict[str, object]:
    """Rate every part of the split, and say what the question leaves open."""
    parts = number_subquestions(state["drafted"])
    reply = await ask(
        runtime,
        expansion(state, "complexity_evaluator", 2),
        "tree_structured_debate/complexity_evaluator",
        ComplexityReply,
        ids={"scores.qid": [part["qid"] for part in parts]},
        max_tokens=1200,
        question=state["question"],
        canonical=state["canonical"],
        children=parts,
    )
    score = {item.qid: item.difficulty for item in reply.scores}
    difficulty = [score[part["qid"]] for part in parts]
    easy = max(difficulty) < runtime.context.stop_threshold
    unclear: list[str] = []
    if reply.decision == "clarify":
        request = " ".join((reply.clarification_request or "").split())
        unclear.append(request or "The evaluator does not say what is missing.")
        tell(runtime, state["id"], "asked", {"note": f"missing: {unclear[0]}"})
    elif (reply.decision == "atomic") != easy:
        scored = "atomic" if easy else "decompose"
        note = f"the evaluator said {reply.decision}; its scores say {scored}"
        tell(runtime, state["id"], "noted", {"note": note})
    return {"difficulty": difficulty, "unclear": unclear}


async def opening(state: Question, runtime: Runtime[Settings]) -> dict[str, object]:
    """Open a question."""
    tell(runtime, state["id"], "opened", {"text": state["question"]})
    return {"take": 1, "facts": [], "attempt": 1, "unclear": []}


async def clarification(state: Subtree, runtime: Runtime[Settings]) -> dict[str, object]:
    """Ask the person what the question leaves open; an empty answer changes nothing."""
    answer = await ask_person(
        runtime,
        node=state["id"],
        kind="clarification",
        question=state["question"],
        request=" ".join(state["unclear"]),
    )
    clarified = {"question": f"{state['question']}{CLARIFIED}{answer})", "unclear": []}
    return {"attempt": state["attempt"] + 1, **(clarified if answer else {})}


async def branching(state: Subtree, runtime: Runtime[Settings]) -> dict[str, list[Question]]:
    """Keep as many children as fit: the hardest if they were rated, else the first."""
    node, drafted, budget = state["id"], state["drafted"], state["budget"]
    max_children = min(len(drafted), runtime.context.max_children)
    count = children_that_fit(budget, max_children)
    chosen = hardest(state["difficulty"] or [0.0] * len(drafted), count)
    children: list[Question] = [
        {
            "id": f"{node}.{n}",
            "question": drafted[place],
            "path": [*state["path"], state["question"]],
            "depth": state["depth"] + 1,
            "budget": share,
        }
        for n, (place, share) in enumerate(zip(chosen, shares(budget, count), strict=True))
    ]
    for note in repetitions(children, state["question"], node):
        tell(runtime, node, "noted", {"note": note})
    tell(runtime, node, "branched", {"children": [child["id"] for child in children]})
    return {"children": children}


def repetitions(children: Sequence[Question], question: str, node: str) -> Iterator[str]:
    """Yield a note on each child that asks the same as its parent ``node`` or an earlier child.

    A repetition is paid for twice. The note changes nothing: the paper leaves non-overlap to the
    decomposition judge.
    """
    first = {normal(as_asked(question)): node}
    for child in children:
        same = first.setdefault(normal(child["question"]), child["id"])
        if same != child["id"]:
            yield f"{child['id']} asks the same as {same}"
