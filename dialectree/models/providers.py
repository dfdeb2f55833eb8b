"""Chat models of LangChain's other providers, and live ones that a program brings along."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import (
    Runnable,
    RunnableBinding,
    RunnableParallel,
    RunnableSequence,
    RunnableWithFallbacks,
)

from dialectree.errors import ModelUnavailable, SettingsError
from dialectree.models.forms import Form, Schema
from dialectree.models.specs import Spec

_MAX_TOKENS = ("max_tokens", "max_output_tokens", "num_predict")
"""The names that providers have for the token limit."""

Chat = Runnable[Any, Any]
Message = tuple[str, str]
"""Role and content."""


def chat_model(spec: Spec) -> BaseChatModel:
    """Return the model of ``spec`` without retries of its own; its package finds the key.

    Raises SettingsError for an unknown provider or a missing package.
    """
    from langchain.chat_models import init_chat_model

    options: dict[str, Any] = {"base_url": spec.whole_url} if spec.whole_url else {}
    try:
        model: BaseChatModel = init_chat_model(
            spec.model, model_provider=spec.provider, max_retries=0, **options
        )
    except ImportError as error:
        package = re.search(r"pip install [\w.-]+", str(error))
        hint = package[0] if package else str(error)
        raise SettingsError(f"{spec.name} needs a package that is not installed: {hint}") from None
    except Exception as error:  # of any library: as a rule, a missing key
        if isinstance(error, ValueError) and "provider" in str(error).partition("\n")[0]:
            known = str(error).partition("providers are: ")[2] or "see LangChain's documents"
            raise SettingsError(
                f"there is no provider {spec.provider!r}: write openai:NAME, local:smollm2, "
                f"local:PATH.gguf, or one of {known}"
            ) from None
        from dialectree.models.error_mapping import discreet, one_line

        text = one_line(discreet(str(error), spec))
        raise ModelUnavailable(f"{spec.name} cannot be used: {text}") from None
    return model


@lru_cache(maxsize=64)
def require(spec: Spec) -> None:
    """Raise what ``chat_model`` raises, once for each spec."""
    chat_model(spec)


def models(chat: Chat) -> Iterator[BaseChatModel]:
    """Yield the chat models that ``chat`` is made of."""
    if isinstance(chat, BaseChatModel):
        yield chat
    elif isinstance(chat, RunnableBinding):
        yield from models(chat.bound)
    elif isinstance(chat, RunnableWithFallbacks):
        for each in chat.runnables:
            yield from models(each)


def changed(chat: Chat, change: Any) -> Chat:
    """Return ``chat`` with ``change`` applied to each of its models.

    What ``.bind()``, ``.with_config()`` and ``.with_fallbacks()`` added stays.
    """
    if isinstance(chat, RunnableBinding):
        return chat.model_copy(update={"bound": changed(chat.bound, change)})
    if isinstance(chat, RunnableWithFallbacks):
        first, *others = (changed(each, change) for each in chat.runnables)
        return chat.model_copy(update={"runnable": first, "fallbacks": others})
    return change(chat)  # type: ignore[no-any-return]


def structured(chat: Chat, form: Form) -> Chat:
    """Return ``chat`` bound to the schema of ``form``; its replies stay messages.

    Raises NotImplementedError for a model that has no structured output.
    """
    schema: Schema = {"title": form.name, "description": "The reply.", **form.strict}

    def bind(model: Chat) -> Chat:
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


def _openai_structured(model: Any, form: Form) -> Chat:
    """Send the schema past LangChain's parser, which raises where a reply was cut off."""
    wanted = {"name": form.name, "schema": form.strict, "strict": True}
    response_format = {"type": "json_schema", "json_schema": wanted}
    chat = model.model_copy(update={"use_responses_api": False})  # some names would choose it
    body = {**(model.extra_body or {}), "response_format": response_format}
    bound: Chat = chat.bind(extra_body=body)
    return bound


def decoded(chat: Chat, decoding: Mapping[str, float | None], *, own: bool) -> Chat:
    """Return ``chat`` with those values of ``decoding`` that its models know.

    ``own``: the model came with a decoding of its own, and only a seed that it lacks is added.
    """

    def set_fields(model: Chat) -> Chat:
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


def with_cache_mark(chat: Chat, messages: Sequence[Message], shared: int) -> list[Any]:
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
