"""The sentences that open a report, and those on each comparison of a debate.

A sentence says ``better`` or ``worse`` only where the corrected test says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dialectree.evals.comparisons import Comparison, Paired
from dialectree.evals.dataset_items import Task
from dialectree.evals.debate_gain import missing
from dialectree.evals.intervals import Figure, Proportion, shared
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis, Compared, Marked, change
from dialectree.evals.reporting.formatting import probability, signed
from dialectree.evals.standing import Spent
from dialectree.evals.tasks import is_baseline, plainest, plainest_on_a_pair
from dialectree.report.words import count, listed

MOST_SAMPLES = 100
"""The most that ``--samples`` takes."""
MOST = 3
"""Differences that the answer names."""
FEW = 30
"""Fewer questions than this are called few."""


class Contrast(NamedTuple):
    """A row beside something else, and the test that says whether they differ."""

    test: Comparison
    row: str
    beside: str
    difference: Figure
    """In points, or in marks of 100."""
    debates: bool = True
    """Whether the row is of a debate and what is beside it is plainer."""

    @property
    def by(self) -> str:
        """The difference in words: ``8.6 points above``."""
        value = self.difference.value or 0.0
        if not value:
            return "level with"
        unit = "points" if isinstance(self.test, Paired) else "of 100"
        return f"{abs(value):.1f} {unit} {'above' if value > 0 else 'below'}"


def contrasts(analysis: Analysis) -> Iterator[Contrast]:
    """Return every comparison that the sentences speak of."""
    task = analysis.study.task
    fair = {(one.debate.name, one.row.name): one for one in analysis.sampled if one.fair}
    for one in analysis.main:
        names = one.row.name, one.baseline.name
        if names not in fair and one.difference.n:
            yield Contrast(one, *names, _in_points(one.difference), _is_of_debate(one, task))
    for (debate, samples), sample in fair.items():
        beside = f"{samples} at about as many tokens"
        yield Contrast(sample, debate, beside, _in_points(sample.difference))
    for vote in analysis.turned:
        if vote.alike and vote.first:
            yield Contrast(vote, vote.row.name, "the vote before it", _in_points(change(vote)))
    for mark in analysis.marked:
        names = mark.row.name, mark.baseline.name
        yield Contrast(mark, *names, mark.difference, _is_of_debate(mark, task))


def _is_of_debate(one: Compared | Marked, task: Task) -> bool:
    """Return whether a debate is compared with something plainer, and not with another debate."""
    plainer = is_baseline(one.baseline.method) or one.baseline.method in plainest(task)
    return plainer and not is_baseline(one.row.method)


def _in_points(share: Figure) -> Figure:
    value, low, high = (None if end is None else 100 * end for end in share[:3])
    return Figure(value, low, high, share.n)


def opening(analysis: Analysis) -> list[str]:
    """Return the answer, its price, and what is missing, a sentence each."""
    if not any(analysis.study.results.values()):
        return ["There is no result yet."]
    return [_answer(analysis), _price(analysis), f"What is missing: {_missing(analysis)}."]


def _answer(analysis: Analysis) -> str:
    debates = [one for one in contrasts(analysis) if one.debates]
    if not debates:
        return "It cannot be told whether debating helped: no debate is compared with a baseline."
    clear = [one for one in debates if one.test.shown]
    better = [one for one in clear if (one.difference.value or 0) > 0]
    of = count(len(debates), "comparison")
    if not clear:
        return f"It cannot be told whether debating helped: of {of} none shows a difference."
    ways = f"helped in {len(better)} and did harm in {len(clear) - len(better)} of {of}"
    return f"Debating {ways}: {'; '.join(map(_brief, clear[:MOST]))}."


def _brief(one: Contrast) -> str:
    return f"{one.row} is {one.by} {one.beside}"


def _price(analysis: Analysis) -> str:
    study = analysis.study
    whole, judging = measures.totals(study, study.rows)
    part = f", of which {_sum(judging)} for judging" if judging.calls else ""
    cached = sum(result.cached.calls for row in study.rows for result in study.of(row.name))
    saved = f" {count(cached, 'call')} came from the cache." if cached else ""
    return f"Its price: {_sum(whole)}{part}.{saved}"


def _sum(one: Spent) -> str:
    money = "" if one.cost is None else f"{one.cost:,.4g} in money, "
    return f"{money}{count(one.calls, 'call')} and {one.tokens:,} tokens"


def _missing(analysis: Analysis) -> str:
    study, counts = analysis.study, analysis.counts.values()
    gaps = [
        (sum(one.failed for one in counts), "run", "failed"),
        (sum(one.unanswered for one in counts), "answer", "withheld"),
        (
            sum(len(measures.unread(study.of(row.name))) for row in study.rows),
            "judgement",
            "unread",
        ),
    ]
    return listed(f"{count(n, what)} {state}" for n, what, state in gaps if n) or "nothing"


def findings(analysis: Analysis) -> list[str]:
    """Return what can be asserted of each comparison, and what cannot."""
    if not any(analysis.study.results.values()):
        return ["There is not a single result yet."]
    sentences = [_sentence(one, analysis.family) for one in contrasts(analysis)]
    sentences += _alone_on_two_options(analysis)
    return [
        *(sentences or ["No two rows have marks or right answers to the same questions."]),
        *_leanings(analysis),
        *_unequal_budgets(analysis),
    ]


def _sentence(one: Contrast, family: int) -> str:
    low, high = one.difference.low, one.difference.high
    ends = "no interval"
    if low is not None and high is not None:
        ends = f"95% from {signed(low, 1, '+')} to {signed(high, 1, '+')}"
    after = f", {probability(one.test.holm)} after Holm" if family > 1 else ""
    asked = count(one.difference.n, "pair of papers", "pairs of papers")
    if isinstance(one.test, Paired):
        asked = count(one.difference.n, "question")
    how = f"({ends}; {asked}; {_test(one.test)} p = {probability(one.test.p)}{after})"
    if one.test.shown:
        better = "better" if (one.difference.value or 0) > 0 else "worse"
        return f"{one.row} is {better} than {one.beside}: {one.by} it {how}."
    few = _detectable(one.test) if isinstance(one.test, Paired) else ""
    return f"No difference can be shown: {_brief(one)} {how}.{few}"


def _test(test: Comparison) -> str:
    if not isinstance(test, Paired):
        return "sign-flip"
    return "clustered sign-flip" if shared(test.clusters) else "exact McNemar"


def _detectable(one: Paired) -> str:
    if one.detectable is None:
        return " So few questions, or clusters of them, can show no difference."
    way = " downwards" if one.detectable < 0 else ""
    least = f"{100 * abs(one.detectable):.1f} points{way}"
    return f" So many questions would probably show {least} or more, not less."


def _alone_on_two_options(analysis: Analysis) -> Iterator[str]:
    """Name the debates on two options that nothing on the same two options stands beside."""
    beside = {one.row.name for one in analysis.compared}
    beside |= {one.row.name for one in analysis.turned if one.alike}
    beside |= {one.debate.name for one in analysis.sampled}
    debates = [row for row in analysis.study.rows if not is_baseline(row.method)]
    names = [row.name for row in debates if measures.handed(row) and row.name not in beside]
    if names:
        method = next(iter(plainest_on_a_pair(analysis.study.task)), None)
        more = f" Add {method} with the same candidates." if method else ""
        yield (
            f"Of {listed(names)} it cannot be told whether debating helped: no baseline chooses "
            f"between the same two options.{more}"
        )


def _leanings(analysis: Analysis) -> Iterator[str]:
    for one in analysis.leanings:
        if one.shown:
            yield (
                f"{one.row.name}: the judge leans by {one.by}: right {of(one.first)} where the "
                f"right answer came first, and {of(one.second)} where it came second "
                f"(p = {probability(one.p)}, {probability(one.holm)} after Holm)."
            )


def of(share: Proportion) -> str:
    """Write a share as ``3 of 4``."""
    return f"{share.right} of {share.n}"


def _unequal_budgets(analysis: Analysis) -> Iterator[str]:
    """Name the debates that no row of samples comes close to in tokens."""
    for one in missing(analysis.study, analysis.sampled):
        text = f"No row spends about as many tokens as {one.debate.name} on samples"
        near = one.nearest
        if not near or not near.ratio or not near.matching:
            yield f"{text}: add {one.method} with the model of its debaters and --samples."
        elif near.matching > MOST_SAMPLES:
            most = f"the {MOST_SAMPLES} samples that can be asked for are too few"
            yield f"{text}: {near.row.name} spends {near.ratio:.2f} of them, and {most}."
        else:
            spent = f"{near.row.name} spends {near.ratio:.2f} of them"
            yield f"{text}: {spent}; --samples {near.matching} would about match."
