"""A protocol from elsewhere: two arguments are rated and meet, and persons may add more."""

from __future__ import annotations

import operator
from typing import Annotated, Any, Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from pydantic import BaseModel
from typing_extensions import TypedDict

from dialectree.flow import Flow
from dialectree.flow.state import Debate, Question, Ruling
from dialectree.models.door import ask
from dialectree.models.run import run_of
from dialectree.protocols.options import option
from dialectree.protocols.protocol import Phase, Protocol, ProtocolInput
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import Place
from dialectree.trace.events import tell

QUESTION = "It is so."


class Rating(BaseModel):
    """How good an argument is."""

    rating: float


class Meeting(BaseModel):
    """Who of two wins."""

    winner: Literal["SUPPORT", "ATTACK"]


class Text(TypedDict):
    """An argument and its side."""

    id: str
    stance: str
    text: str


class Matter(Question):
    """What the graph takes; its first step reads the question alone."""

    remark: str


class Duel(Matter, Debate):
    """A claim, arguments about it, and what was made of them."""

    arguments: list[Text]
    ratings: Annotated[list[tuple[str, float]], operator.add]
    winner: str


class Input(ProtocolInput):
    """A claim."""

    question: str = option(positional=True)
    """The claim."""
    remark: str = ""
    """What else there is to say."""


class Settings(ProtocolSettings):
    """The settings of a duel: those that every protocol has."""


async def opening(state: Question, runtime: Runtime[Settings]) -> dict[str, object]:
    texts = [("0.0", "support", "Yes."), ("0.1", "attack", "No.")]
    texts += [(one.id, one.stance, one.text) for one in run_of(runtime).overrides.list_insertions("0")]
    tell(runtime, "0", "opened", {"text": state["question"], "depth": 0, "kind": "claim"})
    for name, stance, text in texts:
        place = {"depth": 1, "parent": "0", "kind": "argument", "stance": stance}
        tell(runtime, name, "opened", {"text": text, **place})
    names = [name for name, _, _ in texts]
    tell(runtime, "0", "branched", {"children": names, "kind": "claim"})
    return {"arguments": [{"id": i, "stance": s, "text": t} for i, s, t in texts]}


async def rater(state: Text, runtime: Runtime[Settings]) -> dict[str, object]:
    prompt, place = ("adaptive_reasoning_tree/scorer", Place(node=state["id"], phase="rating", role="rater"))
    shown: dict[str, Any] = {"stance": state["stance"], "argument": state["text"], "parent": QUESTION}
    reply = await ask(runtime, place, prompt, Rating, **shown)
    tell(runtime, state["id"], "scored", {"scores": {"tau": reply.rating}})
    return {"ratings": [(state["id"], reply.rating)]}


async def referee(state: Duel, runtime: Runtime[Settings]) -> dict[str, object]:
    prompt = "adaptive_reasoning_tree/pairwise_judge"
    shown = [("SUPPORT", "Yes."), ("ATTACK", "No.")]
    place = Place(node="0", phase="meeting", role="referee", speaker="0.0:0.1", step=1)
    reply = await ask(runtime, place, prompt, Meeting, parent=QUESTION, shown=shown)
    met = {"supporter": "0.0", "attacker": "0.1", "winner": reply.winner}
    tell(runtime, "0", "compared", {**met, "order": "support_first"})
    return {"winner": reply.winner}


async def counting(state: Duel, runtime: Runtime[Settings]) -> Ruling:
    stances = {argument["id"]: argument["stance"] for argument in state["arguments"]}
    probability = {"SUPPORT": 0.6, "ATTACK": 0.4, "VOID": 0.5}[state["winner"]]
    for name, rating in state["ratings"]:
        if not run_of(runtime).overrides.drops_argument(name):
            probability += (0.1 if stances[name] == "support" else -0.1) * rating
    label = str(probability > 0.5)
    settled = {"answer": label, "rationale": "", "confidence": probability}
    tell(runtime, "0", "settled", {"take": 1, "verdict": settled, "provenance": ["0"]})
    return {
        "verdict": {
            "answer": label,
            "label": label,
            "rationale": None,
            "confidence": probability,
            "confidence_source": "probability",
            "notes": [],
        }
    }


def each_argument(state: Duel) -> list[Text]:
    return state["arguments"]


flow = Flow(Duel, settings=Settings, input=Matter, opening=opening)
flow.role("rater", rater)
flow.role("referee", referee, on_failure={"winner": "VOID"})
flow.step("counting", counting)
flow.fan(START, "rater", each_argument)
flow.then("rater", "referee", "counting", END)
graph = flow.compile("duel")

DUEL = Protocol(
    name="duel",
    title="Duel",
    summary="Rate two arguments and let them meet.",
    source="these tests",
    input=Input,
    settings=Settings,
    outcome="probability",
    view="arguments",
    graph=f"{__name__}:graph",
    roles={"rater": "", "referee": ""},
    prompts=("adaptive_reasoning_tree",),
    phases=(
        Phase(
            role="rater",
            name="rating",
            reply=(f"{__name__}:Rating",),
            score=lambda tau: {"rating": tau},
            scored="tau",
            inserts=True,
        ),
        Phase(
            role="referee",
            name="meeting",
            reply=(f"{__name__}:Meeting",),
            winner=lambda winner: {"winner": winner},
            winners=("SUPPORT", "ATTACK"),
        ),
    ),
)
