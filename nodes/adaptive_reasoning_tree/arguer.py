"""The supporter and the attacker of an argument tree: one generator, two personas.

ART, section 3.1. One call gives all the arguments of a side (the paper asks for one at a time).
"""

from __future__ import annotations

from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.context import settings
from dialectree.flow import Step
from dialectree.models.door import Place, ask
from dialectree.nodes.adaptive_reasoning_tree.arguments import Stance
from dialectree.nodes.adaptive_reasoning_tree.state import Draft, Growth, Settings

_ROLES = {"support": "supporter", "attack": "attacker"}


class ArgumentText(BaseModel):
    """One argument; an empty text is none."""

    n: str
    text: Annotated[str, Field(max_length=3000)]


class ArgumentsReply(BaseModel):
    """The arguments of one side."""

    arguments: list[ArgumentText]


def arguer(stance: Stance) -> Step:
    """Return the role that gives all the arguments of one side."""

    async def arguer(state: Growth, runtime: Runtime[Settings]) -> dict[str, list[Draft]]:
        if not state["argued"]:
            return {"drafts": []}
        places = range(settings(runtime, Settings).breadth)
        return {"drafts": await _drafts(state, runtime, stance, [*places], 1)}

    return arguer


def arguer_again(stance: Stance) -> Step:
    """Return the role that gives other arguments in place of near-duplicates."""

    async def arguer_again(state: Growth, runtime: Runtime[Settings]) -> dict[str, list[Draft]]:
        places = state["again"][stance]
        return {"drafts": await _drafts(state, runtime, stance, places, 2)}

    return arguer_again


async def _drafts(
    state: Growth, runtime: Runtime[Settings], stance: Stance, places: list[int], round_: int
) -> list[Draft]:
    role = _ROLES[stance]
    numbers = [str(n) for n in range(1, len(places) + 1)]
    own = [draft for draft in state["drafts"] if draft["stance"] == stance and draft["text"]]
    reply = await ask(
        runtime,
        Place(state["id"], role, "generation", round_ - 1, round_, side=stance),
        f"adaptive_reasoning_tree/{role}",
        ArgumentsReply,
        ids={"arguments.n": numbers},
        max_tokens=512 * len(places),
        parent=state["text"],
        path=state["path"],
        count=len(places),
        arguments=[draft["text"] for draft in own],
    )
    said = {argument.n: _words(argument.text) for argument in reply.arguments}
    return [
        {"stance": stance, "place": place, "text": said[n], "round": round_}
        for n, place in zip(numbers, places, strict=True)
    ]


def _words(text: str) -> str:
    """Return ``text`` without its outer blanks; nothing where it has no word, as in a dash."""
    return text.strip() if any(character.isalnum() for character in text) else ""
