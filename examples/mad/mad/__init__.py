"""Multi-agent debate after Liang et al.: two debaters disagree until a moderator stops them."""

from typing import Annotated

from pydantic import BaseModel, Field

from dialectree import Evaluation, GroundedSettings, Script, Talk, option

Share = Annotated[float, Field(ge=0, le=1)]


class Settings(GroundedSettings):
    """The settings of a multi-agent debate."""

    rounds: int = option(3, ge=1, le=5, group="Debate", common=True)
    """Largest number of rounds."""


class Argument(BaseModel):
    """What a debater says: the reasons, then the answer."""

    argument: str
    answer: str


class Moderation(BaseModel):
    """What the moderator says after a round; the answer counts if it is decided."""

    rationale: str
    decided: bool
    answer: str
    confidence: Share


class Candidates(BaseModel):
    """The answers that were defended."""

    candidates: Annotated[list[str], Field(min_length=1, max_length=4)]


class Choice(BaseModel):
    """The answer that the judge chooses."""

    rationale: str
    answer: str
    confidence: Share


def decided(talk: Talk) -> bool:
    """Return whether the moderator has found the answer, which ends the debate."""
    return talk.last.get("decided") is True


script = Script(Settings)
script.retrieves("material", lambda talk: [talk.input["question"]])
script.speaks("affirmative", Argument, evidence="cites")
script.speaks("negative", Argument, evidence="cites")
script.speaks("moderator", Moderation, phase="moderation", rules=True, ruled={"decided": True})
script.speaks("extract", Candidates, role="judge", phase="extraction", required=True)
script.speaks("choose", Choice, role="judge", phase="choice", required=True, rules=True)
script.checks()
script.rounds(
    ("material", "affirmative", "negative"),
    "moderator",
    times="rounds",
    until=decided,
    then=("checker", "extract", "choose"),
)
unmoderated = script.without("moderator")

protocol = script.protocol(
    name="mad",
    title="Multi-Agent Debate",
    summary="Let two debaters disagree about a question until a moderator has the answer.",
    source="Encouraging Divergent Thinking in Large Language Models (arXiv 2305.19118)",
    examples=('"Which of 0.9 and 0.11 is larger?"', '"Who won at Cannae?" --rounds 2'),
    outcome="answer",
    variants=(
        unmoderated.variant(
            "unmoderated",
            title="without the moderator",
            summary="Let two debaters disagree for all rounds; a judge chooses an answer.",
        ),
    ),
    evaluation=Evaluation(task="answer"),
    demo="demo",
)
