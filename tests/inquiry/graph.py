"""An inquiry: every part is weighed and debated, side by side; then the answers are joined."""

from __future__ import annotations

import operator
from typing import Annotated, Any

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from langgraph.types import Send
from pydantic import BaseModel

from dialectree import (
    Debate,
    Flow,
    Place,
    Question,
    Ruling,
    ask,
    debate,
    open_part,
    question_for,
    root,
    set_score,
    settle,
)
from tests.inquiry import Settings


class WeigherReply(BaseModel):
    """How much a part counts."""

    reason: str
    weight: float


class Given(Question):
    """What the graph takes."""

    parts: list[str]


class Inquiry(Given, Debate):
    """The debate."""

    id: str
    text: str
    weights: Annotated[dict[str, float], operator.or_]
    answers: Annotated[dict[str, str | None], operator.or_]


def parts(state: Inquiry) -> list[dict[str, Any]]:
    """Return each part with its node."""
    return [{**state, "id": f"{root()}.{n}", "text": text} for n, text in enumerate(state["parts"])]


async def weigher(state: Inquiry, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Weigh one part."""
    node, text = state["id"], state["text"]
    await open_part(runtime, node, text)
    place = Place(node=node, phase="weighing", role="weigher")
    reply = await ask(runtime, place, "tests.inquiry/weigher", WeigherReply, part=text)
    await set_score(runtime, node, weight=reply.weight)
    return {"weights": {node: reply.weight}}


async def settled(state: Inquiry, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Let another protocol debate one part."""
    node, text, context = state["id"], state["text"], runtime.context
    if context.ask_first:
        await weigher(state, runtime)
    if context.by == "none":
        ruled = await settle(runtime, "nothing", node=node)
        return {"answers": {node: ruled["verdict"]["answer"]}}
    given = question_for(context.by, text, options=("Yes", "No"))
    verdict = await debate(runtime, context.by, node=node, text=text, **given)
    return {"answers": {node: verdict.answer}}


async def joined(state: Inquiry, runtime: Runtime[Settings]) -> Ruling:
    """Join the answers."""
    answers = dict(sorted(state["answers"].items()))
    return await settle(runtime, "; ".join(f"{node} {answer}" for node, answer in answers.items()))


def weighed(state: Inquiry, settings: Settings) -> list[Send]:
    """Weigh first, unless each part is weighed where it is debated."""
    step = "settled" if settings.ask_first else "weigher"
    return [Send(step, part) for part in parts(state)]


flow = Flow(Inquiry, settings=Settings, input=Given)
flow.step("weigher", weigher)
flow.step("weights")
flow.step("settled", settled)
flow.step("joined", joined)
flow.route(START, weighed, "weigher", "settled")
flow.then("weigher", "weights")
flow.fan("weights", "settled", parts)
flow.then("settled", "joined", END)
graph = flow.compile("inquiry")
