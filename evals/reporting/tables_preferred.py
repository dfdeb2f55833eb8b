"""The table of summaries that a judge was shown side by side."""

from __future__ import annotations

from collections import Counter

from dialectree.evals.clustered import design
from dialectree.evals.paired import mcnemar_counts, tango
from dialectree.evals.proportions import share_of
from dialectree.evals.reporting.study import Study
from dialectree.evals.reporting.tabled import Column, Table, Value
from dialectree.evals.results import Preferred

_COLUMNS = (
    Column("row"),
    Column("against"),
    Column("pairs", "count"),
    Column("wins", "count"),
    Column("ties", "count"),
    Column("of these by position", "count"),
    Column("losses", "count"),
    Column("wins of wins and losses", "share"),
    Column("wins less losses, points", "points"),
    Column("not judged", "count"),
)


def preferred_table(study: Study) -> Table | None:
    """Wins, ties and losses of each row; None where nothing was compared."""
    found: dict[tuple[str, str], list[Preferred]] = {}
    for one in study.preferences:
        found.setdefault((one.row, one.against), []).append(one)
    if not found:
        return None
    notes = [
        "A model judged each pair of summaries in both orders. A preference counts where both "
        "orders agree; where they do not, the judge went by the place, and it is a tie.",
        "Intervals: Wilson's for the share, Tango's for the difference; one that holds 50%, or 0, "
        "shows no preference.",
    ]
    rows = [_line(study, *names, judged) for names, judged in found.items()]
    return Table("preferred", "Summaries side by side", _COLUMNS, rows, notes)


def _line(study: Study, row: str, against: str, found: list[Preferred]) -> list[Value]:
    swayed = sum(one.score.value == "swayed" for one in found)
    counts = Counter(one.score.score for one in found)
    wins, ties, losses = counts[1.0], counts[0.5] + swayed, counts[0.0]
    n = wins + ties + losses
    points = {one.item: 2 * score - 1 for one in found if (score := one.score.score) is not None}
    points |= {one.item: 0.0 for one in found if one.score.value == "swayed"}
    effect = design([*points.values()], study.groups(points))
    apart = tango(mcnemar_counts(0, wins, losses, ties), design=effect)
    line: list[Value] = [row, against, n, wins, ties, swayed, losses]
    clear = {item: point > 0 for item, point in points.items() if point}
    won = share_of([*clear.values()], study.groups(clear))
    return [*line, won, apart, len(found) - n]
