"""The leaf debaters: A and B defend opposing answers to one question, turn by turn."""

from __future__ import annotations

from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.flow import Step
from dialectree.maths.tree import turn_tokens, words
from dialectree.models.door import ask
from dialectree.nodes.tree_structured_debate.sides import CHOSEN, Debater, side
from dialectree.nodes.tree_structured_debate.state import LeafDebate, Settings, Statement
from dialectree.protocols.protocol import WITHDRAWN
from dialectree.protocols.settings import settings
from dialectree.records import Turn

_Text = Annotated[str, Field(min_length=1, max_length=1600)]


class OpeningReply(BaseModel):
    """The very first turn: there is nothing to rebut yet."""

    claim: _Text
    support: _Text


class DebaterReply(OpeningReply):
    """Every later turn."""

    rebuttal: _Text


def leaf_debater(name: Debater) -> Step:
    """Return debater ``name``, who defends the side that the question and the draw leave to it.

    A debater who chooses its answer itself is held to its first claim in later rounds.
    """

    async def leaf_debater(
        state: LeafDebate, runtime: Runtime[Settings]
    ) -> dict[str, list[Statement]]:
        context, transcript = settings(runtime, Settings), state["transcript"]
        node, take, question = state["id"], state["take"], state["question"]
        round_, limit = len(transcript) // 2 + 1, turn_tokens(state["depth"])
        defends = side(context.seed, node, take, question, name)
        claims = [turn["claim"] for turn in transcript if turn["debater"] == name]
        binding = [claim for claim in claims if claim != WITHDRAWN and defends in CHOSEN]
        reply = await ask(
            runtime,
            Turn(
                node=node,
                phase="debate",
                role="leaf_debater",
                speaker=name,
                round=round_,
                step=len(transcript),
                take=take,
                side=defends,
            ),
            "tree_structured_debate/leaf_debater",
            DebaterReply if transcript else OpeningReply,
            max_tokens=4 * limit,
            who=name,
            side=defends,
            opening=not transcript,
            question=question,
            path=state["path"],
            facts=state["facts"],
            unclear=state["unclear"],
            transcript=transcript,
            first_claim=binding[0] if binding else None,
            word_limit=words(limit),
            round=round_,
            rounds=context.leaf_rounds,
        )
        statement: Statement = {
            "debater": name,
            "round": round_,
            "claim": reply.claim,
            "support": reply.support,
            "rebuttal": reply.rebuttal if isinstance(reply, DebaterReply) else "",
        }
        return {"transcript": [statement]}

    return leaf_debater
