"""Estimate a debate before its first call: calls, tokens, time, and money where prices are known.

The graph of the method is rehearsed with made-up replies. If the rehearsals agree, the settings fix
the number of calls. Otherwise the replies decide how long the debate is, and the range is that of
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
from typing import Any, Literal, NamedTuple

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from langsmith import tracing_context
from pydantic import JsonValue

from dialectree.errors import RunFolderError
from dialectree.flow.human_input import payload_of
from dialectree.list_prices import TABLE, list_price
from dialectree.models.limits import price
from dialectree.models.specs import Spec
from dialectree.protocols.protocol import Method
from dialectree.protocols.routes import ALWAYS
from dialectree.protocols.settings import EMBEDDED, ProtocolSettings, RetrievalSettings
from dialectree.records import Call, critical_path, fold, seconds
from dialectree.records.estimate import Estimate, Span
from dialectree.records.folder import SOURCES, RunFolder
from dialectree.running.recorded_settings import speakers
from dialectree.running.rehearsal import WORDS, Draw, Past, Rehearsal
from dialectree.running.runner import RunHandle

SECONDS, SECONDS_HERE = 2.0, 6.0
"""Assumed seconds of a call if no run shows the model's speed; the second is the embedded model's."""
MOST, MOST_CALLS = 32, 800
"""Most rehearsals of a debate, and most calls in all rehearsals together. These calls take about a
second."""
NEVER = 0.0
"""A threshold that every share of votes reaches, so that no debate is held."""
FEW = 4
"""Number of rehearsals that show if the number of calls is fixed."""


PriceSource = Literal["own", "list"]
"""The user's prices, or list prices. A model that runs here costs nothing and needs no price."""


class Size(NamedTuple):
    """The size of one rehearsed debate."""

    calls: int
    in_a_row: int
    tokens: int
    cost: float | None
    """The cost of all calls; None if the price of a call is unknown."""
    slots: int
    """Number of requests that the debate's models accept at once."""
    tokens_per_call: float = 0.0
    """Mean completion tokens of a call."""
    early: bool = False
    """Whether the rehearsal ended early, without a debate (``Protocol.early``)."""
    sources: frozenset[PriceSource] = frozenset()
    """The sources of the prices in ``cost``."""


class Pace(NamedTuple):
    """The speed of a model and the length of its texts, as an earlier run shows them."""

    run: str | None = None
    seconds: float = SECONDS
    """Median seconds of the model's calls."""
    words: int = WORDS
    """Mean words of the model's texts."""
    tokens: float = 0.0
    """Mean completion tokens of the model's calls, if that run used another protocol; else 0."""
    unknown: bool = False
    """True if the model's speed is unknown."""


async def estimate(
    chosen: Method, graph_input: Mapping[str, JsonValue], context: ProtocolSettings, runs: Path
) -> Estimate:
    """Estimate a debate by ``chosen`` on ``graph_input``.

    The newest run in ``runs`` with the model shows how long the model's calls and texts are.
    """
    pace = await asyncio.to_thread(_pace, chosen, context, runs)
    sizes = await rehearse_debates(chosen, graph_input, context, pace.words)
    return estimate_from_sizes(sizes, pace)


async def estimate_change(contest: RunHandle, runs: Path) -> Estimate:
    """Estimate a contest whose run has a folder; calls that its journal answers cost nothing."""
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
    """Return the speed of the models of a debate, from the runs in ``runs``."""
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
        **name_price_sources(sizes),
    )


def name_price_sources(sizes: Iterable[Size]) -> dict[str, Any]:
    """Return the fields of an estimate that say whose prices count; empty if a price is unknown."""
    sizes = [*sizes]
    if any(size.cost is None for size in sizes):
        return {}
    sources = frozenset[PriceSource]().union(*(size.sources for size in sizes))
    return {"list_prices": TABLE if "list" in sources else None, "own_prices": "own" in sources}


def _span(values: Iterable[int | float]) -> Span:
    figures = [*values]
    return Span(least=min(figures), median=median_high(figures), most=max(figures))


def _merge_spans(spans: Sequence[Span]) -> Span:
    """Return one span around all ``spans``, with the median of the span whose end is largest."""
    longest = max(spans, key=lambda span: span.most)
    return Span(least=min(span.least for span in spans), median=longest.median, most=longest.most)


def _estimate_count_span(counts: Sequence[int]) -> Span:
    """Return the span of ``counts``; if only one or two counts are at an end, widen it a little there.

    The fewer debates were rehearsed, the likelier it is that another one lies outside the span.
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
    """Return the sizes of rehearsals with ``calls`` calls in total, not counting calls of the ``past``.

    If the protocol can end early, both ends are rehearsed.

    A few rehearsals are enough if they differ by at most one call. Two more rehearsals, of
    which one always takes the first choice and one the last, must then agree, too: chance may miss a
    way that is rarely taken.
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
    specs = [*(await asyncio.to_thread(speakers, chosen, context)).values()]

    async def rehearse(seed: int, draw: Draw = "chance") -> Size:
        rehearsal = Rehearsal(context, seed, draw, words, past)
        walk = _rehearse(chosen, graph_input, context, rehearsal)
        # In an empty context: outside a host's thread, and unseen by tracers.
        size = await asyncio.create_task(walk, context=Context())
        cost, sources = await asyncio.to_thread(_add_prices, rehearsal.calls, specs, context)
        return size._replace(cost=cost, sources=sources)

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
    return Size(
        calls=len(calls),
        in_a_row=critical_path(fold(rehearsal.events, order)[0], calls, order),
        tokens=sum(call.prompt_tokens + call.completion_tokens for call in calls),
        cost=None,
        slots=rehearsal.slots,
        tokens_per_call=fmean(call.completion_tokens for call in calls) if calls else 0.0,
    )


def _add_prices(
    calls: Iterable[Call], specs: Sequence[Spec], context: ProtocolSettings
) -> tuple[float | None, frozenset[PriceSource]]:
    """Return the cost of rehearsed calls, and the sources of its prices; the user's prices go first."""
    total, sources = 0.0, set[PriceSource]()
    for call in calls:
        tokens = call.prompt_tokens, call.completion_tokens
        own = price(context, call.model, *tokens)
        places = [spec for spec in specs if spec.name == call.model]
        costs = {_find_list_price(spec, *tokens) for spec in places} if own is None else {own}
        cost = costs.pop() if len(costs) == 1 else None  # at two addresses a model may have two prices
        if cost is None:
            return None, frozenset()
        total += cost
        if own is not None:
            sources.add("own")
        elif any(spec.provider != "local" for spec in places):
            sources.add("list")
    return total, frozenset(sources)


def _find_list_price(spec: Spec, prompt_tokens: int, completion_tokens: int) -> float | None:
    if spec.provider == "local":
        return 0.0
    return list_price(spec.provider, spec.model, spec.url, prompt_tokens, completion_tokens)


# Earlier runs


def pace_of(runs: Iterable[RunFolder], models: Collection[str], protocol: str = "") -> Pace:
    """Return the pace of the first of ``runs`` in which one of ``models`` answered.

    From a run by another protocol than ``protocol``, the seconds per token are used, not the
    seconds per call.
    """
    for run in runs:
        try:
            calls = [
                call
                for call in run.calls()
                if call.model in models and call.source == "model" and call.error is None
            ]
        except RunFolderError:  # `show` reports the fault
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
    """Return the texts in a reply; skip single words, which are labels or ids."""
    if isinstance(value, str):
        return [value] if " " in value.strip() else []
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _texts(part)]
