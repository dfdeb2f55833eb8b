"""ReConcile: unlike models answer with a confidence, discuss, and vote by rescaled confidences."""

from string import ascii_uppercase
from typing import Any

from pydantic import BaseModel, Field

from dialectree import Evaluation, GroundedInput, GroundedSettings, Script, Talk, chance, option


class Input(GroundedInput):
    """A question and the answers to choose from."""

    question: str = option(positional=True)
    """One question, in full; - reads it from standard input."""
    options: list[str] = option(alias="option", metavar="TEXT", min_length=2, max_length=26)
    """The answers to choose from, 2 to 26."""


class Settings(GroundedSettings):
    """The settings of a ReConcile debate."""

    rounds: int = option(3, ge=0, le=5, group="Debate", common=True)
    """Most rounds of discussion after the first answers."""


class AgentReply(BaseModel):
    """An answer after the reasons for it, and how sure the agent is of it."""

    reasoning: str
    label: str
    confidence: float = Field(ge=0, le=1)


def grouped(talk: Talk) -> dict[str, list[Any]]:
    """Return the last answer of each agent, by letters, the most frequent letter first."""
    last = {turn["name"]: turn for turn in talk.said}  # an agent that fails keeps its last answer
    groups = {a: [last[n] for n in sorted(last) if last[n]["label"] == a] for a in ascii_uppercase}
    return {a: groups[a] for a in sorted(groups, key=lambda a: -len(groups[a])) if groups[a]}


def weight(confidence: float) -> float:
    """Return the weight of a vote, by the table in the paper's code (`trans_confidence`)."""
    steps = (confidence > 0.6, confidence >= 0.8, confidence >= 0.9, confidence >= 1)
    return (0.1, 0.3, 0.5, 0.8, 1.0)[sum(steps)]


def over(talk: Talk) -> bool:
    """Return whether all agents, two at least, agree, or the rounds are over."""
    return [*map(len, grouped(talk).values())] in ([2], [3]) or talk.round > talk.settings.rounds


def vote(talk: Talk) -> dict[str, Any]:
    """Rule for the answer with the largest weight; the seed draws one of tied answers."""
    groups = grouped(talk)
    weights = {a: round(sum(weight(t["confidence"]) for t in groups[a]), 1) for a in sorted(groups)}
    tied = [label for label, weighs in weights.items() if weighs == max(weights.values())]
    won = tied[chance.seed(talk.settings.seed, talk.input["question"]) % len(tied)]
    ended = f"{'no ' if len(groups) > 1 else ''}consensus in round {talk.round}"
    drawn = "; a tie, drawn from the seed" if len(tied) > 1 else ""
    votes = ", ".join(f"{label} {weighs}" for label, weighs in weights.items())
    return {
        "answer": talk.input["options"][ascii_uppercase.index(won)],
        "label": won,
        "rationale": max(groups[won], key=lambda turn: turn["confidence"])["reasoning"],
        "confidence": weights[won] / sum(weights.values()),
        "confidence_source": "weighted vote",
        "notes": [f"{ended}; votes by weight: {votes}{drawn}"],
    }


script = Script(Settings, Input)
script.retrieves("material", lambda talk: [talk.input["question"], *talk.input["options"]])
script.speaks(
    "agent",
    AgentReply,
    speakers="ABC",
    ids=lambda talk: {"label": [*ascii_uppercase[: len(talk.input["options"])]]},
    reads=lambda talk: {"letters": ascii_uppercase, "groups": grouped(talk)},
    evidence="cites",
)
script.checks()
script.decides("vote", vote)
script.rounds(("material", "agent"), times=6, until=over, then=("checker", "vote"))

protocol = script.protocol(
    name="reconcile",
    title="ReConcile",
    summary="Let unlike models answer, discuss until they agree, and vote by their confidence.",
    source="ReConcile (arXiv 2309.13007)",
    examples=('"Is it so?" --option yes --option no', '"So?" --option yes --option no --rounds 1'),
    outcome="choice",
    evaluation=Evaluation(task="decide"),
    demo="demo",
)
