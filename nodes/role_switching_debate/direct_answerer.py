"""Direct answers, without a debate: the gate, the baselines and the distractor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from langgraph.runtime import Runtime
from pydantic import BaseModel, BeforeValidator, Field

from dialectree.answers import LONGEST, letter, match_candidate, normal, suggest_answers, tokens
from dialectree.flow import Step
from dialectree.flow.state import Ruling, VerdictFields
from dialectree.flow.steps import settle
from dialectree.models.door import ask
from dialectree.nodes.role_switching_debate.candidates import texts
from dialectree.nodes.role_switching_debate.state import RoleSwitchingDebate, Settings
from dialectree.records import Place
from dialectree.system import chance
from dialectree.text import line


class DirectReply(BaseModel):
    """An answer, after a few words of reasoning."""

    reasoning: Annotated[str, Field(max_length=3000)]
    answer: Annotated[str, Field(min_length=1, max_length=LONGEST)]


class DistractorReply(BaseModel):
    """The letter of one option."""

    label: Annotated[str, BeforeValidator(lambda v: letter(v) if isinstance(v, str) else v)]


def requests(state: RoleSwitchingDebate) -> list[dict[str, Any]]:
    """Return the input of each direct answerer; all are asked at once."""
    return [{**state, "number": number} for number in range(1, state["asked"] + 1)]


def direct_answerer(role: str) -> Step:
    """Return the step that gives one sample, from the model that plays ``role``."""

    async def direct_answerer(
        state: RoleSwitchingDebate, runtime: Runtime[Settings]
    ) -> dict[str, list[VerdictFields]]:
        choice = texts(state["options"])

        def fault(reply: DirectReply) -> str | None:
            if choice and match_candidate(reply.answer, choice) is None:
                return "answer: it names none of the options to choose from, or more than one"
            return None

        reply = await ask(
            runtime,
            Place(node=state["id"], phase="direct", role=role, speaker=str(state["number"])),
            "role_switching_debate/direct_answer",
            DirectReply,
            suggested=suggest_answers([*choice.values()]),
            check=fault,
            max_tokens=700 + tokens(*choice.values()),
            question=state["question"],
            options=choice,
        )
        label = match_candidate(reply.answer, choice) if choice else None
        answer = choice[label] if label else reply.answer
        return {"samples": [{"label": label, "answer": answer, "rationale": reply.reasoning}]}

    return direct_answerer


def votes(samples: Sequence[VerdictFields]) -> dict[str, list[VerdictFields]]:
    """Return the samples by answer, most votes first; the earliest sample wins a tie.

    Options are grouped by letter, open answers by their normal form.
    """
    by_answer: dict[str, list[VerdictFields]] = {}
    for sample in samples:
        by_answer.setdefault(sample["label"] or normal(sample["answer"]), []).append(sample)
    return dict(sorted(by_answer.items(), key=lambda vote: -len(vote[1])))


async def accept_unanimous_answer(state: RoleSwitchingDebate, runtime: Runtime[Settings]) -> Ruling:
    """Take the answer that every sample gave; it has no confidence."""
    count = len(state["samples"])
    note = f"no debate: {count} direct {'answer' if count == 1 else 'answers'} agreed"
    return await settle(runtime, notes=[note], **state["samples"][0])


async def plurality(state: RoleSwitchingDebate, runtime: Runtime[Settings]) -> Ruling:
    """Take the answer with the most votes; its confidence is its share of all samples asked for.

    A single sample has no confidence, because no other sample could disagree. A sample that a
    person dropped does not count as asked for.
    """
    counted, sample_count = votes(state["samples"]), state["asked"] - state["dropped"]
    top_votes = max(map(len, counted.values()))
    tied = sorted(name for name, voters in counted.items() if len(voters) == top_votes)
    place = (runtime.context.seed, "tie", state["id"], state["question"])
    won = min(tied, key=lambda name: chance.seed(*place, name))
    notes = [_counts(counted, sample_count, state["dropped"])]
    if len(tied) > 1:
        *other_names, last = (_name(counted[name][0]) for name in tied)
        among = f"{', '.join(other_names)} and {last}"
        notes.append(f"tie between {among} ({top_votes} of {sample_count} each); drawn from the seed")
    share = top_votes / sample_count if sample_count > 1 else None
    source = "share of samples" if sample_count > 1 else None
    return await settle(runtime, confidence=share, confidence_source=source, notes=notes, **counted[won][0])


def _counts(counted: Mapping[str, Sequence[VerdictFields]], sample_count: int, dropped: int) -> str:
    """Return ``9 samples: A 5, C 3, 1 failed`` or ``4 samples: B 2, A 2; 1 dropped``."""
    counts = [f"{_name(voters[0])} {len(voters)}" for voters in counted.values()]
    failed = sample_count - sum(map(len, counted.values()))
    counts += [f"{failed} failed"] if failed else []
    out = f"; {dropped} dropped" if dropped else ""
    return f"{sample_count} sample{'' if sample_count == 1 else 's'}: {', '.join(counts)}{out}"


def _name(sample: VerdictFields) -> str:
    """Return the option's letter, or the first words of an open answer."""
    return sample["label"] or f"“{line(sample['answer'], 60)}”"


async def distractor(state: RoleSwitchingDebate, runtime: Runtime[Settings]) -> dict[str, object]:
    """Ask for the most plausible of the wrong options. The model does not see the right option."""
    wrong = texts([option for option in state["options"] if option["label"] != state["gold"]])
    reply = await ask(
        runtime,
        Place(node=state["id"], phase="direct", role="debater_a", speaker="distractor", step=1),
        "role_switching_debate/distractor",
        DistractorReply,
        ids={"label": [*wrong]},
        max_tokens=200,
        question=state["question"],
        options=wrong,
    )
    return {"distractor": {"label": reply.label, "text": wrong[reply.label]}}
