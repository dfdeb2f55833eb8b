"""The supporter and the attacker of an argument tree: one generator, two personas.

ART, section 3.1. One call gives all the arguments of a side (the paper asks for one at a time).
"""

from __future__ import annotations

from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.flow import Step
from dialectree.models.door import ask
from dialectree.nodes.adaptive_reasoning_tree.arguments import Stance
from dialectree.nodes.adaptive_reasoning_tree.state import Draft, Growth, Settings
from dialectree.protocols.settings import settings
from dialectree.records import Turn


class ArgumentText(BaseModel):
    """One argument; an empty text is none."""

    n: str
    text: Annotated[str, Field(max_length=3000)]


class ArgumentsReply(BaseModel):
    """The arguments of one side."""

    arguments: list[ArgumentText]


def arguer(stance: Stance, *, again: bool = False) -> Step:
    """Return the role that gives all the arguments of one side.

    With ``again`` it gives other arguments in place of near-duplicates.
    """
    role = "supporter" if stance == "support" else "attacker"

    async def arguer(state: Growth, runtime: Runtime[Settings]) -> dict[str, list[Draft]]:
        if not state["argued"]:
            return {"drafts": []}
        breadth = settings(runtime, Settings).breadth
        places = state["again"][stance] if again else [*range(breadth)]
        own = [draft["text"] for draft in state["drafts"] if draft["stance"] == stance]
        reply = await ask(
            runtime,
            Turn(
                node=state["id"],
                phase="generation",
                role=role,
                round=1 + again,
                step=int(again),
                side=stance,
            ),
            f"adaptive_reasoning_tree/{role}",
            ArgumentsReply,
            ids={"arguments.n": [str(n) for n, _ in enumerate(places, 1)]},
            max_tokens=512 * len(places),
            parent=state["text"],
            path=state["path"],
            count=len(places),
            arguments=[text for text in own if text],
        )
        texts = {argument.n: argument.text.strip() for argument in reply.arguments}
        drafts: list[Draft] = []
        for n, place in enumerate(places, 1):
            worded = any(character.isalnum() for character in texts[str(n)])  # no mere dash
            text = texts[str(n)] if worded else ""
            drafts.append({"stance": stance, "place": place, "text": text})
        return {"drafts": drafts}

    return arguer
