"""Sentences on rows against their baselines."""

from __future__ import annotations

from collections.abc import Iterator

from dialectree.evals.paired import FEWEST, McNemar
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis, Compared, Marked
from dialectree.evals.reporting.tabled import probability
from dialectree.report.words import count

ALPHA = 0.05


def against(analysis: Analysis) -> Iterator[str]:
    """Debates against their baselines; baselines among themselves only where there is no debate."""
    compared = analysis.compared
    debates = [one for one in compared if one.row.method not in measures.BASELINES]
    for one in debates or compared:
        yield _compared(one, len(compared))


def _compared(one: Compared, family: int) -> str:
    who, against, n = one.row.name, one.baseline.name, one.paired.n
    difference, low, high, _ = one.difference
    if difference is None or low is None or high is None:
        return f"{who} and {against} have no question in common."
    way = span(100 * low, 100 * high)
    place = f"{abs(100 * difference):.1f} points {'above' if difference > 0 else 'below'}"
    test = tested("exact McNemar p", one.paired.p, one.holm, family)
    if one.holm is not None and one.holm < ALPHA:
        return (
            f"{who} is {'better' if difference > 0 else 'worse'} than {against}: {place} it on "
            f"the same {count(n, 'question')} ({way}; {test})."
        )
    by = f"the first was {place if difference else 'level'}"
    return (
        f"No difference can be shown between {who} and {against} with n = {n}: {by} "
        f"({way}; {test}). {smallest(one.paired, one.detectable)}"
    )


def tested(name: str, p: float | None, holm: float | None, family: int) -> str:
    """A test's p, and the corrected one where there is something to correct for."""
    more = f", {probability(holm)} after Holm" if family > 1 else ""
    return f"{name} = {probability(p)}{more}"


def span(low: float, high: float) -> str:
    """An interval."""
    return f"95% from {low:+.1f} to {high:+.1f}".replace("-", "−")


def smallest(paired: McNemar, least: float | None) -> str:
    """What so many questions could have shown."""
    n, differing = paired.n, paired.first_only + paired.second_only
    if least is not None:
        given = f", of which {differing} came out differently," if differing else ""
        way = ""
        if not differing:
            way = " downwards: upwards there is no room" if least < 0 else " if all went one way"
        return (
            f"The smallest difference that {count(n, 'question')}{given} would probably show is "
            f"{100 * abs(least):.1f} points{way}."
        )
    if differing:
        return (
            f"They differ on {count(differing, 'question')} only: even if all of them went one "
            "way, that would probably not be noticed."
        )
    return f"No difference is large enough to be noticed on {count(n, 'question')}."


def summaries(analysis: Analysis) -> Iterator[str]:
    """Summaries of papers against their baselines, by the judge's marks."""
    for one in analysis.marked:
        yield _marked(one, len(analysis.marked))


def _marked(one: Marked, family: int) -> str:
    who, beside, n = one.row.name, one.baseline.name, one.difference.n
    if n == 1:
        return f"{who} and {beside}: one pair of papers shows nothing."
    value = one.difference.value or 0.0
    way = f"{_width(one)}; {tested('sign-flip p', one.p, one.holm, family)}; n = {n}"
    if one.holm is not None and one.holm < ALPHA:
        return (
            f"{who}'s summaries are {'better' if value > 0 else 'worse'} than {beside}'s by "
            f"{abs(value):.1f} of 100 ({way})."
        )
    apart = f"{abs(value):.1f} of 100 {'above' if value > 0 else 'below'}" if value else "level"
    return (
        f"No difference can be shown between the summaries of {who} and {beside}: the first were "
        f"{apart} ({way})."
    )


def _width(one: Marked) -> str:
    _, low, high, n = one.difference
    if low is not None and high is not None:
        return span(low, high)
    why = f"fewer than {FEWEST} pairs of papers" if n < FEWEST else "all differences are alike"
    return f"no interval: {why}"
