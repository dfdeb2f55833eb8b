"""Tribunal: advocates of all options plead or concede; a judge asks, rules or leaves it open."""

from pydantic import BaseModel, Field

from dialectree import Evaluation, GroundedInput, GroundedSettings, Script, Talk, option


class Input(GroundedInput):
    """A question and the answers to choose from."""

    question: str = option(positional=True)
    """One question, in full; - reads it from standard input."""
    options: list[str] = option(alias="option", metavar="TEXT", min_length=2, max_length=6)
    """The answers to choose from, 2 to 6. Each has an advocate."""


class Settings(GroundedSettings):
    """The settings of a tribunal."""

    rounds: int = option(2, ge=1, le=5, group="Debate", common=True)
    """Most pleas of each advocate. In the first round, advocates see no other pleas."""
    questions: int = option(2, ge=0, le=5, group="Debate", common=True)
    """Most questions that the judge may then ask single advocates."""


class Plea(BaseModel):
    """An argument, and the option that its advocate now holds right."""

    argument: str
    sides_with: str


class Judgment(BaseModel):
    """Whom the judge asks what. If nobody, the ruling counts."""

    rationale: str
    question: str
    asks: str
    label: str
    confidence: float | None = Field(ge=0, le=1)


def standing(talk: Talk) -> list[str]:
    """Return the advocates who have not conceded. If all the rest concede at once, they stay."""
    stand = [*"ABCDEF"[: len(talk.input["options"])]]
    for number in range(2, talk.round + 1):
        sides = {turn["name"]: turn.get("sides_with") for turn in talk.in_round(number)}
        stand = [letter for letter in stand if sides.get(letter, letter) == letter] or stand
    return stand


def ids(talk: Talk) -> dict[str, list[str]]:
    """Return the options that a speaker may name, and the advocates that the judge may ask."""
    stand = standing(talk)
    put = sum(turn.get("asks", "nobody") != "nobody" for turn in talk.said)
    asks = ["nobody", *(stand if put < talk.settings.questions else [])]
    own = {"sides_with": stand if talk.round > 1 else [talk.name]}
    return own if talk.name != "judge" else {"label": [*stand, "undecided"], "asks": asks}


def pleads(talk: Talk) -> bool:
    """Return whether a speaker pleads: the one that the judge has asked, else all remaining advocates."""
    return talk.name in talk.last.get("asks", standing(talk))


def heard(talk: Talk) -> bool:
    """Return whether the pleas are over, and no question of the judge is open."""
    open = talk.last.get("asks", "nobody") != "nobody" and talk.last["round"] == talk.round
    return not open and (talk.round >= talk.settings.rounds or len(standing(talk)) == 1)


def rule(talk: Talk) -> dict[str, object]:
    """Return the judge's ruling; the question stays open if it is undecided."""
    said = {name: talk.last[name] for name in ("label", "rationale", "confidence")}
    if said["label"] == "undecided":
        return {"answer": None, "rationale": said["rationale"], "notes": ["the judge is undecided"]}
    answer = talk.input["options"]["ABCDEF".index(said["label"])]
    return {**said, "answer": answer, "confidence_source": "judge"}


script = Script(Settings, Input)
script.retrieves("material", lambda talk: [talk.input["question"], *talk.input["options"]])
script.speaks("advocate", Plea, speakers="ABCDEF", ids=ids, when=pleads, evidence="cites")
script.checks()
script.speaks("judge", Judgment, required=True, ids=ids, reads=ids, when=heard, rules=rule)
script.rounds(("material", "advocate", "checker"), "judge", times=10, until=heard)

protocol = script.protocol(
    name="tribunal",
    title="Tribunal",
    summary="Let an advocate plead for each option; a judge asks, rules or leaves it undecided.",
    source="our own; nearest is D3 (arXiv 2410.04663)",
    examples=('"Which?" --option A --option B', '"Which?" --option A --option B --rounds 3'),
    outcome="choice",
    evaluation=Evaluation(task="decide"),
    demo="demo",
)
