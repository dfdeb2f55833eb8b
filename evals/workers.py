"""Spreads the questions of an evaluation over workers: processes with an event loop of their own.

A worker asks questions as one process would alone; who drives them keeps the results. All of them
spend from one purse, which is asked before each call. A worker that is lost costs nothing but the
calls it had under way: its questions go to another one, which finds their journals. What a worker
is, an engine says: ``dialectree.evals.processes`` or ``dialectree.evals.cluster``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

from dialectree import clock, errors
from dialectree.context import Context
from dialectree.errors import DialectreeError, Halted, InputError
from dialectree.evals.items import Item
from dialectree.evals.question import Asker, Refused
from dialectree.evals.results import Result
from dialectree.evals.results_file import Done
from dialectree.evals.rows import Ready
from dialectree.models.limits import Budget
from dialectree.records import Call

LOST = 5
"""So often a question is given to another worker after its own was lost."""


class Fault(NamedTuple):
    """An error of ours on its way from one process to another."""

    kind: str
    text: str

    @classmethod
    def of(cls, error: DialectreeError) -> Fault:
        """What is sent."""
        return cls(type(error).__name__, str(error))

    def error(self) -> DialectreeError:
        """What it was."""
        made: DialectreeError = getattr(errors, self.kind)(self.text)
        return made


class Answer(NamedTuple):
    """What a worker sends back."""

    result: str | None = None
    """As JSON."""
    refused: Fault | None = None
    stopped: Fault | None = None

    def read(self) -> Result:
        """The result; raises what kept the worker from one, as ``Asker.ask`` would have."""
        if self.stopped is not None:
            raise Fault(*self.stopped).error()
        result = Result.model_validate_json(self.result or "")
        if self.refused is not None:
            error = Fault(*self.refused).error()
            assert isinstance(error, InputError)
            raise Refused(error, result)
        return result


class Lost(Exception):
    """The worker is gone, and with it the answer; says why, where that is known."""


class Purse:
    """What all workers may spend together, asked one call at a time."""

    def __init__(self, context: Context) -> None:
        self._budget = Budget(context)
        self._opened = False

    def begin(self) -> Fault | None:
        """One call more, or why there is none. Seconds count from the first."""
        if not self._opened:
            self._opened, self._budget.started = True, clock.seconds()
        try:
            self._budget.check()
        except DialectreeError as error:
            return Fault.of(error)
        self._budget.calls += 1
        return None

    def add(self, tokens: int, cost: float) -> None:
        """What a call turned out to have used."""
        self._budget.tokens += tokens
        self._budget.cost += cost

    def close(self, why: Fault) -> None:
        """No call starts any more."""
        self._budget.closed = self._budget.closed or why.error()

    @property
    def closed(self) -> Fault | None:
        """Why no call starts any more."""
        return None if self._budget.closed is None else Fault.of(self._budget.closed)


@dataclass
class FromPurse(Budget):
    """A worker's budget: the purse's. It is asked before a call, and told of it afterwards."""

    ask: Callable[[], Awaitable[Fault | None]] | None = None
    tell: Callable[[int, float], object] | None = None

    async def begin(self) -> None:
        """Asks the purse."""
        if self.closed is None and self.ask is not None and (fault := await self.ask()) is not None:
            self.closed = self.closed or Fault(*fault).error()
        if self.closed is not None:
            raise self.closed
        self.calls += 1

    def add(self, call: Call) -> None:
        """Tells the purse, and does not wait for it."""
        super().add(call)
        if self.tell is not None:
            self.tell(call.prompt_tokens + call.completion_tokens, call.cost or 0.0)


class Given(NamedTuple):
    """What a worker is told at its start."""

    rows: Sequence[Ready]
    runs: Path
    scorers: Sequence[str]
    judge: Context | None
    vote_first: int
    controls: Sequence[Done] = ()
    retry: bool = False

    def asker(self, budget: Budget) -> Asker:
        """Who asks the questions, within ``budget``."""
        return Asker(
            self.runs,
            self.scorers,
            self.judge,
            self.vote_first,
            budget,
            frozenset(self.controls),
            self.retry,
        )

    def shared(self, count: int) -> Given:
        """What each of ``count`` workers is told: its part of the slots and of the pace."""
        rows = [replace(row, context=_part(row.context, count)) for row in self.rows]
        judge = _part(self.judge, count) if self.judge else None
        return self._replace(rows=rows, judge=judge, runs=self.runs.absolute())


def _part(context: Context, count: int) -> Context:
    pace = context.requests_per_minute
    return context.model_copy(
        update={
            "concurrency": max(1, context.concurrency // count),
            "requests_per_minute": pace and pace / count,
        }
    )


async def asked(asker: Asker, row: Ready, item: str) -> Answer:
    """What a worker answers to the question of ``item``, which is JSON."""
    try:
        done = await asker.ask(row, Item.model_validate_json(item))
    except Refused as refused:
        return Answer(refused.result.model_dump_json(), refused=Fault.of(refused.error))
    except DialectreeError as error:
        return Answer(stopped=Fault.of(error))
    return Answer(done.model_dump_json())


class Worker(Protocol):
    """A worker as the one who drives it sees it."""

    async def ask(self, row: int, item: str) -> Answer:
        """The answer to one question, by the number of its row; raises Lost."""


Hired = TypeVar("Hired", bound=Worker)


@dataclass
class _Place(Generic[Hired]):
    """One worker's place; another worker takes it when the one that has it is lost."""

    worker: Hired
    under_way: int = 0


class Team(Generic[Hired]):
    """The workers, for the one who drives them."""

    def __init__(self, rows: Sequence[Ready], count: int, hire: Callable[[], Hired]) -> None:
        self._numbers = {row.row.name: number for number, row in enumerate(rows)}
        self._hire = hire
        self._places = [_Place(hire()) for _ in range(count)]
        self._taken: dict[str, _Place[Hired]] = {}
        """Who has an item: what its rows have in common is paid for once."""

    async def ask(self, row: Ready, item: Item) -> Result:
        """The result of one question: from the worker that has the item, or the least to do."""
        idle = min(self._places, key=lambda place: place.under_way)
        place = self._taken.setdefault(item.id, idle)
        why = ""
        for _ in range(LOST):
            worker = place.worker
            place.under_way += 1
            try:
                answer = await worker.ask(self._numbers[row.row.name], item.model_dump_json())
            except Lost as lost:
                why = f": {lost}" if str(lost) else ""
                if place.worker is worker:  # the first of its questions that hears of it
                    place.worker = self._hire()
                continue
            finally:
                place.under_way -= 1
            return answer.read()
        raise Halted(f"the workers of item {item.id!r} were lost, {LOST} one after another{why}")

    @property
    def workers(self) -> list[Hired]:
        """Those that are at work."""
        return [place.worker for place in self._places]
