"""dialectree: structured debate between language models, as LangGraph state machines.

Each installed protocol has a function (``answer`` debates a question, ``decide`` one with options,
``verify`` a claim, ``compare`` two papers) and a twin for event loops (``aanswer`` ...). ``run``
debates by any protocol. Each returns the record of the debate. ``resume`` goes on with a run that
was broken off, and ``contest`` changes something in one and does again what depends on it. The
compiled graphs are ``dialectree.graphs.<protocol>.graph:graph``. ``as_tool`` makes a LangChain tool
of one, and ``ClaimGate`` verifies the answers of an agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dialectree.api import acontest as acontest
    from dialectree.api import aestimate as aestimate
    from dialectree.api import aresume as aresume
    from dialectree.api import arun as arun
    from dialectree.api import contest as contest
    from dialectree.api import estimate as estimate
    from dialectree.api import load as load
    from dialectree.api import resume as resume
    from dialectree.api import run as run
    from dialectree.claim_gate import ClaimGate as ClaimGate
    from dialectree.context import ProtocolSettings as ProtocolSettings
    from dialectree.context import option as option
    from dialectree.context import settings as settings
    from dialectree.errors import DialectreeError as DialectreeError
    from dialectree.estimates import Estimate as Estimate
    from dialectree.evals.evaluate import EvaluationResults as EvaluationResults
    from dialectree.evals.evaluate import aevaluate as aevaluate
    from dialectree.evals.evaluate import evaluate as evaluate
    from dialectree.flow import Flow as Flow
    from dialectree.functions import *  # noqa: F403 - the names stand in functions.pyi
    from dialectree.human_input import ask_person as ask_person
    from dialectree.models.asking import Place as Place
    from dialectree.models.door import ask as ask
    from dialectree.protocol import Evaluation as Evaluation
    from dialectree.protocol import Phase as Phase
    from dialectree.protocol import Protocol as Protocol
    from dialectree.protocol import ProtocolInput as ProtocolInput
    from dialectree.protocol import Variant as Variant
    from dialectree.records import RunRecord as RunRecord
    from dialectree.state import Debate as Debate
    from dialectree.state import Question as Question
    from dialectree.state import Ruling as Ruling
    from dialectree.steps import settle as settle
    from dialectree.steps import unresolved as unresolved
    from dialectree.tools import as_tool as as_tool

    __version__: str

_HOMES = {
    "acontest": "dialectree.api",
    "aestimate": "dialectree.api",
    "aresume": "dialectree.api",
    "arun": "dialectree.api",
    "contest": "dialectree.api",
    "estimate": "dialectree.api",
    "load": "dialectree.api",
    "resume": "dialectree.api",
    "run": "dialectree.api",
    "ClaimGate": "dialectree.claim_gate",
    "ProtocolSettings": "dialectree.context",
    "option": "dialectree.context",
    "settings": "dialectree.context",
    "DialectreeError": "dialectree.errors",
    "Estimate": "dialectree.estimates",
    "EvaluationResults": "dialectree.evals.evaluate",
    "aevaluate": "dialectree.evals.evaluate",
    "evaluate": "dialectree.evals.evaluate",
    "Flow": "dialectree.flow",
    "ask_person": "dialectree.human_input",
    "Place": "dialectree.models.asking",
    "ask": "dialectree.models.door",
    "Evaluation": "dialectree.protocol",
    "Phase": "dialectree.protocol",
    "Protocol": "dialectree.protocol",
    "ProtocolInput": "dialectree.protocol",
    "Variant": "dialectree.protocol",
    "RunRecord": "dialectree.records",
    "Debate": "dialectree.state",
    "Question": "dialectree.state",
    "Ruling": "dialectree.state",
    "settle": "dialectree.steps",
    "unresolved": "dialectree.steps",
    "as_tool": "dialectree.tools",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: ``import dialectree`` itself costs nothing."""
    if name == "__version__":
        from importlib.metadata import version

        return version("dialectree")
    from importlib import import_module
    from importlib.util import find_spec

    from dialectree.packages import needed

    if name in _HOMES:
        extra = "dialectree[eval]" if _HOMES[name].startswith("dialectree.evals") else ""
        with needed(f"dialectree.{name}", extra):
            return getattr(import_module(_HOMES[name]), name)
    if name.startswith("_") or find_spec(f"dialectree.{name}"):  # a module that is being imported
        raise AttributeError(f"module 'dialectree' has no attribute {name!r}")
    return getattr(import_module("dialectree.functions"), name)


def __dir__() -> list[str]:
    from dialectree.protocol import installed

    commands = [protocol.command for protocol in installed().values() if protocol.command]
    return ["__version__", *_HOMES, *commands, *(f"a{command}" for command in commands)]
