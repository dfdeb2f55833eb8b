"""One row of a report: a frame with a line for each question, and the row's measures.

The frame has the columns of ``report/questions.csv`` and ``to_pandas()``. Its ``PRIVATE`` columns
are used only to compute figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pandas import DataFrame
from scipy.stats import binomtest

from dialectree.evals.confidence_measures import risk_coverage
from dialectree.evals.dataset_items import Item
from dialectree.evals.intervals import RESAMPLES, Figure, Proportion, bootstrap_interval, share_of
from dialectree.evals.results import Grounding, Result, Row, measure, outcome, score_of
from dialectree.evals.scorers import parse_claim_label
from dialectree.evals.standing import CallTotals
from dialectree.evals.tasks import is_baseline
from dialectree.records import Usage
from dialectree.text import format_list

RUBRIC = ("breadth", "contextualisation", "factuality")
"""The marks of a summary, 0 to 100."""
MARKS = (*RUBRIC, "overall")
PRIVATE = ("item", "group", "truth", "chain", "judging_calls", "judging_tokens", "judging_cost")
ASKED = ("right", "wrong", "unanswered")
"""The outcomes of questions that count as right or as not right."""


def number(result: Result, key: str) -> float | None:
    """Return a score as a number; None without a score, or if the run failed."""
    score = score_of(result, key)
    return None if score is None or result.status == "failed" else score.score


def tokens(usage: Usage) -> int:
    """Return the sum of prompt and completion tokens."""
    return usage.prompt_tokens + usage.completion_tokens


def resamples(n: int) -> int:
    """Return the number of bootstrap resamples: many questions need fewer."""
    return int(min(RESAMPLES, max(200, 1_000_000 // max(n, 1))))


def mean_of(marks: Sequence[float], groups: Sequence[Hashable]) -> Figure:
    """Return the mean of marks, with an interval from a bootstrap over the questions."""
    values = np.asarray(marks, dtype=np.float64)
    return bootstrap_interval(np.mean, [values], resamples=resamples(len(values)), clusters=groups)


def format_question(item: Item | None) -> str:
    """Return the question of an item as one text."""
    if item is None:
        return ""
    inputs = item.inputs
    if inputs.topic is not None:
        return f"{inputs.topic}: {' / '.join(paper.title for paper in inputs.papers)}"
    return inputs.claim or inputs.question or ""


def options(item: Item) -> list[str]:
    """Return the options, with their letters."""
    return [f"{chr(65 + n)} {option}" for n, option in enumerate(item.inputs.options)]


def gold(item: Item | None) -> str:
    """Return the right answer in a few words; empty if the data set has none."""
    if item is None:
        return ""
    reference = item.reference
    if reference.gold is not None:
        return options(item)[ord(reference.gold) - 65]
    if reference.label is not None:
        return "true" if reference.label else "false"
    return reference.best or next(iter(reference.true), "")


def answer(result: Result) -> str:
    """Return the answer of a result as one text."""
    if result.status == "failed":
        return result.fault or "failed"
    verdict = result.verdict
    parts = [part for part in (verdict.label, verdict.answer) if part] if verdict else []
    return " ".join(dict.fromkeys(parts)) or "no answer"


class ConfidenceRanking(NamedTuple):
    """A row's answers that have a confidence, the surest first."""

    answers: DataFrame
    curve: DataFrame
    area: float | None
    question_count: int
    """The whole that coverage is a share of: the answers with a confidence, and the withheld ones."""

    def at(self, coverage: float) -> Proportion | None:
        """Return the share of right answers at the lowest coverage of at least ``coverage``, or None."""
        reached = [float(level) for level in self.curve.coverage if level >= coverage - 1e-9]
        if not reached:
            return None
        covered = self.answers[: round(reached[0] * self.question_count)]
        return share_of([*covered.true], [*covered.group])


FIRST = ("A", "True", "yes")
"""The labels of the first option, of a claim that is called true, and of the option ``yes``."""
FIRST_OPTION = "the first option"
CHOICES = {"True": "True", "False": "True", "yes": "yes", "no": "yes"}
"""What is counted for each right label: how often it is called true, or answered by yes."""


class FirstChoices(NamedTuple):
    """How often a row chose the first option, called a claim true, or answered yes."""

    option_name: str
    """``the first option``, ``True`` or ``yes``."""
    chosen: int
    right: int
    """The number of questions whose right answer is the first option, or True."""
    n: int
    """The number of questions with a label and a known right answer."""
    expected: float
    """The number that the right labels give, at the row's accuracy and with errors spread over all
    options."""

    @property
    def p(self) -> float:
        """The probability of a number as far from ``expected``: the exact binomial test, two-sided."""
        return float(binomtest(self.chosen, self.n, min(1.0, self.expected / self.n)).pvalue)


def count_first_choices(choices: Sequence[tuple[str, str, int]], option_name: str) -> FirstChoices | None:
    """Count how often the first option was chosen; return None without choices.

    Args:
        choices: For each question the chosen label, the right label and the number of options.
            ``A`` and ``True`` label the first option.
        option_name: The name of the first option.
    """
    if not choices:
        return None
    accuracy = sum(chosen == gold for chosen, gold, _ in choices) / len(choices)
    chances = [
        accuracy if gold in FIRST else (1 - accuracy) / max(1, options - 1) for _, gold, options in choices
    ]
    return FirstChoices(
        option_name,
        sum(chosen in FIRST for chosen, _, _ in choices),
        sum(gold in FIRST for _, gold, _ in choices),
        len(choices),
        sum(chances),
    )


@dataclass
class Answers:
    """A row of the report, with its results in the order of the questions."""

    row: Row
    """The row, without the addresses of its models."""
    of_claims: bool
    texts: Mapping[str, Item]
    """The questions, as far as they are known."""
    as_asked: list[Row] = field(default_factory=list[Row])
    """The row as each folder keeps it, with the addresses of its models."""
    results: dict[str, Result] = field(default_factory=dict[str, Result])
    homes: dict[str, Path] = field(default_factory=dict[str, Path])
    """The evaluation folder of each result."""
    title: str = ""
    """The name as papers have it; empty if it would not be unique in the report."""

    @property
    def name(self) -> str:
        """The name of the row in the report."""
        return self.title or self.id

    @property
    def id(self) -> str:
        """The name of the row in the evaluation, which also is its key in :class:`Study`."""
        return self.row.name

    @property
    def baseline(self) -> bool:
        """True if debates are measured against the row's method."""
        return is_baseline(self.row.method)

    @property
    def handed(self) -> str | None:
        """``oracle`` or ``balanced`` if the debates were handed the right answer and a wrong one."""
        candidates = self.row.settings.get("candidates")
        return str(candidates) if candidates in ("oracle", "balanced") else None

    def run(self, item: str) -> Path | None:
        """Return the folder of a result's run, or None."""
        name = self.results[item].run
        if not name or name in (".", "..") or any(sign in name for sign in "/\\\0"):
            return None
        return self.homes[item] / "runs" / name

    # The frame

    @cached_property
    def key(self) -> str | None:
        """The scorer that judged the row's answers right or wrong."""
        return measure(self.results.values())

    @cached_property
    def frame(self) -> DataFrame:
        """One line for each question, indexed by the id of its item."""
        lines = [self._line(result) for result in self.results.values()]
        columns = None if lines else ["outcome", "item", "group", "status", *MARKS]
        return DataFrame(lines, columns=columns, index=[*self.results], dtype=object)

    def _line(self, result: Result) -> dict[str, Any]:
        text, verdict, used = self.texts.get(result.item), result.verdict, result.usage
        end, vote, sides = self.ends[result.item], result.vote, result.sides
        line: dict[str, Any] = {
            "question": result.question,
            "repeat": result.repeat,
            "category": result.category,
            "text": format_question(text),
            "right_answer": gold(text),
            "row": self.id,
            "outcome": end,
            "right": {"right": True, "wrong": False, "unanswered": False}.get(end),
            "status": result.status,
            "label": verdict and verdict.label,
            "answer": verdict and verdict.answer,
            "confidence": verdict and verdict.confidence,
            "confidence_source": verdict and verdict.confidence_source,
            "agreement": verdict and verdict.agreement,
            "rulings": ", ".join(f"{n}: {ruling or '–'}" for n, ruling in result.rulings.items()) or None,
        }
        for score in result.scores:
            line |= {score.key: score.score, f"{score.key}_outcome": score.value}
        return line | {
            "calls": used.calls,
            "tokens": tokens(used),
            "cost": used.cost,
            "seconds": result.seconds,
            "vote": vote and vote.label,
            "vote_right": vote and vote.right,
            "gold_side": sides and sides.gold_side,
            "gold_position": sides and sides.gold_position,
            "flipped": sides and sides.flipped,
            **self._evidence(result.grounding),
            "run": result.run,
            "item": result.item,
            "group": result.group,
            "truth": self._truth(result),
            "chain": used.critical_path_calls,
            "judging_calls": result.judging.calls,
            "judging_tokens": tokens(result.judging),
            "judging_cost": result.judging.cost,
        }

    def _evidence(self, grounding: Grounding | None) -> dict[str, Any]:
        """Return the columns on sources; empty for a data set without sources."""
        if not self._sourced:
            return {}
        with_point, texts = self.count_texts_with_point(grounding) if grounding else (None, None)
        names = (name for name in Grounding.model_fields if name not in ("texts", "without"))
        return {
            "texts": texts,
            "with_a_point": with_point,
            **{name: grounding and getattr(grounding, name) for name in names},
            "no_evidence": grounding and grounding.without,
        }

    def _truth(self, result: Result) -> bool | None:
        """Return whether a claim is true: by the data set, or else by the row's label and its score."""
        if result.item in self.texts:
            return self.texts[result.item].reference.label
        label, score = parse_claim_label(result.verdict), number(result, "claim_label")
        return None if label is None or score is None else label == bool(score)

    @cached_property
    def rulings(self) -> dict[str, dict[str, str | None]]:
        """The rulings of a jury, by question and then by the judge's number."""
        return {item: result.rulings for item, result in self.results.items() if result.rulings}

    @cached_property
    def golds(self) -> dict[str, str]:
        """The known right labels of the questions that a jury ruled on."""
        questions = [self.texts[item] for item in self.rulings if item in self.texts]
        return {
            question.id: question.reference.gold
            for question in questions
            if question.reference.gold is not None
        }

    @cached_property
    def _choices(self) -> dict[str, tuple[str, str, int]]:
        """The chosen label, the right label and the number of options, by question.

        Empty if the debaters were handed two candidates, because these have their own letters.
        """
        choices: dict[str, tuple[str, str, int]] = {}
        for item, result in self.results.items():
            text, label = self.texts.get(item), result.verdict and result.verdict.label
            if self.handed or text is None or not label:
                continue
            called_true = parse_claim_label(result.verdict)
            if text.reference.label is not None and called_true is not None:
                choices[item] = str(called_true), str(text.reference.label), 2
            elif text.reference.gold is not None and (n := len(text.inputs.options)) > 1:
                words = [option.strip().lower() for option in text.inputs.options]
                names = words if {*words} == {"yes", "no"} else [chr(65 + place) for place in range(n)]
                by_letter = dict(zip(map(chr, range(65, 65 + n)), names, strict=True))
                choices[item] = by_letter.get(label, label), by_letter[text.reference.gold], n
        return choices

    def chose_first(self, option_name: str) -> dict[str, bool]:
        """Return whether the row chose ``option_name``, for each question that has it."""
        return {
            item: chosen in FIRST
            for item, (chosen, gold, _) in self._choices.items()
            if CHOICES.get(gold, FIRST_OPTION) == option_name
        }

    @cached_property
    def first_choices(self) -> list[FirstChoices]:
        """The counts of first choices: of the first option, of True and of yes, where there are any."""
        choices: dict[str, list[tuple[str, str, int]]] = {}
        for choice in self._choices.values():
            choices.setdefault(CHOICES.get(choice[1], FIRST_OPTION), []).append(choice)
        counts = (count_first_choices(part, name) for name, part in choices.items())
        return [first_choices for first_choices in counts if first_choices is not None]

    @cached_property
    def grounded(self) -> dict[str, Grounding]:
        """Return how each question with sources used them."""
        results = self.results.items()
        return {item: result.grounding for item, result in results if result.grounding is not None}

    @cached_property
    def _sourced(self) -> bool:
        """True if any question has sources."""
        return any(item.inputs.sources for item in self.texts.values())

    @cached_property
    def _pointing(self) -> set[str]:
        """The roles and phases in which speakers point at sentences."""
        counts_by_place = (
            places for grounding in self.grounded.values() for places in grounding.texts.items()
        )
        return {place for place, (with_point, _) in counts_by_place if with_point}

    def count_texts_with_point(self, grounding: Grounding) -> tuple[int, int]:
        """Return how many texts point at a sentence of a source, and how many could do so."""
        text_counts = [counts for place, counts in grounding.texts.items() if place in self._pointing]
        return sum(some for some, _ in text_counts), sum(total for _, total in text_counts)

    # Right and wrong

    @cached_property
    def ends(self) -> dict[str, str]:
        """The outcome of each question."""
        return {item: outcome(result, self.key) for item, result in self.results.items()}

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of questions by outcome."""
        return Counter(self.ends.values())

    def list_questions_with_outcome(self, *outcomes: str) -> list[str]:
        """Return the questions with one of these outcomes."""
        return [item for item, end in self.ends.items() if end in outcomes]

    @cached_property
    def _finished(self) -> Any:
        """The questions whose run did not fail."""
        return self.frame[self.frame.status != "failed"]

    def right(self, *among: str) -> dict[str, bool]:
        """Return whether the answer is right, for each question with an outcome in ``among``.

        A withheld answer (``unanswered``) is not right.
        """
        return {item: end == "right" for item, end in self.ends.items() if end in among}

    @property
    def withheld(self) -> set[str]:
        """The questions whose answer was withheld."""
        return {*self.list_questions_with_outcome("unanswered")}

    @property
    def unread(self) -> set[str]:
        """The questions whose answer has an unreadable judgement, or no judgement."""
        results = self.results.items()
        scores = {item: score_of(r, self.key) for item, r in results if r.status != "failed"}
        return {item for item, score in scores.items() if score and score.score is None}

    @property
    def n(self) -> int:
        """The number of questions that accuracy counts: right, wrong and withheld answers."""
        return sum(self.counts[outcome] for outcome in ASKED)

    @cached_property
    def accuracy(self) -> Proportion:
        """The share of right answers of all questions asked; a withheld answer is not right.

        The papers count in this way. Failed runs and unreadable judgements are in no share.
        """
        return self.share(self.right(*ASKED))

    @property
    def accuracy_of_answered(self) -> Proportion:
        """The share of right answers of the answers that were not withheld."""
        return self.share(self.right("right", "wrong"))

    @property
    def answered(self) -> Proportion:
        """The share of questions whose answer was not withheld."""
        outcomes = {item: end for item, end in self.ends.items() if end in (*ASKED, "unparsed")}
        return self.share({item: end != "unanswered" for item, end in outcomes.items()})

    @property
    def bounds(self) -> tuple[float, float]:
        """The accuracy if all failed runs were wrong, and if all were right."""
        right, failed = self.counts["right"], self.counts["failed"]
        n = max(self.n + failed, 1)
        return right / n, (right + failed) / n

    def share(self, right: Mapping[str, bool]) -> Proportion:
        """Return the share of True in ``right``; its interval allows for clusters."""
        return share_of([*right.values()], [self.results[item].group for item in right])

    # Marks of summaries

    def marks(self, key: str) -> dict[str, float]:
        """Return the marks of summaries; ``overall`` is the mean of all three marks."""
        if key != "overall":
            has_marks = key in self._finished
            return {**self._finished[key].dropna().to_dict()} if has_marks else {}
        part_marks = [self.marks(part) for part in RUBRIC]
        complete_ids = [item for item in part_marks[0] if all(item in marks for marks in part_marks)]
        return {item: sum(marks[item] for marks in part_marks) / len(part_marks) for item in complete_ids}

    def mark(self, key: str) -> Figure:
        """Return the mean of the marks with its interval."""
        marks = self.marks(key)
        return mean_of([*marks.values()], [self.results[item].group for item in marks])

    # Confidence

    @cached_property
    def _confident(self) -> tuple[Any, int]:
        """The answers with a usable confidence, and the number of answers without one."""
        ended = self._finished
        if not self.of_claims:
            ended = ended[ended.outcome != "unanswered"]
        if ended.empty:
            return DataFrame(columns=["confidence", "true", "group", "item"]), 0
        mask = ended.confidence_source == "P(claim)" if self.of_claims else ended.answer.notna()
        sure = ended[ended.confidence.notna() & mask]
        sure = sure.assign(true=sure.truth if self.of_claims else sure.right)
        return sure, len(ended) - len(sure)

    @property
    def calibrated(self) -> DataFrame:
        """The answers with a ``confidence`` and a known outcome, which is in the column ``true``.

        For a claim, P(claim) is compared with the claim's truth. Any other confidence is compared with
        whether the answer is right.
        """
        sure, _ = self._confident
        return sure[sure.true.notna()]

    @property
    def without_confidence(self) -> int:
        """The number of answers without a confidence."""
        return self._confident[1]

    @property
    def unmeasured(self) -> int:
        """The number of answers with a confidence but without a known outcome."""
        return int(self._confident[0].true.isna().sum())

    @cached_property
    def surest(self) -> ConfidenceRanking:
        """The answers with the surest first, and their accuracy at each coverage, without withheld ones.

        For a claim, the confidence is that of its label, which is true if P(claim) is above one half.
        """
        answers: Any = self.calibrated
        answers = answers[~answers["item"].isin(self.withheld)]
        if self.of_claims:
            says = answers.confidence > 0.5
            sure = [max(confidence, 1 - confidence) for confidence in answers.confidence]
            answers = answers.assign(confidence=sure, true=says == answers.true)
        answers = answers.assign(confidence=answers.confidence.astype(float), true=answers.true.astype(bool))
        answers = answers.sort_values("confidence", ascending=False, kind="stable")
        count = len(answers) + len(self.withheld)
        curve, area = risk_coverage([*answers.confidence], [*answers.true], count)
        return ConfidenceRanking(answers, curve, area, count)

    # What it took

    def mean(self, column: str) -> float | None:
        """Return the mean of a column over runs that did not fail; None if any value is unknown."""
        ended = self._finished
        if column == "judging_cost" and len(ended):
            ended = ended[ended.judging_calls > 0]
        if ended.empty or ended[column].isna().any():
            return None
        return float(np.mean(ended[column].astype(float)))

    @property
    def ended_well(self) -> int:
        """The number of questions whose run did not fail."""
        return len(self.results) - self.counts["failed"]


def totals(rows: Iterable[Answers]) -> tuple[CallTotals, CallTotals]:
    """Return the total spending of rows, votes and judging included, and the spending on judging."""
    results = {row.name: [*row.results.values()] for row in rows}
    all_results = [result for row_results in results.values() for result in row_results]
    debates = [result.usage for result in all_results]
    debates += [vote.usage for result in all_results if (vote := result.vote) and not vote.inside]
    judges = [used for r in all_results for used in (r.judging, r.controlling)]

    def total(usages: Iterable[Usage]) -> CallTotals:
        used = [usage for usage in usages if usage.calls or tokens(usage)]
        costs = [usage.cost for usage in used if usage.cost is not None]
        money = sum(costs) if len(costs) == len(used) else None
        return CallTotals(sum(usage.calls for usage in used), sum(map(tokens, used)), money)

    return total([*debates, *judges]), total(judges)


def per_row(heading: str, rows: Iterable[Answers], number: Callable[[Answers], int]) -> list[str]:
    """Return ``heading: rsd 2 of 10 and tsd 1 of 10.``, or nothing if every number is 0."""
    texts = [f"{row.name} {n} of {len(row.results)}" for row in rows if (n := number(row))]
    return [f"{heading}: {format_list(texts)}."] if texts else []
