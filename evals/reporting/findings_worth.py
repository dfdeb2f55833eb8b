"""Sentences on what a debate added, and on what is missing to tell."""

from __future__ import annotations

from collections.abc import Iterator

from dialectree.evals.power import ALPHA
from dialectree.evals.proportions import Proportion
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis, Compared
from dialectree.evals.reporting.findings_compared import failed, main, smallest, span, tested
from dialectree.evals.reporting.tabled import probability
from dialectree.evals.worth import (
    Leaning,
    Sampled,
    Turned,
    Wanted,
    arguers,
    samples,
    wanted,
)
from dialectree.report.words import count

MOST_SAMPLES = 100
"""What ``--samples`` takes."""


def added(analysis: Analysis) -> Iterator[str]:
    """Say what a debate turned, whether samples did as well, what it withheld, how places told."""
    for turned in analysis.turned:
        if turned.alike:
            yield _turned(turned, analysis.family)
    for sampled in analysis.sampled:
        if sentence := _sampled(sampled, analysis.family):
            pair = (sampled.debate.name, sampled.row.name)
            same = (c for c in analysis.compared if (c.row.name, c.baseline.name) == pair)
            yield sentence + "".join(map(failed, same))
    for one in main(analysis):
        if sentence := _withheld(analysis, one):
            yield sentence
    yield from filter(None, map(_leaning, analysis.leanings))


def missing(analysis: Analysis) -> list[str]:
    """Name the rows of samples that would have to be there."""
    return [_wanted(one) for one in wanted(analysis.study, analysis.sampled)]


def _turned(one: Turned, family: int) -> str:
    left = f" {count(one.unread, 'question')} had a judgement that could not be read."
    held = one.withheld_right + one.withheld_wrong
    withheld = (
        f" It withheld its answer to {count(held, 'question')}, of which the vote had "
        f"{one.withheld_right} right."
    )
    more = f"{withheld if held else ''}{left if one.unread else ''}"
    if not one.ledger.n:
        return (
            f"{one.row.name}: whether debating helped cannot be said: no question has a judgement "
            f"of before and one of after the debate.{more}"
        )
    return f"{_ledger(one, family)}{more}"


def _ledger(one: Turned, family: int) -> str:
    lost, won, n = one.ledger.first_only, one.ledger.second_only, one.ledger.n
    ledger = (
        f"the debate turned {won} of {n} from wrong to right and {lost} from right to wrong "
        f"({tested(one.pairs, one.holm, family)})"
    )
    if one.holm is not None and one.holm < ALPHA:
        return f"{one.row.name}: debating {'helped' if won > lost else 'harmed'}: {ledger}."
    return (
        f"{one.row.name}: it cannot be shown that debating changed the answers for better or "
        f"worse: {ledger}. {smallest(one.pairs, one.detectable)}"
    )


def _withheld(analysis: Analysis, one: Compared) -> str | None:
    """Compare the risk of two rows, the surest answers first, where both cover as much."""
    counts = analysis.counts[one.row.name]
    if not counts.unanswered:
        return None
    said = f"{one.row.name} withheld {counts.unanswered} of {count(counts.asked, 'answer')}"
    own, other = (measures.surest(analysis.study, row.name) for row in (one.row, one.baseline))
    coverage = min(own.covers, other.covers)
    first, second = own.at(coverage), other.at(coverage)
    if not coverage or first is None or second is None:
        return f"{said}; pairs are of the questions that both rows answered."
    wrong = [f"{100 * (1 - (share.share or 0)):.1f}%" for share in (first, second)]
    return (
        f"{said}. Where each answers only its surest {100 * coverage:.0f}% of the questions, "
        f"{wrong[0]} of its answers are wrong, and {wrong[1]} of {one.baseline.name}'s."
    )


def _sampled(one: Sampled, family: int) -> str | None:
    value, low, high, n = one.difference
    if not one.fair or value is None or low is None or high is None:
        return None
    debate, samples = one.debate.name, one.row.name
    one_model = len(arguers(one.debate)) == 1
    asked = f"which asks {'the' if one_model else 'a'} model of its debaters more often instead"
    place = f"{abs(100 * value):.1f} points {'above' if value > 0 else 'below'}"
    way = f"{span(100 * low, 100 * high)}; {tested(one.pairs, one.holm, family)}"
    same = f"At about the same number of tokens ({one.ratio:.2f} of the debate's)"
    if one.holm is not None and one.holm < ALPHA:
        return (
            f"{same}, {debate} is {'better' if value > 0 else 'worse'} than {samples}, {asked}: "
            f"{place} it on the same {count(n, 'question')} ({way})."
        )
    return (
        f"{same}, no difference can be shown between {debate} and {samples}, {asked}: the first "
        f"was {place if value else 'level'} with n = {n} ({way}). "
        f"{smallest(one.pairs, one.detectable)}"
    )


def _wanted(one: Wanted) -> str:
    beside, debate = one.nearest, one.debate.name
    if beside is None or beside.ratio is None:
        return (
            f"No row shows what as many tokens as those of {debate} reach without a debate: add "
            f"{one.method} with the model of its debaters and --samples."
        )
    said = (
        f"No row spends about as many tokens as {debate} on samples: {beside.row.name} spends "
        f"{beside.ratio:.2f} of them on {count(samples(beside.row), 'sample')}"
    )
    if one.samples is None or one.samples > MOST_SAMPLES:
        return f"{said}, and the {MOST_SAMPLES} that can be asked for are too few."
    return f"{said}; --samples {one.samples} would about match."


def _leaning(one: Leaning) -> str | None:
    if one.holm is None or one.holm >= ALPHA:
        return None
    ways = {
        "side": ("the first debater held the right answer", "the second did"),
        "place": ("the right answer was shown first", "it was shown second"),
    }[one.by]
    first, second = _of(one.first), _of(one.second)
    more = (one.first.share or 0) > (one.second.share or 0)
    where, said = (ways, (first, second)) if more else (ways[::-1], (second, first))
    p = f"p = {probability(one.p)}, {probability(one.holm)} after Holm"
    return (
        f"{one.row.name}: the judge leans by {one.by}: right {said[0]} where {where[0]}, and "
        f"{said[1]} where {where[1]} ({p})."
    )


def _of(share: Proportion) -> str:
    return f"{share.right} of {share.n}"
