"""``dialectree models``: better local models than the embedded one, listed and fetched."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.progress import Progress as Bar
from rich.table import Table

from dialectree.models import catalogue

app = typer.Typer(
    name="models",
    help="Better local models than the embedded one.",
    no_args_is_help=True,
)

_WIDTH_WHEN_PIPED = 160

AsJson = Annotated[bool, typer.Option("--json", help="One JSON document instead of a table.")]
Name = Annotated[str, typer.Argument(help="A name out of `dialectree models list`.")]
Endpoint = Annotated[
    str | None,
    typer.Option(envvar="HF_ENDPOINT", help="Another address of the hub, such as a mirror."),
]


@app.command("list")
def list_models(as_json: AsJson = False) -> None:
    """Show the models one can fetch, and which of them are here."""
    here = {model.name: model for model in catalogue.installed()}
    if as_json:
        models = [asdict(entry) | _state(here.get(entry.name)) for entry in catalogue.listed()]
        _say(json.dumps(models, indent=2, ensure_ascii=False))
        return
    console = Console()
    if not console.is_terminal:
        console.width = _WIDTH_WHEN_PIPED
    console.print(_table(here))
    for entry in catalogue.listed():
        console.print(f"{entry.name}: {entry.remark}", markup=False, highlight=False)


@app.command("get")
def get_model(name: Name, endpoint: Endpoint = None, as_json: AsJson = False) -> None:
    """Fetch one model from the hub, verify it, and say how to use it."""
    with _bar(name) as progress:
        fetched = catalogue.get(name, endpoint=endpoint, progress=progress)
    flags = _flags(fetched.path)
    if as_json:
        facts = asdict(fetched) | {"path": str(fetched.path), "flags": flags}
        _say(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    _say(f"path: {fetched.path}")
    _say(f"revision: {fetched.revision}")
    _say(f"sha256: {fetched.sha256}")
    _say(f"use it with: {flags}")


def _flags(path: Path) -> str:
    """What makes a command use a fetched model, safe to paste into a shell."""
    return f"--model {shlex.quote(f'local:{path}')}"


def _state(model: catalogue.Installed | None) -> dict[str, Any]:
    """What the JSON says of a model here, or that it is not."""
    if model is None:
        return {"installed": None}
    facts = {"path": str(model.path), "flags": _flags(model.path)}
    known = {"revision", "sha256", "size_bytes", "fetched_at"}
    return {"installed": facts | {key: getattr(model, key) for key in sorted(known)}}


def _table(here: dict[str, catalogue.Installed]) -> Table:
    table = Table("name", "repository", "file", "licence", "installed")
    for column in table.columns:
        column.overflow = "fold"
    for entry in catalogue.listed():
        there = "yes" if entry.name in here else "no"
        table.add_row(entry.name, entry.repository, entry.file, entry.licence, there)
    return table


@contextmanager
def _bar(name: str) -> Iterator[catalogue.Progress]:
    """A bar on stderr, drawn only for somebody who looks at it."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(name, total=None)

        def show(there: int, size: int) -> None:
            bar.update(task, completed=there, total=size)

        yield show


def _say(line: str) -> None:
    typer.echo(line)
