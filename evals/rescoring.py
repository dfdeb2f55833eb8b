"""Score the answers of an evaluation again by other judges, without debating.

Each judge has its own journal of calls in each run's folder, so that no call is paid twice. The
judge's scores go to ``ratings-JUDGE.jsonl``, next to the ratings of people.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dialectree.errors import DialectreeError, InputError
from dialectree.evals import answer_scoring
from dialectree.evals.dataset_items import Item
from dialectree.evals.plan import judge_settings
from dialectree.evals.question_runs import void_failed
from dialectree.evals.rating import file_name, keep
from dialectree.evals.reporting.study import RatingLine
from dialectree.evals.results import Result, strip_address
from dialectree.evals.results_file import Folder
from dialectree.evals.standing import Spending
from dialectree.evals.tasks import remove_program_marks
from dialectree.models.sizes import at_chance
from dialectree.models.specs import resolve
from dialectree.protocols.protocol import method
from dialectree.protocols.settings import ProtocolSettings, build_settings
from dialectree.records.folder import RunFolder
from dialectree.report.progress import show
from dialectree.system.loop import finish_all

AT_ONCE = 64
"""Answers that a judge scores at once; the limits of the judge's model decide the number of calls."""
JOURNALS = "rejudging"
"""The subfolder of a run's folder with the journals of judges that were asked later."""


class AnswerToScore(NamedTuple):
    """An answer to score."""

    result: Result
    item: Item
    answer: str
    """The text without the program's marks; empty if the debate withheld its answer."""


@dataclass
class Rescoring:
    """Answers, and the judges that score them."""

    folder: Folder
    scorers: Sequence[str]
    judges: Mapping[str, ProtocolSettings]
    """The settings of each judge, by its model without an address."""
    answers: Sequence[AnswerToScore]
    spending: Spending
    """The budget that all judges share, and the spending so far."""
    done: int = 0
    """Answers scored so far, counted once for each judge."""

    @property
    def total(self) -> int:
        """The number of answers, once for each judge."""
        return len(self.answers) * len(self.judges)

    def __str__(self) -> str:
        """Return ``12 of 40 answers, 24 calls``."""
        return f"{self.done} of {self.total} answers, {self.spending.calls:,} calls"

    def at_least(self) -> str:
        """Return the fewest calls, as a text; an unreadable reply takes one call more."""
        scores = sum(
            bool(answer.answer) and answer_scoring.applies(name, answer.item)
            for answer in self.answers
            for name in self.scorers
        )
        calls = scores * len(self.judges)
        return f"{self.total:,} answers, at least {calls:,} calls minus those already made"


def prepare(path: Path, judges: Sequence[str], settings: Mapping[str, Any]) -> Rescoring:
    """Return the answers and judges of a rescoring; InputError if it is impossible.

    Args:
        path: The evaluation's folder.
        judges: Specs of the models that score.
        settings: Settings of the models, and limits of all judges together.
    """
    folder = Folder(path)
    evaluation, items = folder.require_evaluation(), {item.id: item for item in folder.items()}
    scorers = answer_scoring.list_judged_scorers(evaluation.task, [*items.values()])
    settings = {"seed": evaluation.seed, **settings}
    settings_by_judge: dict[str, ProtocolSettings] = {}
    for judge in judges:
        if (context := judge_settings(judge, scorers, settings)) is not None:
            settings_by_judge[strip_address(resolve(context.model, context).address)] = context
    if len(settings_by_judge) < len(judges):
        raise InputError("--judge: a judge is named twice")
    methods = {row.name: method(row.method) for row in evaluation.rows}
    last = {(result.row, result.item): result for result in folder.results()}
    answers = [
        AnswerToScore(
            last_result,
            items[last_result.item],
            remove_program_marks(methods[last_result.row], _answer(last_result)).strip(),
        )
        for last_result in last.values()
        if last_result.status != "failed" and last_result.item in items and last_result.row in methods
    ]
    if not answers:
        raise InputError(f"{path} holds no answer to score")
    return Rescoring(
        folder, scorers, settings_by_judge, answers, Spending(build_settings(ProtocolSettings, **settings))
    )


def _answer(result: Result) -> str:
    return (result.verdict and result.verdict.answer) or ""


async def conduct(rescoring: Rescoring, *, progress: bool | None = False) -> list[Path]:
    """Ask the judges for every score and return the files of their scores, one for each judge.

    Raises the error that ended the scoring early. The same call goes on, and asks failed calls once
    more.
    """
    for context in rescoring.judges.values():
        answer_scoring.require_key(context)
    with rescoring.folder.hold_lock():
        async with show(lambda: str(rescoring), progress):
            return [await _by_one(rescoring, judge) for judge in rescoring.judges]


async def _by_one(rescoring: Rescoring, judge: str) -> Path:
    """Score all answers by one judge; raise the first error after all answers have ended."""
    context, slots = rescoring.judges[judge], asyncio.Semaphore(AT_ONCE)
    by_chance = at_chance(resolve(context.model, context))
    scored: list[RatingLine] = []

    async def score(answer: AnswerToScore) -> None:
        scorers = [name for name in rescoring.scorers if answer_scoring.applies(name, answer.item)]
        requests = [(name, answer.item, answer.answer) for name in scorers]
        journal = rescoring.folder.runs / str(answer.result.run) / JOURNALS / file_name(judge)
        refused: list[InputError] = []
        async with slots:
            await asyncio.to_thread(void_failed, RunFolder(journal))
            scores = await answer_scoring.rulings(requests, journal, context, rescoring.spending, refused)
        if refused and not scored:  # it refuses the others, too
            raise refused[0]
        rated = {"rater": judge, "row": answer.result.row, "item": answer.result.item}
        scored.append(RatingLine(**rated, scores=scores, judge=True, demonstration=by_chance))
        rescoring.done += 1

    async def score_or_close(answer: AnswerToScore) -> None:
        try:
            await score(answer)
        except DialectreeError as error:
            rescoring.spending.close(error)
            raise

    await finish_all(map(score_or_close, rescoring.answers))
    scored.sort(key=lambda rating: (rating.row, rating.item))
    return await asyncio.to_thread(keep, rescoring.folder.path, scored)
