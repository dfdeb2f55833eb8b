"""The synthesiser of a two-round debate: the best of what was said, as one answer."""

from __future__ import annotations

from langgraph.runtime import Runtime

from dialectree.models.door import Place, ask
from dialectree.nodes.tree_structured_debate.answerer import AnswererReply, settled
from dialectree.nodes.tree_structured_debate.state import Settings, TwoRound
from dialectree.state import Ruling


async def synthesiser(state: TwoRound, runtime: Runtime[Settings]) -> Ruling:
    """Read the whole exchange and answer the question."""
    reply = await ask(
        runtime,
        Place("0", "synthesiser", "answer", 0),
        "two_round/synthesiser",
        AnswererReply,
        max_tokens=1200,
        question=state["question"],
        transcript=state["transcript"],
    )
    return settled(reply, "synthesiser", runtime)
