"""Atomic claims, after FActScore: a claim is split, its parts are settled and weighed together."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

import dialectree as dt


class Input(dt.ProtocolInput):
    """A claim."""

    claim: str = dt.option(positional=True)
    """One claim, in full; - reads it from standard input."""


class Settings(dt.ProtocolSettings):
    """The settings of atomic claims."""

    settled_by: str = dt.option("art", group="Atomic claims", common=True)
    """The protocol that settles each atomic claim."""
    most: int = dt.option(4, ge=1, le=12, group="Atomic claims")
    """Largest number of atomic claims."""


class Split(BaseModel):
    """The atomic claims that a claim makes."""

    claims: list[str]


class Whole(BaseModel):
    """How probable a claim is as a whole, after the reasons for it."""

    rationale: str
    probability: Annotated[float, Field(ge=0, le=1)]


def ruling(probability: float, rationale: str) -> dict[str, Any]:
    """Return the verdict on a claim with this probability."""
    label = "True" if probability > 0.5 else "False"
    sure = {"confidence": probability, "confidence_source": "probability"}
    return {"answer": label, "label": label, "rationale": rationale, **sure}


def as_one(talk: dt.Talk) -> dict[str, Any]:
    """Return the ruling of the baseline, which is one call."""
    return ruling(talk.last["probability"], talk.last["rationale"])


whole = dt.Script(Settings, Input)
whole.speaks("whole", Whole, role="checker", phase="check", required=True, rules=as_one)
whole.turns("whole")

protocol = dt.Protocol(
    name="atomic_claims",
    title="Atomic Claims",
    summary="Split a claim, let another protocol settle each part; say how probable they make it.",
    source="FActScore (arXiv 2305.14251)",
    examples=('"Bats are blind birds."', '"Iron rusts." --settled-by mad --set mad.rounds=1'),
    input=Input,
    settings=Settings,
    outcome="probability",
    view="tree",
    look=dt.Look(weighing=("the mean support of its parts",)),
    unit="claim",
    graph="atomic_claims.graph:graph",
    roles={"splitter": ""},
    prompts=("atomic_claims",),
    phases=(dt.Phase(role="splitter", reply=("atomic_claims:Split",)), *whole.phases()),
    inner=lambda settings: [settings.settled_by],
    variants=(whole.variant("whole", summary="One call for all of it.", reads=(), baseline=True),),
    evaluation=dt.Evaluation(task="verify", plainest=("whole",)),
    demo="demo",
)
