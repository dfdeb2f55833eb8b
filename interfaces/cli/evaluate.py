"""``dialectree eval run``: run methods over a data set, question by question."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dialectree.evals.options import EvaluationOptions, read_options
from dialectree.interfaces.cli import evaluation_path, evaluation_report, flags, streams
from dialectree.interfaces.cli.evaluation_commands import EVALUATING
from dialectree.interfaces.cli.protocol_fields import FIELDS, help_texts
from dialectree.system.packages import require

if TYPE_CHECKING:
    from dialectree.evals.plan import Plan
    from dialectree.evals.standing import CallTotals, Standing

NAMED = 5
"""The most failed questions that the closing lines name."""


def list_() -> None:
    """List the data sets known by name."""
    from dialectree.evals.datasets import catalogue, make_cache_path

    print(_LISTED.format("data set", "task", "items", "licence", "sha256"))
    for dataset in catalogue().values():
        here = dataset.url and make_cache_path(dataset).is_file()
        how = "fetched" if here else "fetched when asked for" if dataset.url else "--data FILE only"
        licence = dataset.licence.partition(" (")[0]
        columns = dataset.name, dataset.task, dataset.count or "?", licence, dataset.sha256[:16]
        print(_LISTED.format(*columns).rstrip())
        streams.print_list_entry(f"{dataset.source} ({dataset.version}); {how}", indent=4)


_LISTED = "{:<18} {:<8} {:>5}  {:<15} {}"


@flags.with_fields(
    *((EvaluationOptions, name) for name in EvaluationOptions.model_fields), given_as="options"
)
@flags.with_fields(
    *((kind, name) for name, kind in FIELDS.items()), help_texts=help_texts(), heading="Settings of protocols"
)
def run(
    dataset: Annotated[str, typer.Argument(help="A name of `dialectree eval list`, or a file of your own.")],
    options: dict[str, Any],
    settings: dict[str, Any],
    langsmith: Annotated[
        str | None, typer.Option(help="Upload the results there, too.", metavar="PROJECT")
    ] = None,
    quiet: flags.Quiet = False,
    dry_run: flags.DryRun = False,
    yes: flags.Yes = False,
) -> None:
    """Run every method on every item once; the same command goes on after an interruption.

    Budgets are for all questions together.
    """
    require(*EVALUATING)  # some are first imported for the report, after all calls are paid
    from dialectree.evals import langsmith_upload
    from dialectree.evals.estimates import estimate
    from dialectree.evals.plan import prepare
    from dialectree.evals.running import conduct
    from dialectree.interfaces.cli import consent
    from dialectree.interfaces.cli.process import collect_garbage_seldom
    from dialectree.system import loop

    if langsmith is not None:
        langsmith_upload.require_key()
    plan = prepare(dataset, read_options(options), settings)
    collect_garbage_seldom()
    expected = loop.run(estimate(plan.folder, plan))
    judge = "; the judge not counted" if plan.judge else ""
    line = f"{expected}{judge}" if expected else "no calls"
    if dry_run:
        print(line)
        return
    if not quiet:
        streams.notice(line)
    if expected is not None and not yes and consent.terminal():  # a script limits calls by flags
        consent.require(expected.expected[1], plan.shared)
    status = follow(plan, partial(conduct, plan), quiet=quiet)
    if status in (3, 4, 130):
        streams.notice("broken off; the same command goes on")
    if status in (0, 5):
        for text in evaluation_report.report_after_run(plan.folder.path):
            if not quiet:
                streams.notice(text)
        if not quiet:
            evaluation_path.after_evaluation(dataset, plan, options, settings)
        if langsmith is not None:
            streams.notice(evaluation_report.upload_after_run(plan.folder.path, langsmith))
        print(plan.folder.path)
    raise typer.Exit(status)


def follow(plan: Plan, conduct: Callable[..., Coroutine[Any, Any, Standing]], *, quiet: bool) -> int:
    """Run an evaluation by ``conduct`` with progress on stderr; return the exit status."""
    from dialectree.errors import DialectreeError
    from dialectree.evals.datasets import notices
    from dialectree.interfaces.cli.progress import await_with_notice, demonstration
    from dialectree.system import loop

    if plan.evaluation.demonstration:
        flags.notice(demonstration())
    if plan.evaluation.judge is not None:
        streams.notice(f"scored by {plan.evaluation.judge}")
    methods = [row.method for row in plan.rows]
    for text in notices(plan.loaded, plan.task, plan.items, methods):
        streams.notice(text)
    standings: list[Standing] = []
    fault: DialectreeError | None = None
    try:
        work = conduct(progress=not quiet, watch=standings.append)
        standing = loop.run(await_with_notice(work))
        standings.append(standing)
        status = 5 if standing.incomplete else 0
    except DialectreeError as error:
        fault, status = error, error.status
    except (KeyboardInterrupt, asyncio.CancelledError):
        status = 130
    for text in _closing(standings[-1]) if standings and not quiet else ():
        streams.notice(text)
    if fault is not None:
        flags.notice(str(fault))
    return status


def _closing(standing: Standing) -> Iterator[str]:
    """Yield the totals, the outcomes of the questions, and how to ask failed questions again."""
    from dialectree import text as words
    from dialectree.system import clock

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
    yield f"{done}{standing.total} results{before}, {standing.ended}, {took}"
    parts: list[str] = []
    if standing.failed:
        failing = [f"{item} by {row}" for row, item in standing.failing[:NAMED]]
        failing += [f"{standing.failed - NAMED} more"] if standing.failed > NAMED else []
        which = f"{standing.failed} failed ({words.format_list(failing)})"
        parts.append(f"{which} and count neither as right nor as wrong")
    if incomplete_count := standing.incomplete - standing.failed:
        parts.append(f"{incomplete_count} lost a call")
    if parts:
        yield f"{'; '.join(parts)}; the same command with --retry-failed asks them again"


def _price(spent: CallTotals, cached: int) -> str:
    """Return ``4,500 calls and 12 from the cache, 1,234,000 tokens, cost 1.25``."""
    from dialectree.report.figures import format_money

    replies = f" and {cached:,} from the cache" if cached else ""
    cost = f", cost {format_money(spent.cost)}" if spent.cost else ""
    return f"{spent.calls:,} calls{replies}, {spent.tokens:,} tokens{cost}"
