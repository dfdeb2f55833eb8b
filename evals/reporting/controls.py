"""The controls of the scores' judge: known right and known wrong answers that it ruled on."""

from __future__ import annotations

from typing import NamedTuple

from dialectree.evals.judges import informedness
from dialectree.evals.proportions import Proportion, share_of
from dialectree.evals.reporting.study import Study

ENOUGH = 0.8
"""Below this share of controls that a judge ruled on rightly, its scores are doubted."""


class Controlled(NamedTuple):
    """How a judge ruled on the controls of one score."""

    key: str
    right: Proportion
    """Known right answers that it called right."""
    wrong: Proportion
    """Known wrong answers that it called wrong."""
    unread: int
    """Controls without a ruling that can be read."""

    @property
    def informedness(self) -> float | None:
        """Youden's J: 0 is a judge that pays no heed to the answer."""
        return informedness(self.right.share, self.wrong.share)

    @property
    def failed(self) -> bool:
        """Whether too many known answers were ruled on wrongly."""
        shares = (self.right.share, self.wrong.share)
        return any(share is not None and share < ENOUGH for share in shares)


def controlled(study: Study) -> list[Controlled]:
    """Return how the judge ruled on its controls, by score."""
    every = [
        (one, result.group)
        for row in study.rows
        for result in study.of(row.name)
        for one in result.controls
    ]

    def share(key: str, truthful: bool) -> Proportion:
        ruled = [
            (one.passed, group)
            for one, group in every
            if one.key == key and one.truthful is truthful and one.passed is not None
        ]
        return share_of([passed for passed, _ in ruled], [group for _, group in ruled])

    return [
        Controlled(
            key,
            share(key, True),
            share(key, False),
            sum(one.key == key and one.passed is None for one, _ in every),
        )
        for key in dict.fromkeys(one.key for one, _ in every)
    ]
