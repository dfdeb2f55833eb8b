"""``dialectree eval``: methods over a data set, question by question, and what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from pydantic import BaseModel

from dialectree import streams
from dialectree.cli import flags
from dialectree.cli.evaluation_report import rate, report
from dialectree.cli.help_groups import GroupedCommand, GroupedCommands
from dialectree.context import about
from dialectree.errors import InputError
from dialectree.protocol import installed

if TYPE_CHECKING:
    from dialectree.context import ProtocolSettings
    from dialectree.evals.plan import Plan
    from dialectree.evals.results_file import Folder
    from dialectree.evals.rows import Ready


class OrRun(GroupedCommands):
    """A group whose commands may be left out: what is none of them is a data set to run over."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)


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
OWN = frozenset(FIELDS) - frozenset(flags.SHARED)


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
) -> None:
    """Ask every item by every method, once; the same command goes on after whatever broke it off.

    Budgets count over all questions.
    """
    from dialectree.cli import evaluation_progress
    from dialectree.context import ProtocolSettings, build
    from dialectree.evals import datasets, langsmith_upload, plan, scoring, tasks
    from dialectree.evals.matrix import Matrix, of_methods, read_matrix
    from dialectree.evals.results_file import Folder
    from dialectree.evals.rows import ready as complete_rows

    if limit is not None and sample is not None:
        raise InputError("--limit and --sample exclude one another")
    if methods is not None and matrix is not None:
        raise InputError("--methods and --matrix exclude one another")
    if methods is not None and not methods.strip():
        raise InputError("--methods names no method")
    loaded = datasets.load(dataset, data, columns, cluster=cluster)
    task = plan.task_of(loaded)
    if matrix is not None:
        rows = read_matrix(matrix)
    else:
        names = [name.strip() for name in (methods or tasks.usual_method(task)).split(",")]
        own = {name: value for name, value in settings.items() if name in OWN}
        rows = Matrix("", [], of_methods(names, own))
    where = f"--matrix {matrix}" if matrix else "--methods"
    ready = complete_rows(rows.rows, task, settings, where)
    common = {n: value for n, value in settings.items() if n not in OWN and n != "roles"}
    shared = build(ProtocolSettings, **common)
    if vote_first:
        _require_votes(ready)
    planned = plan.make_plan(
        loaded,
        ready,
        _judge(judge, scoring.judged(task, loaded.items), common),
        seed=shared.seed,
        vote_first=vote_first,
        cluster=cluster,
        limit=limit,
        sample=sample,
        shard=shard,
        repeats=repeats,
        data=str(data) if data else None,
        title=rows.title,
        missing=rows.missing,
        retry_failed=retry_failed,
    )
    if langsmith is not None:
        langsmith_upload.require_key()
    folder = Folder(out or Path("evaluations") / loaded.name)
    ray = str(engine) == "ray"
    beside = _against(against, planned, folder, ray=ray) if against is not None else None
    with folder.locked():
        evaluation_progress.follow(
            folder, planned, shared, ray=ray, quiet=quiet, langsmith=langsmith, against=beside
        )


def _require_votes(rows: list[Ready]) -> None:
    """InputError where no row can have a vote before it."""
    from dialectree.evals import tasks

    debates = tasks.debates()
    if not any(row.method.name in debates for row in rows):
        raise InputError(f"--vote-first: a vote comes before a debate: {', '.join(debates)}")


def _judge(
    judge: str | None, scores: list[str], settings: dict[str, Any]
) -> ProtocolSettings | None:
    """Return the settings of the judge that scores, without budgets; None where none is needed."""
    from dialectree.context import ProtocolSettings, build
    from dialectree.evals.rows import BUDGETS
    from dialectree.models.limits import require_prices
    from dialectree.models.specs import resolve

    if not scores:
        if judge:
            raise InputError(f"--judge {judge}: no score of this data set needs a judge")
        return None
    context = build(ProtocolSettings, **{**settings, **({"model": judge} if judge else {})})
    require_prices(context, [resolve(context.model, context).name])
    return context.model_copy(update=dict.fromkeys(BUDGETS))


def _against(wanted: str, plan: Plan, folder: Folder, *, ray: bool) -> str:
    """Return the row whose summaries the others are judged beside."""
    from dialectree.evals.preferences import baseline

    if plan.task != "compare":
        raise InputError(f"--against {wanted}: only summaries of papers are judged side by side")
    if ray:
        raise InputError("--against: in a command of its own, without --engine ray")
    begun = folder.evaluation()
    rows = {row.name: row for row in begun.rows} if begun else {}
    rows |= {one.row.name: one.row for one in plan.rows}
    return baseline(wanted, rows.values())


app.command("report")(report)
app.command("rate")(rate)
