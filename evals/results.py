"""Defines what an evaluation keeps: what was run, and a line for every question and method.

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
"""The page in a run's folder."""
JUDGING = ("judging", "controls")
"""Folders in a run's own: the journals of the calls of the judge that scores."""

Status = Literal["answered", "degraded", "unresolved", "failed"]
"""How a question ended.

``answered``: with an answer, and every part spoke. ``degraded``: with an answer, although a part
failed for good. ``unresolved``: the debate withheld its answer, and no part failed. ``failed``: a
part failed for good and there is no answer, or no run came to its end. A failed question is neither
right nor wrong: it has no scores.
"""


def strip_address(spec: str) -> str:
    """Return a model without its address: an evaluation can go on at another one."""
    return spec.partition("@http")[0]


class ResultModel(BaseModel):
    """Has the fields that it names and no other."""

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings")


class Row(ResultModel):
    """One row of the matrix: a method with its settings and models."""

    name: str
    """Unique in the evaluation: the method's name, and what sets this row apart from others."""
    method: str
    settings: dict[str, JsonValue] = {}
    """Those that were set; a record of a run has them all."""
    models: dict[str, str] = {}
    """Spec by role."""


class DataUsed(ResultModel):
    """The data set as it was used."""

    name: str
    path: str | None = None
    """The file that ``--data`` named."""
    sha256: str
    items_sha256: str | None = None
    """Of the items as they were read; older folders do not have it."""
    count: int
    """Items in the whole file."""


class EvaluationFile(ResultModel):
    """evaluation.json: what was run over what."""

    schema_: Literal["dialectree.evaluation/1"] = Field(default=SCHEMA, alias="schema")
    title: str = ""
    """The matrix's own."""
    missing: list[str] = []
    """What the matrix says that it lacks of a paper's table."""
    data: DataUsed
    task: Task
    items: list[str]
    """Ids of the items that were taken, in their order."""
    limit: int | None = None
    sample: int | None = None
    """The number of items that the seed drew; None where none were drawn."""
    shard: str | None = None
    """``i/n``, or several with commas between; None where what is there is no shard."""
    cluster: str | None = None
    """The column whose value says which questions belong together."""
    repeats: int = 1
    """The number of times that each question is asked."""
    seed: int = 0
    rows: list[Row]
    scorers: list[str] = []
    judge: str | None = None
    """Spec of the model that scores, where one does."""
    vote_first: int = 0
    """Direct answers that were asked for before each debate, as extra calls."""
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
    "unanswered",  # the method gave no answer, which is not right
    "unparsed",  # the judge's reply could not be read: no score at all
    "absent",  # the number that is scored was never given, such as P(claim) by a bare label
    "failed",  # the judge gave no reply, to the last try
]


class AnswerScore(ResultModel):
    """What one scorer, or a person, made of an answer."""

    key: str
    score: float | None
    """None where the outcome is no score; never a stand-in."""
    value: ScoreOutcome
    comment: str = ""


class Vote(ResultModel):
    """The plurality of the answers before a debate."""

    answers: list[str | None]
    """One a sample: a label where there are options or a claim, else the answer."""
    label: str | None = None
    pair: bool = False
    """True where the vote chose between the two options of the debate, not among all."""
    right: bool | None = None
    """None without an answer, without a reference, and without a judgement."""
    usage: Usage = Usage()
    """Counted apart from the debate's own calls, but where it is ``inside``."""
    inside: bool = False
    """True where the debate itself began with the vote: the debate's usage has that of the vote."""

    @property
    def given(self) -> bool:
        """Whether there is any answer."""
        return any(answer is not None for answer in self.answers)

    @property
    def confidence(self) -> float | None:
        """The share of the answers that are the label; None without a label or a second answer."""
        if self.label is None or len(self.answers) < 2:
            return None
        return self.answers.count(self.label) / len(self.answers)


class Sides(ResultModel):
    """Where the right answer stood in a debate of two sides."""

    gold_side: Literal["a", "b"] | None = None
    """The debater that held it; None where neither did."""
    gold_position: Literal["first", "second"] | None = None
    """Where the judge was shown it first."""
    flipped: bool | None = None
    """Whether the judge ruled otherwise in the other order; None where it was asked once."""


class Grounding(ResultModel):
    """What a debate made of the sources that it argued from."""

    texts: dict[str, tuple[int, int]] = {}
    """By role and phase, the texts with a point, and all."""
    marked: int = 0
    """Points that the checker marked."""
    borne_out: int = 0
    contradicted: int = 0
    invented: int = 0
    """Quotations that stand in no source."""
    misattributed: int = 0
    """Quotations out of a source that their speaker did not read."""
    gold: int = 0
    """Sentences that the data set names as evidence."""
    retrieved: int = 0
    """Those among them that were retrieved."""
    cited: int = 0
    """Those that a speaker or the verdict points at."""
    without: bool = False
    """Whether the verdict was withheld because it rests on no evidence."""


class ControlScore(ResultModel):
    """A judge's score of an answer for which the right score is known."""

    key: str
    """The scorer."""
    truthful: bool
    """Whether the answer was a right one."""
    score: float | None
    """None where the ruling cannot be read."""
    value: ScoreOutcome
    held_back: bool | None = False
    """Whether the judge read other references only; else the answer was one of them. None for a
    score that needs no references."""

    @property
    def passed(self) -> bool | None:
        """Whether the judge was right; None without a ruling."""
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
    """Why it failed, in one line."""
    lost: int = 0
    """Calls that got no reply to the last try: of the debate, of the vote and of the judge."""
    verdict: Verdict | None = None
    scores: list[AnswerScore] = []
    usage: Usage = Usage()
    judging: Usage = Usage()
    """Calls of the judge that scores."""
    controls: list[ControlScore] = []
    """The judge's scores of answers that are known to be right or wrong; of a few questions."""
    controlling: Usage = Usage()
    """Calls of the judge for these."""
    cached: Usage = Usage()
    """Calls of all these, the vote's included, that the reply cache answered."""
    cached_judging: Usage = Usage()
    """Those of the judge among them, its controls included."""
    vote: Vote | None = None
    sides: Sides | None = None
    grounding: Grounding | None = None
    """None without sources."""
    rulings: dict[str, str | None] = {}
    """The label that each judge of a jury named, by its number; None for no ruling."""
    seconds: float = 0.0
    """Wall time of the question."""
    ended: str

    @property
    def incomplete(self) -> bool:
        """Whether ``--retry-failed`` asks it again: it failed, or a call of it got no reply."""
        return self.status == "failed" or self.lost > 0

    @property
    def question(self) -> str:
        """The id of the question, the same for all its repeats."""
        return self.item.removesuffix(f"#{self.repeat}") if self.repeat else self.item

    @property
    def group(self) -> str:
        """The questions of one group are not independent: its cluster, else its own repeats."""
        return self.question if self.cluster is None else self.cluster


Outcome = Literal["right", "wrong", "unanswered", "unparsed", "failed", "unscored"]
RIGHT_OR_WRONG = ("truthful", "choice", "claim_label")
"""The scorers of right and wrong; a row is measured by the first that it has."""


def score_of(result: Result, key: str | None) -> AnswerScore | None:
    """Return what one scorer made of a result."""
    return next((score for score in result.scores if score.key == key), None)


def outcome(result: Result, key: str | None) -> Outcome:
    """Return how a question ended; every result has exactly one outcome."""
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
