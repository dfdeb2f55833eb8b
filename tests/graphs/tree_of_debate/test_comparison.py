"""The comparison that ends a debate of two papers: what its sentences rest on, and its marks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from dialectree.graphs.tree_of_debate import topic_debate
from dialectree.nodes.tree_of_debate.comparison import SentenceText, SummaryReply
from dialectree.nodes.tree_of_debate.moderator import latest
from dialectree.nodes.tree_of_debate.persona import ArgumentReply
from dialectree.nodes.tree_of_debate.state import Settings, Turn
from dialectree.protocols.settings import build_settings
from dialectree.report.node_data import topic_of
from tests.graphs.debating import Debated
from tests.graphs.tree_of_debate.comparing import (
    PAPER_A,
    PAPER_B,
    TOPIC,
    argue,
    compare,
    personas,
    sentence,
    shown_segments,
    summarise,
    turn,
)
from tests.scripted import Asked, ScriptedModel


def summed_up(*differences: SentenceText, **more: Any) -> Debated:
    """Compare on one topic, where each persona cites a segment of its paper."""
    return compare(summing_up(*differences, **more), segments=3)


def summing_up(*differences: SentenceText, **more: Any) -> ScriptedModel:
    model = personas(1, 1)

    def cite(call: Asked) -> ArgumentReply:
        return argue(
            "The bound is new",
            description="We say that it never fails: “It solves all of it at once.”",
            evidence=[name for name in shown_segments(call) if name in ("a:1", "b:1")],
            proposals=["Both could be joined."],
        )

    model.will_say_now(cite, to=ArgumentReply)
    model.will_say_now(summarise(*differences, **more))
    return model


def faults(done: Debated) -> list[list[str]]:
    return [sentence.faults for sentence in topic_of(done.node()).sentences]


def test_similarities_come_first_and_proposals_stand_apart() -> None:
    done = summed_up(
        sentence("They differ.", "0.0"),
        similarities=(sentence("Both bound it.", "0.0", "a:1"),),
        proposals=(sentence("They could be joined.", "0.0"),),
    )
    assert done.verdict.answer == "Both bound it. They differ."
    assert done.verdict.rationale == (
        "Proposed in the debate, and claimed by neither paper: They could be joined."
    )
    assert [s.part for s in topic_of(done.node()).sentences] == ["similarity", "difference", "proposal"]
    assert [(s.nodes, s.segments) for s in topic_of(done.node()).sentences] == [
        (["0.0"], ["a:1"]), (["0.0"], []), (["0.0"], []),
    ]  # fmt: skip
    assert (done.verdict.confidence, done.verdict.label, done.verdict.notes) == (None, None, [])
    assert done.node().status == "answered"


def test_a_sentence_that_rests_on_nothing_is_marked() -> None:
    done = summed_up(sentence("They differ."), sentence("Truly.", "0.0"))
    assert faults(done) == [["rests on nothing"], []]
    assert done.verdict.answer == "They differ. [rests on nothing] Truly."
    assert done.verdict.notes == ["1 of 2 sentences are marked"]
    assert done.verdict.rationale is None


def test_ids_that_do_not_exist_are_named_and_left_out() -> None:
    said = SentenceText(text="So.", nodes=["0.0", "0.7", "0"], segments=["a:1", "a:99", "b:9", "a:x"])
    done = summed_up(said, sentence("And so.", "0.8"))
    (first, second) = topic_of(done.node()).sentences
    assert (first.nodes, first.segments) == (["0.0"], ["a:1"])
    assert first.faults == [
        "cites 0.7, which is not there",
        "points to 0, on which no argument rests",
        "cites a:99, which is not there",
        "cites b:9, which is not there",
        "cites a:x, which is not there",
    ]
    assert second.faults == ["cites 0.8, which is not there", "rests on nothing"]
    assert done.verdict.answer == (
        "So. [cites what is not there] [points to what nobody argued] "
        "And so. [cites what is not there] [rests on nothing]"
    )


def test_a_segment_that_nobody_cited_in_the_end_is_no_ground() -> None:
    done = summed_up(sentence("So.", "a:2"))
    assert "a:2" in done.tree.segments
    assert faults(done) == [["points to a:2, on which no argument rests", "rests on nothing"]]


QUOTES = {
    "of the segment that it names": ("Paper a “treats accuracy with care”.", ["a:1"], True),
    "of another paper's segment": ("Paper b: “The ladder method treats accuracy”.", ["b:1"], False),
    "of a segment that the topic's debate cites": ("“treats accuracy with care”", ["0.0"], True),
    "of no segment": ("It “wins every prize there is”.", ["a:1", "0.0"], False),
    "of an argument": ("Its persona says “it never fails”.", ["0.0"], True),
    "of an argument, beside a segment": ("It says “it never fails”.", ["0.0", "b:1"], True),
    "of what an argument misquotes": ("Paper a “solves all of it at once”.", ["0.0"], False),
    "of an argument that is not named": ("It says “it never fails”.", ["b:1"], False),
    "of a proposal": ("They say: “Both could be joined.”", ["0.0"], True),
    "of a title": (f"“{PAPER_A['title']}” is fast.", ["a:1"], True),
    "of an abstract": ("It works “by means of an adaptive mesh”.", ["b:1"], True),
    "of the topic": (f"In “{TOPIC}” both are good.", ["b:1"], True),
    "in other words": ("“The mesh approach treats accuracy”", ["b:1"], False),
    "of nothing, resting on nothing": ("It “wins every prize”.", [], False),
}


@pytest.mark.parametrize(("text", "ground", "stands"), QUOTES.values(), ids=QUOTES)
def test_a_quotation_has_to_stand_in_what_the_sentence_rests_on(
    text: str, ground: list[str], stands: bool
) -> None:
    done = summed_up(sentence(text, *ground))
    (found,) = faults(done)
    wrong = [fault for fault in found if fault.startswith("quotes what its evidence does not say")]
    assert bool(wrong) != stands
    assert ("[quotation not found]" in str(done.verdict.answer)) != stands


def test_who_conceded_where_is_noted() -> None:
    model = summing_up(sentence("They differ.", "0.0"))
    model.will_say_now(
        lambda call: argue(concedes="part 1" in call.prompt or "persona a." in call.prompt), to=ArgumentReply
    )
    usual = personas(2, 2)
    for kind in ("ClaimsReply", "SubtopicsReply"):
        model._says[kind, ""] = usual._says[kind, ""]
    done = compare(model)
    assert done.verdict.notes == [
        "the speaker for paper a conceded at 0.0, 0.1",
        "the speaker for paper b conceded at 0.1",
    ]


def test_what_personas_propose_is_kept_apart_from_what_they_claim() -> None:
    model = summing_up(sentence("They differ.", "0.0"))
    done = compare(model, segments=3)
    assert [one.proposals for one in topic_of(done.node("0.0")).positions] == [["Both could be joined."]] * 2
    (call,) = [call for call in model.calls if call.kind == "SummaryReply"]
    assert call.prompt.count("proposes: Both could be joined.") == 2
    later = turn(model, ArgumentReply, "a", "0.0", 1)
    assert "Both could be joined." not in later.prompt


IDS = st.sampled_from(["0.0", "0", "0.9", "a:1", "b:1", "a:2", "a:77", "", "nothing"])
QUOTED = st.sampled_from(["", " “care. The survey”", " “not there at all”", f" “{PAPER_B['title']}”"])
SENTENCES = st.lists(
    st.builds(
        lambda quote, ids, word: SentenceText(
            text=f"Sentence {word}.{quote}",
            nodes=[name for name in ids if ":" not in name],
            segments=[name for name in ids if ":" in name],
        ),
        QUOTED,
        st.lists(IDS, max_size=4),
        st.sampled_from("xyz"),
    ),
    max_size=3,
)


@seed(1)
@hypothesis_settings(max_examples=25, deadline=None, database=None)
@given(similarities=SENTENCES, differences=SENTENCES, proposals=SENTENCES)
def test_nothing_is_lost_nothing_is_invented_and_every_fault_shows(
    similarities: list[SentenceText], differences: list[SentenceText], proposals: list[SentenceText]
) -> None:
    differences = differences or [sentence("Sentence x.", "0.0")]
    said = SummaryReply(similarities=similarities, differences=differences, proposals=proposals)
    model = summing_up()
    model.will_say_now(said)
    done = compare(model, segments=3)
    found = topic_of(done.node()).sentences
    assert [s.text for s in found] == [s.text for s in (*similarities, *differences, *proposals)]
    for one, of in zip(found, (*similarities, *differences, *proposals), strict=True):
        assert one.nodes == (["0.0"] if "0.0" in of.nodes else [])
        assert one.segments == [n for n in dict.fromkeys(of.segments) if n in ("a:1", "b:1")]
        gone = {*of.nodes, *of.segments} - {*one.nodes, *one.segments}
        assert len([fault for fault in one.faults if fault.startswith(("cites", "points"))]) == len(gone)
        assert ("rests on nothing" in one.faults) == (not one.nodes and not one.segments)
        assert one.faults != [] or "not there at all" not in one.text
    whole = f"{done.verdict.answer} {done.verdict.rationale or ''}"
    for part, texts in ((done.verdict.answer, (*similarities, *differences)), (whole, proposals)):
        assert part is not None
        assert all(text.text in part for text in texts)
    marked = sum(bool(one.faults) for one in found)
    assert done.verdict.notes[:1] == ([f"{marked} of {len(found)} sentences are marked"] if marked else [])
    assert (whole.count("[") > 0) == (marked > 0)


topic = topic_debate.topic_debate


def said(paper: str, stage: str, concedes: bool = False, questions: list[str] | None = None) -> Any:
    return {
        "paper": paper, "stage": stage, "title": "t", "description": "d", "evidence": [],
        "questions": questions or [], "proposals": [], "concedes": concedes,
    }  # fmt: skip


EXPANDED = {
    # progression, questions, winner, asked: reference, paper
    (True, False, False, False): ("expansion", "expansion"),
    (True, True, False, True): ("expansion", "expansion"),
    (False, True, False, True): ("expansion", "expansion"),
    (False, True, False, False): ("stop_no_progress", "expansion"),
    (False, False, False, True): ("stop_no_progress", "expansion"),
    (False, False, True, True): ("stop_clear_winner", "stop_clear_winner"),
    (False, True, True, False): ("stop_clear_winner", "stop_clear_winner"),
    (False, True, True, True): ("stop_clear_winner", "expansion"),
    (True, False, True, False): ("stop_clear_winner", "expansion"),
    (True, True, True, True): ("stop_clear_winner", "expansion"),
}


@pytest.mark.parametrize(("judged", "ways"), EXPANDED.items())
def test_a_topic_is_split_as_either_rule_says(
    judged: tuple[bool, bool, bool, bool], ways: tuple[str, str]
) -> None:
    progression, questions, winner, asked = judged
    state: Any = {
        "said": [said("a", "respond", questions=["Why?"] if asked else [])],
        "progression_of_arguments": progression,
        "meaningful_questions": questions,
        "clear_winner": winner,
    }
    for rule, way in zip(("reference", "paper"), ways, strict=True):
        settings = build_settings(Settings, model="openai:any", expansion_rule=rule)
        assert topic_debate.after_progress(state, settings) == way


# Laws of every rule

TURNS = st.lists(
    st.builds(
        said,
        st.sampled_from("ab"),
        st.sampled_from(["present", "respond", "revise"]),
        st.booleans(),
        st.just(["Why?"]),
    ),
    max_size=6,
    unique_by=lambda turn: (turn["paper"], turn["stage"]),
)
segments = st.lists(st.sampled_from(["a:1", "a:2", "b:7"]), unique=True)
contexts = st.builds(
    lambda **given: build_settings(Settings, model="openai:any", **given),
    expansion_rule=st.sampled_from(["reference", "paper"]),
    filter=st.sampled_from(["per_claim", "per_segment"]),
    max_depth=st.integers(1, 3),
)
topics = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["0", "0.1", "0.10.2"]),
        "authors": st.just({}),
        "depth": st.integers(0, 3),
        "own": st.just([{"id": "a1", "paper": "a"}, {"id": "b2", "paper": "b"}]),
        "met": st.dictionaries(st.sampled_from(["a1", "b2"]), segments),
        "children": st.just([]),
        "progression_of_arguments": st.booleans(),
        "meaningful_questions": st.booleans(),
        "clear_winner": st.booleans(),
        "said": TURNS,
    }
)


@seed(1)
@hypothesis_settings(max_examples=60, deadline=None, database=None)
@given(state=topics, context=contexts)
def test_every_segment_of_a_claim_is_weighed_once_and_no_call_is_made_about_nothing(
    state: dict[str, Any], context: Settings
) -> None:
    chosen = topic_debate.after_pre_emption(state, context)  # type: ignore[arg-type]
    sent: list[Any] = [send.arg for send in chosen] if isinstance(chosen, list) else []
    assert sent or chosen == "subtopics"
    for claim, met in state["met"].items():
        portions = [one["met"][claim] for one in sent if claim in one["met"]]
        whole = [met] if met else []
        expected = [[name] for name in met] if context.filter == "per_segment" else whole
        assert portions == expected
    state["own"] = []
    assert topic_debate.after_pre_emption(state, context) == "stop_failed"  # type: ignore[arg-type]


@seed(1)
@hypothesis_settings(max_examples=100, deadline=None, database=None)
@given(turns=TURNS)
def test_a_personas_last_argument_stands_whatever_is_missing(turns: list[Turn]) -> None:
    last = latest(turns)
    assert [one["paper"] for one in last] == sorted({one["paper"] for one in last})
    assert latest([*reversed(turns)]) == last
    own = {(str(turn["paper"]), str(turn["stage"])): turn for turn in turns}
    for letter in "ab":
        stands = own.get((letter, "revise")) or own.get((letter, "present"))
        found = [one for one in last if one["paper"] == letter]
        assert [one["stage"] for one in found] == ([stands["stage"]] if stands else [])
        if stands and stands["stage"] == "revise":
            assert found == [stands]
        elif stands:
            response = own.get((letter, "respond"))
            conceded = response is not None and response["concedes"]
            assert found[0]["concedes"] == (stands["concedes"] or conceded)
