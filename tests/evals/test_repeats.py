"""Questions that are asked more than once: what counts as the same, and who is told."""

from __future__ import annotations

from pathlib import Path

from dialectree.evals.datasets import load
from dialectree.evals.items import Inputs, Item, Paper, Reference
from dialectree.evals.notices import notices
from dialectree.evals.repeats import repeats
from dialectree.evals.reporting.analysis import analysed
from dialectree.evals.reporting.cautions import cautions
from dialectree.evals.reporting.study import study
from tests.evals import sample
from tests.evals.evaluating import write


def choice(number: int, options: str, gold: str | None, question: str = "Which one?") -> Item:
    return Item(
        id=f"q{number}",
        inputs=Inputs(question=question, options=tuple(options)),
        reference=Reference(gold=gold),
    )


def claim(number: int, text: str, label: bool | None) -> Item:
    return Item(id=f"q{number}", inputs=Inputs(claim=text), reference=Reference(label=label))


def free(number: int, text: str, *true: str) -> Item:
    return Item(id=f"q{number}", inputs=Inputs(question=text), reference=Reference(true=true))


def test_options_in_another_order_are_the_same_question_with_the_same_right_answer() -> None:
    items = [choice(1, "xyz", "A"), choice(2, "zyx", "C"), choice(3, "xyz", "C")]
    assert repeats(items) == (2, 1)
    assert repeats([choice(1, "xyz", "A"), choice(2, "xyw", "A")]) == (0, 0)
    assert repeats([choice(1, "xy", "A"), choice(2, "xy", "A", "Which other?")]) == (0, 0)


def test_blanks_and_capitals_make_no_other_question() -> None:
    assert repeats([claim(1, "It rains.", True), claim(2, " it  Rains. ", False)]) == (1, 1)
    assert repeats([claim(1, "It rains.", None), claim(2, "It rains.", True)]) == (1, 0)


def test_free_answers_are_others_where_none_of_them_is_the_same() -> None:
    asked = [free(1, "What?", "This", "That"), free(2, "What?", "that"), free(3, "What?", "No")]
    assert repeats(asked) == (2, 1)


def test_papers_on_one_topic_are_not_the_same_question() -> None:
    papers = [tuple(Paper(title=f"{side}{n}") for side in "ab") for n in (1, 1, 2)]
    items = [
        Item(id=f"q{n}", inputs=Inputs(topic="T", papers=pair)) for n, pair in enumerate(papers)
    ]
    assert repeats(items) == (1, 0)


def test_repeats_are_told_before_the_first_call(tmp_path: Path) -> None:
    asked = {"question": "What?", "options": ["a", "b"]}
    rows = [{**asked, "id": f"q{n}", "gold": "AB"[n > 2]} for n in range(4)]
    loaded = load(write(rows, tmp_path / "d.jsonl"))
    assert [*notices(loaded, "decide", loaded.items)] == [
        f"{tmp_path / 'd.jsonl'}: 3 of 4 rows repeat another's question and options, 1 of them "
        "with another right answer: all count as questions of their own"
    ]
    assert [*notices(loaded, "decide", loaded.items[:1])] == []


def test_a_report_warns_of_repeats(tmp_path: Path) -> None:
    items, rows = sample.items("verify", 12), sample.rows("verify")
    same = [one.model_copy(update={"inputs": items[0].inputs}) for one in items[:2]] + items[2:]
    found = study(
        [sample.write(tmp_path, "verify", rows, same, sample.results("verify", rows, same))]
    )
    (told,) = (text for text in cautions(analysed(found)) if "another's" in text)
    assert told.startswith("1 of 12 questions repeats another's claim")
