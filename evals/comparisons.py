"""The comparisons between methods that a report asserts, under one correction for all of them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from dialectree.evals.bootstrap import Figure
from dialectree.evals.paired import Pairs
from dialectree.evals.power import ALPHA
from dialectree.evals.proportions import corrected


@dataclass(kw_only=True)
class Comparison:
    """One comparison of a report."""

    key: Hashable
    """Two comparisons of one key are the same: two tables may hold the same pair of rows."""
    p: float | None
    """None where there is nothing to compare."""
    bonferroni: float | None = None
    """The p, corrected for all comparisons of the report."""
    holm: float | None = None

    @property
    def shown(self) -> bool:
        """Whether the difference is asserted."""
        return self.holm is not None and self.holm < ALPHA


@dataclass(kw_only=True)
class Paired(Comparison):
    """Two lists of right and wrong answers to the same questions."""

    pairs: Pairs
    detectable: float | None = None
    """The smallest difference that these questions would probably show."""

    @property
    def difference(self) -> Figure:
        """The first share less the second."""
        return self.pairs.difference


def correct(comparisons: Sequence[Comparison]) -> int:
    """Correct all comparisons together and return how many there are.

    A report that asserts anything asserts it once: one correction covers all its tables.
    """
    ps = {one.key: one.p for one in comparisons if one.p is not None}
    holm = dict(zip(ps, corrected([*ps.values()], "holm"), strict=True))
    bonferroni = dict(zip(ps, corrected([*ps.values()], "bonferroni"), strict=True))
    for one in comparisons:
        if one.p is not None:
            one.holm, one.bonferroni = holm[one.key], bonferroni[one.key]
        if isinstance(one, Paired) and one.pairs.ledger.n:
            one.detectable = one.pairs.noticed(ALPHA / max(len(ps), 1))
    return len(ps)
