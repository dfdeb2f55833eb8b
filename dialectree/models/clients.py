"""Clients of OpenAI-compatible endpoints: one HTTP client a process, one chat model an address.

Connections belong to an event loop, so that a process with several has a client for each.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import ssl
from collections.abc import AsyncIterator
from functools import cache, cached_property
from ipaddress import ip_address
from typing import Any, cast
from urllib.parse import parse_qsl, unquote, urlsplit

import httpx2
import openai
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatResult
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import get_async_callback_manager_for_config
from langchain_openai import ChatOpenAI
from openai import DefaultAioHttpClient
from openai._models import FinalRequestOptions
from pydantic import SecretStr

_ROLES = {"system": "system", "human": "user", "ai": "assistant"}


class Chat(ChatOpenAI):
    """ChatOpenAI that sends its request as it stands and takes the response as it comes.

    The client library would build address and headers anew for every request, walk through every
    message in search of fields to rename, make objects of the response and have them taken apart
    again in a thread: two thirds of the work of a call.
    """

    async def ainvoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AIMessage:
        config = ensure_config(config)
        if get_async_callback_manager_for_config(config).handlers:
            return await super().ainvoke(input, config, stop=stop, **kwargs)
        # Nobody listens, so nothing needs to be told of the call.
        result = await self._agenerate(self._convert_input(input).to_messages(), **kwargs)
        generation = result.generations[0]
        message = cast("AIMessage", generation.message)
        message.response_metadata |= generation.generation_info or {}
        return message

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        said = [{"role": _ROLES[message.type], "content": message.content} for message in messages]
        body = {"model": self.model_name, "messages": said, **kwargs["extra_body"]}
        response = await self._post(json.dumps(body).encode(), kwargs["timeout"])
        result = self._create_chat_result(response)
        for choice, generation in zip(response["choices"], result.generations, strict=True):
            generation.message.additional_kwargs["refusal"] = choice["message"].get("refusal")
        return result

    async def _post(self, body: bytes, timeout: openai.Timeout) -> Any:
        """What is answered to ``body``; raises what the client library would raise."""
        assert self.http_async_client is not None
        asked = httpx2.Request(
            "POST",
            self._way.url,
            headers=self._way.headers,
            content=body,
            extensions={"timeout": timeout.as_dict()},
        )
        try:
            response = await self.http_async_client.send(asked)
        except httpx2.TimeoutException as error:
            raise openai.APITimeoutError(asked) from error
        except httpx2.HTTPError as error:
            raise openai.APIConnectionError(request=asked) from error
        if not response.is_success:
            raise self.root_async_client._make_status_error_from_response(response)
        try:
            return response.json()
        except ValueError:
            return response.text  # a web page, say

    @cached_property
    def _way(self) -> httpx2.Request:
        """Address and headers of every request, as the client library makes them."""
        options = FinalRequestOptions(method="post", url="/chat/completions")
        empty: httpx2.Request = self.root_async_client._build_request(options)
        del empty.headers["content-length"]
        return empty


_queries: set[str] = set()


def _keep_queries_back(record: logging.LogRecord) -> bool:
    """The HTTP library logs whole addresses; what opens ours stays out of the log."""
    text = record.getMessage()
    for query in _queries:
        if query in text:
            record.msg, record.args = text.replace(query, "***"), ()
    return True


for _name in ("httpx", "httpx2"):
    logging.getLogger(_name).addFilter(_keep_queries_back)


class Clients:
    """The clients of one event loop. No proxy stands between this machine and itself."""

    def __init__(self) -> None:
        self._http: dict[bool, DefaultAioHttpClient] = {}
        self._chats: dict[tuple[str, str, str], Chat] = {}

    def chat(self, url: str, model: str, key: str) -> Chat:
        """The chat model ``model`` at ``url``, which may hold a user, a password and a query."""
        if (url, model, key) not in self._chats:
            abroad = not _is_loopback(url)
            if abroad not in self._http:
                self._http[abroad] = DefaultAioHttpClient(
                    trust_env=abroad, verify=_certificates(abroad)
                )
            self._chats[url, model, key] = _chat(url, model, key, self._http[abroad])
        return self._chats[url, model, key]

    async def close(self) -> None:
        """Close every connection."""
        for http in self._http.values():
            await http.aclose()


@cache
def _certificates(trust_env: bool) -> ssl.SSLContext:
    """Whom to believe; reading all the certificates takes a while."""
    return httpx2.create_ssl_context(trust_env=trust_env)


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _chat(url: str, model: str, key: str, http: DefaultAioHttpClient) -> Chat:
    parts = urlsplit(url)
    if parts.query:
        _queries.add(parts.query)
    place = parts.netloc.rpartition("@")[2]
    headers = {}
    if parts.username is not None:
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Authorization"] = f"Basic {base64.b64encode(user.encode()).decode()}"
    return Chat(
        model=model,
        base_url=f"{parts.scheme}://{place}{parts.path}",
        api_key=SecretStr(key),
        default_headers=headers,
        default_query=dict(parse_qsl(parts.query)),
        http_async_client=http,
        http_socket_options=(),
        cache=False,
        max_retries=0,
        use_responses_api=False,
    )


_open: dict[asyncio.AbstractEventLoop, tuple[Clients, AsyncIterator[Clients]]] = {}


async def clients() -> Clients:
    """The clients of the running event loop; they are closed when it ends."""
    loop = asyncio.get_running_loop()
    if loop not in _open:
        life = _life(loop)
        _open[loop] = await anext(life), life
    return _open[loop][0]


async def _life(loop: asyncio.AbstractEventLoop) -> AsyncIterator[Clients]:
    """A loop that ends closes the generators that it has begun; so the clients are closed too."""
    made = Clients()
    try:
        yield made
    finally:
        del _open[loop]
        await made.close()
