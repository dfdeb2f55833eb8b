"""Ask one question by one row: take the vote, make the run, and score the answer.

The run's folder is named after row and item, so a question finds its run again. A run that ended is
read, and an interrupted run goes on from its journal. ``--retry-failed`` reopens a run that lost a
part, and asks again for this part only.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, Protocol

from dialectree.errors import DialectreeError, InputError, PartFailed, ReplayMiss, RunFolderError
from dialectree.evals import answer_scoring, tasks, votes
from dialectree.evals.dataset_items import Item
from dialectree.evals.grounding import grounding
from dialectree.evals.results import JUDGING, PAGE, Result, Vote
from dialectree.evals.results_file import Done
from dialectree.evals.rows import Ready
from dialectree.evals.tasks import TASKS
from dialectree.models.limits import Budget
from dialectree.protocols.protocol import Method
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import Evaluated, Verdict, from_cache, usage
from dialectree.records.folder import RunFolder
from dialectree.records.journal import files
from dialectree.running.held_run import Watch
from dialectree.running.runner import RunHandle, begin
from dialectree.system import clock
from dialectree.text import line

_LONGEST = 40
"""The most characters of a row's or item's name in a folder's name."""


def run_id(row: str, item: str) -> str:
    """Return the id of the run of ``item`` by ``row``: readable, and unique by a digest."""
    digest = blake2b(f"{row}\x1f{item}".encode(), digest_size=5).hexdigest()
    return f"{_slug(row)}.{_slug(item)}.{digest}"


def _slug(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_]+", "-", name).strip("-")[:_LONGEST] or "x"


class QuestionResult(NamedTuple):
    """The result of a question."""

    result: Result
    refused: InputError | None = None
    """The endpoint's refusal of this request, if any. The endpoint may refuse all others, too."""


class Engine(Protocol):
    """Asks questions, in this process or elsewhere."""

    async def ask(self, row: Ready, item: Item) -> QuestionResult:
        """Return the answer to one question; raise an error that ends the evaluation."""
        ...

    def close(self, error: DialectreeError) -> None:
        """Stop further calls."""
        ...


@dataclass(frozen=True)
class Asker:
    """Asks questions for an evaluation, in this process."""

    runs: Path
    scorers: Sequence[str]
    judge: ProtocolSettings | None
    """The settings of the judge that scores, with its model."""
    vote_first: int
    budget: Budget
    """The budget that all questions share."""
    controls: Collection[Done] = ()
    """Questions with controls: answers of known score that test the judge."""
    retry: bool = False
    """True to ask once more for parts that failed for good; the journal answers the other parts."""
    watch: Watch | None = None
    """Gets the events of all runs."""

    async def ask(self, row: Ready, item: Item) -> QuestionResult:
        """Return the result of ``item`` by ``row``; its status is ``failed`` if the run does not finish.

        Raises errors that concern more than this question: Halted, ModelUnavailable,
        RunFolderError, ReplayMiss. All paid calls are then on disk.
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
        refused: list[InputError] = []
        try:
            await self._fill(result, name, row, item, refused)
        except (RunFolderError, ReplayMiss):
            raise
        except (PartFailed, InputError) as error:
            result.fault = line(str(error), 500)
            if isinstance(error, _NotTaken):
                result.run = None
            elif isinstance(error, InputError):  # by the endpoint, or by another need of the item
                refused.append(error)
        runs = [name, *(f"{name}{suffix}" for suffix, _, _ in votes.voters(row, self.vote_first))]
        await asyncio.to_thread(_count, result, [self.runs / run for run in runs])
        result.ended = clock.stamp()
        return QuestionResult(result, next(iter(refused), None))

    def close(self, error: DialectreeError) -> None:
        """Stop further calls; the first reason stays."""
        self.budget.closed = self.budget.closed or error

    async def _fill(
        self, result: Result, name: str, row: Ready, item: Item, refused: list[InputError]
    ) -> None:
        """Fill in ``result``; add refusals by the judge's endpoint to ``refused``."""
        run = await asyncio.to_thread(self._begin, name, row, row.method, row.context, item)
        await self._vote(result, name, row, item, refused)
        try:
            record = await run.conduct(watch=self.watch)
        finally:
            result.usage, result.seconds = run.record.usage, run.record.usage.wall_s
        if record.status == "unresolved" and (parts := record.list_failures()):
            (node, failure), *other_failures = parts
            more = f" (and {len(other_failures)} more)" if other_failures else ""
            fault = f"{failure.role} at node {node}: {failure.fault}{more}"
            result.fault = line(fault, 500)
            return
        if record.status in ("answered", "degraded", "unresolved"):
            result.status = record.status
        result.verdict = record.verdict
        result.sides = tasks.sides(record, item.reference.gold, row.method)
        result.rulings = tasks.rulings(record, row.context)
        result.grounding = grounding(record, item)
        verdict = record.verdict
        if verdict is not None and verdict.answer:
            answer = tasks.remove_program_marks(row.method, verdict.answer)
            verdict = verdict.model_copy(update={"answer": answer})
        result.scores = await answer_scoring.scores(
            self.scorers, item, verdict, run.folder, self.judge, self.budget, refused
        )
        if (voted := votes.find_vote_in_debate(row, item, record, run.folder.calls())) is not None:
            result.vote, plurality = voted
            await self._score(result.vote, item, plurality, run.folder, refused)
        if self.judge is not None and (row.row.name, item.id) in self.controls:
            result.controls = await answer_scoring.judge_controls(
                self.scorers, item, run.folder, self.judge, self.budget
            )

    async def _vote(
        self, result: Result, name: str, row: Ready, item: Item, refused: list[InputError]
    ) -> None:
        """Take the vote before the debate, if the row has voters."""
        voters = votes.voters(row, self.vote_first)
        if not voters:
            return
        runs = [
            await asyncio.to_thread(self._begin, f"{name}{suffix}", row, method, context, item)
            for suffix, method, context in voters
        ]
        records = await votes.conduct_runs(runs, self.watch)
        verdict = votes.verdict(records, row.context.seed, item.id)
        vote = result.vote = Vote(
            answers=votes.answers(records, self.vote_first),
            label=verdict.label if verdict else None,
            pair=row.gold(item) is not None,
            usage=votes.usage_of(runs),
        )
        if vote.given:
            await self._score(vote, item, verdict, runs[0].folder, refused)

    async def _score(
        self, vote: Vote, item: Item, verdict: Verdict | None, folder: RunFolder, refused: list[InputError]
    ) -> None:
        """Set whether a vote is right; ``folder`` keeps a judge's calls."""
        right = [name for name in self.scorers if name == TASKS[item.inputs.task].right]
        scores = await answer_scoring.scores(right, item, verdict, folder, self.judge, self.budget, refused)
        vote.right = next((score.score == 1 for score in scores if score.score is not None), None)

    def _begin(
        self, name: str, row: Ready, method: Method, context: ProtocolSettings, item: Item
    ) -> RunHandle:
        """Return the existing run of ``item``, or a new one."""
        path = self.runs / name
        folder = RunFolder(path)
        if self.retry:
            reopen(path)
        if (path / "run.json").is_file():
            record = folder.record()
            method = method.on(record.input)
            if record.status in ("running", "partial"):  # its page shows an interrupted run
                with files(path / PAGE):
                    (path / PAGE).unlink(missing_ok=True)
            return RunHandle(folder, record, method, context, self.budget)
        try:
            graph_input = tasks.graph_input(method, item, row.gold(item), context)
        except InputError as error:
            raise _NotTaken(str(error)) from error
        with files(path, "go on"):
            self.runs.mkdir(0o700, parents=True, exist_ok=True)
            path.mkdir(0o700, exist_ok=True)
        place = Evaluated(evaluation=self.runs.parent.name, row=row.row.name, item=item.id)
        run = begin(method, graph_input, context, self.runs, folder=folder, evaluated=place)
        run.budget = self.budget
        return run


class _NotTaken(InputError):
    """The method refuses this item, for example because two options are the same."""


def _count(result: Result, runs: Sequence[Path]) -> None:
    """Count the judge's usage, cached replies and lost calls from the journals of the question's runs."""
    calls = [call for run in runs for call in RunFolder(run).calls()]
    judging, controlling = (
        [call for run in runs for call in RunFolder(run / part).calls()] for part in JUDGING
    )
    judged = [*judging, *controlling]
    result.judging, result.controlling = usage(judging), usage(controlling)
    result.cached, result.cached_judging = from_cache([*calls, *judged]), from_cache(judged)
    result.lost = sum(call.error is not None for call in [*calls, *judged])


# Asking failed parts again


def reopen(path: Path) -> None:
    """Reopen the run in ``path`` if a part of it failed, and failed calls of the judge that scores."""
    run = RunFolder(path)
    if (path / "run.json").is_file():
        record = run.record()
        parts = {(node, failure.role, failure.speaker) for node, failure in record.list_failures()}
        if void_failed(run, parts) or parts:
            record.status = "partial"
            run.write_record(record)
    for part in JUDGING:
        void_failed(RunFolder(path / part))


def void_failed(folder: RunFolder, parts: Collection[tuple[str, str, str]] = ()) -> bool:
    """Void failed calls and the calls of ``parts``; return whether any call was voided.

    A part is a node, a role and a speaker.
    """
    failed = [
        call
        for call in folder.ledger()
        if not call.void and (call.error is not None or (call.node, call.role, call.name) in parts)
    ]
    if failed:
        folder.void(failed)
    return bool(failed)
