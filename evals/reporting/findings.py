"""The sentences that open a report, and those on each comparison of a debate.

A sentence says ``better`` or ``worse`` only where the corrected tests say so: of a debate that
withheld answers, the test on all questions and the one on as many answers.
"""

from __future__ import annotations

from collections.abc import Iterator

from dialectree.evals.comparisons import Comparison
from dialectree.evals.intervals import Figure, Proportion
from dialectree.evals.reporting.analysis import Analysis, missing
from dialectree.evals.reporting.answers import totals
from dialectree.evals.reporting.formatting import probability, signed
from dialectree.evals.reporting.study import Study
from dialectree.evals.standing import Spent
from dialectree.evals.tasks import baselines
from dialectree.text import count, listed

MOST_SAMPLES = 100
"""The most that ``--samples`` takes."""
MOST = 3
"""Differences that the answer names."""


def contrasts(analysis: Analysis) -> list[Comparison]:
    """Return every comparison that the sentences speak of."""
    rows, every = analysis.study.rows, analysis.comparisons
    main = [one for one in every if one.kind == "row" and one.main]
    main = [one for one in main if not rows[one.row].baseline] or main
    return [
        *(one for one in main if not one.fair and one.first),
        *(one for one in every if one.fair),
        *(one for one in every if one.kind == "vote" and one.same_options and one.first),
        *(one for one in every if one.kind == "marks"),
    ]


def _beside(one: Comparison) -> str:
    return f"{one.beside} at about as many tokens" if one.fair else one.beside


def _scaled(one: Comparison) -> Figure:
    """Return the difference in points, or in marks of 100."""
    scale = 1 if one.kind == "marks" else 100
    value, low, high = (end if end is None else scale * end for end in one.difference[:3])
    return Figure(value, low, high, one.difference.n)


def _by(one: Comparison) -> str:
    """Return the difference in words: ``8.6 points above``."""
    value, unit = _scaled(one).value or 0.0, "of 100" if one.kind == "marks" else "points"
    return f"{abs(value):.1f} {unit} {'above' if value > 0 else 'below'}" if value else "level with"


def opening(analysis: Analysis) -> list[str]:
    """Return the answer, its price, and what is missing, a sentence each."""
    if not analysis.study.results:
        return ["There is no result yet."]
    gaps = f"What is missing: {_missing(analysis.study)}."
    return [_answer(analysis), _price(analysis.study), gaps]


def _answer(analysis: Analysis) -> str:
    unclear = "It cannot be told whether debating helped"
    debates = [one for one in contrasts(analysis) if one.against_baseline]
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
    ran = [(row, beside) for row, beside in analysis.beside if beside.baseline > row.baseline]
    if not ran:
        return "no debate is compared with a baseline"
    names = "; ".join(f"{row.name} and {beside.name}" for row, beside in ran[:MOST])
    return f"no question was judged for both of {names}"


def _brief(one: Comparison) -> str:
    plain = f"{one.row} is {_by(one)} {_beside(one)}"
    if one.as_many is None:
        return plain
    as_many = f"{_by(one.as_many)} among as many answers"
    return {
        "fewer": f"beside {_beside(one)} {one.row} {_fewer(one)}",
        "worse": f"{plain}, and its answers are worse ({as_many})",
        "none": f"{plain}, but {as_many}",
    }.get(one.verdict, plain)


def _fewer(one: Comparison) -> str:
    right, beside = (sum(map(bool, own)) for own in (one.first, one.second))
    return (
        f"leaves fewer questions right ({right} against {beside} of {len(one.first)}) because it "
        f"withheld {one.withheld}; among as many answers no difference is shown"
    )


def _price(study: Study) -> str:
    whole, judging = totals(study.rows.values())
    part = f", of which {_sum(judging)} for judging" if judging.calls else ""
    cached = sum(result.cached.calls for result in study.results)
    saved = f" {count(cached, 'call')} came from the cache." if cached else ""
    return f"Its price: {_sum(whole)}{part}.{saved}"


def _sum(one: Spent) -> str:
    money = "" if one.cost is None else f"{one.cost:,.4g} in money, "
    return f"{money}{count(one.calls, 'call')} and {one.tokens:,} tokens"


def _missing(study: Study) -> str:
    gaps = [
        (sum(row.counts["failed"] for row in study.rows.values()), "run", "failed"),
        (sum(row.counts["unanswered"] for row in study.rows.values()), "answer", "withheld"),
        (_unread(study), "judgement", "unread"),
    ]
    return listed(f"{count(n, what)} {state}" for n, what, state in gaps if n) or "nothing"


def _unread(study: Study) -> int:
    """Return how many judgements could not be read, or were not given.

    They are those of answers, summaries, votes and controls.
    """
    rulings: list[str] = []
    votes = 0
    for row in study.rows.values():
        for result in row.results.values():
            if result.status != "failed":
                rulings += [one.value for one in result.scores]
                rulings += [one.value for one in result.controls]
                judged = any(score.key == row.key for score in result.scores)
                vote = result.vote if judged else None
                votes += vote is not None and vote.given and vote.right is None
    return sum(value in ("unparsed", "failed") for value in rulings) + votes


def findings(analysis: Analysis) -> list[str]:
    """Return what can be asserted of each comparison, and what cannot."""
    if not analysis.study.results:
        return ["There is not a single result yet."]
    sentences = [_sentence(one, analysis.family) for one in contrasts(analysis)]
    sentences += _alone_on_two_options(analysis)
    return [
        *(sentences or ["No two rows have marks or right answers to the same questions."]),
        *_leanings(analysis),
        *_unequal_budgets(analysis),
    ]


def _sentence(one: Comparison, family: int) -> str:
    what = ("pair of papers", "pairs of papers") if one.kind == "marks" else ("question",)
    asked = count(len(one.first), *what)
    how, by = _how(one, family, f"{asked}; {one.test} "), f"{_by(one)} {_beside(one)}"
    as_many = ""
    if one.as_many is not None:
        as_many = f"{_by(one.as_many)} among as many answers {_how(one.as_many, family)}"
    match one.verdict:
        case "better" | "worse":
            text = f"{one.row} is {one.verdict} than {_beside(one)}: {_by(one)} it {how}"
            answers = f"; its answers are {one.verdict}: {as_many}"
            return f"{text}{answers if as_many else ''}."
        case "fewer":
            fewer = f"Beside {_beside(one)} {one.row} {_fewer(one)}"
            return f"{fewer}: {_by(one)} it {how}, and {as_many}."
        case "none":
            return f"There is no verdict on {one.row}: it is {by} {how}, but {as_many}."
        case "alike":
            few = "" if one.kind == "marks" else _detectable(one)
            also = f", and {as_many}" if as_many else ""
            return f"No difference can be shown: {one.row} is {by} {how}{also}.{few}"


def _how(one: Comparison, family: int, asked: str = "") -> str:
    """Return the interval and the test of a difference, in brackets."""
    _, low, high, _ = _scaled(one)
    ends = "no interval"
    if low is not None and high is not None:
        ends = f"95% from {signed(low, 1, '+')} to {signed(high, 1, '+')}"
    after = f", {probability(one.holm)} after Holm" if family > 1 else ""
    return f"({ends}; {asked}p = {probability(one.p)}{after})"


def _detectable(one: Comparison) -> str:
    if one.detectable is None:
        return " So few questions, or clusters of them, can show no difference."
    way = " downwards" if one.detectable < 0 else ""
    least = f"{100 * abs(one.detectable):.1f} points{way}"
    return f" So many questions would probably show {least} or more, not less."


def _alone_on_two_options(analysis: Analysis) -> Iterator[str]:
    """Name the debates on two options that nothing on the same two options stands beside."""
    beside = {one.row for one in analysis.comparisons if one.kind != "marks" and one.same_options}
    debates = [row for row in analysis.study.rows.values() if not row.baseline]
    names = [row.name for row in debates if row.handed and row.name not in beside]
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
                f"{one.row}: the judge leans by {one.by}: right {of(one.first)} where the "
                f"right answer came first, and {of(one.second)} where it came second "
                f"(p = {probability(one.p)}, {probability(one.holm)} after Holm)."
            )


def of(share: Proportion) -> str:
    """Write a share as ``3 of 4``."""
    return f"{share.right} of {share.n}"


def _unequal_budgets(analysis: Analysis) -> Iterator[str]:
    """Name the debates that no row of samples comes close to in tokens."""
    for debate, method, near, samples in missing(analysis):
        text = f"No row spends about as many tokens as {debate} on samples"
        if near is None or samples is None:
            yield f"{text}: add {method} with the model of its debaters and --samples."
        elif samples > MOST_SAMPLES:
            most = f"the {MOST_SAMPLES} samples that can be asked for are too few"
            yield f"{text}: {near.beside} spends {near.ratio:.2f} of them, and {most}."
        else:
            spent = f"{near.beside} spends {near.ratio:.2f} of them"
            yield f"{text}: {spent}; --samples {samples} would about match."
