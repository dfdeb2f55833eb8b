"""Majority debate: three agents answer side by side, round by round, and then vote."""

from collections import Counter
from collections.abc import Mapping
from string import ascii_uppercase
from typing import Any

from pydantic import BaseModel

import dialectree as dt
from dialectree import Evaluation, GroundedInput, GroundedSettings, Script, Talk, chance, option

AGENTS = ("A", "B", "C")


class Input(GroundedInput):
    """A question and the answers to choose from."""

    question: str = option(positional=True)
    """One question, in full; - reads it from standard input."""
    options: list[str] = option(alias="option", metavar="TEXT", min_length=2, max_length=26)
    """The answers to choose from, 2 to 26."""


class Settings(GroundedSettings):
    """The settings of a majority debate."""

    rounds: int = option(2, ge=1, le=5, group="Debate", common=True)
    """Number of answers from each agent."""
    stop_when_agreed: bool = option(False, group="Debate")
    """End the rounds once all agents agree; the paper always plays all rounds."""


class AgentReply(BaseModel):
    """An answer after the reasons for it."""

    reasoning: str
    label: str


def lettered(talk: Talk) -> dict[str, str]:
    """Return the options by their letters."""
    return dict(zip(ascii_uppercase, talk.input["options"], strict=False))


def labels(talk: Talk) -> dict[str, list[str]]:
    """Return the labels that a reply may name."""
    return {"label": [*lettered(talk)]}


def before(talk: Talk) -> dict[str, Any]:
    """Return the material of an agent: the options, and the replies of the round before."""
    return {"options": lettered(talk), "before": talk.in_round(talk.round - 1)}


def vote(talk: Talk) -> Mapping[str, Any] | None:
    """Rule for the answer with most votes; the seed draws one of tied answers."""
    last = talk.in_round(talk.round)
    votes = Counter(sorted(turn["label"] for turn in last))
    if not votes:
        return None
    tied = [label for label, count in votes.items() if count == max(votes.values())]
    won = tied[chance.seed(talk.settings.seed, talk.input["question"]) % len(tied)]
    return {
        "answer": lettered(talk)[won],
        "label": won,
        "rationale": next(turn["reasoning"] for turn in last if turn["label"] == won),
        "confidence": votes[won] / len(AGENTS),
        "confidence_source": "share of agents",
        "notes": ["votes: " + ", ".join(f"{label} {count}" for label, count in votes.items())],
    }


script = Script(Settings, Input)
script.retrieves("material", lambda talk: [talk.input["question"], *talk.input["options"]])
script.speaks("agent", AgentReply, speakers=AGENTS, ids=labels, reads=before, evidence="cites")
script.checks()
script.decides("vote", vote)
script.rounds(("material", "agent"), times="rounds", until=dt.stop_when_agreed, then=("checker", "vote"))

protocol = script.protocol(
    name="majority_debate",
    title="Majority Debate",
    summary="Let three agents answer, read one another and answer again; the majority decides.",
    source="Improving Factuality and Reasoning through Multiagent Debate (Du et al.)",
    examples=(
        '"Does ice float?" --option yes --option no',
        '"Is it so?" --option yes --option no --rounds 3',
    ),
    outcome="choice",
    evaluation=Evaluation(task="decide"),
    demo="demo",
)
