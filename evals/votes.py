"""Takes a vote of direct answers before a debate: what its model says without debating.

Only a comparison with that tells whether a debate corrects or spoils. The votes are runs of their
own beside the debate's, and the debate does not read them. A protocol that begins with a vote has
one in its own run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

from dialectree.answers import match_candidate, normal
from dialectree.errors import InputError
from dialectree.evals.dataset_items import Item
from dialectree.evals.results import Vote
from dialectree.evals.rows import Ready
from dialectree.evals.tasks import evaluated, graph_input
from dialectree.protocols.protocol import Method
from dialectree.protocols.protocol import method as every_method
from dialectree.protocols.settings import ProtocolSettings, inherit_settings
from dialectree.records import Call, RunRecord, Usage, Verdict, critical_path, seconds, usage
from dialectree.running.held_run import Watch
from dialectree.running.runner import Started
from dialectree.system import chance
from dialectree.system.loop import finish_all


def voters(row: Ready, count: int) -> list[tuple[str, Method, ProtocolSettings]]:
    """Return the runs that give ``count`` direct answers: suffix of the id, method and settings.

    The model that argues answers, not the one that judges. A method that takes samples gives all
    answers in one run. Another one runs ``count`` times, each with a seed of its own.
    """
    how = evaluated(row.method)
    if not count or row.method.name not in how.voters:
        return []
    method, seed = every_method(how.vote_by), row.context.seed
    shared = [name for name in method.reads() if name in type(row.context).model_fields]
    own = {name: getattr(row.context, name) for name in shared}
    own |= {"model": row.context.speaker(how.voters[row.method.name]), "roles": {}}
    if _samples(method):
        runs: dict[str, dict[str, Any]] = {".vote": {"samples": count}}
    else:
        runs = {f".vote-{n}": {"seed": chance.seed(seed, "vote", n)} for n in range(1, count + 1)}
    kind = method.protocol.settings
    return [
        (end, method, inherit_settings(row.context, kind, {**own, **more}))
        for end, more in runs.items()
    ]


def require_input(rows: Sequence[Ready], items: Sequence[Item], count: int) -> None:
    """Raise InputError where direct answers cannot be asked for with a row's settings."""
    for row in rows:
        for item in items:
            for _, method, settings in voters(row, count):
                try:
                    graph_input(method, item, row.gold(item), settings)
                except InputError as error:
                    raise InputError(f"--vote-first: {error}") from None


def _samples(method: Method) -> bool:
    return "samples" in method.reads()


def answers(records: Sequence[RunRecord], asked: int) -> list[str | None]:
    """Return one answer a sample: a label where there are options or a claim, else the text."""
    first = records[0]
    if not _samples(every_method(first.method, first.protocol)):
        return [record.verdict.label if record.verdict else None for record in records]
    replies = {
        turn.speaker: str(turn.fields["answer"])
        for node in first.tree.nodes.values()
        for turn in node.transcript
        if turn.phase == "direct"
    }
    samples = [replies.get(str(n)) for n in range(1, asked + 1)]
    options = first.input.get("options")
    if not isinstance(options, list):
        return samples
    choice = dict(zip(ascii_uppercase, map(str, options), strict=False))
    return [None if text is None else match_candidate(text, choice) for text in samples]


def verdict(records: Sequence[RunRecord], seed: int, item: str) -> Verdict | None:
    """Return what most of the direct answers say; a tie is drawn from the seed."""
    if len(records) == 1:
        return records[0].verdict
    counts = Counter(one.verdict.label for one in records if one.verdict and one.verdict.label)
    if not counts:
        return None
    most = max(counts.values())
    tied = sorted(label for label, count in counts.items() if count == most)
    won = min(tied, key=lambda label: chance.seed(seed, "tie", item, label))
    return Verdict(answer=won, label=won, confidence=most / len(records))


def usage_of(runs: Sequence[Started]) -> Usage:
    """Return what the votes used; they run side by side."""
    calls = [call for run in runs for call in run.folder.calls()]
    used = [run.record.usage for run in runs]
    longest = {
        "wall_s": max(one.wall_s for one in used),
        "critical_path_calls": max(one.critical_path_calls for one in used),
    }
    return usage(calls).model_copy(update=longest)


def inside(
    row: Ready, item: Item, record: RunRecord, calls: Sequence[Call]
) -> tuple[Vote, Verdict | None] | None:
    """Return the vote with which a debate began, and what it says; None where it has none.

    The answers stand in the order of the speakers, None for one that failed. Texts are alike that
    are equal after normalising; a tie is drawn from the seed.
    """
    early = row.method.protocol.early
    families = {one.role for one in row.method.protocol.phases if early and one.name == early.phase}
    own = row.method.own_roles()
    asked = [role for role in row.method.roles(row.context) if own.get(role) in families]
    turns = [
        turn
        for turn in record.tree.nodes[record.tree.root].transcript
        if early and turn.phase == early.phase
    ]
    if early is None or not turns:
        return None
    replies = {t.speaker: str(t.fields.get("label") or t.fields["answer"]).strip() for t in turns}
    given = [replies[speaker] for speaker in sorted(replies)]
    closed = bool(item.inputs.options) or item.inputs.claim is not None
    answers = given if closed else [*map(normal, given)]
    most = max(answers.count(one) for one in answers)
    first = {one: text for one, text in zip(answers[::-1], given[::-1], strict=True)}
    tied = [text for one, text in first.items() if answers.count(one) == most]
    won = min(tied, key=lambda text: chance.seed(row.context.seed, "tie", item.inputs.text, text))
    spoke = [call for call in calls if call.phase == early.phase and call.node == record.tree.root]
    longest = {"wall_s": seconds(spoke), "critical_path_calls": critical_path(record.tree, spoke)}
    vote = Vote(
        answers=[*answers, *[None] * (len(asked) - len(answers))],
        label=won if closed else normal(won),
        usage=usage(spoke).model_copy(update=longest),
        inside=True,
    )
    return vote, Verdict(answer=won, label=won if closed else None)


async def conducted(runs: Sequence[Started], watch: Watch | None = None) -> list[RunRecord]:
    """Conduct all runs at once; where one fails the others still come to their end."""
    return await finish_all(run.conduct(watch=watch) for run in runs)
