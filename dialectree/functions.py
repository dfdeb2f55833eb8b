"""One function for each protocol's command, and its asynchronous twin: ``decide``, ``adecide``.

They are made of the declarations. For the protocols that come with dialectree their signatures
stand in ``functions.pyi``, where editors and type checkers read them.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from dialectree.api import arun, run
from dialectree.context import about
from dialectree.protocol import Protocol, installed

_DOC = """{summary}

``method_name`` is one of {methods}. Input and settings that have a default may be left out. See
:func:`dialectree.api.arun` for ``runs``, ``ask``, ``watch``, the result and the errors.

{inputs}
"""


def __getattr__(name: str) -> Callable[..., Any]:
    """Return the function of the command ``name``, or of ``a`` + a command."""
    for protocol in installed().values():
        if protocol.command and name in (protocol.command, f"a{protocol.command}"):
            return function(protocol, asynchronous=name != protocol.command)
    raise AttributeError(f"no installed protocol has the command {name!r}")


def function(protocol: Protocol, *, asynchronous: bool) -> Callable[..., Any]:
    """Return the function by which a program debates by ``protocol``."""

    async def adebate(*given: Any, **values: Any) -> Any:
        return await arun(protocol.name, *given, **values)

    def debate(*given: Any, **values: Any) -> Any:
        return run(protocol.name, *given, **values)

    made: Any = adebate if asynchronous else debate
    made.__name__ = made.__qualname__ = f"{'a' * asynchronous}{protocol.command or protocol.name}"
    made.__doc__ = _document(protocol)
    made.__signature__ = signature(protocol)
    return made  # type: ignore[no-any-return]


def _document(protocol: Protocol) -> str:
    fields = protocol.input.model_fields.items()
    inputs = "\n".join(f"``{name}``: {field.description}" for name, field in fields)
    return _DOC.format(
        summary=protocol.summary, methods=", ".join(protocol.methods()), inputs=inputs
    )


def signature(protocol: Protocol) -> inspect.Signature:
    """Return the signature of a protocol's function: its input, then what is given by name."""
    by_name = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=inspect.Parameter.empty if field.is_required() else field.default,
            annotation=_annotation(protocol.input, name),
        )
        for name, field in protocol.input.model_fields.items()
    ]
    parameters += [
        inspect.Parameter("method_name", by_name, default=protocol.name, annotation="str"),
        inspect.Parameter("runs", by_name, default="runs", annotation="str | Path"),
        inspect.Parameter("ask", by_name, default=None, annotation="Ask | None"),
        inspect.Parameter("watch", by_name, default=None, annotation="Watch | None"),
    ]
    taken = {parameter.name for parameter in parameters}
    parameters += [
        inspect.Parameter(name, by_name, default=..., annotation=_annotation(kind, name))
        for kind, name in protocol.declared_settings()
        if name not in taken
    ]
    return inspect.Signature(parameters)


def _annotation(kind: type[BaseModel], name: str) -> str:
    if about(kind, name).get("speaker"):
        return "str | BaseChatModel" if name == "model" else "str | None"
    return _written(kind.model_fields[name].annotation)


def _written(annotation: Any) -> str:
    """Return a type as a signature shows it, without what pydantic adds to it."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _written(parts[0])
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
        for start, name in (("def", protocol.command), ("async def", f"a{protocol.command}")):
            names.append(name)
            lines = [f"{start} {name}("]
            for place, parameter in enumerate(signature(protocol).parameters.values()):
                if place == len(protocol.input.model_fields):
                    lines.append("    *,")
                default = "" if parameter.default is parameter.empty else " = ..."
                lines.append(f"    {parameter.name}: {parameter.annotation}{default},")
            functions.append("\n".join([*lines, ") -> RunRecord: ..."]))
    exported = "\n".join(f'    "{name}",' for name in sorted(names))
    return f"{_HEAD}\n__all__ = [\n{exported}\n]\n\n" + "\n".join(functions) + "\n"


_HEAD = """\
# Made of the declarations by dialectree.functions.stub(); a test keeps it in step.

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel

from dialectree.human_input import Ask
from dialectree.records import RunRecord
from dialectree.runner import Watch
"""


if __name__ == "__main__":
    Path(__file__).with_suffix(".pyi").write_text(stub())
