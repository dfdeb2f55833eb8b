"""Adapt a live chat model, or a chat model of another provider, to a request."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import openai
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import (
    Runnable,
    RunnableBinding,
    RunnableConfig,
    RunnableParallel,
    RunnableSequence,
    RunnableWithFallbacks,
)
from langgraph.errors import GraphBubbleUp

from dialectree.errors import DialectreeError
from dialectree.models.asking import Form, Message, Schema
from dialectree.models.error_mapping import ForeignFailure
from dialectree.models.specs import models

_MAX_TOKENS = ("max_tokens", "max_output_tokens", "num_predict")
"""The names that providers have for the token limit."""

_MISTAKES = (ArithmeticError, AssertionError, NameError)

Asked = Runnable[Any, Any]
"""A chat model, with the options bound to it."""


def map_models(chat: Asked, change: Any) -> Asked:
    """Return ``chat`` with ``change`` applied to each of its models.

    Keep the additions of ``.bind()``, ``.with_config()`` and ``.with_fallbacks()``.
    """
    if isinstance(chat, RunnableBinding):
        return chat.model_copy(update={"bound": map_models(chat.bound, change)})
    if isinstance(chat, RunnableWithFallbacks):
        first, *fallbacks = (map_models(runnable, change) for runnable in chat.runnables)
        return chat.model_copy(update={"runnable": first, "fallbacks": fallbacks})
    return change(chat)  # type: ignore[no-any-return]


def bind_reply_schema(chat: Asked, form: Form) -> Asked:
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

    return map_models(chat, bind)


def _openai_structured(model: Any, form: Form) -> Asked:
    """Bind the schema without LangChain's parser, which raises if a reply was cut off."""
    chat = model.model_copy(update={"use_responses_api": False})  # some model names would turn it on
    body = {**(model.extra_body or {}), "response_format": form.response_format(form.strict)}
    bound: Asked = chat.bind(extra_body=body)
    return bound


def apply_decoding(chat: Asked, decoding: Mapping[str, float | None], *, has_decoding: bool) -> Asked:
    """Return ``chat`` with the values of ``decoding`` that its models know.

    ``has_decoding``: keep the model's own decoding, and add only a seed if the model has none.
    """

    def set_fields(model: Asked) -> Asked:
        if not isinstance(model, BaseChatModel):
            return model
        fields, update = type(model).model_fields, dict[str, float]()
        for name, value in decoding.items():
            names = _MAX_TOKENS if name == "max_tokens" else (name,)
            field_name = next((candidate for candidate in names if candidate in fields), None)
            if value is None or field_name is None:
                continue
            if not has_decoding or (name == "seed" and getattr(model, name) is None):
                update[field_name] = value
        return model.model_copy(update=update) if update else model

    return map_models(chat, set_fields)


def with_options(chat: Asked, options: Mapping[str, Any]) -> Asked:
    """Return ``chat`` with the user's options: those that the model has as fields, others for each call."""
    if not options:
        return chat

    def set_fields(model: Asked) -> Asked:
        if not isinstance(model, BaseChatModel):
            return model
        fields = type(model).model_fields
        model_options = {name: value for name, value in options.items() if name in fields}
        model = model.model_copy(update=model_options) if model_options else model
        call_options = {name: value for name, value in options.items() if name not in fields}
        return model.bind(**call_options) if call_options else model

    return map_models(chat, set_fields)


def with_cache_mark(chat: Asked, messages: Sequence[Message], shared: int) -> list[Any]:
    """Return ``messages``, for Anthropic's models with a mark after ``shared`` characters.

    Their API caches a prompt up to this mark in the user message. Other APIs ignore or refuse it.
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


async def invoke(chat: Asked, messages: list[Any], config: RunnableConfig) -> BaseMessage:
    """Return the reply of ``chat``; raise Failed for an error of its library.

    Interrupts of LangGraph, our own errors, and mistakes in a program pass through.
    """
    try:
        reply: BaseMessage = await chat.ainvoke(messages, config)
    except (openai.OpenAIError, TimeoutError, DialectreeError, GraphBubbleUp, *_MISTAKES):
        raise
    except Exception as error:
        raise ForeignFailure(str(error)) from error
    return reply
