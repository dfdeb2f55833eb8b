"""The conclusions that the numbers bear out, one sentence for each comparison."""

from __future__ import annotations

from collections.abc import Iterator

from dialectree.evals.bootstrap import Figure
from dialectree.evals.clustered import shared
from dialectree.evals.comparisons import Paired
from dialectree.evals.debate_gain import Missing, Turned, arguers, missing
from dialectree.evals.paired import FEWEST
from dialectree.evals.proportions import Proportion
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis, Compared
from dialectree.evals.reporting.formatting import points, probability, signed
from dialectree.evals.reporting.study import RUBRIC
from dialectree.report.words import count, listed

MOST_SAMPLES = 100
"""The most that ``--samples`` takes."""


def findings(analysis: Analysis) -> list[str]:
    """Return what can be asserted of each comparison, and what cannot."""
    if not any(analysis.study.results.values()):
        return ["There is not a single result yet."]
    sentences = [*_shares(analysis), *_handed(analysis), *_votes(analysis), *_samples(analysis)]
    sentences += [*_withheld(analysis), *_leanings(analysis), *_summaries(analysis)]
    gaps = missing(analysis.study, analysis.sampled)
    return [*(sentences or [_alone(analysis)]), *map(_missing, gaps)]


def _alone(analysis: Analysis) -> str:
    if len(analysis.study.rows) < 2:
        return "There is one row only: nothing to compare it with."
    if analysis.study.task == "compare":
        return (
            f"No two rows have marks for {listed(RUBRIC)} on the same pair of papers: their "
            "summaries are not compared as a whole."
        )
    if analysis.left_out and not any(counts.parsed.n for counts in analysis.counts.values()):
        return "Not one judgement could be read: whether debating helped cannot be said."
    return "No two rows have right or wrong answers to the same questions: nothing is compared."


def _shares(analysis: Analysis) -> Iterator[str]:
    """Compare debates with their baselines; baselines among themselves where there is no debate."""
    beside = {(one.debate.name, one.row.name) for one in analysis.sampled if one.fair}
    for one in analysis.main:
        if (one.row.name, one.baseline.name) not in beside:  # the samples have their own sentence
            text = _contrast(one, one.row.name, one.baseline.name, analysis.family)
            yield f"{text}{_failed(one)}"


def _contrast(one: Paired, first: str, second: str, family: int, no: str = "No") -> str:
    """Say which of two is better, or that no difference can be shown and what could have been."""
    value, low, high, n = one.difference
    if value is None:
        return f"{first} and {second} both answered no question."
    by = f"{abs(100 * value):.1f} points {'above' if value > 0 else 'below'}"
    test = f"({interval(low, high, 100)}; {_test(one, family)})"
    if one.shown:
        better = "better" if value > 0 else "worse"
        same = f"on the same {count(n, 'question')}"
        return f"{first} is {better} than {second}: {by} it {same} {test}."
    return (
        f"{no} difference can be shown between {first} and {second} with n = {n}: the first was "
        f"{by if value else 'level'} {test}. {_smallest(one)}"
    )


def interval(low: float | None, high: float | None, scale: float = 1) -> str:
    """Write an interval; without one, say so."""
    if low is None or high is None:
        return "no interval"
    return f"95% from {signed(scale * low, 1, '+')} to {signed(scale * high, 1, '+')}"


def _test(one: Paired, family: int) -> str:
    """Name the test and its p."""
    name = "clustered sign-flip" if shared(one.pairs.clusters) else "exact McNemar"
    return _p(name, one.pairs.ledger.p, one.holm, family)


def _p(test: str, p: float | None, holm: float | None, family: int) -> str:
    """Write a p, and the corrected one where there is something to correct for."""
    after = f", {probability(holm)} after Holm" if family > 1 else ""
    return f"{test} p = {probability(p)}{after}"


def _smallest(one: Paired) -> str:
    """Say what so many questions could have shown."""
    n, least = one.pairs.ledger.n, one.detectable
    if least is None:
        groups = count(len(set(one.pairs.clusters)), "cluster")
        of = f" in {groups}" if shared(one.pairs.clusters) else ""
        return (
            f"{count(n, 'question')}{of} {'is' if n == 1 else 'are'} too few to show a difference."
        )
    way = ""
    if not one.pairs.ledger.differing:
        way = " downwards: upwards there is no room" if least < 0 else " if all went one way"
    return (
        f"The smallest difference that {count(n, 'question')} would probably show is "
        f"{100 * abs(least):.1f} points{way}."
    )


def _failed(one: Compared) -> str:
    """Say what the questions left out as failed could have made of the difference."""
    if not one.failed:
        return ""
    low, high = map(points, one.bounds)
    return (
        f" {count(one.failed, 'question')} failed and {'is' if one.failed == 1 else 'are'} left "
        f"out: with all of them against the first the difference is {low} points, with all for it "
        f"{high}."
    )


def _handed(analysis: Analysis) -> Iterator[str]:
    """Name the debates on two options that nothing on the same two options stands beside."""
    beside = {one.row.name for one in analysis.compared}
    beside |= {one.row.name for one in analysis.turned if one.alike}
    beside |= {one.debate.name for one in analysis.sampled}
    debates = [row for row in analysis.study.rows if row.method not in measures.BASELINES]
    names = [row.name for row in debates if measures.handed(row) and row.name not in beside]
    if names:
        one = len(names) == 1
        yield (
            f"{listed(names)} {'does' if one else 'do'} not tell whether debating helped: "
            f"{'it chooses' if one else 'they choose'} between the right answer and one wrong "
            "option, and no baseline does. Add judge_alone with the same candidates."
        )


def _votes(analysis: Analysis) -> Iterator[str]:
    """Say what debates turned, compared with the votes before them."""
    for one in analysis.turned:
        if one.alike:
            yield f"{one.row.name}: {_ledger(one, analysis.family)}{_left_out(one)}"


def _ledger(one: Turned, family: int) -> str:
    lost, won, n = one.ledger.first_only, one.ledger.second_only, one.ledger.n
    if not n:
        return (
            "whether debating helped cannot be said: no question has a judgement of before and one "
            "of after the debate."
        )
    turned = (
        f"the debate turned {won} of {n} from wrong to right and {lost} from right to wrong "
        f"({_test(one, family)})"
    )
    if one.shown:
        return f"debating {'helped' if won > lost else 'harmed'}: {turned}."
    return (
        "it cannot be shown that debating changed the answers for better or worse: "
        f"{turned}. {_smallest(one)}"
    )


def _left_out(one: Turned) -> str:
    withheld = one.withheld_right + one.withheld_wrong
    text = ""
    if withheld:
        text += (
            f" It withheld its answer to {count(withheld, 'question')}, of which the vote had "
            f"{one.withheld_right} right."
        )
    if one.unread:
        text += f" {count(one.unread, 'question')} had a judgement that could not be read."
    return text


def _samples(analysis: Analysis) -> Iterator[str]:
    """Compare debates with as many tokens spent on more samples."""
    compared = {(one.row.name, one.baseline.name): one for one in analysis.compared}
    for one in analysis.sampled:
        if one.fair:
            model = "the model" if len(arguers(one.debate)) == 1 else "a model"
            second = f"{one.row.name} (more answers of {model} of its debaters)"
            text = _contrast(one, one.debate.name, second, analysis.family, "no")
            same = compared.get((one.debate.name, one.row.name))
            yield (
                f"At about the same number of tokens ({one.ratio:.2f} of the debate's), {text}"
                f"{_failed(same) if same else ''}"
            )


def _withheld(analysis: Analysis) -> Iterator[str]:
    """Compare the risk of two rows, the surest answers first, where both cover as much."""
    for one in analysis.main:
        counts = analysis.counts[one.row.name]
        if not counts.unanswered:
            continue
        text = f"{one.row.name} withheld {counts.unanswered} of {count(counts.asked, 'answer')}"
        own, other = (measures.surest(analysis.study, row.name) for row in (one.row, one.baseline))
        coverage = min(own.covers, other.covers)
        first, second = own.at(coverage), other.at(coverage)
        if not coverage or first is None or second is None:
            yield f"{text}; pairs are of the questions that both rows answered."
            continue
        wrong = [f"{100 * (1 - (share.share or 0)):.1f}%" for share in (first, second)]
        yield (
            f"{text}. Where each answers only its surest {100 * coverage:.0f}% of the questions, "
            f"{wrong[0]} of its answers are wrong, and {wrong[1]} of {one.baseline.name}'s."
        )


def _leanings(analysis: Analysis) -> Iterator[str]:
    for one in analysis.leanings:
        if not one.shown:
            continue
        ways = {
            "side": ("the first debater held the right answer", "the second did"),
            "place": ("the right answer was shown first", "it was shown second"),
        }[one.by]
        cases = list(zip(ways, (one.first, one.second), strict=True))
        cases.sort(key=lambda case: -(case[1].share or 0))
        (often, most), (seldom, least) = cases
        yield (
            f"{one.row.name}: the judge leans by {one.by}: right {of(most)} where {often}, and "
            f"{of(least)} where {seldom} (p = {probability(one.p)}, {probability(one.holm)} after "
            "Holm)."
        )


def of(share: Proportion) -> str:
    """Write a share as ``3 of 4``."""
    return f"{share.right} of {share.n}"


def _summaries(analysis: Analysis) -> Iterator[str]:
    """Compare summaries of papers with their baselines', by the judge's marks."""
    for one in analysis.marked:
        who, beside, value = one.row.name, one.baseline.name, one.difference.value or 0.0
        test = _p("sign-flip", one.p, one.holm, analysis.family)
        how = f"({_width(one.difference)}; {test}; n = {one.difference.n})"
        if one.shown:
            better = "better" if value > 0 else "worse"
            by = f"{abs(value):.1f} of 100"
            yield f"{who}'s summaries are {better} than {beside}'s by {by} {how}."
        else:
            by = f"{abs(value):.1f} of 100 {'above' if value > 0 else 'below'}"
            yield (
                f"No difference can be shown between the summaries of {who} and {beside}: the "
                f"first were {by if value else 'level'} {how}."
            )


def _width(difference: Figure) -> str:
    """Write the interval, or say why there is none."""
    text = interval(difference.low, difference.high)
    if difference.low is not None:
        return text
    if difference.n < FEWEST:
        return f"{text}: fewer than {FEWEST} pairs of papers"
    return f"{text}: all differences are alike"


def _missing(one: Missing) -> str:
    """Name the row of samples that would have to be there."""
    nearest, debate = one.nearest, one.debate.name
    if nearest is None or nearest.ratio is None or nearest.matching is None:
        return (
            f"No row shows what as many tokens as those of {debate} reach without a debate: add "
            f"{one.method} with the model of its debaters and --samples."
        )
    text = (
        f"No row spends about as many tokens as {debate} on samples: {nearest.row.name} spends "
        f"{nearest.ratio:.2f} of them"
    )
    if nearest.matching > MOST_SAMPLES:
        return f"{text}, and the {MOST_SAMPLES} samples that can be asked for are too few."
    return f"{text}; --samples {nearest.matching} would about match."
