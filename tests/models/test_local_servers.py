"""Model servers of this machine, as ``dialectree doctor`` lists them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from dialectree.models.sizes import LocalServer, local_servers


def listing(*models: object) -> object:
    return {"object": "list", "data": [*models]}


async def asked(*replies: Callable[[], web.Response], timeout_s: float = 1.0) -> list[LocalServer]:
    """What is found where servers give these replies to a request for their models."""
    async with AsyncExitStack() as stack:
        ports = []
        for reply in replies:

            async def models(
                _: web.Request, reply: Callable[[], web.Response] = reply
            ) -> web.Response:
                return reply()

            app = web.Application()
            app.router.add_get("/v1/models", models)
            server = await stack.enter_async_context(TestServer(app, host="127.0.0.1"))
            ports.append(server.port or 0)
        return await local_servers(ports, timeout_s)


@pytest.mark.parametrize(
    ("owner", "kind"),
    [
        ("library", "Ollama"),
        ("organization_owner", "LM Studio"),
        ("somebody", "OpenAI-compatible"),
    ],
)
def test_a_server_is_listed_with_the_flags_that_use_it(owner: str, kind: str) -> None:
    models = [{"id": "a model", "owned_by": owner}, {"id": "b", "owned_by": owner}]
    (server,) = asyncio.run(asked(lambda: web.json_response(listing(*models))))
    assert (server.kind, server.models) == (kind, ("a model", "b"))
    assert server.flags == f"--model 'openai:a model' --base-url {server.base_url}"


def test_what_lists_no_models_is_left_out() -> None:
    replies = [
        lambda: web.Response(text="<html>", content_type="text/html"),
        lambda: web.json_response({"data": [{"id": "a\x1b[31m"}]}),
        lambda: web.json_response([1]),
        lambda: web.Response(status=404),
    ]
    assert asyncio.run(asked(*replies)) == []
    assert asyncio.run(local_servers([1])) == []
