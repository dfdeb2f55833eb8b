"""The supporter and the attacker of an argument tree: one generator, two personas.

ART, section 3.1. One call gives all the arguments of a side (the paper asks for one at a time).
"""

from __future__ import annotations

import operator
from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from dialectree.context import Context, settings
from dialectree.models.door import Place, ask
from dialectree.nodes.adaptive_reasoning_tree.arguments import Stance
from dialectree.nodes.kinds import Node

_ROLES = {"support": "supporter", "attack": "attacker"}


class ArgumentText(BaseModel):
    """One argument; an empty text is none."""

    n: str
    text: Annotated[str, Field(max_length=3000)]


class ArgumentsReply(BaseModel):
    """The arguments of one side."""

    arguments: list[ArgumentText]


class Draft(TypedDict):
    """What a side wrote at one place."""

    stance: Stance
    place: int
    """0 to breadth - 1."""
    text: str
    """Empty where the side has no (further) honest argument."""
    round: int
    """1, or 2 where it replaces a near-duplicate."""


class Drafts(TypedDict):
    """What a side leaves."""

    drafts: Annotated[list[Draft], operator.add]


class ToArgue(Drafts):
    """What a side reads."""

    id: str
    text: str
    """The claim or argument that it argues about."""
    path: list[str]
    """The claim and the arguments from it down to the parent of ``text``; none at the claim."""
    again: dict[Stance, list[int]]
    """Places of near-duplicates, which are asked for again."""


def arguer(stance: Stance) -> Node[ToArgue, Drafts]:
    """All the arguments of one side, side by side with the other's."""

    async def arguer(state: ToArgue, runtime: Runtime[Context]) -> Drafts:
        places = range(settings(runtime).breadth)
        return {"drafts": await _drafts(state, runtime, stance, [*places], 1)}

    return arguer


def arguer_again(stance: Stance) -> Node[ToArgue, Drafts]:
    """Other arguments in place of near-duplicates; asked for once."""

    async def arguer_again(state: ToArgue, runtime: Runtime[Context]) -> Drafts:
        places = state["again"][stance]
        return {"drafts": await _drafts(state, runtime, stance, places, 2)}

    return arguer_again


async def _drafts(
    state: ToArgue, runtime: Runtime[Context], stance: Stance, places: list[int], round_: int
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
    """``text`` without its outer blanks; nothing where it has no word, as in a dash."""
    return text.strip() if any(character.isalnum() for character in text) else ""
