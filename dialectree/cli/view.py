"""``dialectree view``: runs and evaluations in the browser."""

from __future__ import annotations

import asyncio
import threading
import webbrowser
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from dialectree.protocols.sources import RUNS

_RUNS, _EVALUATIONS = Path("runs"), Path("evaluations")


def view(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder of runs, of evaluations, or of one evaluation.",
            metavar="FOLDER",
            envvar=RUNS,
        ),
    ] = _RUNS,
    port: Annotated[int, typer.Option(help="Port; 0: a free one.", min=0, max=65535)] = 0,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Print the address, and open no browser.")
    ] = False,
) -> None:
    """Look into runs and evaluations in the browser, and follow those that are under way.

    Serves this machine alone, under an address with a token that nobody can guess. Changes
    nothing.
    """
    from dialectree.errors import InputError
    from dialectree.system import loop, streams
    from dialectree.system.packages import require

    require("dialectree view", "dialectree[view]")
    from starlette.routing import Mount
    from starlette.types import Scope

    from dialectree.evals import served
    from dialectree.server import local

    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder")

    def evaluations() -> Mapping[str, Path]:
        return served.found([folder, *[_EVALUATIONS] * (folder == _RUNS)])

    def runs(scope: Scope) -> Path:
        inner = folder / "runs"
        return inner if inner.is_dir() and (folder / "evaluation.json").is_file() else folder

    def of_evaluation(scope: Scope) -> Path:
        return served.place(evaluations(), scope["path_params"]["name"]) / "runs"

    each = Mount("/evaluations/{name}", local.folder(of_evaluation))
    token, listening = local.new_token(), local.listen(port)
    app = local.app(local.folder(runs, [*served.routes(evaluations), each]), token)
    address = f"http://{local.HOST}:{listening.getsockname()[1]}/{token}/page/"
    print(address, flush=True)
    streams.notice("Ctrl-C ends it")
    if not no_open:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    try:
        loop.run(local.serve(app, listening))
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise typer.Exit(130) from None
