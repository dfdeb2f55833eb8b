"""The state that protocols share: a question goes in, a ruling comes out.

Plain data only, so that a saved run always loads back. A protocol extends :class:`Debate` with its
own fields, in ``nodes/<protocol>/state.py``.
"""

from __future__ import annotations

from typing import Any, NotRequired

from typing_extensions import TypedDict


class Question(TypedDict):
    """What a protocol is asked."""

    question: str
    """In the user's own words."""


class Verdict(TypedDict):
    """What a protocol rules in the end."""

    answer: str | None
    """None when the debate could not be resolved."""
    label: str | None
    """The answer out of a closed set: an option's letter, or ``True`` or ``False``."""
    rationale: str | None
    confidence: float | None
    """0 to 1; None when no judge gave one."""
    confidence_source: str | None
    """Whose figure the confidence is, or ``person`` where a person ruled without one; else None."""
    notes: list[str]
    """What a reader should know beside it, such as what the question leaves open."""


class Ruling(TypedDict):
    """What a protocol returns."""

    verdict: Verdict
    run_id: NotRequired[str]
    """The id of the run, by which its record is shown and contested."""


class Hosted(Ruling):
    """What a thread of a host keeps of a run; a run of our own has a folder instead."""

    run: dict[str, Any] | None
    """The ``id`` of the run, its ``settings`` as a record has them, without secrets, and those that
    the host gave and that are ``ignored``."""
    record: dict[str, Any] | None
    """The finished record, as run.json has it."""


class Debate(Question, Ruling):
    """What is common to all protocols between question and ruling."""


class Answering(Debate):
    """The state of a baseline that one reply answers."""

    failed: bool
    """True when that reply failed for good."""
