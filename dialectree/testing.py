"""Test a protocol without a model: a scripted one, and the checks that ours run, too."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.types import Send
from pydantic import BaseModel, PrivateAttr

from dialectree import api, prompts, turns
from dialectree.contests import Replace, Restore
from dialectree.errors import BudgetReached
from dialectree.flow import Graph, Rule
from dialectree.protocol import installed
from dialectree.records import RunRecord


class Asked(NamedTuple):
    """One call: what kind of reply it wants, where in the debate, and all that is shown."""

    kind: str
    node: str
    role: str
    round: int
    take: int
    prompt: str
    phase: str = ""
    speaker: str = ""


Said = BaseModel | str | BaseException
Script = Callable[[Asked], Said]
"""Returns a reply to a call, its raw text, or an error to raise."""


class ScriptedModel(BaseChatModel):
    """Answers each call by ``script``, and keeps what it was asked in ``calls``."""

    script: Script | None = None
    wait: Callable[[Asked], float] | None = None
    """Seconds that a reply takes."""
    _calls: list[Asked] = PrivateAttr(default_factory=list)

    @property
    def calls(self) -> list[Asked]:
        """Every call, in order."""
        return self._calls

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise AssertionError("a debate asks without blocking")

    async def _agenerate(
        self,
        messages: Sequence[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        assert run_manager is not None
        about = run_manager.metadata
        call = Asked(
            kind=str(about["reply"]),
            node=str(about["tree_node"]),
            role=str(about["role"]),
            round=int(about["round"]),
            take=int(about["take"]),
            prompt="\n\n".join(message.text for message in messages),
            phase=str(about.get("phase", "")),
            speaker=str(about.get("speaker", "")),
        )
        self._calls.append(call)
        await asyncio.sleep(self.wait(call) if self.wait else 0)
        said = self._next(call)
        if isinstance(said, BaseException):
            raise said
        content = said if isinstance(said, str) else said.model_dump_json()
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content))])

    def _next(self, call: Asked) -> Said:
        assert self.script is not None, "a scripted model needs a script"
        return self.script(call)


def check_rule(graph: Graph, rule: Rule, state: Mapping[str, Any], settings: Any) -> None:
    """Check that ``rule`` leads to a step of ``graph``, always the same, and changes nothing."""
    arguments = (state, settings) if "settings" in get_type_hints(rule) else (state,)
    before, ways = repr(state), rule(*arguments)
    assert (repr(state), rule(*arguments)) == (before, ways)
    steps = {*graph.get_graph().nodes, "__end__"}
    for way in ways if isinstance(ways, list) else [ways]:
        assert (way.node if isinstance(way, Send) else way) in steps


def check_declaration(name: str) -> None:
    """Check that all a declaration names is there: graphs, drawings, prompts, phases, replies."""
    declared = installed()[name]
    settings = declared.settings()
    for method in declared.methods().values():
        drawing = method.graph().get_graph(xray=True).draw_mermaid()
        assert "__start__" in drawing and "__end__" in drawing
        assert method.graph().context_schema is declared.settings
        words = [prompts.load(p) for f in method.prompts(settings) for p in prompts.names(f)]
        assert words, f"{method.name} has no prompts"
    for phase in declared.phases:
        fields = {field for reply in phase.replies() for field in reply.model_fields}
        assert fields.issuperset({*phase.editable, *phase.switches}), f"{phase.role}: {fields}"


def check_resume(name: str, given: Mapping[str, Any], script: Script, runs: Path) -> None:
    """Check that a run can be broken off after any call: it ends the same, and pays none twice."""
    options: dict[str, Any] = {"runs": runs, "cache": False}
    whole = ScriptedModel(script=script)
    wanted = api.run(name, model=whole, **given, **options).verdict
    for calls in range(1, len(whole.calls)):
        model = ScriptedModel(script=script)
        try:
            api.run(name, model=model, max_calls=calls, **given, **options)
        except BudgetReached as broken_off:
            record = api.resume(str(broken_off.run_id), model=model, runs=runs)
            assert record.verdict == wanted
        assert len(model.calls) == len(whole.calls)


def check_contest(record: RunRecord, script: Script, runs: Path) -> None:
    """Check that every text can be replaced, and that taking it back asks nobody anything."""
    for node in record.tree.nodes.values():
        for turn in node.transcript:
            if not (place := turns.printed(record.protocol, node, turn)):
                continue
            model = ScriptedModel(script=script)
            changed = api.contest(record, [Replace(place, "Other.")], model=model, runs=runs)
            asked = len(model.calls)
            back = api.contest(changed, [Restore(place)], model=model, runs=runs)
            assert (back.verdict, len(model.calls)) == (record.verdict, asked), place
