"""The evaluator of an argument tree: it scores arguments, and compares two of them.

ART, sections 3.2 and 3.3. The evaluator and the generator of arguments are separate models. The
verifier of the baselines says yes or no at once.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Annotated, Any, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter
from typing_extensions import TypedDict

from dialectree.answers import normal
from dialectree.flow import Step
from dialectree.flow.jury import Heard, count, jury
from dialectree.flow.state import Answering, Question, Ruling
from dialectree.flow.steps import settle
from dialectree.models.door import ByText, ask
from dialectree.models.run import run_of
from dialectree.nodes.adaptive_reasoning_tree.state import (
    NEUTRAL,
    Argument,
    Compared,
    Directed,
    Direction,
    Pair,
    Settings,
    Sprout,
    Stance,
)
from dialectree.protocols.inside import root
from dialectree.protocols.phases import jurors
from dialectree.records import Override, Place
from dialectree.trace.events import tell


class ScorerReply(BaseModel):
    """How true an argument is, and how much it weighs if it is; the reason before each figure."""

    truth_rationale: Annotated[str, Field(max_length=2000)]
    truth: Annotated[float, Field(ge=0, le=1)]
    weight_rationale: Annotated[str, Field(max_length=2000)]
    weight: Annotated[float, Field(ge=0, le=1)]


class _DirectionReply(BaseModel):
    direction: Direction


class DirectedScorerReply(ScorerReply, _DirectionReply):
    """The same, after the way in which the argument points."""


class ClaimScorerReply(BaseModel):
    """How likely a claim is, and the reason for it."""

    rationale: Annotated[str, Field(max_length=2000)]
    truth: Annotated[float, Field(ge=0, le=1)]


Scores = dict[str, dict[str, float]]
"""An update of ``scores`` in the state."""


def to_score(argument: Argument, parent: str) -> Mapping[str, object]:
    """Return the input of a scorer: ``argument``, and the text of its parent."""
    return {name: argument[name] for name in ("id", "stance", "text")} | {"path": [parent]}


def scorer(*, late: bool = False, directed: bool = False) -> Step:
    """Return the role that scores one argument by itself, for or against its parent.

    A ``late`` scorer scores an argument that a tournament left without a comparison that counts. A
    ``directed`` scorer also says which way the argument points. Neither makes a call if a person
    set the strength: the weighing looks that strength up.
    """

    async def scorer(state: Sprout, runtime: Runtime[Settings]) -> dict[str, Any]:
        name, place = state["id"], _strength(state["id"])
        if late or directed:
            if run_of(runtime).overrides.at(_first(name, runtime)) is not None:
                return {"scores": {}}
            again = state.get("second_try", False)
            place = Place(
                node=name.rpartition(".")[0],
                phase="tournament" if late else "direction",
                role="scorer",
                speaker=name,
                round=2 if again else 0,
                step=1 if late else 2 * again,
            )
        ask = partial(
            jury,
            runtime,
            prompt="adaptive_reasoning_tree/scorer",
            reply=DirectedScorerReply if directed else ScorerReply,
            judges=runtime.context.jury,
            failed_at=name,
            max_tokens=512,
            directed=directed,
            stance=state["stance"],
            argument=state["text"],
        )
        heard = await ask(place, parent=state["path"][-1])
        replies = {
            jury_ruling.speaker: jury_ruling.reply for jury_ruling in heard if jury_ruling.reply is not None
        }
        scores = _mean(runtime, name, {who: r.truth * r.weight for who, r in replies.items()})
        if not directed:
            return {**scores}
        direction = _direction(heard)
        if direction == WRONG_WAY[state["stance"]]:
            # Small models say "attacks" for most arguments, so ask about the opposite, too.
            changes = {"speaker": f"{name}_negated", "step": place.step + 1}
            negated = place.model_copy(update=changes)
            of_negation = _direction(await ask(negated, parent=f"{NEGATION} {state['path'][-1]}"))
            if of_negation != ("attacks" if direction == "supports" else "supports"):
                direction = None
        directed_argument: Directed = {"text": state["text"], "direction": direction}
        return {"scores": scores["scores"], "directions": {name: directed_argument}}

    return scorer


WRONG_WAY: Mapping[Stance, Direction] = {"support": "attacks", "attack": "supports"}
"""By stance, the direction of an argument that points the wrong way."""
NEGATION = "It is false:"
"""The words before a statement that make it the opposite."""


def _direction(heard: Sequence[Heard[Any]]) -> Direction | None:
    """Return the direction that the majority of the scorers name; None without a majority."""
    directions = {jury_ruling.speaker: getattr(jury_ruling.reply, "direction", None) for jury_ruling in heard}
    direction: Direction | None = count(directions).value
    return direction


async def claim_scorer(state: Sprout, runtime: Runtime[Settings]) -> Scores:
    """Score the claim itself: its probability before any argument."""
    heard = await jury(
        runtime,
        _strength(state["id"]),
        "adaptive_reasoning_tree/claim_scorer",
        ClaimScorerReply,
        judges=runtime.context.jury,
        max_tokens=512,
        claim=state["text"],
    )
    figures = {
        jury_ruling.speaker: jury_ruling.reply.truth for jury_ruling in heard if jury_ruling.reply is not None
    }
    return _mean(runtime, state["id"], figures)


def score_without_asking(claim: str, runtime: Runtime[Settings]) -> dict[str, float]:
    """Return the strength that a person set for a claim, or else the neutral one."""
    scores = set_by_person(claim, runtime)
    return _report_score(runtime, claim, NEUTRAL)["scores"] if scores is None else scores


def set_by_person(node: str, runtime: Runtime[Settings]) -> dict[str, float] | None:
    """Return the strength that a person set for a claim or an argument, or None.

    The result is empty if the person left the node without a strength.
    """
    if (override := _set(node, runtime)) is None:
        return None
    if override.reply is None:
        return {}
    tau = TypeAdapter(float).validate_python(override.reply["truth"])
    return _report_score(runtime, node, tau)["scores"]


def is_set(node: str, runtime: Runtime[Settings]) -> bool:
    """Return whether a person set the strength of a claim or an argument."""
    return _set(node, runtime) is not None


def _set(node: str, runtime: Runtime[Settings]) -> Override | None:
    override = run_of(runtime).overrides.at(_first(node, runtime))
    return override if override and override.what == "set" else None  # else a part was dropped


def _strength(node: str) -> Place:
    """Return the place where a claim or an argument is scored by itself."""
    return Place(node=node, phase="strength", role="scorer")


def _first(node: str, runtime: Runtime[Settings]) -> Place:
    """Return the place of the first scorer of a jury, or of the only scorer."""
    (first, *_), *_ = jurors(len(runtime.context.jury))
    return _strength(node).model_copy(update={"speaker": first or "scorer"})


def _mean(runtime: Runtime[Settings], node: str, figures: Mapping[str, float]) -> Scores:
    """Score the mean of several scorers' figures; return no score without figures."""
    tau = count(figures, "mean").value
    return {"scores": {}} if tau is None else _report_score(runtime, node, tau)


def _report_score(runtime: Runtime[Settings], node: str, tau: float) -> Scores:
    tell(runtime, node, "scored", {"scores": {"tau": tau}})
    return {"scores": {node: tau}}


class PairwiseReply(BaseModel):
    """Which side wins, or neither."""

    rationale: Annotated[str, Field(max_length=2000)]
    winner: Literal["SUPPORT", "ATTACK", "TIE"]


class StrongerReply(BaseModel):
    """A comparison by a model of medium size, which names an argument's text and no side."""

    rationale: Annotated[str, Field(max_length=2000)]
    stronger: str


NEITHER = "both are equally strong"


def by_text(supporter: str, attacker: str) -> ByText[PairwiseReply] | None:
    """Return the reply in which a model of medium size names the winner by its text.

    None if both texts are equal. Asked for SUPPORT or ATTACK instead, a model of medium size said
    SUPPORT in 11 of 12 cases, right or wrong.
    """
    if supporter == attacker:
        return None
    winners: dict[str, Any] = {supporter: "SUPPORT", attacker: "ATTACK", NEITHER: "TIE"}

    def read(reply: StrongerReply) -> PairwiseReply:
        return PairwiseReply(rationale=reply.rationale, winner=winners[reply.stronger])

    return ByText(StrongerReply, {"stronger": [*winners]}, read)


async def pairwise_judge(pair: Pair, runtime: Runtime[Settings]) -> dict[str, list[Compared]]:
    """Compare one supporter with one attacker of the same parent.

    Make no call if a person made the comparison void.
    """
    supporter, attacker = pair["supporter"], pair["attacker"]
    labelled_arguments = [("SUPPORT", supporter), ("ATTACK", attacker)]
    if pair["order"] == "attack_first":
        labelled_arguments.reverse()
    names = ":".join(argument["id"] for _, argument in labelled_arguments)
    place = Place(node=pair["id"], phase="tournament", role="pairwise_judge", speaker=names)
    removed = run_of(runtime).overrides.find_removed_reply(place)
    if removed is not None:
        reply = PairwiseReply.model_validate(removed)
    else:
        reply = await ask(
            runtime,
            place,
            "adaptive_reasoning_tree/pairwise_judge",
            PairwiseReply,
            by_text=by_text(supporter["text"], attacker["text"]),
            max_tokens=512,
            parent=pair["parent"],
            shown=[(side, argument["text"]) for side, argument in labelled_arguments],
        )
    compared: Compared = {
        "parent": pair["id"],
        "supporter": supporter["id"],
        "attacker": attacker["id"],
        "winner": reply.winner,
        "order": pair["order"],
    }
    if removed is not None:
        compared["void"] = True
    else:
        event_fields = {name: value for name, value in compared.items() if name != "parent"}
        tell(runtime, pair["id"], "compared", {**event_fields, "reason": reply.rationale})
    return {"comparisons": [compared]}


_YesNo = Annotated[Literal["yes", "no"], BeforeValidator(lambda v: normal(v) if isinstance(v, str) else v)]


class VerifierReply(BaseModel):
    """Whether the claim is true."""

    answer: _YesNo


class ReasonedReply(BaseModel):
    """The same after reasoning, which is written first."""

    reasoning: Annotated[str, Field(min_length=1, max_length=6000)]
    answer: _YesNo


def verifier(prompt: str, kind: type[VerifierReply] | type[ReasonedReply]) -> Step:
    """Return the role that answers yes or no; as in the paper, it gives no confidence."""

    async def verifier(state: Question, runtime: Runtime[Settings]) -> Ruling:
        place = Place(node=root(), phase="answer", role="verifier")
        claim = state["question"]
        reply = await ask(runtime, place, prompt, kind, max_tokens=512, claim=claim)
        reasoning = reply.reasoning if isinstance(reply, ReasonedReply) else None
        label = str(reply.answer == "yes")
        return await settle(runtime, label, label=label, rationale=reasoning)

    return verifier


class DirectVerdict(TypedDict):
    """One direct verdict among several."""

    number: int
    """From 1."""
    truth: float
    """The probability of the claim, 0 to 1."""
    rationale: str


class Sampled(Answering):
    """A claim and several direct verdicts on it."""

    number: int
    """The number of the verdict that a step gives, from 1."""
    samples: Annotated[list[DirectVerdict], operator.add]


async def sample_verdict(state: Sampled, runtime: Runtime[Settings]) -> dict[str, list[DirectVerdict]]:
    """Estimate the probability of the claim, independently of the other samples."""
    number = state["number"]
    reply = await ask(
        runtime,
        Place(node=root(), phase="direct", role="verifier", speaker=str(number)),
        "direct_samples/verifier",
        ClaimScorerReply,
        max_tokens=512,
        claim=state["question"],
    )
    return {"samples": [{"number": number, "truth": reply.truth, "rationale": reply.rationale}]}


async def mean_verdict(state: Sampled, runtime: Runtime[Settings]) -> Ruling:
    """Take the mean of the probabilities, and the reason of the sample nearest to the mean."""
    samples = sorted(state["samples"], key=lambda sample: sample["number"])
    probability = fmean(sample["truth"] for sample in samples)
    nearest = min(samples, key=lambda sample: abs(sample["truth"] - probability))
    notes = [f"the mean of {len(samples)} direct verdicts"]
    if probability == NEUTRAL:
        notes.append("undecided: P(claim) is exactly 0.5")
    label = str(probability > NEUTRAL)
    return await settle(
        runtime,
        label,
        label=label,
        rationale=nearest["rationale"],
        confidence=probability,
        confidence_source="P(claim)",
        notes=notes,
    )
