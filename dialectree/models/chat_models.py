"""The chat models of LangChain that are asked: ours for OpenAI's API, other providers', live ones.

Ours are made once for each event loop and address: connections belong to an event loop, so a
process with several loops has clients for each.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import httpx2
from langchain_core.language_models import BaseChatModel, LangSmithParams
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import (
    Runnable,
    RunnableBinding,
    RunnableParallel,
    RunnableSequence,
    RunnableWithFallbacks,
)
from langchain_openai import ChatOpenAI
from openai import RequestOptions
from pydantic import SecretStr

from dialectree.models.error_mapping import Garbled
from dialectree.models.forms import Form, Schema
from dialectree.models.http_client import HttpClient, checked_proxy, usage
from dialectree.models.specs import Spec, chat_model, models
from dialectree.system import clock

_MAX_TOKENS = ("max_tokens", "max_output_tokens", "num_predict")
"""The names that providers have for the token limit."""

Asked = Runnable[Any, Any]
"""A chat model, with what was bound to it."""
Message = tuple[str, str]
"""Role and content."""


class Chat(ChatOpenAI):
    """Ask an OpenAI-compatible endpoint; raise Garbled for a reply that cannot be read."""

    def _get_invocation_params(self, stop: Any = None, **options: Any) -> dict[str, Any]:
        """Return the fields of the request where traces look for them."""
        body = options.pop("extra_body", {})
        return {**super()._get_invocation_params(stop=stop, **options), **body}

    def _get_ls_params(self, stop: Any = None, **options: Any) -> LangSmithParams:
        """Return what LangSmith shows of the model; the temperature stands in the body."""
        return super()._get_ls_params(stop=stop, **{**options, **options.get("extra_body", {})})

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], *args: Any, **options: Any
    ) -> ChatGenerationChunk | None:
        """Return a piece of a stream, with the same care."""
        chunk = {**chunk, "usage": usage(chunk.get("usage"))}
        return super()._convert_chunk_to_generation_chunk(chunk, *args, **options)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **options: Any,
    ) -> ChatResult:
        """Post the body as it is: the client's ``create`` walks over the types of every message.

        The plain reply is LangChain's to read, too. Odd token counts in it would lose it.
        """
        body = self._get_request_payload(messages, stop=stop, **options)
        sent: RequestOptions = {"extra_json": body.pop("extra_body", {})}
        if "timeout" in body:
            sent["timeout"] = body.pop("timeout")
        response = await self.root_async_client.post(
            "/chat/completions", body=body, cast_to=httpx2.Response, options=sent
        )
        try:
            reply = response.json()
            result = self._create_chat_result({**reply, "usage": usage(reply.get("usage"))})
            for choice, generation in zip(reply["choices"], result.generations, strict=True):
                refusal = choice["message"].get("refusal")
                generation.message.additional_kwargs["refusal"] = refusal
        except json.JSONDecodeError:
            raise Garbled(response.text) from None
        except Exception as error:
            raise Garbled(str(error)) from error
        if not result.generations:
            raise Garbled("it has no choices")
        return result

    async def _astream(self, *args: Any, **options: Any) -> AsyncIterator[ChatGenerationChunk]:
        pieces, held = 0, None
        try:
            async for chunk in super()._astream(*args, **options):
                pieces += 1
                held = chunk if held is None else held + chunk
                # LangChain keeps each piece, whose object is far larger than its text.
                if pieces < 1000 or pieces % 100 == 0:
                    yield held
                    held = None
                if pieces % 100 == 0:
                    await clock.sleep(0)  # a stream that never pauses must not hold up others
        except json.JSONDecodeError as error:
            raise Garbled(str(error)) from error
        if held is not None:
            yield held
        if not pieces:
            raise Garbled("a stream without a reply")


class Clients:
    """The clients of one event loop."""

    def __init__(self) -> None:
        self._http: dict[tuple[str, str], HttpClient] = {}
        self._chats: dict[tuple[str, str, str, bool], Chat] = {}
        self._others: dict[Spec, BaseChatModel] = {}

    def chat(self, url: str, key: str, model: str, *, stream_usage: bool) -> Chat:
        """Return ``model`` of the OpenAI-compatible endpoint at ``url``."""
        name = url, key, model, stream_usage
        if name not in self._chats:
            if (url, key) not in self._http:
                self._http[url, key] = HttpClient(url, key)
            http = self._http[url, key]
            with checked_proxy(url):  # LangChain makes a client of its own, too
                self._chats[name] = Chat(
                    model=model,
                    base_url=http.address,
                    api_key=SecretStr("none"),  # the HTTP client has the key
                    http_async_client=http,
                    http_socket_options=(),
                    openai_proxy=None,
                    cache=False,
                    max_retries=0,
                    stream_usage=stream_usage,
                    stream_chunk_timeout=None,  # wait_for of Python 3.11 may ignore our deadline
                    use_responses_api=False,
                )
        return self._chats[name]

    def other(self, spec: Spec) -> BaseChatModel:
        """Return the model of another provider."""
        if spec not in self._others:
            self._others[spec] = chat_model(spec)
        return self._others[spec]

    async def close(self) -> None:
        """Close every connection."""
        for http in self._http.values():
            await http.aclose()


_open: dict[asyncio.AbstractEventLoop, tuple[Clients, AsyncIterator[Clients]]] = {}


async def clients() -> Clients:
    """Return the clients of the running event loop; they are closed when it ends."""
    loop = asyncio.get_running_loop()
    if loop not in _open:
        life = _life(loop)
        _open[loop] = await anext(life), life
    return _open[loop][0]


async def _life(loop: asyncio.AbstractEventLoop) -> AsyncIterator[Clients]:
    """Yield clients; a loop that ends closes its open generators, which closes the clients."""
    made = Clients()
    try:
        yield made
    finally:
        del _open[loop]
        await made.close()


# Models of other providers, and live ones


def changed(chat: Asked, change: Any) -> Asked:
    """Return ``chat`` with ``change`` applied to each of its models.

    What ``.bind()``, ``.with_config()`` and ``.with_fallbacks()`` added stays.
    """
    if isinstance(chat, RunnableBinding):
        return chat.model_copy(update={"bound": changed(chat.bound, change)})
    if isinstance(chat, RunnableWithFallbacks):
        first, *others = (changed(each, change) for each in chat.runnables)
        return chat.model_copy(update={"runnable": first, "fallbacks": others})
    return change(chat)  # type: ignore[no-any-return]


def structured(chat: Asked, form: Form) -> Asked:
    """Return ``chat`` bound to the schema of ``form``; its replies stay messages.

    Raises NotImplementedError for a model that has no structured output.
    """
    schema: Schema = {"title": form.name, "description": "The reply.", **form.strict}

    def bind(model: Asked) -> Asked:
        if not isinstance(model, BaseChatModel):
            raise NotImplementedError
        of_openai = type(model).__module__.startswith("langchain_openai")
        if of_openai and not getattr(model, "use_responses_api", None):
            return _openai_structured(model, form)
        chain = model.with_structured_output(schema, include_raw=True)
        first = chain.first if isinstance(chain, RunnableSequence) else None
        if not isinstance(first, RunnableParallel):
            raise NotImplementedError
        return first.steps__["raw"]  # without the parser: replies are read here

    return changed(chat, bind)


def _openai_structured(model: Any, form: Form) -> Asked:
    """Send the schema past LangChain's parser, which raises where a reply was cut off."""
    wanted = {"name": form.name, "schema": form.strict, "strict": True}
    response_format = {"type": "json_schema", "json_schema": wanted}
    chat = model.model_copy(update={"use_responses_api": False})  # some names would choose it
    body = {**(model.extra_body or {}), "response_format": response_format}
    bound: Asked = chat.bind(extra_body=body)
    return bound


def decoded(chat: Asked, decoding: Mapping[str, float | None], *, own: bool) -> Asked:
    """Return ``chat`` with those values of ``decoding`` that its models know.

    ``own``: the model came with a decoding of its own, and only a seed that it lacks is added.
    """

    def set_fields(model: Asked) -> Asked:
        if not isinstance(model, BaseChatModel):
            return model
        fields, update = type(model).model_fields, dict[str, float]()
        for name, value in decoding.items():
            names = _MAX_TOKENS if name == "max_tokens" else (name,)
            known = next((each for each in names if each in fields), None)
            if value is None or known is None:
                continue
            if not own or (name == "seed" and getattr(model, name) is None):
                update[known] = value
        return model.model_copy(update=update) if update else model

    return changed(chat, set_fields)


def with_cache_mark(chat: Asked, messages: Sequence[Message], shared: int) -> list[Any]:
    """Return ``messages``, for Anthropic's models with a mark after ``shared`` characters.

    Their API caches a prompt up to such a mark in the user message. Others need none, or refuse it.
    """
    anthropic = all(type(m).__module__.startswith("langchain_anthropic") for m in models(chat))
    if not (shared and anthropic):
        return [*messages]
    system, (role, user), *rest = messages
    parts = [
        {"type": "text", "text": user[:shared], "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": user[shared:]},
    ]
    return [system, (role, parts), *rest]


def text_of(message: BaseMessage) -> str:
    """Return the text of ``message``, or the arguments of the tool call that holds the reply."""
    if isinstance(message, AIMessage):
        if message.tool_calls:
            return json.dumps(message.tool_calls[0]["args"], ensure_ascii=False)
        if message.invalid_tool_calls:
            return message.invalid_tool_calls[0]["args"] or ""
    return str(message.text)
