"""One question by one row: its run, the vote before it, and what the scorers say; as one result.

The run's folder is named after row and item, so that whoever asks again finds what is there: a run
that ended is read, one that was broken off goes on from its journal.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from pydantic import JsonValue

from dialectree import clock
from dialectree.conduct import Started, start, tidy
from dialectree.context import Context
from dialectree.errors import InputError, PartFailed, ReplayMiss, RequestError, RunFolderError
from dialectree.evals import again, scoring, voting
from dialectree.evals.items import Item
from dialectree.evals.results import JUDGING, PAGE, Result, Vote
from dialectree.evals.results_file import Done
from dialectree.evals.rows import Ready
from dialectree.evals.sides import sides
from dialectree.graphs import Method
from dialectree.models.limits import Budget
from dialectree.records import RunRecord, Usage, Verdict, from_cache
from dialectree.runs import RunFolder, files

_LONGEST = 40
"""Characters of a name in the name of a folder."""


def run_id(row: str, item: str) -> str:
    """The run of ``item`` by ``row``, always the same: readable, and made unique by a digest."""
    digest = blake2b(f"{row}\x1f{item}".encode(), digest_size=5).hexdigest()
    return f"{_slug(row)}.{_slug(item)}.{digest}"


def _slug(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_]+", "-", name).strip("-")[:_LONGEST] or "x"


class Refused(Exception):
    """This question cannot be answered: the endpoint refuses its request, say.

    Whether any other one can is not known here. ``result`` is what is kept where one can.
    """

    def __init__(self, error: InputError, result: Result) -> None:
        self.error, self.result = error, result
        super().__init__(str(error))


@dataclass
class Asker:
    """Asks questions for an evaluation."""

    runs: Path
    scorers: Sequence[str]
    judge: Context | None
    """The settings of the scorers' judge, its model among them."""
    vote_first: int
    budget: Budget
    """What all of them may spend together."""
    controls: Collection[Done] = ()
    """Questions beside which the judge is tried on answers whose score is known."""
    retry: bool = False
    """Ask a part that failed for good once more, and answer the others from the journal."""

    async def ask(self, row: Ready, item: Item) -> Result:
        """The result of ``item`` by ``row``.

        A question that no run brings to its end is a result, too: ``failed``. Raises what concerns
        more than this question, with all that was paid on disk: Halted, ModelUnavailable,
        RunFolderError; and Refused, where that is open.
        """
        row = row.of_repeat(item.repeat)
        name = run_id(row.row.name, item.id)
        result = Result(
            row=row.row.name,
            item=item.id,
            repeat=item.repeat,
            cluster=item.cluster,
            category=item.category,
            run=name,
            status="failed",
            ended="",
        )
        refused: InputError | None = None
        try:
            refused = await self._ask(row, item, result)
        except PartFailed as error:
            result.fault = _line(error)
        except _NotTaken as error:
            result.fault, result.run = _line(error), None
        except (RunFolderError, ReplayMiss):
            raise
        except InputError as error:  # the endpoint's, or that of whatever else an item needs
            result.fault, refused = _line(error), error
        await asyncio.to_thread(self._count, result, name, row)
        result.ended = clock.stamp()
        if refused is not None:
            raise Refused(refused, result)
        return result

    async def _ask(self, row: Ready, item: Item, result: Result) -> RequestError | None:
        """Fill in ``result``; what the judge's endpoint said where it refuses the request."""
        name = str(result.run)
        begun = await self._begun(name, row.method, row.context, item, row.gold(item))
        refused = None
        if self._votes(row):
            refused = await self._vote(row, item, result)
        try:
            record = await begun.conduct()
        finally:
            result.usage, result.seconds = begun.record.usage, begun.record.usage.wall_s
        if failed := _failed(record):
            result.fault = _line(failed)
            return refused
        if record.status in ("answered", "degraded", "unresolved"):
            result.status = record.status
        result.verdict = record.verdict
        result.sides = sides(record, item.reference.gold)
        scored = await self._scored(self.scorers, item, record.verdict, begun.folder, result)
        result.scores = scored.scores
        if self.judge is not None and (row.row.name, item.id) in self.controls:
            result.controls, result.controlling = await scoring.controlled(
                self.scorers, item, begun.folder, self.judge, self.budget
            )
        return refused or scored.refused

    def _votes(self, row: Ready) -> bool:
        return bool(self.vote_first) and row.method.name in voting.DEBATES

    def _count(self, result: Result, name: str, row: Ready) -> None:
        """Count the question's calls that the reply cache answered, and those without a reply."""
        votes = voting.voters(row, self.vote_first) if self._votes(row) else []
        runs = [self.runs / f"{name}{suffix}" for suffix in ("", *(vote[0] for vote in votes))]
        judging = [run / part for run in runs for part in JUDGING]
        judged = [call for folder in judging for call in RunFolder(folder).calls()]
        calls = [call for run in runs for call in RunFolder(run).calls()] + judged
        result.cached, result.cached_judging = from_cache(calls), from_cache(judged)
        result.lost = sum(call.error is not None and not again.voided(call) for call in calls)

    async def _vote(self, row: Ready, item: Item, result: Result) -> RequestError | None:
        begun = [
            await self._begun(f"{result.run}{suffix}", method, context, item, row.gold(item))
            for suffix, method, context in voting.voters(row, self.vote_first)
        ]
        records = await voting.conducted(begun)
        verdict = voting.verdict(records, row.context.seed, item.id)
        vote = result.vote = Vote(
            answers=voting.answers(records, item.inputs.task, self.vote_first, row.context),
            label=verdict.label if verdict else None,
            pair=row.gold(item) is not None,
            usage=voting.spent(records),
        )
        if not vote.given:
            return None
        names = [name for name in self.scorers if name == scoring.RIGHT[item.inputs.task]]
        scored = await self._scored(names, item, verdict, begun[0].folder, result)
        vote.right = next((one.score == 1 for one in scored.scores if one.score is not None), None)
        return scored.refused

    async def _scored(
        self,
        names: Sequence[str],
        item: Item,
        verdict: Verdict | None,
        folder: RunFolder,
        result: Result,
    ) -> scoring.Scored:
        scored = await scoring.scores(names, item, verdict, folder, self.judge, self.budget)
        result.judging = _sum(result.judging, scored.spent)
        return scored

    async def _begun(
        self, name: str, method: Method, context: Context, item: Item, gold: str | None
    ) -> Started:
        """The run that is there, or a new one."""
        path = self.runs / name
        folder = RunFolder(path)
        if self.retry:
            await asyncio.to_thread(again.reopen, path)
        if (path / "run.json").is_file():
            record = folder.record()
            if record.status in ("running", "partial"):  # a page shows how it was broken off
                with files(path / PAGE):
                    (path / PAGE).unlink(missing_ok=True)
            return Started(folder, record, method, context, self.budget)
        asked, more = _given(item, gold)

        def begin() -> Started:
            try:
                tidy(asked, "question")
                method.require({"question": asked, **more}, context)
            except InputError as error:
                raise _NotTaken(str(error)) from error
            self.runs.mkdir(0o700, parents=True, exist_ok=True)
            path.mkdir(0o700, exist_ok=True)
            return start(method, asked, context, self.runs, folder=folder, **more)

        begun = await asyncio.to_thread(begin)
        begun.budget = self.budget
        return begun


class _NotTaken(InputError):
    """An item that the method does not take, such as one with two options that are the same."""


def _given(item: Item, gold: str | None) -> tuple[str, dict[str, JsonValue]]:
    """What a method is given: the question, and what it takes beside it. Nothing else."""
    inputs = item.inputs
    if inputs.claim is not None:
        return inputs.claim, {}
    if inputs.topic is not None:
        papers: list[JsonValue] = [
            paper.model_dump(mode="json", exclude_defaults=True) for paper in inputs.papers
        ]
        return inputs.topic, {"papers": papers}
    more: dict[str, JsonValue] = {"options": [*inputs.options]} if inputs.options else {}
    return inputs.question or "", more if gold is None else {**more, "gold": gold}


def _sum(one: Usage, other: Usage) -> Usage:
    if not one.calls:
        return other
    if not other.calls:
        return one
    costs = None if one.cost is None or other.cost is None else round(one.cost + other.cost, 9)
    return Usage(
        calls=one.calls + other.calls,
        attempts=one.attempts + other.attempts,
        prompt_tokens=one.prompt_tokens + other.prompt_tokens,
        completion_tokens=one.completion_tokens + other.completion_tokens,
        cached_tokens=one.cached_tokens + other.cached_tokens,
        cost=costs,
    )


def _failed(record: RunRecord) -> str | None:
    """Return why a debate without an answer failed; None where it is one that was withheld."""
    if record.status != "unresolved" or not (parts := record.degraded()):
        return None
    node, failure = parts[0]
    more = f" (and {len(parts) - 1} more)" if len(parts) > 1 else ""
    return f"{failure.role} at node {node}: {failure.fault}{more}"


def _line(error: object) -> str:
    return " ".join(str(error).split())[:500]
