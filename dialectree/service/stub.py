"""Write ``functions.pyi``: the signatures of the functions of the protocols of this package.

``python -m dialectree.service.stub`` writes it for editors and type checkers, and building the
package does so, too. It needs nothing but pydantic and platformdirs.
"""

from __future__ import annotations

import inspect
import json
import re
import shlex
import sys
import textwrap
from collections.abc import Iterator, Mapping
from functools import reduce
from operator import or_
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from dialectree.protocols.options import Speaker, about
from dialectree.protocols.protocol import Protocol, installed
from dialectree.protocols.settings import ProtocolSettings
from dialectree.service.fields import description

_DOC = """{summary}

Returns the record of the debate, which also lies in a folder of its own in ``runs``. A setting
that is left out comes from the environment (``DIALECTREE_...``), from dialectree.toml, or is
the default shown here.

Args:
{arguments}

Raises:
    InputError: An argument is wrong (a ValueError), or there is no such one (a TypeError).
    ModelUnavailable: There is no model to talk to.
    Halted: A budget is used up; ``dialectree.resume(error.run_id)`` goes on.
{example}"""
_TWIN_DOC = "Run :func:`{command}` in a program with an event loop; the arguments are the same."
OPTIONS = {
    "method_name": "The protocol itself, or a baseline or an ablation of it.",
    "runs": "The folder of all runs. DIALECTREE_RUNS counts before the default.",
    "ask": "A function that answers where the settings let a person take part.",
    "watch": "A function that gets every event as it happens.",
    "progress": "Whether to show what goes on. None: in notebooks only.",
}
"""What is given to every function beside input and settings."""
_LONGEST = 100
"""Characters of a line of the stub."""
_WIDTH = _LONGEST - 4


def document(protocol: Protocol) -> str:
    """Return the docstring of a protocol's function: a line for every argument."""
    lines = [f"{name}: {text}" for name, text in _arguments(protocol)]
    wrapped = (
        textwrap.fill(line, _WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8)
        for line in lines
    )
    return _DOC.format(
        summary=protocol.summary, arguments="\n".join(wrapped), example=_example(protocol)
    )


def _example(protocol: Protocol) -> str:
    """Return the protocol's first example for the command line as a call from Python."""
    if not (protocol.command and protocol.examples):
        return ""
    fields: dict[str, type[BaseModel]]
    fields = dict.fromkeys(protocol.input.model_fields, protocol.input)
    fields |= {name: kind for kind, name in settings_of(protocol)}
    flags = {
        f"--{about(kind, name).get('alias') or name.replace('_', '-')}": name
        for name, kind in fields.items()
    }
    given: dict[str, Any] = {}
    places, words = iter(protocol.input.model_fields), iter(shlex.split(protocol.examples[0]))
    for word in words:
        name = flags.get(word, "") or next(places)
        text = next(words) if word in flags else word
        several = "list" in str(fields[name].model_fields[name].annotation)
        given[name] = [*given.get(name, []), text] if several else text
    values = ", ".join(f"{name}={json.dumps(value)}" for name, value in given.items())
    return f"""
Example:
    >>> record = dialectree.{protocol.command}({values})
    >>> record.status
    'answered'
"""


def _arguments(protocol: Protocol) -> Iterator[tuple[str, str]]:
    """Yield every argument with the first sentence of its docstring."""
    for name, field in protocol.input.model_fields.items():
        yield name, _sentence(field)
    for kind, name in settings_of(protocol):
        yield name, _sentence(kind.model_fields[name])
    yield from OPTIONS.items()


def _sentence(field: FieldInfo) -> str:
    """Return the first sentence of a field's docstring, in Python's terms."""
    return re.split(r"(?<=\.)\s", description(field), maxsplit=1)[0]


def settings_of(protocol: Protocol) -> Iterator[tuple[type[BaseModel], str]]:
    """Yield the settings, without those whose name an input or an option has."""
    taken = {*protocol.input.model_fields, *OPTIONS}
    yield from ((kind, name) for kind, name in protocol.declared_settings() if name not in taken)


class BaseChatModel:
    """Stand for LangChain's class, so that the stub is written without LangChain."""


def parameters(protocol: Protocol, live: type = BaseChatModel) -> list[inspect.Parameter]:
    """Return the parameters of a function: input, then settings; ``live`` is a model's class."""
    fields: list[tuple[type[BaseModel], str]]
    fields = [(protocol.input, name) for name in protocol.input.model_fields]
    made = []
    for kind, name in [*fields, *settings_of(protocol)]:
        field, by_name = kind.model_fields[name], kind is not protocol.input
        speaks = name == "model" and issubclass(kind, ProtocolSettings)
        default = inspect.Parameter.empty
        if not field.is_required():
            default = field.get_default(call_default_factory=True)
        made.append(
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY
                if by_name
                else inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=default,
                annotation=_plain(Speaker if speaks else field.annotation, live),
            )
        )
    return made


def _plain(annotation: Any, live: type) -> Any:
    """Return a type as a signature shows it, without what pydantic adds to it."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if annotation == Speaker:
        return str | live
    if origin is Annotated:
        return _plain(parts[0], live)
    plain = [_plain(part, live) for part in parts]
    if origin in (Union, UnionType):
        return reduce(or_, plain)
    generic: Any = {dict: Mapping, list: list, tuple: tuple}.get(origin)
    return annotation if generic is None else generic[tuple(plain)]


def _written(annotation: Any) -> str:
    """Return a type as the stub writes it."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return f"Literal[{', '.join(json.dumps(part) for part in parts)}]"
    if origin in (Union, UnionType):
        return " | ".join(map(_written, parts))
    if origin is not None:
        return f"{origin.__name__}[{', '.join(map(_written, parts))}]"
    if annotation is NoneType:
        return "None"
    return "..." if annotation is Ellipsis else str(annotation.__name__)


def stub() -> str:
    """Return ``functions.pyi``: the signatures of the protocols that come with dialectree."""
    names: list[str] = []
    functions: list[str] = []
    for protocol in installed().values():
        if not (protocol.command and protocol.ours):
            continue
        twin = f"a{protocol.command}"
        names += [protocol.command, twin]
        functions += [
            _stub_of(protocol, f"def {protocol.command}", document(protocol)),
            _stub_of(protocol, f"async def {twin}", _TWIN_DOC.format(command=protocol.command)),
        ]
    exported = "\n".join(f'    "{name}",' for name in sorted(names))
    return f"{_HEAD}\n__all__ = [\n{exported}\n]\n\n" + "\n".join(functions)


def _stub_of(protocol: Protocol, start: str, doc: str) -> str:
    """Return the lines of one function in the stub."""
    given = parameters(protocol)
    inputs, settings = (
        [_line(one) for one in given if (one.kind is one.KEYWORD_ONLY) == by_name]
        for by_name in (False, True)
    )
    methods = f"Literal[{', '.join(map(json.dumps, protocol.methods()))}]"
    method = f"    method_name: {methods} = {json.dumps(protocol.name)},"
    lines = [f"{start}(", *inputs, "    *,", *settings, method, *_SHARED]
    lines = [_broken(line) for line in lines]
    doc = textwrap.indent(doc.rstrip(), "    ").lstrip()
    end = "\n    " if "\n" in doc else ""
    return "\n".join([*lines, ") -> KeptRecord:", f'    """{doc}{end}"""', ""])


_SHARED = [
    '    runs: str | Path = "runs",',
    "    ask: Ask | None = None,",
    "    watch: Watch | None = None,",
    "    progress: bool | None = None,",
]


def _line(one: inspect.Parameter) -> str:
    """Return the line of a parameter."""
    default = "" if one.default is one.empty else f" = {_default(one.default)}"
    return f"    {one.name}: {_written(one.annotation)}{default},"


def _broken(line: str) -> str:
    """Return a long line as the formatter breaks it."""
    if len(line) <= _LONGEST:
        return line
    return line.replace("[", "[\n        ").replace("]", "\n    ]")


def _default(value: object) -> str:
    """Return a default as a stub writes it."""
    if isinstance(value, str):
        return json.dumps(value)
    return repr(value) if isinstance(value, bool | int | float | None) else "..."


_HEAD = """\
# Made of the declarations by python -m dialectree.service.stub; kept in no repository.

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from pydantic import JsonValue

from dialectree.flow.human_input import Ask
from dialectree.running.runner import Watch
from dialectree.service.debates import KeptRecord
"""


if __name__ == "__main__":
    target = Path(__file__).with_name("functions.pyi") if len(sys.argv) < 2 else Path(sys.argv[1])
    target.write_text(stub(), encoding="utf-8")
