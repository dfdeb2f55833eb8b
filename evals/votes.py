"""Take a vote before a debate: direct answers by the model of the debate, without debating.

Only a comparison with the vote shows whether a debate corrects or spoils answers. The votes are
separate runs, which the debate does not read. A protocol that begins with a vote has the vote in its own run.
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
from dialectree.evals.tasks import graph_input, require_declared_evaluation
from dialectree.protocols.protocol import Method
from dialectree.protocols.protocol import method as every_method
from dialectree.protocols.settings import ProtocolSettings, inherit_settings
from dialectree.records import Call, RunRecord, Usage, Verdict, critical_path, seconds, usage
from dialectree.running.held_run import Watch
from dialectree.running.runner import RunHandle
from dialectree.system import chance
from dialectree.system.loop import finish_all


def voters(row: Ready, count: int) -> list[tuple[str, Method, ProtocolSettings]]:
    """Return the runs that give ``count`` direct answers: suffix of the id, method and settings.

    The arguing model answers, not the judge. A method that takes samples gives all answers in one
    run. Other methods run ``count`` times, each time with another seed.
    """
    how = require_declared_evaluation(row.method)
    if not count or row.method.name not in how.voters:
        return []
    method, seed = every_method(how.vote_by), row.context.seed
    shared = [name for name in method.reads() if name in type(row.context).model_fields]
    base_settings = {name: getattr(row.context, name) for name in shared}
    base_settings |= {"model": row.context.speaker(how.voters[row.method.name]), "roles": {}}
    if _samples(method):
        runs: dict[str, dict[str, Any]] = {".vote": {"samples": count}}
    else:
        runs = {f".vote-{n}": {"seed": chance.seed(seed, "vote", n)} for n in range(1, count + 1)}
    kind = method.protocol.settings
    return [
        (end, method, inherit_settings(row.context, kind, {**base_settings, **more}))
        for end, more in runs.items()
    ]


def require_input(rows: Sequence[Ready], items: Sequence[Item], count: int) -> None:
    """Raise InputError if a row's settings do not allow direct answers."""
    for row in rows:
        for item in items:
            for _, method, settings in voters(row, count):
                try:
                    graph_input(method, item, row.gold(item), settings)
                except InputError as error:
                    raise InputError(f"--vote-first: {error}") from None


def _samples(method: Method) -> bool:
    return "samples" in method.reads()


def answers(records: Sequence[RunRecord], count: int) -> list[str | None]:
    """Return one answer per sample: a label for options or a claim, else the text."""
    first = records[0]
    if not _samples(every_method(first.method, first.protocol)):
        return [record.verdict.label if record.verdict else None for record in records]
    replies = {
        turn.speaker: str(turn.fields["answer"])
        for node in first.tree.nodes.values()
        for turn in node.transcript
        if turn.phase == "direct"
    }
    samples = [replies.get(str(n)) for n in range(1, count + 1)]
    options = first.input.get("options")
    if not isinstance(options, list):
        return samples
    choice = dict(zip(ascii_uppercase, map(str, options), strict=False))
    return [None if text is None else match_candidate(text, choice) for text in samples]


def verdict(records: Sequence[RunRecord], seed: int, item: str) -> Verdict | None:
    """Return a verdict for the most frequent direct answer; the seed decides a tie."""
    if len(records) == 1:
        return records[0].verdict
    counts = Counter(record.verdict.label for record in records if record.verdict and record.verdict.label)
    if not counts:
        return None
    top_count = max(counts.values())
    tied = sorted(label for label, count in counts.items() if count == top_count)
    won = min(tied, key=lambda label: chance.seed(seed, "tie", item, label))
    return Verdict(answer=won, label=won, confidence=top_count / len(records))


def usage_of(runs: Sequence[RunHandle]) -> Usage:
    """Return the usage of the votes, which run concurrently."""
    calls = [call for run in runs for call in run.folder.calls()]
    used = [run.record.usage for run in runs]
    longest = {
        "wall_s": max(run_usage.wall_s for run_usage in used),
        "critical_path_calls": max(run_usage.critical_path_calls for run_usage in used),
    }
    return usage(calls).model_copy(update=longest)


def find_vote_in_debate(
    row: Ready, item: Item, record: RunRecord, calls: Sequence[Call]
) -> tuple[Vote, Verdict | None] | None:
    """Return the vote with which a debate began, and the vote's verdict; None without a vote.

    The answers are in the order of the speakers, None for a speaker that failed. Texts are compared
    after normalising; the seed decides a tie.
    """
    early = row.method.protocol.early
    families = {phase.role for phase in row.method.protocol.phases if early and phase.name == early.phase}
    role_families = row.method.own_roles()
    voter_roles = [role for role in row.method.roles(row.context) if role_families.get(role) in families]
    turns = [
        turn for turn in record.tree.nodes[record.tree.root].transcript if early and turn.phase == early.phase
    ]
    if early is None or not turns:
        return None
    replies = {t.speaker: str(t.fields.get("label") or t.fields["answer"]).strip() for t in turns}
    texts = [replies[speaker] for speaker in sorted(replies)]
    closed = bool(item.inputs.options) or item.inputs.claim is not None
    answers = texts if closed else [*map(normal, texts)]
    top_count = max(answers.count(answer) for answer in answers)
    first = {answer: text for answer, text in zip(answers[::-1], texts[::-1], strict=True)}
    tied = [text for answer, text in first.items() if answers.count(answer) == top_count]
    won = min(tied, key=lambda text: chance.seed(row.context.seed, "tie", item.inputs.text, text))
    spoke = [call for call in calls if call.phase == early.phase and call.node == record.tree.root]
    longest = {"wall_s": seconds(spoke), "critical_path_calls": critical_path(record.tree, spoke)}
    vote = Vote(
        answers=[*answers, *[None] * (len(voter_roles) - len(answers))],
        label=won if closed else normal(won),
        usage=usage(spoke).model_copy(update=longest),
        inside=True,
    )
    return vote, Verdict(answer=won, label=won if closed else None)


async def conduct_runs(runs: Sequence[RunHandle], watch: Watch | None = None) -> list[RunRecord]:
    """Conduct all runs concurrently; if one fails, the others still finish."""
    return await finish_all(run.conduct(watch=watch) for run in runs)
