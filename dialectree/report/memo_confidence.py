"""Say in a memo what the confidence of a verdict means: its source, and whether it is calibrated."""

from __future__ import annotations

from collections.abc import Iterator

from dialectree.records import RunRecord, Verdict
from dialectree.report import arguments, verdicts, view, words
from dialectree.report.figures import format_share
from dialectree.report.memo_blocks import MemoBlock, heading, paragraph
from dialectree.text import label, line

_JUDGE = "It is the judge’s own statement of how sure it is."
_SHARE = "It is the share of the votes or replies that gave this answer."
_SOURCES = {
    "judge": _JUDGE,
    "judges": "It is made of the judges’ own statements of how sure they are.",
    "product of judges": "It is a product of the judges’ own statements of how sure they are.",
    "jury": "It is the mean of what the judges of a jury said of themselves.",
    "mean of both orders": "It is the mean of two rulings, one for each order of the sides.",
    "agreement": _SHARE,
    "share of agents": _SHARE,
    "share of samples": _SHARE,
    "votes": _SHARE,
    "weighted vote": "It is the share of this answer in a vote in which each vote counts by its confidence.",
    "person": "A person ruled.",
}
"""Meanings by ``Verdict.confidence_source``. Other sources are named as the record names them."""

_LONG = 300
"""The most characters of a sentence."""


def explain_confidence(record: RunRecord) -> Iterator[MemoBlock]:
    """Yield the section on the confidence; nothing for a comparison, which has none."""
    verdict = record.verdict
    if verdict is None or verdict.answer is None or (words.compares(record) and verdict.confidence is None):
        return
    yield heading("What the confidence means")
    yield paragraph(" ".join(line(sentence, _LONG) for sentence in _sentences(record, verdict)))


def _sentences(record: RunRecord, verdict: Verdict) -> Iterator[str]:
    if verdict.confidence is None:
        yield (
            "A person ruled and gave no confidence."
            if verdict.confidence_source == "person"
            else ("The record has no confidence for this answer.")
        )
        return
    yield _explain_source(record, verdict)
    root = record.tree.nodes.get(record.tree.root)
    if root is not None and (product := view.product(record, root)):
        yield f"It multiplies {product}"
    if verdict.agreement is not None:
        yield f"{verdicts.agreement(verdict)}."
    yield _explain_calibration(verdict)
    if record.demonstration:
        yield "A model took part that answers at chance, so the figure says nothing about the truth."
    if record.illustration:
        yield "A person wrote the replies, so the figure shows how it is computed and no model’s judgment."


def _explain_source(record: RunRecord, verdict: Verdict) -> str:
    source = verdict.confidence_source or ""
    if verdict.probable:
        weighed = (
            " from the strengths of the arguments" if arguments.reckoning(record) else " by the protocol"
        )
        return f"It is the probability that the claim is true, computed{weighed}."
    if source in _SOURCES:
        return _SOURCES[source]
    declaration = record.get_declaration()
    roles = {*declaration.roles, *(phase.role for phase in declaration.phases)}
    if source in roles:
        return f"It is the {label(source).lower()}’s own statement of how sure it is."
    return f"Its source, as the record names it: {source or 'unknown'}."


def _explain_calibration(verdict: Verdict) -> str:
    calibration = verdict.calibrated
    if calibration is None:
        of = "claims with such a probability are true" if verdict.probable else "such answers are right"
        return f"It is not calibrated: nobody has measured how often {of}."
    scores = f"{calibration.brier_before:.3f} before, {calibration.brier_after:.3f} after"
    return (
        f"Calibrated on {calibration.n:,} answers it is {format_share(calibration.confidence)}, the share "
        f"that was right among answers with such a confidence (Brier score {scores})."
    )
