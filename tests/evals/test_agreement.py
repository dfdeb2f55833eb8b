"""Agreement of judges: the worked examples of the sources, and what holds for every jury."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialectree.evals.agreement import effective_votes, krippendorff_alpha, mean_correlation


def units(*observers: str) -> list[list[str | None]]:
    """Return the rulings by unit; a dot is a missing one."""
    return [[None if v == "." else v for v in unit] for unit in zip(*observers, strict=True)]


@pytest.mark.parametrize(
    ("observers", "alpha"),
    [
        (("0100000010", "1110010000"), 0.095),  # Krippendorff (2011), section A
        (("aabbdcccedda", "babbbccceddd"), 0.692),  # section B
        (("123321412...", "1233224125.3", ".3332342251.", "12332441251."), 0.743),  # section C
        (("1111", "1111"), None),
        (("1.", ".1"), None),
    ],
)
def test_alpha_is_that_of_the_source(observers: tuple[str, ...], alpha: float | None) -> None:
    found = krippendorff_alpha(units(*observers))
    assert found == (alpha if alpha is None else pytest.approx(alpha, abs=5e-4))


@given(st.lists(st.lists(st.sampled_from("AB"), min_size=3, max_size=3), min_size=2))
def test_alpha_depends_on_no_order_and_is_one_where_all_agree(votes: list[list[str]]) -> None:
    alpha = krippendorff_alpha(votes)
    assert alpha == pytest.approx(krippendorff_alpha([unit[::-1] for unit in reversed(votes)]))
    if len({unit[0] for unit in votes}) > 1:
        assert krippendorff_alpha([[unit[0]] * 3 for unit in votes]) == 1


def test_judges_who_err_together_are_one_vote_and_independent_ones_are_all() -> None:
    alike = [[error] * 4 for error in (0, 1, 0, 1)]
    independent = [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert effective_votes(alike) == pytest.approx(1)
    assert effective_votes(independent) == pytest.approx(2)


def test_a_judge_who_never_errs_and_one_that_is_missing_leave_the_others() -> None:
    votes: list[list[float | None]] = [[0, 0, 0], [0, 1, 1], [0, 0, None], [0, 1, 0], [0, 0, 0]]
    assert mean_correlation(votes) == pytest.approx(0.577, abs=1e-3)
    assert effective_votes(votes) == pytest.approx(3 / (1 + 2 * 0.57735), abs=1e-3)


def test_errors_that_always_make_up_for_each_other_and_no_errors_have_no_number_of_votes() -> None:
    assert effective_votes([[0, 1], [1, 0]]) is None
    assert effective_votes([[0, 0], [0, 0]]) is None
    assert effective_votes([]) is None
