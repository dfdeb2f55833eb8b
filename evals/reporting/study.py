"""The results of an evaluation's folder, or of several on the same data set as one.

A folder is read and never changed here. A question that was answered twice by the same row, as
after a resume, counts by its last line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from dialectree.errors import InputError, fault_line
from dialectree.evals.dataset_items import Item, Task
from dialectree.evals.reporting.row_names import names, without_addresses
from dialectree.evals.results import Evaluation, Preferred, Result, Row, Score
from dialectree.evals.results_file import Folder

RIGHT_OR_WRONG = ("truthful", "choice", "claim_label")
"""The scorers of right and wrong; a row is measured by the first that it has."""
RUBRIC = ("breadth", "contextualisation", "factuality")
"""The figures of a summary, 0 to 100."""


class Rated(BaseModel):
    """One line of a ratings file: a person's marks of one answer."""

    model_config = ConfigDict(extra="forbid")

    rater: str
    row: str
    item: str
    scores: list[Score]


@dataclass
class Study:
    """Rows that were asked the same data set's questions, with all that came of it."""

    folders: list[Path]
    evaluations: list[Evaluation]
    rows: list[Row] = field(default_factory=list)
    """Their models are without addresses."""
    asked: dict[str, list[Row]] = field(default_factory=dict)
    """By row, as each folder keeps it, with the addresses of its models."""
    items: list[str] = field(default_factory=list)
    """Ids of the questions, in the order in which they were taken."""
    texts: dict[str, Item] = field(default_factory=dict)
    """The questions themselves, as far as they are known."""
    results: dict[str, dict[str, Result]] = field(default_factory=dict)
    """By row, then by question."""
    group: dict[str, str] = field(default_factory=dict)
    """By question, the cluster that it belongs to."""
    homes: dict[str, dict[str, Path]] = field(default_factory=dict)
    """The evaluation's folder of each result."""
    ratings: list[Rated] = field(default_factory=list)
    preferences: list[Preferred] = field(default_factory=list)
    strangers: int = 0
    """Results of a row or a question that evaluation.json does not name; they are left out."""

    @property
    def task(self) -> Task:
        """The task of the questions."""
        return self.evaluations[0].task

    @property
    def demonstration(self) -> bool:
        """True when a model took part whose answers are no better than chance."""
        return any(evaluation.demonstration for evaluation in self.evaluations)

    def of(self, row: str) -> list[Result]:
        """A row's results, in the order of the questions."""
        own = self.results[row]
        return [own[item] for item in self.items if item in own]

    def category(self, item: str) -> str | None:
        """The category of a question."""
        for own in self.results.values():
            if item in own and own[item].category is not None:
                return own[item].category
        return self.texts[item].category if item in self.texts else None

    def groups(self, items: Iterable[str]) -> list[str]:
        """Return the cluster of each question; repeats of one question are of its cluster."""
        return [self.group.get(item, item) for item in items]

    @property
    def questions(self) -> int:
        """The number of questions, however often each was asked."""
        texts = (self.texts.get(item) for item in self.items)
        return sum(text is None or not text.repeat for text in texts)

    @property
    def clustered(self) -> bool:
        """True where some questions are of one cluster."""
        return len(set(self.groups(self.items))) < len(self.items)

    def run(self, row: str, item: str) -> Path | None:
        """The folder of a result's run; None where there is none."""
        name = self.results[row][item].run
        if not name or name in (".", "..") or any(sign in name for sign in "/\\\0"):
            return None
        return self.homes[row][item] / "runs" / name


def study(folders: Sequence[Path]) -> Study:
    """Return what the folders hold together; InputError, in one line, where they do not fit."""
    joined = Study(list(folders), [Folder(folder).begun() for folder in folders])
    _require_same_data(joined)
    unique = names(joined.folders, joined.evaluations)
    for place, evaluation in enumerate(joined.evaluations):
        folder = joined.folders[place]
        own = {row.name: unique[place, row.name] for row in evaluation.rows}
        _add_rows(joined, evaluation, own)
        _add_results(joined, folder, own)
        joined.texts |= {item.id: item for item in Folder(folder).items()}
        for rated in _ratings(folder):
            if rated.row in own:
                joined.ratings.append(rated.model_copy(update={"row": own[rated.row]}))
        for one in Folder(folder).preferences():
            if {one.row, one.against} <= own.keys():
                update = {"row": own[one.row], "against": own[one.against]}
                joined.preferences.append(one.model_copy(update=update))
    return joined


def _require_same_data(joined: Study) -> None:
    begun = joined.evaluations[0]
    for folder, evaluation in zip(joined.folders, joined.evaluations, strict=True):
        if (evaluation.data.sha256, evaluation.task) != (begun.data.sha256, begun.task):
            raise InputError(
                f"{folder} was run on data of sha256 {evaluation.data.sha256} ({evaluation.task}), "
                f"{joined.folders[0]} on {begun.data.sha256} ({begun.task}): only results on the "
                "same data go into one report"
            )
        if len({evaluation.data.items_sha256, begun.data.items_sha256} - {None}) > 1:
            raise InputError(
                f"{folder} and {joined.folders[0]} were run with other --columns, so on other "
                "questions"
            )
    if len({folder.resolve() for folder in joined.folders}) < len(joined.folders):
        raise InputError("a folder is named twice")


def _add_rows(joined: Study, evaluation: Evaluation, own: Mapping[str, str]) -> None:
    for row in evaluation.rows:
        name = own[row.name]
        if name not in joined.asked:
            joined.rows.append(without_addresses(row).model_copy(update={"name": name}))
            joined.results[name], joined.homes[name] = {}, {}
        joined.asked.setdefault(name, []).append(row)
    known = set(joined.items)
    joined.items += [item for item in evaluation.items if item not in known]


def _add_results(joined: Study, folder: Path, own: Mapping[str, str]) -> None:
    taken = set(joined.items)
    latest = {(result.row, result.item): result for result in Folder(folder).results()}
    for (row, item), result in latest.items():
        if row not in own or item not in taken:
            joined.strangers += 1
            continue
        name = own[row]
        if joined.results[name].get(item, result) != result:
            raise InputError(
                f"question {item!r} by row {row!r} stands in {joined.homes[name][item]} and in "
                f"{folder}: name one"
            )
        joined.results[name][item] = result
        joined.homes[name][item] = folder
        joined.group[item] = result.group


def _ratings(folder: Path) -> Iterator[Rated]:
    for path in sorted(folder.glob("ratings-*.jsonl")):
        yield from ratings_in(path)


def ratings_in(path: Path) -> Iterator[Rated]:
    """The lines of one ratings file."""
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            yield Rated.model_validate_json(line)
        except ValidationError as error:
            what = f"{path}, line {number} cannot be read: {fault_line(error)}"
            raise InputError(what) from None
