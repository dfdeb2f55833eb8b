"""Run an evaluation: ask every item by every row, and pay for each question once.

Questions run concurrently in one event loop, enough of them to keep all slots for requests in use.
Each result is a line of ``results.jsonl``. An interrupted question goes on from its journal.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext

from dialectree.errors import DialectreeError, Halted
from dialectree.evals import answer_scoring
from dialectree.evals import plan as planning
from dialectree.evals.dataset_items import Item
from dialectree.evals.plan import Plan
from dialectree.evals.question_runs import Asker, Engine, QuestionResult
from dialectree.evals.ray_engine import ray_engine
from dialectree.evals.results import Result
from dialectree.evals.rows import Ready
from dialectree.evals.standing import Spending, Standing
from dialectree.report.progress import Several, show
from dialectree.running.recorded_settings import require_keys
from dialectree.system import clock
from dialectree.system.loop import finish_all

REFUSED = 20
"""Refused questions of a row without an answered one, after which no other question is tried."""

Watch = Callable[[Standing], None]
Question = tuple[Ready, Item]


def _engine(asker: Asker, plan: Plan, spending: Spending) -> AbstractAsyncContextManager[Engine]:
    if plan.options.engine == "local":
        return nullcontext(asker)
    return ray_engine(asker, plan, spending)


async def conduct(
    plan: Plan, *, progress: bool | None = False, watch: Watch = lambda standing: None
) -> Standing:
    """Run ``plan`` in its folder to its end; finished questions are not asked again.

    Raises the error that ended the evaluation early; the same call goes on.

    Args:
        plan: The questions, and the folder of the results.
        progress: True to show the progress. None: in notebooks only.
        watch: Gets the standing after each result.
    """
    display = ProgressLine(plan.loaded.name)
    with plan.folder.hold_lock():
        async with show(display.text, progress):
            return await ask_questions(plan, Spending(plan.shared), display, watch)


class ProgressLine:
    """The line on the progress of an evaluation: its standing, and the newest event of a run."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.standing: Standing | None = None
        self.runs = Several()

    def text(self) -> str:
        """Return ``mine: 12 of 40 questions, 0 failed, 90 calls · 0 judge: ...``."""
        return f"{self._name}: {self.standing or '0 results'}{self.runs.newest()}"


async def ask_questions(plan: Plan, spending: Spending, display: ProgressLine, watch: Watch) -> Standing:
    """Run ``plan`` as :func:`conduct` does, within a display and the lock of its folder."""
    folder, evaluation = plan.folder, planning.merge_evaluation(plan)
    ids = {*evaluation.items}
    repeated_items = planning.repeat_items(plan.loaded.items, evaluation.repeats)
    with folder.appending() as results:
        if plan.retry_failed:
            results.ask_again(plan.questions)
        todo = [
            (row, item)
            for item in plan.items
            for row in plan.rows
            if (row.row.name, item.id) not in results.done
        ]
        standing = Standing(len(plan.questions), len(plan.questions) - len(todo), spending)
        for question in sorted(plan.questions & results.done.keys()):
            outcome = results.done[question]
            standing.count(question, outcome.status, incomplete=outcome.incomplete)
        before = folder.evaluation()
        if before is not None and not todo:
            evaluation.ended = before.ended
        for row in {row.row.name: row for row, _ in todo}.values():
            require_keys(row.method, row.context)
        if todo and plan.judge:
            answer_scoring.require_key(plan.judge)
        folder.begin(evaluation, [item for item in repeated_items if item.id in ids])

        def tell(standing: Standing) -> None:
            display.standing = standing
            watch(standing)

        def keep(result: Result) -> None:
            results.add(result)
            standing.add(result)
            tell(standing)

        if todo:
            asker = Asker(
                runs=folder.runs,
                scorers=evaluation.scorers,
                judge=plan.judge,
                vote_first=plan.evaluation.vote_first,
                budget=spending,
                controls=planning.controls(plan),
                retry=plan.retry_failed,
                watch=display.runs.watch if plan.options.engine == "local" else None,
            )
            answered = {row for row, _ in results.done}
            try:
                async with _engine(asker, plan, spending) as engine:
                    await ask_all(engine, todo, plan.at_once, keep, answered)
            except BaseException:
                if standing.spent.calls:
                    tell(standing)
                raise
        questions = {(row.name, item) for row in evaluation.rows for item in evaluation.items}
        if evaluation.ended is None and questions <= results.done.keys():
            evaluation.ended = clock.stamp()
            folder.write(evaluation)
    return standing


async def ask_all(
    engine: Engine, todo: Sequence[Question], at_once: int, keep: Callable[[Result], None], answered: set[str]
) -> None:
    """Ask the questions, ``at_once`` concurrently; raise the first error that ends them early.

    After such an error no question or call begins, and those under way finish. The rows of one item
    run one after another, so that the reply cache answers the calls that they share. So after
    an interruption most items have results of all rows. Two rows of one item run concurrently only
    when no other item is left.

    A refused question counts as failed only if other questions of its row are answered.
    ``answered`` has the rows with an answered question.
    """
    queue, under_way = [*todo], Counter[str]()
    refused: dict[str, list[QuestionResult]] = {}
    stopped: list[BaseException] = []

    def take() -> Question:
        place = next((n for n, (_, item) in enumerate(queue) if not under_way[item.id]), 0)
        return queue.pop(place)

    def stop(error: BaseException) -> None:
        if not stopped:
            reason = error if isinstance(error, DialectreeError) else None
            engine.close(reason or Halted(f"stopped by {error!r}"))
        stopped.append(error)

    def receive(answer: QuestionResult) -> None:
        row = answer.result.row
        if answer.refused is not None and row not in answered:
            waiting = refused.setdefault(row, [])
            waiting.append(answer)
            if len(waiting) >= max(REFUSED, at_once):
                stop(answer.refused)
            return
        keep(answer.result)
        if answer.result.status != "failed":
            answered.add(row)
            for earlier in refused.pop(row, []):
                keep(earlier.result)

    async def ask() -> None:
        while queue and not stopped:
            row, item = take()
            under_way[item.id] += 1
            try:
                receive(await engine.ask(row, item))
            except asyncio.CancelledError:
                raise
            except BaseException as error:  # raised again after the others end
                stop(error)
            under_way[item.id] -= 1

    await finish_all(ask() for _ in range(min(at_once, len(queue))))
    for error in (*stopped, *(answers[0].refused for answers in refused.values())):
        if error is not None:
            raise error
