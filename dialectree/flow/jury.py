"""Ask several judges one question, side by side in one step, and count their rulings."""

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
"""Values of the prompt, by the name of an order; the first order is called ``""``."""
ONE_ORDER: Orders = {"": {}}


class Heard(NamedTuple, Generic[Reply]):
    """One ruling of a jury."""

    judge: int
    """The place of the judge in the list, from 0."""
    speaker: str
    """The judge's name in the record; "" for a single judge in the first order."""
    place: Place
    reply: Reply | None
    """The ruling; None if its call failed for good, or if a person dropped it."""
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
    """Ask each of ``judges`` in each of ``orders``, all at once, and return their rulings.

    A call that fails for good is recorded, and its ruling is missing from the count.

    Args:
        runtime: the runtime of the step.
        place: the place of the ruling; its speaker's name goes before the judges' names.
        prompt: the prompt's name, as ``ask`` takes it.
        reply: the class of the reply.
        judges: the models that judge; by default the model that plays ``place.role``.
        orders: the values of the prompt that differ between orders.
        again: further values of the prompt, by speaker; if given, only these speakers are asked.
        failed_at: the tree node on which a failure is recorded, if it is not the place's.
        ask_options: other arguments of ``ask``, values of the prompt included.
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
        for task in tasks:  # the run ends: stop the other judges
            task.cancel()


class Count(NamedTuple):
    """The result of a jury's rulings."""

    value: Any
    """The label or the number; None if the jury reaches no ruling."""
    agreement: float | None
    """The share of the rulings that name the most frequent label, 0 to 1; None for numbers."""
    majority: list[str]
    """The judges who ruled like the result, in the order given; empty if the jury reaches no ruling."""
    dissent: dict[str, Any]
    """The judges who ruled otherwise, each with its ruling."""
    note: str = ""
    """The reason why the jury reaches no ruling; "" if it does."""


def count(labels: Mapping[str, Any], rule: Rule = "majority", *, of: int | None = None) -> Count:
    """Return the result of ``labels``; a tie gives no ruling.

    Args:
        labels: each judge's label or number, in the order of the judges; None for a judge without a ruling.
        rule: ``majority`` is more than half of all judges, ``unanimous`` all of them, and ``mean``
            the mean of numbers.
        of: the number of all judges, if ``labels`` leaves out judges without a ruling.
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
