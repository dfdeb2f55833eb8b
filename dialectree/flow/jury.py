"""Ask several judges the same, side by side in one step, and count what they rule."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from langgraph.runtime import Runtime
from pydantic import BaseModel

from dialectree.errors import Dropped, PartFailed
from dialectree.models.door import ask
from dialectree.protocols.phases import jurors
from dialectree.records import Place
from dialectree.trace.events import tell

Rule = Literal["majority", "unanimous", "mean"]
Reply = TypeVar("Reply", bound=BaseModel)
Orders = Mapping[str, Mapping[str, Any]]
"""Values of the prompt by the name of an order; the first order is called ``""``."""
ONE_ORDER: Orders = {"": {}}


class Heard(NamedTuple, Generic[Reply]):
    """One ruling of a jury."""

    judge: int
    """The place of the judge in the list, from 0."""
    speaker: str
    """The judge's name in the record; "" for a judge alone, in the first order."""
    place: Place
    reply: Reply | None
    """None where the call failed for good, or where a person dropped it."""
    dropped: bool


async def jury(
    runtime: Runtime[Any],
    place: Place,
    prompt: str,
    reply: type[Reply],
    *,
    judges: Sequence[Any] = (),
    orders: Orders = ONE_ORDER,
    again: Mapping[str, Mapping[str, Any]] | None = None,
    failed_at: str = "",
    **ask_options: Any,
) -> list[Heard[Reply]]:
    """Ask each of ``judges`` in each of ``orders``, all at once, and return what they rule.

    A call that fails for good stands in the record and counts as no ruling.

    Args:
        runtime: that of the step.
        place: where the ruling belongs; a speaker's name goes before the judges'.
        prompt: the prompt's name, as ``ask`` takes it.
        reply: the class of the reply.
        judges: the models that judge; without one, the model that plays ``place.role``.
        orders: the values of the prompt that differ from one order to the next.
        again: asks only these speakers, each with these values besides.
        failed_at: the tree node that lacks a ruling which fails, where it is not the place's.
        ask_options: all else that ``ask`` takes, values of the prompt included.
    """
    models = [*judges] or [None]

    async def hear(speaker: str, number: int, order: str) -> Heard[Reply]:
        who = "_".join(filter(None, (place.name, speaker))) or place.role
        juror_place = place.model_copy(update={"speaker": who})
        values = {**ask_options, **orders[order], **(again or {}).get(speaker, {})}
        ruling, dropped = None, False
        try:
            ruling = await ask(runtime, juror_place, prompt, reply, model=models[number], **values)
        except Dropped:
            dropped = True
        except PartFailed as error:
            data = {"role": place.role, "speaker": error.speaker, "fault": str(error)}
            tell(runtime, failed_at or place.node, "failed", data)
        return Heard(number, speaker, juror_place, ruling, dropped)

    tasks = [
        asyncio.create_task(hear(speaker, number, order))
        for number, names in enumerate(jurors(len(models), orders))
        for speaker, order in zip(names, orders, strict=True)
        if again is None or speaker in again
    ]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:  # of a run that ends: no judge goes on without it
            task.cancel()


class Count(NamedTuple):
    """What the rulings of a jury come to."""

    value: Any
    """The label or the figure; None where the jury rules nothing."""
    agreement: float | None
    """The share of the rulings that name the most frequent label, 0 to 1; None for figures."""
    majority: list[str]
    """Who ruled so, in the order given; empty where the jury rules nothing."""
    dissent: dict[str, Any]
    """Who ruled otherwise, with what."""
    note: str = ""
    """Why the jury rules nothing; empty where it rules."""


def count(labels: Mapping[str, Any], rule: Rule = "majority", *, of: int | None = None) -> Count:
    """Return what ``labels`` come to; a tie rules nothing.

    Args:
        labels: the label, or the figure, by judge, in the order of the judges; None for no ruling.
        rule: ``majority`` is more than half of all judges, ``unanimous`` all of them, and ``mean``
            the mean of figures.
        of: the number of all judges, where ``labels`` leaves out those without a ruling.
    """
    judges, ruled = of or len(labels), {w: v for w, v in labels.items() if v is not None}
    if rule == "mean":
        return Count(mean(ruled.values()) if ruled else None, None, [*ruled], {})
    ((first, votes),) = Counter(ruled.values()).most_common(1) or [(None, 0)]
    if votes < (judges if rule == "unanimous" else judges // 2 + 1):
        spread = [f"{n} for {label}" for label, n in sorted(Counter(ruled.values()).items())]
        reason = "not unanimous" if rule == "unanimous" else "no majority"
        note = f"{reason} of {judges} judges: {', '.join(spread) or 'no ruling'}"
        return Count(None, votes / len(ruled) if ruled else None, [], {}, note)
    dissent = {who: label for who, label in ruled.items() if label != first}
    return Count(first, votes / len(ruled), [w for w in ruled if w not in dissent], dissent)
