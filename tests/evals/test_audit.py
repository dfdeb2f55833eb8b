"""An audit says that a debate is worth it, or is not, where its data bear it out."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dialectree.errors import BudgetReached, InputError
from dialectree.evals.audit import Layout, audit, pool_of
from dialectree.evals.comparisons import RowComparison
from dialectree.evals.options import read_options
from dialectree.evals.reporting import audit_page
from dialectree.evals.reporting.audit_page import gains, method_table, rules
from dialectree.evals.reporting.audit_result import (
    SINGLE,
    AuditResult,
    RivalComparison,
    analyse_audit,
    best_of,
)
from dialectree.evals.reporting.page import as_sentence
from dialectree.evals.reporting.study import Study, study
from dialectree.evals.reporting.writing import report
from dialectree.nodes.adaptive_reasoning_tree.scorer import ClaimScorerReply, VerifierReply
from dialectree.protocols.settings import ProtocolSettings, build_settings
from dialectree.records import Usage
from dialectree.system import chance
from tests.evals import evaluating, sample, simulated
from tests.evals.simulated import SHAPES, Shape
from tests.graphs.adaptive_reasoning_tree import arguing
from tests.scripted import ScriptedModel

ANSWERS = re.compile(
    r"with these models a debate is worth it|with these models a debate is not worth it|"
    r"cannot be told from \d+ questions?; that needs about [\d,]+ questions"
)
NOTHING: tuple[Shape, ...] = ("alike", "clustered", "unlike", "strongest", "withholding")
"""In these debating changes nothing."""


def answers(shape: Shape, audits: int, n: int = 120) -> Counter[str]:
    return Counter(simulated.audit(seed, shape, n).answer for seed in range(audits))


# Audits whose truth is known


@pytest.mark.parametrize("shape", NOTHING)
def test_a_debate_that_changes_nothing_is_seldom_worth_it(shape: Shape) -> None:
    assert answers(shape, 8, 60)["worth it"] <= 1


@pytest.mark.slow
@pytest.mark.parametrize("shape", NOTHING)
def test_in_a_thousand_audits_at_most_five_of_a_hundred_are_wrong(shape: Shape) -> None:
    found = answers(shape, 1000)
    assert found["worth it"] <= 50, found


@pytest.mark.slow
def test_a_debate_that_helps_is_found_out_and_seldom_called_not_worth_it() -> None:
    helped, harmed = answers("helps", 200), answers("harms", 200)
    assert helped["worth it"] >= 100 and helped["not worth it"] <= 10
    assert harmed["not worth it"] >= 100 and harmed["worth it"] == 0


@pytest.mark.parametrize("shape", SHAPES)
def test_an_audit_ends_with_one_of_three_sentences(shape: Shape) -> None:
    one = simulated.audit(1, shape, 40)
    assert ANSWERS.fullmatch(one.sentence)
    assert one.needed > one.asked == 40


def test_a_difference_lies_in_its_interval_which_more_comparisons_widen() -> None:
    marks: Any = {"kind": "marks", "row": "debate", "rival": "samples", "clusters": range(12)}
    one = RowComparison(first=[50.0 + k for k in range(12)], second=[52.0] * 12, **marks)
    for compared in (one, replace(one, kind="row", first=[1.0] * 12, second=[0.0, 1.0] * 6)):
        (alone,), (among_ten,) = (
            RivalComparison("debate", SINGLE, compared, tests=tests).intervals for tests in (1, 10)
        )
        assert alone.value == pytest.approx(3.5 if compared is one else 0.5)
        bounds = [among_ten.low, alone.low, alone.value, alone.high, among_ten.high]
        figures = [bound for bound in bounds if bound is not None]
        assert len({*figures}) == 5 and figures == sorted(figures)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_data_name_the_questions_that_an_undecided_audit_needs(shape: Shape) -> None:
    one = simulated.audit(1, shape, 40)
    needed = audit_page.data(one)["questions_needed"]
    assert needed == (one.needed if one.answer == "cannot be told" else None)


# The rows


def test_the_first_of_several_models_judges_and_argues_last() -> None:
    pool = pool_of(["x:a", "x:b", "x:c"])
    assert pool.assign_models(("one", "two")) == {"model": "x:a", "one": "x:b", "two": "x:c"}
    assert pool_of(["x:a", "x:b"]).assign_models(("one", "two"))["two"] == "x:a"
    judged = pool_of(["x:a", "x:b"], "x:j")
    assert judged.assign_models(("one", "two")) == {"model": "x:j", "one": "x:a", "two": "x:b"}
    assert judged.models == ["x:j", "x:a", "x:b"]
    assert pool_of(["x:a"]).models == ["x:a"] and pool_of([]).models == [""]
    with pytest.raises(InputError, match="two addresses"):
        pool_of(["openai:a@http://one.test/v1", "openai:a@http://two.test/v1"])


def planned(data: Path, models: list[str] | None = None, **given: object) -> Layout:
    options = read_options({"out": "out"})
    return audit(data, options, {"base_url": "http://127.0.0.1:9/v1", **given}, models or []).layout


def test_an_audit_of_unlike_models_asks_each_of_them_alone_and_debates_twice() -> None:
    options = read_options({"out": "out"})
    models = ["openai:a", "openai:b", "openai:c"]
    data = evaluating.opens(2)
    made = audit(data, options, {"base_url": "http://127.0.0.1:9/v1"}, models)
    rows = {one.name: one.models for one in made.rows}
    assert [*rows] == [
        *("alone, openai:a", "alone, openai:b", "alone, openai:c", "one critique"),
        *("debate, one model", "debate, unlike models"),
    ]
    assert rows["debate, one model"] == {"model": "openai:a"}
    assert rows["debate, unlike models"] == {
        "model": "openai:a",
        "leaf_debater_a": "openai:b",
        "leaf_debater_b": "openai:c",
    }
    assert rows["one critique"] == {"model": "openai:a", "critic": "openai:b"}
    assert [*made.layout.samples] == models
    assert made.layout.left_out == ["consultancy: no method for open questions has it"]


def test_a_consultancy_is_left_out_where_there_are_more_than_two_options() -> None:
    layout = planned(evaluating.choices(2))
    assert layout.consultancy is None and layout.one_model == "debate"
    assert any("two options" in text for text in layout.left_out)


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"roles": {"debater_a": "openai:x"}}, "only judge=SPEC"),
        ({"debate": "judge_alone"}, "--debate judge_alone: the debates for questions with options"),
        ({"debate": "art"}, "--debate art"),
    ],
)
def test_what_cannot_be_audited_is_refused(given: dict[str, Any], fault: str) -> None:
    settings = {name: value for name, value in given.items() if name != "debate"}
    with pytest.raises(InputError, match=fault):
        audit(evaluating.choices(1), read_options({}), settings, [], given.get("debate"))


# The best of the pool


def test_nobody_is_chosen_by_the_questions_that_he_answers() -> None:
    """Of two models each is right on one half of the questions: who is chosen is wrong there."""
    rows = [sample.row("judge_alone", name, name=name) for name in ("x:a", "x:b")]
    names = sorted((f"q{n}" for n in range(20)), key=lambda i: (chance.seed(0, "half", i), i))
    half = {name: place % 2 for place, name in enumerate(names)}
    study = simulated.decided(rows, 20, lambda row, n: half[f"q{n}"] == (row == "x:a"))
    best, chosen = best_of(study, SINGLE, study.rows)
    assert best.right("right", "wrong") == {f"q{n}": False for n in range(20)}
    assert chosen == {"x:a": 10, "x:b": 10}
    better = simulated.decided(rows, 20, lambda row, n: row == "x:b" or n % 3 == 0)
    best, chosen = best_of(better, SINGLE, better.rows)
    assert chosen == {"x:b": 20} and all(best.right("right", "wrong").values())


# The answer


def told(debate: float, n: int, tokens: float = 1.0, **fields: Any) -> AuditResult:
    """An audit of one model in which a share of n questions is won by the debate alone."""
    layout = Layout(alone={"": "alone"}, samples={"": "samples"}, one_model="debate", **fields)
    methods = {"alone": "judge_alone", "samples": "self_consistency", "debate": "rsd"}
    rows = [sample.row(method, name=name, samples=9) for name, method in methods.items()]
    won = {
        "debate": lambda k: k % 100 < 50 + 100 * debate,
        "alone": lambda k: k % 100 < 50,
        "samples": lambda k: k % 100 < 50,
    }
    made = simulated.decided(rows, n, lambda row, k: won[row](k))
    for result in made.rows["samples"].results.values():
        result.usage = Usage(calls=9, prompt_tokens=round(1000 * tokens))
    return analyse_audit(made, layout)


@pytest.mark.parametrize(
    ("debate", "n", "tokens", "answer"),
    [
        (0.2, 200, 1.0, "worth it"),
        (0.2, 10, 1.0, "cannot be told"),
        (-0.2, 200, 1.0, "not worth it"),
        (0.0, 1000, 1.0, "not worth it"),
        (0.0, 20, 1.0, "cannot be told"),
        (0.2, 200, 0.5, "cannot be told"),  # a win over fewer tokens than a debate's
        (0.2, 200, 3.0, "worth it"),
    ],
)
def test_an_answer_rests_on_evidence_and_on_equal_tokens(
    debate: float, n: int, tokens: float, answer: str
) -> None:
    one = told(debate, n, tokens)
    assert one.answer == answer
    assert (one.needed > n) or answer != "cannot be told"


def test_without_samples_no_debate_is_worth_it_and_the_page_says_why() -> None:
    one = told(0.2, 200)
    lacking = analyse_audit(one.study, replace(one.layout, samples={}, left_out=["samples: none"]))
    assert lacking.answer == "cannot be told"
    assert "Without equal-token samples no debate can be shown to be worth it." in rules(lacking)
    assert "Left out: samples: none." in rules(lacking)


def test_the_table_has_a_line_for_each_method_and_each_debate() -> None:
    one = simulated.audit(1, "helps", 40)
    table = method_table(one)
    assert table is not None
    assert [*table.frame["method"]] == [
        *("judge alone: openai:a", "alone: openai:b", "alone: openai:c", SINGLE),
        *("equal-token samples, None a question", "one critique", "consultancy"),
        *("debate, one model", "debate, unlike models"),
    ]
    shares = dict(zip(table.frame["method"], table.frame["right"], strict=True))
    for name in one.layout.debates:
        assert shares[name] == one.study.rows[name].accuracy


def test_nothing_but_failures_tells_nothing() -> None:
    one = told(0.0, 4)
    for row in one.study.rows.values():
        for result in row.results.values():
            result.status, result.scores = "failed", []
    empty = analyse_audit(study_of(one), one.layout)
    assert empty.sentence == "cannot be told from 4 questions; that needs about 790 questions"
    assert gains(empty) == ["debate: no question in common with another method."]


def study_of(one: AuditResult) -> Study:
    """The same results, read anew."""
    anew = Study(one.study.folders, one.study.evaluations)
    anew.add(Path(), one.study.texts.values(), one.study.results)
    return anew


# A scripted evaluation


def speaker() -> ScriptedModel:
    """A model that is wrong alone about true claims, and right in debates."""
    model = arguing.arguers()
    model.will_say(VerifierReply(answer="no"))
    model.will_say(ClaimScorerReply(rationale="Known.", truth=0.3))
    return model


def test_an_audit_of_claims_is_an_evaluation_that_goes_on_and_ends_with_its_sentence() -> None:
    model, data = speaker(), evaluating.claims(2)
    options = read_options({"out": "out"})

    def conducted() -> AuditResult:
        made = audit(data, options, {"model": model, "cache": False})
        asyncio.run(made.conduct())
        return analyse_audit(study([Path("out")]), made.layout)

    one = conducted()
    calls = len(model.calls)
    assert {*one.study.rows} == {"alone", "samples", "debate"}
    assert any("reports no tokens" in text for text in rules(one))  # as a scripted model
    page = audit_page.write(one, Path("out"))
    text, plain = page.read_text(), Path("out/audit.md").read_text()
    answer = as_sentence(one.sentence)
    assert plain.splitlines()[0] == f"# {answer}" and ANSWERS.fullmatch(one.sentence)
    assert re.search(rf"<main>\s*<header>\s*<h1 [^>]*>{re.escape(answer)}</h1>", text)
    assert "<script" not in text
    assert "one critique: no method for claims has it" in text
    assert audit_page.lines(one)[-1] == one.sentence
    json.dumps(audit_page.data(one))
    assert report([Path("out")]).page.is_file()
    assert conducted().sentence == one.sentence and len(model.calls) == calls


def test_an_audit_prints_one_line_of_progress_a_minute_for_both_stages(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = audit(evaluating.claims(2), read_options({"out": "out"}), {"model": speaker()})
    asyncio.run(made.conduct(progress=True))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("data: 6 of 6 questions, 0 failed, ")


def test_an_audit_without_right_answers_is_refused_before_the_first_call() -> None:
    model = speaker()
    data = evaluating.write([{"claim": "Cows eat grass."}, {"claim": "Cows eat stones."}])
    with pytest.raises(InputError, match=r"no row says what is right \(label\): .*--columns label=COLUMN"):
        audit(data, read_options({"out": "out"}), {"model": model})
    assert not model.calls and not Path("out").exists()


def test_a_conflict_of_the_second_stage_is_found_before_the_first_call() -> None:
    data, model = evaluating.claims(2), speaker()
    evaluating.evaluate(evaluating.plan(data, model, evaluating.row("direct", "samples")))
    calls = len(model.calls)
    made = audit(data, read_options({"out": "out"}), {"model": model, "cache": False})
    with pytest.raises(InputError, match=r"row 'samples', its method.* direct, and this is direct_samples"):
        asyncio.run(made.conduct())
    assert len(model.calls) == calls


def test_both_stages_share_one_budget() -> None:
    made = audit(evaluating.claims(2), read_options({"out": "out"}), {"model": speaker()})
    tight = replace(made, plan=replace(made.plan, shared=build_settings(ProtocolSettings, max_calls=13)))
    with pytest.raises(BudgetReached):
        asyncio.run(tight.conduct())
    rows = Counter(result.row for result in evaluating.results())
    assert rows["debate"] == 2 and rows["samples"] < 2
