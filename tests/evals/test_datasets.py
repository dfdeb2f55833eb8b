"""Data sets: every form of file, and one clear line for whatever is wrong with it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from dialectree.errors import InputError
from dialectree.evals import published
from dialectree.evals.catalogue import CATALOGUE
from dialectree.evals.columns import columns
from dialectree.evals.datasets import load
from dialectree.evals.fetching import Pin
from dialectree.evals.items import Item

TRUTHFULQA = {
    "id": "t-1",
    "question": "Can cats see in the dark?",
    "category": "Animals",
    "best_answer": "A little",
    "best_incorrect_answer": "Yes, as by day",
    "correct_answers": ["A little", "Better than people"],
    "incorrect_answers": ["Yes, as by day"],
    "binary_order": "BA",
}
OPENBOOKQA = {"id": "o-1", "question": "Ice is", "choices": ["warm", "cold", "dry"], "answer": 1}
STRATEGYQA = {"id": "s-1", "question": "Is a cube round?", "answer": False, "facts": ["secret"]}
PAPER = {"url": "https://example.org", "title": "On A", "abstract": "We", "introduction": "In"}
PAIRS = {
    "id": "p-1",
    "topic": "debate",
    "paper_a": PAPER,
    "paper_b": {**PAPER, "title": "On B"},
    "method_or_task": "task",
    "cites": True,
}


FORMS = ("jsonl", "csv", "tsv")


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def fails(path: Path, content: str | bytes, *said: str, mapped: str | None = None) -> None:
    """Reading ``path`` with this content is an error of one line that names file and all said."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError) as caught:
        load(path, mapped=mapped)
    told = str(caught.value)
    assert "\n" not in told and str(path) in told
    for words in said:
        assert words in told


# The sets by name


def test_every_set_says_where_it_is_from_under_which_licence() -> None:
    for name, dataset in CATALOGUE.items():
        assert name == dataset.name
        assert dataset.version and dataset.licence and dataset.source and dataset.citation
        assert (dataset.pin is None) == (dataset.published is None)
        if dataset.pin:
            assert len(dataset.pin.sha256) == 64
            assert dataset.pin.url.startswith("https://raw.githubusercontent.com/")
            assert "/main/" not in dataset.pin.url and "/master/" not in dataset.pin.url


def one(name: str, row: object, tmp_path: Path) -> Item:
    (item,) = load(name, lines(tmp_path / "data.jsonl", row)).items
    assert item.inputs.task == CATALOGUE[name].task
    return item


def test_truthfulqa_is_asked_freely_and_judged_by_its_references(tmp_path: Path) -> None:
    item = one("truthfulqa", TRUTHFULQA, tmp_path)
    assert item.example() == {
        "inputs": {"question": "Can cats see in the dark?"},
        "reference_outputs": {
            "true": ["A little", "Better than people"],
            "false": ["Yes, as by day"],
            "best": "A little",
            "best_false": "Yes, as by day",
        },
        "metadata": {"id": "t-1", "category": "Animals"},
    }


def test_truthfulqa_in_two_options_has_the_right_one_where_the_row_says(tmp_path: Path) -> None:
    item = one("truthfulqa-binary", TRUTHFULQA, tmp_path)
    assert item.inputs.options == ("Yes, as by day", "A little")
    assert item.reference.gold == "B"
    item = one("truthfulqa-binary", {**TRUTHFULQA, "binary_order": "AB"}, tmp_path)
    assert item.inputs.options == ("A little", "Yes, as by day")
    assert item.reference.gold == "A"


def test_openbookqa_counts_from_0_and_strategyqa_becomes_claims(tmp_path: Path) -> None:
    assert one("openbookqa", OPENBOOKQA, tmp_path).reference.gold == "B"
    item = one("strategyqa", STRATEGYQA, tmp_path)
    assert item.inputs.claim == "The answer to the question “Is a cube round?” is yes."
    assert item.reference.label is False


def test_pairs_of_papers_have_titles_and_a_category(tmp_path: Path) -> None:
    item = one("tree-of-debate", PAIRS, tmp_path)
    assert [paper.title for paper in item.inputs.papers] == ["On A", "On B"]
    assert item.category == "task, cited"


@pytest.mark.parametrize(
    ("name", "row", "secrets"),
    [
        ("truthfulqa", TRUTHFULQA, ["A little", "as by day"]),
        ("openbookqa", OPENBOOKQA, ["gold", '"B"']),
        ("strategyqa", STRATEGYQA, ["secret", "alse"]),
        ("medqa", {"id": "m", "claim": "Ice is warm", "label": "no"}, ["label", "alse"]),
    ],
)
def test_what_a_method_is_given_holds_no_gold(
    name: str, row: object, secrets: list[str], tmp_path: Path
) -> None:
    given = json.dumps(one(name, row, tmp_path).example()["inputs"])
    assert not any(secret in given for secret in secrets)


def test_a_set_without_a_pin_asks_for_a_file_and_says_its_form() -> None:
    with pytest.raises(InputError, match=r"medqa .*--data FILE with id, claim, label"):
        load("medqa")


def test_an_unknown_name_is_told_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"'trivia'; known are truthfulqa, .*medqa"):
        load("trivia")


def test_a_row_of_another_set_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = lines(tmp_path / "d.jsonl", OPENBOOKQA, STRATEGYQA)
    with pytest.raises(InputError, match=r"d\.jsonl, line 2: there is no column 'choices'"):
        load("openbookqa", path)
    with pytest.raises(InputError, match=r"line 1: there is no option 3 among 3"):
        load("openbookqa", lines(path, {**OPENBOOKQA, "answer": 3}))
    with pytest.raises(InputError, match=r"line 1: 'binary_order' is AB or BA"):
        load("truthfulqa-binary", lines(path, {**TRUTHFULQA, "binary_order": "A"}))
    with pytest.raises(InputError, match=r"line 1: 'paper_b' is not an object"):
        load("tree-of-debate", lines(path, {**PAIRS, "paper_b": "On B"}))


def test_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    path = lines(tmp_path / "d.jsonl", OPENBOOKQA)
    loaded = load("openbookqa", path)
    assert loaded.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


# The published files

TRUTHFULQA_CSV = """\
Type,Category,Question,Best Answer,Best Incorrect Answer,Correct Answers,Incorrect Answers,Source
Adversarial,Animals,"Can cats, as is said, see?",A little,Yes,"A little;  Some, by night",Yes; No,x
Adversarial,Law,Is it legal?,No,Yes,No; Never,Yes,y
"""


def test_the_published_truthfulqa_gives_the_documented_rows(tmp_path: Path) -> None:
    path = tmp_path / "TruthfulQA.csv"
    rows = [*published.truthfulqa_file(path, TRUTHFULQA_CSV)]
    assert [row.text("id") for row in rows] == ["tqa-000", "tqa-001"]
    assert rows[0].values["correct_answers"] == ["A little", "Some, by night"]
    assert published.truthfulqa(rows[1]).reference.false == ("Yes",)


def test_which_option_comes_first_is_as_in_the_documented_form(tmp_path: Path) -> None:
    head, row, _ = TRUTHFULQA_CSV.splitlines(keepends=True)
    rows = published.truthfulqa_file(tmp_path / "a.csv", head + row * 12)
    order = {row.text("id"): row.text("binary_order") for row in rows}
    known = {"tqa-000": "BA", "tqa-002": "BA", "tqa-003": "AB", "tqa-004": "AB"}
    assert {name: order[name] for name in known} == known


def test_a_published_file_given_by_hand_is_known_by_its_hash(tmp_path: Path) -> None:
    path = tmp_path / "any.csv"
    path.write_text(TRUTHFULQA_CSV)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    dataset = replace(CATALOGUE["truthfulqa"], pin=Pin("https://example.org/any.csv", digest))
    assert len(load("truthfulqa", path, catalogue={"truthfulqa": dataset}).items) == 2
    with pytest.raises(InputError, match=r"line 2: there is no column 'correct_answers'"):
        load("truthfulqa", path)


def test_the_published_openbookqa_is_parsed_back(tmp_path: Path) -> None:
    asked = (
        "Please choose the correct answer to the question: Ice is\n\nAnswer1: warm Answer2: "
        "cold and hard Answer3: dry Answer4: old\n\nAnswer format: answer1/answer2/answer3/answer4"
    )
    content = json.dumps([{"instruction": asked, "input": "", "answer": "answer2"}])
    (row,) = published.openbookqa_file(tmp_path / "test.json", content)
    item = published.openbookqa(row)
    assert item.id == "obqa-test-000"
    assert item.inputs.options == ("warm", "cold and hard", "dry", "old")
    assert item.reference.gold == "B"
    broken = json.dumps([{"instruction": "What?", "answer": "answer2"}])
    with pytest.raises(InputError, match="entry 1 is no question with four answers"):
        list(published.openbookqa_file(tmp_path / "test.json", broken))


def test_the_published_strategyqa_keeps_its_ids_and_drops_the_facts(tmp_path: Path) -> None:
    content = json.dumps([{"qid": "ab", "question": "Is it?", "answer": True, "facts": ["yes"]}])
    (row,) = published.strategyqa_file(tmp_path / "dev.json", content)
    assert row.values == {"id": "ab", "question": "Is it?", "answer": True}
    for broken in ("{}", "[1]", "[", "[" * 100_000):
        with pytest.raises(InputError, match=r"dev\.json is not"):
            list(published.strategyqa_file(tmp_path / "dev.json", broken))


def test_of_the_published_pairs_broken_lines_are_left_out(tmp_path: Path) -> None:
    good = "topic\tu\tA\tab\tin\tv\tB\tba\tni\t1\t0"
    content = f'head\n{good}\nbroken\tline\n"{good}\n'
    rows = [*published.tree_of_debate_file(tmp_path / "t.tsv", content)]
    assert [row.text("id") for row in rows] == ["tod-000", "tod-002"]
    item = published.tree_of_debate(rows[0])
    assert (item.category, item.inputs.papers[1].title) == ("task, not cited", "B")


# A file of one's own


def test_columns_may_bear_our_names(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("id,question,options,gold\nq1,What?,this;that,B\nq2,Who?,she;he,She\n")
    loaded = load(path)
    assert loaded.name == "own"
    assert [item.id for item in loaded.items] == ["q1", "q2"]
    assert [item.reference.gold for item in loaded.items] == ["B", "A"]


def test_columns_may_be_mapped_and_options_lie_in_several(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("Frage,a,b,c,key\n2+2?,3,4,,b\n1+1?,1,2,3,2\n")
    items = load(path, mapped="question=Frage,options=a|b|c,gold=key").items
    assert [item.inputs.options for item in items] == [("3", "4"), ("1", "2", "3")]
    assert [item.reference.gold for item in items] == ["B", "B"]
    assert [item.id for item in items] == ["1", "2"]


def test_an_empty_option_that_others_follow_moves_no_letter(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    mapped = "question=q,options=a|b|c|d,gold=key,true=a|b|c"
    path.write_text("q,a,b,c,d,key\nFine?,1,2, ,,B\nWhich?,x,,y,z,C\n")
    with pytest.raises(InputError) as caught:
        load(path, mapped=mapped)
    assert str(caught.value).endswith(
        "own.csv, line 3: the option in column 'b' is empty, and others follow"
    )
    path.write_text("question,options,gold\nFine?,1;2;,B\nWhich?,x;;y;z,C\n")
    with pytest.raises(InputError, match="line 3: option 2 of 'x;;y;z' is empty, and others"):
        load(path)
    path.write_text("q,a,b,c,d,key\nFine?,1,2, ,,B\n")
    (item,) = load(path, mapped=mapped).items
    assert (item.inputs.options, item.reference.gold) == (("1", "2"), "B")
    path.write_text("q,a,b,c\nWhy?,So,,Thus\n")
    assert load(path, mapped="question=q,true=a|b|c").items[0].reference.true == ("So", "Thus")


def test_claims_free_questions_and_papers_of_ones_own(tmp_path: Path) -> None:
    path = lines(tmp_path / "c.jsonl", {"claim": "It rains", "label": "Yes", "category": "Weather"})
    (item,) = load(path).items
    assert (item.inputs.task, item.reference.label, item.category) == ("verify", True, "Weather")
    path = lines(path, {"q": "Why?", "good": ["So"], "bad": "No;Never"})
    (item,) = load(path, mapped="question=q,true=good,false=bad").items
    assert (item.inputs.task, item.reference.false) == ("answer", ("No", "Never"))
    path = lines(path, {"topic": "T", "title_a": "A", "title_b": "B", "abstract_b": "..."})
    (item,) = load(path).items
    assert (item.inputs.task, item.inputs.papers[1].abstract) == ("compare", "...")


def test_a_set_by_name_takes_a_file_with_other_columns(tmp_path: Path) -> None:
    path = lines(tmp_path / "m.jsonl", {"statement": "Ice is warm", "truth": 0})
    assert load("medqa", path, "claim=statement,label=truth").items[0].reference.label is False
    with pytest.raises(InputError, match="row '1' is to answer, not to verify"):
        load("medqa", path, "question=statement")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("frage=Frage", "frage=Frage: known are id"),
        ("question", "write question=COLUMN"),
        ("question=", "write question=COLUMN"),
        ("question=a=b", "write question=COLUMN"),
        ("options=a||b", "write options=COLUMN"),
        ("gold=a|b", "only options, true, false take several"),
        ("gold=a,gold=b", "gold is mapped twice"),
        ("", "known are"),
    ],
)
def test_a_map_that_is_none_is_told_so(written: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        columns(written)
    assert said in str(caught.value)


def test_a_column_may_have_any_name(tmp_path: Path) -> None:
    path = lines(tmp_path / "odd.jsonl", {"a,b": "Why?", "c=d|e": "So"})
    (item,) = load(path, mapped=r"question=a\,b,best=c\=d\|e").items
    assert (item.inputs.question, item.reference.best) == ("Why?", "So")


# What can be wrong with a file


def test_marks_line_ends_and_breaks_in_cells_are_read_as_meant(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_bytes(b'\xef\xbb\xbfid,question\r\n1,"Which\r\nline?"\r\n\r\n2,"Say ""hi"""\r\n')
    assert [i.inputs.question for i in load(path).items] == ["Which\r\nline?", 'Say "hi"']
    path = tmp_path / "own.jsonl"
    path.write_bytes('\ufeff{"question": "One\u2028line?"}\r\n\r\n{"question": "é"}'.encode())
    assert [i.inputs.question for i in load(path).items] == ["One\u2028line?", "é"]
    path = tmp_path / "own.tsv"
    path.write_text("question\tgold\nA, or B?\t\n")
    assert load(path).items[0].inputs.question == "A, or B?"


def test_columns_that_nothing_reads_are_known(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"question": "One?", "Gold": 1}\n{"question": "Two?", "note": 1, "Gold": 2}\n')
    assert load(path).unknown == ("Gold", "note")
    assert load(path, mapped="question=question").unknown == ()


ONE = '{"question": "One?"}\n'
FILES: list[tuple[str, str | bytes, tuple[str, ...]]] = [
    # cut off
    ("a.jsonl", ONE + '{"question": "Tw', ("line 2", "cut off")),
    ("a.csv", "id,question\n1,One?\n2", ("line 3", "cut off")),
    ("a.csv", 'id,question\n1,One?\n2,"Tw\no', ("line 3", "cut off")),
    ("a.tsv", "id\tquestion\n1\tOne?\n2\n", ("line 3", "1 columns instead of 2")),
    ("a.csv", "id,question\n1,One?,more\n", ("line 2", "3 columns instead of 2")),
    # an id twice
    ("a.csv", "id,question\nx,One?\n\nx,Two?\n", ("line 4", "'x'", "line 2 already")),
    ("a.csv", 'id,question\nx,"a\nb"\nx,Two?\n', ("line 4", "line 2 already")),
    ("a.jsonl", '{"id": "2", "question": "?"}\n' + ONE, ("line 2", "called by its number")),
    # columns
    ("a.csv", "id,ask\n1,One?\n", ("line 2", "claim or topic", "there are: id, ask")),
    ("a.csv", "id,,question\n1,2,3\n", ("line 1", "column 2 has no name")),
    ("a.csv", "id,id\n1,2\n", ("line 1", "two columns are called 'id'")),
    # nothing there
    *((f"a.{form}", text, ("no rows",)) for form in FORMS for text in ("", "\n\n", "\ufeff")),
    ("a.csv", "id,question\n", ("holds no rows",)),
    # no text
    ("a.csv", b"id,question\n1,One?\n2,Caf\xe9?\n", ("line 3", "save the file as UTF-8")),
    ("a.jsonl", "{}".encode("utf-16"), ("line 1", "UTF-8")),
    ("a.csv", b"id,question\n1,\0\n", ("line 2", "NUL")),
    ("a.parquet", b"PAR1", ("ends in .jsonl, .ndjson, .csv, .tsv",)),
]


@pytest.mark.parametrize(("name", "content", "message"), FILES)
def test_a_bad_file_is_one_line(
    tmp_path: Path, name: str, content: str | bytes, message: tuple[str, ...]
) -> None:
    fails(tmp_path / name, content, *message)


def test_a_missing_column_of_a_map_is_named_with_those_that_are_there(tmp_path: Path) -> None:
    content = "id,ask\n1,One?\n"
    fails(tmp_path / "a.csv", content, "line 2", "'Frage'", "id, ask", mapped="question=Frage")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[1]", "not a JSON object"),
        ('{"question": NaN}', "NaN is not a number"),
        ('{"a": 1, "a": 2}', "stands there twice"),
        ('{"question": "\\ud800"}', "surrogate"),
        ('{"question": ""}', "one question"),
        ('{"question": "  "}', "not a text that says something"),
        ('{"question": ["a"]}', "not a text"),
        ('{"question": "a", "claim": "b"}', "one question"),
        ('{"question": "a", "options": ["b"]}', "2 to 26 options"),
        ('{"question": "a", "options": ["b", "b "]}', "the same"),
        ('{"question": "a", "options": ["b", ""]}', "is empty"),
        ('{"question": "a", "options": ["b", null]}', "not a list of texts"),
        ('{"question": "a", "options": ["b", "c"], "gold": "d"}', "none of the options"),
        ('{"question": "a", "options": ["b", "a"], "gold": "a"}', "more than one option"),
        ('{"question": "a", "gold": "A"}', "none of the options"),
        ('{"claim": "a", "label": "maybe"}', "neither true nor false"),
        ('{"question": "a", "label": true}', "only a claim"),
        ('{"topic": "a", "title_a": "b"}', "two papers"),
        ('{"topic": "a", "abstract_a": "b", "title_b": "c"}', "title"),
        ("[" * 100_000, "not JSON"),
        ("9" * 10_000, "not JSON"),
    ],
)
def test_a_row_that_makes_no_sense_says_why(tmp_path: Path, line: str, said: str) -> None:
    fails(tmp_path / "a.jsonl", f'{{"question": "fine?"}}\n{line}\n', "line 2", said)


def test_other_files_are_not_read(tmp_path: Path) -> None:
    fails(tmp_path / "a.xlsx", "x", "ends in .jsonl")
    with pytest.raises(InputError, match="No such file"):
        load("openbookqa", tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="Is a directory"):
        load("openbookqa", tmp_path)
    with pytest.raises(InputError, match="no data set and no file"):
        load(tmp_path / "none.csv")
