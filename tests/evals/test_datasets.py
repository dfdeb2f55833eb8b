"""Data sets by name and from files, and one line for whatever is wrong with one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from dialectree.errors import InputError
from dialectree.evals import datasets
from dialectree.evals.dataset_items import Item
from dialectree.evals.datasets import load, notices
from dialectree.protocols.protocol import Dataset

CATALOGUE = datasets.catalogue()
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
MEDQA = {"id": "m-1", "claim": "Ice is warm", "label": "no"}
PAPER = {"url": "https://example.org", "title": "On A", "abstract": "We", "introduction": "In"}
PAIRS = {
    "id": "p-1",
    "topic": "debate",
    "paper_a": PAPER,
    "paper_b": {**PAPER, "title": "On B"},
    "method_or_task": "task",
    "cites": True,
}


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


# The sets by name


def test_every_set_says_where_it_is_from_under_which_licence() -> None:
    for dataset in CATALOGUE.values():
        assert dataset.version and dataset.licence and dataset.source and dataset.citation
        assert bool(dataset.url) == bool(dataset.sha256)
        assert dataset.published or not dataset.url
        if dataset.url:
            assert len(dataset.sha256) == 64
            assert dataset.url.startswith("https://raw.githubusercontent.com/")
            assert "/main/" not in dataset.url and "/master/" not in dataset.url


ASKED_OF = "The answer to the question"
DOCUMENTED: list[tuple[str, object, object, object, object]] = [
    (
        "truthfulqa",
        TRUTHFULQA,
        {"question": "Can cats see in the dark?"},
        {"true": ["A little", "Better than people"], "false": ["Yes, as by day"]}
        | {"best": "A little", "best_false": "Yes, as by day"},
        "Animals",
    ),
    (
        "truthfulqa-binary",
        TRUTHFULQA,
        {"question": TRUTHFULQA["question"], "options": ["Yes, as by day", "A little"]},
        {"gold": "B"},
        "Animals",
    ),
    (
        "truthfulqa-claims",
        {**TRUTHFULQA, "answer": "A little", "label": True},
        {"claim": f"{ASKED_OF} “Can cats see in the dark?” is: “A little”"},
        {"label": True},
        "Animals",
    ),
    (
        "openbookqa",
        OPENBOOKQA,
        {"question": "Ice is", "options": ["warm", "cold", "dry"]},
        {"gold": "B"},
        None,
    ),
    ("strategyqa", STRATEGYQA, {"claim": f"{ASKED_OF} “Is a cube round?” is yes."}, {"label": False}, None),
    ("medqa", MEDQA, {"claim": "Ice is warm"}, {"label": False}, None),
    (
        "tree-of-debate",
        PAIRS,
        {
            "topic": "debate",
            "papers": [
                {"title": title, "abstract": "We", "introduction": "In"} for title in ("On A", "On B")
            ],
        },
        {},
        "task, cited",
    ),
]


@pytest.mark.parametrize(("name", "row", "inputs", "reference", "category"), DOCUMENTED)
def test_the_documented_form_of_a_set_gives_inputs_and_references_apart(
    name: str, row: object, inputs: object, reference: object, category: object, tmp_path: Path
) -> None:
    path = lines(tmp_path / "data.jsonl", row)
    loaded = load(name, path)
    (item,) = loaded.items
    example = item.example()
    assert (example["inputs"], example["reference_outputs"]) == (inputs, reference)
    assert (item.category, item.inputs.task) == (category, CATALOGUE[name].task)
    assert loaded.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    other = {"url": "x", "paper_b": "On B"}
    with pytest.raises(InputError, match=r"line 2: .*(there is no column|is not an object)"):
        load(name, lines(path, row, other))


@pytest.mark.parametrize(("place", "gold"), [(0, "A"), (2, "C"), (-1, None), (3, None)])
def test_an_answer_of_openbookqa_is_a_place_from_0(place: int, gold: str | None, tmp_path: Path) -> None:
    path = lines(tmp_path / "data.jsonl", {**OPENBOOKQA, "answer": place})
    with nullcontext() if gold else pytest.raises(InputError, match=f"no option {place} among 3"):
        assert load("openbookqa", path).items[0].reference.gold == gold


# The published files

TRUTHFULQA_CSV = """\
Type,Category,Question,Best Answer,Best Incorrect Answer,Correct Answers,Incorrect Answers,Source
Adversarial,Animals,"Can cats, as is said, see?",A little,Yes,"A little;  Some, by night",Yes; No,x
Adversarial,Law,Is it legal?,No,Yes,No; Never,Yes,y
"""
ASKED = (
    "Please choose the correct answer to the question: Ice is\n\nAnswer1: warm Answer2: "
    "cold and hard Answer3: dry Answer4: old\n\nAnswer format: answer1/answer2/answer3/answer4"
)
PAIR_LINE = "topic\tu\tA\tab\tin\tv\tB\tba\tni\t1\t0"


def published(name: str, content: str, path: Path) -> list[Item]:
    """Read a file as the published one of a data set."""
    path.write_text(content)
    return load(name, path, datasets_by_name={name: replace(CATALOGUE[name], sha256=digest(path))}).items


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_published_files_give_the_items_of_the_documented_rows(tmp_path: Path) -> None:
    content = json.dumps([{"qid": "ab", "question": "Is it?", "answer": True, "facts": ["yes"]}])
    (item,) = published("strategyqa", content, tmp_path / "mine.json")
    known = {"strategyqa": replace(CATALOGUE["strategyqa"], sha256=digest(tmp_path / "mine.json"))}
    assert load(tmp_path / "mine.json", datasets_by_name=known).items == [item]  # known by its digest
    assert (item.id, item.reference.label) == ("ab", True)
    first, second = published("truthfulqa", TRUTHFULQA_CSV, tmp_path / "TruthfulQA.csv")
    assert (first.id, second.id) == ("tqa-000", "tqa-001")
    assert first.reference.true == ("A little", "Some, by night")
    assert second.reference.false == ("Yes",)
    head, row, _ = TRUTHFULQA_CSV.splitlines(keepends=True)
    order = published("truthfulqa-binary", head + row * 5, tmp_path / "TruthfulQA.csv")
    assert [item.reference.gold for item in order] == list("BABAA")  # as its authors drew them
    first, second, *_ = published("truthfulqa-claims", TRUTHFULQA_CSV, tmp_path / "TruthfulQA.csv")
    assert [(one.id, one.reference.label) for one in (first, second)] == [
        ("tqa-000-t", True),
        ("tqa-000-f", False),
    ]
    assert second.inputs.claim == ("The answer to the question “Can cats, as is said, see?” is: “Yes”")
    content = json.dumps([{"instruction": ASKED, "input": "", "answer": "answer2"}])
    (item,) = published("openbookqa", content, tmp_path / "test.json")
    assert (item.id, item.reference.gold) == ("obqa-test-000", "B")
    assert item.inputs.options == ("warm", "cold and hard", "dry", "old")
    content = f'head\n{PAIR_LINE}\nbroken\tline\n"{PAIR_LINE}\n'
    first, second = published("tree-of-debate", content, tmp_path / "t.tsv")
    assert (first.id, second.id) == ("tod-000", "tod-002")
    assert (first.category, first.inputs.papers[1].title) == ("task, not cited", "B")


@pytest.mark.parametrize("broken", ["[1]", '[{"instruction": "x", "answer": "answer1"}]'])
def test_a_published_file_of_another_form_is_named(broken: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"test\.json is not the published file"):
        published("openbookqa", broken, tmp_path / "test.json")


# Fetching

CONTENT = b'id,claim,label\n1,"Ice is cold",yes\n'
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Serve answers on this machine; the function returns a data set that is published there."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    servers: list[tuple[ThreadingHTTPServer, Thread]] = []

    def serve(content: bytes = CONTENT, status: int = 200, missing: int = 0) -> Dataset:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(content) + missing))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        servers.append((server, thread))
        url = f"http://127.0.0.1:{server.server_port}/at/commit/claims.csv"
        return replace(CATALOGUE["medqa"], url=url, sha256=DIGEST)

    yield serve
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_file_is_fetched_once_into_the_cache_folder_and_a_damaged_copy_anew(
    serving: Callable[..., Dataset], tmp_path: Path
) -> None:
    dataset = serving()
    path = datasets.fetch_dataset(dataset)
    assert path.parent == tmp_path / "cache" / "datasets" and path.read_bytes() == CONTENT
    gone = replace(dataset, url="http://127.0.0.1:9/at/commit/claims.csv")
    assert datasets.fetch_dataset(gone) == path  # nothing is asked for
    path.write_bytes(CONTENT[:9])
    assert datasets.fetch_dataset(dataset).read_bytes() == CONTENT
    loaded = load("medqa", datasets_by_name={"medqa": dataset})
    assert (loaded.sha256, loaded.items[0].reference.label) == (DIGEST, True)


@pytest.mark.parametrize("answer", [{"content": b"something else"}, {"status": 404}, {"missing": 5}, None])
def test_another_file_an_error_or_half_a_file_is_refused_and_nothing_is_kept(
    serving: Callable[..., Dataset], answer: dict[str, Any] | None
) -> None:
    nobody = replace(CATALOGUE["medqa"], url="http://127.0.0.1:9/x", sha256=DIGEST)
    dataset = nobody if answer is None else serving(**answer)
    with pytest.raises(InputError, match=r"cannot be fetched.*--data FILE") as caught:
        datasets.fetch_dataset(dataset, timeout_s=0.5)
    home = datasets.make_cache_path(dataset).parent
    assert "\n" not in str(caught.value)
    assert not home.exists() or [*home.iterdir()] == []


# A file of one's own


def test_columns_may_bear_our_names_or_be_mapped(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("id,question,options,gold\nq1,What?,this;that,B\nq2,Who?,she;he,She\n")
    loaded = load(path)
    assert (loaded.name, [item.id for item in loaded.items]) == ("own", ["q1", "q2"])
    assert [item.reference.gold for item in loaded.items] == ["B", "A"]
    path.write_text("Frage,a,b,c,key\n2+2?,3,4,,b\n1+1?,1,2,3,2\n")
    items = load(path, mapped="question=Frage,options=a|b|c,gold=key").items
    assert [item.inputs.options for item in items] == [("3", "4"), ("1", "2", "3")]
    assert [(item.id, item.reference.gold) for item in items] == [("1", "B"), ("2", "B")]
    path = lines(tmp_path / "odd.jsonl", {"a,b": "Why?", "c=d|e": "So"})
    (item,) = load(path, mapped=r"question=a\,b,best=c\=d\|e").items
    assert (item.inputs.question, item.reference.best) == ("Why?", "So")


@pytest.mark.parametrize(
    ("options", "gold", "letter"),
    [
        (["x", "y", "z"], 0, "A"),
        (["x", "y", "z"], 2, "C"),
        (["x", "y", "z"], 1.0, "B"),  # of a table in which some rows have no number
        (["x", "y", "z"], "1", "B"),
        ([3, 4, 5], 4, "B"),  # the text of an option goes first
        (["2", "1", "0"], 0, "C"),
    ],
)
def test_gold_may_be_a_number_an_options_place_from_0(
    options: list[Any], gold: Any, letter: str, tmp_path: Path
) -> None:
    path = lines(tmp_path / "d.jsonl", {"question": "Which?", "options": options, "gold": gold})
    loaded = load(path)
    assert loaded.items[0].reference.gold == letter
    told = [*notices(loaded, "decide", loaded.items)]
    by_place = f"{path}: gold is a number in 1 of 1 row: the option's place, counted from 0"
    assert told == ([] if str(gold) in map(str, options) else [by_place])


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


def test_marks_line_ends_and_breaks_in_cells_are_read_as_meant(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_bytes(b'\xef\xbb\xbfid,question\r\n1,"Which\r\nline?"\r\n\r\n2,"Say ""hi"""\r\n')
    assert [i.inputs.question for i in load(path).items] == ["Which\r\nline?", 'Say "hi"']
    path = tmp_path / "own.jsonl"
    path.write_bytes('\ufeff{"question": "One\u2028line?"}\r\n\r\n{"question": "é"}'.encode())
    assert [i.inputs.question for i in load(path).items] == ["One\u2028line?", "é"]


ONE = '{"question": "One?"}\n'


@pytest.mark.parametrize(
    ("name", "content", "messages"),
    [
        ("a.jsonl", ONE + '{"question": "Tw', ("line 2", "cut off")),
        ("a.csv", "id,question\n1,One?\n2", ("line 3", "cut off")),
        ("a.csv", 'id,question\n1,One?\n2,"Two', ("line 3", "cut off")),
        ("a.csv", "id,question\n", ("holds no rows",)),
        ("a.csv", "id,question\n1,One?,more\n", ("line 2", "3 columns instead of 2")),
        ("a.csv", "id,question\nx,One?\n\nx,Two?\n", ("line 4", "'x'", "line 2 already")),
        ("a.jsonl", '{"id": "2", "question": "?"}\n' + ONE, ("line 2", "gets its number")),
        ("a.csv", "id,ask\n1,One?\n", ("line 2", "claim or topic", "there are: id, ask")),
        ("a.csv", "id,id\n1,2\n", ("line 1", "every column needs a name of its own")),
        ("a.csv", "\ufeff\n", ("no rows",)),
        ("a.csv", b"id,question\n1,One?\n2,Caf\xe9?\n", ("line 3", "save the file as UTF-8")),
        ("a.parquet", b"PAR1", ("ends in .jsonl, .ndjson, .csv, .tsv",)),
        *(
            ("a.jsonl", f'{{"question": "fine?"}}\n{line}\n', ("line 2", message))
            for line, message in (
                ("[1]", "not a JSON object"),
                ('{"question": NaN}', "not JSON"),
                ('{"question": ["a"]}', "not a text"),
                ('{"question": "  "}', "one question"),
                ('{"question": "a", "options": 3}', "2 to 26 options"),
                ('{"question": "a", "options": {"b": {}}}', "not a list of texts"),
                ('{"question": "a", "options": ["b", "", "c"]}', "is empty"),
                ('{"question": "a", "options": ["b"]}', "2 to 26 options"),
                ('{"question": "a", "options": ["b", "b "]}', "the same"),
                ('{"question": "a", "options": ["b", "c"], "gold": "d"}', "none of the options"),
                ('{"question": "a", "options": ["b", "c"], "gold": 2}', "no option 2 among 2"),
                ('{"claim": "a", "label": "maybe"}', "label: 'maybe' says neither true nor false"),
                ('{"claim": "a", "options": ["b", "c"]}', "options belong to a question"),
                ('{"topic": "a", "title_a": "b"}', "two papers"),
            )
        ),
    ],
)
def test_a_bad_file_is_one_line_that_names_file_and_row(
    name: str, content: str | bytes, messages: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError) as caught:
        load(path)
    line = str(caught.value)
    assert "\n" not in line
    for message in (str(path), *messages):
        assert message in line


# What is told before the first call


def test_oddities_of_the_data_are_told_before_the_first_call(tmp_path: Path) -> None:
    asked = {"question": "What?", "options": ["a", "b"], "Note": 1}
    rows = [{**asked, "id": f"q{n}", "gold": "AB"[n > 2]} for n in range(4)]
    rows[0].pop("gold")
    path = lines(tmp_path / "d.jsonl", *rows)
    loaded = load(path)
    unknown, repeated, right = notices(loaded, "decide", loaded.items)
    assert unknown.startswith(f"{path}: unused column Note; --columns NAME=COLUMN reads as id,")
    assert repeated == (
        f"{path}: 3 of 4 rows repeat another's question and options, 1 of them with another right "
        "answer: all count as questions of their own"
    )
    assert right.startswith(f"{path}: 1 of 4 rows do not say what is right (gold)")
    again = [item.model_copy(update={"repeat": 1}) for item in loaded.items]  # of --repeats 2
    assert [*notices(loaded, "decide", [*loaded.items, *again])] == [unknown, repeated, right]
    assert load(path, mapped="question=question,options=options,ignore=gold").unused == ()
