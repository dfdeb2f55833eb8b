"""Show a debate in a trace as a tree of questions, with the speakers' turns at each question.

A trace of LangGraph shows every step of every graph. At the start of a protocol's graph,
:class:`DebateTracer` replaces the LangSmith tracer of the host or of the environment. It leaves
steps out, shows the nodes of the debate's tree, and puts every call to a model under its node.
Stream, drawing and state do not change.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from textwrap import shorten
from typing import Any
from uuid import UUID

from langchain_core.messages import BaseMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.runnables.config import RunnableConfig
from langchain_core.tracers.langchain import LangChainTracer
from langchain_core.tracers.schemas import Run
from langgraph.graph.state import CompiledStateGraph
from langsmith.utils import is_env_var_truish

from dialectree.protocols import sources
from dialectree.protocols.inside import inside
from dialectree.records import Call
from dialectree.system import packages
from dialectree.trace.langchain_internals import (
    RunTracer,
    TracedGraph,
    current_tracer,
    successor,
    with_tracer,
)

NAME_LENGTH = 60
"""Characters of a question in the name of its run."""
_LONGEST = 4000
"""Characters of one text among the inputs of a whole debate."""
_TOKENS = ("input_tokens", "output_tokens", "total_tokens")
_INTERNAL = ("langgraph_", "checkpoint_", "__")
"""Prefixes of metadata on the place of a run in LangGraph, not in the debate."""
_POSITIONS = ("seq:step", "graph:step")
"""Prefixes of tags on the place of a run in LangGraph."""
_STRUCTURE = frozenset(
    (
        *("tree_node", "role", "speaker", "phase", "round", "take", "prompt", "reply"),
        *("run_id", "protocol", "method", "source", "usage_metadata"),
        *("ls_provider", "ls_model_name", "ls_model_type", "ls_temperature", "ls_max_tokens"),
    )
)
"""Metadata of the runs within a debate, and the only metadata in a redacted trace."""
_MARKS = frozenset(("cached", "person", "dialectree"))
"""Tags that a redacted trace shows."""
_LABELS = frozenset(("role", "type", "id", "finish_reason"))
"""Fields whose text a redacted trace shows."""
_OPENTELEMETRY = ("OTEL_ENABLED", "OTEL_ONLY")
"""Variables that ask for OpenTelemetry, without their prefix LANGSMITH_."""
_HIDDEN = "[redacted]"
_ERROR = re.compile(r"(\w+)(?:\(|$)")
"""The class at the beginning of an error."""
_COLLECTOR = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


class DebateGraph(TracedGraph):
    """The graph of a whole protocol: a trace shows the debate."""

    def replace_tracer(self, config: RunnableConfig | None) -> RunnableConfig | None:
        """Return ``config`` with the tracer of a debate, or None if nothing is traced.

        A debate inside another one continues in the trace of the outer debate.
        """
        if inside.get().protocols:
            return None
        _provide_spans()
        return with_tracer(config, self._tracer)

    def _tracer(self, tracer: LangChainTracer) -> DebateTracer:
        debate = _Debate(*_choose_trace_names(self), sources.trace_redacted())
        if isinstance(tracer, DebateTracer) and tracer.debate.root is not None:
            debate.around = tracer.debate.root.id
        new = successor(DebateTracer, tracer)
        new.debate = debate
        return new


class ChatGraph(TracedGraph):
    """The graph of a chat: a redacted trace shows its steps without their texts."""

    def replace_tracer(self, config: RunnableConfig | None) -> RunnableConfig | None:
        """Return ``config`` with a tracer that hides texts, or None if texts are shown."""
        _provide_spans()
        if not sources.trace_redacted():
            return None
        traced = with_tracer(config, lambda tracer: successor(RedactedTracer, tracer))
        return traced and {**traced, "run_name": self.get_name()}  # a client may name its run


def show(graph: CompiledStateGraph[Any, Any, Any, Any], kind: type[TracedGraph]) -> None:
    """Let traces show ``graph`` as ``kind`` does.

    Set up spans now: a host's graph or a server may create LangSmith's client before this graph
    runs.
    """
    _provide_spans()
    graph.__class__ = kind


def show_debate(graph: CompiledStateGraph[Any, Any, Any, Any]) -> None:
    """Let traces show the graph of a whole protocol as a debate."""
    show(graph, DebateGraph)


@dataclass
class _Debate:
    """The data that the tracers of one debate share."""

    name: str
    """The name of the protocol and its variant, such as ``TSD``."""
    unit: str
    """The name of a node of the tree until its kind is known."""
    redacted: bool
    around: UUID | None = None
    """The run of the outer debate, if this debate is inside another one."""
    run_id: str = ""
    root: Run | None = None
    nodes: dict[str, Run] = field(default_factory=dict)
    """The runs of the tree's nodes; node 0 has the run of the whole debate."""
    texts: dict[str, str] = field(default_factory=dict)


class DebateTracer(RunTracer):
    """Send a debate to the address of LangSmith's client."""

    debate: _Debate

    @property
    def ignore_retriever(self) -> bool:
        """Return True, to leave out the runs of retrievers: an event shows the segments, with ids."""
        return True

    def copy_with_metadata_defaults(self, **defaults: Any) -> DebateTracer:
        """Return a tracer of the same debate; LangGraph asks for one in every graph."""
        copy: Any = super().copy_with_metadata_defaults(**defaults)
        copy.debate = self.debate
        return copy  # type: ignore[no-any-return]

    # The whole debate

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: UUID, **about: Any) -> Any:
        """Show the whole debate; leave out the steps and graphs within it."""
        if self.debate.root is not None:
            return
        inputs = inputs if isinstance(inputs, Mapping) else {}
        self.debate.texts["0"] = str(inputs.get("question") or "")
        run = self._run(
            "chain",
            self._name("0"),
            {name: _cut(value) for name, value in inputs.items() if value is not None},
            {**(self.tracing_metadata or {}), **(about.get("metadata") or {}), "tree_node": "0"},
            parent=self.debate.around or about.get("parent_run_id"),
            id=run_id,
        )
        run.tags = [tag for tag in about.get("tags") or () if not tag.startswith(_POSITIONS)]
        self.debate.root = self.debate.nodes["0"] = run
        self.begin(run)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> Any:
        """End the run of the debate with its verdict."""
        if (root := self._root(run_id)) is not None:
            verdict = outputs.get("verdict") if isinstance(outputs, Mapping) else None
            self._end_debate(root, verdict)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> Any:
        """End the run of the debate with its error."""
        if (root := self._root(run_id)) is not None:
            self._end_debate(root, None, error)

    def _root(self, run_id: UUID) -> Run | None:
        root = self.debate.root
        return root if root is not None and root.id == run_id else None

    def _end_debate(
        self, root: Run, verdict: Mapping[str, Any] | None, error: BaseException | None = None
    ) -> None:
        for run in [*self.debate.nodes.values()][:0:-1]:
            if self.under_way(run):
                self.end(run)
        root.outputs = {**(verdict or root.outputs or {})}
        root.extra["metadata"]["run_id"] = self.debate.run_id
        self.end(root, error)

    # Its calls to models

    def on_chat_model_start(
        self,
        serialized: Any,
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        metadata: Mapping[str, Any] | None = None,
        name: str | None = None,
        invocation_params: Mapping[str, Any] | None = None,
        **_: Any,
    ) -> Run:
        """Show a call under its node of the tree."""
        inputs = {"messages": convert_to_openai_messages(messages[0])}
        run = self._run("llm", name, inputs, metadata, invocation_params, id=run_id)
        self.begin(run)
        return run

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> Run:
        """End the run of a call with its reply and its tokens."""
        run, generation = self._get_run(run_id), response.generations[0][0]
        message: Any = {"role": "assistant", "content": generation.text}
        usage = None
        if isinstance(generation, ChatGeneration):
            message = convert_to_openai_messages(generation.message)
            usage = getattr(generation.message, "usage_metadata", None)
        self._answer(run, message, (generation.generation_info or {}).get("finish_reason"), usage)
        return run

    def replay(
        self,
        config: RunnableConfig,
        metadata: Mapping[str, Any],
        messages: Sequence[tuple[str, str]],
        parameters: Mapping[str, Any],
        call: Call,
    ) -> None:
        """Show a reply that costs nothing now, marked with its source: journal, cache or person."""
        source = "journal" if call.source == "model" else call.source
        inputs = {"messages": [{"role": role, "content": text} for role, text in messages]}
        about = {**config.get("metadata", {}), **metadata, "source": source}
        run = self._run("llm", config.get("run_name"), inputs, about, parameters)
        run.tags = ["person" if source == "person" else "cached"]
        self.begin(run)
        if call.error is not None:
            run.error = call.error
            self.end(run)
            return
        message = {"role": "assistant", "content": call.reply or ""}
        self._answer(run, message, call.finish, dict.fromkeys(_TOKENS, 0))

    def _answer(self, run: Run, message: object, finish: str | None, usage: Any) -> None:
        outputs: dict[str, Any] = {"choices": [{"message": message, "finish_reason": finish}]}
        if usage is not None:
            tokens = {name: usage[name] for name in _TOKENS}
            if read := (usage.get("input_token_details") or {}).get("cache_read"):
                tokens["input_token_details"] = {"cache_read": read}
            outputs["usage_metadata"] = run.extra["metadata"]["usage_metadata"] = tokens
        run.outputs = outputs
        self.end(run)

    # Its tree

    def hear(self, event: Mapping[str, Any], took_s: float) -> None:
        """Show the news of ``event`` at its node of the tree."""
        node, data = event["node"], event["data"]
        self.debate.run_id = event["run_id"]
        match event["kind"]:
            case "opened":
                self.debate.texts[node] = data["text"]
                self._rename(node, data.get("kind"), data.get("parent"))
            case "branched":
                kind = "leaf" if data.get("why") else data.get("kind") or "branch"
                self._rename(node, kind)
            case "scored":
                run = self._node(node)
                run.outputs = {**(run.outputs or {}), **data["scores"]}
            case "retrieved":
                self._trace_retrieval(node, data, took_s)
            case "settled":
                self._settle(self._node(node), data.get("verdict") or data.get("data"))

    def _rename(self, node: str, kind: str | None, parent: str | None = None) -> None:
        run = self._node(node, parent)
        run.name = self._name(node, kind)
        if node == "0" and not run.inputs.get("question"):
            run.inputs = {**run.inputs, "question": self.debate.texts.get(node, "")}

    def _node(self, node: str, parent: str | None = None) -> Run:
        """Return the run of a node; in a resumed thread, begin it with the first call."""
        run = self.debate.nodes.get(node)
        if run is None:
            above = self._node(parent or node.rpartition(".")[0] or "0")
            inputs = {"question": self.debate.texts.get(node, "")}
            run = self._run("chain", self._name(node), inputs, {"tree_node": node}, parent=above.id)
            self.debate.nodes[node] = run
            self.begin(run)
        return run

    def _name(self, node: str, kind: str | None = None) -> str:
        start = self.debate.name if node == "0" else f"{kind or self.debate.unit} {node}"
        text = shorten(self.debate.texts.get(node, ""), NAME_LENGTH, placeholder=" …")
        hidden = self.debate.redacted or self.client._hide_inputs
        return start if hidden or not text else f"{start}: {text}"

    def _settle(self, run: Run, outcome: Mapping[str, Any] | None) -> None:
        """End a node's run with its verdict, or with other data at the end of its debate.

        A second pass over the tree may settle the same node again, after further calls.
        """
        if outcome is not None or not run.outputs:
            run.outputs = {**(outcome or {"answer": None})}
        if run is self.debate.root:
            return
        if self.client.otel_exporter is None:  # a span that has ended takes no more children
            self.end(run)

    def _trace_retrieval(self, node: str, data: Mapping[str, Any], took_s: float) -> None:
        scores = {hit["id"]: hit["score"] for hit in data["found"]}
        run = self._run(
            "retriever",
            f"evidence of paper {data['paper']}, {data['of']}" if data.get("paper") else "evidence",
            {"query": data["query"]},
            {"tree_node": node},
        )
        run.start_time -= timedelta(seconds=took_s)
        self.begin(run)
        run.outputs = {
            "documents": [
                {
                    "type": "Document",
                    "page_content": segment["text"],
                    "metadata": {"id": segment["id"], "score": scores.get(segment["id"])},
                }
                for segment in data["segments"]
            ]
        }
        self.end(run)

    # Sending runs

    def _run(
        self,
        run_type: str,
        name: str | None,
        inputs: dict[str, Any],
        metadata: Mapping[str, Any] | None,
        parameters: Mapping[str, Any] | None = None,
        *,
        parent: UUID | None = None,
        id: UUID | None = None,
    ) -> Run:
        """Return a run of the trace. The parent of a call or a retrieval is the run of its tree node."""
        about = {**(metadata or {})}
        if run_type != "chain":
            parent = self._node(about.get("tree_node", "0")).id
        if run_type == "chain":
            about["protocol"] = self.debate.name
        if self.debate.run_id:
            about["run_id"] = self.debate.run_id
        extra: dict[str, Any] = {"metadata": about}
        if parameters is not None:
            unset = {k: v for k, v in parameters.items() if v is not None and k != "timeout"}
            extra["invocation_params"] = unset
        return self.build_run(run_type, name or run_type, inputs, extra, parent, id)

    def _start_trace(self, run: Run) -> None:
        """Put a run whose parent is left out, such as a live model's tool, under its node."""
        if run.parent_run_id is not None and run.parent_run_id not in self.order_map:
            node = run.metadata.get("tree_node", "0")
            run.parent_run_id = None if self.debate.root is None else self._node(node).id
        super()._start_trace(run)

    def is_sent_once(self, run: Run) -> bool:
        """Return whether ``run`` is a call to a model; False if spans are sent."""
        return run.run_type == "llm" and self.client.otel_exporter is None

    def prepare_for_sending(self, run: Run) -> Run:
        """Return ``run`` without the data that a trace hides."""
        metadata = run.extra.setdefault("metadata", {})
        for name in [*metadata]:
            within = self.debate.redacted or run is not self.debate.root
            if name.startswith(_INTERNAL) or (within and name not in _STRUCTURE):
                del metadata[name]
        run.serialized = None
        return _redact(run, metadata) if self.debate.redacted else run


class RedactedTracer(RunTracer):
    """Send the steps of a graph without their texts."""

    def prepare_for_sending(self, run: Run) -> Run:
        """Return ``run`` without its texts."""
        return _redact(run, {})


def _provide_spans() -> None:
    """Set up OpenTelemetry's spans if the environment asks for them."""
    if any(map(is_env_var_truish, _OPENTELEMETRY)) and any(map(os.environ.get, _COLLECTOR)):
        with packages.explain_missing_package("LANGSMITH_OTEL_ENABLED", "dialectree[server]"):
            from dialectree.trace import telemetry
        telemetry.provide()


def _choose_trace_names(graph: DebateGraph) -> tuple[str, str]:
    """Return the name of a debate of ``graph``, and the noun for a node of its tree."""
    declared = getattr(graph.context_schema, "declaration", None)
    if declared is None:
        return graph.name.replace("_", " "), "part"
    name = declared.name.upper()
    variant = graph.name in declared.methods() and graph.name != declared.name
    return f"{name} {graph.name}" if variant else name, declared.unit


def tracer() -> DebateTracer | None:
    """Return the tracer of the debate in which this code runs, if it is traced."""
    return current_tracer(DebateTracer)


# The content of a trace


def _redact(run: Run, metadata: Mapping[str, Any]) -> Run:
    """Remove the texts of a run, and its metadata except ``metadata``."""
    run.inputs, run.outputs = _hidden(run.inputs), _hidden(run.outputs)
    run.extra = {**_hidden(run.extra), "metadata": metadata}
    run.tags = [tag for tag in run.tags or () if tag in _MARKS]
    run.serialized = None
    if run.error:
        kind = _ERROR.match(run.error)
        run.error = kind[1] if kind else _HIDDEN
    return run


def _cut(value: Any) -> Any:
    """Return ``value`` with long texts cut, such as the papers that a debate compares."""
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:_LONGEST]} …"
    if isinstance(value, Mapping):
        return {name: _cut(part) for name, part in value.items()}
    return [*map(_cut, value)] if isinstance(value, list) else value


def _hidden(value: Any, name: str = "") -> Any:
    """Return ``value`` with its structure and its numbers, without its texts."""
    if isinstance(value, Mapping):
        return {key: _hidden(part, str(key)) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_hidden(part) for part in value]
    if value is None or isinstance(value, int | float) or name in _LABELS:
        return value
    return _HIDDEN
