"""Routes for the runs that lie in the server's folder: record, reports, contest.

A client sees its own runs alone. File work stays out of the event loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dialectree import report
from dialectree.contests.wishes import Change
from dialectree.errors import DialectreeError, InputError, RunNotFound, fault_line
from dialectree.protocols.protocol import protocol
from dialectree.protocols.sources import runs_home
from dialectree.protocols.trust import places, reserved
from dialectree.records import RunRecord
from dialectree.records.folder import RunFolder
from dialectree.server.keys import owner_of
from dialectree.service.debates import Debates


class _Contest(BaseModel):
    """The body of a contest."""

    model_config = ConfigDict(extra="forbid", strict=True)

    changes: list[Change] = Field(min_length=1)
    settings: dict[str, Any] | None = None


_SHAPE = '`changes` lists what to change, such as {"change": "drop", "where": "0.1"}'
_log = logging.getLogger("dialectree")
_WAIT_S = 5.0
"""Seconds that a client waits for a contest before it is told where to look for it."""
_PAGE = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
    "Referrer-Policy": "no-referrer",
}
_SAFE = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}


def _debates(request: Request) -> Debates:
    """Return the debates that the client may see."""
    return Debates(runs_home(), owner=owner_of(_identity(request)))


def _identity(request: Request) -> str:
    return str(request.user.identity) if "user" in request.scope else ""


def _found(work: Callable[[RunFolder], str | bytes]) -> Callable[[Request], Any]:
    """Return the endpoint that answers with what ``work`` makes of a run."""

    async def answer(request: Request) -> Response:
        def read() -> str | bytes:
            return work(_debates(request).find(request.path_params["run_id"]))

        kind = {"html": "text/html", "md": "text/markdown"}.get(
            request.url.path.rpartition(".")[2], "application/json"
        )
        page = _PAGE if kind == "text/html" else {}
        content = await asyncio.to_thread(read)
        return Response(content, media_type=kind, headers={**_SAFE, **page})

    return answer


async def list_runs(request: Request) -> Response:
    """Answer with the client's runs, the newest first."""

    def read() -> list[dict[str, Any]]:
        return [_line(one) for _, one in _debates(request).every(_log.warning)]

    return JSONResponse(await asyncio.to_thread(read), headers=_SAFE)


def _line(record: RunRecord) -> dict[str, Any]:
    """Return what a list shows of a run."""
    shown = {"run_id", "protocol", "method", "status", "started", "ended", "verdict"}
    question = {"question": record.input["question"]}
    return {**record.model_dump(mode="json", include=shown), **question}


async def contest(request: Request) -> Response:
    """Begin a contest; answer with its record, or with its id where it takes longer."""
    body, debates = _body(await request.body()), _debates(request)
    wishes, settings = body.changes, body.settings or {}
    run_id = request.path_params["run_id"]

    def require_harmless() -> None:
        kind = protocol(debates.result(run_id).protocol).settings
        if places(kind, settings) or reserved(kind, settings):
            raise InputError(
                "a contest names no address, no file of a model and no setting of the operator: "
                "they stand in the server's setup"
            )

    await asyncio.to_thread(require_harmless)
    begun = await debates.contest(run_id, wishes, settings)
    new = begun.record.run_id
    place = {"Location": f"/debates/{new}", **_SAFE}
    if not await begun.follow(_WAIT_S):
        return JSONResponse({"run_id": new, "status": "running"}, 202, headers=place)
    record = (await asyncio.to_thread(begun.started.folder.record)).model_dump(mode="json")
    answer = {"run_id": new, "status": record["status"], "record": record}
    return JSONResponse(answer, 201, headers=place)


def _body(content: bytes) -> _Contest:
    """Return the contest that a client sends; InputError where it is no JSON of that shape."""
    try:
        return _Contest.model_validate_json(content)
    except ValidationError as error:
        raise InputError(f"the body: {fault_line(error):.300}; {_SHAPE}") from None


async def refuse(request: Request, error: Exception) -> Response:
    """Answer with the line that says what went wrong."""
    status = (
        404 if isinstance(error, RunNotFound) else 422 if isinstance(error, InputError) else 502
    )
    line = str(error).replace(f"{runs_home()}/", "")  # where it lies is no client's
    return JSONResponse({"detail": line}, status, headers=_SAFE)


routes = [
    Route("/debates", list_runs),
    Route("/debates/{run_id}", _found(lambda run: run.record().model_dump_json())),
    Route(
        "/debates/{run_id}/report.html",
        _found(lambda run: report.html(run.record(), run.calls())),
    ),
    Route(
        "/debates/{run_id}/report.md",
        _found(lambda run: report.markdown(run.record(), run.calls())),
    ),
    Route("/debates/{run_id}/contest", contest, methods=["POST"]),
]
exception_handlers = {DialectreeError: refuse}
