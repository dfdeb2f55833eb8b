"""The baselines: their calls, who speaks, what is decided, and what is left when a part fails."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from dialectree.flow import Graph
from dialectree.graphs.adaptive_reasoning_tree.graph import cot, direct, direct_samples
from dialectree.graphs.role_switching_debate.graph import judge_alone, self_consistency
from dialectree.graphs.tree_structured_debate.baselines import best_of_n, one_critique, single_shot, two_round
from dialectree.nodes.adaptive_reasoning_tree.scorer import ClaimScorerReply, ReasonedReply, VerifierReply
from dialectree.nodes.role_switching_debate.direct_answerer import DirectReply
from dialectree.nodes.tree_structured_debate.answerer import (
    AnswererReply,
    CriticReply,
    ExplorerReply,
    PickerReply,
)
from dialectree.protocols.protocol import methods
from dialectree.records import Verdict
from tests.graphs.debating import QUESTION, Debated, debate
from tests.graphs.role_switching_debate import switching
from tests.scripted import Asked, Said, ScriptedModel, no_reply

CLAIM = "The Bronze Age ended with a drought."
OPTIONS = ["a drought", "the Sea Peoples", "an earthquake", "iron"]


def decide(
    model: ScriptedModel, options: Sequence[str] = (), question: str = QUESTION, **settings: Any
) -> Debated:
    """Self-consistency over ``options``, or over an open question."""
    given = {"question": question, "graph": self_consistency, **settings}
    return switching.decide(model, options, **given)


def ruled(done: Debated) -> Verdict:
    """The verdict at the root."""
    verdict = done.node().verdict
    assert verdict is not None
    return verdict


def failing(*numbers: int, otherwise: Said) -> Callable[[Asked], Said]:
    """The calls of these numbers get no reply, counted from 1."""
    calls = iter(range(1, 1000))
    return lambda call: no_reply() if next(calls) in numbers else otherwise


def sample(text: str = "Drought.", confidence: float = 0.6) -> AnswererReply:
    return AnswererReply(answer=text, explanation=f"Why: {text}", confidence=confidence)


def pick(number: int, confidence: float = 0.9) -> PickerReply:
    return PickerReply(rationale="It is accurate.", number=str(number), confidence=confidence)


def likely(truth: float) -> ClaimScorerReply:
    return ClaimScorerReply(rationale=f"About {truth}.", truth=truth)


def vote(text: str) -> DirectReply:
    return DirectReply(reasoning=f"Because of {text}.", answer=text)


# What they have in common

GRAPHS = {name: methods()[name].graph() for name in (
    "best_of_n", "one_critique", "two_round", "direct", "cot", "direct_samples", "self_consistency",
)}  # fmt: skip
NAMED = pytest.mark.parametrize("name", GRAPHS)


def speakers() -> ScriptedModel:
    """A model that plays every role of every baseline."""
    model = ScriptedModel()
    model.will_say(sample(), pick(2), vote("a drought"), VerifierReply(answer="yes"))
    model.will_say(ExplorerReply(answer="A drought."), CriticReply(critique="Which one?"))
    model.will_say(ReasonedReply(reasoning="It was dry.", answer="yes"))
    model.will_say(likely(0.8))
    return model


@NAMED
@pytest.mark.parametrize("mute", [False, True])
def test_every_baseline_tells_a_leaf_from_its_opening_to_its_conclusion(name: str, mute: bool) -> None:
    model = speakers()
    if mute:
        direct = AnswererReply, DirectReply, ExplorerReply, VerifierReply, ReasonedReply
        for kind in (*direct, ClaimScorerReply):
            model.will_say_now(no_reply(), to=kind)
    done = debate(model, CLAIM, graph=GRAPHS[name])
    kinds = Counter(event.kind for event in done.events)
    assert (kinds["opened"], kinds["settled"], kinds["concluded"]) == (1, 1, 1)
    assert (done.events[0].kind, done.events[-1].kind) == ("opened", "concluded")
    assert (done.node().kind, done.node().text, list(done.tree.nodes)) == ("leaf", CLAIM, ["0"])
    assert done.verdict.model_dump() == done.ruling["verdict"]
    if mute:
        assert done.verdict == Verdict()  # all is None, and nothing is noted
        assert (done.node().status, bool(done.failures)) == ("missing", True)
    else:
        assert (done.node().status, done.failures) == ("answered", [])
        assert done.node().provenance == ["0"]
        assert ruled(done).answer == done.verdict.answer


# Single shot


def test_the_question_goes_to_one_model_once() -> None:
    model = ScriptedModel()
    model.will_say(AnswererReply(answer="Drought.", explanation="It dried up.", confidence=0.6))
    done = debate(model, graph=single_shot)
    assert model.places == [("0", "answerer")]
    assert QUESTION in model.prompts[0]
    assert (done.verdict.answer, done.verdict.confidence) == ("Drought.", 0.6)
    assert done.verdict.confidence_source == "answerer"
    assert (done.usage.calls, done.usage.critical_path_calls) == (1, 1)
    assert (done.node().kind, done.node().provenance) == ("leaf", ["0"])


# Best of n


def test_best_of_n_samples_side_by_side_and_picks_once() -> None:
    model = ScriptedModel()
    model.will_say(*(sample(f"Answer {n}.") for n in range(1, 6)))
    model.will_say(pick(3))
    done = debate(model, graph=best_of_n)
    assert model.places == [("0", "sampler")] * 5 + [("0", "picker")]
    assert (done.usage.calls, done.usage.critical_path_calls) == (6, 2)
    assert done.verdict.answer == next(
        turn.fields["answer"] for turn in done.node().transcript if turn.speaker == "3"
    )
    assert (done.verdict.confidence, done.verdict.confidence_source) == (0.9, "picker")
    assert done.verdict.rationale == f"Why: {done.verdict.answer}"
    assert done.verdict.notes == done.node().notes == ["sample 3 was picked out of 5"]
    assert ruled(done).rationale == "It is accurate."


def test_the_picker_reads_every_sample_by_its_number() -> None:
    model = ScriptedModel()
    model.will_say(lambda call: sample(f"Take {len(model.calls)}."), to=AnswererReply)
    model.will_say(pick(1))
    debate(model, graph=best_of_n, samples=3)
    shown = model.prompts[-1].partition("<answers>")[2]
    assert re.findall(r"^(\d): Take", shown, re.MULTILINE) == ["1", "2", "3"]
    for criterion in ("accuracy", "completeness", "clarity", "misconceptions"):
        assert criterion in model.prompts[-1]


def test_a_failed_sample_is_no_candidate_and_the_others_keep_their_numbers() -> None:
    model = ScriptedModel()
    model.will_say(failing(2, otherwise=sample()), to=AnswererReply)
    model.will_say(pick(2), pick(5))
    done = debate(model, graph=best_of_n)
    assert [who for who in done.spoke() if who.isdigit()] == ["1", "3", "4", "5"]
    assert model.asked[5:] == ["PickerReply", "PickerReply"]  # 2 was not offered
    assert done.verdict.notes == ["sample 5 was picked out of 4"]
    ((_, failure),) = done.failures
    assert (failure.role, failure.speaker) == ("sampler", "2")


def test_a_sole_sample_is_the_answer_and_nobody_picks() -> None:
    samples = 3
    model = ScriptedModel()
    model.will_say(failing(2, 3, otherwise=sample()), to=AnswererReply)
    done = debate(model, graph=best_of_n, samples=samples)
    assert {*model.asked} == {"AnswererReply"}
    assert (done.verdict.answer, done.verdict.confidence) == ("Drought.", 0.6)
    assert done.verdict.confidence_source == "sampler"
    assert len(done.failures) == samples - 1


# Two-round debate


def test_explorer_and_critic_alternate_for_two_rounds_and_one_synthesis_follows() -> None:
    model = ScriptedModel()
    model.will_say(ExplorerReply(answer="First answer."), ExplorerReply(answer="Second answer."))
    model.will_say(CriticReply(critique="First attack."), CriticReply(critique="Second attack."))
    model.will_say(sample("In the end."))
    done = debate(model, graph=two_round)
    order = ["explorer", "critic", "explorer", "critic", "synthesiser"]
    assert [call.role for call in model.calls] == done.spoke() == order
    assert [call.round for call in model.calls] == [1, 1, 2, 2, 0]
    assert (done.usage.calls, done.usage.critical_path_calls) == (5, 5)
    assert (done.verdict.answer, done.verdict.confidence) == ("In the end.", 0.6)
    assert done.verdict.confidence_source == "synthesiser"
    said = ["First answer.", "First attack.", "Second answer.", "Second attack."]
    for turn, prompt in enumerate(model.prompts):
        assert [text in prompt for text in said] == [place < turn for place in range(4)]


@pytest.mark.parametrize(
    ("lost", "heard"),
    [(("explorer", 2), ["explorer", "critic"]), (("critic", 2), ["explorer", "critic", "explorer"])],
)
def test_a_debate_that_breaks_off_is_judged_by_what_was_said(lost: tuple[str, int], heard: list[str]) -> None:
    role, round_ = lost
    model = speakers()
    kind = ExplorerReply if role == "explorer" else CriticReply
    usual = model.says(kind)
    model.will_say_now(lambda call: no_reply() if call.round == round_ else usual(call), to=kind)
    done = debate(model, graph=two_round)
    assert done.spoke() == [*heard, "synthesiser"]
    assert done.verdict.answer == "Drought."
    assert [failure.role for _, failure in done.failures] == [role]


# Direct and chain of thought


@pytest.mark.parametrize(("said", "label"), [("yes", "True"), ("no", "False")])
def test_direct_asks_once_for_yes_or_no(said: str, label: str) -> None:
    model = ScriptedModel()
    model.will_say(VerifierReply.model_validate({"answer": said}))
    done = debate(model, CLAIM, graph=direct)
    assert model.places == [("0", "verifier")]
    assert CLAIM in model.prompts[0]
    verdict = done.verdict
    assert (verdict.answer, verdict.label, verdict.rationale) == (label, label, None)
    assert (verdict.confidence, verdict.confidence_source) == (None, None)
    assert (done.usage.calls, done.usage.critical_path_calls) == (1, 1)


def test_chain_of_thought_gives_its_reasoning_as_the_explanation() -> None:
    model = speakers()
    done = debate(model, CLAIM, graph=cot)
    assert model.asked == ["ReasonedReply"]
    assert (done.verdict.label, done.verdict.rationale) == ("True", "It was dry.")
    assert done.verdict.confidence is None
    assert [*ReasonedReply.model_fields] == ["reasoning", "answer"]  # thinks before it answers


@pytest.mark.parametrize("said", ["yes and no", ""])
def test_what_is_neither_yes_nor_no_decides_nothing(said: str) -> None:
    model = ScriptedModel()
    model.will_say(f'{{"answer": "{said}"}}', to=VerifierReply)
    done = debate(model, CLAIM, graph=direct)
    assert model.asked == ["VerifierReply"] * 3
    assert (done.verdict.answer, done.verdict.label) == (None, None)
    assert [failure.role for _, failure in done.failures] == ["verifier"]


# Direct samples


def test_direct_samples_take_the_mean_of_the_probabilities() -> None:
    model = ScriptedModel()
    model.will_say(*map(likely, (0.1, 0.7, 0.9, 0.5)))
    done = debate(model, CLAIM, graph=direct_samples, samples=4)
    assert model.places == [("0", "verifier")] * 4
    assert (done.usage.calls, done.usage.critical_path_calls) == (4, 1)
    verdict = done.verdict
    assert (verdict.answer, verdict.label, verdict.confidence) == ("True", "True", 0.55)
    assert (verdict.confidence_source, verdict.rationale) == ("P(claim)", "About 0.5.")
    assert verdict.notes == ["the mean of 4 direct verdicts"]
    assert len({call.seed for call in done.calls}) == 4
    assert all(CLAIM in prompt for prompt in model.prompts)


def test_a_failed_verdict_counts_for_nobody_and_half_is_undecided() -> None:
    model = ScriptedModel()
    model.will_say(failing(2, otherwise=likely(0.5)), to=ClaimScorerReply)
    done = debate(model, CLAIM, graph=direct_samples)
    assert done.usage.calls == 8 and len(done.failures) == 1
    assert (done.verdict.label, done.verdict.confidence) == ("False", 0.5)
    assert done.verdict.notes[0] == "the mean of 7 direct verdicts"
    assert done.verdict.notes[1].startswith("undecided")


# Self-consistency


def voters(**votes: int) -> ScriptedModel:
    """Samples that name options by their letters."""
    model = ScriptedModel()
    model.will_say(*(vote(label) for label, count in votes.items() for _ in range(count)))
    return model


def test_the_option_that_most_samples_name_wins() -> None:
    model = voters(A=3, B=5, D=1)
    done = decide(model, OPTIONS)
    assert model.places == [("0", "answerer")] * 9
    assert (done.usage.calls, done.usage.critical_path_calls) == (9, 1)
    assert (done.verdict.label, done.verdict.answer) == ("B", "the Sea Peoples")
    assert done.verdict.rationale == "Because of B."
    assert done.verdict.confidence == pytest.approx(5 / 9)
    assert done.verdict.confidence_source == "share of samples"
    assert done.verdict.notes == done.node().notes == ["9 samples: B 5, A 3, D 1"]
    assert (ruled(done).winner, ruled(done).confidence) == (None, 5 / 9)  # nobody debated
    assert len({call.seed for call in done.calls}) == 9


def test_an_open_question_is_decided_by_what_the_answers_say() -> None:
    model = ScriptedModel()
    model.will_say(vote("Drought"), vote("the Sea Peoples"), vote("drought"), vote(" DROUGHT "))
    done = decide(model, samples=4)
    assert (done.verdict.label, done.verdict.answer) == (None, "Drought")
    assert done.verdict.confidence == 0.75
    assert done.verdict.notes == ["4 samples: “Drought” 3, “the Sea Peoples” 1"]


@pytest.mark.parametrize(("graph", "samples"), [(self_consistency, 1), (judge_alone, 9)])
def test_one_sample_and_the_judge_alone_have_no_confidence(graph: Graph, samples: int) -> None:
    model = ScriptedModel()
    model.will_say(vote("C"), to=DirectReply)
    done = switching.decide(model, OPTIONS, question=QUESTION, graph=graph, samples=samples)
    assert (done.verdict.label, done.verdict.confidence) == ("C", None)
    assert (done.verdict.confidence_source, ruled(done).confidence) == (None, None)


def test_a_failed_sample_counts_in_the_share_and_for_nobody() -> None:
    model = ScriptedModel()
    model.will_say(failing(2, 3, otherwise=vote("C")), to=DirectReply)
    done = decide(model, OPTIONS, samples=4)
    assert (done.verdict.label, done.verdict.confidence) == ("C", 0.5)
    assert done.verdict.notes == ["4 samples: C 2, 2 failed"]
    assert [failure.role for _, failure in done.failures] == ["answerer", "answerer"]


def test_a_tie_is_drawn_from_the_seed_and_says_so() -> None:
    won = Counter[str | None]()
    for seed in range(8):
        done = decide(voters(C=3, D=2, A=3, B=1), OPTIONS, seed=seed)
        again = decide(voters(A=3, B=1, D=2, C=3), OPTIONS, seed=seed)
        assert done.verdict.label == again.verdict.label  # whoever spoke first
        tie = "tie between A and C (3 of 9 each); drawn from the seed"
        assert done.verdict.notes[1:] == done.node().notes[1:] == [tie]
        assert done.verdict.confidence == pytest.approx(3 / 9)
        won[done.verdict.label] += 1
    assert won.keys() == {"A", "C"}


# One critique


def critiqued(model: ScriptedModel, **settings: Any) -> Debated:
    return debate(model, graph=one_critique, **settings)


def test_an_answer_is_examined_once_and_revised() -> None:
    model = ScriptedModel()
    model.will_say(sample("Sea Peoples."), sample("Drought.", 0.7), CriticReply(critique="No."))
    done = critiqued(model)
    assert model.places == [("0", "answerer"), ("0", "critic"), ("0", "reviser")]
    assert [(turn.role, turn.step) for turn in done.node().transcript] == [
        ("answerer", 0),
        ("critic", 1),
        ("reviser", 0),
    ]
    assert "Sea Peoples." in model.prompts[1] and "<critique>\nNo." in model.prompts[2]
    assert (done.verdict.answer, done.verdict.confidence) == ("Drought.", 0.7)
    assert done.verdict.confidence_source == "reviser"


def test_without_a_critique_the_answer_is_looked_at_once_more() -> None:
    model = ScriptedModel()
    model.will_say(sample("Sea Peoples."), sample("Drought."))
    model.will_say(no_reply(), to=CriticReply)
    done = critiqued(model)
    assert "<critique>" not in model.prompts[-1]
    assert done.verdict.answer == "Drought." and len(done.failures) == 1
