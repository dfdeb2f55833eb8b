"""Figures without texts: what is published of an evaluation, and how it goes on from there."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.publish import publish
from dialectree.errors import InputError
from dialectree.evals.results_file import Folder
from tests.evals.evaluating import OPTIONS, choices, evaluate, model, opens, plan, results, row

MEASURED = Path(__file__).parents[2] / "benchmarks" / "measured"
ROWS = (row("basic"), row("judge_alone"))


def test_an_evaluation_is_published_without_a_text_and_goes_on_without_a_call() -> None:
    first = model()
    evaluate(plan(choices(5), first, *ROWS, limit=3))
    scored = {(one.row, one.item): one.scores[0].score for one in results()}
    assert publish(Path("out"), Path("published")) == 6
    kept = "".join(path.read_text() for path in Path("published").iterdir())
    assert not [word for word in (*OPTIONS, "cows", "day") if word in kept]
    Path("out").rename("elsewhere")
    Path("published").rename("out")
    again = model()
    evaluate(plan(choices(5), again, *ROWS))
    assert {one.item for one in results()} == {f"q{n}" for n in range(1, 6)}
    assert scored.items() <= {(one.row, one.item): one.scores[0].score for one in results()}.items()
    assert not [call for call in again.calls if "day 1?" in str(call)]
    assert [call for call in again.calls if "day 5?" in str(call)]


def test_an_answer_without_a_label_is_not_published() -> None:
    evaluate(plan(opens(1), model(), row("single_shot")))
    with pytest.raises(InputError, match="q1 has no label"):
        publish(Path("out"), Path("published"))
    assert not Path("published").exists()


@pytest.mark.parametrize("folder", sorted(path for path in MEASURED.iterdir() if path.is_dir()))
def test_what_was_measured_can_be_read_and_holds_no_text(folder: Path) -> None:
    kept = Folder(folder)
    taken = set(kept.require_evaluation().items)
    rows = {one.name for one in kept.require_evaluation().rows}
    found = list(kept.results())
    assert found
    for one in found:
        assert (one.question in taken, one.row in rows) == (True, True)
        assert one.verdict is None or one.verdict.answer == one.verdict.label
        assert one.verdict is None or not one.verdict.rationale
        assert not any(score.comment for score in one.scores)
    assert {path.name for path in folder.iterdir()} == {"evaluation.json", "results.jsonl"}
