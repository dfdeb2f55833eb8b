"""What an evaluation keeps: what was run, and one line for every question and method.

An evaluation's folder holds ``evaluation.json``, ``results.jsonl``, ``runs/`` with a folder for
every debate, and the report.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from dialectree.evals.items import Task
from dialectree.records import Usage, Verdict

SCHEMA: Final = "dialectree.evaluation/1"
PAGE = "report.html"
"""The page in a run's folder."""

Status = Literal["answered", "degraded", "unresolved", "failed"]
"""How a question ended: as its run did, or ``failed`` where no run came to its end."""


def bare(spec: str) -> str:
    """A model without its address: an evaluation can go on at another one."""
    return spec.partition("@http")[0]


class Kept(BaseModel):
    """What is kept has the fields that it names and no other."""

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings")


class Row(Kept):
    """One row of the matrix: a method with its settings and models."""

    name: str
    """Unique in the evaluation: the method's name, and what sets this row apart from others."""
    method: str
    settings: dict[str, JsonValue] = {}
    """Those that were given; a record of a run has them all."""
    models: dict[str, str] = {}
    """Spec by role."""


class DataUsed(Kept):
    """The data set as it was used."""

    name: str
    path: str | None = None
    """The file that ``--data`` named."""
    sha256: str
    items_sha256: str | None = None
    """Of the items as they were read; older folders do not have it."""
    count: int
    """Items in the whole file."""


class Evaluation(Kept):
    """evaluation.json: what was run over what."""

    schema_: Literal["dialectree.evaluation/1"] = Field(default=SCHEMA, alias="schema")
    title: str = ""
    """The matrix's own."""
    data: DataUsed
    task: Task
    items: list[str]
    """Ids of the items that were taken, in their order."""
    limit: int | None = None
    shard: str | None = None
    """``i/n``, or several with commas between; None where what is there is no shard."""
    seed: int = 0
    rows: list[Row]
    scorers: list[str] = []
    judge: str | None = None
    """Spec of the model that scores, where one does."""
    vote_first: int = 0
    """Direct answers that were asked for before each debate, as extra calls."""
    demonstration: bool = False
    """True when the embedded model took part."""
    started: str
    ended: str | None = None
    versions: dict[str, str] = {}

    model_config = ConfigDict(
        extra="forbid", populate_by_name=True, serialize_by_alias=True, ser_json_inf_nan="strings"
    )


class Score(Kept):
    """What one scorer said; see ``dialectree.evals.scorers.Score``."""

    key: str
    score: float | None
    value: str
    comment: str = ""


class Vote(Kept):
    """The answer of the plurality before the debate."""

    answers: list[str | None]
    """One a sample: a label where there are options, else the answer."""
    label: str | None = None
    right: bool | None = None
    """None where no answer was given, where nobody knows what is right, and without a judgement."""
    usage: Usage = Usage()
    """Counted apart from the debate's own calls."""

    @property
    def given(self) -> bool:
        """Whether any of the answers says something."""
        return any(answer is not None for answer in self.answers)


class Sides(Kept):
    """Where the right answer stood in a debate of two sides."""

    gold_side: Literal["a", "b"] | None = None
    """The debater that held it; None where neither did."""
    gold_position: Literal["first", "second"] | None = None
    """Where the judge was shown it first."""
    flipped: bool | None = None
    """Whether the judge ruled otherwise in the other order; None where it was asked once."""


class Result(Kept):
    """One line of results.jsonl: one question by one method."""

    row: str
    """Name of the row of the matrix."""
    item: str
    category: str | None = None
    run: str | None = None
    """Id of the run, in ``runs/``."""
    status: Status
    fault: str | None = None
    """Why it failed, in one line."""
    verdict: Verdict | None = None
    scores: list[Score] = []
    usage: Usage = Usage()
    judging: Usage = Usage()
    """What the scorers' judge cost."""
    cached: Usage = Usage()
    """What of all these calls, the vote's included, the reply cache answered; older folders do not
    say."""
    vote: Vote | None = None
    sides: Sides | None = None
    seconds: float = 0.0
    """Wall time of the question."""
    ended: str


class Preferred(Kept):
    """One line of preferences.jsonl: a row's summary beside another row's, by the judge."""

    row: str
    against: str
    """The row whose summary the other one was."""
    item: str
    score: Score
    """1 where ``row`` is preferred, 0 where ``against`` is, 0.5 for a tie."""
    judging: Usage = Usage()
    ended: str
