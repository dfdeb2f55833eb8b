"""What two papers say to each other about a topic, as their personas and the moderator read it."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from typing_extensions import TypedDict

Letter = Literal["a", "b"]
LETTERS: tuple[Letter, Letter] = ("a", "b")
Stage = Literal["present", "respond", "revise"]


def opponent(letter: Letter) -> Letter:
    """The other paper."""
    return "b" if letter == "a" else "a"


class Author(TypedDict):
    """A paper as everybody at the table knows it."""

    title: str
    abstract: str
    introduction: str
    """Empty where evidence is retrieved instead."""
    source: str
    """What the shelf of evidence knows it by."""


class Claim(TypedDict):
    """What a paper claims to contribute to a topic."""

    id: str
    """The paper's letter and a number: ``a1``."""
    paper: Letter
    title: str
    description: str
    evidence: list[str]
    """Ids of segments of its own paper."""
    counter: list[str] | None
    """Ids of segments of the other paper that speak to it; None where nobody could look."""


class Said(TypedDict):
    """One turn of a persona."""

    paper: Letter
    stage: Stage
    title: str
    """Empty in a response."""
    description: str
    evidence: list[str]
    questions: list[str]
    """What a response asks the other."""
    proposals: list[str]
    """What it suggests beyond either paper."""
    concedes: bool


class Pool(TypedDict):
    """What was retrieved from one paper for a topic."""

    paper: Letter
    segments: list[str]


class Counter(TypedDict):
    """Segments of the other paper that speak to a claim."""

    claim: str
    segments: list[str]
    of: int
    """How many of these are to come for the claim: one a filter call."""


class Question(TypedDict):
    """A question that one persona asked the other in a debate."""

    id: str
    """Its number in the debate: ``q1``."""
    paper: Letter
    """The persona that asked it."""
    text: str


class Topic(TypedDict):
    """A topic that two papers debate."""

    id: str
    question: str
    """The topic of the whole comparison."""
    title: str
    description: str
    depth: int
    authors: dict[Letter, Author]
    claims: list[Claim]
    """Those of its parent that it is about."""
    pools: list[Pool]
    """What was retrieved for its parent."""
    raised_by: list[str]
    """Questions of the debate above that led to this topic."""
    open_questions: list[Question]
    """Questions that its own debate left open; empty until the moderator named them."""


class Debated(TypedDict):
    """A topic and both personas' last word on it."""

    id: str
    title: str
    description: str
    depth: int
    positions: list[Said]


class Spoken(TypedDict):
    """What a turn leaves."""

    said: Annotated[list[Said], operator.add]


class Pooled(TypedDict):
    """What retrieval leaves."""

    pooled: Annotated[list[Pool], operator.add]


class Deliberated(Pooled):
    """What both personas leave when they deliberate on a topic."""

    own: Annotated[list[Claim], operator.add]
    counters: Annotated[list[Counter], operator.add]


class Compared(TypedDict):
    """What a topic, and all below it, comes to."""

    debates: Annotated[list[Debated], operator.add]


def wording(topic: Topic) -> str:
    """The query of a topic: "title : description"; of the root, which has none, its title."""
    described = topic["description"]
    return f"{topic['title']} : {described}" if described else topic["title"]


def questions(said: Sequence[Said]) -> list[Question]:
    """Return the questions of a debate, numbered in the order of the personas, each once."""
    asked: dict[str, Letter] = {}
    for turn in sorted(said, key=lambda turn: turn["paper"]):
        for text in turn["questions"]:
            asked.setdefault(text, turn["paper"])
    return [
        {"id": f"q{number}", "paper": paper, "text": text}
        for number, (text, paper) in enumerate(asked.items(), 1)
    ]


def latest(said: Sequence[Said]) -> list[Said]:
    """Each persona's last argument, a's first; a response is none, but a concession in it stays."""
    last: dict[Letter, Said] = {}
    for turn in sorted(said, key=lambda turn: (turn["stage"] == "revise", turn["paper"])):
        if turn["stage"] != "respond":
            last[turn["paper"]] = turn
    conceded = {turn["paper"] for turn in said if turn["stage"] == "respond" and turn["concedes"]}
    revised = {turn["paper"] for turn in said if turn["stage"] == "revise"}
    return [
        {**last[letter], "concedes": last[letter]["concedes"] or letter in conceded - revised}
        for letter in LETTERS
        if letter in last
    ]


def countered(claims: Iterable[Claim], counters: Sequence[Counter]) -> list[Claim]:
    """The claims with what the other paper says to them.

    That it says nothing is known only where every filter call came back.
    """
    return [{**claim, "counter": _counter(claim["id"], counters)} for claim in claims]


def _counter(claim: str, counters: Sequence[Counter]) -> list[str] | None:
    own = [counter for counter in counters if counter["claim"] == claim]
    found = [*dict.fromkeys(name for counter in own for name in counter["segments"])]
    return found if found or (own and len(own) == own[0]["of"]) else None
