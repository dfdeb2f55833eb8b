"""Script a whole comparison of two papers: the replies of every role."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from dialectree.graphs.tree_of_debate.graph import graph
from dialectree.nodes.tree_of_debate.comparison import (
    ComparisonPickReply,
    ComparisonReply,
    PaperSummaryReply,
    SentenceText,
    SummaryReply,
)
from dialectree.nodes.tree_of_debate.evidence import Relevance, RelevanceReply
from dialectree.nodes.tree_of_debate.moderator import (
    BareSubtopicsReply,
    BareSubtopicText,
    ProgressReply,
    SubtopicsReply,
    SubtopicText,
)
from dialectree.nodes.tree_of_debate.persona import ArgumentReply, ClaimsReply, ClaimText, ResponseReply
from dialectree.nodes.tree_of_debate.state import Settings
from tests.graphs import debating
from tests.graphs.debating import Debated, debate
from tests.graphs.role_switching_debate.switching import within
from tests.scripted import Asked, Said, ScriptedModel

TOPIC = "fast estimation of orbits"

_FILLER = (
    "The survey delivers a new catalogue of moving objects on every clear night of the season. "
    "A fast estimation of orbits is ready before the next night begins, a slow one is too late. "
)


def _sentences(name: str, subjects: tuple[str, ...]) -> str:
    """Return a body in which every subject has a paragraph, and so a segment, of its own."""
    return "\n\n".join(
        f"The {name} method treats {subject} with care. {_FILLER}Its {subject} is our own."
        for subject in subjects
    )


_SUBJECTS = ("accuracy", "speed", "memory", "noise", "sampling", "priors", "outliers", "scaling")
PAPER_A: dict[str, Any] = {
    "name": "ladder.txt",
    "title": "Ladder: orbits in linear time",
    "abstract": "We estimate orbits in linear time by a ladder of linear problems.",
    "introduction": "Orbits used to take cubic time. We make it linear.",
    "body": _sentences("ladder", _SUBJECTS),
}
PAPER_B: dict[str, Any] = {
    "name": "mesh.txt",
    "title": "Mesh: orbits with guarantees",
    "abstract": "We bound the error of every orbit by means of an adaptive mesh.",
    "introduction": "Orbits used to come without a bound. We give one.",
    "body": _sentences("mesh", _SUBJECTS),
}


def shown_segments(call: Asked) -> list[str]:
    """Return the ids of the segments in a prompt, in their order."""
    return re.findall(r"^([ab]:\d+): ", within(call, "evidence"), re.MULTILINE)


def shown_claims(call: Asked) -> list[str]:
    """Return the ids of the claims that the moderator reads."""
    return re.findall(r"^([ab]\d+): ", within(call, "claims"), re.MULTILINE)


def shown_questions(call: Asked) -> list[str]:
    """Return the ids of the questions that a prompt shows."""
    return re.findall(r"^(q\d+), asked", within(call, "questions"), re.MULTILINE)


def speaker(call: Asked) -> str:
    """Return which persona is asked; each knows its own paper's title."""
    if call.kind == "RelevanceReply":
        return shown_segments(call)[0][0]
    named = re.search(r"persona ([ab])\. Persona", call.prompt)
    return named[1] if named else "ab"[PAPER_B["title"] in within(call, "paper")]


def turn(model: ScriptedModel, kind: type[Any], who: str, node: str, place: int = 0) -> Asked:
    """Return a persona's call for a ``kind`` of reply at a node; ``place`` counts from 0."""
    asked = [c for c in model.calls if (c.kind, c.node) == (kind.__name__, node)]
    return [call for call in asked if speaker(call) == who][place]


def claim(count: int = 3) -> Callable[[Asked], ClaimsReply]:
    """Make ``count`` claims, each on one of the segments that are shown."""

    def say(call: Asked) -> ClaimsReply:
        segments = shown_segments(call)
        return ClaimsReply(
            claims=[
                ClaimText(
                    title=f"{speaker(call)} on {_SUBJECTS[n]} at {call.node}",
                    description=f"It treats {_SUBJECTS[n]} with care.",
                    evidence=segments[n : n + 1],
                )
                for n in range(count)
            ]
        )

    return say


def weigh(*, relevant: bool = True) -> Callable[[Asked], RelevanceReply]:
    """Let every segment support the claim, or none."""
    yes = "yes" if relevant else "no"

    def say(call: Asked) -> RelevanceReply:
        fields = {"supports": yes, "refutes": "no", "clarifies": "no", "irrelevant": "yes"}
        return RelevanceReply(
            segments=[Relevance.model_validate({"id": name, **fields}) for name in shown_segments(call)]
        )

    return say


def split(count: int = 3) -> Callable[[Asked], SubtopicsReply]:
    """Name ``count`` subtopics, each about one claim of either paper if there is one."""

    def say(call: Asked) -> SubtopicsReply:
        claims = shown_claims(call)
        own = {letter: [name for name in claims if name[0] == letter] for letter in "ab"}
        return SubtopicsReply(
            subtopics=[
                SubtopicText(
                    title=f"part {n} of {call.node}",
                    description=f"What of {_SUBJECTS[n]}?",
                    claims_a=own["a"][n : n + 1] or own["a"][:1],
                    claims_b=own["b"][n : n + 1] or own["b"][:1],
                    raised_by=shown_questions(call)[n : n + 1],
                )
                for n in range(count)
            ]
        )

    return say


def split_bare(count: int = 3) -> Callable[[Asked], BareSubtopicsReply]:
    """Name ``count`` subtopics where nobody made claims."""
    return lambda call: BareSubtopicsReply(
        subtopics=[
            BareSubtopicText(
                title=f"part {n} of {call.node}",
                description=f"{_SUBJECTS[n]}?",
                raised_by=shown_questions(call)[n : n + 1],
            )
            for n in range(count)
        ]
    )


def argue(title: str = "Ours is better", **fields: Any) -> ArgumentReply:
    said = {"description": "It is faster.", "evidence": [], "proposals": [], "concedes": False}
    return ArgumentReply.model_validate({"title": title, **said, **fields})


def argue_from_evidence(call: Asked) -> ArgumentReply:
    """Argue from the first segment that is shown."""
    return argue(f"{speaker(call)} argues at {call.node}", evidence=shown_segments(call)[:1])


def respond(**fields: Any) -> ResponseReply:
    said = {"description": "I see.", "questions": ["How?"], "evidence": [], "concedes": False}
    return ResponseReply.model_validate({**said, **fields})


def go_on(*open_questions: str, progression: bool = True, winner: bool = False) -> ProgressReply:
    return ProgressReply(
        explanation="They moved.",
        progression_of_arguments=progression,
        open_questions=[*open_questions],
        clear_winner=winner,
    )


def sentence(text: str = "Both are fast.", *ground: str) -> SentenceText:
    """Write a sentence that rests on ``ground``: ids of topics and of segments."""
    segments = [name for name in ground if ":" in name]
    nodes = [name for name in ground if name not in segments]
    return SentenceText(text=text, nodes=nodes, segments=segments)


def summarise(
    *differences: SentenceText,
    similarities: tuple[SentenceText, ...] = (),
    proposals: tuple[SentenceText, ...] = (),
) -> SummaryReply:
    return SummaryReply(
        similarities=list(similarities), differences=list(differences), proposals=list(proposals)
    )


def personas(claims: int = 3, subtopics: int = 3, model: ScriptedModel | None = None) -> ScriptedModel:
    """Return a model that plays every role and splits every topic down to the depth limit."""
    model = model or ScriptedModel()
    model.will_say(claim(claims), to=ClaimsReply)
    model.will_say(weigh(), to=RelevanceReply)
    model.will_say(split(subtopics), to=SubtopicsReply)
    model.will_say(split_bare(subtopics), to=BareSubtopicsReply)
    model.will_say(argue_from_evidence, to=ArgumentReply)
    model.will_say(respond())
    model.will_say(go_on())
    model.will_say(summarise(sentence("They differ.", "0.0"), similarities=(sentence("Alike.", "0.0"),)))
    model.will_say(PaperSummaryReply(summary="It does."), ComparisonReply(summary="They do."))
    model.will_say(ComparisonPickReply(rationale="It is accurate.", number="2"))
    return model


def by_letter(**said: Said) -> Callable[[Asked], Said]:
    """Let each persona give its own reply: ``a=...``, ``b=...``."""
    return lambda call: said[speaker(call)]


def context(model: ScriptedModel, **settings: Any) -> Settings:
    """Return the settings of a comparison without the reply cache."""
    return debating.context(model, Settings, **settings)


def compare(
    model: ScriptedModel,
    papers: tuple[Mapping[str, Any], Mapping[str, Any]] = (PAPER_A, PAPER_B),
    topic: str = TOPIC,
    **options: Any,
) -> Debated:
    """Compare two papers; by default retrieval is lexical and the tree has depth 1."""
    given = {"papers": list(papers)}
    return debate(
        model, topic, given=given, **{"graph": graph, "embeddings": "bm25", "segments": 2, **options}
    )
