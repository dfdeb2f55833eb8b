"""Sentences on rows against their baselines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dialectree.evals.clustered import shared
from dialectree.evals.paired import FEWEST, Pairs
from dialectree.evals.power import ALPHA
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis, Compared, Marked
from dialectree.evals.reporting.tabled import probability, shown
from dialectree.report.words import count

TESTS = {False: "exact McNemar", True: "clustered sign-flip"}
"""The test of a pair of rows, by whether the questions come in clusters."""


def against(analysis: Analysis) -> Iterator[str]:
    """Compare debates with their baselines; baselines among themselves where there is no debate."""
    beside = {(one.debate.name, one.row.name) for one in analysis.sampled if one.fair}
    for one in main(analysis):
        if (one.row.name, one.baseline.name) not in beside:  # the samples have a sentence
            yield _compared(one, analysis)


def main(analysis: Analysis) -> Sequence[Compared]:
    """Return the comparisons that the sentences speak of."""
    debates = [one for one in analysis.compared if one.row.method not in measures.BASELINES]
    return debates or analysis.compared


def _compared(one: Compared, analysis: Analysis) -> str:
    who, against, n = one.row.name, one.baseline.name, one.paired.n
    difference, low, high, _ = one.difference
    if difference is None or low is None or high is None:
        return f"{who} and {against} both answered no question."
    way = f"{span(100 * low, 100 * high)}; {tested(one.pairs, one.holm, analysis.family)}"
    place = f"{abs(100 * difference):.1f} points {'above' if difference > 0 else 'below'}"
    if one.holm is not None and one.holm < ALPHA:
        said = (
            f"{who} is {'better' if difference > 0 else 'worse'} than {against}: {place} it on "
            f"the same {count(n, 'question')} ({way})."
        )
    else:
        by = f"the first was {place if difference else 'level'}"
        said = (
            f"No difference can be shown between {who} and {against} with n = {n}: {by} ({way}). "
            f"{smallest(one.pairs, one.detectable)}"
        )
    return f"{said}{failed(one)}"


def failed(one: Compared) -> str:
    """Say what the questions left out as failed could have made of the difference."""
    if not one.failed:
        return ""
    low, high = (shown("rise", end) for end in one.bounds)
    return (
        f" {count(one.failed, 'question')} failed and {'is' if one.failed == 1 else 'are'} left "
        f"out: with all of them against the first the difference is {low} points, with all for it "
        f"{high}."
    )


def tested(pairs: Pairs, holm: float | None, family: int) -> str:
    """Name a test and its p, and the corrected p where there is something to correct for."""
    name = f"{TESTS[shared(pairs.clusters)]} p"
    return p_of(name, pairs.ledger.p, holm, family)


def p_of(name: str, p: float | None, holm: float | None, family: int) -> str:
    """Write a p, and the corrected one where there is something to correct for."""
    more = f", {probability(holm)} after Holm" if family > 1 else ""
    return f"{name} = {probability(p)}{more}"


def span(low: float, high: float) -> str:
    """Write an interval."""
    return f"95% from {low:+.1f} to {high:+.1f}".replace("-", "−")


def smallest(pairs: Pairs, least: float | None) -> str:
    """Say what so many questions could have shown."""
    n, differing = pairs.ledger.n, pairs.ledger.first_only + pairs.ledger.second_only
    if least is None:
        groups = count(len(set(pairs.clusters)), "cluster")
        of = f" in {groups}" if shared(pairs.clusters) else ""
        return (
            f"{count(n, 'question')}{of} {'is' if n == 1 else 'are'} too few to show a difference."
        )
    way = ""
    if not differing:
        way = " downwards: upwards there is no room" if least < 0 else " if all went one way"
    return (
        f"The smallest difference that {count(n, 'question')} would probably show is "
        f"{100 * abs(least):.1f} points{way}."
    )


def summaries(analysis: Analysis) -> Iterator[str]:
    """Compare summaries of papers with their baselines', by the judge's marks."""
    for one in analysis.marked:
        yield _marked(one, analysis.family)


def _marked(one: Marked, family: int) -> str:
    who, beside, n = one.row.name, one.baseline.name, one.difference.n
    if n == 1:
        return f"{who} and {beside}: one pair of papers shows nothing."
    value = one.difference.value or 0.0
    way = f"{_width(one)}; {p_of('sign-flip p', one.p, one.holm, family)}; n = {n}"
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
