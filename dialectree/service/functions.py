"""One function for each protocol's command, and its asynchronous twin: ``decide``, ``adecide``.

They are made of the declarations. For the protocols that come with dialectree their signatures
stand in ``functions.pyi``, where editors and type checkers read them. Building the package makes
that file, and so does ``python -m dialectree.service.stub``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel

from dialectree.protocols.protocol import Protocol, installed
from dialectree.service.api import arun, run
from dialectree.service.debates import KeptRecord
from dialectree.service.stub import OPTIONS, document, parameters


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
    options = dict(inspect.signature(arun, eval_str=True).parameters)
    options["method_name"] = options["method_name"].replace(
        default=protocol.name, annotation=Literal[tuple(protocol.methods())]
    )
    given = [*parameters(protocol, BaseChatModel), *(options[name] for name in OPTIONS)]
    return inspect.Signature(given, return_annotation=KeptRecord)
