"""One function for each protocol's command, and its asynchronous twin: ``decide``, ``adecide``.

They are made of the declarations. For the protocols that come with dialectree their signatures
stand in ``functions.pyi``, where editors and type checkers read them.
"""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from operator import or_
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from dialectree.flow.human_input import Ask
from dialectree.protocols.protocol import Protocol, installed
from dialectree.protocols.settings import Speaker, about
from dialectree.records import RunRecord
from dialectree.running.runner import Watch
from dialectree.service.api import arun, description, run

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
"""
_TWIN_DOC = "Run :func:`{command}` in a program with an event loop; the arguments are the same."
_OPTIONS = {
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


def __getattr__(name: str) -> Callable[..., Any]:
    """Return the function of the command ``name``, or of ``a`` + a command."""
    for protocol in installed().values():
        if protocol.command and name in (protocol.command, f"a{protocol.command}"):
            return function(protocol, asynchronous=name != protocol.command)
    raise AttributeError(f"no installed protocol has the command {name!r}")


def function(protocol: Protocol, *, asynchronous: bool) -> Callable[..., Any]:
    """Return the function by which a program debates by ``protocol``."""

    async def adebate(*inputs: Any, **values: Any) -> Any:
        return await arun(protocol.name, *inputs, **values)

    def debate(*inputs: Any, **values: Any) -> Any:
        return run(protocol.name, *inputs, **values)

    made: Any = adebate if asynchronous else debate
    made.__name__ = made.__qualname__ = f"{'a' * asynchronous}{protocol.command or protocol.name}"
    made.__module__ = "dialectree"
    made.__doc__ = document(protocol)
    made.__signature__ = signature(protocol)
    return made  # type: ignore[no-any-return]


def document(protocol: Protocol) -> str:
    """Return the docstring of a protocol's function: a line for every argument."""
    lines = [f"{name}: {text}" for name, text in _arguments(protocol)]
    wrapped = (
        textwrap.fill(line, _WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8)
        for line in lines
    )
    return _DOC.format(summary=protocol.summary, arguments="\n".join(wrapped))


def _arguments(protocol: Protocol) -> Iterator[tuple[str, str]]:
    """Yield every argument with the first sentence of its docstring."""
    for name, field in protocol.input.model_fields.items():
        yield name, _sentence(field)
    for kind, name in _settings(protocol):
        yield name, _sentence(kind.model_fields[name])
    yield from _OPTIONS.items()


def _sentence(field: FieldInfo) -> str:
    """Return the first sentence of a field's docstring, in Python's terms."""
    return re.split(r"(?<=\.)\s", description(field), maxsplit=1)[0]


def _settings(protocol: Protocol) -> Iterator[tuple[type[BaseModel], str]]:
    """Yield the settings, without those whose name an input or an option has."""
    taken = {*protocol.input.model_fields, *_OPTIONS}
    yield from ((kind, name) for kind, name in protocol.declared_settings() if name not in taken)


def signature(protocol: Protocol) -> inspect.Signature:
    """Return the signature of a protocol's function: its input, then what is given by name."""
    by_name = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        _parameter(protocol.input, name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        for name in protocol.input.model_fields
    ]
    parameters += [_parameter(kind, name, by_name) for kind, name in _settings(protocol)]
    methods = Literal[tuple(protocol.methods())]
    options = dict(inspect.signature(arun, eval_str=True).parameters)
    options["method_name"] = options["method_name"].replace(
        default=protocol.name, annotation=methods
    )
    parameters += [options[name] for name in _OPTIONS]
    return inspect.Signature(parameters, return_annotation=RunRecord)


def _parameter(kind: type[BaseModel], name: str, place: Any) -> inspect.Parameter:
    field = kind.model_fields[name]
    default = (
        inspect.Parameter.empty
        if field.is_required()
        else field.get_default(call_default_factory=True)
    )
    speaks = name == "model" and about(kind, name).get("speaker")
    annotation = Speaker if speaks else field.annotation
    return inspect.Parameter(name, place, default=default, annotation=_plain(annotation))


def _plain(annotation: Any) -> Any:
    """Return a type as a signature shows it, without what pydantic adds to it."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if annotation == Speaker:
        return str | BaseChatModel
    if origin is Annotated:
        return _plain(parts[0])
    if origin in (Union, UnionType):
        return reduce(or_, map(_plain, parts))
    generic: Any = {dict: Mapping, list: list, tuple: tuple}.get(origin)
    return annotation if generic is None else generic[tuple(map(_plain, parts))]


def _written(annotation: Any) -> str:
    """Return a type as a stub shows it."""
    if annotation in (Ask, Watch):
        return "Ask" if annotation == Ask else "Watch"
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
        if not (protocol.command and protocol.graph.startswith("dialectree.")):
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
    lines = [f"{start}("]
    for place, parameter in enumerate(signature(protocol).parameters.values()):
        if place == len(protocol.input.model_fields):
            lines.append("    *,")
        name, annotation = parameter.name, _written(parameter.annotation)
        line = f"    {name}: {annotation}{_default(parameter.default)},"
        if len(line) > _LONGEST:  # as the formatter breaks it
            line = line.replace("[", "[\n        ").replace("]", "\n    ]")
        lines.append(line)
    doc = textwrap.indent(doc.rstrip(), "    ").lstrip()
    end = "\n    " if "\n" in doc else ""
    return "\n".join([*lines, ") -> RunRecord:", f'    """{doc}{end}"""', ""])


def _default(value: object) -> str:
    """Return a default as a stub writes it."""
    if value is inspect.Parameter.empty:
        return ""
    if isinstance(value, str):
        return f" = {json.dumps(value)}"
    return f" = {value!r}" if isinstance(value, bool | int | float | None) else " = ..."


_HEAD = """\
# Made of the declarations by dialectree.service.functions.stub(); a test keeps it in step.

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel

from dialectree.flow.human_input import Ask
from dialectree.records import RunRecord
from dialectree.running.runner import Watch
"""


if __name__ == "__main__":
    Path(__file__).with_suffix(".pyi").write_text(stub())
