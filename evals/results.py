"""Define the files of an evaluation: its plan, and its results, one for every question and row.

An evaluation's folder holds ``evaluation.json``, ``results.jsonl``, ``runs/`` with a folder for
every debate, and the report.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from dialectree.evals.dataset_items import Task
from dialectree.records import Usage, Verdict

SCHEMA: Final = "dialectree.evaluation/1"
PAGE = "report.html"
"""The name of the page in the folder of a run or an evaluation."""
JUDGING = ("judging", "controls")
"""Subfolders of a run's folder with the journals of the scoring judge's calls."""

Status = Literal["answered", "degraded", "unresolved", "failed"]
"""The end of a question.

``answered``: an answer, and every part spoke. ``degraded``: an answer, although a part failed for
good. ``unresolved``: the debate withheld its answer, and no part failed. ``failed``: a part failed
for good and there is no answer, or no run finished. A failed question has no scores: it is neither
right nor wrong.
"""


def strip_address(spec: str) -> str:
    """Return a model's spec without its address: an evaluation can go on at another address."""
    return spec.partition("@http")[0]


class ResultModel(BaseModel):
    """Base of this module's models: it forbids unknown fields."""

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings")


class Row(ResultModel):
    """One row of the matrix: a method with its settings and models."""

    name: str
    """Unique in the evaluation: the method's name, and the values that distinguish this row."""
    method: str
    settings: dict[str, JsonValue] = {}
    """Settings that were set; the record of a run has all settings."""
    models: dict[str, str] = {}
    """Model spec by role."""


class DataUsed(ResultModel):
    """The data set as it was used."""

    name: str
    path: str | None = None
    """The file that ``--data`` named."""
    sha256: str
    items_sha256: str | None = None
    """Digest of the items as read; older folders do not have it."""
    count: int
    """Items in the whole file."""


class EvaluationFile(ResultModel):
    """evaluation.json: the rows and items of an evaluation, and its options."""

    schema_: Literal["dialectree.evaluation/1"] = Field(default=SCHEMA, alias="schema")
    title: str = ""
    """The title of the matrix."""
    missing: list[str] = []
    """Parts of a paper's table that the matrix lists as missing."""
    data: DataUsed
    task: Task
    items: list[str]
    """Ids of the chosen items, in their order."""
    limit: int | None = None
    sample: int | None = None
    """The number of items that the seed drew; None without a draw."""
    shard: str | None = None
    """``i/n``, or several separated by commas; None without shards."""
    cluster: str | None = None
    """The column whose equal values mark questions that belong together."""
    repeats: int = 1
    """The number of times that each question is asked."""
    seed: int = 0
    rows: list[Row]
    scorers: list[str] = []
    judge: str | None = None
    """Spec of the model that scores; None without one."""
    vote_first: int = 0
    """Direct answers asked for before each debate, as extra calls."""
    demonstration: bool = False
    """True when a local model took part whose answers are no better than chance."""
    started: str
    ended: str | None = None
    versions: dict[str, str] = {}

    model_config = ConfigDict(
        extra="forbid", populate_by_name=True, serialize_by_alias=True, ser_json_inf_nan="strings"
    )


ScoreOutcome = Literal[
    "scored",
    "unanswered",  # the method gave no answer; this counts as not right
    "unparsed",  # the judge's reply could not be read: no score at all
    "absent",  # the number to score is missing, such as P(claim) where a method gives only a label
    "failed",  # the judge gave no reply, even on the last try
]


class AnswerScore(ResultModel):
    """The score of an answer by one scorer or one person."""

    key: str
    score: float | None
    """None for a missing score; never a placeholder."""
    value: ScoreOutcome
    comment: str = ""


class Vote(ResultModel):
    """A vote of direct answers before a debate; the most frequent answer wins."""

    answers: list[str | None]
    """One per sample: a label for options or a claim, else the text of the answer."""
    label: str | None = None
    pair: bool = False
    """True if the vote chose between the debate's two options, not among all options."""
    right: bool | None = None
    """None without an answer, a reference or a judgement."""
    usage: Usage = Usage()
    """Counted apart from the debate's calls, unless ``inside``."""
    inside: bool = False
    """True if the debate itself began with the vote: the debate's usage then includes the vote's."""

    @property
    def given(self) -> bool:
        """True if there is any answer."""
        return any(answer is not None for answer in self.answers)

    @property
    def confidence(self) -> float | None:
        """The share of answers equal to the label; None without a label or a second answer."""
        if self.label is None or len(self.answers) < 2:
            return None
        return self.answers.count(self.label) / len(self.answers)


class Sides(ResultModel):
    """The position of the right answer in a debate of two sides."""

    gold_side: Literal["a", "b"] | None = None
    """The debater that argued for the right answer; None if neither did."""
    gold_position: Literal["first", "second"] | None = None
    """The place of the right answer in the order that the judge read."""
    flipped: bool | None = None
    """True if the judge ruled otherwise when it read the sides in the other order; None if asked once."""


class Grounding(ResultModel):
    """Counts of how a debate used its sources."""

    texts: dict[str, tuple[int, int]] = {}
    """By role and phase: the number of texts that point to evidence, and of all texts."""
    marked: int = 0
    """Points that the checker marked."""
    borne_out: int = 0
    contradicted: int = 0
    invented: int = 0
    """Quotations that no source contains."""
    misattributed: int = 0
    """Quotations from a source that the speaker did not read."""
    gold: int = 0
    """Sentences that the data set names as evidence."""
    retrieved: int = 0
    """Gold sentences that were retrieved."""
    cited: int = 0
    """Gold sentences that a speaker or the verdict cites."""
    without: bool = False
    """True if the verdict was withheld for lack of evidence."""


class ControlScore(ResultModel):
    """A judge's score of an answer whose right score is known."""

    key: str
    """The scorer."""
    truthful: bool
    """True if the answer is right."""
    score: float | None
    """None if the ruling cannot be read."""
    value: ScoreOutcome
    held_back: bool | None = False
    """True if the answer was removed from the references that the judge read. None for a score that
    needs no references."""

    @property
    def passed(self) -> bool | None:
        """True if the judge was right; None without a ruling."""
        return None if self.score is None else (self.score >= 0.5) == self.truthful


class Result(ResultModel):
    """One line of results.jsonl: one question by one method."""

    row: str
    """Name of the row of the matrix."""
    item: str
    """Id of the item; the first repeat of ``q1`` is ``q1``, the second one ``q1#1``."""
    repeat: int = 0
    """The repeat's number, from 0."""
    cluster: str | None = None
    """The value of the column that ``--cluster`` names."""
    category: str | None = None
    run: str | None = None
    """Id of the run, in ``runs/``."""
    status: Status
    fault: str | None = None
    """The reason of a failure, in one line."""
    lost: int = 0
    """Calls of debate, vote and judge that got no reply, even on the last try."""
    verdict: Verdict | None = None
    scores: list[AnswerScore] = []
    usage: Usage = Usage()
    judging: Usage = Usage()
    """Calls of the judge that scores."""
    controls: list[ControlScore] = []
    """The judge's scores of answers known to be right or wrong; on a few questions only."""
    controlling: Usage = Usage()
    """Calls of the judge for ``controls``."""
    cached: Usage = Usage()
    """Calls of debate, vote and judge that the reply cache answered."""
    cached_judging: Usage = Usage()
    """Cached calls of the judge, its controls included."""
    vote: Vote | None = None
    sides: Sides | None = None
    grounding: Grounding | None = None
    """None without sources."""
    rulings: dict[str, str | None] = {}
    """The label that each judge of a jury named, by the judge's number; None for no ruling."""
    seconds: float = 0.0
    """Wall time of the question."""
    ended: str

    @property
    def incomplete(self) -> bool:
        """True if ``--retry-failed`` asks the question again: it failed, or lost a call."""
        return self.status == "failed" or self.lost > 0

    @property
    def question(self) -> str:
        """The id of the question, the same for all its repeats."""
        return self.item.removesuffix(f"#{self.repeat}") if self.repeat else self.item

    @property
    def group(self) -> str:
        """The cluster, else the question; results of one group are not independent."""
        return self.question if self.cluster is None else self.cluster


Outcome = Literal["right", "wrong", "unanswered", "unparsed", "failed", "unscored"]
RIGHT_OR_WRONG = ("truthful", "choice", "claim_label")
"""Scorers that say right or wrong. The first of these that a row has decides what counts as right."""


def score_of(result: Result, key: str | None) -> AnswerScore | None:
    """Return the score that one scorer gave a result, or None."""
    return next((score for score in result.scores if score.key == key), None)


def outcome(result: Result, key: str | None) -> Outcome:
    """Return the outcome of a question; every result has exactly one."""
    if result.status == "failed":
        return "failed"
    score = score_of(result, key)
    if score is None:
        return "unscored"
    if score.value == "unanswered" or score.value == "unparsed":
        return score.value
    return "unscored" if score.score is None else "right" if score.score == 1 else "wrong"


def measure(results: Iterable[Result]) -> str | None:
    """Return the scorer by which the answers of a row are right or wrong, or None."""
    keys = {score.key for result in results for score in result.scores}
    return next((key for key in RIGHT_OR_WRONG if key in keys), None)
