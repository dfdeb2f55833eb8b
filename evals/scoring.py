"""Which scorers an item has, and the judge that some of them ask, through the door to the models.

What a judge says is kept in a journal beside the run that it judges, and its calls are counted
apart from the debate's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from dialectree.conduct import calling
from dialectree.context import Context
from dialectree.errors import PartFailed, RequestError
from dialectree.evals import judges, rubrics, scorers
from dialectree.evals.asking import Ask, Scorer, Words
from dialectree.evals.items import Item, Task
from dialectree.evals.results import Control, Score
from dialectree.models.asking import Asking, Place, messages
from dialectree.models.endpoints import RUNGS, Decoding, Request, endpoint
from dialectree.models.forms import Form, form
from dialectree.models.limits import Budget
from dialectree.models.run import Run
from dialectree.models.specs import resolve
from dialectree.records import Usage, Verdict, usage
from dialectree.runs import RunFolder

FAILED = "failed"
"""The outcome of a score whose judge gave no reply, to the last try."""
ROLE = "scorer_judge"
JUDGED: dict[Task, tuple[str, ...]] = {
    "answer": ("truthful",),
    "compare": ("factuality", "breadth", "contextualisation"),
}
"""Scores that a judge gives."""
RIGHT: Mapping[Task, str] = {"answer": "truthful", "decide": "choice", "verify": "claim_label"}
"""The score that says right or wrong."""
COMPUTED: dict[Task, tuple[str, ...]] = {
    "answer": ("informative",),
    "decide": ("choice",),
    "verify": ("claim_label", "claim_brier"),
}


def names(task: Task, items: Sequence[Item]) -> list[str]:
    """The scorers of a data set: those that at least one of its items has a reference for."""
    every = (*JUDGED.get(task, ()), *COMPUTED.get(task, ()))
    return [name for name in every if any(applies(name, item) for item in items)]


def judged(task: Task) -> tuple[str, ...]:
    """The scorers of a task that ask a judge."""
    return JUDGED.get(task, ())


def applies(name: str, item: Item) -> bool:
    """Whether an item has what a score is measured by."""
    reference = item.reference
    if name == "choice":
        return reference.gold is not None
    if name in ("claim_label", "claim_brier"):
        return reference.label is not None
    return name != "truthful" or bool(reference.true or reference.false)


class _Word(Form):
    """A reply of one word, asked for in plain text: the prompt alone says which."""

    @property
    def words(self) -> str:
        return "what was asked for, and nothing else"


def _word(kind: type[BaseModel]) -> _Word:
    return _Word("text", form(kind, {}).full, {}, "")


_FORMS: dict[str, Form] = {
    "RubricReply": form(rubrics.RubricReply, {}),
    "FactualityReply": form(rubrics.FactualityReply, {}),
    "TruthReply": _word(judges.TruthReply),
    "PreferenceReply": _word(judges.PreferenceReply),
}


class Judge:
    """A judge of one question's answers; :meth:`ask` is what scorers take."""

    def __init__(self, run: Run, context: Context) -> None:
        self._run, self._context = run, context

    async def ask(self, words: Words) -> str:
        """What the judge says; CallError where it says nothing, to the last try."""
        context, prompt = self._context, words.prompt
        place = Place("0", ROLE, "scoring", 0, who=prompt.name.rpartition("/")[2])
        wanted = _FORMS[prompt.reply]
        request = Request(
            messages(words.system, words.user),
            wanted,
            Decoding(prompt.temperature, None, place.seed(context.seed), prompt.top_p),
            context.call_deadline,
            context.requests_per_minute,
            {"run_name": f"{ROLE} {self._run.run_id}", "metadata": _told(place, words)},
        )
        whom = endpoint(resolve(context.speaker(ROLE), context))
        rung = RUNGS[-1] if isinstance(wanted, _Word) else None
        asking = Asking(context, place, prompt.label, whom, request, rung=rung)
        call = await self._run.call(asking)
        return "" if call.finish == "refusal" else call.reply or ""


def _told(place: Place, words: Words) -> dict[str, Any]:
    return {
        "tree_node": place.node,
        "role": place.role,
        "round": place.round,
        "take": place.take,
        "prompt": words.prompt.label,
        "reply": words.prompt.reply,
    }


def _scorer(name: str, ask: Ask) -> Scorer:
    """The scorer that asks a judge."""
    if name == "truthful":
        return judges.truthful(ask)
    return rubrics.factuality(ask) if name == "factuality" else rubrics.rubric(ask, _grade(name))


def _grade(name: str) -> Literal["breadth", "contextualisation"]:
    return "breadth" if name == "breadth" else "contextualisation"


_COMPUTING: dict[str, Callable[..., scorers.Score]] = {
    "informative": scorers.informative,
    "choice": scorers.choice,
    "claim_label": scorers.claim_label,
    "claim_brier": scorers.claim_brier,
}


class Scored(NamedTuple):
    """What the scorers said of one verdict."""

    scores: list[Score]
    spent: Usage
    """What their judge cost."""
    refused: RequestError | None
    """What the judge's endpoint said where it refuses the request."""


async def scores(
    names: Sequence[str],
    item: Item,
    verdict: Verdict | None,
    folder: RunFolder,
    judge: Context | None,
    budget: Budget,
) -> Scored:
    """What the scorers say of a verdict, and what their judge cost.

    A judge that gives no reply is the outcome ``failed`` of its score. What ends the whole
    evaluation, such as a budget that is used up, is raised.
    """
    example = item.example()
    said = {
        "inputs": example["inputs"],
        "outputs": verdict.model_dump(mode="json") if verdict is not None else {},
        "reference_outputs": example["reference_outputs"],
    }
    asked = [name for name in names if applies(name, item)]
    computed = {name: Score(**_COMPUTING[name](**said)) for name in asked if name in _COMPUTING}
    judged = [name for name in asked if name not in _COMPUTING]
    spent, refused = Usage(), list[RequestError]()
    if judged and judge is not None:
        beside = RunFolder(folder.path / "judging")
        await asyncio.to_thread(beside.path.mkdir, 0o700, exist_ok=True)
        async with calling(beside, judge, (), budget) as run:
            ask = Judge(run, judge).ask
            found = await asyncio.gather(
                *(_score(name, _scorer(name, ask), said, refused) for name in judged)
            )
        computed |= {one.key: one for one in found}
        spent = usage(beside.calls())
    ordered = [computed[name] for name in asked if name in computed]
    return Scored(ordered, spent, refused[0] if refused else None)


def controls(names: Sequence[str], item: Item) -> list[tuple[str, judges.Control]]:
    """Return answers whose score is known, each with the scorer whose judge is tried on it."""
    example: dict[str, Any] = item.example()
    found: list[tuple[str, judges.Control]] = []
    if "truthful" in names:
        found += [("truthful", one) for one in judges.controls(example["reference_outputs"])]
    if "factuality" in names:
        found += [("factuality", one) for one in rubrics.controls(example["inputs"])]
    return found


async def controlled(
    names: Sequence[str], item: Item, folder: RunFolder, judge: Context, budget: Budget
) -> tuple[list[Control], Usage]:
    """Return what the judge says of answers whose score is known, and what that cost."""
    example = item.example()
    given = {"inputs": example["inputs"], "reference_outputs": example["reference_outputs"]}
    asked = controls(names, item)
    beside = RunFolder(folder.path / "controls")
    await asyncio.to_thread(beside.path.mkdir, 0o700, exist_ok=True)
    async with calling(beside, judge, (), budget) as run:
        ask = Judge(run, judge).ask
        said = [{**given, "outputs": {"answer": control.answer}} for _, control in asked]
        found = await asyncio.gather(
            *(
                _score(name, _scorer(name, ask), outputs, [])
                for (name, _), outputs in zip(asked, said, strict=True)
            )
        )
    made = [
        Control(key=name, truthful=control.truthful, score=one.score, value=one.value)
        for (name, control), one in zip(asked, found, strict=True)
    ]
    return made, usage(beside.calls())


async def _score(
    name: str, scorer: Scorer, said: dict[str, Any], refused: list[RequestError]
) -> Score:
    try:
        return Score(**await scorer(**said))
    except (PartFailed, RequestError) as error:
        refused.extend([error] if isinstance(error, RequestError) else [])
        return Score(key=name, score=None, value=FAILED, comment=str(error))
