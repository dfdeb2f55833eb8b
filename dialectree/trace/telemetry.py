"""Send traces by OpenTelemetry, with the attributes that its tools read.

LangSmith's client turns runs into spans if the environment asks for it
(``LANGSMITH_OTEL_ENABLED``). It writes project, input, output and kind of a span only in LangSmith's
names. The spans sent here also have the names in OpenTelemetry's conventions for GenAI and in
OpenInference (Arize Phoenix).

Imported only if the environment asks for OpenTelemetry: its packages come with
``dialectree[server]``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from langsmith.run_trees import get_cached_client
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult

_LANGSMITHS = "langsmith.internal_provider"
"""Attribute of the provider that LangSmith's client sets by default."""
_ROLES = {"human": "user", "ai": "assistant"}
"""Roles of OpenAI's messages, by the types of LangChain's."""
_KINDS = {"llm": "LLM", "retriever": "RETRIEVER", "tool": "TOOL"}
_OPERATIONS = {"llm": "chat", "retriever": "retrieval", "tool": "execute_tool"}


@cache
def provide() -> None:
    """Give LangSmith's client of this process a provider of spans, unless the program has set one.

    The client takes its provider at its creation. ``langgraph dev`` has created other clients before;
    they have set LangSmith's own provider, which does not count as the program's.
    """
    current_provider = trace.get_tracer_provider()
    current_resource = getattr(current_provider, "resource", None) or Resource({})
    if (
        not isinstance(current_provider, trace.ProxyTracerProvider)
        and _LANGSMITHS not in current_resource.attributes
    ):
        return
    project = os.environ.get("LANGSMITH_PROJECT") or "dialectree"
    service = {} if "OTEL_SERVICE_NAME" in os.environ else {SERVICE_NAME: "dialectree"}
    resource = Resource({"openinference.project.name": project}).merge(Resource.create(service))
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(Exporter()))
    get_cached_client(otel_tracer_provider=provider)


class Exporter(OTLPSpanExporter):
    """Send spans of LangSmith's client with the attributes of GenAI and OpenInference."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send ``spans`` to the address in OTEL_EXPORTER_OTLP_ENDPOINT."""
        return super().export([_translate_span(span) for span in spans])


def _translate_span(span: ReadableSpan) -> ReadableSpan:
    attributes = dict(span.attributes or {})
    return ReadableSpan(
        name=_sound(str(attributes.get("langsmith.trace.name") or span.name)),
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=_attributes(attributes),
        events=span.events,
        links=span.links,
        kind=span.kind,
        status=span.status,
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _attributes(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a span, with those of GenAI and OpenInference."""
    kind = attributes.get("langsmith.span.kind", "chain")
    about = {
        name.removeprefix("langsmith.metadata."): value
        for name, value in attributes.items()
        if name.startswith("langsmith.metadata.")
    }
    inputs = _values(attributes.pop("gen_ai.prompt", None))
    outputs = _values(attributes.pop("gen_ai.completion", None))
    role, speaker = about.get("role"), about.get("speaker")
    run = about.get("run_id" if "tree_node" in about else "thread_id")
    agent = role if speaker in (None, role) else f"{role} {speaker}"
    new_attributes = {
        "openinference.span.kind": _KINDS.get(kind, "AGENT" if "protocol" in about else "CHAIN"),
        "gen_ai.operation.name": _OPERATIONS.get(kind, "invoke_agent"),
        "gen_ai.agent.name": agent or about.get("protocol"),
        "gen_ai.conversation.id": run,
        "session.id": run,
        "gen_ai.provider.name": about.get("ls_provider"),
        "gen_ai.request.temperature": about.get("ls_temperature"),
        "gen_ai.request.max_tokens": about.get("ls_max_tokens"),
        "llm.provider": about.get("ls_provider"),
        "llm.model_name": about.get("ls_model_name"),
        "llm.token_count.prompt": attributes.get("gen_ai.usage.input_tokens"),
        "llm.token_count.completion": attributes.get("gen_ai.usage.output_tokens"),
        "metadata": json.dumps({**about, "tags": attributes.get("langsmith.span.tags", "")}),
        **dict(_texts("input", inputs)),
        **dict(_texts("output", outputs)),
        **dict(_messages("llm.input_messages", inputs.get("messages"))),
        **dict(_messages("llm.output_messages", _replies(outputs))),
        **dict(_documents(outputs)),
    }
    both = {**attributes, **new_attributes}
    return {name: _sound(value) for name, value in both.items() if value is not None}


def _values(text: object) -> Mapping[str, Any]:
    """Return the inputs or outputs of a run; text that is not a JSON object is one value."""
    try:
        values = json.loads(str(text or "{}"))
    except ValueError:  # a limit on the length of attributes cut it
        values = text
    return values if isinstance(values, Mapping) else {"value": values}


def _replies(outputs: Mapping[str, Any]) -> list[object]:
    choices = outputs.get("choices")
    return [
        choice.get("message")
        for choice in (choices if isinstance(choices, list) else ())
        if isinstance(choice, Mapping)
    ]


def _texts(side: str, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield an input or an output: a question and an answer as plain text, all else as JSON."""
    if not values:
        return
    plain = values.get("question") or values.get("query")
    plain = plain if isinstance(plain, str) else None
    yield f"{side}.value", plain or json.dumps(values, ensure_ascii=False)
    yield f"{side}.mime_type", "text/plain" if plain else "application/json"


def _messages(name: str, messages: object) -> Iterator[tuple[str, str]]:
    """Yield role and content of each message in a shape that LangChain takes."""
    for n, message in enumerate(messages if isinstance(messages, list) else ()):
        match message:
            case {"role": role, "content": content} | {"type": role, "content": content}:
                pass
            case [role, content]:
                pass
            case _:
                continue
        yield f"{name}.{n}.message.role", _ROLES.get(str(role), str(role))
        yield (
            f"{name}.{n}.message.content",
            content if isinstance(content, str) else json.dumps(content, ensure_ascii=False),
        )


def _documents(outputs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    documents = outputs.get("documents")
    for n, document in enumerate(documents if isinstance(documents, list) else ()):
        match document:
            case {"page_content": content, "metadata": {**about}}:
                document_fields = {"id": about.get("id"), "score": about.get("score"), "content": content}
                for field, value in document_fields.items():
                    if isinstance(value, str | int | float):
                        yield f"retrieval.documents.{n}.document.{field}", value
            case _:
                pass


def _sound(value: Any) -> Any:
    """Return ``value`` with a question mark for each lone surrogate, which cannot be encoded."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
