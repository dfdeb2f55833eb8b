"""Runs an evaluation: every item by every row, once, whatever happens on the way.

Questions run side by side in one event loop, enough of them that the slots for requests stay full,
and never so many that memory grows with their number. What ends is a line of ``results.jsonl``.
What was broken off is found again by its name and goes on from its journal.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from functools import cached_property

from dialectree import chance, clock
from dialectree.conduct import versions
from dialectree.context import Context
from dialectree.errors import DialectreeError, Halted, InputError
from dialectree.evals import scoring
from dialectree.evals.datasets import Loaded, require_same, require_same_items
from dialectree.evals.items import Item, Task
from dialectree.evals.paid import Paid, paid
from dialectree.evals.question import Asker, Refused
from dialectree.evals.results import DataUsed, Evaluation, Result, bare
from dialectree.evals.results_file import Done, Folder, Results
from dialectree.evals.rows import Ready, require_gold, require_same_rows
from dialectree.models.limits import Budget
from dialectree.records import Usage

CONTROLS = 50
"""Questions beside which the judge that scores is tried on answers whose score is known."""
AHEAD = 2.5
"""Questions under way for each slot: while one writes its record another one's call is waiting."""
SURE = 3
"""After so many refused questions of a row, and none answered, those under way decide about it."""

_NOTHING = Usage()
Work = Callable[[Ready, Item], Awaitable[Result]]
"""Asks a question; see :meth:`Asker.ask`."""


@dataclass(frozen=True)
class Plan:
    """What is to be run over what."""

    loaded: Loaded
    task: Task
    items: Sequence[Item]
    """Those that this command takes."""
    rows: Sequence[Ready]
    judge: Context | None
    judge_spec: str | None
    judge_demonstration: bool
    vote_first: int
    seed: int
    limit: int | None = None
    sample: int | None = None
    shard: str | None = None
    repeats: int = 1
    cluster: str | None = None
    """The column that ``--cluster`` named."""
    data: str | None = None
    """The file that ``--data`` named."""
    title: str = ""
    """The matrix's own."""
    missing: Sequence[str] = ()
    """What the matrix says that it lacks of a paper's table."""
    retry_failed: bool = False
    """Questions of these rows and items that failed, or lost a call, are asked once more."""

    @cached_property
    def questions(self) -> frozenset[Done]:
        """Every item by every row."""
        return frozenset((row.row.name, item.id) for row in self.rows for item in self.items)

    @property
    def scorers(self) -> list[str]:
        """The names of the scorers."""
        every = scoring.names(self.task, self.loaded.items)
        return every if self.judge else [n for n in every if n not in scoring.judged(self.task)]

    @property
    def at_once(self) -> int:
        """Questions under way at once."""
        return max(2, round(AHEAD * max(row.slots for row in self.rows)))


def task_of(loaded: Loaded) -> Task:
    """What all items are for; InputError where they are for different things."""
    task = loaded.items[0].inputs.task
    for item in loaded.items:
        if item.inputs.task != task:
            raise InputError(
                f"{loaded.path}: row {item.id!r} is to {item.inputs.task}, and the first one to "
                f"{task}: one kind of question in a file, please"
            )
    return task


def sampled(items: Sequence[Item], count: int, seed: int) -> list[Item]:
    """Draw ``count`` items so that every category and right answer has its share, in their order.

    The items of one stratum are spread evenly over 0 to 1, in a drawn order and from a drawn
    start, and those with the least places are taken. A larger sample holds the smaller one.
    """
    strata: dict[tuple[object, ...], list[Item]] = {}
    for item in items:
        right = item.reference.gold, item.reference.label
        strata.setdefault((item.category, *right), []).append(item)
    places: dict[str, float] = {}
    for stratum, members in strata.items():
        start = chance.seed(seed, "sample", *map(str, stratum)) / 2**31
        members.sort(key=lambda item: chance.seed(seed, "sample", item.id))
        places |= {m.id: (n + start) / len(members) for n, m in enumerate(members)}
    drawn = set(sorted(places, key=lambda item: (places[item], item))[:count])
    return [item for item in items if item.id in drawn]


def repeated(items: Sequence[Item], repeats: int) -> list[Item]:
    """Return every item as it is, and again as an item of its own for each further repeat."""
    found = [*items]
    for repeat in range(1, repeats):
        found += [
            item.model_copy(update={"id": f"{item.id}#{repeat}", "repeat": repeat})
            for item in items
        ]
    if len({item.id for item in found}) < len(found):
        raise InputError("--repeats: an item's id ends in # and a number: give it another id")
    return found


def taken(
    items: Sequence[Item],
    limit: int | None,
    shard: str | None,
    *,
    sample: int | None = None,
    seed: int = 0,
    repeats: int = 1,
) -> list[Item]:
    """Return the items that a command takes, each as often as it is repeated.

    They are the first ``limit`` ones, or ``sample`` drawn ones, and of those every n-th from the
    i-th on where a shard is i/n.
    """
    kept = [*items[:limit]] if sample is None else sampled(items, sample, seed)
    if shard is None:
        return repeated(kept, repeats)
    first, _, count = shard.partition("/")
    if not (first.isdecimal() and count.isdecimal() and 1 <= int(first) <= int(count)):
        raise InputError(f"--shard {shard}: write i/n, from 1/n to n/n")
    if not (part := kept[int(first) - 1 :: int(count)]):
        raise InputError(f"--shard {shard}: there are only {len(kept)} items to share out")
    return repeated(part, repeats)


def controls(folder: Folder, plan: Plan) -> frozenset[Done]:
    """Draw the questions of the first row beside which the judge is tried on known answers.

    Those beside which it was tried before are left out, unless they are asked again.
    """
    names = plan.scorers
    asked = [item for item in plan.items if not item.repeat]
    known = [item for item in asked if plan.judge and scoring.controls(names, item)]
    if not known:
        return frozenset()
    known.sort(key=lambda item: chance.seed(plan.seed, "control", item.id))
    tried = {(one.row, one.item): one for one in folder.results() if one.controls}
    there = {item for _, item in tried}
    again = {done for done, one in tried.items() if plan.retry_failed and one.incomplete}
    row = plan.rows[0].row.name
    drawn = {(row, item.id) for item in known[:CONTROLS] if item.id not in there}
    return frozenset(drawn | again)


def begun(folder: Folder, plan: Plan) -> Evaluation:
    """What is in the folder, with what ``plan`` adds to it; InputError where they do not agree."""
    require_gold(plan.rows, plan.items)
    found = folder.evaluation()
    rows = [row.row for row in plan.rows]
    before = found.rows if found else []
    known = {row.name for row in before}
    ids = {item.id for item in plan.items} | set(found.items if found else ())
    if found:
        _require_as_begun(folder, found, plan)
        require_same_rows(folder.path, before, rows)
    repeats = max(plan.repeats, found.repeats if found else 1)
    items = [item.id for item in repeated(plan.loaded.items, repeats) if item.id in ids]
    every = {item.id for item in plan.loaded.items}
    limit, sample, shard = _held(found, plan, [item for item in items if item in every])
    return Evaluation(
        title=plan.title or (found.title if found else ""),
        missing=[*dict.fromkeys([*(found.missing if found else ()), *plan.missing])],
        data=DataUsed(
            name=plan.loaded.name,
            path=plan.data,
            sha256=plan.loaded.sha256,
            items_sha256=plan.loaded.items_sha256,
            count=len(plan.loaded.items),
        ),
        task=plan.task,
        items=items,
        limit=limit,
        sample=sample,
        shard=shard,
        cluster=plan.cluster,
        repeats=repeats,
        seed=plan.seed,
        rows=[*before, *(row for row in rows if row.name not in known)],
        scorers=found.scorers if found else plan.scorers,
        judge=found.judge if found else plan.judge_spec,
        vote_first=plan.vote_first,
        demonstration=(found.demonstration if found else False)
        or plan.judge_demonstration
        or any(row.demonstration for row in plan.rows),
        started=found.started if found else clock.stamp(),
        versions=found.versions if found else {**versions()},
    )


def _held(
    found: Evaluation | None, plan: Plan, items: Sequence[str]
) -> tuple[int | None, int | None, str | None]:
    """Return limit, sample and shards of a folder that holds ``items``, by all commands together.

    Of the repeats of an item ``items`` has the first one.
    """
    now = {item.id for item in plan.items if not item.repeat}
    if found is None or len(items) == len(now):
        return plan.limit, plan.sample, plan.shard
    every = [item.id for item in plan.loaded.items]
    if items == every[: len(items)]:
        return (None if items == every else len(items)), None, None
    if len(items) == len({*items} & {*found.items}):
        return found.limit, found.sample, found.shard
    if found.shard is None or plan.shard is None or (found.sample, plan.sample) != (None, None):
        return None, None, None
    limits = [one for one in (found.limit, plan.limit) if one is not None]
    shards = {*found.shard.split(", "), plan.shard}
    return (max(limits) if len(limits) == 2 else None), None, ", ".join(sorted(shards))


def _require_as_begun(folder: Folder, found: Evaluation, plan: Plan) -> None:
    require_same(folder.path, found.data.sha256, plan.loaded.sha256)
    _require(folder, "--cluster", found.cluster, plan.cluster)
    require_same_items(folder.path, found.data.items_sha256, plan.loaded.items_sha256)
    for flag, first, second in (
        ("data set", found.data.name, plan.loaded.name),
        ("--seed", found.seed, plan.seed),
        ("--vote-first", found.vote_first, plan.vote_first),
        ("--judge", bare(found.judge or "none"), bare(plan.judge_spec or "none")),
    ):
        _require(folder, flag, first, second)


def _require(folder: Folder, flag: str, first: object, second: object) -> None:
    if first != second:
        raise InputError(
            f"{folder.path} was begun with {flag} {_said(first)}, and this is {_said(second)}: "
            "begin another folder (--out)"
        )


def _said(value: object) -> object:
    return "none" if value is None else value


@dataclass
class Spent:
    """What some calls took since the command began; replies from the cache cost nothing."""

    calls: int = 0
    cached: int = 0
    """Calls that the reply cache answered; they are not among ``calls``."""
    tokens: int = 0
    cost: float | None = 0.0
    """None as soon as a price is missing."""

    def take(self, usage: Usage, cached: Usage = _NOTHING, sign: int = 1) -> None:
        """Add calls, less the ``cached`` ones among them; a ``sign`` of -1 takes them off."""
        self._count(usage, sign)
        self._count(cached, -sign)
        self.cached += sign * cached.calls

    def _count(self, usage: Usage, sign: int) -> None:
        self.calls += sign * usage.calls
        self.tokens += sign * (usage.prompt_tokens + usage.completion_tokens)
        if usage.calls:
            known = self.cost is not None and usage.cost is not None
            cost = (self.cost or 0.0) + sign * (usage.cost or 0.0)
            self.cost = round(cost, 9) if known else None

    def __add__(self, other: Spent) -> Spent:
        costs = (self.cost, other.cost)
        return Spent(
            self.calls + other.calls,
            self.cached + other.cached,
            self.tokens + other.tokens,
            None if None in costs else round(sum(cost or 0.0 for cost in costs), 9),
        )


@dataclass
class Standing:
    """How far an evaluation is; whoever shows it reads this."""

    total: int
    before: int
    """Results that were there when it was begun or taken up again."""
    done: int = 0
    """Results since then."""
    failing: list[Done] = field(default_factory=list)
    """Questions of this command that failed, those of before included."""
    degraded: int = 0
    """Questions with an answer although a part failed, those of before included."""
    incomplete: int = 0
    """Questions that ``--retry-failed`` asks again: failed ones, and ones that lost a call."""
    debates: Spent = field(default_factory=Spent)
    """What debates, baselines and votes took."""
    judges: Spent = field(default_factory=Spent)
    """What the judge that scores took, its controls included."""
    paid_before: dict[Done, Paid] = field(default_factory=dict)
    """What earlier commands paid for questions that they left without a result."""
    started: float = field(default_factory=clock.seconds)

    @property
    def failed(self) -> int:
        """The number of questions that failed."""
        return len(self.failing)

    @property
    def spent(self) -> Spent:
        """What all calls took."""
        return self.debates + self.judges

    @property
    def calls(self) -> int:
        """Calls made since the command began."""
        return self.spent.calls

    @property
    def cached(self) -> int:
        """Calls that the reply cache answered since then."""
        return self.spent.cached

    @property
    def cost(self) -> float | None:
        """The price of the calls; None as soon as one is missing."""
        return self.spent.cost

    @property
    def left(self) -> int:
        """Questions without a result."""
        return self.total - self.before - self.done

    @property
    def eta_s(self) -> float | None:
        """Seconds to the end at the pace so far."""
        if not self.done:
            return None
        return (clock.seconds() - self.started) / self.done * self.left

    def add(self, result: Result) -> None:
        """One result more."""
        self.done += 1
        if result.status == "failed":
            self.failing.append((result.row, result.item))
        self.degraded += result.status == "degraded"
        self.incomplete += result.incomplete
        votes = [result.vote.usage] if result.vote else []
        self.spend((result.row, result.item), [result.usage, *votes], result.cached)
        for usage in (result.judging, result.controlling):
            self.judges.take(usage)
        self.judges.take(_NOTHING, result.cached_judging)
        self.debates.take(_NOTHING, result.cached_judging, -1)  # they are among ``cached``

    def spend(self, question: Done, usages: Iterable[Usage], cached: Usage) -> None:
        """Count all that a question took, less what was there of it before."""
        if (before := self.paid_before.pop(question, None)) is not None:
            self.debates.take(before.usage, before.cached, -1)
            self.judges.take(before.judging, before.judging_cached, -1)
        for usage in usages:
            self.debates.take(usage)
        self.debates.take(_NOTHING, cached)

    def take(self, usage: Usage, cached: Usage) -> None:
        """Count calls of the judge that scores, the ``cached`` ones among them."""
        self.judges.take(usage, cached)


Watch = Callable[[Standing], None]


class Queue:
    """The questions in the order in which they are asked.

    An item goes through its rows one after another, so that what rows have in common is answered
    from the reply cache, and that whatever breaks off leaves whole pairs. Only when no other item
    is left do two rows of one run side by side.
    """

    def __init__(
        self, items: Iterable[Item], rows: Sequence[Ready], there: Mapping[Done, object] | set[Done]
    ) -> None:
        self._left: dict[str, tuple[Item, deque[Ready]]] = {}
        self._under_way: dict[str, int] = {}
        for item in items:
            todo = deque(row for row in rows if (row.row.name, item.id) not in there)
            if todo:
                self._left[item.id] = item, todo

    def __len__(self) -> int:
        return len(self.left())

    def __bool__(self) -> bool:
        return bool(self._left)

    def left(self) -> list[Done]:
        """The questions that nobody has taken yet."""
        return [(row.row.name, item.id) for item, todo in self._left.values() for row in todo]

    def take(self, held: Collection[str] = ()) -> tuple[Ready, Item] | None:
        """The next question of a row that is not ``held``; None where there is none."""
        names: Iterable[str] = self._left
        if held:
            left = self._left.items()
            names = [n for n, (_, todo) in left if any(row.row.name not in held for row in todo)]
        free = (name for name in names if name not in self._under_way)
        name = next(free, None) or next(iter(names), None)
        if name is None:
            return None
        item, todo = self._left[name]
        row = next(row for row in todo if row.row.name not in held)
        todo.remove(row)
        if not todo:
            del self._left[name]
        self._under_way[name] = self._under_way.get(name, 0) + 1
        return row, item

    def done(self, item: Item) -> None:
        """One question of ``item`` has ended."""
        self._under_way[item.id] -= 1
        if not self._under_way[item.id]:
            del self._under_way[item.id]


class Running:
    """Takes questions from the queue until it is empty, or something ends the evaluation."""

    def __init__(
        self,
        work: Work,
        queue: Queue,
        results: Results,
        close: Callable[[DialectreeError], object],
        told: Callable[[Result], None],
    ) -> None:
        self._work, self._queue, self._results = work, queue, results
        self._close, self._told = close, told
        self._stopped: BaseException | None = None
        self._answered: set[str] = {row for row, _ in results.there}
        self._refused: dict[str, list[Refused]] = {}
        """By row, as long as none of its questions is answered."""
        self._under_way = Counter[str]()
        """Questions of each row."""
        self._ended = asyncio.Event()
        """One of them has."""

    async def run(self, at_once: int) -> None:
        """All questions, ``at_once`` side by side. Raises what ended it before its end.

        Then no question begins and no call starts, and those under way are waited for.
        """
        count = min(at_once, len(self._queue))
        await asyncio.gather(*(self._one_after_another() for _ in range(count)))
        if self._stopped is None and self._refused:
            self._stop(next(iter(self._refused.values()))[0].error)
        if self._stopped is not None:
            raise self._stopped

    async def _one_after_another(self) -> None:
        while self._stopped is None and self._queue:
            if (next_one := self._queue.take(self._doubted)) is None:
                self._ended.clear()
                await self._ended.wait()
                continue
            row, item = next_one
            self._under_way[row.row.name] += 1
            try:
                self._keep(await self._work(row, item))
            except Refused as refused:
                self._weigh(row.row.name, refused)
            except asyncio.CancelledError:
                raise
            except BaseException as error:  # raised again when the others have come to their end
                self._stop(error)
            self._under_way[row.row.name] -= 1
            self._queue.done(item)
            self._decide(row.row.name)
            self._ended.set()

    def _stop(self, error: BaseException) -> None:
        if self._stopped is None:
            self._stopped = error
            fault = error if isinstance(error, DialectreeError) else None
            self._close(fault or Halted(f"stopped by {error!r}"))

    @property
    def _doubted(self) -> set[str]:
        """Rows of which every question may be refused: none begins before that is known."""
        return {row for row, refused in self._refused.items() if len(refused) >= SURE}

    def _weigh(self, row: str, refused: Refused) -> None:
        """Is this question refused, or every one? It is not known before another one ended."""
        if row in self._answered:
            self._keep(refused.result)
        else:
            self._refused.setdefault(row, []).append(refused)

    def _decide(self, row: str) -> None:
        """A refusal takes one request and an answer many: those under way are waited for."""
        if row in self._doubted and not self._under_way[row]:
            self._stop(self._refused[row][0].error)

    def _keep(self, result: Result) -> None:
        self._results.add(result)
        self._told(result)
        if result.status != "failed" and result.row not in self._answered:
            self._answered.add(result.row)
            for refused in self._refused.pop(result.row, []):
                self._keep(refused.result)


async def run(
    folder: Folder,
    plan: Plan,
    budget: Budget,
    watch: Watch | None = None,
    *,
    work: Work | None = None,
    close: Callable[[DialectreeError], object] | None = None,
) -> Standing:
    """Run ``plan`` in ``folder``, which is held, to its end; what is there is not done again.

    ``work`` and ``close`` are another engine's: whom questions are given to, and how it is told
    that no call may start any more. Raises what ended the evaluation before its end; the same again
    goes on.
    """
    evaluation = begun(folder, plan)
    asked = set(evaluation.items)
    whole = repeated(plan.loaded.items, evaluation.repeats)
    items = [item for item in whole if item.id in asked]
    with folder.appending() as results:
        if plan.retry_failed:
            results.ask_again(plan.questions)
        queue = Queue(plan.items, plan.rows, results.there)
        total = len(plan.questions)
        standing = Standing(
            total,
            total - len(queue),
            failing=sorted(results.failed & plan.questions),
            degraded=len(results.degraded & plan.questions),
            incomplete=len(results.incomplete & plan.questions),
        )
        if not len(queue) and (found := folder.evaluation()) is not None and found.ended:
            evaluation.ended = found.ended
            folder.begin(evaluation, items)
            return standing
        folder.begin(evaluation, items)

        asked_now = queue.left()
        standing.paid_before = paid(folder.runs, asked_now)

        def told(result: Result) -> None:
            standing.add(result)
            if watch is not None:
                watch(standing)

        def shut(error: DialectreeError) -> None:
            budget.closed = budget.closed or error

        asker = Asker(
            folder.runs,
            evaluation.scorers,
            plan.judge,
            plan.vote_first,
            budget,
            controls(folder, plan),
            plan.retry_failed,
        )
        running = Running(work or asker.ask, queue, results, close or shut, told)
        try:
            await running.run(plan.at_once)
        finally:
            broken_off = set(asked_now) - results.there
            for question, spent in paid(folder.runs, broken_off).items():
                standing.spend(question, [spent.usage], spent.cached)
                standing.take(spent.judging, spent.judging_cached)
            if broken_off and (standing.calls or standing.cached) and watch is not None:
                watch(standing)
        every = ((row.name, item) for row in evaluation.rows for item in evaluation.items)
        if results.there.issuperset(every):
            evaluation.ended = clock.stamp()
            folder.write(evaluation)
    return standing
