"""The moderator's last word: similarities, then differences, each sentence with its ground.

The ground of a sentence is the topics and segments that it rests on. ToD, section 3.4.2, prompt 10.
Two things are ours: every sentence names its ground, and the program checks that the ground exists.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, BeforeValidator, Field
from typing_extensions import TypedDict

from dialectree.flow import Step
from dialectree.flow.state import Ruling
from dialectree.flow.steps import ruling, settle
from dialectree.models.door import ByText, ask
from dialectree.nodes.quotations import find_unsupported_quotations, own_words
from dialectree.nodes.tree_of_debate.evidence import at_hand, list_introductory_parts, quotable
from dialectree.nodes.tree_of_debate.state import LETTERS, DebatedTopic, Letter, Settings, TreeOfDebate
from dialectree.protocols.inside import root
from dialectree.records import Place
from dialectree.report.node_data import Sentence
from dialectree.trace.events import tell

_Part = Literal["similarity", "difference", "proposal"]
_MOST = {"similarities": 6, "differences": 10, "proposals": 4}
_MARKS = {
    "rests": "[rests on nothing]",
    "cites": "[cites what is not there]",
    "points": "[points to what nobody argued]",
    "quotes": "[quotation not found]",
}
"""By the first word of a fault, the mark that shows it in the text."""


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


class ShortSummaryReply(SummaryReply):
    """The same by a model of medium size, in few sentences.

    Where all lists may be empty, it left all empty.
    """

    similarities: Annotated[list[SentenceText], Field(max_length=3)]
    differences: Annotated[list[SentenceText], Field(min_length=1, max_length=4)]
    proposals: Annotated[list[SentenceText], Field(max_length=2)]


async def comparison(state: TreeOfDebate, runtime: Runtime[Settings]) -> Ruling:
    """Write one paragraph from the whole tree, and the personas' proposals separately."""
    debates = state["debates"]
    ids = {"nodes[]": [topic["id"] for topic in debates], "segments[]": _list_cited_ids(debates)}
    suggested = {f"{part}.{path}": offered for part in _MOST for path, offered in ids.items()}
    reply = await ask(
        runtime,
        Place(node=root(), phase="summary", role="moderator", round=1),
        "tree_of_debate/summary",
        SummaryReply,
        suggested=suggested,
        by_text=ByText[SummaryReply](ShortSummaryReply, {}, lambda reply: reply, suggested),
        at_most=_MOST,
        check=lambda reply: None if reply.similarities or reply.differences else "there is no sentence in it",
        max_tokens=3000,
        question=state["question"],
        authors=state["authors"],
        debates=debates,
    )
    parts: list[tuple[_Part, list[SentenceText]]] = [
        ("similarity", reply.similarities),
        ("difference", reply.differences),
        ("proposal", reply.proposals),
    ]
    async with at_hand(state, runtime):
        sentences = [_ground_sentence(part, text, state, runtime) for part, texts in parts for text in texts]
    data = {"sentences": [sentence.model_dump() for sentence in sentences]}
    tell(runtime, root(), "settled", {"verdict": None, "status": "answered", "data": data})
    proposed = [_mark_faults(sentence) for sentence in sentences if sentence.part == "proposal"]
    count = sum(bool(sentence.faults) for sentence in sentences)
    marks = [f"{count} of {len(sentences)} sentences are marked"] if count else []
    intro = "Proposed in the debate, and claimed by neither paper:"
    return ruling(
        " ".join(_mark_faults(sentence) for sentence in sentences if sentence.part != "proposal"),
        rationale=" ".join([intro, *proposed]) if proposed else None,
        notes=[*marks, *_concessions(debates)],
    )


def _list_cited_ids(debates: Iterable[DebatedTopic]) -> list[str]:
    """Return the ids of the segments that the last arguments rest on."""
    turns = [turn for topic in debates for turn in topic["positions"]]
    return [*dict.fromkeys(name for turn in turns for name in turn["evidence"])]


def _ground_sentence(
    part: _Part, sentence: SentenceText, state: TreeOfDebate, runtime: Runtime[Settings]
) -> Sentence:
    """Return a sentence with those of its topics and segments that exist, and with its faults."""
    topics = {topic["id"]: topic for topic in state["debates"]}
    cited = quotable(runtime, state["authors"], _list_cited_ids(state["debates"]))
    ids = dict.fromkeys([*sentence.nodes, *sentence.segments])  # an id may be in the wrong list
    nodes = [name for name in ids if name in topics]
    segments = [name for name in ids if name in cited]
    faults = [
        f"points to {name}, on which no argument rests"
        if _exists(name, state, runtime)
        else f"cites {name}, which is not there"
        for name in ids
        if name not in topics and name not in cited
    ]
    if not nodes and not segments:
        faults.append("rests on nothing")
    debates = [topics[name] for name in nodes]
    quoted = [cited[name] for name in (segments or _list_cited_ids(debates))]
    sources = _sources(state, debates, quoted, [cited[name] for name in _list_cited_ids(debates)])
    faults += [
        f"quotes what its evidence does not say: “{quote}”"
        for quote in find_unsupported_quotations(sentence.text, sources)
    ]
    return Sentence(part=part, text=sentence.text, nodes=nodes, segments=segments, faults=faults)


def _exists(name: str, state: TreeOfDebate, runtime: Runtime[Settings]) -> bool:
    """Return whether ``name`` is a segment of a paper, or a topic without arguments."""
    if any(topic["id"].startswith(f"{name}.") for topic in state["debates"]):
        return True
    searched = all(author["source"] for author in state["authors"].values())
    segment = searched and re.fullmatch(r"[ab]:[1-9][0-9]{0,8}", name)
    return bool(segment and quotable(runtime, state["authors"], [name]))


def _sources(
    state: TreeOfDebate, debates: Sequence[DebatedTopic], quoted: Sequence[str], read: Sequence[str]
) -> list[str]:
    """Return the texts that a sentence about ``debates`` may quote.

    These are the segments ``quoted``, the topic, the opening parts of both papers, and the
    arguments of the debates. A quotation in an argument counts only if the other texts or the
    texts ``read`` in the debates contain it.
    """
    sources = [*quoted, state["question"]]
    for author in state["authors"].values():
        sources += list_introductory_parts(author)
    quotable_texts = [*sources, *read]
    for topic in debates:
        argued = [topic["title"], topic["description"]]
        for turn in topic["positions"]:
            argued += [turn["title"], turn["description"], *turn["proposals"]]
        sources += [own_words(text, quotable_texts) for text in argued]
    return sources


def _mark_faults(sentence: Sentence) -> str:
    """Return the sentence, with a mark for each kind of fault that it has."""
    marks = dict.fromkeys(_MARKS[fault.partition(" ")[0]] for fault in sentence.faults)
    return " ".join([sentence.text, *marks])


def remove_program_marks(answer: str) -> str:
    """Return a comparison as its author wrote it, without the program's marks."""
    for mark in _MARKS.values():
        answer = answer.replace(f" {mark}", "")
    return answer


def _concessions(debates: Sequence[DebatedTopic]) -> list[str]:
    """Return for each paper a note on the topics at which its persona conceded."""
    notes: list[str] = []
    for letter in LETTERS:
        ids = [
            topic["id"]
            for topic in debates
            if any(turn["paper"] == letter and turn["concedes"] for turn in topic["positions"])
        ]
        if ids:
            notes.append(f"the speaker for paper {letter} conceded at {', '.join(ids)}")
    return notes


_Paragraph = Annotated[str, Field(min_length=1, max_length=8000)]


class PaperSummaryReply(BaseModel):
    """What one paper contributes to a topic."""

    summary: _Paragraph


class ComparisonReply(PaperSummaryReply):
    """What two papers share, and what sets them apart."""


def summariser(letter: Letter) -> Step:
    """Return the role that sums one paper up in a paragraph."""

    async def summariser(state: TreeOfDebate, runtime: Runtime[Settings]) -> dict[str, dict[Letter, str]]:
        reply = await ask(
            runtime,
            Place(node=root(), phase="summary", role="summariser", speaker=letter, round=1),
            "two_stage/summariser",
            PaperSummaryReply,
            max_tokens=900,
            paper=state["authors"][letter],
            question=state["question"],
        )
        return {"summaries": {letter: reply.summary}}

    return summariser


def comparer(prompt: str, *, step: int = 0) -> Step:
    """Return the role that compares the papers with ``prompt``.

    The prompt sees ``papers``, their ``summaries`` if there are any, and the ``question``.
    """

    async def comparer(state: TreeOfDebate, runtime: Runtime[Settings]) -> Ruling:
        reply = await ask(
            runtime,
            Place(node=root(), phase="summary", role="comparer", round=1, step=step),
            prompt,
            ComparisonReply,
            max_tokens=1500,
            papers=state["authors"],
            summaries=state["summaries"],
            question=state["question"],
        )
        return await settle(runtime, reply.summary)

    return comparer


class ComparisonSample(TypedDict):
    """One comparison among several."""

    number: int
    """From 1."""
    summary: str


class Sampled(TreeOfDebate):
    """Two papers, and several comparisons of them."""

    number: int
    """The number of the comparison that a step gives, from 1."""
    samples: Annotated[list[ComparisonSample], operator.add]


async def sampler(state: Sampled, runtime: Runtime[Settings]) -> dict[str, list[ComparisonSample]]:
    """Compare both papers in one step, independently of the other samples."""
    number = state["number"]
    reply = await ask(
        runtime,
        Place(node=root(), phase="direct", role="sampler", speaker=str(number)),
        "single_stage/comparer",
        ComparisonReply,
        max_tokens=1500,
        papers=state["authors"],
        question=state["question"],
    )
    return {"samples": [{"number": number, "summary": reply.summary}]}


class ComparisonPickReply(BaseModel):
    """The number of the best comparison, after the reason for it."""

    rationale: Annotated[str, Field(max_length=2500)]
    number: Annotated[str, BeforeValidator(lambda v: str(v) if type(v) is int else v)]


async def picker(state: Sampled, runtime: Runtime[Settings]) -> Ruling:
    """Pick by accuracy, completeness and depth; the picker also reads the papers."""
    samples = sorted(state["samples"], key=lambda sample: sample["number"])
    by_number = {str(sample["number"]): sample for sample in samples}
    reply = await ask(
        runtime,
        Place(node=root(), phase="summary", role="picker", round=1),
        "best_comparison/picker",
        ComparisonPickReply,
        ids={"number": [*by_number]},
        max_tokens=700,
        papers=state["authors"],
        question=state["question"],
        samples=samples,
    )
    return await settle(
        runtime,
        by_number[reply.number]["summary"],
        rationale=reply.rationale,
        notes=[f"sample {reply.number} was picked out of {len(samples)}"],
    )


async def sole_sample(state: Sampled, runtime: Runtime[Settings]) -> Ruling:
    """Take the only comparison without a call."""
    (sample,) = state["samples"]
    note = "there was one sample, and nothing to pick from"
    return await settle(runtime, sample["summary"], notes=[note])
