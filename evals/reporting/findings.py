"""The sentences that open a report, and those on each comparison of a debate.

A sentence says ``better`` or ``worse`` only where the corrected tests say so: of a debate that
withheld answers, the test on all questions and the one on as many answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from dialectree.evals.comparisons import Comparison, Paired
from dialectree.evals.debate_gain import Turned, missing
from dialectree.evals.intervals import Figure, Proportion, shared
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis, change
from dialectree.evals.reporting.formatting import probability, signed
from dialectree.evals.results import Row
from dialectree.evals.standing import Spent
from dialectree.evals.tasks import baselines, is_baseline
from dialectree.text import count, listed

MOST_SAMPLES = 100
"""The most that ``--samples`` takes."""
MOST = 3
"""Differences that the answer names."""
FEW = 30
"""Fewer questions than this are called few."""


Verdict = Literal[
    "better",
    "worse",
    "fewer",  # right answers, as it withheld some; among as many answers no difference is shown
    "alike",  # no difference can be shown
    "none",  # the tests do not say the same
]
_VERDICTS: Mapping[tuple[int, int], Verdict] = {
    (1, 1): "better",
    (-1, -1): "worse",
    (-1, 0): "fewer",
    (0, 0): "alike",
}
"""By what the test on all questions shows, and the one on as many answers."""


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
        return _by(self.difference, "points" if isinstance(self.test, Paired) else "of 100")

    @property
    def withheld(self) -> int:
        """The number of answers that the debate withheld."""
        return self.test.withheld if isinstance(self.test, Paired) else 0

    @property
    def as_many(self) -> Paired | None:
        """The same on as many answers, where the debate withheld some."""
        return self.test.as_many if isinstance(self.test, Paired) else None

    @property
    def right(self) -> tuple[int, int]:
        """The right answers of the row, and of what is beside it."""
        if not isinstance(self.test, Paired):
            return 0, 0
        first, second = (share.right for share in self.test.shares)
        return (second, first) if isinstance(self.test, Turned) else (first, second)

    @property
    def verdict(self) -> Verdict:
        """What the tests show together."""
        all_asked = _direction(self.test, self.difference)
        if self.as_many is None:
            as_many = all_asked
        else:
            as_many = _direction(self.as_many, self.as_many.difference)
        return _VERDICTS.get((all_asked, as_many), "none")


def _direction(test: Comparison, difference: Figure) -> int:
    """Return 1 or -1 for a gain or a loss that the test shows, else 0."""
    value = difference.value or 0.0
    return ((value > 0) - (value < 0)) if test.shown else 0


def _by(difference: Figure, unit: str = "points") -> str:
    value = difference.value or 0.0
    return f"{abs(value):.1f} {unit} {'above' if value > 0 else 'below'}" if value else "level with"


def contrasts(analysis: Analysis) -> Iterator[Contrast]:
    """Return every comparison that the sentences speak of."""
    fair = {(one.debate.name, one.row.name): one for one in analysis.sampled if one.fair}
    for one in analysis.main:
        names = one.row.name, one.baseline.name
        if names not in fair and one.difference.n:
            yield Contrast(
                one, *names, _in_points(one.difference), _is_of_debate(one.row, one.baseline)
            )
    for (debate, samples), sample in fair.items():
        beside = f"{samples} at about as many tokens"
        yield Contrast(sample, debate, beside, _in_points(sample.difference))
    for vote in analysis.turned:
        if vote.alike and vote.first:
            yield Contrast(vote, vote.row.name, "the vote before it", _in_points(change(vote)))
    for mark in analysis.marked:
        names = mark.row.name, mark.baseline.name
        yield Contrast(mark, *names, mark.difference, _is_of_debate(mark.row, mark.baseline))


def _is_of_debate(row: Row, beside: Row) -> bool:
    """Return whether a debate is compared with a baseline, and not with another debate."""
    return is_baseline(beside.method) and not is_baseline(row.method)


def _in_points(share: Figure) -> Figure:
    value, low, high = (None if end is None else 100 * end for end in share[:3])
    return Figure(value, low, high, share.n)


def opening(analysis: Analysis) -> list[str]:
    """Return the answer, its price, and what is missing, a sentence each."""
    if not any(analysis.study.results.values()):
        return ["There is no result yet."]
    return [_answer(analysis), _price(analysis), f"What is missing: {_missing(analysis)}."]


def _answer(analysis: Analysis) -> str:
    unclear = "It cannot be told whether debating helped"
    debates = [one for one in contrasts(analysis) if one.debates]
    if not debates:
        return f"{unclear}: {_uncompared(analysis)}."
    clear = [one for one in debates if one.verdict in ("better", "worse", "fewer")]
    open_ones = [one for one in debates if one.verdict == "none"]
    better = sum(one.verdict == "better" for one in clear)
    of = count(len(debates), "comparison")
    if clear:
        ways = f"helped in {better} and did harm in {len(clear) - better} of {of}"
        return f"Debating {ways}: {'; '.join(map(_brief, clear[:MOST]))}."
    if open_ones:
        return f"{unclear}: {'; '.join(map(_brief, open_ones[:MOST]))}."
    return f"{unclear}: of {of} none shows a difference."


def _uncompared(analysis: Analysis) -> str:
    """Say why no debate is compared with a baseline."""
    ran = [(row, beside) for row, beside in analysis.beside if _is_of_debate(row, beside)]
    if not ran:
        return "no debate is compared with a baseline"
    names = "; ".join(f"{row.name} and {beside.name}" for row, beside in ran[:MOST])
    return f"no question was judged for both of {names}"


def _brief(one: Contrast) -> str:
    plain = f"{one.row} is {one.by} {one.beside}"
    if one.as_many is None:
        return plain
    if one.verdict == "fewer":
        return f"beside {one.beside} {one.row} {_fewer(one)}"
    as_many = f"{_by(_in_points(one.as_many.difference))} among as many answers"
    if one.verdict == "worse":
        return f"{plain}, and its answers are worse ({as_many})"
    return f"{plain}, but {as_many}" if one.verdict == "none" else plain


def _fewer(one: Contrast) -> str:
    right, beside = one.right
    return (
        f"leaves fewer questions right ({right} against {beside} of {one.difference.n}) because it "
        f"withheld {one.withheld}; among as many answers no difference is shown"
    )


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
        (measures.unread_in_all(study), "judgement", "unread"),
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
    asked = count(one.difference.n, "pair of papers", "pairs of papers")
    if isinstance(one.test, Paired):
        asked = count(one.difference.n, "question")
    how = _how(one.test, one.difference, family, f"{asked}; {_test(one.test)} ")
    by = f"{one.by} {one.beside}"
    as_many = ""
    if one.as_many is not None:
        difference = _in_points(one.as_many.difference)
        as_many = f"{_by(difference)} among as many answers {_how(one.as_many, difference, family)}"
    match one.verdict:
        case "better" | "worse":
            text = f"{one.row} is {one.verdict} than {one.beside}: {one.by} it {how}"
            answers = f"; its answers are {one.verdict}: {as_many}"
            return f"{text}{answers if as_many else ''}."
        case "fewer":
            return f"Beside {one.beside} {one.row} {_fewer(one)}: {one.by} it {how}, and {as_many}."
        case "none":
            return f"There is no verdict on {one.row}: it is {by} {how}, but {as_many}."
        case "alike":
            few = _detectable(one.test) if isinstance(one.test, Paired) else ""
            also = f", and {as_many}" if as_many else ""
            return f"No difference can be shown: {one.row} is {by} {how}{also}.{few}"


def _how(test: Comparison, difference: Figure, family: int, asked: str = "") -> str:
    """Return the interval and the test of a difference, in brackets."""
    ends = "no interval"
    if difference.low is not None and difference.high is not None:
        ends = f"95% from {signed(difference.low, 1, '+')} to {signed(difference.high, 1, '+')}"
    after = f", {probability(test.holm)} after Holm" if family > 1 else ""
    return f"({ends}; {asked}p = {probability(test.p)}{after})"


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
        method = next(iter(baselines(analysis.study.task, on_a_pair=True)), None)
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
