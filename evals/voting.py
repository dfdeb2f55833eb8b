"""Take a vote of direct answers before a debate: the answers that its model gives undebated.

Only they show whether a debate corrects or spoils an answer. They are runs of their own, and the
debate does not read them.
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
"""The methods that a vote can precede. The others do not debate, or they compare papers."""
_FIRST = {
    "tsd": "leaf_debater_a",
    "two_round": "explorer",
    "rsd": "debater_a",
    "art": "supporter",
}
"""The role whose model answers directly, by protocol: a debater, not the judge."""


def voters(row: Ready, count: int) -> list[tuple[str, Method, Context]]:
    """Return the runs that give `count` direct answers: suffix of the id, method and settings.

    A claim is verified in `count` runs, each with its own seed. A question is answered in one run
    of self-consistency.
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
    """Return one answer per sample: a label if there are options or a claim, else the text.

    A sample that failed, or names no single option, is None.
    """
    if task == "verify":
        return [record.verdict.label if record.verdict else None for record in records]
    (record,) = records
    fields = {
        turn.who: turn.fields
        for node in record.tree.nodes.values()
        for turn in node.transcript
        if turn.stage == "direct"
    }
    options = record.input.get("options")
    numbers = map(str, range(1, asked + 1))
    replies = [str(fields[n]["answer"]) if n in fields else None for n in numbers]
    if not isinstance(options, list):
        return replies
    every = labelled([str(option) for option in options])
    choice = texts(offered(every, record.input, context))
    return [None if text is None else match_candidate(text, choice) for text in replies]


def verdict(records: Sequence[RunRecord], seed: int, item: str) -> Verdict | None:
    """Return the most frequent label of the direct answers; a tie is drawn from the seed."""
    if len(records) == 1:
        return records[0].verdict
    verdicts = [record.verdict for record in records]
    labels = [verdict.label for verdict in verdicts if verdict and verdict.label]
    if not labels:
        return None
    counts = Counter(labels)
    most = max(counts.values())
    leaders = sorted(label for label, count in counts.items() if count == most)
    winner = min(leaders, key=lambda label: chance.seed(seed, "tie", item, label))
    return Verdict(answer=winner, label=winner, confidence=most / len(records))


def spent(records: Sequence[RunRecord]) -> Usage:
    """Return the usage of all votes: sums, and the longest run of those that ran side by side."""
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
    """Conduct all runs at once. Raise the first error only after the other runs have ended."""
    results = await asyncio.gather(*(run.conduct() for run in runs), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if isinstance(result, RunRecord)]
