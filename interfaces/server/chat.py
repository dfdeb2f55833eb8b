"""Chat with a protocol: messages go in, and one message comes out.

:func:`chat_graph` makes the graph of one protocol out of its declaration. This module has such a
graph for every installed protocol: ``NAME_chat``, which a project file can name. docs/chat.md
says what a person can write.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.errors import GraphInterrupt
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from dialectree.contests import parse
from dialectree.errors import Halted, InputError, KeyRefused, RunNotFound
from dialectree.flow import Graph
from dialectree.flow.human_input import Ask, Payload, interrupt_for_answer, payload_of
from dialectree.flow.state import VerdictFields
from dialectree.interfaces.server.messages import (
    KEY,
    ChatRequest,
    attachments,
    fields_sent,
    find_pending_request,
    help_on,
    inputs_of,
    last_turn,
    missing_in,
    read_message_metadata,
)
from dialectree.protocols.options import juries
from dialectree.protocols.protocol import Method, load_protocols, protocol, refuse
from dialectree.protocols.settings import ProtocolSettings, settings
from dialectree.protocols.sources import runs_home
from dialectree.records import RunRecord, path_key
from dialectree.report.markdown_text import block_quote, bold, escape_markdown, readable
from dialectree.report.pages import macros
from dialectree.running.hosted import keeping
from dialectree.running.runner import RunHandle, prepare_graph_input
from dialectree.service.debates import ActiveRun, Debates
from dialectree.trace.tracing import ChatGraph, show

ANSWERING = "*Your next message is the answer; `-` gives none.*"

Todo = Literal["debate", "person", "hearing", "explanation", "contest", "nothing"]

_WHY = re.compile(r"why(?:\s+(?P<node>\d+(?:\.\d+)*)\S*?)?\s*\??", re.IGNORECASE)
_CONTEST = re.compile(
    r"contest\s+(?:(?P<change>[a-z]+)\s+)?(?P<where>\S+?)(?::\s+(?P<text>.+))?", re.IGNORECASE | re.DOTALL
)
_typed_dict: Any = TypedDict


def chat_graph(name: str) -> Graph:
    """Return the chat with the protocol called ``name``."""
    chat = ChatSteps(protocol(name).methods()[name])
    messages = {"messages": Annotated[list[AnyMessage], add_messages]}
    answer: dict[str, Any] = {"verdict": VerdictFields, "run_id": str}
    inner_fields: dict[str, Any] = {"record": dict[str, Any], "given": dict[str, Any] | None, "todo": Todo}
    inner_fields["said"] = str
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(
        _typed_dict(chat.title, {**messages, **chat.sent, **answer, **inner_fields}, total=False),
        context_schema=chat.declared.settings,
        input_schema=_typed_dict(f"{chat.title}_input", {**messages, **chat.sent}, total=False),
        output_schema=_typed_dict(f"{chat.title}_output", {**messages, **answer}, total=False),
    )
    steps = (chat.reading, chat.debate, chat.person, chat.hearing, chat.explanation, chat.contest)
    for step in steps:
        builder.add_node(step.__name__, step)
    builder.add_edge(START, "reading")
    builder.add_conditional_edges("reading", after_reading)
    for asking in ("debate", "hearing"):
        builder.add_conditional_edges(asking, after_debate)
    builder.add_edge("person", "hearing")
    for last in ("explanation", "contest"):
        builder.add_edge(last, END)
    graph: Graph = builder.compile(name=chat.title)
    show(graph, ChatGraph)
    return graph


def after_reading(state: Any) -> Literal["debate", "person", "hearing", "explanation", "contest", "__end__"]:
    """Go to the step that the message asks for; end if the message is already replied to."""
    todo: Todo = state["todo"]
    return "__end__" if todo == "nothing" else todo


def after_debate(state: Any) -> Literal["person", "__end__"]:
    """Stop for a person if the debate asks one."""
    return "person" if state["todo"] == "person" else "__end__"


class ChatSteps:
    """The steps of a chat with one protocol; each returns an update of the thread's state."""

    def __init__(self, method: Method) -> None:
        self.method, self.declared = method, method.protocol
        self.sent = fields_sent(self.declared.input)
        self.title = f"{method.name}_chat"

    # Reading a message

    async def reading(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Read the last message; reply unless it is a question that can be debated."""
        if (pending_request := find_pending_request(state["messages"])) is not None:
            return _heard(pending_request)
        turn = last_turn(state["messages"])
        text = turn[-1].text.strip() if turn else ""
        attached = any(True for message in turn[-1:] for _ in attachments(message))
        if text.casefold() in ("", "help", "?") and not attached:
            return self._reply(help_on(self.declared.input))
        about = "explanation" if _WHY.fullmatch(text) else ""
        if f"{text.casefold()} ".startswith("contest "):
            about = "contest"
        if about and (run_id := _run_id(state)):
            return {"todo": about, "given": None, "run_id": run_id}
        if about:
            return self._reply("There is no answer in this thread yet: begin with a question.")
        client_fields = {name: state[name] for name in self.sent if state.get(name) is not None}
        context = settings(runtime, self.declared.settings)
        try:
            inputs = inputs_of(self.declared.input, turn, client_fields)
            if missing := missing_in(self.declared.input, inputs):
                return self._reply(missing, missing=True)
            graph_input = await asyncio.to_thread(
                prepare_graph_input, self.method, inputs, context
            )  # reads papers
        except InputError as error:
            return self._reply(str(error))
        return {"todo": "debate", "given": graph_input}

    def _reply(self, text: str, **about: Any) -> dict[str, Any]:
        """Return the update that ends a turn without a debate; ``about`` holds data for programs."""
        message = AIMessage(text, name=self.title, response_metadata={KEY: about})
        return {"messages": [message], "todo": "nothing", "given": None}

    # Answering it

    async def debate(self, state: Any) -> dict[str, Any]:
        """Debate the question, until a person is asked."""
        graph = await asyncio.to_thread(self.method.graph)
        outcome: dict[str, Any] = {}
        names = ["record", "verdict", "run_id"]
        try:
            with keeping(runs_home()):
                async for values in graph.astream(state["given"], stream_mode="values", output_keys=names):
                    outcome = values
        except GraphInterrupt as stop:
            requests = [payload_of(interrupt.value) for interrupt in stop.args[0]]
            first = min(requests, key=lambda request: path_key(request["node"]))
            return self._question(first, outcome["run_id"])
        return self._make_final_update(RunRecord.model_validate(outcome["record"]))

    def _question(self, request: Payload, run_id: str) -> dict[str, Any]:
        """Return the update that asks a person. The thread gets the question before the chat stops."""
        transcript = request.get("transcript")
        parts = [
            bold(request["question"]),
            *([block_quote(transcript)] if transcript else []),
            escape_markdown(request["request"]),
            ANSWERING,
        ]
        reply = self._reply(readable("\n\n".join(parts)), run_id=run_id, asked={**request})
        return {**reply, "todo": "person", "run_id": run_id}

    async def person(self, state: Any) -> dict[str, Any]:
        """Stop for the person; the answer comes here or as the thread's next message."""
        pending_request = find_pending_request(state["messages"])
        assert pending_request is not None
        return {"said": interrupt_for_answer(pending_request.request)}

    async def hearing(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Go on with the debate, with the person's answer, until a person is asked again."""
        before, answers, new_requests = (
            find_pending_request(state["messages"]),
            [str(state["said"])],
            list[Payload](),
        )
        assert before is not None

        def ask(request: Payload) -> str:
            if answers and {**request, "request": ""} == {**before.request, "request": ""}:
                return answers.pop()
            new_requests.append(request)
            raise Halted("a person is asked in the chat")

        try:
            debates, models = _debates(runtime), _live(runtime.context)
            run = await asyncio.to_thread(debates.take_up, before.run_id, models)
        except (InputError, KeyRefused) as error:
            return self._reply(str(error))
        try:
            return await self._conduct_run(run, runtime, ask)
        except Halted:
            if not new_requests:
                raise
            return self._question(new_requests[0], before.run_id)

    async def _conduct_run(
        self, run: RunHandle, runtime: Runtime[Any], ask: Ask | None = None
    ) -> dict[str, Any]:
        """Conduct a run and stream its events to the chat's host; return the update with its outcome."""
        write, underway = runtime.stream_writer, ActiveRun(run)
        await underway.run_to_end(ask, watch=lambda event: write(event.model_dump(mode="json")))
        if underway.unreported is not None:
            raise underway.unreported
        return self._make_final_update(run.record)

    def _make_final_update(self, record: RunRecord) -> dict[str, Any]:
        """Return the update that ends a turn with the outcome of a run."""
        plain = record.model_dump(mode="json")
        about = {name: plain[name] for name in ("run_id", "method", "status", "verdict")}
        reply = self._reply(readable(macros(record)("answer")), **about)
        return {**reply, "verdict": plain["verdict"], "run_id": record.run_id, "record": plain}

    # Runs of the thread

    async def explanation(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Show the grounds of the last answer, or the transcript of one node; ask no model."""
        run_id, saved_record = _run_id(state), state.get("record")
        try:
            if saved_record is not None and saved_record["run_id"] == run_id:
                record = RunRecord.model_validate(saved_record)
            else:
                record = await asyncio.to_thread(_debates(runtime).result, run_id)
            match = _WHY.fullmatch(last_turn(state["messages"])[-1].text.strip())
            node, part = match and match["node"], macros(record)
            if node is None:
                return self._reply(readable(part("why")), run_id=record.run_id)
            node_text = part("node", _debates(runtime).node(record, node))
            return self._reply(readable(node_text), run_id=record.run_id)
        except RunNotFound as error:
            return self._reply(str(error))

    async def contest(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Change what the message names in the last run; do again only what depends on it."""
        match = _CONTEST.fullmatch(last_turn(state["messages"])[-1].text.strip())
        if match is None:
            return self._reply("write what to change: contest 0.1/A2: text")
        change, models = (match["change"] or "replace").lower(), _live(runtime.context)
        debates, run_id = _debates(runtime), _run_id(state)

        def begin_contest() -> RunHandle:
            wish = parse(change, match["where"], match["text"] or "")
            return debates.plan_contest(run_id, [wish], models).begin()

        try:
            run = await asyncio.to_thread(begin_contest)
        except (InputError, KeyRefused) as error:
            return self._reply(str(error))
        return await self._conduct_run(run, runtime)


def _run_id(state: Any) -> str:
    """Return the id of the thread's last run, from the messages or else from the state."""
    for message in reversed(state["messages"]):
        if run_id := read_message_metadata(message).get("run_id"):
            return str(run_id)
    return str(state.get("run_id") or "")


def _heard(pending_request: ChatRequest) -> dict[str, Any]:
    """Return the update that takes the person's message as the answer."""
    update: dict[str, Any] = {"given": None, "run_id": pending_request.run_id}
    if not pending_request.replies:
        return {**update, "todo": "person"}
    answer_text = pending_request.replies[-1].text.strip()
    return {**update, "todo": "hearing", "said": "" if answer_text == "-" else answer_text}


def _debates(runtime: Runtime[Any]) -> Debates:
    """Return only the debates that the client may see. A client can write any id into its messages."""
    user = runtime.server_info.user if runtime.server_info else None
    return Debates(runs_home(), owner=user.identity if user else "", files_from=())


def _live(context: object) -> dict[str, Any]:
    """Return the models that a host's program gave as objects, which a record cannot keep."""
    if not isinstance(context, ProtocolSettings):
        return {}
    setting_names = ("model", "roles", *juries(type(context)).values())
    texts = all(isinstance(model, str) for model in context.models())
    return {} if texts else {name: getattr(context, name) for name in setting_names}


# The graphs by name: a server looks names up in the module and asks no ``__getattr__``


for _name in [*load_protocols()]:
    try:
        globals()[f"{_name}_chat"] = chat_graph(_name)
    except Exception as error:  # the declaration of another package can fail in any way
        refuse(_name, error)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Graph: ...
