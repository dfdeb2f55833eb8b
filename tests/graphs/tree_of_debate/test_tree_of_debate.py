"""Tree-of-Debate: who speaks when, what each reads, and what that costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from dialectree.errors import InputError
from dialectree.nodes.tree_of_debate.comparison import ComparisonReply
from dialectree.nodes.tree_of_debate.evidence import Relevance, RelevanceReply
from dialectree.nodes.tree_of_debate.moderator import ProgressReply, SubtopicsReply, SubtopicText
from dialectree.nodes.tree_of_debate.persona import ArgumentReply, ClaimsReply, ClaimText, ResponseReply
from dialectree.nodes.tree_of_debate.state import SAMPLES
from dialectree.protocols.protocol import methods
from dialectree.report.node_data import topic_of
from tests.graphs.debating import debate
from tests.graphs.role_switching_debate.switching import of, within
from tests.graphs.tree_of_debate.comparing import (
    PAPER_A,
    PAPER_B,
    TOPIC,
    argue,
    by_letter,
    claim,
    compare,
    go_on,
    personas,
    respond,
    shown_segments,
    speaker,
    split,
    turn,
)
from tests.scripted import Asked, no_reply

Reply = type[BaseModel]


# Calls


def costs(k: int, depth: int, claims: int = 3, segments: int = 5, **more: Any) -> tuple[int, int]:
    """Return calls and critical path of a full tree, as the protocol's page counts them."""
    expanded = sum(k**level for level in range(depth))
    debated = sum(k**level for level in range(1, depth + 1))
    filters = 2 * claims * (segments if more.get("filter") == "per_segment" else 1)
    turns = 5 if more.get("turns") == "alternating" else 3
    decided = debated - k**depth
    calls = expanded * (2 + filters + 1) + 6 * debated + decided + 1
    return calls, depth * (3 + turns) + depth - 1 + 1


@pytest.mark.parametrize("more", [{}, {"filter": "per_segment"}, {"turns": "alternating"}])
@pytest.mark.parametrize(("k", "depth"), [(3, 1), (2, 2), (1, 3)])
def test_calls_and_critical_path_of_a_full_tree_are_those_of_the_protocol(
    k: int, depth: int, more: dict[str, Any]
) -> None:
    done = compare(personas(2, k), max_depth=depth, max_subtopics=k, max_claims=2, segments=3, **more)
    assert (done.usage.calls, done.usage.critical_path_calls) == costs(k, depth, 2, 3, **more)
    assert len({call.key for call in done.calls}) == done.usage.calls
    assert len({call.spot() for call in done.calls}) == done.usage.calls


def test_the_full_tree_of_the_paper_takes_364_calls_and_21_in_a_row() -> None:
    done = compare(personas(), max_depth=3, segments=5)
    assert (done.usage.calls, done.usage.critical_path_calls) == (364, 21) == costs(3, 3)
    assert compare(personas(), segments=5).usage.critical_path_calls == 7


def without_self_deliberation(k: int, depth: int, turns: int) -> tuple[int, int]:
    expanded = sum(k**level for level in range(depth))
    debated = sum(k**level for level in range(1, depth + 1))
    calls = expanded + 6 * debated + (debated - k**depth) + 1
    return calls, depth * (1 + turns) + (depth - 1) + 1


@pytest.mark.parametrize(("turns", "steps"), [("parallel", 3), ("alternating", 5)])
@pytest.mark.parametrize(("k", "depth"), [(1, 1), (3, 1), (2, 3)])
def test_an_ablation_and_a_baseline_cost_what_their_page_says(
    k: int, depth: int, turns: str, steps: int
) -> None:
    def cost(name: str) -> tuple[int, int]:
        graph = methods()[name].graph()
        settings: Any = {"max_depth": depth, "max_subtopics": k, "max_claims": 2, "turns": turns}
        done = compare(personas(2, k), graph=graph, **settings)
        assert done.verdict.answer
        assert len({call.key for call in done.calls}) == done.usage.calls
        return done.usage.calls, done.usage.critical_path_calls

    assert cost("no_tree") == (2 + 2 * 2 + 1 + 6 + 1, 3 + steps + 1)
    assert cost("no_self_deliberation") == without_self_deliberation(k, depth, steps)
    assert cost("single_stage") == (1, 1)
    assert cost("two_stage") == (3, 2)
    assert cost("best_comparison") == (SAMPLES + 1, 2)


def test_the_best_of_several_comparisons_is_picked_once() -> None:
    model, graph = personas(), methods()["best_comparison"].graph()

    def usual(call: Asked) -> ComparisonReply:
        return ComparisonReply(summary=f"Take {call.speaker}.")

    model.will_say_now(usual, to=ComparisonReply)
    done = compare(model, graph=graph, samples=3)
    assert sorted(done.spoke()) == ["1", "2", "3", "picker"]
    assert (done.verdict.answer, done.verdict.rationale) == ("Take 2.", "It is accurate.")
    assert done.verdict.notes == ["sample 2 was picked out of 3"]
    assert all(f"{n}: Take {n}." in model.prompts[-1] for n in (1, 2, 3))
    model.will_say_now(lambda c: usual(c) if c.speaker == "3" else no_reply(), to=ComparisonReply)
    alone = compare(model, graph=graph, samples=3)
    assert alone.verdict.answer == "Take 3." and len(alone.failures) == 2


# Who reads what


def reads(call: Asked, *texts: str) -> None:
    for text in texts:
        assert text in call.prompt


def does_not_read(call: Asked, *texts: str) -> None:
    for text in texts:
        assert text not in call.prompt


def test_the_moderator_judges_progress_by_the_arguments_before_and_after() -> None:
    model = personas(1, 1)
    model.will_say_now(
        lambda call: argue(f"{speaker(call)} {'after' if '<transcript>' in call.prompt else 'before'}"),
        to=ArgumentReply,
    )
    compare(model, max_depth=2, max_subtopics=1)
    (call,) = of(model, ProgressReply)
    assert within(call, "before").splitlines() == [
        "persona a: a before: It is faster.", "persona b: b before: It is faster.",
    ]  # fmt: skip
    assert within(call, "after").splitlines() == [
        "persona a: a after: It is faster.", "persona b: b after: It is faster.",
    ]  # fmt: skip
    transcript = within(call, "transcript")
    heads = [line for line in transcript.splitlines() if line.startswith("persona")]
    stages = ("present", "respond", "revise")
    assert heads == [f"persona {who}, {stage}" for stage in stages for who in "ab"]
    assert transcript.count("asks: How?") == 2


def test_a_persona_without_a_claim_reads_what_was_retrieved_from_its_paper_for_the_parent() -> None:
    model = personas(1, 1)
    of_a = SubtopicText(title="only a", description="?", claims_a=["a1"], claims_b=[], raised_by=[])
    model.will_say_now(SubtopicsReply(subtopics=[of_a]))
    done = compare(model, segments=3)
    call = turn(model, ArgumentReply, "b", "0.0")
    does_not_read(call, "<claims>")
    (found,) = [r.found for r in done.node().retrievals if (r.paper, r.of) == ("b", "topic")]
    assert sorted(shown_segments(call)) == sorted(segment.id for segment in found)
    assert len(found) == 3
    assert topic_of(done.node("0.0")).relevant == ["a1"]


def test_ids_that_were_not_offered_are_left_out_and_nobody_is_asked_again() -> None:
    model = personas(1, 1)
    model.will_say_now(
        ClaimsReply(claims=[ClaimText(title="speed", description="d", evidence=["a:1", "a:99", "zz"])])
    )
    model.will_say_now(argue(evidence=["a:99", "nothing", "a:1", "a:1"]), to=ArgumentReply)
    done = compare(model, segments=20)
    assert [c.evidence for c in topic_of(done.node()).all_claims] == [["a:1"], []]
    assert [p.evidence for p in topic_of(done.node("0.0")).positions] == [["a:1"], ["a:1"]]
    assert done.usage.calls == 2 + 2 + 1 + 6 + 1


# Pre-emption


def answers(**said: str) -> Callable[[Asked], RelevanceReply]:
    fields = {"supports": "no", "refutes": "no", "clarifies": "no", "irrelevant": "no", **said}
    return lambda call: RelevanceReply(
        segments=[Relevance.model_validate({"id": n, **fields}) for n in shown_segments(call)]
    )


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({"supports": "yes"}, True),
        ({"refutes": "yes"}, True),
        ({"clarifies": "yes"}, True),
        ({"supports": "yes", "refutes": "yes", "clarifies": "yes"}, True),
        ({"clarifies": "yes", "irrelevant": "yes"}, True),
        ({"irrelevant": "yes"}, False),
        ({}, False),
    ],
)
def test_a_segment_that_does_anything_to_a_claim_is_kept_even_where_it_is_called_irrelevant(
    said: dict[str, str], kept: bool
) -> None:
    model = personas(1, 1)
    model.will_say_now(answers(**said), to=RelevanceReply)
    done = compare(model, segments=3)
    topic = topic_of(done.node())
    assert [len(topic.counter[c.id]) for c in topic.all_claims] == [3 * kept] * 2
    call = turn(model, ArgumentReply, "a", "0.0")
    assert ("the opposing paper does not address it" in call.prompt) != kept
    (subtopics,) = of(model, SubtopicsReply)
    assert ("the other paper does not address it" in subtopics.prompt) != kept


def test_only_the_segments_that_speak_to_a_claim_are_kept() -> None:
    model = personas(1, 1)

    def all_but_the_first(call: Asked) -> RelevanceReply:
        first, *others = answers(supports="yes")(call).segments
        return RelevanceReply(segments=[first.model_copy(update={"supports": "no"}), *others])

    model.will_say_now(all_but_the_first, to=RelevanceReply)
    done = compare(model, segments=3)
    shown = {speaker(call): shown_segments(call) for call in of(model, RelevanceReply)}
    topic = topic_of(done.node())
    for found in topic.all_claims:
        other = "b" if found.paper == "a" else "a"
        assert sorted(topic.counter[found.id]) == sorted(shown[other][1:])


FOREIGN = ClaimsReply(
    claims=[ClaimText(title="zymurgy", description="quokka", evidence=[])]
)  # no word of it stands in either paper


def test_a_claim_without_retrieved_segments_costs_no_call_and_is_not_addressed() -> None:
    model = personas(1, 1)
    model.will_say_now(by_letter(a=FOREIGN, b=claim(1)(_of_b())), to=ClaimsReply)
    done = compare(model)
    assert [speaker(call) for call in of(model, RelevanceReply)] == ["a"]
    assert topic_of(done.node()).counter["a1"] == []
    model = personas(1, 1)
    model.will_say_now(FOREIGN)
    done = compare(model)
    assert of(model, RelevanceReply) == []
    assert (done.usage.calls, done.usage.critical_path_calls) == (2 + 1 + 6 + 1, 6)


def _of_b() -> Asked:
    prompt = f"<paper>\n{PAPER_B['title']}\n</paper>\n<evidence>\nb:1: x\n</evidence>"
    return Asked("ClaimsReply", "0", "persona", 0, 1, prompt)


# Claims and subtopics


def test_a_claim_or_subtopic_that_is_given_twice_counts_once() -> None:
    model = personas(1, 1)
    twice = [
        ClaimText(title="Speed", description="It is fast.", evidence=[]),
        ClaimText(title="speed", description="it is  fast.", evidence=[]),
        ClaimText(title="Noise", description="It is robust.", evidence=[]),
    ]
    model.will_say_now(ClaimsReply(claims=twice))
    parts = [
        SubtopicText(title="Speed", description="How fast?", claims_a=["a1"], claims_b=[], raised_by=[]),
        SubtopicText(title="speed", description="how fast? ", claims_a=["a2"], claims_b=["b1"], raised_by=[]),
        SubtopicText(title="Noise", description="How noisy?", claims_a=[], claims_b=["b2"], raised_by=[]),
    ]
    model.will_say_now(SubtopicsReply(subtopics=parts))
    done = compare(model)
    assert [c.id for c in topic_of(done.node()).all_claims] == ["a1", "a2", "b1", "b2"]
    assert [done.node(n).text for n in done.node().children] == ["Speed", "Noise"]
    assert len({call.key for call in done.calls}) == done.usage.calls == 2 + 4 + 1 + 12 + 1


def test_a_subtopic_in_its_topics_very_words_is_noted_and_ends_at_the_depth_limit() -> None:
    model = personas(1, 1)
    same = SubtopicText(title="Same", description="The same?", claims_a=["a1"], claims_b=[], raised_by=[])
    model.will_say_now(SubtopicsReply(subtopics=[same]))
    done = compare(model, max_depth=3)
    notes = {name: node.notes for name, node in done.tree.nodes.items()}
    again = ["subtopic 1 repeats its topic"]
    assert notes == {"0": [], "0.0": again, "0.0.0": again, "0.0.0.0": []}


def test_a_subtopic_that_names_no_claim_is_asked_for_again() -> None:
    model = personas(1, 1)
    bare = SubtopicText(title="t", description="d", claims_a=["b1", "a7"], claims_b=["a1"], raised_by=[])
    model.will_say_now(SubtopicsReply(subtopics=[bare]))
    model.will_say(split(1), to=SubtopicsReply)
    done = compare(model)
    assert "number 1 names no claim" in of(model, SubtopicsReply)[1].prompt
    assert done.usage.calls == 2 + 2 + 2 + 6 + 1


@pytest.mark.parametrize("kind", [ClaimsReply, SubtopicsReply])
def test_an_empty_list_is_asked_for_again(kind: Reply) -> None:
    model = personas(1, 1)
    usual = model.says(kind)
    empty = kind.model_validate({next(iter(kind.model_fields)): []})
    model.will_say_now(lambda call: usual(call) if "cannot be used" in call.prompt else empty, to=kind)
    done = compare(model)
    assert done.verdict.answer and done.failures == []


# Depth and expansion


def test_only_the_topics_that_go_on_are_split() -> None:
    model = personas(1, 3)
    model.will_say(go_on(winner=True), at="0.0", to=ProgressReply)
    model.will_say(go_on(progression=False), at="0.2", to=ProgressReply)
    done = compare(model, max_depth=2)
    assert done.node().children == ["0.0", "0.1", "0.2"]
    assert done.node("0.1").children == ["0.1.0", "0.1.1", "0.1.2"]
    assert (done.node("0.0").stopped, done.node("0.2").stopped) == ("clear_winner", "no_progress")
    assert done.node("0.1").stopped is None
    assert {call.node for call in of(model, ClaimsReply)} == {"0", "0.1"}
    assert {node.status for node in done.tree.nodes.values()} == {"answered"}


def test_questions_left_open_travel_to_the_next_claims_and_subtopics() -> None:
    model = personas(1, 1)
    model.will_say_now(
        by_letter(
            a=respond(questions=["How does it scale?", "Is it exact?"]),
            b=respond(questions=["At which noise?"]),
        ),
        to=ResponseReply,
    )
    model.will_say_now(go_on("q3", "q1", "q9"))
    done = compare(model, max_depth=2)

    shown = {(call.kind, call.node): within(call, "questions").splitlines() for call in model.calls}
    all_three = [
        "q1, asked by persona a: How does it scale?",
        "q2, asked by persona a: Is it exact?",
        "q3, asked by persona b: At which noise?",
    ]
    assert shown["ProgressReply", "0.0"] == all_three
    for kind in ("ClaimsReply", "SubtopicsReply"):
        assert shown[kind, "0.0"] == [all_three[0], all_three[2]]
        assert shown[kind, "0"] == []
    assert topic_of(done.node("0.0")).raised_by == []
    assert topic_of(done.node("0.0.0")).raised_by == ["How does it scale?"]
    debated = [call for call in of(model, ArgumentReply) if call.node == "0.0.0"]
    for call in debated:
        assert within(call, "topic").endswith("\nleft open before: How does it scale?")
    assert len(debated) == 4


@pytest.mark.parametrize(("named", "split"), [("q1", True), ("q9", False), ("", False)])
def test_a_topic_is_split_over_questions_only_where_one_of_them_is_named(named: str, split: bool) -> None:
    model = personas(1, 1)
    model.will_say_now(go_on(*filter(None, [named]), progression=False))
    done = compare(model, max_depth=2)
    assert bool(done.node("0.0").children) is split
    (turn,) = [one for one in done.node("0.0").transcript if one.phase == "progress"]
    assert turn.fields["meaningful_questions"] is split


# Papers that are none, and papers that hardly are


REFUSED: dict[str, tuple[Any, str]] = {
    "no papers": ([], "give exactly two papers"),
    "one paper": ([PAPER_A], "give exactly two papers"),
    "three papers": ([PAPER_A, PAPER_B, PAPER_A], "give exactly two papers"),
    "a paper for a list": (PAPER_A, "give exactly two papers"),
    "the same paper": ([PAPER_A, {**PAPER_A}], "ladder.txt: both papers are the same text"),
    "the same text": (
        [PAPER_A, {**PAPER_A, "name": "copy.txt"}],
        "ladder.txt and copy.txt: both papers are the same text",
    ),
    "names": (["ladder.txt", "mesh.txt"], "paper a: give a mapping"),
    "no title": ([PAPER_A, {**PAPER_B, "title": ""}], "paper b: title"),
    "a title that is a number": ([{**PAPER_A, "title": 7}, PAPER_B], "title"),
    "no text": ([{"title": "t", "abstract": "a"}, PAPER_B], "no text"),
}


@pytest.mark.parametrize(("papers", "why"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("name", ["tod", "two_stage"])
def test_papers_that_cannot_be_compared_are_refused_in_one_line(papers: Any, why: str, name: str) -> None:

    model = personas()
    with pytest.raises(InputError) as refused:
        debate(model, TOPIC, graph=methods()[name].graph(), given={"papers": papers})
    assert why in str(refused.value) and "\n" not in str(refused.value)
    assert model.calls == []


SHORT = {
    "a body of one segment": {"body": "We bound every orbit."},
    "an introduction alone": {"body": None, "introduction": "Orbits need bounds."},
    "another field": {
        "title": "Bread",
        "abstract": "We bake bread.",
        "introduction": "Flour and water.",
        "body": "Sourdough rises slowly, and salt slows it further down.",
    },
}


@pytest.mark.parametrize("fields", SHORT.values(), ids=SHORT)
@pytest.mark.parametrize("name", ["tod", "two_stage"])
def test_a_paper_with_hardly_any_text_is_compared_as_far_as_it_goes(
    fields: dict[str, str | None], name: str
) -> None:
    paper = {n: text for n, text in {**PAPER_B, **fields}.items() if text is not None}
    done = compare(personas(1, 1), (PAPER_A, paper), graph=methods()[name].graph(), segments=5)
    assert done.verdict.answer and done.failures == []
    assert {name for name in done.tree.segments if name[0] == "b"} <= {"b:1"}


def test_evidence_that_was_retrieved_stands_in_the_record_with_its_place() -> None:
    done = compare(personas(1, 1), segments=2)
    root = done.node()
    assert [(r.paper, r.of) for r in root.retrievals] == [
        ("a", "topic"), ("b", "topic"), ("b", "a1"), ("a", "b1"),
    ]  # fmt: skip
    for found in root.retrievals:
        assert [hit.score for hit in found.found] == sorted(h.score or 0 for h in found.found)[::-1]
        assert {hit.id for hit in found.found} <= {*done.tree.segments}
    queries = [found.query for found in root.retrievals]
    assert queries[:2] == [TOPIC, TOPIC]
    assert queries[2] == "a on accuracy at 0: It treats accuracy with care."
    deeper = compare(personas(1, 1), segments=2, max_depth=2).node("0.0")
    assert {r.query for r in deeper.retrievals if r.of == "topic"} == {"part 0 of 0 : What of accuracy?"}
    texts = [segment.text for segment in done.tree.segments.values()]
    assert all(text.startswith(("The ladder method", "The mesh method")) for text in texts)


def test_a_quotation_of_a_text_that_the_speaker_has_not_read_is_noted() -> None:
    model = personas(1, 1)
    model.will_say_now(
        ClaimsReply(
            claims=[ClaimText(title="t", description="It has “care of its own” and “an award”.", evidence=[])]
        )
    )
    model.will_say_now(
        argue(
            description="Ours is “in linear time”; see “fast estimation”; “ten times faster”.",
            proposals=["“a proposed award”"],
        )
    )
    model.will_say_now(respond(description="You say “ten times faster”, “why not”, “In linear time”."))
    done = compare(model)
    notes = [note.partition(": quotes ")[0] for note in done.node().notes]
    assert notes == ["claim a1", "claim a1", "claim b1", "claim b1"]
    notes = done.node("0.0").notes
    assert [n for n in notes if "linear" in n or "fast estimation" in n] == []
    assert sum("a proposed award" in note for note in notes) == 4
    assert [note.partition(": ")[0] for note in notes if "ten times faster" in note] == [
        "present, persona a", "present, persona b",
    ]  # fmt: skip
    assert {n.partition(": ")[0] for n in notes if "why not" in n} == {
        "respond, persona a", "respond, persona b",
    }  # fmt: skip


# The ablations


def test_without_a_tree_one_debate_is_about_all_subtopics_and_is_split_no_further() -> None:
    model = personas(3, 3)
    done = compare(model, graph=methods()["no_tree"].graph(), max_depth=3)
    assert [*done.tree.nodes] == ["0", "0.0"]
    merged = done.node("0.0")
    assert merged.text == "part 0 of 0; part 1 of 0; part 2 of 0"
    assert topic_of(merged).description == (
        "[1] part 0 of 0: What of accuracy? [2] part 1 of 0: What of speed? [3] part 2 of 0: What of memory?"
    )
    assert topic_of(merged).relevant == ["a1", "b1", "a2", "b2", "a3", "b3"]
    assert of(model, ProgressReply) == []
