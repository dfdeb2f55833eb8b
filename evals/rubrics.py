"""Judges comparative summaries by the rubric of Tree-of-Debate, each score from 0 to 100.

ToD, section 4.3 and Appendix C. In the paper people gave the marks; here a model does, and a report
says so. The functions return scorers, as in :mod:`dialectree.evals.judges`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from dialectree.evals.asking import Ask, Scorer, reply
from dialectree.evals.judges import Control
from dialectree.evals.scorers import Fields, Score, score
from dialectree.evals.sentences import sentences
from dialectree.nodes.tree_of_debate.comparison import unmarked


class SentenceRating(BaseModel):
    """Whether one sentence is borne out by the papers."""

    number: str
    factual: bool


class FactualityReply(BaseModel):
    """Every sentence of a summary, by its number."""

    sentences: list[SentenceRating]


class RubricReply(BaseModel):
    """A grade of 0 to 4, after the reason for it."""

    rationale: Annotated[str, Field(max_length=2500)]
    grade: Annotated[int, Field(ge=0, le=4)]


def factuality(ask: Ask) -> Scorer:
    """Return a judge of the share of sentences that the papers bear out (ToD, Appendix C)."""

    async def factuality(*, inputs: Fields, outputs: Fields, reference_outputs: Fields) -> Score:
        written = sentences(unmarked(outputs.get("answer") or ""))
        if not written:
            return score("factuality", 0.0, "there is no summary", "unanswered")
        numbered = {str(number): text for number, text in enumerate(written, 1)}
        marks, wrong = await reply(
            ask,
            "evaluation/factuality",
            FactualityReply,
            {"sentences.number": [*numbered]},
            papers=papers(inputs),
            sentences=numbered,
        )
        if marks is None:
            return score("factuality", None, wrong, "unparsed")
        faults = [one.number for one in marks.sentences if not one.factual]
        share = 1 - len(faults) / len(written)
        named = f"not borne out: {', '.join(faults)}" if faults else "all borne out"
        return score("factuality", 100 * share, f"{len(written)} sentences, {named}")

    return factuality


def controls(inputs: Fields) -> list[Control]:
    """Return summaries to try a judge on: one that the papers bear out, and one not."""
    first, second = (paper["title"] for paper in inputs["papers"])
    return [
        Control(f"One paper is called “{first}”, and the other one “{second}”.", True),
        Control("Both papers report how alpacas were bred in the Andes.", False),
    ]


def rubric(ask: Ask, key: Literal["breadth", "contextualisation"]) -> Scorer:
    """Return a judge that grades a summary from 0 to 4, as 0 to 100 (ToD, Appendix C)."""

    async def graded(*, inputs: Fields, outputs: Fields, reference_outputs: Fields) -> Score:
        answer = unmarked(str(outputs.get("answer") or "")).strip()
        if not answer:
            return score(key, 0.0, "there is no summary", "unanswered")
        marks, wrong = await reply(
            ask,
            f"evaluation/{key}",
            RubricReply,
            {},
            topic=inputs["topic"],
            papers=papers(inputs),
            summary=answer,
        )
        if marks is None:
            return score(key, None, wrong, "unparsed")
        return score(key, 25.0 * marks.grade, marks.rationale)

    return graded


def papers(inputs: Fields) -> list[Mapping[str, str]]:
    """Return the two papers as a judge reads them: the full text where there is one."""
    return [
        {
            "title": paper["title"],
            "abstract": paper.get("abstract", ""),
            "text": paper.get("body") or paper.get("introduction", ""),
        }
        for paper in inputs["papers"]
    ]
