"""Export pairs of a better and a worse reply to the same messages, for training.

The form is the conversational one of preference data: ``prompt``, ``chosen`` and ``rejected`` are
lists of messages, each with ``role`` and ``content``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dialectree.errors import InputError
from dialectree.records import Call
from dialectree.records.folder import RunFolder

Pair = dict[str, Any]


def preferences(folders: Sequence[RunFolder], rewards: Mapping[str, float] | None = None) -> Iterator[Pair]:
    """Yield pairs of replies: changed by a person, or from two runs with different rewards.

    A contest gives a pair for each reply that a person rewrote: the person's reply is chosen. If two
    runs sent equal messages, the reply of the run with the higher reward is chosen, and the pair
    has ``reward``. Each reply is in one pair. Raises InputError for a run without prompts.

    Args:
        folders: the folders of the runs.
        rewards: the score of the answer by run id, as an evaluation gave it.
    """
    replies_by_prompt: dict[tuple[str, ...], list[tuple[float, str, Call, RunFolder]]] = {}
    for folder in folders:
        yield from _list_contest_pairs(folder)
        if (reward := (rewards or {}).get(folder.run_id)) is None:
            continue
        for call in folder.calls():
            if call.sent is not None and call.reply is not None:
                name = *(text for _, text in call.sent.messages), call.sent.reply_schema
                replies_by_prompt.setdefault(name, []).append((reward, call.reply, call, folder))
    texts: dict[str, dict[str, str]] = {}
    for replies in replies_by_prompt.values():
        ranked = sorted(replies, key=lambda reply: -reply[0])
        best = ranked[: len(ranked) // 2]
        for better, worse in zip(best, reversed(ranked), strict=False):  # the best with the worst
            if better[0] > worse[0] and better[1] != worse[1]:
                _, chosen, call, folder = better
                if folder.run_id not in texts:
                    texts[folder.run_id] = folder.texts()
                pair = _pair(folder, texts[folder.run_id], call, chosen, worse[1])
                yield {**pair, "reward": {"chosen": better[0], "rejected": worse[0]}}


def _list_contest_pairs(folder: RunFolder) -> Iterator[Pair]:
    """Yield a pair for each reply that a person wrote in place of a model's."""
    contest = folder.record().contest
    overrides = (
        [contest_override for contest_override in contest.overrides if contest_override.reply is not None]
        if contest
        else []
    )
    if not overrides:
        return
    calls = {call.spot(): call for call in folder.ledger() if call.reply is not None}
    texts = folder.texts()
    for override in overrides:
        for turn in override.spots:
            call = calls.get(turn.spot())
            if call is not None and call.sent is not None and turn.fields:
                after = json.dumps({**turn.fields, **(override.reply or {})}, ensure_ascii=False)
                before = json.dumps(turn.fields, ensure_ascii=False)
                yield _pair(folder, texts, call, after, before)


def _pair(folder: RunFolder, texts: Mapping[str, str], call: Call, chosen: str, rejected: str) -> Pair:
    assert call.sent is not None
    if any(text not in texts for _, text in call.sent.messages):
        raise InputError(f"{folder.path} was kept without its prompts (`prompts=False`)")
    return {
        "prompt": [{"role": role, "content": texts[text]} for role, text in call.sent.messages],
        "chosen": [{"role": "assistant", "content": chosen}],
        "rejected": [{"role": "assistant", "content": rejected}],
        "run_id": folder.run_id,
        "node": call.node,
        "role": call.role,
        "phase": call.phase,
    }
