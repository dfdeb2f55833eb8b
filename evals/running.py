"""Runs an evaluation: asks every item by every row, once, whatever happens on the way.

Questions run side by side in one event loop, enough of them to keep all slots for requests in use.
The result of each is a line of ``results.jsonl``. A question that was broken off goes on from its
journal.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from dialectree.errors import DialectreeError, Halted
from dialectree.evals.dataset_items import Item
from dialectree.evals.plan import Plan, begun, controls, repeated
from dialectree.evals.question_runs import Answer, Asker
from dialectree.evals.results import Result
from dialectree.evals.results_file import Done, Folder
from dialectree.evals.rows import Ready
from dialectree.evals.standing import Spending, Standing
from dialectree.system import clock

REFUSED = 20
"""After so many refused questions of a row, and none answered, the others are not tried."""

Watch = Callable[[Standing], None]


class Engine(Protocol):
    """Asks questions: in this process, or elsewhere."""

    async def ask(self, row: Ready, item: Item) -> Answer:
        """Return the answer to one question; raises what ends the evaluation."""
        ...

    def close(self, error: DialectreeError) -> None:
        """Let no further call begin."""
        ...


Begin = Callable[[Asker, Plan, Spending], AbstractAsyncContextManager[Engine]]
"""Begins an engine that asks by ``Asker`` within a budget, and ends it."""


class Queue:
    """The questions in the order in which they are asked.

    An item goes through its rows one after another, so that calls which rows have in common are
    answered from the reply cache, and an interrupted evaluation has whole pairs. Two rows of one
    item run side by side only when no other item is left.
    """

    def __init__(self, items: Iterable[Item], rows: Sequence[Ready], done: Iterable[Done]) -> None:
        known = {*done}
        self._left: dict[str, tuple[Item, deque[Ready]]] = {}
        self._under_way = Counter[str]()
        for item in items:
            if todo := deque(row for row in rows if (row.row.name, item.id) not in known):
                self._left[item.id] = item, todo

    def __len__(self) -> int:
        return sum(len(rows) for _, rows in self._left.values())

    def take(self) -> tuple[Ready, Item] | None:
        """Take the next question; None where none is left."""
        if not self._left:
            return None
        free = (name for name in self._left if not self._under_way[name])
        name = next(free, None) or next(iter(self._left))
        item, rows = self._left[name]
        row = rows.popleft()
        if not rows:
            del self._left[name]
        self._under_way[name] += 1
        return row, item

    def done(self, item: Item) -> None:
        """Note that one question of ``item`` has ended."""
        self._under_way[item.id] -= 1


@dataclass
class _Questions:
    """Asks questions from the queue until it is empty, or something ends the evaluation."""

    engine: Engine
    queue: Queue
    at_once: int
    keep: Callable[[Result], None]
    answered: set[str]
    """Rows of which a question was answered."""
    refused: dict[str, list[Answer]] = field(default_factory=dict[str, list[Answer]])
    """Refused questions of rows of which none was answered yet."""
    stopped: BaseException | None = None

    async def ask_all(self) -> None:
        """Ask all questions, ``at_once`` side by side; raise what ended them before their end.

        Then no question and no call begins, and those under way are waited for.
        """
        await asyncio.gather(*(self._ask() for _ in range(min(self.at_once, len(self.queue)))))
        refusals = (answers[0].refused for answers in self.refused.values())
        if error := self.stopped or next(refusals, None):
            raise error

    async def _ask(self) -> None:
        while self.stopped is None and (question := self.queue.take()):
            row, item = question
            try:
                self._receive(await self.engine.ask(row, item))
            except asyncio.CancelledError:
                raise
            except BaseException as error:  # raised again when the others have come to their end
                self._stop(error)
            self.queue.done(item)

    def _stop(self, error: BaseException) -> None:
        if self.stopped is None:
            self.stopped = error
            known = error if isinstance(error, DialectreeError) else None
            self.engine.close(known or Halted(f"stopped by {error!r}"))

    def _receive(self, answer: Answer) -> None:
        """Keep a result. A refused question is a failed one only if others can be answered."""
        row = answer.result.row
        if answer.refused is not None and row not in self.answered:
            waiting = self.refused.setdefault(row, [])
            waiting.append(answer)
            if len(waiting) >= max(REFUSED, self.at_once):
                self._stop(answer.refused)
            return
        self.keep(answer.result)
        if answer.result.status != "failed":
            self.answered.add(row)
            for earlier in self.refused.pop(row, []):
                self.keep(earlier.result)


def here(asker: Asker, plan: Plan, spending: Spending) -> AbstractAsyncContextManager[Engine]:
    """Ask in this process."""
    return nullcontext(asker)


async def run(
    folder: Folder,
    plan: Plan,
    spending: Spending,
    watch: Watch = lambda standing: None,
    begin: Begin = here,
) -> Standing:
    """Run ``plan`` in ``folder``, which is locked, to its end; finished questions are not asked.

    Raises what ended the evaluation before its end; the same call again goes on.
    """
    evaluation = begun(folder, plan)
    ids = {*evaluation.items}
    items = [one for one in repeated(plan.loaded.items, evaluation.repeats) if one.id in ids]
    with folder.appending() as results:
        if plan.retry_failed:
            results.ask_again(plan.questions)
        queue = Queue(plan.items, plan.rows, results.done)
        standing = Standing(len(plan.questions), len(plan.questions) - len(queue), spending)
        for question in sorted(plan.questions & results.done.keys()):
            outcome = results.done[question]
            standing.count(question, outcome.status, incomplete=outcome.incomplete)
        before = folder.evaluation()
        if before is not None and before.ended and not len(queue):
            evaluation.ended = before.ended
        folder.begin(evaluation, items)

        def keep(result: Result) -> None:
            results.add(result)
            standing.add(result)
            watch(standing)

        if len(queue):
            asker = Asker(
                runs=folder.runs,
                scorers=evaluation.scorers,
                judge=plan.judge,
                vote_first=plan.evaluation.vote_first,
                budget=spending,
                controls=controls(folder, plan),
                retry=plan.retry_failed,
            )
            answered = {row for row, _ in results.done}
            try:
                async with begin(asker, plan, spending) as engine:
                    await _Questions(engine, queue, plan.at_once, keep, answered).ask_all()
            except BaseException:
                if standing.spent.calls:
                    watch(standing)
                raise
        every = {(row.name, item) for row in evaluation.rows for item in evaluation.items}
        if evaluation.ended is None and every <= results.done.keys():
            evaluation.ended = clock.stamp()
            folder.write(evaluation)
    return standing
