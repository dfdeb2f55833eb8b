"""Scorers that need no model. A scorer takes inputs, outputs and reference_outputs by keyword.

LangSmith's evaluators take the same three and the same result, so one function serves both.
``inputs`` and ``reference_outputs`` are what :meth:`dialectree.evals.items.Item.example` gives,
``outputs`` the fields of a record's verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from string import ascii_uppercase
from typing import Any, Literal, NamedTuple

from typing_extensions import TypedDict

from dialectree.nodes.answers import letter, normal

Fields = Mapping[str, Any]
Outcome = Literal[
    "scored",
    "unanswered",  # the method gave no answer: not right, and said to be none
    "unparsed",  # the judge's word could not be read: no score at all
    "absent",  # the figure that is scored was never given, such as P(claim) by a bare label
    "swayed",  # a judge of two texts that ruled by their places
]


class Score(TypedDict):
    """What a scorer says of one answer."""

    key: str
    score: float | None
    """None where the outcome is no score; never a stand-in."""
    value: Outcome
    """The outcome, in LangSmith's name for what is not a number."""
    comment: str


def score(key: str, number: float | None, comment: str, value: Outcome = "scored") -> Score:
    """A score in one line."""
    return {"key": key, "score": number, "value": value, "comment": comment}


def choice(*, inputs: Fields, outputs: Fields, reference_outputs: Fields) -> Score:
    """Whether the label is the right option's letter. Nobody guesses at a label that is none."""
    gold = str(reference_outputs["gold"])
    letters = ascii_uppercase[: len(inputs["options"])]
    label = letter(str(outputs.get("label") or ""))
    if label not in [*letters]:
        return score("choice", 0.0, "no option was chosen", "unanswered")
    return score("choice", float(label == gold), f"{label}, and {gold} is right")


def claim_label(*, inputs: Fields, outputs: Fields, reference_outputs: Fields) -> Score:
    """Whether the claim is labelled as it is."""
    said, true = _truth(outputs.get("label")), bool(reference_outputs["label"])
    if said is None:
        return score("claim_label", 0.0, "the claim got no label", "unanswered")
    return score(
        "claim_label", float(said == true), f"{said}, and the claim is {str(true).lower()}"
    )


def claim_brier(*, inputs: Fields, outputs: Fields, reference_outputs: Fields) -> Score:
    """(P(claim) − truth)², 0 to 1, less is better; only of a confidence that is P(claim)."""
    chance = outputs.get("confidence")
    if chance is None or outputs.get("confidence_source") != "P(claim)":
        return score("claim_brier", None, "the method gives no P(claim)", "absent")
    true = bool(reference_outputs["label"])
    return score("claim_brier", (float(chance) - true) ** 2, f"P(claim) {float(chance):.3g}")


def _truth(label: object) -> bool | None:
    return {"true": True, "false": False}.get(str(label).strip().casefold())


_NOTHING = re.compile(
    r"(?:(?:i'm|i am|we are|we're)?\s*(?:sorry|afraid)[,.]?\s*(?:but\s*)?)?(?:that\s+)?"
    r"(?:i|we)?\s*(?:(?:really|simply|just|honestly)\s+)?(?:"
    r"(?:do not|don't|cannot|can't|could not|couldn't) (?:really )?"
    r"(?:know|say|tell|answer|help|comment|be (?:sure|certain))"
    r"|(?:am|'m|are|'re) (?:not (?:sure|certain)|unsure|unable to (?:say|tell|answer|help))"
    r"|have no (?:comment|idea|answer)|no (?:comment|idea|answer)"
    r"|(?:it|this|that|the answer) (?:is|'s) (?:unknown|unclear|uncertain)|unknown|unclear"
    r")\b(?:(?!\b(?:but|however|though|although|yet)\b)[^.!?;:]){0,80}[.!?]*"
)


def informative(*, inputs: Fields, outputs: Fields, reference_outputs: Fields) -> Score:
    """Whether an answer says anything: 0 where the whole of it is that nothing can be said.

    Refusals count as truthful, so a method that always declines has a perfect truthfulness; this
    figure tells. A rough one: it knows the usual English phrases, in answers of one sentence.
    """
    answer = str(outputs.get("answer") or "").strip()
    if not answer:
        return score("informative", 0.0, "there is no answer", "unanswered")
    declined = _NOTHING.fullmatch(normal(answer)) is not None
    return score("informative", float(not declined), "declined" if declined else "says something")


class Tally(NamedTuple):
    """Right-or-wrong scores, counted; every answer is in just one of the four."""

    right: int
    wrong: int
    unanswered: int
    unparsed: int
    """Answers whose judgement could not be read."""

    @property
    def n(self) -> int:
        """All answers."""
        return sum(self)

    @property
    def judged(self) -> int:
        """Answers that have a score: the number that a share of right ones is of."""
        return self.n - self.unparsed


def tally(scores: Iterable[Score]) -> Tally:
    """Count right-or-wrong scores.

    The paper of TSD counts an unreadable judgement as wrong: ``right`` of ``n``. To leave it out:
    ``right`` of ``judged``. A method without an answer is not right either way. ValueError for a
    score that is neither 0 nor 1.
    """
    counts = {"right": 0, "wrong": 0, "unanswered": 0, "unparsed": 0}
    for one in scores:
        if one["value"] in ("unanswered", "unparsed"):
            counts[one["value"]] += 1
        elif one["score"] in (0, 1):
            counts["right" if one["score"] else "wrong"] += 1
        else:
            raise ValueError(f"{one['key']} {one['score']} ({one['value']}) is not right or wrong")
    return Tally(**counts)


def numbers(scores: Sequence[Score]) -> list[float]:
    """The scores that are numbers."""
    return [one["score"] for one in scores if one["score"] is not None]
