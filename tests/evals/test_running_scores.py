"""What scorers say of an evaluation's runs, the votes before them, and who sees what is right."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dialectree.errors import RequestError
from dialectree.evals.reporting.analysis import analyse_study
from dialectree.evals.reporting.answers import Answers
from dialectree.evals.reporting.study import study
from dialectree.evals.reporting.tables import count_control_rulings, tables
from dialectree.evals.scorers import TruthReply
from dialectree.evals.standing import JUDGE_ROLE
from dialectree.nodes.adaptive_reasoning_tree.scorer import VerifierReply
from dialectree.nodes.role_switching_debate.direct_answerer import DirectReply
from dialectree.nodes.role_switching_debate.judge import JudgeReply
from dialectree.nodes.tree_structured_debate.answerer import CriticReply, ExplorerReply
from dialectree.records.folder import RunFolder
from tests.evals.evaluating import (
    MARK,
    OPTIONS,
    by_item,
    choices,
    claims,
    evaluate,
    model,
    opens,
    plan,
    results,
    row,
    write,
)
from tests.evals.test_running import refused
from tests.graphs.adaptive_reasoning_tree.arguing import arguers as arguing
from tests.graphs.role_switching_debate.switching import direct, listed, rule
from tests.scripted import Asked, ScriptedModel, no_reply

# Scores


def test_a_judge_scores_answers_and_its_calls_are_counted_apart() -> None:
    speaker, judge = model(), ScriptedModel()
    words = {"day 1?": "TRUE", "day 2?": "**FALSE**", "day 3?": "so so"}
    judge.will_say(
        lambda call: next(word for day, word in words.items() if day in call.prompt), to=TruthReply
    )
    evaluate(plan(opens(3), speaker, row("single_shot"), judge=judge, concurrency=1))
    found = by_item()
    scored = {item: (one.scores[0].score, one.scores[0].value) for (_, item), one in found.items()}
    assert sorted(scored.values(), key=str) == [(0.0, "scored"), (1.0, "scored"), (None, "unparsed")]
    assert sorted(one.judging.calls for one in results()) == [1, 1, 2]
    assert {one.usage.calls for one in results()} == {1}
    for one in results():
        kept = RunFolder(Path("out/runs") / str(one.run) / "judging").calls()
        assert {call.role for call in kept} == {JUDGE_ROLE}
        assert len(kept) == one.judging.calls


@pytest.mark.parametrize(("message", "passed"), [("TRUE", [True, False]), ("FALSE", [False, True])])
def test_the_judge_is_tried_on_answers_that_are_known(message: str, passed: list[bool]) -> None:
    speaker = model()
    speaker.will_say(ExplorerReply(answer="Grass."), CriticReply(critique="Why?"))
    speaker.will_say_now(message, to=TruthReply)
    standing = evaluate(plan(opens(3), speaker, row("single_shot"), row("two_round")))
    found = by_item()
    tried = {item for (name, item), one in found.items() if one.controls}
    assert tried == {"q1", "q2", "q3"}
    for (name, _), one in found.items():
        assert [control.passed for control in one.controls] == (passed if name == "single_shot" else [])
        assert one.controlling.calls == len(one.controls)
    judged = sum(call.kind == "TruthReply" for call in speaker.calls)
    assert (standing.spending.judge.calls, standing.spent.calls) == (judged, len(speaker.calls))


def test_the_judge_does_not_read_the_answers_that_it_is_tried_on() -> None:
    speaker, asked = model(), {"question": "What do cows eat?"}
    some, few = {"true": ["Hay", "Grass"], "false": ["Iron", "Stones"]}, {"true": ["Hay"]}
    data = write([{"id": "q1", **asked, **some}, {"id": "q2", **asked, **few}])
    evaluate(plan(data, speaker, row("single_shot")))
    by_question = {item: one.controls for (_, item), one in by_item().items()}
    assert [[c.held_back for c in by_question[q]] for q in ("q1", "q2")] == [[True] * 2, [False]]
    tried = [call.prompt for call in speaker.calls if call.kind == "TruthReply"]
    for shown, hidden in (("Hay", "Iron"), ("Iron", "Hay")):
        (control,) = (p for p in tried if shown in p and hidden not in p and "Stones" in p)
        assert control.count(shown) == 1 and "Grass" in control
    (line,) = count_control_rulings(study([Path("out")]))
    assert (line["questions"], line["held back"]) == (2, 1)


# Votes


def test_a_vote_comes_first_and_is_counted_apart() -> None:
    speaker = model(winner=OPTIONS[1])
    speaker.will_say_now(direct(OPTIONS[0]))
    evaluate(plan(choices(2), speaker, row("basic"), row("self_consistency"), vote_first=3))
    found = by_item()
    for item in ("q1", "q2"):
        one = found["basic", item]
        assert one.vote is not None
        assert one.vote.answers == ["A", "A", "A"]
        assert (one.vote.label, one.vote.right, one.vote.usage.calls) == ("A", False, 3)
        assert (one.scores[0].score, one.usage.calls) == (1.0, 6)  # the debate corrected it
        assert found["self_consistency", item].vote is None  # no debate
        assert (Path("out/runs") / f"{one.run}.vote" / "calls.jsonl").is_file()


def test_a_vote_in_which_nobody_says_anything_is_neither_right_nor_wrong() -> None:
    speaker = model()
    speaker.will_say_now(no_reply(), to=DirectReply)
    evaluate(plan(choices(1), speaker, row("basic"), vote_first=3))
    (one,) = results()
    assert one.vote and (one.vote.answers, one.vote.given) == ([None] * 3, False)
    assert (one.vote.right, one.status) == (None, "answered")


def test_a_vote_on_an_open_question_is_scored_like_an_answer() -> None:
    speaker = model()
    speaker.will_say_now(direct("Grass"), direct("Stones"), direct("grass."), to=DirectReply)
    speaker.will_say(ExplorerReply(answer="Grass."), CriticReply(critique="Why?"))
    evaluate(plan(opens(1), speaker, row("two_round"), vote_first=3, concurrency=1))
    (one,) = results()
    assert one.vote and one.vote.label is None and one.vote.right is True
    assert sorted(map(str, one.vote.answers)) == ["Grass", "Stones", "grass."]
    assert one.judging.calls == 2


# Sides


def test_the_gold_answer_stands_on_either_side_and_place_where_they_are_drawn() -> None:
    speaker = model()
    evaluate(plan(choices(24), speaker, row("basic", candidates="balanced")))
    found = {one.item: one.sides for one in results()}
    stood = {(s.gold_side, s.gold_position) for s in found.values() if s}
    assert stood == {(a, b) for a in ("a", "b") for b in ("first", "second")}
    for call in speaker.calls:
        if call.kind == JudgeReply.__name__:  # as the judge was really shown it
            item = "q" + call.prompt.partition("on day ")[2].partition("?")[0]
            side = found[item]
            assert side
            first = next(iter(listed(call, "candidates")))
            assert (first == "B") == (side.gold_position == "first")


def test_a_judge_that_goes_by_the_place_is_seen_to_flip() -> None:
    speaker = model()

    def first_shown(call: Asked) -> JudgeReply:
        label, text = next(iter(listed(call, "candidates").items()))
        return rule(label, text)

    speaker.will_say_now(first_shown, to=JudgeReply)
    evaluate(plan(choices(3), speaker, row("basic", candidates="oracle", judge_orders="both")))
    assert {s.flipped for s in _sides()} == {True}
    steady = plan(choices(3), model(), row("basic", candidates="oracle", judge_orders="both"))
    evaluate(steady, "other")
    assert {one.sides and one.sides.flipped for one in results("other")} == {False}


def _sides() -> list[Any]:
    return [one.sides for one in results() if one.sides is not None]


# Juries


def with_jury(data: Path, *ruled: str) -> Answers:
    """Return the row of a jury; a judge's text has the position of its ruling by question."""
    speaker = model()

    def judge(call: Asked) -> JudgeReply:
        day = int(re.findall(r"on day (\d)", call.prompt)[0])
        label = ruled[int(call.speaker) - 1][day - 1]
        return rule(label, listed(call, "candidates")[label])

    speaker.will_say_now(judge, to=JudgeReply)
    flags: dict[str, Any] = {"jury": [speaker] * len(ruled)}
    evaluate(plan(data, speaker, row("basic"), **flags))
    return study([Path("out")]).rows["basic"]


def line_of(key: str) -> dict[str, Any]:
    made = {one.key: one for one in tables(analyse_study(study([Path("out")])))}
    return {str(name): column.iloc[0] for name, column in made[key].frame.items()}


def test_a_report_says_how_far_a_jury_agrees_and_what_it_is_worth() -> None:
    found = with_jury(choices(4), "BBAA", "BBBA", "BABA")
    assert {item: one.rulings for item, one in found.results.items()} == {
        "q1": {"1": "B", "2": "B", "3": "B"},
        "q2": {"1": "B", "2": "B", "3": "A"},
        "q3": {"1": "A", "2": "B", "3": "B"},
        "q4": {"1": "A", "2": "A", "3": "A"},
    }
    assert found.row.settings["jury"] == ["live:ScriptedModel"] * 3
    line = line_of("juries")
    assert (line["judges"], line["questions"], line["best judge"]) == (3, 4, "2, live:ScriptedModel")
    assert line["Krippendorff's alpha"] == pytest.approx(1 - 11 * 4 / (12 * 12 - 7 * 7 - 5 * 5))
    assert line["effective votes"] == pytest.approx(3 / (1 + 2 * 2 / (3 * 3**0.5)))
    assert (line["right by the jury"].right, line["right by the best judge"].right) == (3, 3)


def test_without_right_answers_a_report_says_that_agreement_is_not_accuracy() -> None:
    data = [{"id": f"q{n}", "question": f"What on day {n}?", "options": OPTIONS} for n in (1, 2)]
    with_jury(write(data), "AB", "AB")
    made = {one.key: one for one in tables(analyse_study(study([Path("out")])))}["juries"]
    assert "effective votes" not in made.frame and "right by the jury" not in made.frame
    assert "Agreement is not accuracy" in made.notes[0]


# What is right reaches no prompt


@pytest.mark.parametrize(
    ("data", "speaker", "methods"),
    [
        (opens, model, ("single_shot",)),
        (choices, model, ("rsd", "basic", "no_uncertainty", "self_consistency")),
        (claims, arguing, ("art", "argllm")),
    ],
)
def test_references_reach_nobody_but_the_scorers_judge(
    data: Callable[[int], Path], speaker: Callable[[], ScriptedModel], methods: tuple[str, ...]
) -> None:
    asked = speaker()
    asked.will_say(VerifierReply(answer="yes"))
    debates = bool({"rsd", "art"} & {*methods})
    evaluate(plan(data(3), asked, *map(row, methods), vote_first=2 if debates else 0))
    marked = {call.role for call in asked.calls if MARK in call.prompt}
    assert marked == ({JUDGE_ROLE} if data is opens else set())
    inputs = [path.read_text() for path in Path("out/runs").rglob("run.json")]
    assert inputs and not any(MARK in text or '"gold"' in text for text in inputs)


@pytest.mark.parametrize("candidates", ["proposed", "balanced"])
def test_who_is_right_changes_no_prompt_but_those_of_debates_that_are_given_it(candidates: str) -> None:
    seen: list[list[str]] = []
    given = candidates == "balanced"
    for gold in "AC":
        speaker = model()
        speaker.will_say_now(
            lambda call: direct(next(iter(listed(call, "options").values()))), to=DirectReply
        )
        methods = [row("rsd", candidates=candidates), row("self_consistency")]
        evaluate(plan(choices(2, gold=gold), speaker, *methods, vote_first=2), gold)
        direct_prompts = {c.prompt for c in speaker.calls if c.kind == DirectReply.__name__}
        # Votes and samples read the question alone, and votes the two options of such a debate.
        assert len(direct_prompts) == (4 if given else 2)
        seen.append(sorted(speaker.prompts))
    assert (seen[0] != seen[1]) == given


def test_judge_samples_and_vote_choose_between_the_two_options_of_the_debate() -> None:
    speaker, pair = model(), {"candidates": "balanced", "distractor": "random"}
    asked = [row("basic", **pair), row("judge_alone", **pair), row("self_consistency", samples=2, **pair)]
    speaker.will_say_now(lambda call: direct([*listed(call, "options").values()][-1]), to=DirectReply)
    evaluate(plan(choices(6, gold="C"), speaker, *asked, vote_first=2))
    calls = {kind: [c for c in speaker.calls if c.kind == kind] for kind in ("DirectReply", "JudgeReply")}
    assert len(calls["DirectReply"]) == 6 * (2 + 1 + 2)
    assert {call.role for call in calls["DirectReply"]} == {"judge", "answerer"}
    for number in range(1, 7):
        day = f"day {number}?"
        debated = [listed(call, "candidates") for call in calls["JudgeReply"] if day in call.prompt]
        shown = [listed(call, "options") for call in calls["DirectReply"] if day in call.prompt]
        assert {frozenset(one.items()) for one in debated} == {frozenset(shown[0].items())}
        assert all(one == shown[0] for one in shown) and shown[0]["C"] == OPTIONS[2]
    for (name, _), one in by_item().items():
        if name == "basic":
            assert one.vote and (one.vote.pair, one.vote.answers) == (True, ["C", "C"])
        else:
            assert one.verdict and one.verdict.label == "C"


def test_a_judge_whose_endpoint_refuses_ends_the_evaluation_and_debates_are_kept() -> None:
    speaker, judge = model(), ScriptedModel()
    judge.will_say(refused(), to=TruthReply)
    with pytest.raises(RequestError, match="not with me"):
        evaluate(plan(opens(3), speaker, row("single_shot"), judge=judge))
    assert (results(), len(speaker.calls)) == ([], 3)
    evaluate(plan(opens(3), speaker, row("single_shot"), judge=model()))
    assert (len(by_item()), len(speaker.calls)) == (3, 3)
