"""Blind rating: a sheet that tells nothing, marks that come back whole, and how far they agree."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from dialectree.errors import InputError
from dialectree.evals import rating
from dialectree.evals.intervals import wilson
from dialectree.evals.reporting.analysis import analyse_study
from dialectree.evals.reporting.formatting import Table
from dialectree.evals.reporting.study import RatingLine, Study, study
from dialectree.evals.reporting.tables import agreement_table, tables
from dialectree.evals.results import AnswerScore
from tests.evals import sample


def sheet(folder: Path, task: str = "answer", n: int = 6) -> Study:
    found = study([sample.evaluation(folder, task, n)])  # type: ignore[arg-type]
    rating.write(folder, found)
    return found


def lines(folder: Path) -> list[dict[str, str]]:
    with (folder / rating.TABLE).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def filled(path: Path, given: list[dict[str, str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rating.COLUMNS)
        writer.writeheader()
        writer.writerows(given)
    return path


def marked(folder: Path, mark: str = "truthful") -> list[dict[str, str]]:
    return [line | {"mark": mark} for line in lines(folder)]


def test_a_sheet_names_no_method_and_no_run(tmp_path: Path) -> None:
    found = sheet(tmp_path)
    message = (tmp_path / rating.TABLE).read_text() + (tmp_path / rating.SHEET).read_text()
    for name, row in found.rows.items():
        assert name not in message and sample.MODEL not in message
        assert not any(one.run in message for one in row.results.values() if one.run)


def test_marks_come_back_as_scores_beside_the_judges(tmp_path: Path) -> None:
    found = sheet(tmp_path)
    by_code = rating._key(tmp_path).codes
    given = []
    for line in lines(tmp_path):
        row, item, _ = by_code[line["code"]]
        judged = found.rows[row].results[item].scores[0].score
        given.append(line | {"mark": "truthful" if judged else "Not "})
    rated = rating.read(tmp_path, found, filled(tmp_path / "Ada.csv", given), "Ada")
    path = rating.keep(tmp_path, rated)
    assert path.name == "ratings-Ada.jsonl"
    again = study([tmp_path])
    assert again.ratings == rated
    table = agreement_table(again)
    assert table is not None
    assert [*table.frame.iloc[0, :3]] == ["truthful", "Ada", "the judge"]
    assert rating.describe_agreement(again)[0].startswith("truthful: Ada and the judge on ")
    assert "kappa 1.000" in rating.describe_agreement(again)[0]


def test_a_summary_is_rated_by_sentence_and_by_grade(tmp_path: Path) -> None:
    found = sheet(tmp_path, "compare", 1)
    marks = {"sentence 1": "yes", "sentence 2": "no", "breadth": "3", "contextualisation": "0"}
    given = [line | {"mark": marks[line["part"]]} for line in lines(tmp_path)]
    rated = rating.read(tmp_path, found, filled(tmp_path / "m.csv", given), "m")
    assert {(s.key, s.score) for s in rated[0].scores} == {
        ("factuality", 50.0),
        ("breadth", 75.0),
        ("contextualisation", 0.0),
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda g: g[1].update(mark="5"), r"line 3: A\d+ truthful is marked \"5\": write truthful"),
        (lambda g: g.pop(), r"A\d+ truthful is missing"),
        (lambda g: g.append(g[0]), r"line \d+: A\d+ truthful is marked twice"),
        (lambda g: g[0].update(code="A1"), r"line 2: A1 truthful is not on the sheet"),
    ],
)
def test_a_faulty_cell_is_named_in_one_line(tmp_path: Path, change, message: str) -> None:  # type: ignore[no-untyped-def]
    found = sheet(tmp_path)
    given = marked(tmp_path)
    change(given)
    with pytest.raises(InputError, match=message) as caught:
        rating.read(tmp_path, found, filled(tmp_path / "m.csv", given), "m")
    assert "\n" not in str(caught.value)


# What people's marks come to


def people_table(found: Study) -> Table | None:
    return next((one for one in tables(analyse_study(found)) if one.key == "people"), None)


def rated(rater: str, row: str, item: str, **marks: float) -> RatingLine:
    scores = [AnswerScore(key=key, score=number, value="scored") for key, number in marks.items()]
    return RatingLine(rater=rater, row=row, item=item, scores=scores)


def test_what_people_call_right_is_a_result_of_each_row(tmp_path: Path) -> None:
    found = study([sample.evaluation(tmp_path, n=4)])
    assert people_table(found) is None
    message = {"q1": (1.0, 1.0, 0.0), "q2": (1.0, 0.0, 0.0), "q3": (1.0, 0.0), "q4": (1.0,)}
    for item, marks in message.items():
        for number, mark in enumerate(marks):
            found.ratings.append(rated(f"p{number}", "tsd", item, truthful=mark))
    found.ratings.append(rated("p0", "tsd", "q4", truthful=0.0))  # it has thought better of it
    found.ratings.append(rated("p0", "tsd", "of another day", truthful=1.0))
    table = people_table(found)
    assert table is not None
    assert [*table.frame.iloc[0]] == ["TSD", wilson(1, 3), 1, 3, 1]
    assert "p0, p1, p2" in table.notes[0]


def test_a_key_is_not_written_over(tmp_path: Path) -> None:
    found = sheet(tmp_path)
    rating.write(tmp_path, found)
    with pytest.raises(InputError, match="key of another sheet"):
        rating.write(tmp_path, found, seed=1)


def test_a_key_is_needed_and_belongs_to_the_same_data(tmp_path: Path) -> None:
    found = study([sample.evaluation(tmp_path, n=2)])
    with pytest.raises(InputError, match="make a sheet first"):
        rating.read(tmp_path, found, tmp_path / "m.csv", "m")
    rating.write(tmp_path, found)
    found.evaluations[0].data.sha256 = "ef" * 32
    with pytest.raises(InputError, match="belongs to other data"):
        rating.read(tmp_path, found, tmp_path / "m.csv", "m")
