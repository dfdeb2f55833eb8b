"""An endpoint that answers from a script, over real sockets on the loopback interface."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Self

from aiohttp import web

Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


def says(
    text: str | None, finish: str | None = "stop", *, tokens: tuple[int, int] = (7, 5), **more: Any
) -> Answer:
    """A chat completion; ``more`` are fields of the message, such as ``refusal``."""
    message = {"role": "assistant", "content": text, **more}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    prompt, completion = tokens
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": sum(tokens)}
    return sends({"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage})


def fails(status: int, message: str = "no", headers: Mapping[str, str] | None = None, **error: Any) -> Answer:
    """An error as the OpenAI API shapes it."""
    return sends({"error": {"message": message, **error}}, status, headers)


def sends(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """Any JSON."""
    return writes(json.dumps(value), status=status, headers=headers)


def writes(text: str, kind: str = "application/json", status: int = 200, headers: Any = None) -> Answer:
    """Any text."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(text=text, content_type=kind, status=status, headers=headers)

    return answer


def breaks_off(sent: bytes = b"") -> Answer:
    """The connection is cut: before the headers, or after a part of the body."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "application/json"})
        if sent:
            response.content_length = len(sent) + 100
            await response.prepare(request)
            await response.write(sent)
        assert request.transport is not None
        request.transport.close()
        return response

    return answer


def after(seconds: float, then: Answer) -> Answer:
    """Another answer, later."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return await then(request)

    return answer


class ScriptedEndpoint:
    """Gives its answers one after the other, the last one again and again.

    A script may also be a function that chooses an answer to each request's body.
    """

    def __init__(
        self,
        *script: Answer,
        choose: Callable[[Any], Answer] | None = None,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._script = list(script)
        self._choose = choose
        self.port, self._tls = port, tls
        self.bodies: list[Any] = []
        self.headers: list[Mapping[str, str]] = []
        self.paths: list[str] = []
        self.running = self.peak = 0

    async def __aenter__(self) -> Self:
        self._runner = web.ServerRunner(web.Server(self._answer), shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, ssl_context=self._tls)
        await site.start()
        self.port = self._runner.addresses[0][1]
        self.url = f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}/v1"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.sleep(0.01)  # the server hears of a connection a turn after it is accepted
        await self._runner.cleanup()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        self.paths.append(request.path_qs)
        self.running += 1
        self.peak = max(self.peak, self.running)
        try:
            if self._choose is not None:
                return await self._choose(body)(request)
            answer = self._script.pop(0) if len(self._script) > 1 else self._script[0]
            return await answer(request)
        finally:
            self.running -= 1

    @property
    def formats(self) -> list[str]:
        """How each request asked for a structured reply."""
        return [body.get("response_format", {}).get("type", "text") for body in self.bodies]
