"""``dialectree view``: runs and evaluations in the browser."""

from __future__ import annotations

import asyncio
import secrets
import threading
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from html import escape
from pathlib import Path
from typing import Annotated

import typer

from dialectree.protocols.sources import RUNS

_RUNS, _EVALUATIONS = Path("runs"), Path("evaluations")


def view(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder of runs, of evaluations, or of one evaluation.", metavar="FOLDER", envvar=RUNS
        ),
    ] = _RUNS,
    port: Annotated[int, typer.Option(help="Port; 0: a free one.", min=0, max=65535)] = 0,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Print the address, and open no browser.")
    ] = False,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Let the page start, stop and contest nothing.")
    ] = False,
    bundle: Annotated[
        Path | None,
        typer.Option(
            help="Write the runs and evaluations into this folder, as a site for any web server.",
            metavar="DIRECTORY",
        ),
    ] = None,
) -> None:
    """Start, follow, contest and compare debates in the browser; look into evaluations.

    Serves only this machine, under an address with a random token. Nothing is asked of a model before
    you press a button, which has the price beside it. With --bundle it serves nothing: it writes a copy
    to read, without keys, clients and names of folders.
    """
    from dialectree.errors import InputError
    from dialectree.interfaces.cli import streams
    from dialectree.system import loop
    from dialectree.system.addresses import describe_missing_file
    from dialectree.system.packages import require

    acts = not read_only and not (folder / "evaluation.json").is_file()
    if bundle is None:
        require("dialectree view", "dialectree[view]")
    if not folder.is_dir() and (bundle is not None or folder != _RUNS or not acts):
        raise InputError(describe_missing_file(str(folder), "there is no such folder"))
    if bundle is not None:
        from dialectree.interfaces.cli.bundle import write_bundle

        write_bundle(bundle, _find_runs(folder), _find_evaluations(folder))
        return
    from starlette.routing import Mount
    from starlette.types import Scope

    from dialectree.evals import served
    from dialectree.evals.evaluation_list import find_evaluation
    from dialectree.interfaces.background import BackgroundDebates
    from dialectree.interfaces.server import local

    def evaluations() -> Mapping[str, Path]:
        return _find_evaluations(folder)

    def runs(scope: Scope) -> Path:
        return _find_runs(folder)

    def of_evaluation(scope: Scope) -> Path:
        return find_evaluation(evaluations(), scope["path_params"]["name"]) / "runs"

    token, listening = local.new_token(), local.listen(port)

    def find_report(scope: Scope) -> Path:
        key, folders = str(scope["path_params"]["key"]), evaluations()
        folders_by_key = {local.derive_key(token, name): place for name, place in folders.items()}
        return find_evaluation(folders_by_key, key)

    mount = Mount("/evaluations/{name}", local.folder(of_evaluation))
    listed = served.routes(evaluations, lambda name, file: local.build_report_address(token, name, file))
    reports = local.folder(lambda scope: find_report(scope) / "runs", served.report_routes(find_report))
    app = local.app(local.folder(runs, [*listed, mount], acts=acts), token, reports)
    address = f"http://{local.HOST}:{listening.getsockname()[1]}/{token}/page/"
    print(address, flush=True)
    streams.notice("Ctrl-C ends it")

    async def serve() -> None:
        try:
            await local.serve(app, listening)
        finally:
            await BackgroundDebates(folder).break_off()

    with nullcontext() if no_open else open_in_browser(address):
        try:
            loop.run(serve())
        except (KeyboardInterrupt, asyncio.CancelledError):
            raise typer.Exit(130) from None


def _find_runs(folder: Path) -> Path:
    """Return the folder of the runs: ``folder``, or that in an evaluation."""
    inner = folder / "runs"
    return inner if inner.is_dir() and (folder / "evaluation.json").is_file() else folder


def _find_evaluations(folder: Path) -> dict[str, Path]:
    """Return the evaluations to show, by name."""
    from dialectree.evals.evaluation_list import find_evaluations

    return find_evaluations([folder, *[_EVALUATIONS] * (folder == _RUNS)])


@contextmanager
def open_in_browser(address: str) -> Iterator[None]:
    """Open ``address`` in the browser, through a file that redirects to it and is then removed.

    Everybody on this machine can read the command that starts a browser. The address has a secret
    token, so it is in the file, which only its owner can read.
    """
    from dialectree.interfaces.cli import streams
    from dialectree.protocols.sources import cache_folder
    from dialectree.records.journal import private

    file = cache_folder() / "view" / f"{secrets.token_hex(8)}.html"
    page = f'<!doctype html><meta http-equiv="refresh" content="0;url={escape(address)}">'
    try:
        file.parent.mkdir(0o700, parents=True, exist_ok=True)
        with open(file, "x", opener=private) as output:
            output.write(page)
    except OSError as error:
        streams.notice(f"open the address yourself: {file}: {error.strerror or error}")
        yield
        return
    try:
        url = file.resolve().as_uri()
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
        yield
    finally:
        file.unlink(missing_ok=True)
