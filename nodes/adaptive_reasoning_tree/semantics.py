"""Gradual semantics: supporters and attackers change the base strength of their parent.

All strengths and results are from 0 to 1. A parent without children keeps its base.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

Semantics = Literal["dfquad", "quadratic_energy", "euler"]
Combine = Callable[[float, Sequence[float], Sequence[float]], float]
"""A function from base, supporters' and attackers' strengths to the parent's strength."""

LARGEST_ENERGY = 700.0
"""The highest power of e that is used: e to a higher power does not fit into a float."""


def blend(tau: float, theta: float, share: float) -> float:
    """Blend intrinsic strength and tournament: clip01((1 - share) tau + share theta) (ART Eq. 3).

    ``share`` is lambda, in 0 to 1.
    """
    return min(1.0, max(0.0, (1 - share) * tau + share * theta))


def dfquad(base: float, supporters: Sequence[float], attackers: Sequence[float]) -> float:
    """Move the base toward 0 or 1 by the gap of two products: DF-QuAD (ART Eq. 4 and 5)."""
    alpha = math.prod(1 - s for s in supporters) - math.prod(1 - s for s in attackers)
    return base - alpha * (base if alpha > 0 else 1 - base)


def quadratic_energy(base: float, supporters: Sequence[float], attackers: Sequence[float]) -> float:
    """Return the quadratic energy strength, from ArgLLM: base + (1 - base) h(E) - base h(-E).

    E = sum of support - sum of attack, h(x) = max(0, x)^2 / (1 + max(0, x)^2).
    """
    energy = math.fsum(supporters) - math.fsum(attackers)
    return base + (1 - base) * _h(energy) - base * _h(-energy)


def _h(x: float) -> float:
    square = max(0.0, x) ** 2
    return square / (1 + square)


def euler(base: float, supporters: Sequence[float], attackers: Sequence[float]) -> float:
    """Return the Euler-based strength, from ArgLLM: s = 1 - (1 - base^2) / (1 + base e^E).

    E = sum of support - sum of attack, at most 700. A base of 0 stays 0, and a base of 1 stays 1.
    """
    if not supporters and not attackers:
        return base  # the formula would round
    energy = min(LARGEST_ENERGY, math.fsum(supporters) - math.fsum(attackers))
    return 1 - (1 - base**2) / (1 + base * math.exp(energy))


SEMANTICS: Mapping[Semantics, Combine] = MappingProxyType(
    {"dfquad": dfquad, "quadratic_energy": quadratic_energy, "euler": euler}
)
