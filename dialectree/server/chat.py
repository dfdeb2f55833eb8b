"""Chat with a protocol: messages go in, and one message comes out.

:func:`chat_graph` makes the graph of one protocol out of its declaration. Every installed protocol
has one in this module, called after it (``NAME_chat``), which a project file can name. docs/chat.md
says what a person can write.
"""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langgraph.channels import EphemeralValue
from langgraph.errors import GraphInterrupt
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.runtime import Runtime
from pydantic import Field
from typing_extensions import TypedDict

from dialectree.contests import parse
from dialectree.contests import start as contesting
from dialectree.errors import Halted, InputError, RunNotFound
from dialectree.flow import Graph
from dialectree.flow.human_input import Ask, Payload, interrupted, payload_of
from dialectree.flow.state import VerdictFields
from dialectree.protocols.protocol import Method, ProtocolInput, installed, protocol
from dialectree.protocols.settings import ProtocolSettings, settings
from dialectree.protocols.sources import runs_home
from dialectree.records import RunRecord, path_key
from dialectree.records.folder import RunFolder
from dialectree.report.markdown_text import block_quote, bold, escaped, readable
from dialectree.report.pages import macros
from dialectree.running.hosted import keeping
from dialectree.running.runner import Started, again, leave_reports, prepared
from dialectree.service.fields import arguments, in_python
from dialectree.trace.tracing import ChatGraph, show

KEY = "dialectree"
"""Where a message's ``response_metadata`` has what a program reads."""
HELP = """\
- A question begins a debate.{inputs}
- `why?` shows what the last answer rests on, and `why 0.1?` all that was said at one place.
- `contest 0.1/A2: text` lets a turn say something else and does again what depends on it. Other \
changes: `contest verdict 0.1: text`, `contest drop 0.1/A2`, `contest restore 0.1/A2`; where \
arguments are weighed also `contest set 0.1=0.3`, `contest flip 0.0:0.1`, `contest void 0.0:0.1` \
and `contest add support:0: text`."""

ANSWERING = "*Your next message is the answer; `-` gives none.*"

Todo = Literal["debate", "person", "hearing", "explanation", "contest", "nothing"]

_WHY = re.compile(r"why(?:\s+(?P<node>\d+(?:\.\d+)*)\S*?)?\s*\??", re.IGNORECASE)
_CONTEST = re.compile(
    r"contest\s+(?:(?P<change>[a-z]+)\s+)?(?P<where>\S+?)(?::\s+(?P<text>.+))?",
    re.IGNORECASE | re.DOTALL,
)
_OPTION = re.compile(r"\s*(?:[-*•]|\w{1,2}[).]|option:)\s+(?P<text>\S.*)", re.IGNORECASE)
_RUN_ID = re.compile(r"[\w-]+")
_typed_dict: Any = TypedDict


def chat_graph(name: str) -> Graph:
    """Return the chat with the protocol called ``name``."""
    declared = protocol(name)
    chosen = declared.methods()[name]
    sent = _sent(declared.input)
    messages = {"messages": Annotated[list[AnyMessage], add_messages]}
    answer: dict[str, Any] = {"verdict": VerdictFields, "run_id": str}
    own: dict[str, Any] = {"record": dict[str, Any], "given": dict[str, Any] | None, "todo": Todo}
    own["said"] = str
    title = f"{name}_chat"
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(
        _typed_dict(title, {**messages, **sent, **answer, **own}, total=False),
        context_schema=declared.settings,
        input_schema=_typed_dict(f"{title}_input", {**messages, **sent}, total=False),
        output_schema=_typed_dict(f"{title}_output", {**messages, **answer}, total=False),
    )
    builder.add_node("reading", _reading(title, chosen, [*sent]))
    builder.add_node("debate", _debate(title, chosen))
    builder.add_node("person", _person)
    builder.add_node("hearing", _hearing(title))
    builder.add_node("explanation", _explanation(title))
    builder.add_node("contest", _contest(title))
    builder.add_edge(START, "reading")
    builder.add_conditional_edges("reading", after_reading)
    for step in ("debate", "hearing"):
        builder.add_conditional_edges(step, after_debate)
    builder.add_edge("person", "hearing")
    for step in ("explanation", "contest"):
        builder.add_edge(step, END)
    graph: Graph = builder.compile(name=title)
    show(graph, ChatGraph)
    return graph


def after_reading(
    state: Any,
) -> Literal["debate", "person", "hearing", "explanation", "contest", "__end__"]:
    """Do what the message asks for; end where the reply stands already."""
    todo: Todo = state["todo"]
    return "__end__" if todo == "nothing" else todo


def after_debate(state: Any) -> Literal["person", "__end__"]:
    """Stop for a person if the debate asked one."""
    return "person" if state["todo"] == "person" else "__end__"


# Reading a message


def _reading(title: str, chosen: Method, names: Sequence[str]) -> Callable[..., Any]:
    declared = chosen.protocol

    async def reading(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Read the last message; reply where it is no question that can be debated."""
        if (asked := _asked(state["messages"])) is not None:
            return _heard(asked)
        turn = _turn(state["messages"])
        text = turn[-1].text.strip() if turn else ""
        attached = any(True for message in turn[-1:] for _ in _attachments(message))
        if text.casefold() in ("", "help", "?") and not attached:
            return _reply(title, _help(declared.input))
        if _WHY.fullmatch(text):
            return _for_a_run(title, state, "explanation")
        if f"{text.casefold()} ".startswith("contest "):
            return _for_a_run(title, state, "contest")
        sent = {name: state[name] for name in names if state.get(name) is not None}
        context = settings(runtime, declared.settings)
        try:
            inputs = _inputs(declared.input, turn, sent)
            if missing := _missing(declared.input, inputs):
                return _reply(title, missing, missing=True)
            given = await asyncio.to_thread(prepared, chosen, inputs, context)  # it reads papers
        except InputError as error:
            return _reply(title, in_python(str(error)))
        return {"todo": "debate", "given": given}

    return reading


def _reply(title: str, text: str, **about: Any) -> dict[str, Any]:
    """Return the update that ends a turn without a debate; ``about`` is for programs."""
    message = AIMessage(text, name=title, response_metadata={KEY: about})
    return {"messages": [message], "todo": "nothing", "given": None}


def _for_a_run(title: str, state: Any, todo: str) -> dict[str, Any]:
    """Return the update that leads to ``todo`` about the last run of the thread."""
    if not (run_id := _run_id(state)):
        return _reply(title, "There is no answer in this thread yet: begin with a question.")
    return {"todo": todo, "given": None, "run_id": run_id}


def _run_id(state: Any) -> str:
    """Return the id of the thread's last run; of a host that keeps messages alone, from these."""
    for message in reversed(state["messages"]):
        if run_id := _about(message).get("run_id"):
            return str(run_id)
    return str(state.get("run_id") or "")


class _Asked(NamedTuple):
    """What a chat asks a person."""

    request: Payload
    run_id: str
    replies: Sequence[HumanMessage]
    """The person's messages since."""


def _asked(messages: Sequence[BaseMessage]) -> _Asked | None:
    """Return what the last message of ours asks a person, if it does."""
    for n, message in reversed([*enumerate(messages)]):
        if about := _about(message):
            replies = [one for one in messages[n + 1 :] if isinstance(one, HumanMessage)]
            request = about.get("asked")
            return request and _Asked(request, str(about["run_id"]), replies)
    return None


def _heard(asked: _Asked) -> dict[str, Any]:
    """Return the update that takes the person's message as the answer."""
    update: dict[str, Any] = {"given": None, "run_id": asked.run_id}
    if not asked.replies:
        return {**update, "todo": "person"}
    said = asked.replies[-1].text.strip()
    return {**update, "todo": "hearing", "said": "" if said == "-" else said}


def _about(message: BaseMessage) -> Mapping[str, Any]:
    """Return what a message of ours says to programs."""
    about = message.response_metadata.get(KEY)
    return about if isinstance(about, Mapping) else {}


def _turn(messages: Sequence[BaseMessage]) -> list[HumanMessage]:
    """Return the person's last message, after those that we asked to complete."""
    turn: list[HumanMessage] = []
    wanted = True
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            if not wanted:
                break
            turn.insert(0, message)
            wanted = False
        elif isinstance(message, AIMessage) and turn:
            wanted = bool(_about(message).get("missing"))
            if not wanted:
                break
    return turn


def _inputs(
    kind: type[ProtocolInput], turn: Sequence[HumanMessage], sent: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the protocol's input: what the client sent by name, then what the messages hold.

    Lines that begin like a list are the options, attached files are the papers, and the rest of the
    text is the question. A text completes what is missing; it replaces nothing.
    """
    texts, lists, papers = _fields(kind)
    if wrong := [name for name in papers if not isinstance(sent.get(name, {}), Mapping)]:
        raise InputError(f"{wrong[0]}: attach the file; a name or a path is not read here")
    inputs = {**sent}
    for message in turn:
        lines = message.text.splitlines()
        options = [found["text"].strip() for found in map(_OPTION.fullmatch, lines) if found]
        if lists and options:
            inputs.setdefault(lists[0], options)
            lines = [line for line in lines if not _OPTION.fullmatch(line)]
        files = [*_attachments(message)]
        empty = [name for name in papers if name not in inputs]
        inputs |= zip(empty, files, strict=False)
        if left := files[len(empty) :]:
            raise InputError(f"{left[0]['name']}: a debate takes {len(papers)} attached files")
        text = "\n".join(lines).strip()
        if text and (unasked := [name for name in texts if name not in inputs]):
            inputs[unasked[0]] = text
    return inputs


def _fields(kind: type[ProtocolInput]) -> tuple[list[str], list[str], list[str]]:
    """Return the required texts of an input, its lists of texts, and what a file can give."""
    fields = arguments(kind).model_fields
    types = {
        name: {field.annotation, *get_args(field.annotation)} for name, field in fields.items()
    }
    papers = [name for name, parts in types.items() if Path in parts]
    lists = [name for name, parts in types.items() if list[str] in parts]
    texts = [name for name, field in fields.items() if field.is_required()]
    return [name for name in texts if name not in {*papers, *lists}], lists, papers


def _sent(kind: type[ProtocolInput]) -> dict[str, Any]:
    """Return the input that a client may send beside its messages, as fields of a state.

    Each holds for one question.
    """
    fields, (_, _, papers) = arguments(kind).model_fields, _fields(kind)
    types: dict[str, Any] = {name: field.annotation for name, field in fields.items()}
    types |= dict.fromkeys(papers, dict[str, Any])  # a path would name a file of the server
    return {
        name: Annotated[types[name], Field(description=field.description), EphemeralValue]
        for name, field in fields.items()
    }


def _attachments(message: HumanMessage) -> Iterator[dict[str, str]]:
    """Yield name and content of each file in a message, in the shapes that clients send."""
    blocks = message.content if isinstance(message.content, list) else []
    for number, block in enumerate(blocks, 1):
        file: Mapping[str, Any] = block if isinstance(block, Mapping) else {}
        match file:
            case {"type": "file" | "text-plain", "text": str(text)}:
                data = b64encode(text.encode()).decode()
            case {"type": "file", "base64": str(data)} | {"type": "file", "data": str(data)}:
                pass
            case {"type": "file", "file": {"file_data": str(url)}}:
                data, file = url.partition("base64,")[2], file["file"]
            case _:
                continue
        extras = file.get("metadata") or file.get("extras") or {}
        name = extras.get("filename") or file.get("filename") or file.get("title")
        yield {"name": PurePath(str(name or f"file {number}")).name, "base64": data}


def _missing(kind: type[ProtocolInput], inputs: Mapping[str, Any]) -> str:
    """Return a request for what the protocol cannot do without; empty where nothing is missing."""
    _, lists, papers = _fields(kind)
    lines: list[str] = []
    for name, field in kind.model_fields.items():
        if field.is_required() and name not in inputs:
            how = " Write one a line, each after a dash." if name in lists else ""
            what = f"{(field.description or name).partition('; -')[0].removesuffix('.')}.{how}"
            what = "Attach its file." if name in papers else what
            lines.append(f"- **{name.replace('_', ' ')}**: {what}")
    return "\n".join(["Before a debate can begin, this is missing:", "", *lines]) if lines else ""


def _help(kind: type[ProtocolInput]) -> str:
    """Return what a person can write."""
    _, lists, papers = _fields(kind)
    inputs = " Write each option on a line of its own, after a dash." if lists else ""
    inputs += f" Attach {len(papers)} files, and write what they are about." if papers else ""
    return HELP.format(inputs=inputs)


# Answering it


def _debate(title: str, chosen: Method) -> Callable[..., Any]:
    async def debate(state: Any) -> dict[str, Any]:
        """Debate the question, until a person is asked."""
        graph = await asyncio.to_thread(chosen.graph)
        outcome: dict[str, Any] = {}
        names = ["record", "verdict", "run_id"]
        try:
            with keeping(runs_home()):
                async for values in graph.astream(
                    state["given"], stream_mode="values", output_keys=names
                ):
                    outcome = values
        except GraphInterrupt as stop:
            requests = [payload_of(one.value) for one in stop.args[0]]
            first = min(requests, key=lambda request: path_key(request["node"]))
            return _question(title, first, outcome["run_id"])
        return _answered(title, RunRecord.model_validate(outcome["record"]))

    return debate


def _question(title: str, request: Payload, run_id: str) -> dict[str, Any]:
    """Return the update that asks a person; the message is there before the chat stops."""
    transcript = request.get("transcript")
    parts = [
        bold(request["question"]),
        *([block_quote(transcript)] if transcript else []),
        escaped(request["request"]),
        ANSWERING,
    ]
    reply = _reply(title, readable("\n\n".join(parts)), run_id=run_id, asked={**request})
    return {**reply, "todo": "person", "run_id": run_id}


async def _person(state: Any) -> dict[str, Any]:
    """Stop for the person, whose answer comes here unless it is the thread's next message."""
    asked = _asked(state["messages"])
    assert asked is not None
    return {"said": interrupted(asked.request)}


def _hearing(title: str) -> Callable[..., Any]:
    async def hearing(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Go on with the debate, which hears what the person said, until it asks again."""
        before, said, asked = _asked(state["messages"]), [str(state["said"])], list[Payload]()
        assert before is not None

        def ask(request: Payload) -> str:
            if said and {**request, "request": ""} == {**before.request, "request": ""}:
                return said.pop()
            asked.append(request)
            raise Halted("a person is asked in the chat")

        try:
            folder = await asyncio.to_thread(_folder, before.run_id, runtime)
            run = await asyncio.to_thread(again, folder, _live(runtime.context))
        except (InputError, RunNotFound) as error:
            return _reply(title, in_python(str(error)))
        try:
            await _conducted(run, runtime, ask)
        except Halted:
            if not asked:
                raise
            return _question(title, asked[0], before.run_id)
        return _answered(title, run.record)

    return hearing


async def _conducted(run: Started, runtime: Runtime[Any], ask: Ask | None = None) -> None:
    """Conduct a run; tell the chat's host what happens."""
    write = runtime.stream_writer
    try:
        await run.conduct(ask, watch=lambda event: write(event.model_dump(mode="json")))
    finally:
        await asyncio.to_thread(leave_reports, run.folder, run.record)


def _answered(title: str, record: RunRecord) -> dict[str, Any]:
    """Return the update that ends a turn with the outcome of a run."""
    plain = record.model_dump(mode="json")
    about = {name: plain[name] for name in ("run_id", "method", "status", "verdict")}
    reply = _reply(title, readable(macros(record)("answer")), **about)
    return {**reply, "verdict": plain["verdict"], "run_id": record.run_id, "record": plain}


def _explanation(title: str) -> Callable[..., Any]:
    async def explanation(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Show what the last answer rests on, or all that was said at one place; ask no model."""
        try:
            record = await _record(state, runtime)
        except RunNotFound as error:
            return _reply(title, str(error))
        found = _WHY.fullmatch(_turn(state["messages"])[-1].text.strip())
        return _reply(title, _why(record, found and found["node"]), run_id=record.run_id)

    return explanation


def _why(record: RunRecord, node: str | None) -> str:
    """Return why the verdict of a run is as it is, or all that was said at ``node``."""
    part = macros(record)
    if node is None:
        return readable(part("why"))
    if node in record.tree.nodes:
        return readable(part("node", record.tree.nodes[node]))
    return f"Run {record.run_id} has no {node}; it has {', '.join(record.tree.nodes)}."


# Runs of the thread


async def _record(state: Any, runtime: Runtime[Any]) -> RunRecord:
    """Return the record of the thread's last run, from the thread or from its folder."""
    run_id, record = _run_id(state), state.get("record")
    if record is not None and record["run_id"] == run_id:
        return RunRecord.model_validate(record)
    folder = await asyncio.to_thread(_folder, run_id, runtime)
    return await asyncio.to_thread(folder.record)


def _folder(run_id: str, runtime: Runtime[Any]) -> RunFolder:
    """Return the folder of a run; RunNotFound where it is another client's, as where it is none.

    A client may write any id into the messages of its thread.
    """
    folder = RunFolder(runs_home() / run_id)
    user = runtime.server_info.user if runtime.server_info else None
    identity = user.identity if user else ""
    there = _RUN_ID.fullmatch(run_id) is not None and folder.exists()
    if not there or (folder.record().owner or "") != identity:
        raise RunNotFound(f"run {run_id}: its folder is not here, so nothing can be done again")
    return folder


def _contest(title: str) -> Callable[..., Any]:
    async def contest(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Change what the message names in the last run; do again only what depends on it."""
        try:
            run = await asyncio.to_thread(_contested, state, runtime)
        except (InputError, RunNotFound) as error:
            return _reply(title, in_python(str(error)))
        await _conducted(run, runtime)
        return _answered(title, run.record)

    return contest


def _contested(state: Any, runtime: Runtime[Any]) -> Started:
    """Return the contest that the last message asks for; blocks while it reads the run."""
    found = _CONTEST.fullmatch(_turn(state["messages"])[-1].text.strip())
    if found is None:
        raise InputError("write what to change: contest 0.1/A2: text")
    wish = parse((found["change"] or "replace").lower(), found["where"], found["text"] or "")
    folder, models = _folder(_run_id(state), runtime), _live(runtime.context)
    return contesting(folder, [wish], runs_home(), models, person=False)


def _live(context: object) -> dict[str, Any]:
    """Return the models of a host's program that no record can keep."""
    if not isinstance(context, ProtocolSettings):
        return {}
    models = {"model": context.model, "roles": dict(context.roles)}
    texts = all(isinstance(one, str) for one in (context.model, *context.roles.values()))
    return {} if texts else models


# The graphs by name: a server looks names up in the module and asks no ``__getattr__``


globals().update({f"{name}_chat": chat_graph(name) for name in installed()})

if TYPE_CHECKING:

    def __getattr__(name: str) -> Graph: ...
