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
from collections.abc import Callable, Mapping
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any

from aiohttp import web

from benchmarks.endpoint_ledger import Entry, Ledger
from benchmarks.endpoint_options import FAULTS, Options
from benchmarks.instances import Inventor, Schema, quoted_schema, words_of

_FOREVER_S = 1e6
_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError)


class Server:
    """Answers requests after the options it was started with."""

    def __init__(self, options: Options) -> None:
        self.options = options
        log = open(options.log, "a", encoding="utf-8") if options.log else None  # noqa: SIM115
        self.ledger = Ledger(options, log)
        slots = options.max_concurrency
        self.slots = asyncio.Semaphore(slots) if slots else None
        self.rules = _rules(options.rules)
        self.bucket = _Bucket(options.rate_limit_rpm / 60)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Whatever comes."""
        if self.options.key and request.path.startswith("/v1"):
            given = request.headers.get("authorization", "")
            if given != f"Bearer {self.options.key}":
                return _error(401, "Incorrect API key provided", "invalid_api_key")
        match request.path:
            case "/v1/chat/completions":
                return await self._chat(request)
            case "/v1/models":
                return _json({"object": "list", "data": [_model(name) for name in self._models()]})
            case "/stats":
                return _json(self.ledger.totals())
            case "/calls":
                lines = [json.dumps(asdict(entry)) for entry in self.ledger.entries]
                return web.Response(text="\n".join(lines))
            case "/reset":
                self.ledger.reset()
                return _json({"ok": True})
            case path:
                return _error(404, f"there is nothing at {path}")

    def _models(self) -> list[str]:
        return _listed(self.options.models) or ["no-model"]

    async def _chat(self, request: web.BaseRequest) -> web.StreamResponse:
        raw = await request.read()
        digest = blake2b(raw, digest_size=8, key=self.options.seed.encode()[:64]).hexdigest()
        try:
            body = json.loads(raw)
            entry = self.ledger.arrive(digest, str(body["model"]))
        except _UNREADABLE:
            return _error(400, "the request is not JSON with a model")
        entry.body = raw.decode() if self.options.keep_bodies else None
        try:
            return await self._answer(request, body, entry)
        except _UNREADABLE as error:
            entry.status = 400
            return _error(400, f"cannot answer this request: {error!r}")
        except (asyncio.CancelledError, ConnectionError):
            entry.status = 0
            raise
        finally:
            if entry.started and self.slots:
                self.slots.release()
            self.ledger.end(entry)

    async def _answer(
        self, request: web.BaseRequest, body: Mapping[str, Any], entry: Entry
    ) -> web.StreamResponse:
        """Refuses, or queues, waits and replies."""
        if refused := self._refusal(body, entry):
            return refused
        if self.slots:
            await self.slots.acquire()
        self.ledger.start(entry)
        chance = random.Random(f"{entry.digest} {entry.times}")
        entry.fault = self._fault(chance)
        reply = json.dumps(self._completion(body, entry, chance)).encode()
        await self._wait(entry, chance)
        if entry.fault in ("http_500", "http_503"):
            entry.status = int(entry.fault[-3:])
            return _error(entry.status, "failed on purpose", wait_s=entry.status == 503)
        if entry.fault == "disconnect":
            return await _cut(request, entry, reply if chance.random() < 0.5 else b"")
        return web.Response(body=reply, content_type="application/json")

    def _refusal(self, body: Mapping[str, Any], entry: Entry) -> web.Response | None:
        """What is wrong with a request before any model would see it."""
        entry.kind = (body.get("response_format") or {}).get("type", "text")
        if wait_s := self.bucket.take():
            entry.status = 429
            return _error(429, "rate limit reached", "rate_limit_exceeded", wait_s)
        if self.options.models and entry.model not in self._models():
            entry.status = 404
            return _error(404, f"The model `{entry.model}` does not exist", "model_not_found")
        if entry.kind in _listed(self.options.refuses):
            entry.status = 400
            return _error(400, f"response_format of type {entry.kind} is not supported here")
        return None

    def _fault(self, chance: random.Random) -> str | None:
        """The first fault whose draw comes true."""
        draws = ((name, getattr(self.options, name)) for name in FAULTS)
        return next((name for name, rate in draws if rate and chance.random() < rate), None)

    async def _wait(self, entry: Entry, chance: random.Random) -> None:
        """Until the latency has passed since the request left the queue."""
        if entry.fault == "hang":
            await asyncio.sleep(_FOREVER_S)
        median, sigma = self.options.latency()
        delay = median * math.exp(chance.gauss(0.0, sigma)) if sigma else median
        left = entry.started + delay - time.monotonic()
        if left > 0:
            await asyncio.sleep(left)

    def _completion(
        self, body: Mapping[str, Any], entry: Entry, chance: random.Random
    ) -> dict[str, Any]:
        """A chat completion, with the entry's fault in it."""
        prompt = "\n\n".join(_text(message.get("content")) for message in body["messages"])
        content, finish = self._content(body, entry, prompt, chance)
        refused = entry.fault == "refusal"
        message = {
            "role": "assistant",
            "content": None if refused else content,
            "refusal": "I cannot help with that." if refused else None,
        }
        entry.prompt_tokens, entry.completion_tokens = _tokens(prompt), _tokens(content)
        usage = {
            "prompt_tokens": entry.prompt_tokens,
            "completion_tokens": entry.completion_tokens,
            "total_tokens": entry.prompt_tokens + entry.completion_tokens,
        }
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
        self, body: Mapping[str, Any], entry: Entry, prompt: str, chance: random.Random
    ) -> tuple[str, str]:
        """The text of a reply and why it ends."""
        fixed: dict[str, Any] = {}
        for pattern, values in self.rules:
            if pattern.search(prompt):
                fixed |= values
        rng, items = random.Random(entry.digest), self.options.array_items
        inventor = Inventor(rng, words_of(prompt), fixed, items)
        schema = self._schema(body, entry, prompt)
        if schema is None:
            text = inventor.text(40, 80)
            most = 4 * (body.get("max_completion_tokens") or body.get("max_tokens") or len(text))
            return _spoilt(text[:most], entry, None, "length" if len(text) > most else "stop")
        value = inventor.instance(schema)
        if entry.fault == "wrong_schema" and isinstance(value, dict):
            value = {"unexpected": 1, **{name: [part] for name, part in [*value.items()][1:]}}
        text = json.dumps(value, ensure_ascii=False)
        if entry.kind == "text" or entry.kind in _listed(self.options.ignores):
            text = f"Here it is:\n```json\n{text}\n```"
        return _spoilt(text, entry, chance, "stop")

    def _schema(self, body: Mapping[str, Any], entry: Entry, prompt: str) -> Schema | None:
        """What the reply must fit: the schema sent along, else one that the prompt shows."""
        if entry.kind in _listed(self.options.ignores) or entry.kind == "text":
            return quoted_schema(prompt)
        if entry.kind == "json_schema":
            schema: Schema = body["response_format"]["json_schema"]["schema"]
            return schema
        text = {"type": "object", "properties": {"answer": {"type": "string"}}}
        return quoted_schema(prompt) or text


class _Bucket:
    """A rate limit that lets ten seconds' worth through at once."""

    def __init__(self, rate: float) -> None:
        self.rate, self.most = rate, max(1.0, 10 * rate)
        self.credit, self.at = self.most, time.monotonic()

    def take(self) -> float:
        """0, or the seconds to wait."""
        if not self.rate:
            return 0.0
        now = time.monotonic()
        self.credit = min(self.most, self.credit + (now - self.at) * self.rate)
        self.at = now
        if self.credit < 1:
            return (1 - self.credit) / self.rate
        self.credit -= 1
        return 0.0


def _rules(text: str) -> list[tuple[re.Pattern[str], dict[str, Any]]]:
    """The rules as they stand in the option, or in the file that it names."""
    if not text.lstrip().startswith("["):
        text = Path(text).read_text(encoding="utf-8")
    return [(re.compile(r.get("match", ""), re.DOTALL), r["set"]) for r in json.loads(text)]


def _spoilt(text: str, entry: Entry, chance: random.Random | None, finish: str) -> tuple[str, str]:
    """The text with the entry's fault in it; only JSON (which has a ``chance``) is malformed."""
    match entry.fault:
        case "empty" | "refusal":
            return "", "stop"
        case "truncate":
            return text[: len(text) // 2], "length"
        case "malformed_json" if chance is not None:
            cut, quoted = text[:-1], text.replace('"', "'")
            return chance.choice((f"{cut},}}", quoted, f"```json\n{cut}\n```")), finish
        case _:
            return text, finish


async def _cut(request: web.BaseRequest, entry: Entry, half_of: bytes) -> web.StreamResponse:
    """Close the connection, after one half of ``half_of`` if there is any."""
    entry.status = 0
    response = web.StreamResponse(headers={"content-type": "application/json"})
    if half_of:
        response.content_length = len(half_of)
        await response.prepare(request)
        await response.write(half_of[: len(half_of) // 2])
    if request.transport:
        request.transport.abort()
    return response


def _json(
    value: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    return web.json_response(value, status=status, headers=headers)


def _error(status: int, message: str, code: str | None = None, wait_s: float = 0) -> web.Response:
    headers = {"retry-after": str(math.ceil(wait_s))} if wait_s else None
    if wait_s and status == 429:
        headers = {**(headers or {}), "retry-after-ms": str(math.ceil(wait_s * 1000))}
    kind = "server_error" if status >= 500 else "invalid_request_error"
    error = {"message": message, "type": kind, "param": None, "code": code}
    return _json({"error": error}, status, headers)


def _model(name: str) -> dict[str, str | int]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "benchmarks"}


def _listed(names: str) -> list[str]:
    return [name for name in names.split(",") if name]


def _text(content: object) -> str:
    """The text of a message, whether it is one text or a list of parts."""
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return str(content or "")


def _tokens(text: str) -> int:
    """A rough count: four characters each."""
    return (len(text) + 3) // 4


async def serve(options: Options, ready: Callable[[str], None]) -> None:
    """Serve until a signal comes; ``ready`` is told the address."""
    server, stop = Server(options), asyncio.Event()
    runner = web.ServerRunner(
        web.Server(server.handle, access_log=None, handler_cancellation=True), shutdown_timeout=0.5
    )
    await runner.setup()
    site = web.TCPSite(runner, options.host, options.port, backlog=4096)
    await site.start()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    if options.with_parent:
        loop.add_reader(sys.stdin.fileno(), stop.set)
    ready(f"http://{options.host}:{runner.addresses[0][1]}/v1")
    await stop.wait()
    await runner.cleanup()
