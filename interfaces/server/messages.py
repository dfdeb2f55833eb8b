"""Read the messages of a chat: a person's questions, files, options and answers."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Annotated, Any, NamedTuple, get_args

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.channels import EphemeralValue
from pydantic import Field

from dialectree.errors import InputError
from dialectree.flow.human_input import Payload
from dialectree.interfaces.fields import arguments
from dialectree.protocols.protocol import ProtocolInput

KEY = "dialectree"
"""The key of the data for programs in a message's ``response_metadata``."""
HELP = """\
- A question begins a debate.{inputs}
- `why?` shows what the last answer rests on, and `why 0.1?` all that was said at one place.
- `contest 0.1/A2: text` lets a turn say something else and does again what depends on it. Other \
changes: `contest verdict 0.1: text`, `contest drop 0.1/A2`, `contest restore 0.1/A2`; where \
arguments are weighed also `contest set 0.1=0.3`, `contest flip 0.0:0.1`, `contest void 0.0:0.1` \
and `contest add support:0: text`."""

_OPTION = re.compile(r"\s*(?:[-*•]|\w{1,2}[).]|option:)\s+(?P<text>\S.*)", re.IGNORECASE)


class ChatRequest(NamedTuple):
    """A request of a chat to a person, with the replies to it."""

    request: Payload
    run_id: str
    replies: Sequence[HumanMessage]
    """The person's messages after the request."""


def find_pending_request(messages: Sequence[BaseMessage]) -> ChatRequest | None:
    """Return the request to a person in our last message; None if that message has no request."""
    for n, message in reversed([*enumerate(messages)]):
        if about := read_message_metadata(message):
            replies = [reply for reply in messages[n + 1 :] if isinstance(reply, HumanMessage)]
            request = about.get("asked")
            return request and ChatRequest(request, str(about["run_id"]), replies)
    return None


def read_message_metadata(message: BaseMessage) -> Mapping[str, Any]:
    """Return a message's data for programs; empty for messages that are not ours."""
    about = message.response_metadata.get(KEY)
    return about if isinstance(about, Mapping) else {}


def last_turn(messages: Sequence[BaseMessage]) -> list[HumanMessage]:
    """Return the person's last message, after the earlier messages that it completes."""
    turn: list[HumanMessage] = []
    accepts_message = True
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            if not accepts_message:
                break
            turn.insert(0, message)
            accepts_message = False
        elif isinstance(message, AIMessage) and turn:
            accepts_message = bool(read_message_metadata(message).get("missing"))
            if not accepts_message:
                break
    return turn


def inputs_of(
    kind: type[ProtocolInput], turn: Sequence[HumanMessage], client_fields: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the protocol's input: the fields that the client sent, then those in the messages.

    Lines that begin like a list are the options, attached files are the papers, and the rest of the
    text is the question. Messages fill missing fields, and replace no field that the client sent.
    """
    texts, lists, papers = _fields(kind)
    require_attached(kind, client_fields)
    inputs = {**client_fields}
    for message in turn:
        lines = message.text.splitlines()
        options = [match["text"].strip() for match in map(_OPTION.fullmatch, lines) if match]
        if lists and options:
            inputs.setdefault(lists[0], options)
            lines = [line for line in lines if not _OPTION.fullmatch(line)]
        files = [*attachments(message)]
        empty = [name for name in papers if name not in inputs]
        inputs |= zip(empty, files, strict=False)
        if extra_files := files[len(empty) :]:
            raise InputError(f"{extra_files[0]['name']}: a debate takes {len(papers)} attached files")
        text = "\n".join(lines).strip()
        if text and (unasked := [name for name in texts if name not in inputs]):
            inputs[unasked[0]] = text
    return inputs


def require_attached(kind: type[ProtocolInput], inputs: Mapping[str, Any]) -> None:
    """Raise InputError if a client names a file of the server instead of sending its own."""
    _, _, papers = _fields(kind)
    wrong = [name for name in papers if not isinstance(inputs.get(name, {}), Mapping)]
    sources = inputs.get("sources") or [] if kind.grounded else []
    source_list = sources if isinstance(sources, list) else [sources]
    if wrong := [*wrong, *(["sources"] if not all(isinstance(s, Mapping) for s in source_list) else [])]:
        raise InputError(f"{wrong[0]}: attach the file; a name or a path is not read here")


def _fields(kind: type[ProtocolInput]) -> tuple[list[str], list[str], list[str]]:
    """Return the names of an input's required texts, of its lists of texts, and of its files."""
    fields = arguments(kind).model_fields
    types = {name: {field.annotation, *get_args(field.annotation)} for name, field in fields.items()}
    papers = [name for name, parts in types.items() if Path in parts]
    lists = [name for name, parts in types.items() if list[str] in parts]
    texts = [name for name, field in fields.items() if field.is_required()]
    return [name for name in texts if name not in {*papers, *lists}], lists, papers


def fields_sent(kind: type[ProtocolInput]) -> dict[str, Any]:
    """Return the input that a client may send with its messages, as fields of a state.

    Each value is used for one question. A chat has no sources.
    """
    fields, (_, _, papers) = {**arguments(kind).model_fields}, _fields(kind)
    if kind.grounded:
        del fields["sources"]
    types: dict[str, Any] = {name: field.annotation for name, field in fields.items()}
    types |= dict.fromkeys(papers, dict[str, Any])  # a path would name a file of the server
    return {
        name: Annotated[types[name], Field(description=field.description), EphemeralValue]
        for name, field in fields.items()
    }


def attachments(message: HumanMessage) -> Iterator[dict[str, str]]:
    """Yield name and content of each file in a message, in any of the shapes that clients send."""
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


def missing_in(kind: type[ProtocolInput], inputs: Mapping[str, Any]) -> str:
    """Return a request for the missing required fields; empty if nothing is missing."""
    _, lists, papers = _fields(kind)
    lines: list[str] = []
    for name, field in kind.model_fields.items():
        if field.is_required() and name not in inputs:
            how = " Write one a line, each after a dash." if name in lists else ""
            request_text = f"{(field.description or name).partition('; -')[0].removesuffix('.')}.{how}"
            request_text = "Attach its file." if name in papers else request_text
            lines.append(f"- **{name.replace('_', ' ')}**: {request_text}")
    return "\n".join(["Before a debate can begin, this is missing:", "", *lines]) if lines else ""


def help_on(kind: type[ProtocolInput]) -> str:
    """Return help on the messages that a person can write."""
    _, lists, papers = _fields(kind)
    inputs = " Write each option on a line of its own, after a dash." if lists else ""
    inputs += f" Attach {len(papers)} files, and write what they are about." if papers else ""
    return HELP.format(inputs=inputs)
