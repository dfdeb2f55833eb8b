"""A middleware for LangChain's agents that verifies an answer before the user gets it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, get_args

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain.agents.middleware.types import OmitFromInput
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from dialectree.errors import InputError
from dialectree.interfaces.agents.agent_tool import on_the_stream, open_runs_folder
from dialectree.interfaces.agents.claims import ClaimVerifier, Finding, verifying_method
from dialectree.protocols.sources import DEFAULT_RUNS
from dialectree.running.held_run import Watch
from dialectree.service import api
from dialectree.service.debates import Debates
from dialectree.system.loop import wait_for
from dialectree.text import figure

Action = Literal["block", "revise", "mark"]
"""The action on an answer with a claim that does not pass."""
FEEDBACK = "claim_gate"
"""The name of the messages that tell the agent's model the findings."""


class GateState(AgentState[Any]):
    """The state of an agent with a gate."""

    claim_findings: NotRequired[Annotated[list[dict[str, Any]], OmitFromInput]]
    """A :class:`Finding` for each claim of the newest answer."""


class ClaimGate(AgentMiddleware[GateState, Any, Any]):
    """Verifies each claim of an agent's final answer by a protocol that gives a probability.

    If a claim is less probable than ``min``, the answer is replaced by a refusal that names the
    claims (``block``), sent back to the agent's model with the findings (``revise``), or followed
    by a list of all claims with their probabilities (``mark``). An answer that still fails after
    ``rounds`` revisions is blocked. The findings are in the agent's state, as ``claim_findings``.

    Args:
        min: The least probability with which a claim passes.
        action: The action on an answer with a claim below ``min``.
        rounds: How often one answer may be revised.
        method: The method that verifies claims. None: the protocol that gives a probability.
        runs: The folder of all runs, one for each claim; by default DIALECTREE_RUNS or ``runs``.
            None: the runs are not kept.
        watch: A function that gets every event as it happens.
        settings: Settings of the verification, such as ``model`` or ``max_calls``. Budgets are
            per answer. Wrong settings raise an error before the first answer.

    Example:
        >>> from langchain.agents import create_agent
        >>> gate = dialectree.ClaimGate(min=0.8, action="revise")
        >>> agent = create_agent("openai:gpt-4.1-mini", middleware=[gate])
    """

    state_schema = GateState

    def __init__(
        self,
        *,
        min: float = 0.7,
        action: Action = "block",
        rounds: int = 2,
        method: str | None = None,
        runs: str | Path | None = DEFAULT_RUNS,
        watch: Watch | None = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        if not 0 <= min <= 1:
            raise InputError(f"min is a probability from 0 to 1, not {min!r}")
        if action not in get_args(Action):
            raise InputError(f"action is one of {', '.join(get_args(Action))}, not {action!r}")
        if rounds < 0:
            raise InputError(f"rounds is a number of revisions, 0 or more, not {rounds!r}")
        self._method, remarks = verifying_method(method), list[str]()
        self._context = Debates(Path()).configure(self._method, settings, remarks.append)
        for remark in remarks:
            api.warn(remark)
        self._min, self._action, self._rounds = min, action, rounds
        self._runs, self._watch = runs, watch

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: GateState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Run :meth:`aafter_agent` in programs without an event loop."""
        return wait_for(self.aafter_agent(state, runtime))

    @hook_config(can_jump_to=["model"])
    async def aafter_agent(self, state: GateState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Verify the answer, and block it, send it back or mark it if a claim does not pass."""
        answer = state["messages"][-1]
        if not isinstance(answer, AIMessage) or not answer.text.strip():
            return None
        findings = await self._findings(answer.text)
        update: dict[str, Any] = {"claim_findings": [finding.model_dump() for finding in findings]}
        failed = [finding for finding in findings if not finding.passed]
        if not failed:
            return update
        if self._action == "revise" and _revisions(state["messages"]) < self._rounds:
            feedback = HumanMessage(self._feedback(failed), name=FEEDBACK)
            return {**update, "messages": [feedback], "jump_to": "model"}
        text = self._refusal(failed)
        if self._action == "mark":
            text = f"{answer.text}\n\nClaims, each with its probability:\n{_format_findings(findings)}"
        # A message with the id of an earlier message replaces it.
        return {**update, "messages": [AIMessage(text, id=answer.id)]}

    async def _findings(self, text: str) -> list[Finding]:
        verifier = ClaimVerifier(self._method, self._context, self._min)
        claims = await verifier.split(text)
        async with open_runs_folder(self._runs) as folder:
            findings = await verifier.verify(claims, folder, on_the_stream(self._watch))
        if verifier.fault is not None:
            raise verifier.fault
        return findings

    def _feedback(self, failed: Sequence[Finding]) -> str:
        return (
            f"These claims of your answer are not probable enough (at least {self._min:g}):\n"
            f"{_format_findings(failed, reasons=True)}\n"
            "Write the whole answer again. Correct these claims, or leave them out. Do not mention "
            "that the answer was checked."
        )

    def _refusal(self, failed: Sequence[Finding]) -> str:
        return (
            "The answer is withheld: some of its claims are not probable enough "
            f"(at least {self._min:g}).\n{_format_findings(failed)}"
        )


def _revisions(messages: Sequence[AnyMessage]) -> int:
    """Return how often the answer to the user's last message was sent back."""
    count = 0
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            if message.name != FEEDBACK:
                break
            count += 1
    return count


def _format_findings(findings: Sequence[Finding], *, reasons: bool = False) -> str:
    """Return a line for each claim, with its probability and the id of its run."""
    lines = []
    for finding in findings:
        mark = "✓" if finding.passed else "✗"
        why = f" {finding.reason}" if reasons and finding.reason else ""
        lines.append(f"{mark} {figure(finding.probability)} {finding.claim}{why} (run {finding.run})")
    return "\n".join(lines)
