"""Score answers: choose the scorers of an item, and ask a judge for the scores that need one.

A journal in the folder of the judged run keeps the judge's calls. They are counted separately.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import BaseModel

from dialectree.errors import InputError, PartFailed, RequestError
from dialectree.evals import scorers
from dialectree.evals.dataset_items import Item, Task
from dialectree.evals.results import AnswerScore, ControlScore
from dialectree.evals.scorers import Ask, Words
from dialectree.evals.standing import JUDGE_ROLE
from dialectree.evals.tasks import TASKS
from dialectree.models.asking import RUNGS, Form, ModelRequest, Wording, form, messages, sampling
from dialectree.models.limits import Budget
from dialectree.models.run import Run
from dialectree.models.specs import require_keys, resolve
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import Turn, Verdict
from dialectree.records.folder import RunFolder
from dialectree.running.held_run import HeldRun

_COMPUTED: Mapping[str, Callable[[Item, Verdict], AnswerScore]] = {
    "informative": scorers.informative,
    "choice": scorers.choice,
    "claim_label": scorers.claim_label,
    "claim_brier": scorers.claim_brier,
}
_JUDGED: Mapping[str, Callable[[Ask, Item, str], Awaitable[AnswerScore]]] = {
    "truthful": scorers.truthful,
    "factuality": scorers.factuality,
    "breadth": scorers.breadth,
    "contextualisation": scorers.contextualisation,
}
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "truthful": ("true", "false"),
    "choice": ("gold",),
    "claim_label": ("label",),
    "claim_brier": ("label",),
}
"""The references that a scorer can use, by scorer; an item needs one of these references."""


def names(task: Task, items: Sequence[Item]) -> list[str]:
    """Return the scorers that apply to at least one item of a data set."""
    task_scorers = (*TASKS[task].judged, *TASKS[task].computed)
    return [name for name in task_scorers if any(applies(name, item) for item in items)]


def list_judged_scorers(task: Task, items: Sequence[Item]) -> list[str]:
    """Return the scorers of a data set that ask a judge."""
    return [name for name in names(task, items) if name in TASKS[task].judged]


def applies(name: str, item: Item) -> bool:
    """Return whether an item has the references that a scorer needs."""
    needed = [getattr(item.reference, part) for part in _NEEDED.get(name, ())]
    return not needed or any(part not in (None, ()) for part in needed)


class _Word(Form):
    """A reply of one word in plain text. Only the prompt lists the allowed words."""

    @property
    def words(self) -> str:
        return "what was asked for, and nothing else"


def _word(kind: type[BaseModel]) -> _Word:
    return _Word("text", form(kind, {}).full, {}, "")


_FORMS: dict[str, Form] = {
    "RubricReply": form(scorers.RubricReply, {}),
    "FactualityReply": form(scorers.FactualityReply, {}),
    "TruthReply": _word(scorers.TruthReply),
}


def require_key(judge: ProtocolSettings) -> None:
    """Raise KeyRefused unless the judge's model has its key; a replay needs none."""
    if not judge.replay:
        require_keys([resolve(judge.speaker(JUDGE_ROLE), judge)])


def judge_of(run: Run, context: ProtocolSettings) -> Ask:
    """Return a function that asks the judge that scores; the judge's calls go to ``run``.

    The function raises CallError if the last retry fails.
    """

    async def ask(words: Words) -> str:
        prompt = words.prompt
        place = Turn(node="0", phase="scoring", role=JUDGE_ROLE, speaker=prompt.name.rpartition("/")[2])
        reply_form = _FORMS[prompt.reply]
        metadata = {
            "tree_node": place.node,
            "role": place.role,
            "round": place.round,
            "take": place.take,
            "prompt": prompt.label,
            "reply": prompt.reply,
        }
        spec = resolve(context.speaker(JUDGE_ROLE), context)
        prompt_messages = messages(words.system, words.user)
        asking = ModelRequest(
            context,
            place,
            prompt.label,
            spec,
            prompt_messages,
            reply_form,
            sampling(prompt.temperature, place.random_seed(context.seed), top_p=prompt.top_p),
            {"run_name": f"{JUDGE_ROLE} {run.run_id}", "metadata": metadata},
            prompt_form=await run.prompt_form(context, spec),
            medium=Wording(prompt_messages, reply_form),
            rung=RUNGS[-1] if isinstance(reply_form, _Word) else None,
        )
        call = await run.call(asking)
        return "" if call.finish == "refusal" else call.reply or ""

    return ask


async def scores(
    scorer_names: Sequence[str],
    item: Item,
    verdict: Verdict | None,
    folder: RunFolder,
    judge: ProtocolSettings | None,
    budget: Budget,
    refused: list[InputError],
) -> list[AnswerScore]:
    """Return the scores of a verdict; add refusals by the judge's endpoint to ``refused``.

    If the judge gives no reply, the score has the outcome ``failed``. Raises errors that end the
    whole evaluation, such as a spent budget.
    """
    scorer_names = [name for name in scorer_names if applies(name, item)]
    verdict = verdict or Verdict()
    scores_by_name = {name: _COMPUTED[name](item, verdict) for name in scorer_names if name in _COMPUTED}
    if judge is not None:
        answer = (verdict.answer or "").strip()
        requests = [(name, item, answer) for name in scorer_names if name in _JUDGED]
        judged = await rulings(requests, folder.path / "judging", judge, budget, refused)
        scores_by_name |= {score.key: score for score in judged}
    return [scores_by_name[name] for name in scorer_names if name in scores_by_name]


def controls(scorer_names: Sequence[str], item: Item) -> list[tuple[str, scorers.ControlAnswer]]:
    """Return pairs of a scorer and an answer whose score is known, to test the scorer's judge."""
    return [(name, control) for name in scorer_names for control in scorers.controls(name, item)]


async def judge_controls(
    scorer_names: Sequence[str], item: Item, folder: RunFolder, judge: ProtocolSettings, budget: Budget
) -> list[ControlScore]:
    """Return the judge's scores of the controls: answers whose right score is known."""
    tried = controls(scorer_names, item)
    reduced_item = scorers.remove_control_references(item)
    requests = [(name, reduced_item or item, control.answer) for name, control in tried]
    ruled = await rulings(requests, folder.path / "controls", judge, budget, [])
    return [
        ControlScore(
            key=name,
            truthful=control.truthful,
            score=ruling.score,
            value=ruling.value,
            held_back=reduced_item is not None if name in _NEEDED else None,
        )
        for (name, control), ruling in zip(tried, ruled, strict=True)
    ]


async def rulings(
    requests: Sequence[tuple[str, Item, str]],
    journal: Path,
    judge: ProtocolSettings,
    budget: Budget,
    refused: list[InputError],
) -> list[AnswerScore]:
    """Ask the judge for all ``requests`` concurrently, and return its scores.

    A request is a scorer, an item and an answer. A journal in the folder ``journal`` keeps the
    calls. Refusals by the endpoint are added to ``refused``.
    """
    if not requests:
        return []
    await asyncio.to_thread(journal.mkdir, 0o700, parents=True, exist_ok=True)
    async with _calling(RunFolder(journal), judge, budget) as run:
        ask = judge_of(run, judge)

        async def score(name: str, item: Item, answer: str) -> AnswerScore:
            try:
                return await _JUDGED[name](ask, item, answer)
            except (PartFailed, RequestError) as error:
                refused.extend([error] if isinstance(error, RequestError) else [])
                return AnswerScore(key=name, score=None, value="failed", comment=str(error))

        return await asyncio.gather(*(score(*request) for request in requests))


@asynccontextmanager
async def _calling(folder: RunFolder, judge: ProtocolSettings, budget: Budget) -> AsyncIterator[HeldRun]:
    """Open a run that keeps its calls in a journal, without a record."""
    run = HeldRun(folder.run_id, judge, budget=budget)
    failure: BaseException | None = None
    run.use(folder.journal())
    try:
        try:
            yield run
        except (Exception, asyncio.CancelledError) as error:
            failure = error
        if (failure := await run.leave(failure, finished=failure is None)) is not None:
            raise failure
    finally:
        run.close_files()  # if the program ends
