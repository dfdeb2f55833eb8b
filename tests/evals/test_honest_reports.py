"""A report asserts what its data bear out: failed, withheld, drawn sides, pairs, clusters."""

from __future__ import annotations

import importlib
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from dialectree.evals.dataset_items import Inputs, Item, Reference
from dialectree.evals.plots import plots
from dialectree.evals.reporting.analysis import Analysis, analyse_study, missing
from dialectree.evals.reporting.answers import FIRST_OPTION, count_first_choices
from dialectree.evals.reporting.cautions import cautions
from dialectree.evals.reporting.findings import findings, opening
from dialectree.evals.reporting.formatting import probability
from dialectree.evals.reporting.study import study
from dialectree.evals.reporting.writing import report
from dialectree.evals.results import AnswerScore, ControlScore, Result, Row, Sides, Vote
from dialectree.protocols import plugins
from dialectree.protocols.protocol import Evaluation, Protocol, load_protocols
from dialectree.records import Usage, Verdict
from tests.evals import sample
from tests.evals.simulated import KINDS, Kind, asserted, equals, says, withholding
from tests.evals.test_report import table, told

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DEBATE, SAMPLES = sample.row("rsd"), sample.row("self_consistency")


def result(
    number: int,
    right: bool,
    row: str = "rsd",
    before: bool | None = None,
    tokens: int = 100,
    sides: Sides | None = None,
) -> Result:
    return Result(
        row=row,
        item=f"q{number}",
        status="answered",
        verdict=Verdict(answer="x", label="A"),
        scores=[AnswerScore(key="choice", score=float(right), value="scored")],
        usage=Usage(calls=1, prompt_tokens=tokens),
        vote=None if before is None else Vote(answers=["A"], right=before),
        sides=sides,
        ended=sample.STAMP,
    )


def made(
    folder: Path, results: list[Result], n: int, *rows: Row, options: int = 4, **fields: object
) -> Analysis:
    asked = [
        Item(
            id=one.id,
            inputs=Inputs(question="Which?", options=tuple("wxyz"[:options])),
            reference=Reference(gold="A"),
        )
        for one in sample.items("decide", n)
    ]
    over = rows or (DEBATE, SAMPLES)
    return analyse_study(study([sample.write(folder, "decide", over, asked, results, **fields)]))


def compared(analysis: Analysis) -> set[tuple[str, str, float | None]]:
    """Who is compared with whom, and the tokens of samples by those of the debate."""
    return {(one.row, one.rival, one.ratio) for one in analysis.comparisons}


def failed(number: int, row: str = "rsd") -> Result:
    update: dict[str, object] = {"status": "failed", "scores": [], "verdict": None, "fault": "no reply"}
    return result(number, False, row).model_copy(update=update)


def withheld(number: int, row: str = "rsd", before: bool | None = None) -> Result:
    none = AnswerScore(key="choice", score=0.0, value="unanswered")
    update: dict[str, object] = {"status": "unresolved", "scores": [none], "verdict": Verdict()}
    return result(number, False, row, before).model_copy(update=update)


def test_a_debate_that_failed_is_left_out_and_named_with_its_bounds(tmp_path: Path) -> None:
    results = [result(k, k < 7) for k in range(1, 9)] + [failed(9), failed(10)]
    results += [result(k, k < 6, "self_consistency") for k in range(1, 11)]
    analysis = made(tmp_path, results, 10)
    (one,) = analysis.comparisons
    assert (one.ledger.n, one.failed) == (8, 2)
    # 6 and 5 of 8 are right; the baseline has both others wrong: 6 to 8 of 10 against 5 of 10.
    assert one.bounds == pytest.approx((0.1, 0.3))
    line = told(analysis, "compared")
    assert (line["at worst, points"], line["at best, points"]) == ("10.0", "30.0")
    (said,) = (text for text in cautions(analysis) if "Failed" in text)
    assert "RSD 2 of 10 (q9 and q10; accuracy 60.0% if all were wrong, 80.0% if all were" in said
    assert opening(analysis)[2] == "What is missing: 2 runs failed."
    assert told(analysis, "accuracy")["accuracy"].startswith("75.0%")


def test_bounds_take_each_side_that_failed_as_right_and_as_wrong(tmp_path: Path) -> None:
    rival = "self_consistency"
    results = [result(k, k < 7) for k in range(1, 9)] + [failed(9), result(10, True), failed(11)]
    results += [result(k, k < 6, rival) for k in range(1, 9)]
    results += [result(9, True, rival), failed(10, rival), failed(11, rival)]
    (one,) = made(tmp_path, results, 11).comparisons
    assert (one.ledger.n, one.failed) == (8, 3)
    # 1 more is right of 8. At worst q9 and q11 are lost and q10 is level; at best q10 and q11 are won.
    assert one.bounds == pytest.approx(((1 - 2) / 11, (1 + 2) / 11))


def gaps(analysis: Analysis) -> dict[str, tuple[str | None, int | None]]:
    """The samples that come nearest to each debate without a fair rival, and how many would match."""
    return {
        gap.debate: (gap.nearest.rival if gap.nearest else None, gap.samples) for gap in missing(analysis)
    }


def test_each_debate_lacks_samples_of_its_own_tokens(tmp_path: Path) -> None:
    few, many = (sample.row("self_consistency", name=f"{n} samples", samples=n) for n in (3, 30))
    debates = {"rsd": 1000, "basic": 100, "no_uncertainty": 320}
    tokens = {**debates, few.name: 100, many.name: 1000}
    results = [result(k, k % 2 > 0, name, tokens=n) for name, n in tokens.items() for k in range(1, 7)]
    analysis = made(tmp_path / "all", results, 6, *map(sample.row, debates), few, many)
    # 320 tokens are nearer to 1,000 than to 100 by their ratio: 30 samples of 33 tokens each.
    assert gaps(analysis) == {"RSD w/o uncertainty": ("30 samples", 10)}
    other = [one for one in results if one.row in ("rsd", few.name)]
    apart = [one for one in other if (one.row == "rsd") == (int(one.item[1:]) < 4)]
    assert gaps(made(tmp_path / "apart", apart, 6, DEBATE, few)) == {}  # no question in common
    assert gaps(made(tmp_path / "alone", other[:6], 6, DEBATE)) == {"RSD": (None, None)}
    alone = sample.row("judge_alone")
    apart += [result(k, False, alone.name) for k in range(1, 7)]
    folder = sample.write(
        tmp_path / "judge", "decide", [DEBATE, few, alone], sample.items("decide", 6), apart
    )
    assert gaps(analyse_study(study([folder]), "judge_alone")) == {}  # the judge alone is no rival in tokens


def test_a_withheld_answer_is_not_right_and_no_answer_that_the_debate_spoilt(tmp_path: Path) -> None:
    results = [withheld(k, before=True) for k in range(1, 41)]
    results += [result(k, False, before=True) for k in (41, 42)]
    results += [result(k, True, before=True) for k in range(43, 61)]
    results += [withheld(k, before=False) for k in range(61, 66)]
    results += [result(k, k > 10, "self_consistency") for k in range(1, 66)]
    analysis = made(tmp_path, results, 65)
    compared, turned = analysis.comparisons
    assert turned.ledger[:4] == (18, 0, 42, 5)
    line = told(analysis, "turned")
    counted = [line[way] for way in ("right → wrong", "right → withheld", "wrong → withheld")]
    assert counted == ["2", "40", "5"]
    said = " ".join(findings(analysis))
    assert "RSD leaves fewer questions right than the vote before it (18 against 60 of 65)" in said
    assert said.endswith("The debate changed 2 right answers to wrong ones.")
    assert "is worse" not in said
    assert "but not as changed to wrong by a debate: RSD 45 of 65." in " ".join(cautions(analysis))
    shown = told(analysis, "accuracy")
    assert shown["accuracy"].startswith("27.7%") and shown["withheld"] == "45"
    assert shown["answered"].startswith("30.8%")
    assert shown["right of those answered"].startswith("90.0%")
    # the plot, the table and the test speak of the same figure
    assert compared.shares[0] == analysis.study.rows["rsd"].accuracy
    bars = plots(analysis)[0]
    assert bars.title.endswith("(pale: withheld)") and "RSD 18 of 65, 45 withheld" in bars.caption
    assert "27.7%" in bars.svg and "90.0%" not in bars.svg
    assert [one.row.accuracy.share for one in analysis.priced if one.row.id == "rsd"] == [18 / 65]
    assert (compared.ledger.n, compared.withheld) == (65, 45)
    assert compared.as_many and sum(compared.as_many.second) <= 20


def leaning(n: int) -> list[Result]:
    """A debate that is right only where the first debater holds the right answer."""
    return [
        result(k, k % 2 > 0, sides=Sides(gold_side="a" if k % 2 else "b", gold_position="first"))
        for k in range(1, n + 1)
    ]


@pytest.mark.parametrize(
    ("candidates", "options", "leans"),
    [("proposed", 4, False), ("oracle", 2, False), ("balanced", 4, True), ("proposed", 2, True)],
)
def test_a_judge_leans_only_where_the_side_was_drawn(
    tmp_path: Path, candidates: str, options: int, leans: bool
) -> None:
    row = sample.row("rsd", candidates=candidates)
    analysis = made(tmp_path, leaning(30), 30, row, options=options)
    said = [text for text in findings(analysis) if "leans" in text]
    assert len(said) == leans
    if leans:
        assert said[0].startswith(
            "RSD: the judge leans by side: right 15 of 15 where the right answer came first, and 0 "
            "of 15 where it came second (p = "
        )


def test_a_debate_on_two_options_is_compared_with_baselines_on_the_same_two(tmp_path: Path) -> None:
    kind = "oracle"
    debate, alone, samples, others = (
        sample.row("rsd", candidates=kind),
        sample.row("judge_alone", candidates=kind),
        sample.row("self_consistency", name="on two", candidates=kind),
        sample.row("judge_alone", name="random", candidates=kind, distractor="random"),
    )
    weak = sample.row("judge_alone", sample.OTHER, name="weak", candidates=kind)
    vote = Vote(answers=["A"], right=False, pair=True)
    results = [result(k, True).model_copy(update={"vote": vote}) for k in range(1, 21)]
    for row in (weak, alone, samples, others, SAMPLES):
        results += [result(k, k > 15, row.name) for k in range(1, 21)]
    analysis = made(tmp_path, results, 20, debate, others, SAMPLES, samples, weak, alone)
    assert {("RSD", "Judge alone", None), ("RSD", "on two", 1.0)} <= compared(analysis)
    assert not {row for row, *_ in compared(analysis) if row in (others.name, "Self-consistency@9")}
    said = findings(analysis)
    assert any(text.startswith("RSD is better than Judge alone") for text in said)
    assert any(text.startswith("RSD is better than the vote before it") for text in said)
    assert not any("cannot be told" in text for text in said)


def test_questions_in_clusters_tell_as_much_as_their_clusters(tmp_path: Path) -> None:
    def both(cluster: str | None) -> list[Result]:
        found = []
        for k in range(1, 41):
            name = cluster and f"{cluster}{k % 4}"
            for row, right in (("rsd", True), ("self_consistency", k % 4 > 1)):
                found.append(result(k, right, row).model_copy(update={"cluster": name}))
        return found

    plain = made(tmp_path / "plain", both(None), 40)
    whole = made(tmp_path / "whole", both("topic"), 40, cluster="topic")
    assert "RSD is better than Self-consistency@9" in findings(plain)[0]
    assert "No difference can be shown: RSD" in findings(whole)[0]
    assert "clustered sign-flip p = 0.50" in findings(whole)[0]
    assert findings(whole)[0].endswith("too few questions, or clusters of them, to show a difference.")
    wide, narrow = (one.comparisons[0].difference for one in (whole, plain))
    assert wide.low < narrow.low and wide.high > narrow.high  # type: ignore[operator]
    assert "40 questions in 4 clusters" in " ".join(table(whole, "accuracy").notes)
    assert "With 4 clusters only" in " ".join(cautions(whole))


def priced(number: int, right: bool, row: str, cost: float | None, tokens: int) -> Result:
    usage = Usage(calls=1, prompt_tokens=tokens, cost=cost)
    return result(number, right, row).model_copy(update={"usage": usage})


def test_the_report_opens_with_the_answer_its_price_and_what_is_missing(tmp_path: Path) -> None:
    results = [priced(k, True, "rsd", 0.5, 900) for k in range(1, 41)]
    results += [priced(k, k > 20, "self_consistency", 0.1, 100) for k in range(1, 41)]
    analysis = made(tmp_path, results, 40)
    answer, price, missing = opening(analysis)
    assert answer == ("Debating helped in 1 of 1 comparison: RSD is 50.0 points above Self-consistency@9.")
    assert price == "Its price: 24 in money, 80 calls and 40,000 tokens."
    assert missing == "What is missing: nothing."
    report([tmp_path])
    for name in ("report.html", "report.md"):
        text = (tmp_path / name).read_text("utf-8")
        assert text.index("Debating helped in 1") < text.index("Did debating help?")
    assert [*told(analysis, "cost").values()][:4] == ["all", "80", "40,000", "24.00"]
    level = [one.model_copy(update={"scores": results[0].scores}) for one in results[::4]]
    few = opening(made(tmp_path / "few", level, 40))
    assert few[0].startswith("It cannot be told whether debating helped: ")


def handed(folder: Path, *debates: Row, baseline: str | None = None) -> Analysis:
    """Debates that are always right, beside samples and a vote that never are."""
    asked = sample.items("decide", 20)
    vote = Vote(answers=["A"], right=False)
    results = [result(k, False, SAMPLES.name) for k in range(1, 21)]
    for row in debates:
        right = [result(k, True, row.name) for k in range(1, 21)]
        results += [one.model_copy(update={"vote": vote}) for one in right]
    rows = [*debates, SAMPLES]
    return analyse_study(study([sample.write(folder, "decide", rows, asked, results)]), baseline)


def test_nothing_is_asserted_of_a_debate_that_was_handed_the_answer(tmp_path: Path) -> None:
    row = sample.row("rsd", candidates="balanced")
    analysis = handed(tmp_path, row)
    (said,) = findings(analysis)
    assert said.startswith("For RSD it cannot be told whether debating helped: no baseline chooses")
    for own in (analysis, handed(tmp_path / "named", row, baseline="self_consistency")):
        assert compared(own) == {("RSD", "the vote before it", None)}
    assert [one.p for one in analysis.comparisons] == [None]
    assert "does not compare" in table(analysis, "turned").notes[-1]
    assert [one.beaten_by for one in analysis.priced] == [None, None]
    kinds = {*table(analysis, "cost").frame["kind"].dropna()}
    assert kinds == {"baseline", "debate, handed the right answer"}
    assert "front" in {plot.key for plot in plots(analysis)}


def beside(folder: Path, *rows: Row) -> Analysis:
    """The first row is always right, and the others never are."""
    results = [result(k, n == 0, r.name) for n, r in enumerate(rows) for k in range(1, 21)]
    return made(folder, results, 20, *rows)


@pytest.mark.parametrize("candidates", [{}, {"candidates": "balanced"}])
@pytest.mark.parametrize("method", ["judge_alone", "self_consistency"])
def test_samples_and_the_judge_alone_are_baselines_wherever_they_run(
    method: str, candidates: dict[str, str], tmp_path: Path
) -> None:
    debates = [sample.row(name, **candidates) for name in ("rsd", "basic")]
    analysis = beside(tmp_path, *debates, sample.row(method, **candidates))
    rival = {"judge_alone": "Judge alone", "self_consistency": "Self-consistency@9"}[method]
    assert {pair[:2] for pair in compared(analysis)} == {("RSD", rival), ("RSD w/o both", rival)}
    assert opening(analysis)[0].startswith("Debating helped in 1 of 2")


def test_a_debate_is_never_taken_for_a_baseline(tmp_path: Path) -> None:
    for names in (("rsd", "basic"), ("basic", "rsd")):
        analysis = beside(tmp_path / names[0], *map(sample.row, names))
        assert opening(analysis)[0] == (
            "It cannot be told whether debating helped: no debate is compared with a baseline."
        )
        first = analysis.study.rows[names[0]].name
        assert table(analysis, "compared").notes[0].endswith(f"a debate, not a baseline: {first}.")


def test_a_protocol_that_names_no_plainest_is_compared_with_its_tasks_baselines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = {name: replace(one, evaluation=None) for name, one in load_protocols().items()}
    rsd = load_protocols()["rsd"]
    assert rsd.evaluation
    bare["rsd"] = replace(rsd, evaluation=Evaluation(task="decide"))
    monkeypatch.setattr(plugins, "load_declarations", lambda: (bare, {}))
    analysis = beside(tmp_path, sample.row("rsd"), sample.row("judge_alone"))
    assert compared(analysis) == {("rsd", "judge_alone", None)}
    assert opening(analysis)[0].startswith("Debating helped in 1")


REPORTS = 12


@pytest.mark.parametrize("clustered", [False, True])
def test_of_equal_methods_few_reports_assert_anything(clustered: bool) -> None:
    said = [asserted(equals(k, clustered=clustered, balanced=k % 2 > 0)) for k in range(REPORTS)]
    most = binom.ppf(0.999, REPORTS, 0.05)
    assert sum(differs for differs, _ in said) <= most
    assert sum(leans for _, leans in said) <= most


def test_the_judges_controls_are_shown_and_failed_ones_are_told(tmp_path: Path) -> None:
    ruled = [
        ControlScore(key="truthful", truthful=right, score=1.0, value="scored") for right in (True, False)
    ]
    results = [
        result(k, True, row.name).model_copy(
            update={"controls": ruled, "controlling": Usage(calls=2, prompt_tokens=50, cost=0.5)}
        )
        for row in (DEBATE, SAMPLES)
        for k in range(1, 11)
    ]
    analysis = made(tmp_path, results, 10)
    line = told(analysis, "controls")
    assert line["right answers called right"].startswith("100.0%")
    assert line["wrong answers called wrong"].startswith("0.0%")
    assert line["informedness"] == "0.00"
    assert any("The judge failed its controls of truthful" in text for text in cautions(analysis))
    assert "of which 10 in money, 40 calls and 1,000 tokens for judging" in opening(analysis)[1]


def test_another_protocols_debate_is_no_baseline_and_is_measured_against_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(EXAMPLES / "majority_debate")
    majority: Protocol = importlib.import_module("majority_debate").protocol
    known = {**load_protocols(), majority.name: majority}
    monkeypatch.setattr(plugins, "load_declarations", lambda: (known, {}))
    stranger = Row(name="votes", method=majority.name, models=dict.fromkeys(majority.roles, "m"))
    right = {"votes": 16, "rsd": 2, "self_consistency": 4}
    results = [result(k, k <= n, name) for name, n in right.items() for k in range(1, 17)]
    alone = made(tmp_path / "alone", results[:32], 16, stranger, DEBATE)
    assert compared(alone) == set()
    assert opening(alone)[0] == (
        "It cannot be told whether debating helped: no debate is compared with a baseline."
    )
    samples = Row(name=SAMPLES.name, method=SAMPLES.method, models={"answerer": "m"})
    beside = made(tmp_path / "beside", results, 16, stranger, DEBATE, samples)
    assert compared(beside) == {("votes", "Self-consistency@9", 1.0), ("RSD", "Self-consistency@9", None)}
    assert opening(beside)[0].startswith("Debating helped in 1 of 2")
    assert told(beside, "cost", 1)["kind"] == "debate"


def answers(row: str, right: range, given: int = 100, unsure: range = range(0)) -> list[Result]:
    """Answers to the first questions of 100, some right and some unsure; the rest is withheld."""
    sure = {
        k: Verdict(answer="x", label="A", confidence=0.3 if k in unsure else 0.9) for k in range(1, given + 1)
    }
    answered = [result(k, k in right, row).model_copy(update={"verdict": v}) for k, v in sure.items()]
    return answered + [withheld(k, row) for k in range(given + 1, 101)]


@pytest.mark.parametrize(
    ("debate", "samples", "opens", "finds"),
    [
        (
            answers("rsd", range(1, 91), 95),
            answers("self_consistency", range(1, 61)),
            "Debating helped in 1 of 1 comparison: RSD is 30.0 points above",
            "RSD is better than Self-consistency@9",
        ),
        (
            answers("rsd", range(1, 21), 66),
            answers("self_consistency", range(1, 76), unsure=range(67, 101)),
            "Debating did harm in 1 of 1 comparison: RSD is 55.0 points below",
            "RSD is worse than Self-consistency@9",
        ),
        (  # the samples are surer of what they have wrong
            answers("rsd", range(1, 46), 50),
            answers("self_consistency", range(1, 76), unsure=range(1, 66)),
            "It cannot be told whether debating helped: RSD is 30.0 points below",
            "There is no verdict on RSD: it is 30.0 points below",
        ),
        (
            answers("rsd", range(1, 67), 66),
            answers("self_consistency", range(26, 101)),
            "It cannot be told whether debating helped: RSD is 9.0 points below",
            "There is no verdict on RSD: it is 9.0 points below",
        ),
    ],
)
def test_a_debate_that_withholds_is_judged_by_two_tests(
    tmp_path: Path, debate: list[Result], samples: list[Result], opens: str, finds: str
) -> None:
    analysis = made(tmp_path, [*debate, *samples], 100)
    assert analysis.family == 2
    answer, found = opening(analysis)[0], findings(analysis)[0]
    assert answer.startswith(opens) and found.startswith(finds)
    worse = "its answers are worse"
    assert {worse in answer, worse in found} == {"worse than" in finds}
    assert found.count("points above") + found.count("points below") == 2  # both figures


@pytest.mark.parametrize("kind", KINDS)
def test_simulated_debates_that_withhold_are_told_from_worse_ones(kind: Kind) -> None:
    said = sum(says(withholding(seed, 200, kind), kind) for seed in range(REPORTS))
    if kind == "equal and selective":
        assert said <= binom.ppf(0.999, REPORTS, 0.05)
    else:
        assert said >= binom.ppf(0.001, REPORTS, 0.8)


def test_the_sentence_on_withheld_answers_counts_them(tmp_path: Path) -> None:
    samples = [result(k, k > 29, "self_consistency") for k in range(1, 101)]
    analysis = made(tmp_path, [*answers("rsd", range(1, 48), 67), *samples], 100)
    said = (
        "RSD leaves fewer questions right than Self-consistency@9 at about as many tokens (47 "
        "against 71 of 100) because it withheld 33; at equal coverage no difference is shown"
    )
    assert said in opening(analysis)[0] and said in findings(analysis)[0]
    line, as_many = (told(analysis, "compared", row) for row in (0, 1))
    assert line["withheld"] == "33" and as_many["right"].startswith("47.0%")
    assert as_many["compared with"] == "Self-consistency@9, at equal coverage"


def test_risk_is_compared_at_the_debates_own_coverage(tmp_path: Path) -> None:
    debate = answers("rsd", range(1, 48), 67)
    samples = answers("self_consistency", range(1, 72), unsure=range(68, 101))
    line = told(made(tmp_path, [*debate, *samples], 100), "risk-coverage", 1)
    assert line["right at the coverage of RSD, 67.0%"].startswith("100.0%")


# Votes, sides and samples


def kept(folder: Path, *results: Result) -> Analysis:
    return made(folder, [*results], 10)


def test_the_ledger_counts_who_turned(tmp_path: Path) -> None:
    turns = [(True, True)] * 3 + [(True, False)] + [(False, True)] * 4 + [(False, False)] * 2
    found = kept(tmp_path, *(result(n, a, before=b) for n, (b, a) in enumerate(turns, 1)))
    (one,) = found.comparisons
    assert [(share.right, share.n) for share in one.shares] == [(7, 10), (4, 10)]
    assert one.ledger[:4] == (3, 4, 1, 2)
    assert one.p == pytest.approx(0.375)


def test_a_vote_in_which_nobody_said_anything_is_none(tmp_path: Path) -> None:
    silent = result(2, True).model_copy(update={"vote": Vote(answers=[None, None], right=False)})
    found = kept(tmp_path, result(1, True, before=True), silent, result(3, True, before=False))
    line = told(found, "turned")
    assert (line["no vote, or no right answer"], line["judgement not read"]) == ("1", "0")
    assert (line["wrong → right"], line["vote before"].split()[0]) == ("1", "50.0%")


def test_sides_and_places_are_counted_apart(tmp_path: Path) -> None:
    sides = [
        Sides(gold_side="a", gold_position="first", flipped=False),
        Sides(gold_side="b", gold_position="second", flipped=True),
        Sides(gold_side="b", gold_position="first"),
        Sides(),
    ]
    found = kept(tmp_path, *(result(n, n != 2, sides=s) for n, s in enumerate(sides, 1)))
    _, *shares = table(found, "places").frame.iloc[0]
    assert [share[:2] for share in shares] == [(1, 1), (1, 2), (1, 1), (2, 2), (0, 1), (1, 2)]


@pytest.mark.parametrize(
    ("tokens", "end"),
    [
        (30, "0.30 of them; --samples 30 would about match."),
        (5, "0.05 of them, and the 100 samples that can be asked for are too few."),
        (300, "3.00 of them; --samples 3 would about match."),
    ],
)
def test_the_samples_that_would_match_a_debate_are_named(tmp_path: Path, tokens: int, end: str) -> None:
    found = kept(
        tmp_path,
        *(result(n, n < 6) for n in range(1, 11)),
        *(result(n, n < 6, "self_consistency", tokens=tokens) for n in range(1, 11)),
    )
    before = "No method spends about as many tokens as RSD on samples: Self-consistency@9 spends "
    (said,) = (text for text in findings(found) if "No method" in text)
    assert said == before + end


def test_samples_for_as_many_tokens_are_compared_by_a_test(tmp_path: Path) -> None:
    wrong, message = range(1, 7), "RSD is better than Self-consistency@9 at about as many tokens"
    found = kept(
        tmp_path,
        *(result(n, True) for n in range(1, 11)),
        *(result(n, n not in wrong, "self_consistency") for n in range(1, 11)),
    )
    (one,) = found.comparisons
    p = 2 / 2 ** len(wrong)
    assert one.p == one.holm == pytest.approx(p)
    assert one.difference.value == len(wrong) / 10
    (sentence,) = (text for text in findings(found) if "at about as many" in text)
    assert message in sentence and "exact McNemar p = 0." in sentence
    assert told(found, "compared")["budget"] == "the same"


def test_ledgers_of_several_rows_are_corrected_before_debating_is_said_to_have_helped(tmp_path: Path) -> None:
    rows = [DEBATE, sample.row("basic")]
    results = [result(n, True, before=False) for n in range(1, 7)]
    results += [result(n, True, "basic", before=True) for n in range(1, 7)]
    analysis = made(tmp_path / "two", results, 6, *rows)
    assert analysis.family == 3  # the two ledgers, and the two rows beside one another
    holm = [one.holm for one in analysis.comparisons if one.kind == "vote"]
    assert holm == pytest.approx([3 / 32, 1])
    assert any(
        text.startswith("No difference can be shown: RSD is 100.0 points above the vote before it")
        and "exact McNemar p = 0.031, 0.094 after Holm)" in text
        for text in findings(analysis)
    )
    alone = made(tmp_path / "one", results[:6], 6, *rows[:1])
    assert findings(alone)[0].startswith("RSD is better than the vote before it: 100.0")


def chosen(
    folder: Path, labels: str, golds: str, options: tuple[str, str] = ("w", "x"), name: str = FIRST_OPTION
) -> list[str]:
    """Return the cautions on a row that chose ``labels`` where ``golds`` are right, of two."""
    asked = [
        Item(id=one.id, inputs=Inputs(question="Which?", options=options), reference=Reference(gold=gold))
        for one, gold in zip(sample.items("decide", len(golds)), golds, strict=True)
    ]
    results = [
        result(n, label == gold).model_copy(update={"verdict": Verdict(answer="x", label=label)})
        for n, (label, gold) in enumerate(zip(labels, golds, strict=True), 1)
    ]
    made = analyse_study(study([sample.write(folder, "decide", (DEBATE,), asked, results)]))
    (leaning,) = made.choice_leanings
    line = told(made, "accuracy")
    assert leaning.significant == (f"chose {name}" in line)  # beside accuracy only beyond chance
    if leaning.significant:
        assert line[f"chose {name}"].startswith(f"{100 * labels.count('A') / len(labels):.1f}%")
    return cautions(made)


def test_a_first_option_that_is_chosen_beyond_chance_is_told(tmp_path: Path) -> None:
    golds = "AB" * 12
    said = chosen(tmp_path / "a", "A" * 23 + "B", golds)
    line = "RSD chose the first option in 23 of 24; it is right in 12"
    p = 2 * sum(math.comb(24, k) for k in (23, 24)) / 2**24  # of 24 throws of a coin
    end = f"more than chance explains (exact binomial p = {probability(p)} after Holm)."
    assert any(text.startswith(line) and text.endswith(end) for text in said)
    said = chosen(tmp_path / "yes", "A" * 23 + "B", golds, ("Yes", "no"), "yes")
    assert any(text.startswith("RSD said yes to 23 of 24; it is right in 12") for text in said)
    said = chosen(tmp_path / "b", "B" * 23 + "A", golds)
    assert any("chose the first option in only 1 of 24" in text for text in said)
    for name, labels in (("right", golds), ("wrong", "BA" * 12), ("even", "AABB" * 6)):
        assert "chose the first" not in " ".join(chosen(tmp_path / name, labels, golds))
    assert "chose the first" not in " ".join(chosen(tmp_path / "all", "A" * 24, "A" * 24))


@given(st.lists(st.tuples(st.sampled_from("ABCD"), st.sampled_from("ABCD")), min_size=1))
def test_unbiased_choices_are_expected_as_often_as_they_come(pairs: list[tuple[str, str]]) -> None:
    choices = count_first_choices([(label, gold, 4) for label, gold in pairs], "the first option")
    assert choices is not None and 0 <= choices.expected <= choices.n == len(pairs)
    right = count_first_choices([(gold, gold, 4) for _, gold in pairs], "the first option")
    assert right is not None and right.expected == right.chosen == right.right
    assert right.p > 0.05 and count_first_choices([], "True") is None
