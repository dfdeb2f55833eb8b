"""The replies that a contest may change, as the forms in which they must come."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, JsonValue, ValidationError

from dialectree.errors import InputError
from dialectree.nodes.role_switching_debate.debater import (
    ProposalReply,
    RebuttalReply,
    SwitchReply,
    UncertaintyReply,
)
from dialectree.nodes.role_switching_debate.direct_answerer import DirectReply
from dialectree.nodes.role_switching_debate.judge import JudgeReply
from dialectree.nodes.tree_of_debate.comparer import ComparisonReply, PaperSummaryReply
from dialectree.nodes.tree_of_debate.comparison import SummaryReply
from dialectree.nodes.tree_of_debate.persona import ArgumentReply, ResponseReply
from dialectree.nodes.tree_structured_debate.answer_writer import WriterReply
from dialectree.nodes.tree_structured_debate.answerer import AnswererReply
from dialectree.nodes.tree_structured_debate.critic import CriticReply
from dialectree.nodes.tree_structured_debate.explorer import ExplorerReply
from dialectree.nodes.tree_structured_debate.leaf_debater import DebaterReply, OpeningReply
from dialectree.nodes.tree_structured_debate.leaf_judge import LeafJudgeReply
from dialectree.nodes.tree_structured_debate.synthesis_debater import SynthesisReply
from dialectree.nodes.tree_structured_debate.synthesis_judge import SynthesisJudgeReply
from dialectree.records import Node, RunRecord, Turn
from dialectree.report import exchange

_FORMS: dict[str, tuple[type[BaseModel], ...]] = {
    "leaf_debater": (DebaterReply, OpeningReply),
    "leaf_judge": (LeafJudgeReply,),
    "synthesis_debater": (SynthesisReply,),
    "synthesis_judge": (SynthesisJudgeReply,),
    "answer_writer": (WriterReply,),
    "debater/proposals": (ProposalReply,),
    "debater/cross_examination": (RebuttalReply,),
    "debater/role_switch": (SwitchReply,),
    "debater/uncertainty": (UncertaintyReply,),
    "judge/judgment": (JudgeReply,),
    "debater_a/direct": (DirectReply,),
    "answerer/direct": (DirectReply,),
    "answerer": (AnswererReply,),
    "sampler": (AnswererReply,),
    "explorer": (ExplorerReply,),
    "critic": (CriticReply,),
    "synthesiser": (AnswererReply,),
    "persona/present": (ArgumentReply,),
    "persona/respond": (ResponseReply,),
    "persona/revise": (ArgumentReply,),
    "moderator/summary": (SummaryReply,),
    "summariser": (PaperSummaryReply,),
    "comparer": (ComparisonReply,),
}
"""As in :mod:`dialectree.turns`: by role, or by role and stage."""


def form(turn: Turn) -> type[BaseModel] | None:
    """The form of the reply that ``turn`` was; None where it has none that is known here."""
    known = _FORMS.get(f"{turn.role}/{turn.stage}") or _FORMS.get(turn.role, ())
    return next((kind for kind in known if kind.model_fields.keys() == turn.fields.keys()), None)


def changed(turn: Turn, change: Mapping[str, object], flag: str) -> dict[str, JsonValue]:
    """The reply of ``turn`` with ``change`` in it; InputError where no model could have said so."""
    kind = form(turn)
    assert kind is not None  # whoever changes a turn has looked
    try:
        said = kind.model_validate({**turn.fields, **change})
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        what = str(fault["msg"]).lower().replace("string should have", "it may have")
        raise InputError(f"{flag}: {'.'.join(map(str, fault['loc']))}: {what}") from None
    reply: dict[str, JsonValue] = said.model_dump(mode="json")
    return reply


def labels(record: RunRecord, node: Node) -> dict[str, str]:
    """The answers that were debated last at ``node``, by the labels that its judge knows."""
    debates = exchange.exchanges(record, node)
    sides = debates[-1].sides if debates else []
    return {side.letter: side.answer for side in sides if side.letter}
