"""One function for each protocol's command, and its asynchronous twin: ``decide``, ``adecide``.

They are made of the declarations. For the protocols that come with dialectree their signatures
stand in ``functions.pyi``, where editors and type checkers read them. Building the package makes
that file, and so does ``python -m dialectree.service.stub``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import reduce
from operator import or_
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel

from dialectree.protocols.options import Speaker
from dialectree.protocols.protocol import Protocol, installed
from dialectree.protocols.settings import ProtocolSettings
from dialectree.service.api import arun, run
from dialectree.service.debates import KeptRecord
from dialectree.service.stub import OPTIONS, document, settings_of


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


def signature(protocol: Protocol) -> inspect.Signature:
    """Return the signature of a protocol's function: its input, then what is given by name."""
    by_name = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        _parameter(protocol.input, name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        for name in protocol.input.model_fields
    ]
    parameters += [_parameter(kind, name, by_name) for kind, name in settings_of(protocol)]
    methods = Literal[tuple(protocol.methods())]
    options = dict(inspect.signature(arun, eval_str=True).parameters)
    options["method_name"] = options["method_name"].replace(
        default=protocol.name, annotation=methods
    )
    parameters += [options[name] for name in OPTIONS]
    return inspect.Signature(parameters, return_annotation=KeptRecord)


def _parameter(kind: type[BaseModel], name: str, place: Any) -> inspect.Parameter:
    field = kind.model_fields[name]
    default = (
        inspect.Parameter.empty
        if field.is_required()
        else field.get_default(call_default_factory=True)
    )
    speaks = name == "model" and issubclass(kind, ProtocolSettings)
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
