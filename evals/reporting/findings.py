"""The sentences that open a report, and the sentences on each comparison of a debate.

A sentence says ``better`` or ``worse`` only if the corrected tests agree. For a debate that
withheld answers, these are the test on all questions and the test at equal coverage.
"""

from __future__ import annotations

from collections.abc import Iterator

from dialectree.evals.comparisons import RowComparison
from dialectree.evals.intervals import Figure, Proportion
from dialectree.evals.reporting.analysis import Analysis, missing
from dialectree.evals.reporting.answers import totals
from dialectree.evals.reporting.formatting import format_signed, probability
from dialectree.evals.reporting.study import Study
from dialectree.evals.standing import CallTotals
from dialectree.evals.tasks import baselines
from dialectree.text import count, format_list

MOST_SAMPLES = 100
"""The largest value of ``--samples``."""
MOST = 3
"""The most differences that the answer in the opening names."""


def contrasts(analysis: Analysis) -> list[RowComparison]:
    """Return every comparison that gets a sentence."""
    study, comparisons = analysis.study, analysis.comparisons
    main = [comparison for comparison in comparisons if comparison.kind == "row" and comparison.main]
    main = [comparison for comparison in main if not study.find_row(comparison.row).baseline] or main
    return [
        *(comparison for comparison in main if not comparison.fair and comparison.first),
        *(comparison for comparison in comparisons if comparison.fair),
        *(
            comparison
            for comparison in comparisons
            if comparison.kind == "vote" and comparison.same_options and comparison.first
        ),
        *(comparison for comparison in comparisons if comparison.kind == "marks"),
    ]


def _describe_rival(comparison: RowComparison) -> str:
    return f"{comparison.rival} at about as many tokens" if comparison.fair else comparison.rival


def _scale_difference(comparison: RowComparison) -> Figure:
    """Return the difference in points, or in marks of 100."""
    scale = 1 if comparison.kind == "marks" else 100
    value, low, high = (end if end is None else scale * end for end in comparison.difference[:3])
    return Figure(value, low, high, comparison.difference.n)


def _by(comparison: RowComparison) -> str:
    """Return the difference in words: ``8.6 points above``."""
    value, unit = (
        _scale_difference(comparison).value or 0.0,
        "of 100" if comparison.kind == "marks" else "points",
    )
    return f"{abs(value):.1f} {unit} {'above' if value > 0 else 'below'}" if value else "level with"


def opening(analysis: Analysis) -> list[str]:
    """Return a sentence each on whether debating helped, on its price and on what is missing."""
    if not analysis.study.results:
        return ["There is no result yet."]
    gaps = f"What is missing: {_missing(analysis.study)}."
    return [_answer(analysis), _price(analysis.study), gaps]


def _answer(analysis: Analysis) -> str:
    unclear = "It cannot be told whether debating helped"
    debates = [comparison for comparison in contrasts(analysis) if comparison.against_baseline]
    if not debates:
        return f"{unclear}: {_describe_missing_comparison(analysis)}."
    clear = [comparison for comparison in debates if comparison.verdict in ("better", "worse", "fewer")]
    open_ones = [comparison for comparison in debates if comparison.verdict == "none"]
    better = sum(comparison.verdict == "better" for comparison in clear)
    of = count(len(debates), "comparison")
    if clear:
        numbers = {"helped": better, "did harm": len(clear) - better}
        outcome = " and ".join(f"{what} in {number}" for what, number in numbers.items() if number)
        return f"Debating {outcome} of {of}: {'; '.join(map(_brief, clear[:MOST]))}."
    if open_ones:
        return f"{unclear}: {'; '.join(map(_brief, open_ones[:MOST]))}."
    return f"{unclear}: of {of} none shows a difference."


def _describe_missing_comparison(analysis: Analysis) -> str:
    """Say why no debate is compared with a baseline."""
    ran = [(row, rival) for row, rival in analysis.baseline_pairs if rival.baseline > row.baseline]
    if not ran:
        return "no debate is compared with a baseline"
    names = "; ".join(f"{row.name} and {rival.name}" for row, rival in ran[:MOST])
    return f"no question was judged for both of {names}"


def _brief(comparison: RowComparison) -> str:
    plain = f"{comparison.row} is {_by(comparison)} {_describe_rival(comparison)}"
    if comparison.as_many is None:
        return plain
    as_many = f"{_by(comparison.as_many)} at equal coverage"
    return {
        "fewer": f"{comparison.row} {_fewer(comparison)}",
        "worse": f"{plain}, and its answers are worse ({as_many})",
        "none": f"{plain}, but {as_many}",
    }.get(comparison.verdict, plain)


def _fewer(comparison: RowComparison) -> str:
    right, others = (sum(map(bool, answers)) for answers in (comparison.first, comparison.second))
    numbers = f"{right} against {others} of {len(comparison.first)}"
    return (
        f"leaves fewer questions right than {_describe_rival(comparison)} ({numbers}) because it withheld "
        f"{comparison.withheld}; at equal coverage no difference is shown"
    )


def _price(study: Study) -> str:
    total, judging = totals(study.rows.values())
    part = f", of which {_sum(judging)} for judging" if judging.calls else ""
    cached = sum(result.cached.calls for result in study.results)
    saved = f" {count(cached, 'call')} came from the cache." if cached else ""
    return f"Its price: {_sum(total)}{part}.{saved}"


def _sum(spending: CallTotals) -> str:
    money = "" if spending.cost is None else f"{spending.cost:,.4g} in money, "
    return f"{money}{count(spending.calls, 'call')} and {spending.tokens:,} tokens"


def _missing(study: Study) -> str:
    gaps = [
        (sum(row.counts["failed"] for row in study.rows.values()), "run", "failed"),
        (sum(row.counts["unanswered"] for row in study.rows.values()), "answer", "withheld"),
        (_unread(study), "judgement", "unread"),
    ]
    return format_list(f"{count(n, noun)} {state}" for n, noun, state in gaps if n) or "nothing"


def _unread(study: Study) -> int:
    """Count the unreadable and missing judgements of answers, summaries, votes and controls."""
    rulings: list[str] = []
    votes = 0
    for row in study.rows.values():
        for result in row.results.values():
            if result.status != "failed":
                rulings += [answer_score.value for answer_score in result.scores]
                rulings += [control.value for control in result.controls]
                judged = any(score.key == row.key for score in result.scores)
                vote = result.vote if judged else None
                votes += vote is not None and vote.given and vote.right is None
    return sum(value in ("unparsed", "failed") for value in rulings) + votes


def findings(analysis: Analysis) -> list[str]:
    """Return a sentence on each comparison, then on leanings and unequal budgets."""
    if not analysis.study.results:
        return ["There is not a single result yet."]
    sentences = [_sentence(comparison, analysis.family) for comparison in contrasts(analysis)]
    sentences += _alone_on_two_options(analysis)
    return [
        *(sentences or ["No two methods have marks or right answers to the same questions."]),
        *_leanings(analysis),
        *_unequal_budgets(analysis),
    ]


def _sentence(comparison: RowComparison, family: int) -> str:
    unit_names = ("pair of papers", "pairs of papers") if comparison.kind == "marks" else ("question",)
    sample_size = count(len(comparison.first), *unit_names)
    how, by = (
        _how(comparison, family, f"{sample_size}; {comparison.test} "),
        f"{_by(comparison)} {_describe_rival(comparison)}",
    )
    as_many = ""
    if comparison.as_many is not None:
        as_many = f"{_by(comparison.as_many)} at equal coverage {_how(comparison.as_many, family)}"
    turned = _describe_turns(comparison)
    match comparison.verdict:
        case "better" | "worse":
            rival = _describe_rival(comparison)
            text = f"{comparison.row} is {comparison.verdict} than {rival}: {_by(comparison)} it {how}"
            answers = f"; its answers are {comparison.verdict}: {as_many}"
            return f"{text}{answers if as_many else ''}.{turned}"
        case "fewer":
            fewer = f"{comparison.row} {_fewer(comparison)}"
            return f"{fewer}: {_by(comparison)} it {how}, and {as_many}.{turned}"
        case "none":
            return f"There is no verdict on {comparison.row}: it is {by} {how}, but {as_many}.{turned}"
        case "alike":
            few = "" if comparison.kind == "marks" else _detectable(comparison)
            also = f", and {as_many}" if as_many else ""
            return f"No difference can be shown: {comparison.row} is {by} {how}{also}.{few}{turned}"


def _describe_turns(comparison: RowComparison) -> str:
    """Return a sentence on the right answers that a debate changed; empty without a vote before it."""
    if comparison.kind != "vote":
        return ""
    changed = comparison.details["right → wrong"]
    numbers = {0: "no right answer to a wrong one", 1: "1 right answer to a wrong one"}
    return f" The debate changed {numbers.get(changed, f'{changed} right answers to wrong ones')}."


def _how(comparison: RowComparison, family: int, test_prefix: str = "") -> str:
    """Return the interval and the test of a difference, in brackets."""
    _, low, high, _ = _scale_difference(comparison)
    ends = "no interval"
    if low is not None and high is not None:
        ends = f"paired difference, 95% from {format_signed(low, 1, '+')} to {format_signed(high, 1, '+')}"
    after = f", {probability(comparison.holm)} after Holm" if family > 1 else ""
    return f"({ends}; {test_prefix}p = {probability(comparison.p)}{after})"


def _detectable(comparison: RowComparison) -> str:
    if comparison.detectable is None:
        return " There are too few questions, or clusters of them, to show a difference."
    direction = " downwards" if comparison.detectable < 0 else ""
    effect = f"{100 * abs(comparison.detectable):.1f} points{direction}"
    return f" This many questions would probably show a difference of {effect} or more, not less."


def _alone_on_two_options(analysis: Analysis) -> Iterator[str]:
    """Name the debates on two options that have no comparison on the same two options."""
    compared = {
        comparison.row
        for comparison in analysis.comparisons
        if comparison.kind != "marks" and comparison.same_options
    }
    debates = [row for row in analysis.study.rows.values() if not row.baseline]
    names = [row.name for row in debates if row.handed and row.name not in compared]
    if names:
        method = next(iter(baselines(analysis.study.task, on_a_pair=True)), None)
        more = f" Add {method} with the same candidates." if method else ""
        yield (
            f"For {format_list(names)} it cannot be told whether debating helped: no baseline "
            f"chooses between the same two options.{more}"
        )


def _leanings(analysis: Analysis) -> Iterator[str]:
    for leaning in analysis.leanings:
        if leaning.significant:
            yield (
                f"{leaning.row}: the judge leans by {leaning.by}: right "
                f"{format_right_of_total(leaning.first)} where the right answer came first, and "
                f"{format_right_of_total(leaning.second)} where it came second "
                f"(p = {probability(leaning.p)}, {probability(leaning.holm)} after Holm)."
            )


def format_right_of_total(share: Proportion) -> str:
    """Write a share as ``3 of 4``."""
    return f"{share.right} of {share.n}"


def _unequal_budgets(analysis: Analysis) -> Iterator[str]:
    """Name the debates without a row of samples at about as many tokens."""
    for debate, method, near, samples in missing(analysis):
        text = f"No method spends about as many tokens as {debate} on samples"
        if near is None or samples is None:
            yield f"{text}: add {method} with the model of its debaters and --samples."
        elif samples > MOST_SAMPLES:
            reason = f"the {MOST_SAMPLES} samples that can be asked for are too few"
            yield f"{text}: {near.rival} spends {near.ratio:.2f} of them, and {reason}."
        else:
            spent = f"{near.rival} spends {near.ratio:.2f} of them"
            yield f"{text}: {spent}; --samples {samples} would about match."
