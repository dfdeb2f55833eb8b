"""``dialectree model``: models for this machine, by their names in a small catalogue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from dialectree.interfaces.cli.wrong_calls import SuggestingGroup

app = typer.Typer(cls=SuggestingGroup, no_args_is_help=True, add_completion=False, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(help="A name in the catalogue: dialectree model list.")]


@app.callback()
def model() -> None:
    """Fetch a model for this machine by its name, list those that are known, remove one."""


@app.command("list")
def list_models(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the catalogue: licence, size, memory, what was measured, and what is here."""
    from dialectree.embedded.catalogue import catalogue, find_model
    from dialectree.embedded.engine import is_here

    if as_json:
        rows = {
            name: {**entry.model_dump(), "path": str(path) if (path := find_model(name)) else None}
            for name, entry in catalogue().items()
        }
        print(json.dumps(rows, indent=2))
        return
    for name, entry in catalogue().items():
        here = "here" if is_here(name) else f"{entry.size / 1e9:.1f} GB to fetch"
        print(f"{name}: {entry.title} ({entry.licence}; {here}; {entry.memory_gb:g} GB of memory)")
        print(f"  {entry.measured}")
        print(f"  SHA-256 {entry.sha256[:16]}…, {entry.hash}")
    print("\ndialectree model get NAME fetches one; --model local:NAME runs it")


@app.command()
def get(
    name: Name,
    file: Annotated[
        Path | None, typer.Option("--from", help="Take this file, after the same check.", metavar="FILE")
    ] = None,
) -> None:
    """Fetch a model from the Hub, or take a file, if its SHA-256 is that of the catalogue.

    A fetch that was broken off goes on. Proxies of the environment are used.
    """
    from dialectree.embedded.model_files import fetch_model, take_model

    path = fetch_model(name) if file is None else take_model(name, file.expanduser())
    print(f"{path}\n--model local:{name} runs it")


@app.command()
def remove(name: Name) -> None:
    """Remove a fetched model."""
    from dialectree.embedded.model_files import remove_model

    size = remove_model(name)
    print(f"removed {size / 1e9:.1f} GB" if size else f"{name} is not here")
