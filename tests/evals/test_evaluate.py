"""``dialectree.evaluate``: an evaluation from Python, as the command runs it."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import pandas
import pytest

import dialectree
from dialectree.evals.evaluate import EvaluationResults
from dialectree.evals.intervals import Proportion
from dialectree.evals.published_datasets import truthfulqa_rows
from dialectree.evals.reporting.analysis import analyse_study
from dialectree.evals.reporting.study import study
from dialectree.evals.reporting.tables import tables
from dialectree.evals.results_file import Folder
from tests.cli.commands import command
from tests.endpoint import LocalEndpoint
from tests.evals import sample

CLAIMS = [{"id": f"q{n}", "claim": f"Cows eat grass on day {n}.", "label": bool(n % 2)} for n in range(4)]


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with LocalEndpoint(seed=3) as endpoint:
        yield f"openai:any@{endpoint.url}"


def test_rows_of_a_program_are_evaluated_once(model: str) -> None:
    results = dialectree.evaluate(CLAIMS, ["direct", "cot"], model=model)
    assert re.fullmatch(r"rows-[0-9a-f]{8}", results.path.name)
    lines = results.to_dicts()
    assert [(line["question"], line["row"]) for line in lines[:3]] == [
        *(("q0", "direct"), ("q0", "cot"), ("q1", "direct"))
    ]
    for name, share in results.accuracies.items():
        right = sum(line["row"] == name and line["outcome"] == "right" for line in lines)
        assert (share.right, share.n) == (right, 4)
        assert share.low is not None and share.share is not None and share.low <= share.share
    assert results.report.is_file()
    again = dialectree.evaluate(CLAIMS, "direct, cot", model="openai:any@http://127.0.0.1:9")
    assert (again.path, again.to_dicts()) == (results.path, lines)


def test_results_say_accuracies_with_their_intervals(model: str) -> None:
    results = dialectree.evaluate(CLAIMS, "direct,cot", limit=2, model=model, out="out")
    title, *rows = repr(results).splitlines()
    assert title == "<EvaluationResults out: accuracy [95%]"
    for row, name in zip(rows, ("direct", "cot"), strict=True):
        assert re.match(rf"{name} +\d+\.\d% \[\d+\.\d, \d+\.\d\] +2 questions", row)
    html = results._repr_html_()
    assert html.count("<tr>") == 2 and "2 questions" in html


def test_a_frame_goes_in_with_a_warning_where_it_was_given_and_a_frame_comes_out(model: str) -> None:
    frame = pandas.DataFrame([*CLAIMS, {"id": "unlabelled", "claim": "Cows fly."}])
    with pytest.warns(UserWarning, match="1 of 5 rows do not say") as told:
        results = dialectree.evaluate(frame, "direct", model=model)
    asynchronous = dialectree.aevaluate(frame, "direct", model=model)
    with pytest.warns(UserWarning, match="1 of 5 rows do not say") as later:
        asyncio.run(_awaited(asynchronous))
    assert {one.filename for one in [*told, *later]} == {__file__}
    table = results.to_pandas()
    assert [*table["question"]] == [*frame["id"]]
    assert {*table["outcome"]} <= {"right", "wrong", "unscored"}


async def _awaited(results: Coroutine[Any, Any, EvaluationResults]) -> EvaluationResults:
    return await results


@pytest.mark.parametrize("given", ["rows", "data"])
def test_the_columns_of_truthfulqa_are_read_as_its_file_is(given: str, model: str) -> None:
    printed = {
        "Category": "Law",
        "Question": "Is it legal?",
        "Best Answer": "No",
        "Best Incorrect Answer": "Yes",
        "Correct Answers": "No; Never",
        "Incorrect Answers": "Yes",
    }
    rows = pandas.DataFrame([printed])
    documented = [*truthfulqa_rows([printed])]
    folders: list[Folder] = []
    for data in (rows, documented, pandas.DataFrame(documented)):
        of: Any = {"dataset": data} if given == "rows" else {"dataset": "truthfulqa", "data": data}
        results = dialectree.evaluate(**of, methods="single_shot", model=model, out=str(len(folders)))
        folders.append(Folder(results.path))
    (item,), *others = (folder.items() for folder in folders)
    assert (item.id, item.reference.true, item.reference.best) == ("tqa-000", ("No", "Never"), "No")
    assert others == [[item], [item]]


def test_the_text_the_frame_and_the_report_agree_on_questions_and_shares(tmp_path: Path) -> None:
    over, asked = [sample.row("rsd"), sample.row("self_consistency")], sample.items("decide", 60)
    made = sample.results("decide", over, asked, seed=4)
    again = [one.model_copy(update={"id": f"{one.id}#1", "repeat": 1}) for one in asked]
    repeats = sample.results("decide", over, again, seed=5)
    made += [one.model_copy(update={"repeat": 1}) for one in repeats]
    results = EvaluationResults(sample.write(tmp_path, "decide", over, [*asked, *again], made))
    frame: Any = results.to_pandas()
    counted = study([tmp_path])
    (table,) = (one for one in tables(analyse_study(counted)) if one.key == "accuracy")
    assert not any(" " in name for name in frame)
    for row, cells in zip(over, table.frame.to_dict("records"), strict=True):
        own = frame[frame["row"] == row.name]
        share = cells["accuracy"]
        assert isinstance(share, Proportion) and share == results.accuracies[row.name]
        assert own["right"].dropna().mean() == pytest.approx(share.share)
        assert own["right"].count() == share.n == cells["n"] != len(own)
        assert own["question"].nunique() == cells["questions"] == 60
        withheld, failed = (f"{number} {end}" for end in ("withheld", "failed") if (number := cells[end]))
        said = f"60 questions, {withheld}, {failed}, {share.n} counted"
        assert f"{100 * (share.share or 0):.1f}%" in repr(results) and said in repr(results)
    assert study([tmp_path]).questions == 60


def test_python_and_the_command_go_on_with_one_another(model: str) -> None:
    pandas.DataFrame(CLAIMS).to_json("mine.jsonl", orient="records", lines=True)
    results = dialectree.evaluate("mine.jsonl", "direct", model=model, limit=2)
    assert results.path == Path("evaluations/mine").absolute()
    done = command("eval", "mine.jsonl", "--methods", "direct", "--model", model, "--limit", "2")
    assert (done.status, done.out) == (0, "evaluations/mine\n")
    assert "2 results (2 were there)" in done.err


def test_importing_dialectree_imports_no_evaluations() -> None:
    code = "import sys, dialectree; dialectree.load; print('dialectree.evals' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
