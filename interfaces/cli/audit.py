"""``dialectree eval audit``: whether a debate is worth it with these models."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dialectree import text as words
from dialectree.evals.options import EvaluationOptions, read_options
from dialectree.interfaces.cli import evaluation_path, evaluation_report, flags, streams
from dialectree.interfaces.cli.evaluate import follow
from dialectree.interfaces.cli.evaluation_commands import EVALUATING
from dialectree.interfaces.cli.protocol_fields import FIELDS, help_texts
from dialectree.system.packages import require

if TYPE_CHECKING:
    from dialectree.evals.audit import Audit
    from dialectree.records.estimate import Estimate

_ASKED = ("data", "columns", "cluster", "limit", "sample", "judge", "out", "retry_failed")
"""The options of an evaluation that an audit takes, too. An audit chooses its rows itself."""
_OWN = ("model", "samples")
"""Settings that an audit sets itself, or takes from its own flags."""


@flags.with_fields(*((EvaluationOptions, name) for name in _ASKED), given_as="options")
@flags.with_fields(
    *((kind, name) for name, kind in FIELDS.items() if name not in _OWN),
    help_texts=help_texts(),
    heading="Settings of protocols",
)
def audit(
    dataset: Annotated[str, typer.Argument(help="A name of `dialectree eval list`, or a file of your own.")],
    options: dict[str, Any],
    settings: dict[str, Any],
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model", "--pool", help="A model; repeat it for more. The first one judges.", metavar="SPEC"
        ),
    ] = None,
    debate: Annotated[
        str | None, typer.Option(help="The debate (the protocol of the task).", metavar="METHOD")
    ] = None,
    points: Annotated[
        float, typer.Option(help="The smallest gain that is worth a debate.", min=0.1, max=100.0)
    ] = 5.0,
    quiet: flags.Quiet = False,
    dry_run: flags.DryRun = False,
    yes: flags.Yes = False,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Say whether a debate is worth it with these models, compared with everything cheaper.

    One model alone, one critique, a consultancy, the best single model, samples for as many tokens,
    and the debate, on the same questions. The same command goes on after an interruption.
    """
    require(*EVALUATING)
    from dialectree.evals import audit as auditing
    from dialectree.evals.reporting import audit_page
    from dialectree.evals.reporting.audit_result import analyse_audit
    from dialectree.evals.reporting.study import study
    from dialectree.interfaces.cli import consent
    from dialectree.interfaces.cli.process import collect_garbage_seldom
    from dialectree.system import loop

    planned = auditing.audit(dataset, read_options(options), settings, model or [], debate)
    collect_garbage_seldom()
    expected = loop.run(_estimate_remaining_rows(planned))
    judge = "; the judge not counted" if planned.plan.judge else ""
    line = f"{expected}{judge}" if expected else "no calls"
    if dry_run:
        print(line)
        return
    if not quiet:
        streams.notice(line)
        for text in planned.layout.left_out:
            streams.notice(f"left out: {text}")
    if expected is not None and not yes and consent.terminal():
        consent.require(expected.expected[1], planned.plan.shared)
    status = follow(planned.plan, planned.conduct, quiet=quiet)
    if status in (3, 4, 130):
        streams.notice("broken off; the same command goes on")
    if status in (0, 5):
        folder = planned.plan.folder.path
        evaluation_report.report_after_run(folder)
        result = analyse_audit(study([folder]), planned.layout, points)
        page = audit_page.write(result, folder)
        if json:
            print(dumps(audit_page.data(result), indent=1, ensure_ascii=False))
        else:
            for text in audit_page.lines(result):
                print(words.line(text, 600))
        if not quiet:
            streams.notice(f"audit: {page}")
            first = {"model": model[0]} if model else {}
            evaluation_path.after_audit(dataset, planned, options, {**settings, **first})
    raise typer.Exit(status)


async def _estimate_remaining_rows(planned: Audit) -> Estimate | None:
    """Estimate all remaining rows; the number of samples comes from a rehearsed debate's tokens."""
    from dialectree.evals.estimates import estimate

    full_plan = planned.make_full_plan(await planned.samples(measured=True))
    return await estimate(full_plan.folder, full_plan)
