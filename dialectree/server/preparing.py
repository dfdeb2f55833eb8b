"""Prepare a debate for the page: read what a person gave, and say what it will take."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dialectree.protocols.protocol import protocol
from dialectree.server.debates import SAFE, body_of, debates_of, priced
from dialectree.server.messages import require_attached
from dialectree.server.owners import check_settings
from dialectree.service.debates import Planned


class _Wanted(BaseModel):
    """The body: fields of the protocol's form, and settings."""

    model_config = ConfigDict(extra="forbid", strict=True)

    given: dict[str, Any]
    settings: dict[str, Any] = {}
    estimate: bool = True


async def prepare(request: Request) -> Response:
    """Answer with the input of the protocol's graph, and if wanted with what it will take.

    Files come as ``{"name": ..., "base64": ...}`` and are read here. No model is called.
    """
    wanted = body_of(_Wanted, await request.body())

    def plan() -> Planned:
        declared = protocol(request.path_params["name"])
        check_settings(declared.name, wanted.settings)
        require_attached(declared.input, wanted.given)
        chosen = declared.methods()[declared.name]
        return debates_of(request).plan(chosen, wanted.given, wanted.settings)

    planned = await asyncio.to_thread(plan)
    expected = priced(await planned.estimate()) if wanted.estimate else None
    answer = {"input": {**planned.given}, "remarks": planned.remarks, "estimate": expected}
    return JSONResponse(answer, headers=SAFE)


routes = [Route("/protocols/{name}/prepare", prepare, methods=["POST"])]
