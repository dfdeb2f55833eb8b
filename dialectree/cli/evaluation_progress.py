"""Follows an evaluation in the terminal and ends the command with the right status."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from dialectree import clock, loop, streams
from dialectree.cli.evaluation_report import report_after_run, upload_after_run
from dialectree.cli.progress import DEMONSTRATION, STOPPING
from dialectree.context import ProtocolSettings
from dialectree.errors import DialectreeError
from dialectree.evals import cluster, preferring, processes, running
from dialectree.evals.notices import notices
from dialectree.evals.results_file import Folder
from dialectree.evals.running import Plan, Spent, Standing, Watch
from dialectree.evals.workers import Given
from dialectree.models.limits import Budget
from dialectree.report import words

NAMED = 5
"""Failed questions that the closing lines name."""
EVERY_S = 10.0
"""Seconds between two lines where stderr is no terminal."""


def follow(
    folder: Folder,
    plan: Plan,
    spends: ProtocolSettings,
    *,
    ray: bool,
    workers: int | None,
    quiet: bool,
    langsmith: str | None = None,
    against: str | None = None,
) -> None:
    """Run ``plan`` in ``folder``, showing how far it is on stderr; say on stdout where it is; exit.

    ``spends`` has the budgets of the whole evaluation.
    """
    if plan.judge_demonstration or any(row.demonstration for row in plan.rows):
        _notice(DEMONSTRATION)
    if plan.judge_spec is not None:
        _notice(f"scored by {plan.judge_spec}")
    for line in notices(plan.loaded, plan.task, plan.items):
        _notice(line)
    fault: DialectreeError | None = None
    status = 0
    standing: Standing | None = None
    with _shown(Console(stderr=True, quiet=quiet)) as show:

        def watch(now: Standing) -> None:
            nonlocal standing
            standing = now
            show(now)

        try:
            loop.tune()
            running = _run(folder, plan, spends, watch, ray=ray, workers=workers, against=against)
            standing = loop.run(loop.stopped_aloud(running, lambda: _notice(STOPPING)))
            status = 5 if standing.incomplete else 0
        except DialectreeError as error:
            fault, status = error, error.status
        except (KeyboardInterrupt, asyncio.CancelledError):
            status = 130
    if standing is not None and not quiet:
        for line in _closing(standing):
            _notice(line)
    if fault is not None:
        _notice(str(fault))
    if status in (3, 4, 130):
        _notice("broken off; the same command goes on")
    if status in (0, 5):
        _report(folder, langsmith, quiet=quiet)
        print(folder.path)
    raise typer.Exit(status)


async def _run(
    folder: Folder,
    plan: Plan,
    spends: ProtocolSettings,
    watch: Watch,
    *,
    ray: bool,
    workers: int | None,
    against: str | None,
) -> Standing:
    """By a Ray cluster, by processes of this machine, or by this one alone."""
    budget, given = Budget(spends), _given(folder, plan)
    if ray:
        team = cluster.cluster(given, spends, workers, plan.at_once)
    elif (count := processes.useful(plan, workers)) > 1:
        team = processes.processes(given, spends, count)
    else:
        standing = await running.run(folder, plan, budget, watch)
        if against is not None:
            if not standing.done:
                watch(standing)  # nobody has shown anything yet
            await preferring.prefer(folder, plan, against, budget, standing.take)
        return standing
    async with team as (ask, close):
        return await running.run(folder, plan, budget, watch, work=ask, close=close)


def _given(folder: Folder, plan: Plan) -> Given:
    found = folder.evaluation()
    return Given(
        rows=plan.rows,
        runs=folder.runs,
        scorers=found.scorers if found else plan.scorers,
        judge=plan.judge,
        vote_first=plan.vote_first,
        controls=tuple(running.controls(folder, plan)),
        retry=plan.retry_failed,
    )


def _report(folder: Folder, langsmith: str | None, *, quiet: bool) -> None:
    """The report, and the upload where it is asked for."""
    for line in report_after_run(folder.path):
        if not quiet:
            _notice(line)
    if langsmith is not None:
        _notice(upload_after_run(folder.path, langsmith))


@contextmanager
def _shown(console: Console) -> Iterator[Watch]:
    """One display: a bar in a terminal, else a line now and then."""
    if console.is_terminal and not console.quiet:
        with _bar(console) as watch:
            yield watch
        return
    last = clock.seconds()

    def line(standing: Standing) -> None:
        nonlocal last
        if clock.seconds() - last >= EVERY_S or not standing.left:
            last = clock.seconds()
            at = standing.before + standing.done
            console.print(f"{at}/{standing.total} {_figures(standing)}", highlight=False)

    yield line


@contextmanager
def _bar(console: Console) -> Iterator[Watch]:
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[figures]}"))
    with Progress(*columns, console=console, transient=True, refresh_per_second=4) as progress:
        task = progress.add_task("", total=None, figures="")

        def watch(standing: Standing) -> None:
            at = standing.before + standing.done
            figures = _figures(standing)
            progress.update(task, completed=at, total=standing.total, figures=figures)

        yield watch


def _figures(standing: Standing) -> str:
    """``2 failed, 1 degraded, 4,500 calls and 12 from the cache, cost 1.25, 0:12:30 left``."""
    spent = standing.spent
    now = " now" if standing.before else ""
    cached = f" and {spent.cached:,} from the cache" if spent.cached else ""
    parts = [_ended(standing), f"{spent.calls:,} calls{now}{cached}"]
    if spent.cost:
        parts.append(f"cost {spent.cost:.2f}")
    if standing.left and (left_s := standing.eta_s) is not None:
        parts.append(f"{_clock(left_s)} left")
    return ", ".join(parts)


def _ended(standing: Standing) -> str:
    degraded = f", {standing.degraded} degraded" if standing.degraded else ""
    return f"{standing.failed} failed{degraded}"


def _closing(standing: Standing) -> Iterator[str]:
    """The totals, then how the questions ended, then how to ask the failed ones again."""
    now = " now" if standing.before else ""
    total = f"{_price(standing.spent)}{now}"
    if standing.judges.calls or standing.judges.cached:
        apart = (("debates", standing.debates), ("judge", standing.judges))
        total += "; " + "; ".join(f"{name}: {_price(spent)}" for name, spent in apart)
    yield total
    yield _summary(standing)
    if standing.incomplete:
        lost = standing.incomplete - standing.failed
        named = [f"{item} by {row}" for row, item in standing.failing[:NAMED]]
        named += [f"{standing.failed - NAMED} more"] if standing.failed > NAMED else []
        which = f" ({words.listed(named)})" if named else ""
        said = f"{standing.failed} failed{which} and count neither as right nor as wrong"
        parts = [said] if standing.failed else []
        parts += [f"{lost} lost a call"] if lost else []
        yield f"{'; '.join(parts)}; the same command with --retry-failed asks them again"


def _price(spent: Spent) -> str:
    """``4,500 calls and 12 from the cache, 1,234,000 tokens, cost 1.25``."""
    cached = f" and {spent.cached:,} from the cache" if spent.cached else ""
    cost = f", cost {spent.cost:.2f}" if spent.cost else ""
    return f"{spent.calls:,} calls{cached}, {spent.tokens:,} tokens{cost}"


def _summary(standing: Standing) -> str:
    took = _clock(clock.seconds() - standing.started)
    before = f" ({standing.before} were there)" if standing.before else ""
    there = (
        f"{standing.total} results"
        if not standing.left
        else (f"{standing.total - standing.left} of {standing.total} results")
    )
    return f"{there}{before}, {_ended(standing)}, {took}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _notice(text: str) -> None:
    streams.notice(text)
