"""Statistics: printed numbers, other libraries, the definitions written out, and laws."""

from __future__ import annotations

import math
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.contingency_tables import mcnemar as theirs
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from dialectree.evals.comparisons import (
    FEWEST,
    RowComparison,
    adjust_p_values,
    difference,
    exact_flips,
    mcnemar,
    mcnemar_counts,
    sign_flips,
    smallest_clustered,
    smallest_one_way,
    smallest_paired,
    tango,
)
from dialectree.evals.confidence_measures import auc, brier, ece, f1, reliability, risk_coverage
from dialectree.evals.intervals import Figure, design, kappa, share_of, wilson

steady = settings(derandomize=True, database=None, deadline=None, max_examples=30)
answers = st.lists(
    st.tuples(st.integers(0, 20).map(lambda n: n / 20), st.booleans()), min_size=1, max_size=40
)
"""Confidences with many ties, and whether each came true."""


# Two methods on the same questions

pairs = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60)
tables = st.tuples(*[st.integers(0, 40)] * 4).filter(any)
Z = float(norm.isf(0.025))


@steady
@given(pairs)
def test_mcnemar_agrees_with_statsmodels_and_does_not_care_who_is_first(
    both: list[tuple[bool, bool]],
) -> None:
    first, second = [a for a, _ in both], [b for _, b in both]
    found, turned = mcnemar(first, second), mcnemar(second, first)
    assert found.p == turned.p and 0 < found.p <= 1
    assert (found.first_only, found.second_only) == (turned.second_only, turned.first_only)
    assert found.n == len(both)
    if found.first_only + found.second_only:
        table = [[found.both, found.first_only], [found.second_only, found.neither]]
        known: Any = theirs(table, exact=True)
        assert found.p == pytest.approx(known.pvalue)


@steady
@given(
    pairs.filter(lambda both: len(both) >= FEWEST and len({a - b for a, b in both}) > 1), st.integers(0, 5)
)
def test_a_bootstrap_holds_its_figure_and_its_seed_fixes_it(both: list[tuple[bool, bool]], seed: int) -> None:
    first, second = [float(a) for a, _ in both], [float(b) for _, b in both]
    found = difference(first, second, seed=seed, resamples=50)
    assert found == difference(first, second, seed=seed, resamples=50)
    assert found.value == pytest.approx(sum(first) / len(both) - sum(second) / len(both))
    assert found.low is not None and found.high is not None and found.value is not None
    assert -1 <= found.low <= found.value <= found.high <= 1


@pytest.mark.parametrize(
    ("apart", "p"),
    [([], None), ([10.0], 1), ([-1.0, -2.0, -3.0, -4.0, -5.0, -6.0], 2 / 64), ([3.0, -1.0, 1.0], 0.75)],
)
def test_the_signs_of_few_differences_are_all_tried(apart: list[float], p: float | None) -> None:
    assert sign_flips(apart, [0.0] * len(apart)) == (None if p is None else pytest.approx(p))


@pytest.mark.parametrize(
    ("b", "c", "n", "level", "low", "high"),
    [
        # The programs of Fagerland, Lydersen and Laake, Statistical Analysis of Contingency
        # Tables (2017), chapter 8, on the data of Cavo et al. (2012)
        (6, 16, 161, 0.95, -0.1240, -0.0054),
        # scoreci.mp of the R package PropCIs, which takes the second less the first
        (28, 25, 618, 0.90, -0.0148, 0.0247),
    ],
)
def test_the_interval_of_tango_is_that_of_other_programs(
    b: int, c: int, n: int, level: float, low: float, high: float
) -> None:
    found = tango(mcnemar_counts(n - b - c, b, c, 0), level)
    assert found.value == pytest.approx((b - c) / n) and found.n == n
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


@steady
@given(tables)
def test_the_interval_of_tango_holds_its_figure_has_a_width_and_turns_round(
    counts: tuple[int, int, int, int],
) -> None:
    both, b, c, neither = counts
    found, turned = tango(mcnemar_counts(*counts)), tango(mcnemar_counts(both, c, b, neither))
    assert found.low is not None and found.high is not None and found.value is not None
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0.01
    assert turned.low == pytest.approx(-found.high, abs=1e-9)
    assert turned.high == pytest.approx(-found.low, abs=1e-9)
    if abs((b - c) ** 2 - Z**2 * (b + c)) > 1e-6:  # McNemar's test without its correction
        assert (found.low <= 0 <= found.high) == ((b - c) ** 2 <= Z**2 * (b + c))


@steady
@given(st.lists(st.integers(-4, 4), min_size=2, max_size=12))
def test_the_exact_test_of_flips_tries_all_signs(apart: list[int]) -> None:
    assert exact_flips(apart) == pytest.approx(sign_flips(apart, [0] * len(apart)))


def test_a_question_that_is_copied_tells_no_more() -> None:
    first, second = [True] * 6 + [False] * 2, [False] * 8
    copied = mcnemar(first * 5, second * 5, [*range(8)] * 5)
    assert copied.p == pytest.approx(mcnemar(first, second).p) and copied.first_only == 30
    marks = [50.0 + k for k in range(12)]
    many = difference(marks * 5, [40.0] * 60, clusters=[*range(12)] * 5)
    once = difference(marks, [40.0] * 12)
    assert many.n == 60 and many[:3] == pytest.approx(once[:3], abs=0.3)
    assert sign_flips(marks * 5, [52.0] * 60, clusters=[*range(12)] * 5) == sign_flips(marks, [52.0] * 12)


def test_a_copied_question_gives_no_comparison_more_weight() -> None:
    def compared(kind: Any, first: list[float], second: list[float], copies: int) -> RowComparison:
        clusters = [*range(len(first))] * copies
        rows: Any = {"kind": kind, "row": "rsd", "rival": "art", "clusters": clusters}
        return RowComparison(first=first * copies, second=second * copies, **rows)

    answers = [1.0] * 6 + [0.0] * 2, [0.0] * 8
    marks = [50.0 + k for k in range(12)], [52.0] * 12
    for kind, pair in (("row", answers), ("marks", marks)):
        once, copied = compared(kind, *pair, copies=1), compared(kind, *pair, copies=5)
        assert copied.p == pytest.approx(once.p) and 0 < (once.p or 0) < 0.1


SURE, FOUND = float(norm.isf(0.025)), float(norm.ppf(0.8))


def test_too_few_questions_find_nothing() -> None:
    assert smallest_paired(0, 0.5) is smallest_paired(50, 0.0) is smallest_paired(5, 0.3) is None
    assert smallest_one_way(5) is smallest_clustered(0.02, 5) is smallest_clustered(0.4, 50) is None


@steady
@given(st.integers(200, 2000), st.floats(0.3, 0.9))
def test_the_paired_difference_is_about_connors(n: int, differing: float) -> None:
    found = smallest_paired(n, differing)
    assert found is not None
    spread = math.sqrt(differing - found**2)
    needed = ((SURE * math.sqrt(differing) + FOUND * spread) / found) ** 2
    assert needed == pytest.approx(n, rel=0.15)


def test_the_paired_effect_is_found_by_the_exact_test_about_four_times_in_five() -> None:
    n, made, differing = 400, 6, 0.4
    apart = smallest_paired(n, differing, 0.05 / made) or 0.0
    shares = [(differing + apart) / 2, (differing - apart) / 2, 1 - differing]
    drawn = np.random.default_rng(1).multinomial(n, shares, 1500).tolist()
    found = [mcnemar_counts(0, b, c, rest).p < 0.05 / made for b, c, rest in drawn]
    assert sum(found) / len(found) == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("way", ["holm", "bonferroni"])
def test_corrections_are_those_of_statsmodels(way: str) -> None:
    for ps in ([0.01, 0.04, 0.03], [0.5, 0.01, 0.01, 0.9], [0.2]):
        known = multipletests(ps, method=way)[1]
        assert adjust_p_values(ps, way) == pytest.approx(known.tolist())  # type: ignore[arg-type]
    assert adjust_p_values([], way) == []  # type: ignore[arg-type]


# Shares, designs and raters


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(st.integers(1, 1000))
    return draw(st.integers(0, n)), n


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [
        *[(566, 790, 68.4, 74.7), (463, 790, 55.1, 62.0), (479, 790, 57.2, 64.0)],
        *[(4, 5, 37.6, 96.4), (6, 6, 61.0, 100.0), (1, 8, 2.2, 47.1)],
    ],
)
def test_the_intervals_of_tsd_come_out_of_its_counts(right: int, n: int, low: float, high: float) -> None:
    found = wilson(right, n)
    assert found.low is not None and found.high is not None
    assert (round(100 * found.low, 1), round(100 * found.high, 1)) == (low, high)


@steady
@given(counts(), st.floats(0.5, 0.999))
def test_wilson_holds_its_share_turns_round_and_agrees_with_statsmodels(
    found: tuple[int, int], level: float
) -> None:
    right, n = found
    share, turned = wilson(right, n, level), wilson(n - right, n, level)
    assert 0 <= share.low <= share.share <= share.high <= 1  # type: ignore[operator]
    assert share.low < share.high  # type: ignore[operator]
    assert turned.low == pytest.approx(1 - share.high, abs=1e-12)  # type: ignore[operator]
    known = proportion_confint(right, n, 1 - level, method="wilson")
    assert (share.low, share.high) == pytest.approx(known, abs=1e-12)


def test_without_a_question_there_is_no_share() -> None:
    assert wilson(0, 0) == (0, 0, None, None, None)


@steady
@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=60))
def test_a_design_lies_between_one_and_the_answers_and_a_share_stays(answers: list[tuple[int, bool]]) -> None:
    clusters, right = [c for c, _ in answers], [r for _, r in answers]
    assert 1 <= design(right, clusters) <= len(right)
    found, plain = share_of(right, clusters), share_of(right)
    assert found[:3] == plain[:3]
    assert found.low <= plain.low + 1e-12 and found.high >= plain.high - 1e-12  # type: ignore[operator]
    assert design(right, range(len(right))) == design(right, None) == 1


def test_copies_of_an_answer_count_once() -> None:
    right = [True] * 30 + [False] * 10
    copied = share_of(right * 5, [*range(40)] * 5)
    once = wilson(30, 40)
    assert (copied.low, copied.high) == pytest.approx((once.low, once.high), abs=0.01)
    assert share_of([True] * 40, [n // 4 for n in range(40)])[3:] == wilson(10, 10)[3:]


def test_a_bootstrap_over_clusters_is_wider() -> None:
    sure = [0.5 + n / 100 for n in range(40)]
    right = [n % 3 > 0 for n in range(40)]
    many = sure * 6, right * 6
    plain = auc(*many, resamples=300)
    whole = auc(*many, resamples=300, clusters=[*range(40)] * 6)
    assert whole.value == plain.value and whole.n == plain.n == 240
    assert whole.high - whole.low > 1.5 * (plain.high - plain.low)  # type: ignore[operator]


marks = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=60)


@steady
@given(marks, st.booleans())
def test_kappa_is_that_of_another_library_whoever_is_first(
    pairs: list[tuple[int, int]], weighted: bool
) -> None:
    first, second = zip(*pairs, strict=True)
    scale = range(5) if weighted else None
    found, turned = kappa(first, second, scale), kappa(second, first, scale)
    if 1 in (len({*first}), len({*second})):
        assert found == (None, None, None, len(pairs))
        return
    known = cohen_kappa_score(first, second, weights="quadratic" if weighted else None)
    assert found.value == pytest.approx(known) == pytest.approx(turned.value)
    if found.low is not None and found.high is not None:
        assert -1 <= found.low <= known <= found.high <= 1
        assert (found.low, found.high) == pytest.approx((turned.low, turned.high))


# Confidence

Answers = list[tuple[float, bool]]


def apart(both: Answers) -> tuple[list[float], list[bool]]:
    return [sure for sure, _ in both], [right for _, right in both]


def by_definition(both: Answers, bins: int) -> float:
    """Every answer is in the bin whose upper bound is the first that is not below it."""
    total = 0.0
    for place in range(bins):
        low, high = place / bins, (place + 1) / bins
        inside = [(s, r) for s, r in both if (low < s or (place == 0 == s)) and s <= high]
        total += abs(sum(s - r for s, r in inside)) / len(both)
    return total


@steady
@given(answers, st.sampled_from([1, 5, 10, 20]))
def test_ece_is_as_defined(both: Answers, bins: int) -> None:
    assert ece(*apart(both), bins=bins, resamples=2).value == pytest.approx(by_definition(both, bins))


@steady
@given(answers, st.booleans())
def test_figures_lie_in_0_to_1_and_in_their_intervals(both: Answers, adaptive: bool) -> None:
    figures = [
        brier(*apart(both), resamples=30),
        ece(*apart(both), adaptive=adaptive, resamples=30),
        auc(*apart(both), resamples=30),
    ]
    for found in figures:
        if found.low is not None and found.high is not None and found.value is not None:
            assert 0 <= found.low <= found.value <= found.high <= 1
        assert found.n == len(both)
        assert found.value is None or 0 <= found.value <= 1


@steady
@given(answers.filter(lambda both: len({right for _, right in both}) == 2))
def test_auc_is_the_share_of_pairs_in_the_right_order_and_turns_round(both: Answers) -> None:
    sure, right = apart(both)
    found = auc(sure, right, resamples=2).value
    pairs = [(t, f) for t, is_true in both if is_true for f, is_too in both if not is_too]
    won = sum((t > f) + (t == f) / 2 for t, f in pairs)
    assert found == pytest.approx(won / len(pairs))
    turned = auc([1 - s for s in sure], right, resamples=2).value
    assert found is not None and turned == pytest.approx(1 - found)


def test_auc_needs_true_ones_and_false_ones() -> None:
    assert auc([0.2, 0.9], [True, True]) == (None, None, None, 2)
    assert auc([0.2, 0.9], [False, True]) == (1.0, None, None, 2)
    assert auc([0.5] * 6, [True, False] * 3) == (0.5, None, None, 6)


def test_the_area_under_risk_takes_the_mean_over_the_orders_of_ties() -> None:
    sure, right = [0.9, 0.5, 0.5, 0.5, 0.2], [True, False, True, True, False]
    areas = list[float]()
    for order in permutations(range(5)):
        if all(sure[a] >= sure[b] for a, b in pairwise(order)):
            wrong = [not right[place] for place in order]
            areas.append(sum(sum(wrong[:k]) / k for k in range(1, 6)) / 5)
    assert risk_coverage(sure, right)[1] == pytest.approx(sum(areas) / len(areas))


@steady
@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30))
def test_f1_is_the_harmonic_mean_of_precision_and_recall(both: list[tuple[bool, bool]]) -> None:
    said, true = [a for a, _ in both], [b for _, b in both]
    hits, found = sum(a and b for a, b in both), f1(said, true)
    if not any(said) and not any(true):
        assert found is None
    elif not hits:
        assert found == 0
    else:
        assert found == pytest.approx(2 / (sum(said) / hits + sum(true) / hits))


def test_nothing_is_said_of_no_answers() -> None:
    nothing = Figure(None, None, None, 0)
    assert brier([], []) == ece([], []) == auc([], []) == nothing
    curve, area = risk_coverage([], [])
    assert len(reliability([], [])) == len(curve) == 0 and area is None
