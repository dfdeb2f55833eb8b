"""The table of a report on what debates made of the sources that they argued from."""

from __future__ import annotations

from collections.abc import Callable

from dialectree.evals.intervals import Proportion, share_of
from dialectree.evals.reporting.answers import Answers
from dialectree.evals.reporting.formatting import Line, Table, table
from dialectree.evals.reporting.study import Study
from dialectree.evals.results import Grounding

Counted = Callable[[Grounding], tuple[int, int]]
"""Returns how many of how many."""


def evidence_table(study: Study) -> Table | None:
    """Return how each row used its sources, or None where no row had any."""
    rows = [row for row in study.rows.values() if row.grounded]
    gold = any(one.gold for row in rows for one in row.grounded.values())
    notes = [
        "Texts with a point: of those that may point at sentences. Borne out: of the points that "
        "a checker marked, by a model. Quotations are counted in what speakers wrote themselves.",
    ]
    if gold:
        notes.append(
            "Gold evidence: the share of the data set's sentences that a search found, and that a "
            "speaker or the verdict points at."
        )
    return table("evidence", "Evidence", map(_line, rows), " ".join(notes))


def _line(row: Answers) -> Line:
    def share(counted: Counted) -> Proportion:
        return _share(row, counted)

    every = [*row.grounded.values()]
    texts = share(row.pointed)
    borne_out = share(lambda one: (one.borne_out, one.marked))
    found = share(lambda one: (one.retrieved, one.gold))
    cited = share(lambda one: (one.cited, one.gold))
    return {
        "row": row.name,
        "texts with a point": texts if texts.n else None,
        "points borne out": borne_out if borne_out.n else None,
        "contradicted": sum(one.contradicted for one in every) if borne_out.n else None,
        "invented quotations": sum(one.invented for one in every),
        "misattributed quotations": sum(one.misattributed for one in every),
        "gold evidence retrieved": found if found.n else None,
        "gold evidence cited": cited if cited.n else None,
        "withheld for lack of evidence": sum(one.without for one in every),
        "questions": len(every),
    }


def _share(row: Answers, counted: Counted) -> Proportion:
    """Return a share over all questions; what is of one question belongs together."""
    right: list[bool] = []
    groups: list[str] = []
    for item, one in row.grounded.items():
        some, every = counted(one)
        right += [n < some for n in range(every)]
        groups += [row.results[item].group] * every
    return share_of(right, groups)
