"""Routes by which a client begins, prices, contests, stops and answers debates.

The host's own API begins, stops and answers a debate of a thread; these routes only prepare the
input of the debate. A contest is a run of this server, outside of threads.
"""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dialectree.contests.wishes import Change
from dialectree.errors import InputError
from dialectree.evidence.documents import share_texts
from dialectree.interfaces.background import BackgroundDebates
from dialectree.interfaces.server.debates import SAFE, body_of, debates_of
from dialectree.interfaces.server.messages import require_attached
from dialectree.interfaces.server.owners import check_settings
from dialectree.protocols.protocol import Method, protocol
from dialectree.protocols.trust import find_large_juries, find_reserved_settings, places, require_few_judges
from dialectree.records.estimate import Estimate
from dialectree.service.debates import DebatePlan


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _StartRequest(_Body):
    """Fields of the protocol's form, and settings."""

    given: dict[str, Any]
    settings: dict[str, Any] = {}
    sources_of: str = ""
    """The id of a run whose documents the debate argues from, instead of attached files."""
    estimate: bool = True


class _Contest(_Body):
    changes: list[Change] = Field(min_length=1)
    settings: dict[str, Any] | None = None


class _Answer(_Body):
    answer: str


_SHAPE = '; `changes` lists what to change, such as {"change": "drop", "where": "0.1"}'
_WAIT_S = 5.0
"""Seconds that a client waits for a contest before it gets the address to follow it."""


async def prepare(request: Request) -> Response:
    """Answer with the input of the protocol's graph, and on request with an estimate.

    Files come as ``{"name": ..., "base64": ...}`` and are read here. No model is called.
    """
    body = body_of(_StartRequest, await request.body())

    def plan() -> DebatePlan:
        return debates_of(request).plan(*_read_start_request(request, body), body.settings)

    planned = await asyncio.to_thread(plan)
    expected = _make_estimate_reply(await planned.estimate()) if body.estimate else None
    answer = {"input": {**planned.graph_input}, "remarks": planned.remarks, "estimate": expected}
    return JSONResponse(answer, headers=SAFE)


async def start(request: Request) -> Response:
    """Begin a debate of this server, outside of threads; answer with the run's id."""
    body = body_of(_StartRequest, await request.body())
    chosen, given = await asyncio.to_thread(_read_start_request, request, body)
    run = await debates_of(request).start(chosen, given, body.settings)
    new = run.record.run_id
    answer = {"run_id": new, "follow": f"/debates/{new}/events?after=0", "remarks": run.remarks}
    return JSONResponse(answer, 202, headers={"Location": f"/debates/{new}", **SAFE})


def _read_start_request(request: Request, body: _StartRequest) -> tuple[Method, dict[str, Any]]:
    """Return the method and the input of a new debate; raise InputError for what a client may not set."""
    declared, given = protocol(request.path_params["name"]), {**body.given}
    check_settings(declared.name, body.settings)
    if body.sources_of:
        given["sources"] = share_texts(debates_of(request).find(body.sources_of))
    require_attached(declared.input, given)
    return declared.methods()[declared.name], given


async def contest(request: Request) -> Response:
    """Begin a contest; answer with its record, or with its id if the contest takes more than 5 s.

    A client that sends ``Prefer: respond-async`` gets the id at once.
    """
    debates, run_id = debates_of(request), request.path_params["run_id"]
    wishes, settings = await _parse_contest_request(request, debates)
    run = await debates.contest(run_id, wishes, settings)
    new = run.record.run_id
    place = {"Location": f"/debates/{new}", **SAFE}
    about = {"run_id": new, "follow": f"/debates/{new}/events?after=0"}
    at_once = "respond-async" in request.headers.get("prefer", "")
    if not await run.follow(0 if at_once else _WAIT_S):
        return JSONResponse({**about, "status": "running"}, 202, headers=place)
    record = (await asyncio.to_thread(run.started.folder.record)).model_dump(mode="json")
    return JSONResponse({**about, "status": record["status"], "record": record}, 201, headers=place)


async def price(request: Request) -> Response:
    """Answer with the estimate of a contest; no model is called."""
    debates, run_id = debates_of(request), request.path_params["run_id"]
    wishes, settings = await _parse_contest_request(request, debates)
    planned = await asyncio.to_thread(debates.plan_contest, run_id, wishes, settings)
    return JSONResponse(_make_estimate_reply(await planned.estimate()), headers=SAFE)


def _make_estimate_reply(expected: Estimate) -> dict[str, Any]:
    """Return an estimate, as fields and as a line of text."""
    return {**expected.model_dump(mode="json"), "line": str(expected)}


async def _parse_contest_request(
    request: Request, debates: BackgroundDebates
) -> tuple[list[Change], dict[str, Any]]:
    """Return the changes and settings of a contest; raise InputError for settings of the operator."""
    body = body_of(_Contest, await request.body(), _SHAPE)
    settings = body.settings or {}

    def require_harmless() -> None:
        kind = protocol(debates.result(request.path_params["run_id"]).protocol).settings
        if places(kind, settings) or find_reserved_settings(kind, settings):
            raise InputError(
                "the settings of a contest name an address, a model's file or a setting of the operator: "
                "leave these out; the server's setup has them"
            )
        require_few_judges(find_large_juries(kind, settings))

    await asyncio.to_thread(require_harmless)
    return body.changes, settings


async def cancel(request: Request) -> Response:
    """Break off a run that was begun here, such as a contest; answer with its record."""
    debates, run_id = debates_of(request), request.path_params["run_id"]
    await asyncio.to_thread(_require_no_thread, debates, run_id)
    record = await debates.cancel(run_id)
    return Response(record.model_dump_json(), media_type="application/json", headers=SAFE)


async def resume(request: Request) -> Response:
    """Go on with a run that was begun here and broken off."""
    debates, run_id = debates_of(request), request.path_params["run_id"]
    await asyncio.to_thread(_require_no_thread, debates, run_id)
    await debates.resume(run_id, {})
    return JSONResponse({"run_id": run_id, "status": "running"}, 202, headers=SAFE)


async def show_pending_request(request: Request) -> Response:
    """Answer with the question that a run begun here asks a person; null if no question is open."""

    def read() -> dict[str, str] | None:
        underway = debates_of(request).underway(request.path_params["run_id"])
        return {**underway.asked} if underway and underway.asked else None

    return JSONResponse(await asyncio.to_thread(read), headers=SAFE)


async def answer(request: Request) -> Response:
    """Take a person's answer."""
    answer_text = body_of(_Answer, await request.body()).answer
    run_id = request.path_params["run_id"]
    underway = await asyncio.to_thread(debates_of(request).underway, run_id)
    if underway is None:
        raise InputError(f"{run_id} is not under way here")
    underway.answer(answer_text)
    return JSONResponse({"run_id": run_id}, headers=SAFE)


def _require_no_thread(debates: BackgroundDebates, run_id: str) -> None:
    record = debates.result(run_id)
    if record.thread and record.contest is None:
        raise InputError(f"{run_id} belongs to the thread {record.thread}: stop it or go on with it there")


_ACTS = {
    "/protocols/{name}/prepare": prepare,
    "/debates/{run_id}/contest": contest,
    "/debates/{run_id}/contest/estimate": price,
    "/debates/{run_id}/cancel": cancel,
    "/debates/{run_id}/resume": resume,
    "/debates/{run_id}/answer": answer,
}
routes = [
    Route("/debates/{run_id}/asked", show_pending_request),
    *(Route(path, act, methods=["POST"]) for path, act in _ACTS.items()),
]
start_route = Route("/protocols/{name}/start", start, methods=["POST"])
"""Only for a server without threads of its own."""
