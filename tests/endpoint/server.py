"""The endpoint's HTTP side: takes a slot, waits as long as a model would, and answers."""

from __future__ import annotations

import asyncio
import json
import math
import random
import re
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from hashlib import blake2b
from typing import Any

from aiohttp import web

from tests.endpoint.instances import Inventor, Schema, quoted_schema, resolved, words_of
from tests.endpoint.ledger import Entry, Ledger
from tests.endpoint.options import FAULTS, HUNG_S, Options

_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError)


class Server:
    """Answers requests after the options it was started with."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.ledger = Ledger(options.max_concurrency)
        self.slots = asyncio.Semaphore(options.max_concurrency or sys.maxsize)
        self.rules = [(re.compile(r["match"], re.DOTALL), r["set"]) for r in options.rules]

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer any request."""
        key = f"Bearer {self.options.key}" if self.options.key else None
        if key and request.headers.get("authorization") != key and request.path.startswith("/v1"):
            return _error(401, "Incorrect API key provided", "invalid_api_key")
        match request.path:
            case "/v1/chat/completions":
                return await self._chat(request)
            case "/v1/models":
                return web.json_response({"object": "list", "data": [_MODEL]})
            case "/stats":
                return web.json_response(self.ledger.totals())
            case "/calls":
                return web.json_response([asdict(entry) for entry in self.ledger.entries])
            case "/reset":
                self.ledger.reset()
                return web.json_response({"ok": True})
            case path:
                return _error(404, f"there is nothing at {path}")

    async def _chat(self, request: web.BaseRequest) -> web.StreamResponse:
        raw = await request.read()
        seed = str(self.options.seed).encode()
        digest = blake2b(raw, digest_size=8, key=seed).hexdigest()
        try:
            body = json.loads(raw)
            entry = self.ledger.arrive(digest, str(body["model"]))
        except _UNREADABLE:
            return _error(400, "the request is not JSON with a model")
        entry.body = raw.decode() if self.options.keep_bodies else None
        try:
            async with self.slots:
                self.ledger.start(entry)
                return await self._answer(body, entry)
        except _UNREADABLE as error:
            entry.status = 400
            return _error(400, f"cannot answer this request: {error!r}")
        except (asyncio.CancelledError, ConnectionError):
            entry.status = 0
            raise
        finally:
            self.ledger.end(entry)

    async def _answer(self, body: Mapping[str, Any], entry: Entry) -> web.Response:
        """Wait as long as a model would, then reply."""
        chance = random.Random(f"{entry.digest} {entry.times}")
        draws = ((name, getattr(self.options, name)) for name in FAULTS)
        entry.fault = next((name for name, rate in draws if rate and chance.random() < rate), None)
        reply = json.dumps(self._completion(body, entry, chance)).encode()
        delay_s = self.options.latency_ms / 1000
        if self.options.spread:
            delay_s *= math.exp(chance.gauss(0.0, self.options.spread))
        delay_s = HUNG_S if entry.fault == "hang" else delay_s
        await asyncio.sleep(max(0.0, entry.started + delay_s - time.monotonic()))
        if status := _FAILED.get(entry.fault or ""):
            entry.status, entry.completion_tokens = status, 0
            return _error(status, "failed on purpose")
        return web.Response(body=reply, content_type="application/json")

    def _completion(self, body: Mapping[str, Any], entry: Entry, chance: random.Random) -> dict[str, Any]:
        """Return a chat completion, with the entry's fault in it."""
        prompt = "\n\n".join(_text(message.get("content")) for message in body["messages"])
        tool = _tool(body) if self.options.call_tools else None
        content, finish = self._content(body, entry, prompt, tool, chance)
        along = [body[name] for name in ("tools", "response_format") if body.get(name)]
        read, written = _tokens(prompt), _tokens(content)
        entry.prompt_tokens = read + sum(_tokens(json.dumps(part)) for part in along)
        entry.completion_tokens = written
        usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
        message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None}
        if tool and content:
            called = {"name": tool["name"], "arguments": content}
            call = {"id": f"call_{entry.digest}", "type": "function", "function": called}
            message, finish = {**message, "content": None, "tool_calls": [call]}, "tool_calls"
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
        return {
            "id": f"chatcmpl-{entry.digest}",
            "object": "chat.completion",
            "created": 0,
            "model": entry.model,
            "choices": [choice],
            "usage": usage,
        }

    def _content(
        self,
        body: Mapping[str, Any],
        entry: Entry,
        prompt: str,
        tool: Mapping[str, Any] | None,
        chance: random.Random,
    ) -> tuple[str, str]:
        """Return the text of a reply, or the arguments of ``tool``, and why it ends."""
        if entry.fault == "empty":
            return "", "stop"
        fixed: dict[str, Any] = {}
        for pattern, values in self.rules:
            if pattern.search(prompt):
                fixed |= values
        rng = random.Random(entry.digest)
        inventor = Inventor(rng, words_of(prompt), fixed, self.options.array_items)
        kind = (body.get("response_format") or {}).get("type", "text")
        schema = resolved(tool["parameters"]) if tool else _schema(kind, body, prompt)
        if schema is None:
            text = inventor.text(40, 80)
            most = 4 * (body.get("max_completion_tokens") or body.get("max_tokens") or len(text))
            return text[:most], "length" if len(text) > most else "stop"
        text = json.dumps(inventor.instance(schema), ensure_ascii=False)
        if kind == "text" and not tool:
            text = f"Here it is:\n```json\n{text}\n```"
        if entry.fault == "malformed_json":
            cut, quoted = text[:-1], text.replace('"', "'")
            text = chance.choice((f"{cut},}}", quoted, f"```json\n{cut}\n```"))
        return text, "stop"


def _tool(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the first tool that the request offers."""
    return next((tool["function"] for tool in body.get("tools") or ()), None)


def _schema(kind: str, body: Mapping[str, Any], prompt: str) -> Schema | None:
    """Return the schema sent along, else one that the prompt shows."""
    if kind == "json_schema":
        schema: Schema = resolved(body["response_format"]["json_schema"]["schema"])
        return schema
    any_object = {"type": "object", "properties": {"answer": {"type": "string"}}}
    return quoted_schema(prompt) or (any_object if kind == "json_object" else None)


_FAILED = {"http_500": 500, "http_429": 429, "hang": 504}
_MODEL = {"id": "no-model", "object": "model", "created": 0, "owned_by": "tests"}


def _error(status: int, message: str, code: str | None = None) -> web.Response:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    error = {"message": message, "type": kind, "param": None, "code": code}
    headers = {"retry-after": "1"} if status == 429 else None
    return web.json_response({"error": error}, status=status, headers=headers)


def _text(content: object) -> str:
    """Return the text of a message, whether it is one text or a list of parts."""
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return str(content or "")


def _tokens(text: str) -> int:
    """Estimate the tokens: four characters each."""
    return (len(text) + 3) // 4


async def serve() -> None:
    """Serve by the options in a line of the standard input, until an empty line; then again.

    Prints the address once it takes requests, and an empty line once it takes none. Ends with
    its input, or by a signal.
    """
    loop = asyncio.get_running_loop()
    current = asyncio.current_task()
    assert current is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, current.cancel)
    orders = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    while options := await orders.readline():
        server = web.Server(
            Server(Options(**json.loads(options))).handle, access_log=None, handler_cancellation=True
        )
        runner = web.ServerRunner(server, shutdown_timeout=0.5)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=4096).start()
        print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
        await orders.readline()
        await runner.cleanup()
        print(flush=True)


if __name__ == "__main__":
    with suppress(asyncio.CancelledError, BrokenPipeError):
        asyncio.run(serve())
