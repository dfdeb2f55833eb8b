"""The last step of every protocol: telling what was ruled, or that nothing could be."""

from __future__ import annotations

from langgraph.runtime import Runtime

from dialectree.context import Context
from dialectree.events import tell
from dialectree.nodes.kinds import Node
from dialectree.state import Ruling


def conclusion(confidence_source: str) -> Node[Ruling, Ruling]:
    """Tells of the verdict; ``confidence_source`` says whose figure the confidence is."""

    async def conclusion(state: Ruling, runtime: Runtime[Context]) -> Ruling:
        verdict = state["verdict"]
        source = None if verdict["confidence"] is None else confidence_source
        tell(runtime, "0", "concluded", {**verdict, "confidence_source": source})
        return {"verdict": verdict}

    return conclusion
