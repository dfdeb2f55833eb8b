"""Test and show a protocol without a real model: scripted models, recordings, usual checks."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, get_type_hints

import yaml
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.types import Send
from pydantic import BaseModel, PrivateAttr

from dialectree import prompts
from dialectree.contests import Change, Drop, Replace, Restore, Rule
from dialectree.errors import BudgetReached
from dialectree.flow import Graph
from dialectree.flow import Rule as Router
from dialectree.interfaces.agents.agent_tool import as_tool
from dialectree.protocols.protocol import CHECKER, load_protocols, protocol
from dialectree.records import Event, RunRecord, turns
from dialectree.records.folder import RunFolder
from dialectree.running.rehearsal import ReplyMaker, tokens
from dialectree.service import api
from dialectree.system import chance


class Asked(NamedTuple):
    """One call: the class of its reply, its place in the debate, and its messages."""

    kind: str
    node: str
    role: str
    round: int
    take: int
    prompt: str
    phase: str = ""
    speaker: str = ""


Said = BaseModel | str | BaseException
Script = Callable[[Asked], Said | None]
"""Returns a reply to a call, its raw text, or an error to raise. None: the model makes up a reply that
fits the schema, as for the calls of a protocol that debates inside."""


class ScriptedModel(BaseChatModel):
    """Answers each call by ``script``, and keeps all calls in ``calls``.

    In a debate from sources its replies point at the first sentence that they may name, and its
    checker finds that each point is supported.
    """

    script: Script | None = None
    wait: Callable[[Asked], float] | None = None
    """Returns the seconds that a reply takes."""
    _calls: list[Asked] = PrivateAttr(default_factory=list)

    @property
    def calls(self) -> list[Asked]:
        """Return every call, in order."""
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
        reply = self._next(call)
        if isinstance(reply, BaseException):
            raise reply
        content = reply if isinstance(reply, str) else _pointing(reply, call.prompt)
        message = AIMessage(content, usage_metadata=self._usage(call, content))
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _usage(self, call: Asked, reply: str) -> UsageMetadata | None:
        return None

    def _next(self, call: Asked) -> Said:
        assert self.script is not None, "a scripted model needs a script"
        reply = _marks(call) if call.role == CHECKER else self.script(call)
        return _make_up(call) if reply is None else reply


def _make_up(call: Asked) -> str:
    """Return a reply drawn from the schema in the prompt: the same for the same prompt."""
    forms = _read_schemas(call.prompt)
    assert forms, f"the script has no reply for {call.kind} of {call.role}, and no schema is shown"
    maker = ReplyMaker(chance.draws(0, call.prompt), "chance", re.findall(r"\w{2,}", call.prompt), 20)
    return json.dumps(maker.value(forms[0]), ensure_ascii=False)


def _read_schemas(prompt: str) -> list[dict[str, Any]]:
    return [json.loads(text) for text in re.findall(r'^\{"title": .*$', prompt, re.MULTILINE)]


def _marks(call: Asked) -> str:
    """Return the reply of a checker that finds every point supported."""
    names = re.findall(r"^(p\d+): ", call.prompt, re.MULTILINE)
    marks = [{"point": name, "reason": "So they say.", "verdict": "yes"} for name in names]
    return json.dumps({"marks": marks})


def _pointing(reply: BaseModel, prompt: str) -> str:
    """Return ``reply`` as JSON; where it has to point at a sentence, it points at the first one shown."""
    schemas = _read_schemas(prompt)
    reply_fields: dict[str, Any] = reply.model_dump(mode="json")
    properties: dict[str, Any] = schemas[0]["properties"] if schemas else {}
    names = re.findall(r"^\[(e\d+)\] ", prompt, re.MULTILINE)[:1]
    more: dict[str, Any] = {
        "evidence": [{"point": "So it says.", "sentences": names}] if names else [],
        "look_for": [],
        "rests_on": names,
    }
    added = {field: more[field] for field in more.keys() & properties.keys() - reply_fields.keys()}
    for field, form in properties.items():
        items = [form.get("items"), *form.get("prefixItems", ())]
        if any("evidence" in part.get("properties", ()) for part in items if isinstance(part, dict)):
            added[field] = [{"evidence": more["evidence"], **entry} for entry in reply_fields[field]]
    return json.dumps({**reply_fields, **added}, ensure_ascii=False) if added else reply.model_dump_json()


class Illustration(ScriptedModel):
    """Gives replies that a person wrote. Records and reports recognise it by its name."""

    model: str = "written by hand"

    def _usage(self, call: Asked, reply: str) -> UsageMetadata:
        prompt_tokens, answered = tokens(len(call.prompt)), tokens(len(reply))
        return UsageMetadata(
            input_tokens=prompt_tokens, output_tokens=answered, total_tokens=prompt_tokens + answered
        )


def illustrate(script: Path, folder: Path | None = None) -> RunFolder:
    """Debate with the replies written in ``script``; leave the run in ``folder``, without its times.

    The script is YAML: ``protocol``, ``input``, ``settings``, and ``replies`` by node, phase and
    speaker. A speaker is given by role, name and round: ``leaf_debater A 1``. The default folder is the
    protocol's declared ``demo``.
    """
    script_fields: dict[str, Any] = yaml.safe_load(script.read_text(encoding="utf-8"))

    def reply(call: Asked) -> str:
        names = dict.fromkeys((call.role, call.speaker, str(call.round or "")))
        who = " ".join(filter(None, names))
        replies = script_fields["replies"].get(call.node, {}).get(call.phase, {})
        assert who in replies, f"{script}: no reply at {call.node}, {call.phase}, {who}"
        return json.dumps(replies[who], ensure_ascii=False)

    model, options = (Illustration(script=reply), {**script_fields["input"], **script_fields["settings"]})
    with TemporaryDirectory() as runs:
        record = api.run(script_fields["protocol"], model=model, runs=runs, cache=False, **options)
        run = RunFolder.find(record.run_id, Path(runs))
        events, calls = run.events(), run.ledger()
        folder = folder or protocol(script_fields["protocol"]).recording()
        folder.mkdir(parents=True, exist_ok=True)
        recording = RunFolder(folder)
        recording.copy_texts(run)
    record.run_id, record.started, record.ended, record.versions = script.stem, "", "", {}
    record.usage.wall_s = record.usage.embedding_s = 0.0
    recording.write_whole(
        record,
        [_timeless(event, record) for event in events],
        [ledger_call.model_copy(update={"started": "", "ended": ""}) for ledger_call in calls],
    )
    return recording


def _timeless(event: Event, record: RunRecord) -> Event:
    """Return ``event`` without its times, as an event of ``record``."""
    data = {name: value for name, value in event.data.items() if name != "seconds"}
    if event.kind == "ended":
        data["usage"] = record.usage.model_dump(mode="json")
    return event.model_copy(update={"t": "", "run_id": record.run_id, "data": data})


def check_demo(script: Path) -> None:
    """Check that the code still makes the recorded debate of a protocol from its script.

    Parts that run side by side may come in another order.
    """
    script_fields: dict[str, Any] = yaml.safe_load(script.read_text(encoding="utf-8"))
    shipped = RunFolder(protocol(script_fields["protocol"]).recording())
    with TemporaryDirectory() as folder:
        new_recording = illustrate(script, Path(folder))
        assert new_recording.record() == shipped.record()
        assert [event.n for event in shipped.events()] == [*range(1, len(shipped.events()) + 1)]
        assert _dump_without_numbers(new_recording.events()) == _dump_without_numbers(shipped.events())
        assert _dump_sorted(new_recording.ledger()) == _dump_sorted(shipped.ledger())
    assert shipped.record().status == "answered"
    assert not any(call.repair for call in shipped.ledger())


def _dump_without_numbers(events: Sequence[Event]) -> list[str]:
    return _dump_sorted([event.model_copy(update={"n": 0}) for event in events])


def _dump_sorted(lines: Sequence[BaseModel]) -> list[str]:
    return sorted(line.model_dump_json() for line in lines)


def check_rule(graph: Graph, rule: Router, state: Mapping[str, Any], settings: Any) -> None:
    """Check that ``rule`` always leads to one step of ``graph``, and does not change the state."""
    arguments = (state, settings) if "settings" in get_type_hints(rule) else (state,)
    before, targets = repr(state), rule(*arguments)
    assert (repr(state), rule(*arguments)) == (before, targets)
    steps = {*graph.get_graph().nodes, "__end__"}
    for target in targets if isinstance(targets, list) else [targets]:
        assert (target.node if isinstance(target, Send) else target) in steps


def check_declaration(name: str) -> None:
    """Check that all parts named in a declaration exist: graphs, drawings, prompts, phases, replies."""
    declared = load_protocols()[name]
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


def check_protocol(
    name: str, given: Mapping[str, Any], script: Script, runs: Path, **settings: Any
) -> RunRecord:
    """Check all features that a protocol gets by its declaration, and return the record of a run.

    The features are the declaration (which must not import LangGraph), the estimate, the run and its
    reports, the agent's tool, a contest of each turn and verdict, and resuming after any call.
    """
    check_declaration(name)
    check_light(name)
    model, options = ScriptedModel(script=script), {"cache": False, **given, **settings}
    expected = api.estimate(name, model=model, **options)
    record = api.run(name, model=model, runs=runs, **options)
    assert record.status == "answered" and record.verdict is not None
    assert expected.calls.least <= len(model.calls) <= expected.calls.most, expected
    files = [Path(source).parent for source in given.get("sources", ()) if isinstance(source, str | Path)]
    tool = as_tool(name, model=model, runs=None, files_from=files, cache=False, **settings)
    tool_reply: str = tool.invoke({**given})
    assert record.verdict.probability is not None or str(record.verdict.answer) in tool_reply
    report = (api.load(record.run_id, runs=runs).path / "report.md").read_text(encoding="utf-8")
    for node in record.tree.nodes.values():
        for turn in node.transcript:
            assert turns.find_contestable_name(record, node, turn) in report
    check_contest(record, script, runs)
    check_resume(name, {**given, **settings}, script, runs)
    return record


def check_light(name: str) -> None:
    """Check that importing a declaration imports neither LangGraph nor LangChain."""
    module = protocol(name).settings.__module__
    code = f"import {module}, sys; print(*{{m.partition('_')[0] for m in sys.modules}})"
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, env=path, text=True)
    assert ran.returncode == 0, ran.stderr
    assert not {"langgraph", "langchain"}.intersection(ran.stdout.split())


def check_resume(name: str, given: Mapping[str, Any], script: Script, runs: Path) -> None:
    """Check that a run can be interrupted after any call: it ends the same, and no call is paid twice."""
    options: dict[str, Any] = {"runs": runs, "cache": False}
    reference_model = ScriptedModel(script=script)
    expected_verdict = api.run(name, model=reference_model, **given, **options).verdict
    for calls in range(1, len(reference_model.calls)):
        model = ScriptedModel(script=script)
        try:
            api.run(name, model=model, max_calls=calls, **given, **options)
        except BudgetReached as broken_off:
            record = api.resume(str(broken_off.run_id), model=model, runs=runs)
            assert record.verdict == expected_verdict
        assert len(model.calls) == len(reference_model.calls)


def check_contest(record: RunRecord, script: Script, runs: Path) -> None:
    """Check that every turn and ruling can be changed, and that undoing a change makes no calls.

    Texts are replaced, optional turns dropped, and the answers of rulings changed.
    """
    for node in record.tree.nodes.values():
        changes: list[Change] = []
        for turn in node.transcript:
            phase = turns.find_declared_phase(record, turn)
            if place := turns.find_contestable_name(record, node, turn):
                changes.append(Replace(place, "Other."))
                changes += [Drop(place)] if phase is not None and phase.optional else []
            if phase is not None and phase.rules == "text":
                changes.append(Rule(node.id, "Another answer."))
        for change in dict.fromkeys(changes):
            model = ScriptedModel(script=script)
            changed = api.contest(record, [change], model=model, runs=runs)
            if change.change == "verdict":
                ruled = changed.tree.nodes[node.id].verdict
                assert ruled is not None and ruled.answer == change.text, change
            call_count = len(model.calls)
            back = api.contest(changed, [Restore(change.id)], model=model, runs=runs)
            assert (back.verdict, len(model.calls)) == (record.verdict, call_count), change
