"""The plurality of direct answers before a debate: what its model says without debating.

Whether a debate corrects or spoils can only be told by what stood before it. These answers are runs
of their own, beside the debate's, and no part of what the debate reads.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from dialectree import chance
from dialectree.conduct import Started
from dialectree.context import Context
from dialectree.evals.items import Task
from dialectree.evals.rows import Ready
from dialectree.graphs import METHODS, Method
from dialectree.graphs.role_switching_debate.self_consistency import offered
from dialectree.nodes.answers import match_candidate
from dialectree.nodes.role_switching_debate.candidates import labelled, texts
from dialectree.records import RunRecord, Usage, Verdict

DEBATES = (
    *("tsd", "two_round", "rsd", "no_role_switch", "no_uncertainty", "basic"),
    *("art", "argllm"),
)
"""The methods that a vote can come before: the others do not debate, or compare papers."""
_FIRST = {
    "tsd": "leaf_debater_a",
    "two_round": "explorer",
    "rsd": "debater_a",
    "art": "supporter",
}
"""Whose model answers directly: the one that argues, not the one that judges."""


def voters(row: Ready, count: int) -> list[tuple[str, Method, Context]]:
    """The runs that give ``count`` direct answers: what is put after the id, method, settings.

    A claim is verified directly, each time with a seed of its own; a question is answered by one
    run of self-consistency.
    """
    context = row.context
    first = _FIRST.get(row.method.name) or _FIRST[row.method.protocol]
    speaker = context.speaker(first)
    alone = context.model_copy(update={"model": speaker, "roles": {}})
    if row.method.protocol != "art":
        settings = {"samples": count}
        return [(".vote", METHODS["self_consistency"], alone.model_copy(update=settings))]
    return [
        (
            f".vote-{n}",
            METHODS["direct"],
            alone.model_copy(update={"seed": chance.seed(context.seed, "vote", n)}),
        )
        for n in range(1, count + 1)
    ]


def answers(
    records: Sequence[RunRecord], task: Task, asked: int, context: Context
) -> list[str | None]:
    """One a sample: a label where there are options or a claim, else the answer."""
    if task == "verify":
        return [record.verdict.label if record.verdict else None for record in records]
    (record,) = records
    said = {
        turn.who: turn.fields
        for node in record.tree.nodes.values()
        for turn in node.transcript
        if turn.stage == "direct"
    }
    options = record.input.get("options")
    given = [str(said[str(n)]["answer"]) if str(n) in said else None for n in range(1, asked + 1)]
    if not isinstance(options, list):
        return given
    every = labelled([str(option) for option in options])
    choice = texts(offered(every, record.input, context))
    return [None if text is None else match_candidate(text, choice) for text in given]


def verdict(records: Sequence[RunRecord], seed: int, item: str) -> Verdict | None:
    """What most of the direct answers say; a tie is drawn from the seed, as everywhere."""
    if len(records) == 1:
        return records[0].verdict
    labels = [one.verdict.label for one in records if one.verdict and one.verdict.label]
    if not labels:
        return None
    counts = Counter(labels)
    most = max(counts.values())
    first = sorted(label for label, count in counts.items() if count == most)
    won = min(first, key=lambda label: chance.seed(seed, "tie", item, label))
    return Verdict(answer=won, label=won, confidence=most / len(records))


def spent(records: Sequence[RunRecord]) -> Usage:
    """The sums over the votes' runs."""
    used = [record.usage for record in records]
    costs = [one.cost for one in used if one.cost is not None]
    return Usage(
        calls=sum(one.calls for one in used),
        attempts=sum(one.attempts for one in used),
        prompt_tokens=sum(one.prompt_tokens for one in used),
        completion_tokens=sum(one.completion_tokens for one in used),
        cached_tokens=sum(one.cached_tokens for one in used),
        cost=round(sum(costs), 9) if used and len(costs) == len(used) else None,
        wall_s=max((one.wall_s for one in used), default=0.0),
        critical_path_calls=max((one.critical_path_calls for one in used), default=0),
    )


async def conducted(runs: Sequence[Started]) -> list[RunRecord]:
    """All of them at once; where one cannot go on the others come to their end first."""
    ended = await asyncio.gather(*(run.conduct() for run in runs), return_exceptions=True)
    for one in ended:
        if isinstance(one, BaseException):
            raise one
    return [one for one in ended if isinstance(one, RunRecord)]
