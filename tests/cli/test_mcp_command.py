"""``dialectree mcp``: by which way it serves, and what it says of it."""

from __future__ import annotations

from socket import socket

import pytest
from mcp import Client

from dialectree.interfaces.mcp import serving
from tests.cli.commands import command

MODEL = ("--model", "openai:any@http://127.0.0.1:9/v1")


@pytest.mark.parametrize("way", ["stdio", "http"])
def test_a_client_is_served_over_stdin_and_stdout_unless_http_is_asked_for(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools: dict[str, set[str]] = {}

    async def serve_stdio(sdk: object) -> None:
        async with Client(sdk) as client:  # type: ignore[arg-type]
            tools["stdio"] = {tool.name for tool in (await client.list_tools()).tools}

    async def serve_http(sdk: object, _: object, listening: socket, *__: object) -> None:
        listening.close()
        await serve_stdio(sdk)
        tools["http"] = tools.pop("stdio")

    monkeypatch.setattr(serving, "serve_stdio", serve_stdio)
    monkeypatch.setattr(serving, "serve_http", serve_http)
    flags = ["--http", "--port", "0"] if way == "http" else []
    done = command("mcp", *MODEL, *flags)
    assert (done.status, [*tools]) == (0, [way]), done.err
    assert {"decide", "verify", "answer"} <= tools[way]
    assert ("MCP server: http://127.0.0.1:" in done.err) is (way == "http")
