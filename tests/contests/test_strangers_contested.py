"""A protocol from elsewhere is contested by the scores and comparisons that it declares."""

from __future__ import annotations

import asyncio
import operator
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from langgraph.graph import END, START
from langgraph.runtime import Runtime
from pydantic import BaseModel
from typing_extensions import TypedDict

import dialectree
from dialectree.contests import Add, Change, Drop, Flip, Replace, Restore, Set, Void
from dialectree.errors import InputError
from dialectree.flow import Flow
from dialectree.flow.state import Debate, Question, Ruling
from dialectree.models.door import ask
from dialectree.models.run import run_of
from dialectree.protocols import plugins, protocol
from dialectree.protocols.options import option
from dialectree.protocols.protocol import Phase, Protocol, ProtocolInput
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import Place, RunRecord
from dialectree.running.hosted import keeping
from dialectree.testing import Asked, ScriptedModel
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
    texts += [(one.id, one.stance, one.text) for one in run_of(runtime).overrides.inserted("0")]
    tell(runtime, "0", "opened", {"text": state["question"], "depth": 0, "kind": "claim"})
    for name, stance, text in texts:
        place = {"depth": 1, "parent": "0", "kind": "argument", "stance": stance}
        tell(runtime, name, "opened", {"text": text, **place})
    names = [name for name, _, _ in texts]
    tell(runtime, "0", "branched", {"children": names, "kind": "claim"})
    return {"arguments": [{"id": i, "stance": s, "text": t} for i, s, t in texts]}


async def rater(state: Text, runtime: Runtime[Settings]) -> dict[str, object]:
    prompt, place = (
        "adaptive_reasoning_tree/scorer",
        Place(node=state["id"], phase="rating", role="rater"),
    )
    shown: dict[str, Any] = {
        "stance": state["stance"],
        "argument": state["text"],
        "parent": QUESTION,
    }
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


def script(call: Asked) -> BaseModel:
    return Rating(rating=0.5) if call.role == "rater" else Meeting(winner="SUPPORT")


@pytest.fixture
def duel(monkeypatch: pytest.MonkeyPatch) -> RunRecord:
    installed = {**protocol.installed(), "duel": DUEL}
    monkeypatch.setattr(plugins, "declared", lambda: (installed, {}))
    return dialectree.run("duel", question=QUESTION, model=ScriptedModel(script=script))


CHANGES: dict[str, tuple[Change, Change, float, int]] = {
    "a strength": (Set("0.0", 1.0), Restore("0.0"), 0.65, 0),
    "a strength that is unknown": (Set("0.1", None), Restore("0.1"), 0.65, 0),
    "another winner": (Flip("0.1", "0.0"), Flip("0.0", "0.1"), 0.4, 0),
    "no winner": (Void("0.0", "0.1"), Restore("0.0", "0.1"), 0.5, 0),
    "an argument less": (Drop("0.1"), Restore("0.1"), 0.65, 0),
    "an argument more": (Add("attack", "0", "Never."), Drop("0.2"), 0.55, 1),
}


@pytest.mark.parametrize(("wish", "back", "probability", "calls"), CHANGES.values(), ids=CHANGES)
def test_what_is_declared_can_be_changed_and_taken_back(
    duel: RunRecord, wish: Change, back: Change, probability: float, calls: int
) -> None:
    given: dict[str, Any] = {"model": ScriptedModel(script=script), "cache": False}
    new = dialectree.contest(duel, [wish], **given)
    assert new.verdict is not None and new.verdict.confidence == pytest.approx(probability)
    assert (new.status, new.usage.calls) == ("answered", calls)
    first = dialectree.contest(new, [back], cache=False)
    assert (first.verdict, first.tree, first.usage.calls) == (duel.verdict, duel.tree, 0)


def test_what_is_not_declared_is_refused(duel: RunRecord) -> None:
    with pytest.raises(InputError, match=r"0\.0/rater"):
        dialectree.contest(duel, [Replace("0.0/rater", "No.")])


def test_a_run_of_a_host_is_contested_with_its_whole_input(duel: RunRecord, tmp_path: Path) -> None:
    given = {"question": QUESTION, "remark": "By the way."}
    context = Settings(model=ScriptedModel(script=script))
    with keeping(tmp_path):
        ended = asyncio.run(graph.ainvoke(given, context=context))
    hosted = dialectree.load(ended["run_id"], runs=tmp_path)
    assert hosted.input == given
    new = dialectree.contest(hosted, [Set("0.0", 1.0)], runs=tmp_path, cache=False)
    assert (new.input, new.usage.calls) == (given, 0)
    assert new.verdict is not None and new.verdict.confidence == pytest.approx(0.65)
