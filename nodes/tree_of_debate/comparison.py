"""The moderator's last word: similarities, then differences, each sentence with what it rests on.

ToD, section 3.4.2, prompt 10. That every sentence names its ground, and that the program looks
whether the ground is there, is ours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from dialectree.events import tell
from dialectree.models.door import Place, ask
from dialectree.nodes.quotations import own_words, unfounded
from dialectree.nodes.tree_of_debate.evidence import quotable
from dialectree.nodes.tree_of_debate.state import Settings, TreeOfDebate
from dialectree.nodes.tree_of_debate.topics import LETTERS, Debated
from dialectree.state import Ruling, Verdict

_Part = Literal["similarity", "difference", "proposal"]
_MOST = {"similarities": 6, "differences": 10, "proposals": 4}
NO_GROUND = "rests on nothing"


class SentenceText(BaseModel):
    """One sentence, and the topics and segments that it rests on."""

    text: Annotated[str, Field(min_length=1, max_length=1500)]
    nodes: list[str]
    segments: list[str]


class SummaryReply(BaseModel):
    """What two papers share, what sets them apart, and what their personas made up on the way."""

    similarities: list[SentenceText]
    differences: list[SentenceText]
    proposals: list[SentenceText]


class Sentence(TypedDict):
    """One sentence, its ground, and what is wrong with that."""

    part: _Part
    text: str
    nodes: list[str]
    segments: list[str]
    faults: list[str]


async def comparison(state: TreeOfDebate, runtime: Runtime[Settings], *, searched: bool) -> Ruling:
    """Write one paragraph from the whole tree; proposals of the personas stand beside it.

    Where the papers were not ``searched``, there are no segments to point to.
    """
    debates = state["debates"]
    offered = {"nodes[]": [one["id"] for one in debates], "segments[]": _cited(debates)}
    reply = await ask(
        runtime,
        Place("0", "moderator", "summary", 0, 1),
        "tree_of_debate/summary",
        SummaryReply,
        suggested={f"{part}.{path}": ids for part in _MOST for path, ids in offered.items()},
        at_most=_MOST,
        check=lambda reply: (
            None if reply.similarities or reply.differences else "there is no sentence in it"
        ),
        max_tokens=3000,
        question=state["question"],
        authors=state["authors"],
        debates=debates,
    )
    parts: dict[_Part, list[SentenceText]] = {
        "similarity": reply.similarities,
        "difference": reply.differences,
        "proposal": reply.proposals,
    }
    sentences = [
        _grounded(part, said, state, runtime, searched=searched)
        for part, texts in parts.items()
        for said in texts
    ]
    settled = {"verdict": None, "status": "answered", "data": {"sentences": sentences}}
    tell(runtime, "0", "settled", settled)
    return {"verdict": _verdict(sentences, debates)}


def _grounded(
    part: _Part,
    said: SentenceText,
    state: TreeOfDebate,
    runtime: Runtime[Settings],
    *,
    searched: bool,
) -> Sentence:
    """A sentence with its ground as far as it exists, and what is wrong with it."""
    debated = {one["id"] for one in state["debates"]}
    offered = quotable(runtime, state["authors"], _cited(state["debates"]))
    known = {segment.id: segment.text for segment in offered}
    cited = dict.fromkeys([*said.nodes, *said.segments])  # in whichever list an id stands
    nodes = [name for name in cited if name in debated]
    segments = [name for name in cited if name in known]
    others = [name for name in cited if name not in nodes and name not in segments]
    there = _there(others, state, runtime, searched=searched)
    faults = [
        f"points to {name}, on which no argument rests"
        if name in there
        else f"cites {name}, which is not there"
        for name in others
    ]
    if not nodes and not segments:
        faults.append(NO_GROUND)
    read = _readable(state, nodes, [known[name] for name in segments], runtime)
    faults += [f"quotes what its evidence does not say: “{q}”" for q in unfounded(said.text, read)]
    return {"part": part, "text": said.text, "nodes": nodes, "segments": segments, "faults": faults}


def _there(
    names: Sequence[str], state: TreeOfDebate, runtime: Runtime[Settings], *, searched: bool
) -> set[str]:
    """Return those that name a segment of a paper, or a topic with no argument of its own."""
    segments: set[str] = set()
    if searched:
        numbered = [name for name in names if re.fullmatch(r"[ab]:[0-9]{1,9}", name)]
        segments = {segment.id for segment in quotable(runtime, state["authors"], numbered)}
    debated = [one["id"] for one in state["debates"]]
    above = {name for name in names if any(one.startswith(f"{name}.") for one in debated)}
    return segments | above


def _cited(debates: Sequence[Debated]) -> list[str]:
    """The segments that last words rest on."""
    cited = [name for one in debates for said in one["positions"] for name in said["evidence"]]
    return [*dict.fromkeys(cited)]


def _readable(
    state: TreeOfDebate, nodes: Sequence[str], segments: list[str], runtime: Runtime[Settings]
) -> list[str]:
    """What a sentence may quote: the segments that it names, or else those of the debates that it
    names; what was argued there, but for what was misquoted; and what everybody knows of both
    papers and the topic."""
    debates = [one for one in state["debates"] if one["id"] in nodes]
    cited = quotable(runtime, state["authors"], _cited(debates))
    texts = [state["question"], *(segments or [segment.text for segment in cited])]
    for author in state["authors"].values():
        texts += [author["title"], author["abstract"], author["introduction"]]
    read = [*texts, *(segment.text for segment in cited)]
    for one in debates:
        texts += [own_words(text, read) for text in _argued(one)]
    return texts


def _argued(debated: Debated) -> list[str]:
    """What the moderator and the personas said of a topic."""
    texts = [debated["title"], debated["description"]]
    for said in debated["positions"]:
        texts += [said["title"], said["description"], *said["proposals"]]
    return texts


def _verdict(sentences: Sequence[Sentence], debates: Sequence[Debated]) -> Verdict:
    """Similarities, then differences; a sentence without ground is marked in the text."""
    proposed = [_marked(one) for one in sentences if one["part"] == "proposal"]
    rationale = None
    if proposed:
        rationale = "Proposed in the debate, and claimed by neither paper: " + " ".join(proposed)
    return {
        "answer": " ".join(_marked(one) for one in sentences if one["part"] != "proposal"),
        "label": None,
        "rationale": rationale,
        "confidence": None,
        "confidence_source": None,
        "notes": [*_ungrounded(sentences), *_conceded(debates)],
    }


def _marked(sentence: Sentence) -> str:
    """The sentence, with a mark for each kind of fault that it has."""
    marks = dict.fromkeys(fault.partition(" ")[0] for fault in sentence["faults"])
    return " ".join([sentence["text"], *(_MARKS[mark] for mark in marks)])


_MARKS = {
    "rests": "[rests on nothing]",
    "cites": "[cites what is not there]",
    "points": "[points to what nobody argued]",
    "quotes": "[quotation not found]",
}


def unmarked(answer: str) -> str:
    """A comparison as its author wrote it, for whoever judges it: the marks are the program's."""
    for mark in _MARKS.values():
        answer = answer.replace(f" {mark}", "")
    return answer


def _ungrounded(sentences: Sequence[Sentence]) -> list[str]:
    count = sum(bool(one["faults"]) for one in sentences)
    return [f"{count} of {len(sentences)} sentences are marked"] if count else []


def _conceded(debates: Sequence[Debated]) -> list[str]:
    """Who conceded where."""
    found: list[str] = []
    for letter in LETTERS:
        where = [
            one["id"]
            for one in debates
            if any(said["paper"] == letter and said["concedes"] for said in one["positions"])
        ]
        if where:
            found.append(f"paper {letter} conceded at {', '.join(where)}")
    return found
