"""``dialectree eval``: methods over a data set, question by question, and what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from pydantic import BaseModel

from dialectree.cli import flags
from dialectree.cli.evaluation_report import rate, report
from dialectree.cli.help_groups import GroupedCommand, GroupedCommands
from dialectree.protocols.protocol import installed
from dialectree.protocols.settings import about
from dialectree.system import streams
from dialectree.system.packages import needed, require

if TYPE_CHECKING:
    from dialectree.evals.evaluate import Prepared

EVALUATING = ("dialectree eval", "dialectree[eval]")
"""Who needs the packages, and what pip installs to bring them."""


class OrRun(GroupedCommands):
    """A group whose commands may be left out: what is none of them is a data set to run over."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; a package that it lacks is an error with the pip line."""
        with needed(*EVALUATING):
            return super().invoke(ctx)


app = typer.Typer(
    cls=OrRun,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Run methods over a data set: dialectree eval DATASET (eval DATASET --help).",
)


def _fields() -> dict[str, type[BaseModel]]:
    """Return the settings of all protocols, each with a class that declares it.

    A person takes no part in an evaluation.
    """
    fields: dict[str, type[BaseModel]] = {}
    for protocol in installed().values():
        for kind, name in protocol.declared_settings():
            if not about(kind, name).get("person"):
                fields.setdefault(name, kind)
    return fields


def _help_texts() -> dict[str, str]:
    """Return the help of settings that several protocols declare, with each one's own words."""
    declared: dict[str, dict[str, str]] = {}
    for protocol in installed().values():
        for name in protocol.own_settings():
            text = flags.help_of(protocol.settings, name)
            declared.setdefault(name, {})[protocol.name] = text
    return {
        name: " ".join(f"{protocol}: {text}" for protocol, text in texts.items())
        for name, texts in declared.items()
        if len({*texts.values()}) > 1
    }


FIELDS = _fields()


@app.command("list")
def list_() -> None:
    """The data sets that are known by name."""
    from dialectree.evals.datasets import cached, catalogue

    print(_LISTED.format("data set", "task", "items", "licence", "sha256"))
    for dataset in catalogue().values():
        here = dataset.url and cached(dataset).is_file()
        how = "fetched" if here else "fetched when asked for" if dataset.url else "--data FILE only"
        licence = dataset.licence.partition(" (")[0]
        shown = dataset.name, dataset.task, dataset.count or "?", licence, dataset.sha256[:16]
        print(_LISTED.format(*shown).rstrip())
        streams.listed(f"{dataset.source} ({dataset.version}); {how}", indent=4)


_LISTED = "{:<18} {:<8} {:>5}  {:<15} {}"


@app.command("run", cls=GroupedCommand, no_args_is_help=True)
@flags.with_fields(
    *((kind, name) for name, kind in FIELDS.items()),
    help_texts=_help_texts(),
    own="Settings of protocols",
)
def run(
    dataset: Annotated[
        str, typer.Argument(help="A name of `dialectree eval list`, or a file of your own.")
    ],
    settings: dict[str, Any],
    methods: Annotated[
        str | None, typer.Option(help="Methods, with commas between.", metavar="A,B")
    ] = None,
    matrix: Annotated[
        str | None,
        typer.Option(help="Rows from a YAML or TOML file, or a protocol's own.", metavar="FILE"),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Read this file instead of fetching.", metavar="FILE")
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(help="Which column holds what.", metavar="question=Q,options=a|b,gold=key"),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="Items alike in this column belong together.", metavar="COLUMN"),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="The first N items.", min=1)] = None,
    sample: Annotated[
        int | None,
        typer.Option(help="N items drawn by the seed, each category with its share.", min=1),
    ] = None,
    repeats: Annotated[
        int, typer.Option(help="Ask each item N times, with other seeds.", min=1, max=1000)
    ] = 1,
    shard: Annotated[str | None, typer.Option(help="One part of n.", metavar="I/N")] = None,
    judge: Annotated[
        str | None,
        typer.Option(help="The model that scores, where one does (--model).", metavar="SPEC"),
    ] = None,
    vote_first: Annotated[
        int, typer.Option(help="Direct answers before each debate, counted apart.", min=0, max=100)
    ] = 0,
    against: Annotated[
        str | None,
        typer.Option(help="Judge summaries beside this row's, in both orders.", metavar="ROW"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The evaluation's folder (evaluations/DATASET).", metavar="DIR"),
    ] = None,
    engine: Annotated[
        Literal["local", "ray"], typer.Option(help="This machine, or a Ray cluster.")
    ] = "local",
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask failed questions once more.")
    ] = False,
    langsmith: Annotated[
        str | None, typer.Option(help="Upload the results there, too.", metavar="PROJECT")
    ] = None,
    quiet: flags.Quiet = False,
    dry_run: flags.DryRun = False,
    yes: flags.Yes = False,
) -> None:
    """Ask every item by every method, once; the same command goes on after whatever broke it off.

    Budgets count over all questions.
    """
    require(*EVALUATING)  # some are imported for the report, when all calls are paid
    from dialectree.cli import evaluation_progress
    from dialectree.evals import langsmith_upload
    from dialectree.evals.evaluate import prepare

    if langsmith is not None:
        langsmith_upload.require_key()
    prepared = prepare(
        dataset,
        settings,
        methods=None if methods is None else [name.strip() for name in methods.split(",")],
        matrix=matrix,
        data=data,
        columns=columns,
        cluster=cluster,
        limit=limit,
        sample=sample,
        repeats=repeats,
        shard=shard,
        judge=judge,
        vote_first=vote_first,
        against=against,
        out=out,
        engine=engine,
        retry_failed=retry_failed,
    )
    _estimate(prepared, dry_run=dry_run, quiet=quiet, yes=yes)
    if dry_run:
        return
    with prepared.folder.locked():
        evaluation_progress.follow(prepared, quiet=quiet, langsmith=langsmith)


def _estimate(prepared: Prepared, *, dry_run: bool, quiet: bool, yes: bool) -> None:
    """Say what the evaluation will take; ask before many calls where a person is there.

    A script goes on: the size of an evaluation is set by its own flags.
    """
    from dialectree.cli import consent
    from dialectree.evals.estimates import estimate
    from dialectree.system import loop
    from dialectree.system.streams import notice

    loop.tune()
    expected = loop.run(estimate(prepared.folder, prepared.plan))
    judge = "; the judge not counted" if prepared.plan.judge else ""
    line = f"{expected}{judge}" if expected else "no calls"
    if dry_run:
        print(line)
    elif not quiet:
        notice(line)
    if expected is not None and not (dry_run or yes) and consent.terminal():
        consent.require(expected, prepared.shared)


app.command("report")(report)
app.command("rate")(rate)
