"""Columns of published files and of own ones: what is read as it is, and what stops an evaluation."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialectree.errors import InputError
from dialectree.evals.dataset_items import columns, format_columns
from dialectree.evals.datasets import load, notices
from dialectree.evals.options import read_options
from dialectree.evals.plan import prepare
from tests.cli.commands import command, refused
from tests.endpoint import LocalEndpoint

Row = dict[str, Any]
TEXTS = ["warm", "cold", "dry"]
LETTERS = ["A", "B", "C"]
YES = "The answer to the question “Is ice cold?” is yes."


class Reading(NamedTuple):
    """What a row is read as."""

    task: str
    asked: str
    options: tuple[str, ...] = ()
    right: object = None
    """The text of the right option, the label of a claim, or the right answers."""


CHOICE = Reading("decide", "Ice is", tuple(TEXTS), "cold")
OPEN = Reading("answer", "Ice is", (), ("cold", "very cold"))


def claim(label: bool | None, asked: str = "Ice is cold.") -> Reading:
    return Reading("verify", asked, (), label)


def question(**others: Any) -> Row:
    return {"question": "Ice is", **others}


def series(*names: str) -> Row:
    return dict(zip(names, TEXTS, strict=True))


FORMS: dict[str, tuple[list[Row], Reading]] = {
    # Questions with options
    "OpenBookQA, documented": ([question(choices=TEXTS, answer=1)], CHOICE),
    "OpenBookQA, its own file": (
        [
            {
                "id": "7-1",
                "question": {
                    "stem": "Ice is",
                    "choices": [{"text": t, "label": n} for t, n in zip(TEXTS, LETTERS, strict=True)],
                },
                "answerKey": "B",
            }
        ],
        CHOICE,
    ),
    "OpenBookQA, Hub": (
        [{"question_stem": "Ice is", "choices": {"text": TEXTS, "label": LETTERS}, "answerKey": "B"}],
        CHOICE,
    ),
    "ARC": ([question(id="M", choices={"text": TEXTS, "label": ["1", "2", "3"]}, answerKey="2")], CHOICE),
    "CommonsenseQA": (
        [
            question(
                id="1",
                question_concept="ice",
                choices={"label": LETTERS, "text": TEXTS},
                answerKey="B",
            )
        ],
        CHOICE,
    ),
    "MMLU": ([question(subject="physics", choices=TEXTS, answer=1)], CHOICE),
    "MMLU-Pro": (
        [
            question(
                question_id=70,
                options=TEXTS,
                answer="B",
                answer_index=1,
                cot_content="",
                category="physics",
                src="x",
            )
        ],
        CHOICE,
    ),
    "MMLU, columns": ([question(**series("A", "B", "C"), answer="B")], CHOICE),
    "MedQA": (
        [question(answer="cold", options=dict(zip(LETTERS, TEXTS, strict=True)), answer_idx="B")],
        CHOICE,
    ),
    "MedQA, BigBio": (
        [
            question(
                options=[{"key": n, "value": t} for t, n in zip(TEXTS, LETTERS, strict=True)],
                answer="cold",
                answer_idx="B",
            )
        ],
        CHOICE,
    ),
    "MedMCQA": (
        [
            question(**series("opa", "opb", "opc"), cop=1, choice_type="single", exp="Known."),
            question(id="x", **series("opa", "opb", "opc"), cop=0),
        ],
        CHOICE,
    ),
    "AQuA": ([question(options=TEXTS, rationale="Known.", correct="B")], CHOICE),
    "RACE": ([question(article="Long.", options=TEXTS, answer="B", example_id="h1")], CHOICE),
    "CosmosQA": ([question(context="Long.", **series("answer0", "answer1", "answer2"), label=1)], CHOICE),
    "BBQ": ([question(**series("ans0", "ans1", "ans2"), label=1, category="Age")], CHOICE),
    "SocialIQA": (
        [
            question(**series("answerA", "answerB", "answerC"), label="2"),
            question(id="x", **series("answerA", "answerB", "answerC"), label="3"),
        ],
        CHOICE,
    ),
    "numbered options": ([question(**series("option1", "option2", "option3"), answer="2")], CHOICE),
    "LogiQA": ([{"context": "Long.", "query": "Ice is", "options": TEXTS, "correct_option": 1}], CHOICE),
    "AGIEval": ([{"query": "Ice is", "choices": TEXTS, "gold": [1]}], CHOICE),
    "Inspect": ([{"input": "Ice is", "choices": TEXTS, "target": "B", "id": 1, "metadata": {}}], CHOICE),
    "the right one by its text": ([question(choices=TEXTS, correct_answer="cold")], CHOICE),
    "one-hot": ([question(choices=TEXTS, labels=[0, 1, 0])], CHOICE),
    "options of ours, answer": ([question(options=TEXTS, answer="(B)")], CHOICE),
    # Free answers
    "TruthfulQA, Hub": (
        [
            question(
                type="Adversarial",
                category="Ice",
                best_answer="cold",
                correct_answers=["cold", "very cold"],
                incorrect_answers=["warm"],
                source="https://example.org",
            )
        ],
        OPEN,
    ),
    "Natural Questions": ([question(answer=["cold", "very cold"])], OPEN),
    "TriviaQA": (
        [question(question_id="t", answer={"value": "cold", "aliases": ["cold", "very cold"], "type": "x"})],
        OPEN,
    ),
    "SQuAD": (
        [question(id="5", title="Ice", answers={"text": ["cold", "very cold"], "answer_start": [1, 9]})],
        OPEN,
    ),
    "PopQA": ([question(possible_answers='["cold", "very cold"]', s_pop=1)], OPEN),
    "SimpleQA": ([{"metadata": "{}", "problem": "Ice is", "answer": "cold"}], OPEN._replace(right=("cold",))),
    "GSM8K": ([question(answer="0 - 7; #### -7")], OPEN._replace(right=("0 - 7; #### -7",))),
    "Inspect, free": ([{"input": "Ice is", "target": "cold"}], OPEN._replace(right=("cold",))),
    # Claims
    "FEVER": (
        [
            {"id": 1, "claim": "Ice is cold.", "label": "REFUTES", "evidence": [[[1, 2, "Ice", 0]]]},
            {"id": 2, "claim": "Ice sings.", "label": "NOT ENOUGH INFO", "evidence": [[[3, None, None]]]},
        ],
        claim(False),
    ),
    "FEVER, nothing known": ([{"claim": "Ice is cold.", "label": "NOT ENOUGH INFO"}], claim(None)),
    "Climate-FEVER": ([{"claim_id": "0", "claim": "Ice is cold.", "claim_label": "SUPPORTS"}], claim(True)),
    "SciFact, Hub": (
        [{"id": 1, "claim": "Ice is cold.", "evidence_label": "CONTRADICT", "cited_doc_ids": [3]}],
        claim(False),
    ),
    "AVeriTeC": ([{"claim": "Ice is cold.", "label": "Supported", "speaker": "A"}], claim(True)),
    "VitaminC": ([{"claim": "Ice is cold.", "evidence": "So it is.", "label": "SUPPORTS"}], claim(True)),
    "LIAR, true or false": ([{"statement": "Ice is cold.", "label": "true", "subject": "ice"}], claim(True)),
    "claims with a verdict": ([{"claim": "Ice is cold.", "verdict": "False"}], claim(False)),
    "claims with gold": ([{"claim": "Ice is cold.", "gold": True}], claim(True)),
    "BoolQ": ([{"question": "Is ice cold?", "passage": "Long.", "answer": True}], claim(True, YES)),
    "StrategyQA": (
        [{"qid": "x", "term": "ice", "question": "Is ice cold?", "answer": False, "facts": ["Known."]}],
        claim(False, YES),
    ),
    "yes and no": ([{"question": "Is ice cold?", "answer": "Yes"}], claim(True, YES)),
}  # fmt: skip


def write(path: Path, *rows: Row) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path, mapped: str | None = None) -> Reading:
    """Return what the first row of a file is read as."""
    item = load(path, mapped=mapped).items[0]
    inputs, reference = item.inputs, item.reference
    right: object = reference.label if inputs.claim else reference.true or None
    if reference.gold:
        right = inputs.options[LETTERS.index(reference.gold)]
    return Reading(inputs.task, inputs.text, inputs.options, right)


@pytest.mark.parametrize(("rows", "reading"), FORMS.values(), ids=[*FORMS])
def test_a_published_form_is_read_as_it_is(rows: list[Row], reading: Reading, tmp_path: Path) -> None:
    assert read(write(tmp_path / "data.jsonl", *rows)) == reading


@pytest.mark.parametrize(
    "row",
    [
        {"question": "Ice is", **series("distractor1", "distractor2", "correct_answer")},
        {"Question": "Ice is", **series("Incorrect Answer 1", "Incorrect Answer 2", "Correct Answer")},
        {"question": "Ice is", "correct_answer": "dry", "incorrect_answers": ["warm", "cold"]},
        {"question": "Ice is", "mc1_targets": {"choices": TEXTS[::-1], "labels": [1, 0, 0]}},
    ],
    ids=["SciQ", "GPQA", "Open Trivia", "TruthfulQA, one right"],
)
def test_a_right_option_in_a_column_of_its_own_is_in_no_fixed_place(row: Row, tmp_path: Path) -> None:
    name = next(name for name in row if name.lower() == "question")
    path = write(tmp_path / "data.jsonl", *({**row, name: f"On day {n}, ice is"} for n in range(40)))
    items = load(path).items
    for item in items:
        assert {*item.inputs.options} == {*TEXTS} and item.reference.gold
        assert item.inputs.options[LETTERS.index(item.reference.gold)] == "dry"
    assert {item.reference.gold for item in items} == {*LETTERS}
    assert load(path).items == items


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("question,choices,answer\nIce is,\"['warm', 'cold', 'dry']\",1\n", "cold"),
        ('question,choices,answer\nIce is,"[""warm"", ""cold"", ""dry""]",C\n', "dry"),
        ("Question;A;B;C;Answer\nIce is;warm;cold;dry;A\n".replace(";", ","), "warm"),
        ("question,choices,answer\nIce is,warm;cold;dry,cold\n", "cold"),
    ],
)
def test_a_table_may_hold_lists_as_json_as_python_prints_them_or_as_columns(
    text: str, right: str, tmp_path: Path
) -> None:
    path = tmp_path / "data.csv"
    path.write_text(text)
    assert read(path) == CHOICE._replace(right=right)


def test_the_old_table_of_truthfulqa_is_read_without_a_best_wrong_answer(tmp_path: Path) -> None:
    path = tmp_path / "TruthfulQA.csv"
    path.write_text(
        "Type,Category,Question,Best Answer,Correct Answers,Incorrect Answers,Source\n"
        "Adversarial,Ice,Ice is,cold,cold; very cold,warm,https://example.org\n"
    )
    assert read(path) == OPEN


# What is not read stops the evaluation

STOPPED: dict[str, Row] = {
    "letters, and no options": {"question": "Ice is (A) warm (B) cold", "answer": "B"},
    "places, and no options": {"question": "Ice is", "answer": 1},
    "two answers": {"question": "Ice is", "answer": "cold", "ground_truth": "very cold"},
    "MATH": {"problem": "Ice is", "solution": "Known.", "answer": "cold"},
    "PubMedQA": {"question": "Is ice cold?", "long_answer": "Known.", "final_decision": "yes"},
    "BoolQ of SuperGLUE": {"question": "Is ice cold?", "passage": "Long.", "label": 1},
    "an answer with a label": {"question": "Ice is", "answer": "cold", "label": True},
    "from 0 or from 1": {"question": "Ice is", **series("opa", "opb", "opc"), "cop": 2},
    "an answer that is no option": {"question": "Ice is", "choices": TEXTS, "answer": "wet"},
    "answers that differ": {"question": "Ice is", "choices": TEXTS, "answer": "A", "answer_idx": 1},
    "a list as NumPy prints it": {"question": "Ice is", "choices": "['warm' 'cold']", "answer": 1},
    "columns of options alone": {"question": "Ice is", **series("A", "B", "C")},
    "numbers of labels": {"claim": "Ice is cold.", "claim_label": 0},
    "another word for a label": {"claim": "Ice is cold.", "rating_label": "half-true"},
    "COPA": {"premise": "It froze.", "question": "cause", "choice1": "a", "choice2": "b", "label": 0},
}


@pytest.mark.parametrize("row", STOPPED.values(), ids=[*STOPPED])
def test_a_column_that_would_be_lost_stops_with_the_flags_that_read_it_or_leave_it_out(
    row: Row, tmp_path: Path
) -> None:
    path = write(tmp_path / "data.jsonl", row)
    with pytest.raises(InputError) as stopped:
        load(path)
    message = str(stopped.value)
    assert str(path) in message and "\n" not in message
    words = shlex.split(message.rpartition(": read with ")[2].replace(", or leave out with ", " "))
    assert words[::2] == ["--columns", "--columns"]
    reads, leaves_out = (columns(text.removesuffix(",")) for text in words[1::2])
    named = {name for theirs in reads.values() for name in theirs}
    assert named & {*leaves_out["ignore"]}
    item = load(path, mapped=format_columns(leaves_out)).items[0]
    assert item.inputs.text == (row.get("claim") or row.get("question") or row.get("problem"))
    assert not item.inputs.options and item.reference == type(item.reference)()


def test_right_answers_inside_an_object_stop_as_well(tmp_path: Path) -> None:
    evidence = {"7": [{"sentences": [0], "label": "CONTRADICT"}]}
    path = write(tmp_path / "claims_dev.jsonl", {"id": 1, "claim": "Ice is cold.", "evidence": evidence})
    with pytest.raises(InputError, match=r"evidence may hold the right answer .*--columns ignore=evidence"):
        load(path)
    assert read(path, "ignore=evidence") == claim(None)


def test_an_empty_claim_is_named_by_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("claim,label,question\nIce is cold.,true,What is ice?\n,true,What is snow?\n")
    with pytest.raises(InputError, match=r"line 3: the column claim is empty"):
        load(path)


RIGHT_NAMES = (
    "answer",
    "Answers",
    "answerKey",
    "correct_option",
    "gold_label",
    "target",
    "solution",
    "label",
    "verdict",
)
PLAIN_NAMES = (
    "id",
    "source",
    "topic",
    "category",
    "split",
    "difficulty",
    "url",
    "answer_type",
    "choices_count",
    "note",
)
CELLS = st.one_of(
    st.text("abc :;[]", min_size=1, max_size=6).filter(str.strip),
    st.integers(0, 9),
    st.booleans(),
    st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3, unique=True),
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    asked=st.sampled_from(["question", "claim"]),
    rights=st.dictionaries(st.sampled_from(RIGHT_NAMES), CELLS, min_size=1, max_size=3),
    choices=st.none() | CELLS,
    plain=st.sets(st.sampled_from(PLAIN_NAMES), max_size=4),
)
def test_no_file_is_read_with_a_right_answer_that_is_lost(
    asked: str, rights: Row, choices: object, plain: set[str], tmp_path: Path
) -> None:
    options = {} if choices is None else {"choices": choices}
    path = write(tmp_path / "data.jsonl", {asked: "Ice?", **rights, **options, **dict.fromkeys(plain, "x")})
    try:
        (item,) = load(path).items
    except InputError:
        return
    reference = item.reference
    if asked == "question":
        assert item.inputs.options or choices is None
    assert reference.gold is not None or reference.label is not None or reference.true


@given(plain=st.sets(st.sampled_from(PLAIN_NAMES)), asked=st.sampled_from(["question", "claim"]))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_plain_columns_stop_nothing_and_are_named_as_unused(
    plain: set[str], asked: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "data.jsonl", {asked: "Ice?", **dict.fromkeys(plain, "x")})
    loaded = load(path)
    assert {*loaded.unused} == plain - {"id", "category"}
    told = " ".join(notices(loaded, loaded.items[0].inputs.task, loaded.items))
    assert all(re.search(rf"unused.*\b{name}\b", told) for name in loaded.unused)


# Own columns beside the claim


def test_a_claim_may_have_a_question_and_a_topic_beside_it(tmp_path: Path) -> None:
    row = {"claim": "Ice is cold.", "label": True, "question": "What is ice?", "topic": "ice", "source": "x"}
    path = write(tmp_path / "data.jsonl", row)
    assert read(path) == claim(True)
    assert load(path).unused == ("source", "question", "topic")
    path = write(path, {"question": "Ice is", "options": TEXTS, "gold": "B", "topic": "ice"})
    assert read(path) == CHOICE
    paper = {"claim": "Ice is cold.", "topic": "ice", "title_a": "On ice", "title_b": "On snow"}
    with pytest.raises(InputError, match=r"claim and title_a do not go together.*ignore=claim"):
        load(write(path, paper))
    assert load(path, mapped="ignore=claim").items[0].inputs.task == "compare"
    with pytest.raises(InputError, match="question and claim exclude one another"):
        load(path, mapped="question=claim,claim=claim")


def test_a_column_named_as_cluster_is_used(tmp_path: Path) -> None:
    path = write(tmp_path / "data.jsonl", {"question": "Ice is", "target": "cold", "answer": "cold"})
    with pytest.raises(InputError, match="target and answer"):
        load(path)
    (item,) = load(path, mapped="question=question,true=answer", cluster="target").items
    assert (item.cluster, item.reference.true) == ("cold", ("cold",))


@pytest.mark.parametrize("name", ["a,b", "c=d", "e|f", "plain"])
def test_a_map_of_columns_is_written_as_it_is_read(name: str) -> None:
    mapped = {"question": (name,), "options": ("x", name), "ignore": (name, "y")}
    assert columns(format_columns(mapped)) == mapped


# Before the first call


def test_nothing_is_asked_of_a_file_whose_answers_would_be_lost() -> None:
    write(Path("mine.jsonl"), STOPPED["two answers"])
    with LocalEndpoint(seed=3) as endpoint:
        words = ["mine.jsonl", "--model", f"openai:any@{endpoint.url}", "--out", "out", "--yes"]
        for command_words in (["eval", *words], ["eval", "audit", *words], ["eval", *words, "--dry-run"]):
            refused(command(*command_words), "--columns question=question,true=answer")
        assert endpoint.stats()["calls"] == 0
    assert not Path("out").exists()


def test_an_evaluation_from_before_goes_on_without_the_columns_that_were_not_read() -> None:
    row = {"id": "q1", "question": "Ice is", "note": "x"}
    before = load(write(Path("mine.jsonl"), row))
    write(Path("mine.jsonl"), {**row, "choices": TEXTS, "answer": 1})
    again = load("mine.jsonl", mapped="ignore=choices|answer")
    assert again.items_sha256 == before.items_sha256 != load("mine.jsonl").items_sha256
    options = read_options({"columns": "ignore=choices|answer", "methods": "single_shot"})
    assert prepare("mine.jsonl", options, {"model": "openai:any@http://127.0.0.1:9/v1"}).task == "answer"
