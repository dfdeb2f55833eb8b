"""Make sheets on which people rate answers without knowing the method.

A sheet has answers in an order that a seed fixes, under random codes. ``rating-key.json`` maps codes
to answers; this key is read only when the marks come back.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from pandas import DataFrame
from pydantic import BaseModel, ConfigDict, ValidationError

from dialectree.errors import InputError
from dialectree.evals.dataset_items import Item, Task, cells, read_text
from dialectree.evals.faults import fault_lines
from dialectree.evals.reporting import answers
from dialectree.evals.reporting.answers import Answers
from dialectree.evals.reporting.formatting import NOTHING, as_csv, format_table_rows, in_brackets
from dialectree.evals.reporting.page import put, render_page
from dialectree.evals.reporting.study import RatingLine, Study, ratings_in
from dialectree.evals.reporting.tables import agreement_table
from dialectree.evals.results import AnswerScore, Result
from dialectree.evals.scorers import sentences
from dialectree.evals.tasks import remove_program_marks
from dialectree.protocols.protocol import method
from dialectree.system import chance
from dialectree.text import line

KEY, SHEET, TABLE = "rating-key.json", "rating-sheet.html", "rating-sheet.csv"
COLUMNS: tuple[str, ...] = (*("code", "question", "known", "answer", "part", "sentence", "allowed", "mark"),)
"""The columns of a sheet as CSV, which has a line for each mark."""
UNNAMED = re.compile(r"(rating-sheet|ratings)([ -]?\(?\d+\)?)?")
"""File names that the program, the page's export or a browser gives to sheets: they name no rater."""
LIMIT = 50
"""The default number of answers on a sheet."""

GRADES = {
    "breadth": (
        "several major points are missed",
        "one major point is missed",
        "a minor point is missed",
        "every major point is there, not all as one would expect",
        "very comprehensive",
    ),
    "contextualisation": (
        "points are only extracted",
        "tried, but not meaningful",
        "at most one point is set in context",
        "a minority of the points is",
        "all major points are",
    ),
}
"""The meanings of the grades 0 to 4 (ToD, Appendix C)."""


class MarkField(NamedTuple):
    """One mark to fill in."""

    name: str
    """``truthful``, ``breadth``, ``contextualisation`` or ``sentence 3``."""
    text: str
    """The part of the answer to judge; empty for the whole answer."""
    meanings: tuple[str, ...] = ()

    @property
    def allowed(self) -> tuple[str, ...]:
        """The allowed marks."""
        return list_allowed_marks(self.name)


def list_allowed_marks(part: str) -> tuple[str, ...]:
    """Return the allowed marks of a part of a sheet."""
    if part == "truthful":
        return ("truthful", "not")
    return tuple("01234") if part in GRADES else ("yes", "no")


class SheetAnswer(NamedTuple):
    """One answer on the sheet, without the name of its method."""

    code: str
    asked: str
    details: list[str]
    """Options, papers, or right and wrong answers."""
    answer: str
    parts: list[MarkField]


class Key(BaseModel):
    """rating-key.json: the codes of a sheet, and the digest of its data."""

    model_config = ConfigDict(extra="forbid")

    sha256: str
    task: Task
    seed: int
    codes: dict[str, tuple[str, str, list[str]]]
    """The row, the item and the names of the parts, by code."""


def sheet(study: Study, seed: int = 0, limit: int = LIMIT) -> tuple[list[SheetAnswer], Key]:
    """Return answers to rate, drawn and ordered by the seed, and the key to their codes.

    Whole questions are drawn: a question brings the answers of all rows. Questions without a known
    text are left out.
    """
    data = study.evaluations[0].data
    draw = random.Random(chance.seed(seed, "rating", data.sha256))
    question_ids = [item for item in study.items if item in study.texts]
    draw.shuffle(question_ids)
    chosen: list[tuple[Answers, str]] = []
    for item in question_ids:
        answered = [
            study_row for study_row in study.rows.values() if _has_answer(study_row.results.get(item))
        ]
        if len(chosen) + len(answered) > limit and chosen:
            break
        chosen += [(study_row, item) for study_row in answered]
    chosen = chosen[:limit]
    draw.shuffle(chosen)
    if not chosen:
        raise InputError("there is no answer to rate: questions or answers are missing")
    entries: list[SheetAnswer] = []
    codes: dict[str, tuple[str, str, list[str]]] = {}
    numbers = draw.sample(range(1000, 10000), len(chosen))
    for number, (row, item) in zip(numbers, chosen, strict=True):
        answer = remove_program_marks(method(row.row.method), answers.answer(row.results[item]))
        entry = _entry(f"A{number}", study.texts[item], answer)
        entries.append(entry)
        codes[entry.code] = row.id, item, [part.name for part in entry.parts]
    return entries, Key(sha256=data.sha256, task=study.task, seed=seed, codes=codes)


def _has_answer(result: Result | None) -> bool:
    verdict = None if result is None else result.verdict
    return verdict is not None and bool((verdict.answer or verdict.label or "").strip())


def _entry(code: str, item: Item, answer: str) -> SheetAnswer:
    inputs, reference = item.inputs, item.reference
    if inputs.topic is not None:
        papers = [f"{paper.title}: {paper.abstract}" for paper in inputs.papers]
        parts = [MarkField(f"sentence {n}", text) for n, text in enumerate(sentences(answer), 1)]
        parts += [MarkField(name, "", meanings) for name, meanings in GRADES.items()]
        return SheetAnswer(code, inputs.topic, papers, answer, parts)
    right = [answers.gold(item), *reference.true]
    details = answers.options(item)
    details += [f"right: {text}" for text in dict.fromkeys(right) if text]
    details += [f"wrong: {text}" for text in dict.fromkeys(reference.false) if text]
    return SheetAnswer(code, answers.format_question(item), details, answer, [MarkField("truthful", "")])


def _lines(entries: Sequence[SheetAnswer], texts: bool = True) -> Iterator[list[str]]:
    """Yield the sheet's lines with empty marks; only an answer's first line has question and answer."""
    for entry in entries:
        about = [entry.asked, " / ".join(entry.details), entry.answer]
        for place, part in enumerate(entry.parts):
            description = about if texts and not place else ["", "", ""]
            sentence = part.text if texts else ""
            yield [entry.code, *description, part.name, sentence, " or ".join(part.allowed), ""]


def _page(entries: Sequence[SheetAnswer], task: Task) -> str:
    """Return the sheet as a page that works offline; it imports and exports marks as CSV."""
    name = sha256("\n".join(entry.code for entry in entries).encode()).hexdigest()[:16]
    data = {"name": name, "columns": COLUMNS, "lines": [*_lines(entries, texts=False)]}
    return render_page("rating", "rating.js", data, entries=entries, task=task)


def write(folder: Path, study: Study, seed: int = 0, limit: int = LIMIT) -> tuple[Path, int]:
    """Write sheet and key into a folder; return the sheet's page and the number of answers."""
    entries, key = sheet(study, seed, limit)
    path = folder / KEY
    if path.exists() and _key(folder) != key:
        raise InputError(
            f"{path} is the key of another sheet, and its marks need this key: move the file away first"
        )
    put(path, key.model_dump_json(indent=1) + "\n")
    put(folder / TABLE, as_csv(DataFrame(_lines(entries), columns=[*COLUMNS])))
    put(folder / SHEET, _page(entries, study.task))
    return folder / SHEET, len(entries)


def _key(folder: Path) -> Key:
    path = folder / KEY
    try:
        return Key.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"{folder} has no {KEY}: make a sheet first") from None
    except ValidationError as error:
        raise InputError(f"{path} cannot be read: {next(fault_lines(error))}") from None


def read(folder: Path, study: Study, file: Path, rater: str) -> list[RatingLine]:
    """Return the marks of a filled-in sheet by row; InputError, in one line, for a faulty sheet."""
    key = _key(folder)
    if key.sha256 != study.evaluations[0].data.sha256:
        raise InputError(f"{folder / KEY} belongs to other data than the results")
    marks = _marks(file, key)
    return [
        RatingLine(
            rater=rater, row=row, item=item, scores=[*_scores({part: marks[code, part] for part in parts})]
        )
        for code, (row, item, parts) in key.codes.items()
    ]


def _marks(file: Path, key: Key) -> Mapping[tuple[str, str], str]:
    text, _ = read_text(file)
    head = text.partition("\n")[0]
    delimiter = ";" if head.count(";") > head.count(",") else ","
    expected_marks = {(code, part) for code, (_, _, parts) in key.codes.items() for part in parts}
    marks: dict[tuple[str, str], str] = {}
    for row in cells(file, text, delimiter):
        try:
            code, part, mark = (str(row.values[name]).strip() for name in ("code", "part", "mark"))
        except KeyError as error:
            raise row.missing(str(error.args[0])) from None
        where, mark = f"{code} {part}", mark.lower()
        if (code, part) not in expected_marks:
            raise row.fault(f"{where} is not on the sheet")
        if (code, part) in marks:
            raise row.fault(f"{where} is marked twice")
        if mark not in list_allowed_marks(part):
            marked = f'is marked "{line(mark, 40)}"' if mark else "has no mark"
            raise row.fault(f"{where} {marked}: write {' or '.join(list_allowed_marks(part))}")
        marks[code, part] = mark
    if missing := sorted(expected_marks - marks.keys()):
        raise InputError(f"{file}: {' '.join(missing[0])} is missing")
    return marks


def _scores(marks: Mapping[str, str]) -> Iterator[AnswerScore]:
    numbers = {name: 25.0 * int(marks[name]) for name in GRADES if name in marks}
    if "truthful" in marks:
        numbers["truthful"] = float(marks["truthful"] == "truthful")
    if borne := [mark == "yes" for part, mark in marks.items() if part.startswith("sentence ")]:
        numbers["factuality"] = 100 * sum(borne) / len(borne)
    for name, number in numbers.items():
        yield AnswerScore(key=name, score=number, value="scored", comment="a person's mark")


def keep(folder: Path, rated: Sequence[RatingLine], by_name: bool = True) -> Path:
    """Write a rater's scores into the evaluation's folder, in place of the rater's earlier scores.

    Raises InputError if the file has scores of another rater whose name gives the same file name,
    or if the user gave no name (``by_name`` is false) and the file has other marks.
    """
    rater = rated[0].rater
    path = folder / f"ratings-{file_name(rater)}.jsonl"
    before = list(ratings_in(path)) if path.exists() else []
    other_raters = {rating.rater for rating in before} - {rater}
    if other_raters or (before and before != [*rated] and not by_name):
        owner = repr(min(other_raters or {rater}))
        raise InputError(
            f"{path} holds other marks, of {owner}: name the rater with --rater NAME, or move that file "
            "away to replace it"
        )
    put(path, "".join(f"{line.model_dump_json()}\n" for line in rated))
    return path


def file_name(rater: str) -> str:
    """Return the name of a rater for use in file names."""
    return re.sub(r"[^\w-]+", "-", rater).strip("-") or "rater"


def describe_agreement(study: Study) -> list[str]:
    """Return lines on the agreement of people and judges."""
    table = agreement_table(study)
    if table is None:
        return ["there are no other scores to compare these with"]
    lines: list[str] = []
    for cells_of in format_table_rows(table):
        texts = dict(zip(table.frame, (in_brackets(*cell) for cell in cells_of), strict=True))
        score_name, rater, other_rater, n, *_ = texts.values()
        tail = f"mean difference {texts.get('mean difference')}"
        if texts.get("say the same", NOTHING) != NOTHING:
            kappa = texts.get("Cohen's kappa", NOTHING)
            tail = f"{texts['say the same']} alike, kappa {kappa}"
        lines.append(f"{score_name}: {rater} and {other_rater} on {n}: {tail}")
    return lines
