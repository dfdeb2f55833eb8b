"""Estimate a debate before its first call: calls, tokens, time, and money where prices are known.

The graph of the method is rehearsed with made-up replies. Where rehearsals agree, the settings fix
the number of calls. Otherwise the replies decide how far the debate goes, and the range is that of
models that decide by chance.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextvars import Context
from pathlib import Path
from statistics import fmean, median, median_high
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from langsmith import tracing_context
from pydantic import JsonValue

from dialectree.errors import RunFolderError
from dialectree.flow.human_input import payload_of
from dialectree.models.limits import price
from dialectree.protocols.protocol import Method
from dialectree.protocols.routes import ALWAYS
from dialectree.protocols.settings import EMBEDDED, ProtocolSettings, RetrievalSettings
from dialectree.records import Call, critical_path, fold, seconds
from dialectree.records.estimate import Estimate, Span
from dialectree.records.folder import SOURCES, RunFolder
from dialectree.running.recorded_settings import speakers
from dialectree.running.rehearsal import WORDS, Draw, Past, Rehearsal
from dialectree.running.runner import Started

SECONDS, SECONDS_HERE = 2.0, 6.0
"""Assumed length of a call where no run shows how fast the model is, and the embedded model's."""
MOST, MOST_CALLS = 32, 800
"""Rehearsals of a debate, and calls in all of them, which take about a second."""
NEVER = 0.0
"""A threshold that every share of votes reaches."""
FEW = 4
"""Rehearsals after which it shows whether the calls are fixed."""


class Size(NamedTuple):
    """The size of one rehearsed debate."""

    calls: int
    in_a_row: int
    tokens: int
    cost: float | None
    slots: int
    """Requests that its models take at once."""
    tokens_per_call: float = 0.0
    """The mean of the tokens that a call writes."""
    early: bool = False
    """Whether it ended early, without a debate (``Protocol.early``)."""


class Pace(NamedTuple):
    """The speed of a model and the length of its texts, as an earlier run shows them."""

    run: str | None = None
    seconds: float = SECONDS
    """The median of its calls."""
    words: int = WORDS
    """The mean of its texts."""
    tokens: float = 0.0
    """The mean of what its calls wrote, where the run was by another protocol; else 0."""
    unknown: bool = False
    """True where nothing tells how fast the model is."""


async def estimate(
    chosen: Method, graph_input: Mapping[str, JsonValue], context: ProtocolSettings, runs: Path
) -> Estimate:
    """Estimate a debate by ``chosen`` about what its graph takes.

    The newest run in ``runs`` with the same model shows how long its calls and its texts are.
    """
    pace = await asyncio.to_thread(_pace, chosen, context, runs)
    sizes = await rehearse_debates(chosen, graph_input, context, pace.words)
    return estimate_from_sizes(sizes, pace)


async def estimate_change(contest: Started, runs: Path) -> Estimate:
    """Estimate a contest that has a folder: what its journal answers costs nothing."""
    chosen, context, record = contest.method, contest.context, contest.record
    pace = await asyncio.to_thread(_pace, chosen, context, runs)
    overrides = record.contest.overrides if record.contest is not None else []
    journal = await asyncio.to_thread(contest.folder.journal)
    texts = contest.folder.path / SOURCES
    try:
        sizes = await rehearse_debates(
            chosen, record.input, context, pace.words, past=(journal, overrides, texts)
        )
        return estimate_from_sizes(sizes, pace)
    finally:
        await asyncio.to_thread(journal.close)


def _pace(chosen: Method, context: ProtocolSettings, runs: Path) -> Pace:
    """Return how fast the models of a debate are, by the runs that are there."""
    specs = [*speakers(chosen, context).values()]
    protocol_name = chosen.protocol.name
    pace = pace_of(RunFolder.all(runs), {spec.name for spec in specs}, protocol_name)
    here = any(spec.is_local and spec.name != EMBEDDED for spec in specs)
    return pace._replace(unknown=pace.run is None and here)


def estimate_from_sizes(sizes: Sequence[Size], pace: Pace) -> Estimate:
    """Return the estimate of a debate that was rehearsed."""
    costs = [size.cost for size in sizes if size.cost is not None]
    ends = [[rehearsal for rehearsal in sizes if rehearsal.early == early] for early in (True, False)]
    ends = [*filter(None, ends)]
    calls = [_estimate_count_span([size.calls for size in end]) for end in ends]
    rows = [_estimate_count_span([size.in_a_row for size in end]) for end in ends]
    early, late = calls if len(ends) > 1 else (None, None)
    waits = [max(size.in_a_row, size.calls / size.slots) for size in sizes]
    mean_tokens = fmean(size.tokens_per_call for size in sizes)
    longer = mean_tokens / pace.tokens if pace.tokens and mean_tokens else 1.0
    a_call = pace.seconds * longer
    return Estimate(
        calls=_merge_spans(calls),
        early=early,
        late=late,
        in_a_row=_merge_spans(rows),
        tokens=_span(size.tokens for size in sizes),
        seconds=_span(a_call * wait for wait in waits),
        seconds_per_call=a_call,
        time_unknown=pace.unknown,
        measured_in=pace.run,
        cost=_span(costs) if len(costs) == len(sizes) else None,
        rehearsals=len(sizes),
    )


def _span(values: Iterable[int | float]) -> Span:
    figures = [*values]
    return Span(least=min(figures), median=median_high(figures), most=max(figures))


def _merge_spans(spans: Sequence[Span]) -> Span:
    """Return the span of two ends; its median is that of the larger one."""
    longest = max(spans, key=lambda span: span.most)
    return Span(least=min(span.least for span in spans), median=longest.median, most=longest.most)


def _estimate_count_span(counts: Sequence[int]) -> Span:
    """Return the span of ``counts``, somewhat wider where only one or two of them stand at an end.

    The fewer debates were rehearsed, the likelier another one lies outside of them.
    """
    span = _span(counts)
    wider = (max(counts) / max(1, min(counts))) ** (2 / len(counts))
    minimum = math.ceil(span.least / wider) if counts.count(min(counts)) <= 2 else span.least
    maximum = math.floor(span.most * wider) if counts.count(max(counts)) <= 2 else span.most
    return Span(least=minimum, median=span.median, most=maximum)


# Rehearsing


async def rehearse_debates(
    chosen: Method,
    graph_input: Mapping[str, JsonValue],
    context: ProtocolSettings,
    words: int = WORDS,
    calls: int = MOST_CALLS,
    past: Past | None = None,
) -> list[Size]:
    """Return the sizes of as many rehearsals as make ``calls`` calls, beside those of the ``past``.

    Of a protocol that can end early, both ends are rehearsed.

    A few are enough where they differ by one call at most, and those do, too, in which every choice
    is the first one, or the last one: chance may miss a way out that is seldom taken.
    """
    context = context.model_copy(update={"cache": False, "replay": False})
    early = chosen.protocol.early
    if past is None and early is not None and 0 < getattr(context, early.threshold) <= 1:
        no_debate, debate = (context.model_copy(update={early.threshold: at}) for at in (NEVER, ALWAYS))
        short = await rehearse_debates(chosen, graph_input, no_debate, words, FEW)
        long = await rehearse_debates(chosen, graph_input, debate, words, calls)
        return [*(size._replace(early=True) for size in short), *long]
    if past is None and isinstance(context, RetrievalSettings):  # words instead of vectors
        context = context.model_copy(update={"embeddings": "bm25"})

    async def rehearse(seed: int, draw: Draw = "chance") -> Size:
        rehearsal = Rehearsal(context, seed, draw, words, past)
        walk = _rehearse(chosen, graph_input, context, rehearsal)
        # Outside of a host's thread, and where no tracer listens.
        return await asyncio.create_task(walk, context=Context())

    sizes: list[Size] = []
    while len(sizes) < MOST and (not sizes or sum(size.calls for size in sizes) < calls):
        sizes.append(await rehearse(len(sizes)))
        if len(sizes) == FEW and _alike(sizes):
            sizes += [await rehearse(0, "least"), await rehearse(0, "most")]
            if _alike(sizes):
                break
    return sizes


def _alike(sizes: Sequence[Size]) -> bool:
    counts = [size.calls for size in sizes]
    return max(counts) - min(counts) <= 1


async def _rehearse(
    chosen: Method, graph_input: Mapping[str, JsonValue], context: ProtocolSettings, rehearsal: Rehearsal
) -> Size:
    graph, config = chosen.graph(), RunnableConfig()
    if context.asks():
        graph = graph.copy({"checkpointer": InMemorySaver()})
        config["configurable"] = {"thread_id": "rehearsal"}
    todo: Any = dict(graph_input)
    with tracing_context(enabled=False):
        while todo is not None:
            ended = await graph.ainvoke(todo, config, context=context, control=rehearsal, version="v2")
            requests = {stop.id: payload_of(stop.value) for stop in ended.interrupts}
            answers = await rehearsal.answers(requests)
            todo = Command(resume=answers) if answers else None
    order, calls = chosen.order(context), rehearsal.calls
    costs = [price(context, call.model, call.prompt_tokens, call.completion_tokens) for call in calls]
    prices = [cost for cost in costs if cost is not None]
    return Size(
        calls=len(calls),
        in_a_row=critical_path(fold(rehearsal.events, order)[0], calls, order),
        tokens=sum(call.prompt_tokens + call.completion_tokens for call in calls),
        cost=sum(prices) if len(prices) == len(calls) else None,
        slots=rehearsal.slots,
        tokens_per_call=fmean(call.completion_tokens for call in calls) if calls else 0.0,
    )


# Earlier runs


def pace_of(runs: Iterable[RunFolder], models: Collection[str], protocol: str = "") -> Pace:
    """Return the pace of the first of ``runs`` in which one of ``models`` answered.

    Of a run by another protocol than ``protocol`` the seconds of a token carry over, and not those
    of a call.
    """
    for run in runs:
        try:
            calls = [
                call
                for call in run.calls()
                if call.model in models and call.source == "model" and call.error is None
            ]
        except RunFolderError:  # `show` says what is wrong with it
            continue
        if calls:
            texts = [text for call in calls for text in _texts(_parse_reply(call))]
            words = round(fmean(len(text.split()) for text in texts)) if texts else WORDS
            is_other_protocol = protocol != run.read_stored_record().protocol
            tokens = fmean(call.completion_tokens for call in calls) if is_other_protocol else 0.0
            return Pace(run.run_id, median(seconds([call]) for call in calls), words, tokens)
    return Pace(seconds=SECONDS_HERE if EMBEDDED in models else SECONDS)


def _parse_reply(call: Call) -> JsonValue:
    try:
        parsed: JsonValue = json.loads(call.reply or "")
    except ValueError:
        return None
    return parsed


def _texts(value: JsonValue) -> list[str]:
    """Return the texts in a reply; one word is a label or an id."""
    if isinstance(value, str):
        return [value] if " " in value.strip() else []
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _texts(part)]
