"""Laws and examples of the gradual semantics."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialectree.nodes.adaptive_reasoning_tree.semantics import (
    SEMANTICS,
    Combine,
    blend,
    dfquad,
    euler,
    quadratic_energy,
)

steady = settings(derandomize=True, database=None, deadline=None, max_examples=50)
unit = st.floats(0, 1)
units = st.lists(unit, max_size=4)
rounding = 1e-12

each = pytest.mark.parametrize("combine", SEMANTICS.values(), ids=SEMANTICS)
lipschitz = pytest.mark.parametrize("combine", [dfquad, quadratic_energy])


@pytest.mark.parametrize(
    ("base", "supporters", "attackers", "strength"),
    [
        (0.5, [0.7], [0.4], 0.65),  # the paper's figure 2 prints 0.8
        (0.8, [0.5, 0.5], [], 0.95),
        (0.8, [], [0.5, 0.5], 0.2),
        (0.3, [], [], 0.3),
    ],
)
def test_dfquad_by_examples(
    base: float, supporters: list[float], attackers: list[float], strength: float
) -> None:
    assert dfquad(base, supporters, attackers) == pytest.approx(strength)


def test_the_energies_by_examples() -> None:
    assert quadratic_energy(0.5, [1.0], []) == pytest.approx(0.75)
    assert quadratic_energy(0.5, [], [1.0]) == pytest.approx(0.25)
    assert quadratic_energy(0.2, [0.9, 0.6], [0.5]) == pytest.approx(0.6)
    assert euler(0.5, [1.0], []) == pytest.approx(1 - 0.75 / (1 + 0.5 * math.e))
    assert euler(0.5, [0.25], [1.0, 0.25]) == pytest.approx(1 - 0.75 / (1 + 0.5 / math.e))


@each
@steady
@given(unit, units, units)
def test_a_strength_stays_in_0_to_1_and_equal_sides_leave_the_base(
    combine: Combine, base: float, supporters: list[float], attackers: list[float]
) -> None:
    assert 0 <= combine(base, supporters, attackers) <= 1
    assert combine(base, [], []) == base
    assert combine(base, supporters, supporters) == pytest.approx(base, abs=rounding)


@each
@steady
@given(unit, units, units, unit, unit)
def test_a_stronger_child_never_pulls_the_other_way(
    combine: Combine, base: float, supporters: list[float], attackers: list[float], a: float, b: float
) -> None:
    low, high = sorted((a, b))
    raised = combine(base, [*supporters, high], attackers)
    assert raised >= combine(base, [*supporters, low], attackers) - rounding
    raised = combine(base, supporters, [*attackers, high])
    assert raised <= combine(base, supporters, [*attackers, low]) + rounding


@lipschitz
@steady
@given(unit, units, units)
def test_changed_sides_give_the_opposite(
    combine: Combine, base: float, supporters: list[float], attackers: list[float]
) -> None:
    turned = combine(1 - base, attackers, supporters)
    assert turned == pytest.approx(1 - combine(base, supporters, attackers), abs=rounding)


@steady
@given(unit, unit, unit)
def test_a_blend_lies_between_its_parts_and_reaches_both(tau: float, theta: float, share: float) -> None:
    assert min(tau, theta) - rounding <= blend(tau, theta, share) <= max(tau, theta) + rounding
    assert 0 <= blend(tau, theta, share) <= 1
    assert blend(tau, theta, 0) == tau
    assert blend(tau, theta, 1) == theta
