"""The two answers of a role-switching debate, who holds which, and where they come from.

Debaters are sides ``a`` and ``b``. Labels are the options' letters in the order given, and never
the names of sides. Whatever is drawn is drawn from the seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from typing_extensions import TypedDict

from dialectree import chance
from dialectree.errors import InputError
from dialectree.nodes.answers import exact, letters

Side = Literal["a", "b"]
SIDES: tuple[Side, Side] = ("a", "b")
LONGEST = 6000
"""Characters of an answer: debaters and judge write it out word for word."""
_SHORT = 200


def other(side: Side) -> Side:
    """The opponent."""
    return "b" if side == "a" else "a"


class Candidate(TypedDict):
    """One answer that a debater holds."""

    label: str
    text: str


def shortened(answer: str) -> str:
    """An answer where it only serves to say which one is meant."""
    return answer if len(answer) <= _SHORT else f"{answer[:_SHORT]}…"


def offered(answers: Sequence[str]) -> dict[str, list[str]]:
    """The answers as a suggestion for the schema; none where one is too long to be spelt out."""
    if not answers or any(len(answer) > _SHORT for answer in answers):
        return {}
    return {"answer": list(dict.fromkeys(answers))}


def tokens(*answers: str) -> int:
    """Tokens that writing out one of the answers may take beyond those of a short one."""
    return max((len(answer) // 3 for answer in answers if len(answer) > _SHORT), default=0)


def checked(options: object) -> list[str]:
    """The options as they are; InputError where they are none that a debate can choose between."""
    if isinstance(options, str):
        raise InputError("--option: the options are one text; give a list of them")
    if isinstance(options, Mapping) or not isinstance(options, Iterable):
        raise InputError("--option: the options are no list; give one, [] for an open question")
    said = [*options]
    for number, option in enumerate(said, 1):
        if not isinstance(option, str | int | float):
            raise InputError(f"--option: option {number} is no text")
    given = [str(option).strip() for option in said]
    if len(given) == 1:
        raise InputError("--option: one option is no choice; give two or more, or none")
    if len(given) > len(letters(26)):
        raise InputError(f"--option: {len(given)} options; there are letters for 26")
    seen: dict[str, int] = {}
    for number, text in enumerate(given, 1):
        if not exact(text):
            raise InputError(f"--option: option {number} is empty")
        if len(text) > LONGEST:
            raise InputError(f"--option: option {number} is longer than {LONGEST:,} characters")
        first = seen.setdefault(exact(text), number)
        if first != number:
            raise InputError(f"--option: options {first} and {number} are the same")
    return given


def labelled(options: Sequence[str]) -> list[Candidate]:
    """The options with their letters."""
    if not options:
        return []
    return [
        {"label": label, "text": text}
        for label, text in zip(letters(len(options)), options, strict=True)
    ]


def texts(candidates: Sequence[Candidate]) -> dict[str, str]:
    """Text by label, in the order of the labels."""
    return {c["label"]: c["text"] for c in sorted(candidates, key=lambda c: c["label"])}


def read_from(first: Side, candidates: Mapping[Side, Candidate]) -> dict[str, str]:
    """Text by label, the candidate of ``first`` before the other's."""
    return {candidates[s]["label"]: candidates[s]["text"] for s in (first, other(first))}


def drawn(first: Candidate, second: Candidate, seed: int, *place: str) -> dict[Side, Candidate]:
    """Who holds which of two candidates.

    ``place`` is the node and the question, here and below: over many questions of one seed no side
    is favoured.
    """
    if chance.coin(seed, "candidates", *place):
        return {"a": first, "b": second}
    return {"a": second, "b": first}


def order(count: int, seed: int, *place: str) -> list[int]:
    """The numbers of ``count`` options in a drawn order."""
    return sorted(range(count), key=lambda number: chance.seed(seed, "order", *place, number))


def gold_against(
    gold: Candidate, distractor: Candidate, seed: int, *place: str, balanced: bool
) -> dict[Side, Candidate]:
    """Side a holds the gold answer, as in the paper; ``balanced``: the side is drawn."""
    if balanced:
        return drawn(gold, distractor, seed, *place)
    return {"a": gold, "b": distractor}


def wrong_option(
    wrong: Sequence[Candidate], how: Literal["first", "random"], seed: int, *place: str
) -> Candidate:
    """The wrong option that stands against the gold one; never asks a model."""
    return wrong[0 if how == "first" else order(len(wrong), seed, *place)[0]]


def gold_pair(
    options: Sequence[Candidate],
    gold: str,
    how: Literal["first", "random", "model"],
    seed: int,
    question: str,
) -> tuple[Candidate, Candidate]:
    """Return the gold option and the wrong one that an evaluation puts against it."""
    right = next(option for option in options if option["label"] == gold)
    wrong = [option for option in options if option["label"] != gold]
    draw: Literal["first", "random"] = "random" if how == "random" else "first"
    return right, wrong_option(wrong, draw, seed, "0", question)


def side_of(label: str, candidates: Mapping[Side, Candidate]) -> Side:
    """Who holds the candidate ``label``."""
    return "a" if candidates["a"]["label"] == label else "b"
