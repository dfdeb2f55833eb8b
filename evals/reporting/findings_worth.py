"""Sentences on what a debate added, and on what is missing to tell."""

from __future__ import annotations

from collections.abc import Iterator

from dialectree.evals.proportions import Proportion
from dialectree.evals.reporting.analysis import Analysis, noticed
from dialectree.evals.reporting.findings_compared import ALPHA, smallest, span, tested
from dialectree.evals.reporting.measures import handed
from dialectree.evals.worth import (
    Placed,
    Sampled,
    Turned,
    Wanted,
    arguers,
    samples,
    wanted,
)
from dialectree.report.words import count, listed

MOST_SAMPLES = 100
"""What ``--samples`` takes."""


def added(analysis: Analysis) -> Iterator[str]:
    """What a debate turned, whether its tokens were better spent on samples, how places told."""
    ledgers = sum(one.holm is not None for one in analysis.turned)
    for turned in analysis.turned:
        if not handed(turned.row):
            yield _turned(turned, ledgers)
    for sampled in analysis.sampled:
        if sentence := _sampled(sampled, len(analysis.sampled)):
            yield sentence
    for placed in analysis.placed:
        if sentence := _placed(placed):
            yield sentence


def missing(analysis: Analysis) -> list[str]:
    """The rows of samples that would have to be there."""
    return [_wanted(one) for one in wanted(analysis.study, analysis.sampled)]


def _turned(one: Turned, family: int) -> str:
    left = f" {count(one.unread, 'question')} had a judgement that could not be read."
    if not one.ledger.n:
        return (
            f"{one.row.name}: whether debating helped cannot be said: no question has a judgement "
            f"of before and one of after the debate.{left}"
        )
    return f"{_ledger(one, family)}{left if one.unread else ''}"


def _ledger(one: Turned, family: int) -> str:
    lost, won, n = one.ledger.first_only, one.ledger.second_only, one.ledger.n
    ledger = (
        f"the debate turned {won} of {n} from wrong to right and {lost} from right to wrong "
        f"({tested('p', one.ledger.p, one.holm, family)})"
    )
    if one.holm is not None and one.holm < ALPHA:
        return f"{one.row.name}: debating {'helped' if won > lost else 'harmed'}: {ledger}."
    return (
        f"{one.row.name}: it cannot be shown that debating changed the answers for better or "
        f"worse: {ledger}. {smallest(one.ledger, noticed(one.ledger))}"
    )


def _sampled(one: Sampled, family: int) -> str | None:
    value, low, high, n = one.difference
    if not one.fair or value is None or low is None or high is None:
        return None
    debate, samples = one.debate.name, one.row.name
    one_model = len(arguers(one.debate)) == 1
    asked = f"which asks {'the' if one_model else 'a'} model of its debaters more often instead"
    place = f"{abs(100 * value):.1f} points {'above' if value > 0 else 'below'}"
    test = tested("exact McNemar p", one.paired.p, one.holm, family)
    way = f"{span(100 * low, 100 * high)}; {test}"
    same = f"At about the same number of tokens ({one.ratio:.2f} of the debate's)"
    if one.holm is not None and one.holm < ALPHA:
        return (
            f"{same}, {debate} is {'better' if value > 0 else 'worse'} than {samples}, {asked}: "
            f"{place} it on the same {count(n, 'question')} ({way})."
        )
    return (
        f"{same}, no difference can be shown between {debate} and {samples}, {asked}: the first "
        f"was {place if value else 'level'} with n = {n} ({way}). "
        f"{smallest(one.paired, noticed(one.paired))}"
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


def _placed(one: Placed) -> str | None:
    clear = [
        f"{better} than {worse} ({_of(first)} against {_of(second)})"
        for first, second, better, worse in (
            (one.a, one.b, "when side a held the right answer", "when side b did"),
            (one.b, one.a, "when side b held the right answer", "when side a did"),
            (one.first, one.second, "when it was shown first", "second"),
            (one.second, one.first, "when it was shown second", "first"),
        )
        if first.low is not None and second.high is not None and first.low > second.high
    ]
    if not clear:
        return None
    return f"{one.row.name} was right more often {listed(clear)}: its judge leans by place."


def _of(share: Proportion) -> str:
    return f"{share.right} of {share.n}"
