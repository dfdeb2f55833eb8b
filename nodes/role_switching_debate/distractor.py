"""The wrong option that the model finds most plausible: it stands against the gold answer."""

from __future__ import annotations

from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, BeforeValidator
from typing_extensions import TypedDict

from dialectree.models.door import Place, ask
from dialectree.nodes.answers import letter
from dialectree.nodes.role_switching_debate.candidates import Candidate, texts
from dialectree.nodes.role_switching_debate.state import Settings


class DistractorReply(BaseModel):
    """The letter of one option."""

    label: Annotated[str, BeforeValidator(lambda v: letter(v) if isinstance(v, str) else v)]


class ToDistract(TypedDict):
    """What it is chosen from."""

    id: str
    question: str
    options: list[Candidate]
    gold: str


class Distracting(TypedDict):
    """The choice."""

    distractor: Candidate | None


async def distractor(state: ToDistract, runtime: Runtime[Settings]) -> Distracting:
    """Asks for the most plausible of the wrong options; the right one is not shown."""
    wrong = texts([option for option in state["options"] if option["label"] != state["gold"]])
    reply = await ask(
        runtime,
        Place(state["id"], "debater_a", "direct", 1, who="distractor"),
        "role_switching_debate/distractor",
        DistractorReply,
        ids={"label": [*wrong]},
        max_tokens=200,
        question=state["question"],
        options=wrong,
    )
    return {"distractor": {"label": reply.label, "text": wrong[reply.label]}}
