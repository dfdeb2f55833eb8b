"""The joint results of one or more evaluation folders on the same data set.

Folders are only read. If a row answered a question twice, as after a resume, the last line counts.
Rows have distinct names in a report, and so have folders.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas
from pandas import DataFrame
from pydantic import BaseModel, ConfigDict, ValidationError

from dialectree.errors import DialectreeError, InputError, fault_line
from dialectree.evals.dataset_items import Item, Task
from dialectree.evals.grounding import grounding
from dialectree.evals.matrix import labels
from dialectree.evals.reporting.answers import PRIVATE, Answers
from dialectree.evals.results import AnswerScore, EvaluationFile, Result, Row, strip_address
from dialectree.evals.results_file import Folder
from dialectree.evals.tasks import name_as_in_papers
from dialectree.protocols.protocol import method
from dialectree.records.folder import RunFolder


class RatingLine(BaseModel):
    """One line of a ratings file: the scores that a person, or a further judge, gave one answer."""

    model_config = ConfigDict(extra="forbid")

    rater: str
    """A person's name, or the judge's model without its address."""
    row: str
    item: str
    scores: list[AnswerScore]
    judge: bool = False
    """True if the rater is a model that was asked after the evaluation."""
    demonstration: bool = False
    """True for a judge that is no better than chance."""


@dataclass
class Study:
    """Rows that answered the questions of one data set, with their results and ratings."""

    folders: list[Path]
    evaluations: list[EvaluationFile]
    rows: dict[str, Answers] = field(default_factory=dict[str, Answers])
    """The rows by their names in the evaluation."""
    items: list[str] = field(default_factory=list[str])
    """Ids of the questions, in the order in which they were taken."""
    texts: dict[str, Item] = field(default_factory=dict[str, Item])
    """The questions themselves, as far as they are known."""
    group: dict[str, str] = field(default_factory=dict[str, str])
    """By question, the cluster that it belongs to."""
    ratings: list[RatingLine] = field(default_factory=list[RatingLine])
    strangers: int = 0
    """The number of results left out because evaluation.json does not name their row or question."""

    @property
    def task(self) -> Task:
        """The task of the questions."""
        return self.evaluations[0].task

    @property
    def demonstration(self) -> bool:
        """True if a model took part that answers at chance."""
        by_chance = [evaluation.demonstration for evaluation in self.evaluations]
        return any(by_chance) or any(rated.demonstration for rated in self.ratings)

    @property
    def results(self) -> list[Result]:
        """Every result, row by row."""
        return [result for row in self.rows.values() for result in row.results.values()]

    @property
    def judged(self) -> bool:
        """True if answers are judged right or wrong instead of marked."""
        return any(row.key for row in self.rows.values())

    def category(self, item: str) -> str | None:
        """Return the category of a question."""
        categories = (row.results[item].category for row in self.rows.values() if item in row.results)
        item_category = self.texts[item].category if item in self.texts else None
        return next((category for category in categories if category is not None), item_category)

    def groups(self, items: Iterable[str]) -> list[str]:
        """Return the cluster of each question; its repeats belong to the same cluster."""
        return [self.group.get(item, item) for item in items]

    @property
    def questions(self) -> int:
        """The number of questions; repeats do not count."""
        texts = (self.texts.get(item) for item in self.items)
        return sum(text is None or not text.repeat for text in texts)

    @property
    def clustered(self) -> bool:
        """True if some questions share a cluster."""
        return len(set(self.groups(self.items))) < len(self.items)

    def together(self) -> list[str]:
        """Return the ids of the items, each question followed by its repeats."""
        place = {item: n for n, item in enumerate(self.items)}

        def key(item: str) -> tuple[int, int]:
            repeat = self.texts[item].repeat if item in self.texts else 0
            return place.get(item.removesuffix(f"#{repeat}"), place[item]), repeat

        return sorted(self.items, key=key)

    def frame(self) -> DataFrame:
        """Return a line for each question and row, question by question."""
        frames = [row.frame for row in self.rows.values() if row.results]
        if not frames:
            return DataFrame()
        frame: Any = pandas.concat(frames)
        place = {item: n for n, item in enumerate(self.items)}
        frame = frame.sort_values("item", key=lambda item_ids: item_ids.map(place), kind="stable")
        category = {item: self.category(item) or "" for item in self.items}
        frame = frame.assign(
            category=frame["item"].map(category), seconds=frame.seconds.map(lambda s: round(s, 3))
        )
        scorers = sorted({score.key for result in self.results for score in result.scores})
        names = [name for key in scorers for name in (key, f"{key}_outcome")]
        columns = [name for name in frames[0] if name not in {*names, *PRIVATE}]
        place_of_scores = columns.index("calls")
        frame = frame[[*columns[:place_of_scores], *names, *columns[place_of_scores:]]]
        frame = frame.reset_index(drop=True).astype(object)
        return frame.where(frame.notna(), None)

    def add(self, folder: Path, items: Iterable[Item], results: Iterable[Result], place: int = 0) -> None:
        """Add the items and results in ``folder``, which belong to the evaluation at ``place``."""
        self.texts |= {item.id: item for item in items}
        row_names = names(self.folders, self.evaluations)
        evaluation = self.evaluations[place]
        for row in evaluation.rows:
            name = row_names[place, row.name]
            if name not in self.rows:
                plain = without_addresses(row).model_copy(update={"name": name})
                self.rows[name] = Answers(plain, self.task == "verify", self.texts)
            self.rows[name].as_asked.append(row)
        earlier_items = set(self.items)
        self.items += [item for item in evaluation.items if item not in earlier_items]
        all_items = set(self.items)
        for (row_name, item), result in {
            (new_result.row, new_result.item): new_result for new_result in results
        }.items():
            if (place, row_name) not in row_names or item not in all_items:
                self.strangers += 1
                continue
            answers = self.rows[row_names[place, row_name]]
            if answers.results.get(item, result) != result:
                raise InputError(
                    f"question {item!r} by method {row_name!r} has different results in "
                    f"{answers.homes[item]} and in {folder}: name one of these folders"
                )
            answers.results[item], answers.homes[item] = result, folder
            self._complete(answers, item)
            self.group[item] = result.group
        order = {item: n for n, item in enumerate(self.items)}
        self._name_rows()
        for answers in self.rows.values():
            answers.results = dict(sorted(answers.results.items(), key=lambda entry: order[entry[0]]))

    def _name_rows(self) -> None:
        """Give each row the name that papers use for its method, if that name is unique here."""
        titles = {
            row_id: name_as_in_papers(row_id, method(answers.row.method), answers.row.settings)
            for row_id, answers in self.rows.items()
        }
        uses = Counter([*titles.values(), *(row_id for row_id, title in titles.items() if row_id != title)])
        for row_id, answers in self.rows.items():
            answers.title = titles[row_id] if uses[titles[row_id]] == 1 else ""

    def find_row(self, name: str) -> Answers:
        """Return the row with this name in the report."""
        return next(answers for answers in self.rows.values() if answers.name == name)

    def _complete(self, answers: Answers, item: str) -> None:
        """Count the use of sources from the run's record if the result lacks the count."""
        result, text, run = answers.results[item], self.texts.get(item), answers.run(item)
        has_sources = text is not None and text.inputs.sources and result.status != "failed"
        if text is None or not has_sources or result.grounding or run is None:
            return
        with suppress(DialectreeError):  # the run is not there any more
            counted = grounding(RunFolder(run).record(), text)
            answers.results[item] = result.model_copy(update={"grounding": counted})


def study(folders: Sequence[Path]) -> Study:
    """Join the results of the folders; raise InputError if they do not fit together."""
    joined = Study(list(folders), [Folder(folder).require_evaluation() for folder in folders])
    _require_same_data(joined)
    row_names = names(joined.folders, joined.evaluations)
    for place, path in enumerate(joined.folders):
        folder = Folder(path)
        joined.add(path, folder.items(), folder.results(), place)
        for rated in _ratings(path):
            if (place, rated.row) in row_names:
                joined.ratings.append(rated.model_copy(update={"row": row_names[place, rated.row]}))
    return joined


def _require_same_data(joined: Study) -> None:
    first_evaluation = joined.evaluations[0]
    for folder, evaluation in zip(joined.folders, joined.evaluations, strict=True):
        if (evaluation.data.sha256, evaluation.task) != (first_evaluation.data.sha256, first_evaluation.task):
            raise InputError(
                f"{folder} was run on data of sha256 {evaluation.data.sha256} ({evaluation.task}), "
                f"{joined.folders[0]} on {first_evaluation.data.sha256} ({first_evaluation.task}): only "
                "results on the same data go into one report"
            )
        if len({evaluation.data.items_sha256, first_evaluation.data.items_sha256} - {None}) > 1:
            raise InputError(
                f"{folder} and {joined.folders[0]} were run with different --columns, so their questions "
                "differ: report each by itself"
            )
    if len({folder.resolve() for folder in joined.folders}) < len(joined.folders):
        raise InputError("a folder is named twice")


def _ratings(folder: Path) -> Iterator[RatingLine]:
    for path in sorted(folder.glob("ratings-*.jsonl")):
        yield from ratings_in(path)


def ratings_in(path: Path) -> Iterator[RatingLine]:
    """Yield the lines of one ratings file."""
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            yield RatingLine.model_validate_json(line)
        except ValidationError as error:
            message = f"{path}, line {number} cannot be read: {fault_line(error)}"
            raise InputError(message) from None


# Names


def models(row: Row) -> str:
    """Return a row's models in a few words: one name if all roles have the same model."""
    distinct = sorted(set(row.models.values()))
    if len(distinct) <= 1:
        return "".join(distinct)
    main_model = Counter(row.models.values()).most_common(1)[0][0]
    other_models = sorted(f"{role} {spec}" for role, spec in row.models.items() if spec != main_model)
    return ", ".join([main_model, *other_models])


def without_addresses(row: Row) -> Row:
    """Return a row without model addresses: a model is the same at every address."""
    return row.model_copy(update={"models": {role: strip_address(s) for role, s in row.models.items()}})


def tails(folders: Sequence[Path]) -> list[str]:
    """Return a short name for each folder: the shortest ends of the paths that are distinct."""
    paths = [Path(os.path.abspath(folder)).parts for folder in folders]
    max_parts = max(map(len, paths))
    short = (["/".join(path[-n:]) for path in paths] for n in range(1, max_parts))
    distinct = (names for names in short if len(set(names)) == len(names))
    return next(distinct, [str(folder) for folder in folders])


def names(folders: Sequence[Path], evaluations: Sequence[EvaluationFile]) -> dict[tuple[int, str], str]:
    """Return each row's name in the report, by the place of its folder and its name in that folder.

    If different rows share a name, the first of these that tells them apart is added to the name:
    their models, their settings, or the first folder of each.
    """
    kinds: dict[str, dict[str, tuple[Row, str]]] = {}
    for tail, evaluation in zip(tails(folders), evaluations, strict=True):
        for row in evaluation.rows:
            kinds.setdefault(row.name, {}).setdefault(_identity(row), (without_addresses(row), tail))
    unique: dict[tuple[str, str], str] = {}
    for name, same in kinds.items():
        ends = [f" · {end}" for end in _differences([*same.values()])] if len(same) > 1 else [""]
        unique |= {(name, kind): f"{name}{end}" for kind, end in zip(same, ends, strict=True)}
    return {
        (place, row.name): unique[row.name, _identity(row)]
        for place, evaluation in enumerate(evaluations)
        for row in evaluation.rows
    }


def _identity(row: Row) -> str:
    return json.dumps([row.method, row.settings, without_addresses(row).models], sort_keys=True)


def _differences(same: Sequence[tuple[Row, str]]) -> list[str]:
    """Return a distinct text for each row: its models, else its settings, else its folder."""
    parts = [[row.method, *labels(row.settings)] for row, _ in same]
    common = set.intersection(*map(set, parts))
    specific_parts = [[part for part in row_parts if part not in common] for row_parts in parts]
    by_setting = [", ".join(row_parts) or "default" for row_parts in specific_parts]
    for names in ([models(row) for row, _ in same], by_setting):
        if len(set(names)) == len(names) and max(map(len, names)) <= 60:
            return names
    return [tail for _, tail in same]
