"""Define the first and last steps of every protocol: `opening`, `unresolved`, `conclusion`."""

from __future__ import annotations

import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from langgraph.runtime import Runtime

from dialectree.errors import InputError
from dialectree.flow.hosting import HostRun
from dialectree.flow.state import Hosted, Question, Ruling
from dialectree.models.run import Run, run_of
from dialectree.protocols import forms
from dialectree.protocols.calibrated_figure import CALIBRATIONS
from dialectree.protocols.inside import inside, root
from dialectree.protocols.phases import SET_BY_PERSON
from dialectree.protocols.settings import ProtocolSettings, host_run
from dialectree.records import Verdict
from dialectree.trace.events import tell

DEMONSTRATION = "a model below 1 billion parameters took part: its answers are no better than chance"
PERSON = "person"
"""The ``confidence_source`` of a person's verdict. The person may give no confidence."""
ILLUSTRATION = "an illustration: its replies were written by hand, not by a model"


def require_question(fields: Mapping[str, Any], called: str = "question") -> None:
    """Raise InputError if the text to debate is missing; the message calls it ``called``."""
    text = fields.get("question") or ""
    if not isinstance(text, str):
        raise InputError(f"the {called} is not text")
    if not any(unicodedata.category(char)[0] not in "CZ" for char in text):
        raise InputError(f"the {called} is empty")


def prepare(fields: Mapping[str, Any], settings: ProtocolSettings) -> dict[str, Any]:
    """Return the user's input as a graph takes it: the text to debate is its ``question``."""
    declared = settings.declaration  # a graph can run without one
    subject = forms.subject(declared.input) if declared is not None else "question"
    prepared = {"question" if name == subject else name: content for name, content in fields.items()}
    if "question" in prepared:
        require_question(prepared, subject or "question")
    return prepared


async def opening(state: Question, runtime: Runtime[Any]) -> dict[str, object]:
    """Open the root of the tree with the question, which this protocol does not split."""
    require_question(state)
    tell(runtime, root(), "opened", {"text": state["question"], "kind": "leaf"})
    return {}


def ruling(
    answer: str | None,
    *,
    label: str | None = None,
    rationale: str | None = None,
    confidence: float | None = None,
    confidence_source: str | None = None,
    notes: Sequence[str] = (),
    agreement: float | None = None,
    dissent: Mapping[str, str] | None = None,
) -> Ruling:
    """Return the verdict of a debate as the update of the ruling step."""
    verdict = Verdict(
        answer=answer,
        label=label,
        rationale=rationale or None,
        confidence=confidence,
        confidence_source=confidence_source,
        notes=[*notes],
        agreement=agreement,
        dissent={**(dissent or {})},
    )
    return {"verdict": verdict.model_dump()}


async def end_unresolved(state: Question, runtime: Runtime[Any]) -> Ruling:
    """Return an empty verdict, because a required reply failed for good."""
    return await settle(runtime, None)


async def settle(
    runtime: Runtime[Any],
    answer: str | None,
    *,
    node: str = "",
    take: int = 0,
    label: str | None = None,
    winner: str | None = None,
    rationale: str | None = None,
    confidence: float | None = None,
    confidence_source: str | None = None,
    notes: Sequence[str] = (),
    agreement: float | None = None,
    dissent: Mapping[str, str] | None = None,
) -> Ruling:
    """Settle ``node`` with ``answer``, or without one; return the update for the ruling step.

    The default ``node`` is the root of the debate, and the default ``take`` is the debate's pass. In a
    contest, a person's verdict has neither a model's confidence nor a jury's agreement.

    A second pass (``take`` 2) without an answer keeps the verdict of the first pass.
    """
    node, take = node or root(), take or inside.get().take
    run = run_of(runtime)
    person = run.overrides.verdict(node, take) if run.contested else None
    if person is not None:
        text, name = person["answer"], person["label"]
        answer, label = str(text), None if name is None else str(name)
        winner, rationale = label, SET_BY_PERSON
    if person is not None or (run.contested and run.overrides.is_ruled(node, take)):
        confidence, confidence_source, agreement, dissent = None, PERSON, None, None
    for note in notes:
        tell(runtime, node, "noted", {"note": note if take == 1 else f"second pass: {note}"})
    if answer is not None:
        verdict = Verdict(
            answer=answer,
            rationale=rationale or "",
            confidence=confidence,
            local_confidence=confidence,
            winner=winner,
            take=take,
            agreement=agreement,
            dissent={**(dissent or {})},
        )
        settled = {"take": take, "verdict": verdict.model_dump(), "provenance": [node]}
        tell(runtime, node, "settled", settled)
    elif take == 1:
        tell(runtime, node, "settled", {"verdict": None})
    return ruling(
        answer,
        label=label,
        rationale=rationale,
        confidence=confidence,
        confidence_source=confidence_source,
        notes=notes,
        agreement=agreement,
        dissent=dissent,
    )


async def conclusion(state: Hosted, runtime: Runtime[Any]) -> dict[str, Any]:
    """Report the verdict, and leave the record in a host's thread.

    The record says if a model took part whose answers are no better than chance. A host shows only the
    verdict, so for a host the verdict's notes say this, too. The notes always say if a person wrote the
    replies. A debate inside another one only returns its verdict to the outer debate.
    """
    verdict = {**state["verdict"]}
    if inside.get().protocols:
        return {"verdict": verdict}
    run = run_of(runtime)
    if run.illustration:
        verdict["notes"] = [*verdict["notes"], ILLUSTRATION]
    if verdict["confidence"] is None and verdict["confidence_source"] != PERSON:
        verdict["confidence_source"] = None
    verdict |= _calibrate_verdict(verdict, run)
    tell(runtime, root(), "concluded", {**verdict})
    if run.demonstration and run is not runtime.control:
        verdict["notes"] = [*verdict["notes"], DEMONSTRATION]
    driven = host_run.get()
    if state.get("run") and isinstance(driven, HostRun):
        return {"verdict": verdict, **await driven.finish()}
    return {"verdict": verdict}


def _calibrate_verdict(verdict: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """Return the verdict's calibrated confidence, or a note that says why the calibration is missing."""
    if not run.calibration or verdict["confidence"] is None:
        return {}
    return CALIBRATIONS.require().calibrate(verdict, run.calibration, run.models)


def stop(why: str, **update: object) -> Callable[[Any, Runtime[Any]], Awaitable[Any]]:
    """Return a step that records ``why`` its node is not split, and returns ``update``."""

    async def stop(state: Mapping[str, Any], runtime: Runtime[Any]) -> dict[str, object]:
        tell(runtime, state["id"], "branched", {"children": [], "why": why})
        return update

    return stop
