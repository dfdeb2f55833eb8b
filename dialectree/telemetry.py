"""Send traces by OpenTelemetry, with the attributes that its tools read.

LangSmith's client turns runs into spans where the environment asks for it
(``LANGSMITH_OTEL_ENABLED``). It names project, input and output, and the kind of a span only as
LangSmith reads them. The spans sent here have them as OpenTelemetry's conventions for GenAI and
OpenInference (Arize Phoenix) name them, too.

Only imported where the environment asks for OpenTelemetry: its packages come with
``dialectree[server]``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult

_KINDS = {"llm": "LLM", "retriever": "RETRIEVER", "tool": "TOOL"}
_OPERATIONS = {"llm": "chat", "retriever": "retrieval", "tool": "execute_tool"}


def provide() -> None:
    """Set the tracer provider of this process, unless its program has set one."""
    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return
    project = os.environ.get("LANGSMITH_PROJECT") or "dialectree"
    service = {} if "OTEL_SERVICE_NAME" in os.environ else {SERVICE_NAME: "dialectree"}
    resource = Resource({"openinference.project.name": project}).merge(Resource.create(service))
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(Exporter()))
    trace.set_tracer_provider(provider)


class Exporter(OTLPSpanExporter):
    """Sends spans of LangSmith's client with the attributes of GenAI and OpenInference."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send ``spans`` to the address in OTEL_EXPORTER_OTLP_ENDPOINT."""
        return super().export([_translated(span) for span in spans])


def _translated(span: ReadableSpan) -> ReadableSpan:
    given = dict(span.attributes or {})
    return ReadableSpan(
        name=str(given.get("langsmith.trace.name") or span.name),
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=_attributes(given),
        events=span.events,
        links=span.links,
        kind=span.kind,
        status=span.status,
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _attributes(given: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a span; what is not known of it is left out."""
    kind = given.get("langsmith.span.kind", "chain")
    about = {
        name.removeprefix("langsmith.metadata."): value
        for name, value in given.items()
        if name.startswith("langsmith.metadata.")
    }
    inputs = json.loads(given.pop("gen_ai.prompt", None) or "{}")
    outputs = json.loads(given.pop("gen_ai.completion", None) or "{}")
    role, speaker, run = about.get("role"), about.get("speaker"), about.get("run_id")
    agent = role if speaker in (None, role) else f"{role} {speaker}"
    named = {
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
        "llm.token_count.prompt": given.get("gen_ai.usage.input_tokens"),
        "llm.token_count.completion": given.get("gen_ai.usage.output_tokens"),
        "metadata": json.dumps({**about, "tags": given.get("langsmith.span.tags", "")}),
        **dict(_texts("input", inputs)),
        **dict(_texts("output", outputs)),
        **dict(_messages("llm.input_messages", inputs.get("messages") or ())),
        **dict(_messages("llm.output_messages", [c["message"] for c in _choices(outputs)])),
        **dict(_documents(outputs)),
    }
    return {**given, **{name: value for name, value in named.items() if value is not None}}


def _choices(outputs: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return outputs.get("choices") or ()


def _texts(side: str, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield an input or an output: a question and an answer as plain text, all else as JSON."""
    if not values:
        return
    plain = values.get("question") or values.get("query")
    yield f"{side}.value", plain or json.dumps(values, ensure_ascii=False)
    yield f"{side}.mime_type", "text/plain" if plain else "application/json"


def _messages(name: str, messages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for n, message in enumerate(messages):
        content = message.get("content")
        yield f"{name}.{n}.message.role", str(message.get("role"))
        yield (
            f"{name}.{n}.message.content",
            content if isinstance(content, str) else json.dumps(content),
        )


def _documents(outputs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for n, document in enumerate(outputs.get("documents") or ()):
        name = f"retrieval.documents.{n}.document"
        yield f"{name}.id", document["metadata"]["id"]
        yield f"{name}.score", document["metadata"]["score"]
        yield f"{name}.content", document["page_content"]
