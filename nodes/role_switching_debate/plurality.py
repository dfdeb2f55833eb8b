"""The plurality of several direct answers: what most of them say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from dialectree import chance
from dialectree.context import settings
from dialectree.events import tell
from dialectree.nodes.role_switching_debate.direct_answerer import Sample, votes
from dialectree.nodes.role_switching_debate.state import Settings
from dialectree.state import Ruling

_SHOWN = 60
"""Characters of an open answer that a note shows."""


class ToCount(TypedDict):
    """What is counted."""

    id: str
    question: str
    samples: list[Sample]
    asked: int
    """Samples that were asked for, the failed ones and those dropped included."""
    dropped: int
    """Samples that a person took out."""


async def plurality(state: ToCount, runtime: Runtime[Settings]) -> Ruling:
    """The answer with the most votes; its confidence is its share of all samples asked for.

    A sample that a person dropped counts as if nobody had asked for it.
    """
    found, asked = votes(state["samples"]), state["asked"] - state["dropped"]
    most = max(len(voters) for voters in found.values())
    first = sorted(name for name, voters in found.items() if len(voters) == most)
    place = (settings(runtime, Settings).seed, "tie", state["id"], state["question"])
    won = min(first, key=lambda name: chance.seed(*place, name))
    notes = [_counts(found, asked, state["dropped"])]
    if len(first) > 1:
        among = _joined([_name(found[name][0]) for name in first])
        notes.append(f"tie between {among} ({most} of {asked} each); drawn from the seed")
    speaker, confidence = found[won][0], most / asked
    for note in notes:
        tell(runtime, state["id"], "noted", {"note": note})
    told = {
        "answer": speaker["answer"],
        "rationale": speaker["reasoning"],
        "confidence": confidence,
        "local_confidence": confidence,
    }
    tell(runtime, state["id"], "settled", {"take": 1, "verdict": told, "provenance": [state["id"]]})
    return {
        "verdict": {
            "answer": speaker["answer"],
            "label": speaker["label"],
            "explanation": speaker["reasoning"],
            "confidence": confidence,
            "confidence_source": "share of samples",
            "notes": notes,
        }
    }


def _counts(found: Mapping[str, Sequence[Sample]], asked: int, dropped: int) -> str:
    """``9 samples: A 5, C 3, 1 failed``, ``4 samples: B 2, A 2; 1 dropped``."""
    counts = [f"{_name(voters[0])} {len(voters)}" for voters in found.values()]
    failed = asked - sum(len(voters) for voters in found.values())
    counts += [f"{failed} failed"] if failed else []
    out = f"; {dropped} dropped" if dropped else ""
    return f"{asked} sample{'' if asked == 1 else 's'}: {', '.join(counts)}{out}"


def _name(sample: Sample) -> str:
    """The option's letter, or the first words of an open answer."""
    text = " ".join(sample["answer"].split())
    short = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
    return sample["label"] or f"“{short}”"


def _joined(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
