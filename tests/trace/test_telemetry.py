"""Spans as OpenTelemetry's tools read them, whatever a host's graph puts into its runs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanContext, TraceFlags

from dialectree.trace.telemetry import _translate_span

NAMES = (
    *("messages", "choices", "message", "documents", "question", "role", "type", "content"),
    *("metadata", "page_content", "id", "score"),
)
TEXTS = st.text(st.characters(codec=None))
SHAPES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=6,
)


def translated(inputs: str, outputs: str, **attributes: Any) -> ReadableSpan:
    given = {"gen_ai.prompt": inputs, "gen_ai.completion": outputs, **attributes}
    context = SpanContext(1, 1, is_remote=False, trace_flags=TraceFlags(1))
    return _translate_span(ReadableSpan("step", context, attributes=given))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(SHAPES, SHAPES, st.integers(0, 200), TEXTS)
def test_any_input_and_output_can_be_translated_and_encoded(
    inputs: object, outputs: object, length: int, name: str
) -> None:
    cut = json.dumps(inputs)[:length]  # as OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT leaves it
    span = translated(cut, json.dumps(outputs), **{"langsmith.trace.name": name})
    assert encode_spans([span])


MESSAGE = {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "A"}


@pytest.mark.parametrize(
    ("inputs", "outputs", "shown"),
    [
        ({"messages": [{"role": "user", "content": "A"}]}, {}, MESSAGE),
        ({"messages": [{"type": "human", "content": "A"}]}, {}, MESSAGE),
        ({"messages": [["user", "A"]]}, {}, MESSAGE),
        ({"question": "A?"}, {}, {"input.value": "A?", "input.mime_type": "text/plain"}),
        (["A"], {}, {"input.value": '{"value": ["A"]}'}),
        (
            {},
            {"documents": [{"page_content": "A", "metadata": {"source": "b"}}]},
            {"retrieval.documents.0.document.content": "A"},
        ),
    ],
)
def test_what_a_hosts_graph_reads_and_writes_is_shown(
    inputs: object, outputs: object, shown: dict[str, object]
) -> None:
    attributes = translated(json.dumps(inputs), json.dumps(outputs)).attributes or {}
    assert {name: attributes.get(name) for name in shown} == shown


@pytest.mark.parametrize(("attributes", "name"), [({}, "step"), ({"langsmith.trace.name": "judge"}, "judge")])
def test_a_span_has_the_name_that_langsmith_shows_if_there_is_one(
    attributes: dict[str, Any], name: str
) -> None:
    assert translated("{}", "{}", **attributes).name == name
