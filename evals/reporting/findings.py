"""What the numbers bear out, in plain sentences, and what has to be known before they are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from dialectree.evals.bootstrap import Figure
from dialectree.evals.paired import McNemar, difference
from dialectree.evals.proportions import Proportion
from dialectree.evals.reporting import cautions, measures
from dialectree.evals.reporting.analysis import Analysis, Compared, noticed
from dialectree.evals.reporting.study import RUBRIC, Study
from dialectree.evals.reporting.tabled import probability
from dialectree.evals.results import Row
from dialectree.evals.worth import Placed, Sampled, Turned, Wanted, samples, wanted
from dialectree.report.words import count, listed

ALPHA = 0.05
ENOUGH = 5
"""From so many answers on, all of one kind is worth a warning."""
MOST_SAMPLES = 100
"""What ``--samples`` takes."""
FEW = 0.9
"""Below this share of answers a row is said to decline."""


class Said(NamedTuple):
    """A report's sentences."""

    study: Study
    findings: list[str]
    warnings: list[str]


def said(analysis: Analysis) -> Said:
    """Everything that a report says in sentences."""
    return Said(analysis.study, findings(analysis), warnings(analysis))


def findings(analysis: Analysis) -> list[str]:
    """One sentence a comparison: what can be said, and what not."""
    if not analysis.study.results or not any(analysis.study.results.values()):
        return ["There is not a single result yet."]
    found = [*_against(analysis), *_handed(analysis.study)]
    found += [_turned(one) for one in analysis.turned if not measures.handed(one.row)]
    found += [sentence for one in analysis.sampled if (sentence := _sampled(one))]
    found += [sentence for one in analysis.placed if (sentence := _placed(one))]
    found += _summaries(analysis)
    missing = [_wanted(one) for one in wanted(analysis.study, analysis.sampled)]
    return [*(found or [_alone(analysis)]), *missing]


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


def _against(analysis: Analysis) -> Iterator[str]:
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
    way = _range(100 * low, 100 * high)
    place = f"{abs(100 * difference):.1f} points {'above' if difference > 0 else 'below'}"
    test = f"exact McNemar p = {probability(one.paired.p)}"
    test += f", {probability(one.holm)} after Holm" if family > 1 else ""
    if one.holm is not None and one.holm < ALPHA:
        return (
            f"{who} is {'better' if difference > 0 else 'worse'} than {against}: {place} it on "
            f"the same {count(n, 'question')} ({way}; {test})."
        )
    by = f"the first was {place if difference else 'level'}"
    return (
        f"No difference can be shown between {who} and {against} with n = {n}: {by} "
        f"({way}; {test}). {_smallest(one.paired, one.detectable)}"
    )


def _range(low: float, high: float) -> str:
    return f"95% from {low:+.1f} to {high:+.1f}".replace("-", "−")


def _smallest(paired: McNemar, least: float | None) -> str:
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


def _handed(study: Study) -> Iterator[str]:
    names = [row.name for row in study.rows if measures.handed(row)]
    if names:
        one = len(names) == 1
        yield (
            f"{listed(names)} {'does' if one else 'do'} not tell whether debating helped: "
            f"{'it chooses' if one else 'they choose'} between the right answer and one wrong "
            "option, where a vote before and other rows choose among all. Rows are compared with "
            "others of the same candidates only."
        )


def _turned(one: Turned) -> str:
    left = f" {count(one.unread, 'question')} had a judgement that could not be read."
    if not one.ledger.n:
        return (
            f"{one.row.name}: whether debating helped cannot be said: no question has a judgement "
            f"of before and one of after the debate.{left}"
        )
    return f"{_ledger(one)}{left if one.unread else ''}"


def _ledger(one: Turned) -> str:
    lost, won, n = one.ledger.first_only, one.ledger.second_only, one.ledger.n
    ledger = (
        f"the debate turned {won} of {n} from wrong to right and {lost} from right to wrong "
        f"(p = {probability(one.ledger.p)})"
    )
    if one.ledger.p < ALPHA:
        return f"{one.row.name}: debating {'helped' if won > lost else 'harmed'}: {ledger}."
    return (
        f"{one.row.name}: it cannot be shown that debating changed the answers for better or "
        f"worse: {ledger}. {_smallest(one.ledger, noticed(one.ledger))}"
    )


def _sampled(one: Sampled) -> str | None:
    if not one.fair or one.right.share is None or one.debate_right.share is None:
        return None
    apart = 100 * (one.debate_right.share - one.right.share)
    way = "above" if apart > 0 else "below"
    place = f"{abs(apart):.1f} points {way}" if apart else "level with"
    return (
        f"At about the same number of tokens ({one.ratio:.2f} of the debate's), {one.debate.name} "
        f"is {place} {one.row.name}, which asks the same model more often instead "
        f"(n = {one.right.n}; the tables say whether that can be told from chance)."
    )


def _wanted(one: Wanted) -> str:
    beside, debate = one.nearest, one.debate.name
    if beside is None or beside.ratio is None:
        return (
            f"No row shows what as many tokens as those of {debate} reach without a debate: add "
            f"{one.method} with its model and --samples."
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


def _summaries(analysis: Analysis) -> Iterator[str]:
    study = analysis.study
    of = measures.baseline(study)
    for row in study.rows:
        against = of(row)
        if against is None:
            continue
        first = measures.overall(study.of(row.name))
        second = measures.overall(study.of(against.name))
        both = [item for item in first if item in second]
        if both:
            apart = difference([first[i] for i in both], [second[i] for i in both])
            yield _marked(row.name, against.name, apart)


def _marked(row: str, against: str, apart: Figure) -> str:
    value, low, high, n = apart.value or 0.0, apart.low, apart.high, apart.n
    if n == 1:
        return f"{row} and {against}: one pair of papers shows nothing."
    if low is None or high is None:
        place = f"{value:+.1f}".replace("-", "−")
        return (
            f"{row}'s summaries less {against}'s: {place} of 100 on each of {n} pairs of papers "
            "(no interval: all differences are alike)."
        )
    way = f"{_range(low, high)}, n = {n}"
    if low > 0 or high < 0:
        return (
            f"{row}'s summaries are {'better' if value > 0 else 'worse'} than {against}'s by "
            f"{abs(value):.1f} of 100 ({way})."
        )
    return (
        f"No difference can be shown between the summaries of {row} and {against}: the first were "
        f"{abs(value):.1f} of 100 {'above' if value > 0 else 'below'} ({way})."
    )


def warnings(analysis: Analysis) -> list[str]:
    """What a reader has to know first."""
    return [
        *_demonstration(analysis.study),
        *_unfinished(analysis.study),
        *cautions.repeated(analysis.study),
        *_declining(analysis),
        *cautions.silent(analysis.study),
        *_unmarked(analysis.study),
        *_judge(analysis),
        *_always(analysis.study),
        *_set_up(analysis.study),
        *_size(analysis),
    ]


def _demonstration(study: Study) -> Iterator[str]:
    if study.demonstration:
        yield (
            "The model is the embedded demonstration model, which answers at chance: this shows "
            "how the program works, and says nothing about any method."
        )


def _unfinished(study: Study) -> Iterator[str]:
    for folder, evaluation in zip(study.folders, study.evaluations, strict=True):
        if evaluation.ended is None:
            yield f"{folder.name} has not come to its end: what is missing is in no figure."
    if study.strangers:
        yield (
            f"{count(study.strangers, 'result')} of rows or questions that evaluation.json does "
            "not name are left out."
        )
    asked = {row.name: frozenset(study.results[row.name]) for row in study.rows}
    if len(set(asked.values())) > 1:
        numbers = listed(f"{name} {len(items)}" for name, items in asked.items())
        yield (
            f"The rows did not answer the same questions: {numbers} of {len(study.items)}. "
            "Compared in pairs are those of both; the other tables take each row's own."
        )
    if len(study.items) < (asked_for := _asked_for(study)):
        shards = {part for e in study.evaluations if e.shard for part in e.shard.split(", ")}
        which = f", those of {listed(sorted(shards))}" if shards else ""
        yield f"Only {len(study.items)} of {count(asked_for, 'question')} are here{which}."


def _asked_for(study: Study) -> int:
    """How many questions there are, or were to be taken."""
    limits = [one.limit for one in study.evaluations if one.limit is not None]
    whole = study.evaluations[0].data.count
    return min(whole, max(limits)) if len(limits) == len(study.evaluations) else whole


def _declining(analysis: Analysis) -> Iterator[str]:
    rows, counts = analysis.study.rows, analysis.counts
    failed = [
        f"{row.name} {counts[row.name].failed} of {len(analysis.study.of(row.name))}"
        for row in rows
        if counts[row.name].failed
    ]
    if failed:
        yield f"Runs that failed are in no share: {listed(failed)}."
    for row in rows:
        if counts[row.name].answered < FEW * counts[row.name].n:
            yield f"{row.name} answered only {counts[row.name].answered} of {counts[row.name].n}."
    yield from _unjudged(analysis)
    for row in rows:
        yield from _refusing(analysis, row)


def _unjudged(analysis: Analysis) -> Iterator[str]:
    if analysis.study.task == "compare":
        return
    numbers: dict[str, list[str]] = {
        "Answers to questions that the data has no right answer to are in no share": [],
        "The judge gave no score to answers, which are in no share": [],
        "Judgements that could not be read are in the first figure of accuracy only": [],
    }
    for row in analysis.study.rows:
        results, counts = analysis.study.of(row.name), analysis.counts[row.name]
        open_ones = measures.unasked(results)
        each = (open_ones, counts.unscored - open_ones, counts.unparsed)
        for found, number in zip(numbers.values(), each, strict=True):
            found += [f"{row.name} {number} of {len(results)}"] * (number > 0)
    for what, found in numbers.items():
        if found:
            yield f"{what}: {listed(found)}."


def _unmarked(study: Study) -> Iterator[str]:
    """Of summaries: which figures of the judge are missing."""
    if study.task != "compare":
        return
    for row in study.rows:
        results = study.of(row.name)
        found = [
            f"{key} {n} of {len(results)}" for key in RUBRIC if (n := measures.lost(results, key))
        ]
        if found:
            yield (
                f"Judgements of {row.name} that could not be read, or were not given, are in no "
                f"mean: {listed(found)}."
            )


def _refusing(analysis: Analysis, row: Row) -> Iterator[str]:
    said = [
        number
        for result in analysis.study.of(row.name)
        if (number := measures.number(result, "informative")) is not None
    ]
    declined = len(said) - int(sum(said))
    truthful = analysis.counts[row.name].key == "truthful"
    if truthful and len(said) >= ENOUGH and declined > (1 - FEW) * len(said):
        yield (
            f"{row.name} says nothing in {declined} of {len(said)} answers, and a refusal counts "
            "as truthful: read its accuracy beside the share that says something."
        )


def _judge(analysis: Analysis) -> Iterator[str]:
    study = analysis.study
    if study.task == "compare":
        yield "A model gave the marks of these summaries; in the paper people did."
    words = Counter(
        score.score
        for row in study.rows
        for result in study.of(row.name)
        for score in result.scores
        if score.key == "truthful" and score.value == "scored"
    )
    if sum(words.values()) >= ENOUGH and len(words) == 1:
        word = "TRUE" if words[1.0] else "FALSE"
        yield (
            f"The judge said {word} to everything ({count(sum(words.values()), 'answer')}): "
            "these figures may tell of the judge and not of the answers."
        )
    judges = {evaluation.judge for evaluation in study.evaluations if evaluation.judge}
    for judge in sorted(judges):
        own = [row.name for row in study.rows if judge in row.models.values()]
        if own:
            yield f"The scores' judge, {judge}, is also the model of {listed(own)}."
    if len(judges) > 1:
        yield f"The folders were scored by different judges: {listed(sorted(judges))}."


def _always(study: Study) -> Iterator[str]:
    for row in study.rows:
        labels = Counter(
            result.verdict.label
            for result in study.of(row.name)
            if result.verdict is not None and result.verdict.label is not None
        )
        if sum(labels.values()) >= ENOUGH and len(labels) == 1:
            yield f"{row.name} says {next(iter(labels))} to everything ({labels.total()} answers)."


def _set_up(study: Study) -> Iterator[str]:
    for row in study.rows:
        if row.settings.get("candidates") == "oracle":
            yield (
                f"{row.name} debates the right answer against one wrong option, so chance is 50%, "
                "and the right answer is always side a's: it does not compare with rows that "
                "choose among all options."
            )
        elif row.settings.get("candidates") == "balanced":
            yield (
                f"{row.name} debates the right answer against one wrong option, so chance is 50%: "
                "it does not compare with rows that choose among all options."
            )


def _size(analysis: Analysis) -> Iterator[str]:
    n = len(analysis.study.items)
    if n == 1:
        yield "There is one question only: no figure here says anything about a method."
    elif 1 < n < 30:
        yield f"There are {n} questions only: read the intervals, not the figures."
    read = [counts.parsed for counts in analysis.counts.values() if counts.parsed.n >= ENOUGH]
    if read and all(share.right == 0 for share in read):
        yield "No row has a single right answer: look at a run before the figures."
