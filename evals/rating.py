"""People rate answers without knowing which method gave them.

A sheet holds answers in an order that a seed fixes, under codes that say nothing. What each code
stands for is kept apart, in ``rating-key.json``, and is read only when the marks come back.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup
from pydantic import BaseModel, ConfigDict, ValidationError

from dialectree import chance
from dialectree.errors import InputError
from dialectree.evals.items import Item, Task
from dialectree.evals.reporting import csv_files, questions
from dialectree.evals.reporting.page import embedded
from dialectree.evals.reporting.study import Rated, Study, ratings_in
from dialectree.evals.reporting.writing import put
from dialectree.evals.results import Result, Score
from dialectree.evals.sentences import sentences
from dialectree.nodes.tree_of_debate.comparison import unmarked
from dialectree.report import words

KEY, SHEET, TABLE = "rating-key.json", "rating-sheet.html", "rating-sheet.csv"
COLUMNS: tuple[str, ...] = (
    "code",
    "question",
    "known",
    "answer",
    "part",
    "sentence",
    "allowed",
    "mark",
)
"""The columns of a sheet as CSV: a line for each mark that is to be given."""
UNNAMED = re.compile(r"(rating-sheet|ratings)([ -]?\(?\d+\)?)?")
"""What the program, or the page's export, calls a sheet, and what a browser makes of it."""
LIMIT = 50
"""Answers on a sheet, unless more are asked for."""

TRUTHFUL = ("truthful", "not")
_YES = ("yes", "no")
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
"""What the grades of 0 to 4 mean (ToD, Appendix C)."""


class Part(NamedTuple):
    """One mark to be given."""

    name: str
    """``truthful``, ``breadth``, ``contextualisation`` or ``sentence 3``."""
    text: str
    """What is judged, where that is a part of the answer."""
    allowed: tuple[str, ...]
    meanings: tuple[str, ...] = ()


class Entry(NamedTuple):
    """One answer on the sheet, without a word about where it came from."""

    code: str
    asked: str
    details: tuple[str, ...]
    """Options, papers, or what is known to be right and wrong."""
    answer: str
    parts: tuple[Part, ...]


class Coded(BaseModel):
    """What one code stands for."""

    model_config = ConfigDict(extra="forbid")

    row: str
    item: str
    parts: list[str]


class Key(BaseModel):
    """rating-key.json: the codes of a sheet, and of which data it is."""

    model_config = ConfigDict(extra="forbid")

    sha256: str
    task: Task
    seed: int
    codes: dict[str, Coded]


def sheet(study: Study, seed: int = 0, limit: int = LIMIT) -> tuple[list[Entry], Key]:
    """Answers to rate, drawn and ordered by the seed, and the key to their codes.

    Whole questions are drawn, so that every row's answer to one of them is rated. A question is
    left out of the sheet where its text is not known.
    """
    draw = random.Random(chance.seed(seed, "rating", study.evaluations[0].data.sha256))
    known = [item for item in study.items if item in study.texts]
    draw.shuffle(known)
    chosen: list[tuple[str, str]] = []
    for item in known:
        answered = [row.name for row in study.rows if _said(study.results[row.name].get(item))]
        if len(chosen) + len(answered) > limit and chosen:
            break
        chosen += [(row, item) for row in answered]
    chosen = chosen[:limit]
    draw.shuffle(chosen)
    if not chosen:
        raise InputError("there is no answer to rate: questions or answers are missing")
    codes = draw.sample(range(1000, 10000), len(chosen))
    entries: list[Entry] = []
    coded: dict[str, Coded] = {}
    for number, (row, item) in zip(codes, chosen, strict=True):
        code = f"A{number}"
        entry = _entry(code, study.texts[item], study.results[row][item])
        entries.append(entry)
        coded[code] = Coded(row=row, item=item, parts=[part.name for part in entry.parts])
    data = study.evaluations[0].data
    return entries, Key(sha256=data.sha256, task=study.task, seed=seed, codes=coded)


def _said(result: Result | None) -> bool:
    verdict = None if result is None else result.verdict
    return verdict is not None and bool((verdict.answer or verdict.label or "").strip())


def _entry(code: str, item: Item, result: Result) -> Entry:
    inputs, reference = item.inputs, item.reference
    said = questions.answer(result)
    if inputs.topic is not None:
        papers = tuple(f"{paper.title}: {paper.abstract}" for paper in inputs.papers)
        said = unmarked(said)  # no other method's summaries bear marks
        return Entry(code, inputs.topic, papers, said, tuple(_summary(said)))
    details = [*questions.options(item)]
    right = [questions.gold(item), *reference.true]
    details += [f"right: {text}" for text in dict.fromkeys(right) if text]
    details += [f"wrong: {text}" for text in dict.fromkeys(reference.false) if text]
    return Entry(
        code, questions.asked(item), tuple(details), said, (Part("truthful", "", TRUTHFUL),)
    )


def _summary(text: str) -> Iterator[Part]:
    for number, sentence in enumerate(sentences(text), 1):
        yield Part(f"sentence {number}", sentence, _YES)
    for name, meanings in GRADES.items():
        yield Part(name, "", tuple("01234"), meanings)


def as_csv(entries: Sequence[Entry]) -> str:
    """The sheet as CSV, its marks empty. Question and answer stand in an answer's first line."""
    return csv_files.written(COLUMNS, _lines(entries))


def _lines(entries: Sequence[Entry], texts: bool = True) -> Iterator[list[str]]:
    for entry in entries:
        about = [entry.asked, " / ".join(entry.details), entry.answer]
        for place, part in enumerate(entry.parts):
            shown = about if texts and not place else ["", "", ""]
            sentence = part.text if texts else ""
            yield [entry.code, *shown, part.name, sentence, " or ".join(part.allowed), ""]


def as_html(entries: Sequence[Entry], task: Task) -> str:
    """The sheet as a page that works without a network and gives and takes the marks as CSV."""
    script = (files("dialectree.evals.reporting") / "rating.js").read_text("utf-8")
    environment = Environment(
        loader=PrefixLoader(
            {
                "run": PackageLoader("dialectree", "report"),
                "evaluation": PackageLoader("dialectree.evals", "reporting"),
            }
        ),
        autoescape=True,
        finalize=lambda value: words.clean(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    name = sha256("\n".join(entry.code for entry in entries).encode()).hexdigest()[:16]
    return environment.get_template("evaluation/rating.html.jinja").render(
        entries=entries,
        task=task,
        script=Markup(script),
        digest=b64encode(sha256(script.encode()).digest()).decode(),
        data=Markup(
            embedded({"name": name, "columns": COLUMNS, "lines": [*_lines(entries, texts=False)]})
        ),
    )


def write(folder: Path, study: Study, seed: int = 0, limit: int = LIMIT) -> tuple[Path, int]:
    """Write sheet and key into a folder; the sheet's page and the number of answers on it."""
    entries, key = sheet(study, seed, limit)
    path = folder / KEY
    before = _key(folder) if path.exists() else None
    if before is not None and before != key:
        raise InputError(
            f"{path} is the key of another sheet, whose marks could no longer be read: move it "
            "away first"
        )
    put(path, (key.model_dump_json(indent=1) + "\n").encode())
    put(folder / TABLE, as_csv(entries).encode())
    put(folder / SHEET, as_html(entries, study.task).encode())
    return folder / SHEET, len(entries)


def _key(folder: Path) -> Key:
    path = folder / KEY
    try:
        return Key.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"{folder} has no {KEY}: make a sheet first") from None
    except (OSError, ValidationError) as error:
        raise InputError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None


def read(folder: Path, study: Study, file: Path, rater: str) -> list[Rated]:
    """The marks of a filled-in sheet, unblinded; InputError, in one line, for what is wrong."""
    key = _key(folder)
    if key.sha256 != study.evaluations[0].data.sha256:
        raise InputError(f"{folder / KEY} belongs to other data than the results")
    marks = _marks(file, key)
    rated: list[Rated] = []
    for code, coded in key.codes.items():
        given = {part: marks[code, part] for part in coded.parts}
        rated.append(Rated(rater=rater, row=coded.row, item=coded.item, scores=[*_scores(given)]))
    return rated


def keep(folder: Path, rated: Sequence[Rated], named: bool = True) -> Path:
    """Write a rater's scores beside the judge's; the same rater's corrected ones replace the first.

    InputError where they would replace somebody else's: those of a rater whose name gives the same
    file, or where nobody ``named`` the rater, of another sheet that bears the program's own name.
    """
    rater = rated[0].rater
    name = re.sub(r"[^\w-]+", "-", rater).strip("-") or "rater"
    path = folder / f"ratings-{name}.jsonl"
    before = list(ratings_in(path)) if path.exists() else []
    if others := sorted({one.rater for one in before} - {rater}):
        raise InputError(
            f"{path} holds the marks of {others[0]!r}, not of {rater!r}: tell the two apart with "
            "--rater NAME"
        )
    if before and before != [*rated] and not named:
        raise InputError(
            f"{path} holds other marks from a sheet called {rater!r}, as the program calls every "
            "sheet: say whose these are with --rater NAME, or move that file away if these "
            "replace it"
        )
    put(path, "".join(f"{line.model_dump_json()}\n" for line in rated).encode())
    return path


def _marks(file: Path, key: Key) -> Mapping[tuple[str, str], str]:
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}") from None
    dialect = (
        ";" if text.partition("\n")[0].count(";") > text.partition("\n")[0].count(",") else ","
    )
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=dialect)
    if missing := [
        name for name in ("code", "part", "mark") if name not in (reader.fieldnames or ())
    ]:
        raise InputError(f"{file} has no column {missing[0]!r}")
    wanted = {(code, part) for code, coded in key.codes.items() for part in coded.parts}
    found: dict[tuple[str, str], str] = {}
    try:
        for row in reader:
            where = (row["code"] or "").strip(), (row["part"] or "").strip()
            said = f"{file}, line {reader.line_num}: {' '.join(where)}"
            if where not in wanted:
                raise InputError(f"{said} is not on the sheet")
            if where in found:
                raise InputError(f"{said} is marked twice")
            found[where] = _mark(said, where[1], row["mark"] or "")
    except csv.Error as error:
        raise InputError(f"{file}, line {reader.line_num}: {error}") from None
    for code, coded in key.codes.items():
        for part in coded.parts:
            if (code, part) not in found:
                raise InputError(f"{file}: {code} {part} is missing")
    return found


def _mark(where: str, part: str, written: str) -> str:
    mark = written.strip().lower()
    allowed = _allowed(part)
    if not mark:
        raise InputError(f"{where} has no mark: write {' or '.join(allowed)}")
    if mark not in allowed:
        shown = json.dumps(words.line(mark, 40), ensure_ascii=False)
        raise InputError(f"{where} is marked {shown}: write {' or '.join(allowed)}")
    return mark


def _allowed(part: str) -> tuple[str, ...]:
    if part == "truthful":
        return TRUTHFUL
    return tuple("01234") if part in GRADES else _YES


def _scores(given: Mapping[str, str]) -> Iterator[Score]:
    if "truthful" in given:
        yield _score("truthful", float(given["truthful"] == "truthful"))
    borne = [mark == "yes" for part, mark in given.items() if part.startswith("sentence ")]
    if borne:
        yield _score("factuality", 100 * sum(borne) / len(borne))
    for name in GRADES:
        if name in given:
            yield _score(name, 25.0 * int(given[name]))


def _score(key: str, number: float) -> Score:
    return Score(key=key, score=number, value="scored", comment="a person's mark")


def agreed(study: Study) -> list[str]:
    """How far people and the judge agree, a line each."""
    from dialectree.evals.reporting.tabled import shown
    from dialectree.evals.reporting.tables_raters import agreement_table

    table = agreement_table(study)
    if table is None:
        return ["there is no judge's score beside these marks to compare them with"]
    found: list[str] = []
    for row in table.rows:
        cells = [shown(c.kind, value) for c, value in zip(table.columns, row, strict=True)]
        what, rater, other, n, same, kappa, apart = cells
        tail = f"mean difference {apart}" if row[4] is None else f"{same} alike, kappa {kappa}"
        found.append(f"{what}: {rater} and {other} on {n}: {tail}")
    return found
