"""The table of a report on the use of sources in debates."""

from __future__ import annotations

from collections.abc import Callable

from dialectree.evals.intervals import Proportion, share_of
from dialectree.evals.reporting.answers import Answers
from dialectree.evals.reporting.formatting import Line, Table, table
from dialectree.evals.reporting.study import Study
from dialectree.evals.results import Grounding

Counted = Callable[[Grounding], tuple[int, int]]
"""A function from a question's use of sources to a count and its total."""


def evidence_table(study: Study) -> Table | None:
    """Return the table of each row's use of sources; None without sources."""
    rows = [row for row in study.rows.values() if row.grounded]
    gold = any(grounding.gold for row in rows for grounding in row.grounded.values())
    notes = [
        "Texts with a point: of those that may point at sentences. Borne out: of the points that "
        "a checker marked, by a model. Quotations are counted in what speakers wrote themselves."
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

    groundings = [*row.grounded.values()]
    texts = share(row.count_texts_with_point)
    borne_out = share(lambda grounding: (grounding.borne_out, grounding.marked))
    retrieval = share(lambda grounding: (grounding.retrieved, grounding.gold))
    cited = share(lambda grounding: (grounding.cited, grounding.gold))
    return {
        "method": row.name,
        "texts with a point": texts if texts.n else None,
        "points borne out": borne_out if borne_out.n else None,
        "contradicted": sum(grounding.contradicted for grounding in groundings) if borne_out.n else None,
        "invented quotations": sum(grounding.invented for grounding in groundings),
        "misattributed quotations": sum(grounding.misattributed for grounding in groundings),
        "gold evidence retrieved": retrieval if retrieval.n else None,
        "gold evidence cited": cited if cited.n else None,
        "withheld for lack of evidence": sum(grounding.without for grounding in groundings),
        "questions": len(groundings),
    }


def _share(row: Answers, counted: Counted) -> Proportion:
    """Return a share over all questions, with the groups of questions as clusters."""
    right: list[bool] = []
    groups: list[str] = []
    for item, grounding in row.grounded.items():
        some, total = counted(grounding)
        right += [n < some for n in range(total)]
        groups += [row.results[item].group] * total
    return share_of(right, groups)
