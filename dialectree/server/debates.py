"""Routes for the runs that lie in the server's folder: record, reports, contest.

A client sees its own runs alone. File work stays out of the event loop.
"""

from __future__ import annotations

import asyncio
import logging
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dialectree import report
from dialectree.contests import start
from dialectree.contests.wishes import Change
from dialectree.errors import DialectreeError, InputError, RunFolderError, RunNotFound
from dialectree.protocols.protocol import flag, protocol
from dialectree.protocols.sources import runs_home
from dialectree.records import RunRecord
from dialectree.records.folder import RunFolder
from dialectree.running.recorded_settings import BUDGETS
from dialectree.running.runner import Started
from dialectree.server.owners import visible
from dialectree.service.fields import in_python
from dialectree.system.threads import Threads


class _Contest(BaseModel):
    """The body of a contest."""

    model_config = ConfigDict(extra="forbid", strict=True)

    changes: list[Change] = Field(min_length=1)
    settings: dict[str, Any] | None = None


_SHAPE = '`changes` lists what to change, such as {"change": "drop", "where": "0.1"}'
_log = logging.getLogger("dialectree")
_RUN_ID = re.compile(r"[\w-]+")
_WAIT_S = 5.0
"""Seconds that a client waits for a contest before it is told where to look for it."""
_CONTESTS = Threads(4, "contest")
"""Each waits for the process of a contest."""
_PAGE = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
    "Referrer-Policy": "no-referrer",
}
_SAFE = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}


def _folder(run_id: str, identity: str) -> RunFolder:
    """Return the folder of a run; RunNotFound for another client's, as for none."""
    folder = RunFolder(runs_home() / run_id)
    there = _RUN_ID.fullmatch(run_id) is not None and folder.exists()
    try:
        if there and visible(folder.record().owner, identity):
            return folder
    except RunFolderError as error:  # whose it is cannot be told
        _log.warning(str(error))
    raise RunNotFound(f"you have no run {run_id!r} on this server that can be read")


def _identity(request: Request) -> str:
    return str(request.user.identity) if "user" in request.scope else ""


def _found(work: Callable[[RunFolder], str | bytes]) -> Callable[[Request], Any]:
    """Return the endpoint that answers with what ``work`` makes of a run."""

    async def answer(request: Request) -> Response:
        def read() -> str | bytes:
            return work(_folder(request.path_params["run_id"], _identity(request)))

        kind = {"html": "text/html", "md": "text/markdown"}.get(
            request.url.path.rpartition(".")[2], "application/json"
        )
        page = _PAGE if kind == "text/html" else {}
        content = await asyncio.to_thread(read)
        return Response(content, media_type=kind, headers={**_SAFE, **page})

    return answer


def _record(folder: RunFolder) -> str:
    return folder.record().model_dump_json()


def _html(folder: RunFolder) -> str:
    return report.html(folder.record(), folder.calls())


def _markdown(folder: RunFolder) -> str:
    return report.markdown(folder.record(), folder.calls())


async def list_runs(request: Request) -> Response:
    """Answer with the client's runs, the newest first."""

    def read() -> list[dict[str, Any]]:
        runs = RunFolder.readable(runs_home(), _log.warning)
        return [_line(one) for _, one in runs if visible(one.owner, _identity(request))]

    return JSONResponse(await asyncio.to_thread(read), headers=_SAFE)


def _line(record: RunRecord) -> dict[str, Any]:
    """Return what a list shows of a run."""
    shown = {"run_id", "protocol", "method", "status", "started", "ended", "verdict"}
    question = {"question": record.input["question"]}
    return {**record.model_dump(mode="json", include=shown), **question}


async def contest(request: Request) -> Response:
    """Begin a contest; answer with its record, or with its id where it takes longer."""
    body = _body(await request.body())
    wishes = [change.wish() for change in body.changes]
    settings = body.settings or {}

    def begin() -> Started:
        folder = _folder(request.path_params["run_id"], _identity(request))
        old = folder.record()
        kind = protocol(old.protocol).settings
        if kind.places(settings) or kind.reserved(settings):
            raise InputError(
                "a contest names no address, no file of a model and no setting of the operator: "
                "they stand in the server's setup"
            )
        return start(folder, wishes, runs_home(), settings, person=False)

    begun = await asyncio.to_thread(begin)
    run_id = begun.record.run_id
    place = {"Location": f"/debates/{run_id}", **_SAFE}
    loop = asyncio.get_running_loop()
    conducted = loop.run_in_executor(_CONTESTS, _conduct, begun.folder, settings)
    if not (await asyncio.wait([conducted], timeout=_WAIT_S))[0]:
        return JSONResponse({"run_id": run_id, "status": "running"}, 202, headers=place)
    await conducted
    record = (await asyncio.to_thread(begun.folder.record)).model_dump(mode="json")
    answer = {"run_id": run_id, "status": record["status"], "record": record}
    return JSONResponse(answer, 201, headers=place)


def _body(content: bytes) -> _Contest:
    """Return the contest that a client sends; InputError where it is no JSON of that shape."""
    try:
        return _Contest.model_validate_json(content)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, fault["loc"])) or "the body"
        raise InputError(f"{where:.200}: {fault['msg']}; {_SHAPE}") from None


def _conduct(folder: RunFolder, settings: dict[str, Any]) -> None:
    """Conduct a contest that has begun to its end; its record says what went wrong.

    A process of its own writes the files, which a server's event loop may not.
    """
    budgets = [f"{flag(name)}={settings[name]}" for name in BUDGETS if settings.get(name)]
    command = [sys.executable, "-m", "dialectree", "resume", str(folder.path), "--json", *budgets]
    subprocess.run(command, capture_output=True, check=False)


async def refuse(request: Request, error: Exception) -> Response:
    """Answer with the line that says what went wrong."""
    status = (
        404 if isinstance(error, RunNotFound) else 422 if isinstance(error, InputError) else 502
    )
    line = in_python(str(error)).replace(f"{runs_home()}/", "")  # where it lies is no client's
    return JSONResponse({"detail": line}, status, headers=_SAFE)


routes = [
    Route("/debates", list_runs),
    Route("/debates/{run_id}", _found(_record)),
    Route("/debates/{run_id}/report.html", _found(_html)),
    Route("/debates/{run_id}/report.md", _found(_markdown)),
    Route("/debates/{run_id}/contest", contest, methods=["POST"]),
]
exception_handlers = {DialectreeError: refuse}
