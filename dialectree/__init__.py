"""dialectree: structured debate between language models, as LangGraph state machines.

Each installed protocol has a function (``answer`` debates a question, ``decide`` one with options,
``verify`` a claim, ``compare`` two papers) and a twin for event loops (``aanswer`` ...). ``run``
debates by any protocol. Each returns the record of the debate. ``resume`` goes on with an
interrupted run. ``contest`` changes something in a run and repeats all that depends on it. The
compiled graphs are ``dialectree.graphs.<protocol>.graph:graph``. ``as_tool`` makes a LangChain tool
from a protocol, and ``ClaimGate`` verifies the answers of an agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dialectree.errors import DialectreeError as DialectreeError
    from dialectree.evals.evaluate import EvaluationResults as EvaluationResults
    from dialectree.evals.evaluate import aevaluate as aevaluate
    from dialectree.evals.evaluate import evaluate as evaluate
    from dialectree.flow.debate import debate as debate
    from dialectree.flow.debate import open_part as open_part
    from dialectree.flow.debate import set_score as set_score
    from dialectree.flow.flow import Flow as Flow
    from dialectree.flow.human_input import ask_person as ask_person
    from dialectree.flow.jury import count as count
    from dialectree.flow.jury import jury as jury
    from dialectree.flow.state import Debate as Debate
    from dialectree.flow.state import Question as Question
    from dialectree.flow.state import Ruling as Ruling
    from dialectree.flow.steps import end_unresolved as end_unresolved
    from dialectree.flow.steps import settle as settle
    from dialectree.functions import aanswer as aanswer
    from dialectree.functions import acompare as acompare
    from dialectree.functions import adecide as adecide
    from dialectree.functions import answer as answer
    from dialectree.functions import averify as averify
    from dialectree.functions import avote as avote
    from dialectree.functions import compare as compare
    from dialectree.functions import decide as decide
    from dialectree.functions import verify as verify
    from dialectree.functions import vote as vote
    from dialectree.interfaces.agents.agent_tool import as_tool as as_tool
    from dialectree.interfaces.agents.claim_gate import ClaimGate as ClaimGate
    from dialectree.models.door import ask as ask
    from dialectree.protocols.grounded import GroundedInput as GroundedInput
    from dialectree.protocols.grounded import GroundedSettings as GroundedSettings
    from dialectree.protocols.inside import root as root
    from dialectree.protocols.look import Look as Look
    from dialectree.protocols.look import Score as Score
    from dialectree.protocols.options import Jury as Jury
    from dialectree.protocols.options import option as option
    from dialectree.protocols.phases import PhaseOrder as PhaseOrder
    from dialectree.protocols.phases import jurors as jurors
    from dialectree.protocols.protocol import EarlyEnd as EarlyEnd
    from dialectree.protocols.protocol import Evaluation as Evaluation
    from dialectree.protocols.protocol import Phase as Phase
    from dialectree.protocols.protocol import Protocol as Protocol
    from dialectree.protocols.protocol import ProtocolInput as ProtocolInput
    from dialectree.protocols.protocol import Variant as Variant
    from dialectree.protocols.questions import question_for as question_for
    from dialectree.protocols.script import QuestionInput as QuestionInput
    from dialectree.protocols.script import SaidTurn as SaidTurn
    from dialectree.protocols.script import Script as Script
    from dialectree.protocols.script import Talk as Talk
    from dialectree.protocols.script import stop_when_agreed as stop_when_agreed
    from dialectree.protocols.settings import ProtocolSettings as ProtocolSettings
    from dialectree.protocols.settings import settings as settings
    from dialectree.records import Place as Place
    from dialectree.records import RunRecord as RunRecord
    from dialectree.records import Verdict as Verdict
    from dialectree.records.estimate import Estimate as Estimate
    from dialectree.service.api import acontest as acontest
    from dialectree.service.api import aestimate as aestimate
    from dialectree.service.api import aresume as aresume
    from dialectree.service.api import arun as arun
    from dialectree.service.api import contest as contest
    from dialectree.service.api import estimate as estimate
    from dialectree.service.api import load as load
    from dialectree.service.api import resume as resume
    from dialectree.service.api import run as run
    from dialectree.system import chance as chance

    __version__: str

_HOMES = {
    "aanswer": "dialectree.functions",
    "acompare": "dialectree.functions",
    "adecide": "dialectree.functions",
    "answer": "dialectree.functions",
    "averify": "dialectree.functions",
    "avote": "dialectree.functions",
    "compare": "dialectree.functions",
    "decide": "dialectree.functions",
    "verify": "dialectree.functions",
    "vote": "dialectree.functions",
    "acontest": "dialectree.service.api",
    "aestimate": "dialectree.service.api",
    "aresume": "dialectree.service.api",
    "arun": "dialectree.service.api",
    "contest": "dialectree.service.api",
    "estimate": "dialectree.service.api",
    "load": "dialectree.service.api",
    "resume": "dialectree.service.api",
    "run": "dialectree.service.api",
    "ClaimGate": "dialectree.interfaces.agents.claim_gate",
    "GroundedInput": "dialectree.protocols.grounded",
    "GroundedSettings": "dialectree.protocols.grounded",
    "ProtocolSettings": "dialectree.protocols.settings",
    "QuestionInput": "dialectree.protocols.script",
    "Script": "dialectree.protocols.script",
    "chance": "dialectree.system",
    "Jury": "dialectree.protocols.options",
    "Look": "dialectree.protocols.look",
    "Score": "dialectree.protocols.look",
    "PhaseOrder": "dialectree.protocols.phases",
    "count": "dialectree.flow.jury",
    "jurors": "dialectree.protocols.phases",
    "jury": "dialectree.flow.jury",
    "SaidTurn": "dialectree.protocols.script",
    "Talk": "dialectree.protocols.script",
    "stop_when_agreed": "dialectree.protocols.script",
    "option": "dialectree.protocols.options",
    "root": "dialectree.protocols.inside",
    "settings": "dialectree.protocols.settings",
    "DialectreeError": "dialectree.errors",
    "Estimate": "dialectree.records.estimate",
    "EvaluationResults": "dialectree.evals.evaluate",
    "aevaluate": "dialectree.evals.evaluate",
    "evaluate": "dialectree.evals.evaluate",
    "Flow": "dialectree.flow.flow",
    "debate": "dialectree.flow.debate",
    "open_part": "dialectree.flow.debate",
    "question_for": "dialectree.protocols.questions",
    "set_score": "dialectree.flow.debate",
    "ask_person": "dialectree.flow.human_input",
    "ask": "dialectree.models.door",
    "EarlyEnd": "dialectree.protocols.protocol",
    "Evaluation": "dialectree.protocols.protocol",
    "Phase": "dialectree.protocols.protocol",
    "Protocol": "dialectree.protocols.protocol",
    "ProtocolInput": "dialectree.protocols.protocol",
    "Variant": "dialectree.protocols.protocol",
    "Place": "dialectree.records",
    "RunRecord": "dialectree.records",
    "Verdict": "dialectree.records",
    "Debate": "dialectree.flow.state",
    "Question": "dialectree.flow.state",
    "Ruling": "dialectree.flow.state",
    "settle": "dialectree.flow.steps",
    "end_unresolved": "dialectree.flow.steps",
    "as_tool": "dialectree.interfaces.agents.agent_tool",
}


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that ``import dialectree`` is fast."""
    if name == "__version__":
        from importlib.metadata import version

        return version("dialectree")
    from importlib import import_module

    from dialectree.system.packages import explain_missing_package

    if name in _HOMES:
        extra = "dialectree[eval]" if _HOMES[name].startswith("dialectree.evals") else ""
        with explain_missing_package(f"dialectree.{name}", extra):
            value: object = getattr(import_module(_HOMES[name]), name)
        return globals().setdefault(name, value)
    raise AttributeError(f"module 'dialectree' has no attribute {name!r}")


def __dir__() -> list[str]:
    return ["__version__", *_HOMES]
