"""Vote first: several models answer at once; if too few agree, a debate decides.

After the routing by agreement before a debate in ARMOR-MAD (Niu and Zhang, arXiv 2606.13197).
"""

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Annotated, Any

from pydantic import BaseModel, Field

from dialectree.answers import LONGEST, distinct_options, normal
from dialectree.errors import InputError
from dialectree.protocols.grounded import GroundedInput, GroundedSettings
from dialectree.protocols.look import Look, Score
from dialectree.protocols.options import Unit, option
from dialectree.protocols.phases import PhaseOrder
from dialectree.protocols.protocol import EarlyEnd, Evaluation, load_protocols
from dialectree.protocols.questions import question_for
from dialectree.protocols.routes import RoutedSettings
from dialectree.protocols.script import Script, Talk
from dialectree.system import chance
from dialectree.text import line

USUAL = {"options": "rsd", "claim": "art", "question": "tsd"}
"""The protocols that debate choices, claims and open questions unless ``then`` names another."""
EARLY = EarlyEnd(phase="vote", score="agreement", threshold="agree_at", source="agreement", debate="then")


class Input(GroundedInput):
    """A question, or a claim."""

    question: str = option(positional=True)
    """One question, or a claim to verify, in full; - reads it from standard input. Without options,
    a text that does not end with a question mark is a claim."""
    options: list[str] | None = option(None, alias="option", metavar="TEXT")
    """The answers to choose from, 2 to 26, or none if the question is open."""


class Settings(GroundedSettings, RoutedSettings):
    """The settings of a vote before a debate."""

    voters: int = option(3, ge=1, le=5, group="Vote", common=True, title="Voters")
    """Number of voters who answer first; each can have its own model (voter_1, voter_2 ...)."""
    agree_at: float = option(0.67, ge=0, group="Vote", common=True, title="Agreement that is enough")
    """The least share of the votes at which the most frequent answer wins without a debate: three
    voters all have to agree; at 0.66 two are enough. 0: never debate; above 1: always."""
    sure_at: Unit | None = option(None, group="Vote", title="Debate below a confidence of")
    """Debate if a voter is less sure than this of its own answer (none: ignore confidence)."""
    then: str | None = option(None, group="Vote", common=True, title="Protocol of the debate", metavar="NAME")
    """The protocol that debates (none: ``rsd`` for options, ``art`` for a claim, else ``tsd``)."""


class VoteReply(BaseModel):
    """An answer, after the reasons for it."""

    reasoning: Annotated[str, Field(max_length=3000)]
    answer: Annotated[str, Field(min_length=1, max_length=LONGEST)]
    confidence: Unit


def put(inputs: Mapping[str, Any], then: str | None, among: Sequence[str] = ()) -> tuple[str, Any]:
    """Return the name of the protocol that debates, and its input, with the options ``among`` if any."""
    question, options = inputs["question"], inputs.get("options") or []
    asks = bool(options) or question.rstrip(" \"'”’»)").endswith(("?", "？", "؟"))
    name = then or USUAL["options" if options else "question" if asks else "claim"]
    debate_input = question_for(name, question, options=among or options, claim="" if asks else question)
    if options and "options" not in debate_input:
        raise InputError(f"`then` {name}: it takes no options to choose from")
    return name, debate_input


def prepare(inputs: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return the question and its options as texts; raise InputError if no debate can take them."""
    clean_inputs = {**inputs, "options": distinct_options(inputs.get("options") or []) or None}
    put(clean_inputs, settings.then)
    return clean_inputs


def claim(talk: Talk) -> str:
    """Return the claim to vote on; empty with options or for an open question."""
    return str(put(talk.input, talk.settings.then)[1].get("claim", ""))


def labels(talk: Talk) -> dict[str, str]:
    """Return the possible answers by their labels; empty for an open question."""
    closed = {"True": "True", "False": "False"} if claim(talk) else dict[str, str]()
    return dict(zip(ascii_uppercase, talk.input["options"] or (), strict=False)) or closed


def build_voter_fields(talk: Talk) -> dict[str, Any]:
    """Return the prompt fields of a voter."""
    question = claim(talk) or talk.input["question"]
    return {"question": question, "claim": claim(talk), "labels": labels(talk)}


def group_votes(talk: Talk) -> list[list[Mapping[str, Any]]]:
    """Return the votes by answer, most votes first; the first voter wins a tie."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for vote in talk.said:
        if vote["phase"] == EARLY.phase:
            groups.setdefault(normal(vote["answer"]), []).append(vote)
    return sorted(groups.values(), key=len, reverse=True)


def share(talk: Talk) -> float:
    """Return the share of the most frequent answer in the votes that were asked for, 0 to 1."""
    most_votes, voters = max(map(len, group_votes(talk)), default=0), int(talk.settings.voters)
    return most_votes / max(1, voters - talk.dropped)


def agree(talk: Talk) -> bool:
    """Return whether enough voters give the same answer and all are sure enough: then nobody debates."""
    at, minimum_confidence, votes = (talk.settings.agree_at, talk.settings.sure_at or 0, group_votes(talk))
    sure = not at or all(vote["confidence"] >= minimum_confidence for group in votes for vote in group)
    return bool(votes) and sure and share(talk) >= at


def debate(talk: Talk) -> tuple[str, Any]:
    """Debate the answers that were voted for, or all options if there was at most one such answer."""
    answers_by_label = labels(talk)
    voted = [answers_by_label.get(answer := str(group[0]["answer"]), answer) for group in group_votes(talk)]
    voted.sort(key=[*answers_by_label.values(), *voted].index)
    return put(talk.input, talk.settings.then, voted if len(voted) > 1 else ())


def format_vote_counts(talk: Talk) -> str:
    """Return ``3 votes: B 2, A 1; samples of one model``."""
    vote_count, came = (talk.settings.voters - talk.dropped, sum(map(len, votes := group_votes(talk))))
    counts = [f"{line(group[0]['answer'], 60)} {len(group)}" for group in votes]
    counts += [f"{vote_count - came} failed"] * (came < vote_count)
    models = [talk.settings.speaker("voter", str(n + 1)) for n in range(talk.settings.voters)]
    model_note = "; samples of one model" if len(models) == models.count(models[0]) > 1 else ""
    return f"{vote_count} vote{'s' * (vote_count != 1)}: {', '.join(counts)}{model_note}"


def rule(talk: Talk) -> dict[str, Any]:
    """Return the debate's verdict, or the most frequent answer; the seed breaks a tie."""
    answers_by_label, votes = labels(talk), group_votes(talk)
    if ruled := talk.last.get("verdict"):
        label = next((k for k, text in answers_by_label.items() if text == ruled["answer"]), ruled["label"])
        debated_by = load_protocols()[put(talk.input, talk.settings.then)[0]].title
        note = f"{format_vote_counts(talk)}; debated by {debated_by}"
        return {**ruled, "label": label, "notes": [note, *ruled["notes"]]}
    tied = [group[0] for group in votes if len(group) == len(votes[0])]
    draw_key = (talk.settings.seed, "tie", talk.input["question"])
    won = min(tied, key=lambda vote: chance.seed(*draw_key, vote["answer"]))
    return {
        "answer": answers_by_label.get(won["answer"], won["answer"]),
        "label": won["answer"] if answers_by_label else None,
        "rationale": won["reasoning"],
        "confidence": share(talk),
        "confidence_source": EARLY.source,
        "notes": [f"{format_vote_counts(talk)}; no debate"],
    }


script = Script(Settings, Input, prompts="vote_first")
script.retrieves("material", lambda talk: [" ".join([talk.input["question"], *labels(talk).values()])])
script.speaks(
    "voter",
    VoteReply,
    speakers="12345",
    phase=EARLY.phase,
    prompt="vote",
    ids=lambda talk: {"answer": [*labels(talk)]} if labels(talk) else {},
    reads=build_voter_fields,
    when=lambda talk: int(talk.name) <= talk.settings.voters,
    evidence="pool",
    edits=("answer", "reasoning"),
)
script.debates("debate", debate, unless=agree, scores=lambda talk: {EARLY.score: share(talk)})
script.decides("ruling", rule)
script.turns("material", "voter", "debate", "ruling")

protocol = script.protocol(
    name="vote_first",
    title="Vote First",
    summary="Ask several models first, and debate only where they do not agree.",
    source="ARMOR-MAD, routing by agreement before a debate (Niu and Zhang, arXiv 2606.13197)",
    command="vote",
    examples=(
        '"Is a whale a fish?" --option yes --option no',
        '"Bats are blind." --role voter_1=openai:NAME',
    ),
    outcome="choice",
    view="tree",
    unit="question",
    look=Look(
        captions={"vote": "Votes"}, scores={EARLY.score: Score(sign="agreement", meaning="of the votes")}
    ),
    speaking=lambda settings: [f"voter_{n + 1}" for n in range(settings.voters)],
    prepare="dialectree.graphs.vote_first:prepare",
    order=PhaseOrder(phases=(EARLY.phase,)),
    early=EARLY,
    presets={"fast": {"voters": 2}, "usual": {}, "thorough": {"voters": 5, "agree_at": 1}},
    inner=lambda settings: [settings.then] if settings.then else [*USUAL.values()],
    evaluation=Evaluation(task="decide", also=("verify", "answer"), paper_names={"vote_first": "Vote first"}),
    demo="demo",
)
