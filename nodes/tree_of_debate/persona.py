"""The personas of two papers: each speaks for its own paper on a topic.

ToD, section 3.3 (self-deliberation) and 3.2.2 (debate), prompts 11 and 13 to 15. Personas ``a`` and
``b`` speak from the same prompts.
"""

from __future__ import annotations

from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.answers import normal
from dialectree.flow import Step
from dialectree.models.door import CopyCheck, ask
from dialectree.nodes.tree_of_debate.evidence import among, note_misquotes, quotable
from dialectree.nodes.tree_of_debate.state import Claim, Letter, Settings, Stage, TopicDebate, Turn, opponent
from dialectree.records import Place
from dialectree.trace.events import tell

_Title = Annotated[str, Field(min_length=1, max_length=300)]
_Text = Annotated[str, Field(min_length=1, max_length=4000)]
_Line = Annotated[str, Field(min_length=1, max_length=600)]
MOST_LINES = 3
"""The most questions, or proposals, of one turn."""


class ClaimText(BaseModel):
    """One contribution, and the segments that show it."""

    title: _Title
    description: _Text
    evidence: list[str]


class ClaimsReply(BaseModel):
    """What a paper contributes to a topic."""

    claims: list[ClaimText]


class ArgumentReply(BaseModel):
    """Why a paper's contribution is the better one, or that it is not."""

    title: _Title
    description: _Text
    evidence: list[str]
    proposals: list[_Line]
    concedes: bool


class ResponseReply(BaseModel):
    """What a persona says to the other's last turn."""

    description: _Text
    questions: list[_Line]
    evidence: list[str]
    concedes: bool


def claims(letter: Letter) -> Step:
    """Return the role that claims the contributions of its paper, from retrieved segments."""

    async def claims(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, list[Claim]]:
        max_claims, offered = runtime.context.max_claims, state["pools"][letter]
        evidence_texts = quotable(runtime, state["authors"], offered)
        reply = await ask(
            runtime,
            Place(node=state["id"], phase="claims", role="persona", speaker=letter, round=1),
            "tree_of_debate/claims",
            ClaimsReply,
            suggested={"claims.evidence[]": offered},
            at_most={"claims": max_claims},
            check=lambda reply: None if reply.claims else "claims: give at least one",
            max_tokens=400 * max_claims,
            paper=state["authors"][letter],
            topic=state,
            evidence=evidence_texts,
            most=max_claims,
        )
        once: dict[tuple[str, str], ClaimText] = {}
        for text in reply.claims:
            once.setdefault((normal(text.title), normal(text.description)), text)
        new_claims: list[Claim] = [
            {
                "id": f"{letter}{number}",
                "paper": letter,
                "title": text.title,
                "description": text.description,
                "evidence": among(text.evidence, offered),
                "counter": None,
            }
            for number, text in enumerate([*once.values()][:max_claims], 1)
        ]
        noted = [{name: c for name, c in claim.items() if name != "counter"} for claim in new_claims]
        tell(runtime, state["id"], "noted", {"data": {"claims": {letter: noted}}})
        read = [*evidence_texts.values()]
        for claim in new_claims:
            texts = [claim["title"], claim["description"]]
            note_misquotes(state, runtime, f"claim {claim['id']}", texts, read, papers=[letter])
        return {"own": new_claims}

    return claims


def persona(letter: Letter, stage: Stage, *, step: int = 0) -> Step:
    """Return the role that speaks for one paper in a stage of the debate.

    ``present`` and ``revise``: argue why the paper's contribution is the better one, or concede.
    ``respond``: acknowledge, answer, ask, clarify or concede.
    """
    responds = stage == "respond"
    kind: type[ArgumentReply | ResponseReply] = ResponseReply if responds else ArgumentReply
    lines = "questions" if responds else "proposals"

    async def persona(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, list[Turn]]:
        opponent_letter, turns = opponent(letter), state["said"]
        if responds and not any(turn["paper"] == opponent_letter for turn in turns):
            return {"said": []}  # the other has said nothing to respond to
        paper_claims = [claim for claim in state["claims"] if claim["paper"] == letter]
        offered = _list_visible_segments(state, paper_claims, letter)
        evidence_texts = quotable(runtime, state["authors"], offered)
        authors = state["authors"].values()
        reply = await ask(
            runtime,
            Place(node=state["id"], phase=stage, role="persona", speaker=letter, round=1, step=step),
            f"tree_of_debate/{stage}",
            kind,
            suggested={"evidence[]": offered},
            at_most={lines: MOST_LINES},
            copy_check=CopyCheck(
                [
                    (turn["paper"] == opponent_letter, f"{turn['title']} ¶ {turn['description']}")
                    for turn in turns
                ],
                common=[
                    *evidence_texts.values(),
                    *(
                        f"{author['title']} {author['abstract']} {author['introduction']}"
                        for author in authors
                    ),
                ],
                own_words=lambda reply: f"{getattr(reply, 'title', '')} ¶ {reply.description}",
            ),
            max_tokens=900,
            letter=letter,
            paper=state["authors"][letter],
            opponent=state["authors"][opponent_letter],
            topic=state,
            claims=paper_claims,
            evidence=evidence_texts,
            said=turns,
        )
        turn: Turn = {
            "paper": letter,
            "stage": stage,
            "title": reply.title if isinstance(reply, ArgumentReply) else "",
            "description": reply.description,
            "evidence": among(reply.evidence, offered),
            "questions": [] if isinstance(reply, ArgumentReply) else reply.questions[:MOST_LINES],
            "proposals": reply.proposals[:MOST_LINES] if isinstance(reply, ArgumentReply) else [],
            "concedes": reply.concedes,
        }
        read = [*evidence_texts.values()]
        for claim in paper_claims:
            read += [claim["title"], claim["description"]]
        for earlier in turns:
            read += [earlier["title"], earlier["description"], *earlier["questions"]]
        texts = [turn["title"], turn["description"], *turn["questions"], *turn["proposals"]]
        note_misquotes(state, runtime, f"{stage}, persona {letter}", texts, read)
        return {"said": [turn]}

    return persona


def _list_visible_segments(state: TopicDebate, paper_claims: list[Claim], letter: Letter) -> list[str]:
    """Return the ids of the segments that a persona reads.

    These are the segments of the persona's claims and the other paper's segments on these claims, or
    without a claim the segments retrieved for the parent topic. Segments cited in this debate are added.
    """
    ids = [name for c in paper_claims for name in [*c["evidence"], *(c["counter"] or [])]]
    ids = ids or state["pools"].get(letter, [])
    return [*dict.fromkeys([*ids, *(name for turn in state["said"] for name in turn["evidence"])])]
