"""Shows how far an evaluation is and ends the command with the right status."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from dialectree.cli.evaluation_report import report_after_run, upload_after_run
from dialectree.cli.progress import STOPPING, demonstration
from dialectree.errors import DialectreeError
from dialectree.evals import running
from dialectree.evals.datasets import notices
from dialectree.evals.plan import Plan
from dialectree.evals.running import Watch
from dialectree.evals.standing import Spent, Standing
from dialectree.report import words
from dialectree.system import clock, loop, streams

NAMED = 5
"""Failed questions that the closing lines name."""
EVERY_S = 10.0
"""Seconds between two lines where stderr is no terminal."""


def follow(plan: Plan, *, quiet: bool, langsmith: str | None = None) -> None:
    """Run an evaluation with progress on stderr; print its folder on stdout; exit."""
    if plan.evaluation.demonstration:
        streams.notice(demonstration())
    if plan.evaluation.judge is not None:
        streams.notice(f"scored by {plan.evaluation.judge}")
    for line in notices(plan.loaded, plan.task, plan.items):
        streams.notice(line)
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
            standing = loop.run(
                loop.stopped_aloud(running.run(plan, watch), lambda: streams.notice(STOPPING))
            )
            status = 5 if standing.incomplete else 0
        except DialectreeError as error:
            fault, status = error, error.status
        except (KeyboardInterrupt, asyncio.CancelledError):
            status = 130
    if standing is not None and not quiet:
        for line in closing(standing):
            streams.notice(line)
    if fault is not None:
        streams.notice(str(fault))
    if status in (3, 4, 130):
        streams.notice("broken off; the same command goes on")
    if status in (0, 5):
        for line in report_after_run(plan.folder.path):
            if not quiet:
                streams.notice(line)
        if langsmith is not None:
            streams.notice(upload_after_run(plan.folder.path, langsmith))
        print(plan.folder.path)
    raise typer.Exit(status)


@contextmanager
def _shown(console: Console) -> Iterator[Watch]:
    """Show a bar in a terminal, else a line now and then."""
    if console.is_terminal and not console.quiet:
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[figures]}"))
        with Progress(*columns, console=console, transient=True, refresh_per_second=4) as progress:
            task = progress.add_task("", total=None, figures="")

            def bar(standing: Standing) -> None:
                at, figures = standing.before + standing.done, _figures(standing)
                progress.update(task, completed=at, total=standing.total, figures=figures)

            yield bar
        return
    last = clock.seconds()

    def line(standing: Standing) -> None:
        nonlocal last
        if clock.seconds() - last >= EVERY_S or not standing.left:
            last = clock.seconds()
            at = standing.before + standing.done
            console.print(f"{at}/{standing.total} {_figures(standing)}", highlight=False)

    yield line


def _figures(standing: Standing) -> str:
    """``2 failed, 1 degraded, 4,500 calls and 12 from the cache, cost 1.25, 12 min 30 s left``."""
    spent = standing.spent
    now = " now" if standing.before else ""
    parts = [_ended(standing), f"{spent.calls:,} calls{now}{_cached(standing.cached)}"]
    if spent.cost:
        parts.append(f"cost {words.money(spent.cost)}")
    if standing.left and (left_s := standing.eta_s) is not None:
        parts.append(f"{words.duration(left_s)} left")
    return ", ".join(parts)


def _ended(standing: Standing) -> str:
    degraded = f", {standing.degraded} degraded" if standing.degraded else ""
    return f"{standing.failed} failed{degraded}"


def closing(standing: Standing) -> Iterator[str]:
    """Tell the totals, how the questions ended, and how to ask the failed ones again."""
    now = " now" if standing.before else ""
    total = f"{_price(standing.spent, standing.cached)}{now}"
    debates, judge = standing.spending.spent()
    if judge.calls or standing.cached_judging:
        total += f"; debates: {_price(debates, standing.cached - standing.cached_judging)}"
        total += f"; judge: {_price(judge, standing.cached_judging)}"
    yield total
    before = f" ({standing.before} were there)" if standing.before else ""
    done = f"{standing.total - standing.left} of " if standing.left else ""
    took = words.duration(clock.seconds() - standing.started)
    yield f"{done}{standing.total} results{before}, {_ended(standing)}, {took}"
    if not standing.incomplete:
        return
    lost = standing.incomplete - standing.failed
    failing = [f"{item} by {row}" for row, item in standing.failing[:NAMED]]
    failing += [f"{standing.failed - NAMED} more"] if standing.failed > NAMED else []
    which = f"{standing.failed} failed ({words.listed(failing)})" if failing else ""
    parts = [f"{which} and count neither as right nor as wrong"] if failing else []
    parts += [f"{lost} lost a call"] if lost else []
    yield f"{'; '.join(parts)}; the same command with --retry-failed asks them again"


def _price(spent: Spent, cached: int) -> str:
    """``4,500 calls and 12 from the cache, 1,234,000 tokens, cost 1.25``."""
    cost = f", cost {words.money(spent.cost)}" if spent.cost else ""
    return f"{spent.calls:,} calls{_cached(cached)}, {spent.tokens:,} tokens{cost}"


def _cached(calls: int) -> str:
    return f" and {calls:,} from the cache" if calls else ""
