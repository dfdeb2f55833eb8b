"""``dialectree eval``: methods over a data set, question by question, and what came of it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import BaseModel
from typer.core import TyperGroup

from dialectree.cli import flags
from dialectree.cli.evaluation_report import rate, report
from dialectree.context import about
from dialectree.errors import InputError
from dialectree.protocol import installed

if TYPE_CHECKING:
    from dialectree.context import ProtocolSettings
    from dialectree.evals.matrix import Written
    from dialectree.evals.results_file import Folder
    from dialectree.evals.running import Plan


class OrRun(TyperGroup):
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

_ENGINE = flags._choice("Engine", "local", "ray")


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


FIELDS = _fields()
_OWN = frozenset(FIELDS) - frozenset(flags.SHARED)


@app.command("list")
def list_() -> None:
    """The data sets that are known by name."""
    from dialectree.evals.catalogue import CATALOGUE
    from dialectree.evals.fetching import folder

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 200
    wrap = TextWrapper(width, initial_indent=_INDENT, subsequent_indent=_INDENT)
    wrap.break_on_hyphens = False
    print(_LISTED.format("data set", "task", "items", "licence", "sha256"))
    for dataset in CATALOGUE.values():
        pin = dataset.pin
        here = pin is not None and (folder() / f"{pin.sha256[:12]}-{pin.name}").is_file()
        how = "--data FILE only" if pin is None else "fetched" if here else "fetched when asked for"
        licence, digest = dataset.licence.partition(" (")[0], pin.sha256[:16] if pin else ""
        shown = dataset.name, dataset.task, dataset.count or "?", licence, digest
        print(_LISTED.format(*shown).rstrip())
        print(wrap.fill(f"{dataset.source} ({dataset.version}); {how}"))


_INDENT = " " * 4
_LISTED = "{:<18} {:<8} {:>5}  {:<15} {}"


@app.command("run", no_args_is_help=True)
@flags.with_fields(*((kind, name) for name, kind in FIELDS.items()))
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
        typer.Option(help="Rows from a YAML or TOML file, or tsd, rsd, art, tod.", metavar="FILE"),
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
    engine: Annotated[_ENGINE, typer.Option(help="This machine, or a Ray cluster.")] = "local",  # type: ignore[valid-type]
    workers: Annotated[
        int | None, typer.Option(help="Processes that ask (as many as the slots need).", min=1)
    ] = None,
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
    from dialectree.evals import datasets, langsmith_upload
    from dialectree.evals.results_file import Folder

    if limit is not None and sample is not None:
        raise InputError("--limit and --sample exclude one another")
    loaded = datasets.load(dataset, data, columns, cluster=cluster)
    title, missing, written = _written(methods, matrix, settings, loaded)
    plan, budgets = _plan(
        loaded,
        settings,
        written,
        title=title,
        missing=missing,
        judge=judge,
        vote_first=vote_first,
        cluster=cluster,
        limit=limit,
        sample=sample,
        shard=shard,
        repeats=repeats,
        data=data,
        retry_failed=retry_failed,
        where=f"--matrix {matrix}" if matrix else "--methods",
    )
    if langsmith is not None:
        langsmith_upload.require_key()
    folder = Folder(out or Path("evaluations") / loaded.name)
    beside = _against(against, plan, folder, alone=str(engine) == "local" and workers in (None, 1))
    with folder.held():
        evaluation_progress.follow(
            folder,
            plan,
            budgets,
            ray=str(engine) == "ray",
            workers=workers,
            quiet=quiet,
            langsmith=langsmith,
            against=beside,
        )


def _written(
    methods: str | None, matrix: str | None, settings: dict[str, Any], loaded: Any
) -> tuple[str, list[str], list[Written]]:
    """Return a matrix's title, what it lacks, and the rows; without any the task's own protocol."""
    from dialectree.evals.matrix import matrix as read
    from dialectree.evals.matrix import of_methods
    from dialectree.evals.rows import PROTOCOLS
    from dialectree.evals.running import task_of

    if methods is not None and matrix is not None:
        raise InputError("--methods and --matrix exclude one another")
    if matrix is not None:
        found = read(matrix)
        return found.title, found.missing, found.rows
    if methods is not None and not methods.strip():
        raise InputError("--methods names no method")
    names = [name.strip() for name in (methods or PROTOCOLS[task_of(loaded)]).split(",")]
    own = {name: value for name, value in settings.items() if name in _OWN}
    return "", [], of_methods(names, own)


def _against(wanted: str | None, plan: Plan, folder: Folder, *, alone: bool) -> str | None:
    """The row whose summaries the others are judged beside."""
    from dialectree.evals.preferring import baseline

    if wanted is None:
        return None
    if plan.task != "compare":
        raise InputError(f"--against {wanted}: only summaries of papers are judged side by side")
    if not alone:
        raise InputError("--against: in a command of its own, without --engine ray and --workers")
    found = folder.evaluation()
    before = found.rows if found else []
    rows = {row.name: row for row in (*before, *(one.row for one in plan.rows))}
    return baseline(wanted, rows.values())


def _plan(
    loaded: Any,
    settings: dict[str, Any],
    written: list[Written],
    *,
    title: str,
    missing: list[str],
    judge: str | None,
    vote_first: int,
    cluster: str | None,
    limit: int | None,
    sample: int | None,
    shard: str | None,
    repeats: int,
    data: Path | None,
    retry_failed: bool,
    where: str,
) -> tuple[Plan, ProtocolSettings]:
    """What is to be run, and the settings that hold the budgets."""
    from dialectree.context import EMBEDDED, ProtocolSettings, build
    from dialectree.evals import rows, running, scoring, voting
    from dialectree.models.limits import require_prices
    from dialectree.models.specs import resolve

    task = running.task_of(loaded)
    ready = rows.ready(written, task, settings, where)
    common = {name: value for name, value in settings.items() if name not in _OWN | {"roles"}}
    shared = build(ProtocolSettings, **common)
    if vote_first and not any(row.method.name in voting.DEBATES for row in ready):
        raise InputError(f"--vote-first: a vote comes before a debate: {', '.join(voting.DEBATES)}")
    pairs = [row for row in ready if rows.needs_gold(row.method, row.context)]
    if vote_first and any(getattr(row.context, "distractor", None) == "model" for row in pairs):
        raise InputError(
            "--vote-first: with --distractor model the two options are not known before the "
            "debate; use first or random"
        )
    marking = spec = None
    if any(name in scoring.judged(task) for name in scoring.names(task, loaded.items)):
        marking = build(ProtocolSettings, **{**common, "model": judge}) if judge else shared
        spec = resolve(marking.model, marking)
        require_prices(marking, [spec.name])
        marking = marking.model_copy(update=dict.fromkeys(rows.BUDGETS))
    elif judge:
        raise InputError(f"--judge {judge}: no score of this data set needs a judge")
    plan = running.Plan(
        loaded=loaded,
        task=task,
        items=running.taken(
            loaded.items, limit, shard, sample=sample, seed=shared.seed, repeats=repeats
        ),
        rows=ready,
        judge=marking,
        judge_spec=spec.address if spec else None,
        judge_demonstration=spec is not None and spec.name == EMBEDDED,
        vote_first=vote_first,
        seed=shared.seed,
        limit=limit,
        sample=sample,
        shard=shard,
        repeats=repeats,
        cluster=cluster,
        data=str(data) if data else None,
        title=title,
        missing=missing,
        retry_failed=retry_failed,
    )
    rows.require_gold(plan.rows, plan.items)
    return plan, shared


app.command("report")(report)
app.command("rate")(rate)
