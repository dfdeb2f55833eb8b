"""Runs of every protocol with a scripted model, and their contests.

Whatever is said depends on every word of what was asked, so that a change shows wherever it is
read.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from dialectree.contests import Change, start
from dialectree.graphs.vote_first import VoteReply
from dialectree.nodes.adaptive_reasoning_tree.arguer import ArgumentsReply, AttackReply, SupportReply
from dialectree.nodes.adaptive_reasoning_tree.scorer import (
    ClaimScorerReply,
    DirectedScorerReply,
    PairwiseReply,
    ScorerReply,
)
from dialectree.nodes.role_switching_debate.debater import (
    ProposalReply,
    RebuttalReply,
    SwitchReply,
    UncertaintyReply,
)
from dialectree.nodes.tree_of_debate.comparison import (
    ComparisonPickReply,
    ComparisonReply,
    PaperSummaryReply,
    SummaryReply,
)
from dialectree.nodes.tree_of_debate.persona import ArgumentReply, ResponseReply
from dialectree.nodes.tree_structured_debate.answer_writer import WriterReply
from dialectree.nodes.tree_structured_debate.answerer import (
    AnswererReply,
    CriticReply,
    ExplorerReply,
    PickerReply,
)
from dialectree.nodes.tree_structured_debate.leaf_debater import DebaterReply, LeafJudgeReply, OpeningReply
from dialectree.nodes.tree_structured_debate.synthesis_debater import SynthesisJudgeReply, SynthesisReply
from dialectree.records import Contest, RunRecord, turns
from dialectree.records.folder import RunFolder
from dialectree.running.runner import RunHandle
from tests import running
from tests.breaking_off import Fragile
from tests.contests.dueling import Meeting, Rating
from tests.graphs import debating
from tests.graphs.adaptive_reasoning_tree import arguing
from tests.graphs.debating import choose, rule
from tests.graphs.role_switching_debate import switching
from tests.graphs.tree_of_debate import comparing
from tests.scripted import Asked, ScriptedModel

RUNS = Path("runs")
TEXT = "A word of a person's own."
WINNERS = ("SUPPORT", "ATTACK", "SUPPORT", "ATTACK", "TIE")


def drawn(call: Asked) -> int:
    """A number that depends on every word of what was asked, and on nothing else."""
    return crc32(call.prompt.encode())


def words(call: Asked) -> str:
    return f"{call.role} says {drawn(call):x}"


def sure(call: Asked) -> float:
    return (drawn(call) % 90 + 5) / 100


def argue(call: Asked) -> ArgumentsReply:
    return arguing.argue(*(f"{words(call)} {'abc'[n] * 9}" for n in range(arguing.wanted(call))))


def speakers(fragile_at: int = 0, split: int = 2, model: Fragile | None = None) -> Fragile:
    """A model that plays every role of every protocol."""
    model = model or Fragile(fragile_at=fragile_at)
    switching.debaters(debating.debaters(split, model=model))
    comparing.personas(2, 2, model=model)
    replies: dict[type[Any], Callable[[Asked], Any]] = {
        OpeningReply: lambda c: OpeningReply(claim=words(c), support=words(c)),
        DebaterReply: lambda c: DebaterReply(claim=words(c), support=words(c), rebuttal=words(c)),
        LeafJudgeReply: lambda c: rule(words(c), sure(c)),
        SynthesisReply: lambda c: SynthesisReply(integration=words(c), assumptions=""),
        SynthesisJudgeReply: lambda c: choose(sure(c)).model_copy(update={"answer": words(c)}),
        WriterReply: lambda c: WriterReply(final_answer=words(c), final_confidence=None, explanation=""),
        ProposalReply: lambda c: ProposalReply(answer=switching.propose(c).answer, argument=words(c)),
        RebuttalReply: lambda c: RebuttalReply(errors=[], defence=words(c)),
        SwitchReply: lambda c: SwitchReply(argument=words(c)),
        UncertaintyReply: lambda c: UncertaintyReply(percent=60, unsure_of=words(c), would_settle="Time."),
        AnswererReply: lambda c: AnswererReply(answer=words(c), explanation="", confidence=sure(c)),
        ExplorerReply: lambda c: ExplorerReply(answer=words(c)),
        CriticReply: lambda c: CriticReply(critique=words(c)),
        PickerReply: lambda c: PickerReply(rationale=words(c), number="1", confidence=sure(c)),
        ArgumentsReply: argue,
        SupportReply: lambda c: SupportReply(statement_is="true", **dict(argue(c))),
        AttackReply: lambda c: AttackReply(statement_is="false", **dict(argue(c))),
        ScorerReply: lambda c: arguing.score(sure(c)),
        DirectedScorerReply: lambda c: arguing.direct(arguing.score(sure(c)), c),
        ClaimScorerReply: lambda c: arguing.score_claim(sure(c)),
        PairwiseReply: lambda c: arguing.compare(WINNERS[drawn(c) % 5]),
        ArgumentReply: lambda c: comparing.argue(
            words(c), description=words(c), evidence=comparing.shown_segments(c)[:1]
        ),
        ResponseReply: lambda c: comparing.respond(description=words(c)),
        SummaryReply: lambda c: comparing.summarise(comparing.sentence(words(c), "0.0")),
        PaperSummaryReply: lambda c: PaperSummaryReply(summary=words(c)),
        ComparisonReply: lambda c: ComparisonReply(summary=words(c)),
        VoteReply: lambda c: VoteReply(reasoning=words(c), answer="AB"[drawn(c) % 2], confidence=sure(c)),
        ComparisonPickReply: lambda c: ComparisonPickReply(rationale=words(c), number="1"),
        Rating: lambda c: Rating(rating=sure(c)),
        Meeting: lambda c: Meeting(winner="SUPPORT"),
    }
    for kind, say in replies.items():
        model.will_say_now(say, to=kind)
    return model


SHAPES: dict[str, dict[str, Any]] = {
    "tsd": {"max_depth": 1, "leaf_rounds": 2},
    "tod": {"embeddings": "bm25", "segments": 2, "max_depth": 2},
}
"""What a run of a protocol is given unless a test says otherwise."""


def debate(
    model: ScriptedModel,
    name: str = "tsd",
    options: Sequence[str] = (),
    question: str = "What is it?",
    **given: Any,
) -> RunRecord:
    """A run from its start to its end; of TSD with two leaves and two rounds in each."""
    values: dict[str, Any] = {"model": model, **SHAPES.get(name, {})}
    if name in ("tod", "single_stage", "two_stage", "best_comparison"):
        values = {**values, "paper_a": comparing.PAPER_A, "paper_b": comparing.PAPER_B}
        question = comparing.TOPIC
    if options:
        values["options"] = options
    return asyncio.run(running.begin(name, question, RUNS, **{**values, **given}).conduct())


def verify(model: ScriptedModel | None = None, name: str = "art", **given: Any) -> RunRecord:
    """An argument tree of one claim, of breadth and depth 1 unless they are given."""
    begun = running.begin(name, "It is so.", RUNS, model=model or speakers(), **given)
    return asyncio.run(begun.conduct())


def at(record: RunRecord) -> RunFolder:
    return RunFolder.find(record.run_id, RUNS)


def begin(record: RunRecord, *wishes: Change, model: ScriptedModel | None = None, **given: Any) -> RunHandle:
    asked = {"model": model or speakers(), "cache": False}
    return start(at(record), wishes, RUNS, {**asked, **given})


def contest(
    record: RunRecord, *wishes: Change, model: ScriptedModel | None = None, **given: Any
) -> RunRecord:
    return asyncio.run(begin(record, *wishes, model=model, **given).conduct())


def outcome(record: RunRecord) -> dict[str, Any]:
    """All that came of a run, without what differs between any two."""
    return record.model_dump(include={"verdict", "tree", "status", "prompts"})


def said(record: RunRecord, name: str) -> dict[str, Any]:
    """What the turn of that name says."""
    node = record.tree.nodes[name.partition("/")[0]]
    return dict(next(t.fields for t in node.transcript if turns.name(node, t) == name))


def stated(record: RunRecord) -> Contest:
    assert record.contest is not None
    return record.contest


def files(folder: RunFolder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.path.iterdir()}


_made: dict[str, Path] = {}


def made(elsewhere: Path, name: str, make: Callable[[], RunRecord]) -> RunRecord:
    """The run ``name`` in the working folder; it is made once, and kept ``elsewhere``."""
    if name not in _made:
        folder = at(make())
        _made[name] = elsewhere / folder.run_id
        shutil.copytree(folder.path, _made[name])
        return folder.record()
    folder_of = RUNS / _made[name].name
    if not folder_of.exists():
        shutil.copytree(_made[name], folder_of)
    return RunFolder(folder_of).record()


def decided(record: RunRecord) -> list[tuple[str, str]]:
    """The pairs of arguments that have one winner."""
    winners: dict[tuple[str, str], set[str]] = {}
    for node in record.tree.nodes.values():
        for met in node.comparisons:
            winners.setdefault((met.supporter, met.attacker), set()).add(met.winner)
    return [pair for pair, won in winners.items() if len(won) == 1 and won != {"TIE"}]


def figures(record: RunRecord, among: RunRecord | None = None) -> Mapping[str, object]:
    """All that the maths makes of the nodes of ``among``, and the verdict."""
    return {
        "verdict": record.verdict,
        "status": record.status,
        **{
            name: (
                node.score("tau"),
                node.score("theta"),
                node.score("blended"),
                node.score("strength"),
                node.status,
                node.dropped,
            )
            for name, node in record.tree.nodes.items()
            if name in (among or record).tree.nodes
        },
    }
