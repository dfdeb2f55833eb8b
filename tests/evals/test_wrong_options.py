"""What is refused before the first call: each wrong option, row and file by its name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dialectree
from dialectree.errors import InputError
from dialectree.evals.options import EvaluationOptions, read_options
from dialectree.evals.plan import prepare
from tests.cli.commands import command, refused
from tests.evals.evaluating import choices, claims, write

MINE, CLAIMS, OPEN, PAIRS = "mine.jsonl", "claims.jsonl", "open.jsonl", "pairs.jsonl"


@pytest.fixture(autouse=True)
def data() -> None:
    """A data set of each task, and one with a fault."""
    choices(2).rename(MINE)
    claims(2).rename(CLAIMS)
    write([{"question": "What?"}], Path(OPEN))
    parts = ("title", "abstract", "introduction")
    papers = {f"{part}_{side}": f"On {side}, {part}." for side in "ab" for part in parts}
    write([{"topic": "ores", **papers}], Path(PAIRS))
    write([{"id": "x", "question": "What?", "options": ["a cow", "a tree"]}], Path("ungold.jsonl"))
    write([{"id": id, "claim": f"{id} is so."} for id in ("a", "a#1")], Path("hashed.jsonl"))
    write([{"question": "What?"}, {"claim": "It is."}], Path("mixed.jsonl"))


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("nothing", {}, "no file 'nothing'; known are truthfulqa"),
    ("medqa", {}, "medqa .*--data FILE with id, claim, label"),
    ("openbookqa", {"data": "none.jsonl"}, "none.jsonl: No such file"),
    (MINE, {"data": MINE}, "--data goes with a data set's name"),
    ("mixed.jsonl", {}, "row '2' is to verify, and the first one to answer"),
    (MINE, {"limit": 0}, "`limit`: input should be"),
    (MINE, {"repeats": 1001}, "`repeats`: "),
    (MINE, {"engine": "spark"}, "`engine`: "),
    (MINE, {"limit": 1, "sample": 1}, "--limit and --sample exclude"),
    (MINE, {"methods": "rsd", "matrix": "rsd"}, "--methods and --matrix exclude"),
    *((MINE, {"shard": shard}, "`shard`: write i/n") for shard in ("0/3", "4/3", "1", "a/b", "1/0")),
    (MINE, {"limit": 1, "shard": "2/2"}, "--shard 2/2: only 1 items"),
    (MINE, {"cluster": "herd"}, "--cluster herd: there is no such column .* options"),
    (MINE, {"columns": "frage=Frage"}, "frage=Frage: known are id"),
    (MINE, {"columns": "question"}, "write question=COLUMN"),
    (MINE, {"columns": "gold=a|b"}, "only options, true, false, sources, evidence, ignore take several"),
    (MINE, {"columns": "gold=a,gold=b"}, "gold is mapped twice"),
    (MINE, {"columns": "question=ask"}, "line 1: there is no column 'ask'; there are: id"),
    (MINE, {"methods": ","}, "`methods`: "),
    (MINE, {"methods": "chess"}, "--methods chess: .* known: art"),
    (MINE, {"methods": "art"}, "art does not decide; .* questions with options: rsd"),
    (MINE, {"methods": "rsd,rsd"}, "--methods: two rows are called 'rsd'"),
    (MINE, {"judge": "chess"}, "`judge`: "),
    (MINE, {"judge": "openai:x"}, "--judge: no score of this data set"),
    (MINE, {"methods": "self_consistency", "vote_first": 3}, "--vote-first: no row debates"),
    (
        MINE,
        {"candidates": "oracle", "distractor": "model", "vote_first": 1},
        "--vote-first: `distractor` model: only a debate asks a model",
    ),
    ("ungold.jsonl", {"candidates": "oracle"}, "need the gold answer, and item 'x' has none"),
    ("hashed.jsonl", {"methods": "direct", "repeats": 2}, "--repeats: an item's id ends in #"),
    (MINE, {"depht": 2}, "depht: there is no such setting"),
    (MINE, {"breadth": 2}, "--breadth: that is no setting of rsd"),
    (MINE, {"gate": -1}, "row 'rsd, gate=-1': `gate`: input should be"),
    (MINE, {"roles": {"umpire": "openai:x"}}, "--role umpire"),
    (MINE, {"max_cost": 1.0}, "`max_cost` needs prices"),
    (MINE, {"matrix": "chess"}, "--matrix chess: .* or one of art, rsd, tod, tsd"),
    (MINE, {"matrix": "chess.yaml"}, "chess.yaml: No such file"),
    *(
        (MINE, {"matrix": text}, f"m.yaml: {message}")
        for text, message in (
            ("rows: [{method: chess}]", r"rows\[1\].method: .*'chess'; known: art,"),
            ("rows: [{method: rsd, setings: {}}]", r"rows\[1\].setings: there is no such key"),
            ("axes: {methods: [rsd, chess]}", r"axes\[1\].methods\[2\].method: .*'chess'"),
            ("rows: []", ".*'rows' or 'axes'"),
            ("rows: [{method: rsd}, {method: rsd}]", "two rows are called 'rsd'"),
            ("rows: [", "cannot be read: while parsing"),
            ("settings: {depth: 2}\nrows: [{method: rsd}]", "settings: .*'depth'"),
            ("rows: [{method: rsd, models: {umpire: 'openai:x'}}]", "row 'rsd': .*'umpire'"),
            ("rows: [{method: rsd, settings: {depth: 2}}]", "row 'rsd, depth=2': depth is no"),
            ("rows: [{method: rsd, settings: {judge: me}}]", ".*judge: this needs a person"),
            ("rows: [{name: one, method: rsd}, {method: rsd}]", "'one' and 'rsd' are the same"),
        )
    ),
]


@pytest.mark.parametrize(("dataset", "given", "message"), WRONG)
def test_a_wrong_option_is_one_line_that_names_it(dataset: str, given: dict[str, Any], message: str) -> None:
    given = {**given}
    if ":" in str(given.get("matrix")):
        Path("m.yaml").write_text(str(given["matrix"]))
        given["matrix"], message = "m.yaml", message.removeprefix("m.yaml: ")
    names = [name for name in given if name in EvaluationOptions.model_fields]
    options = {name: given.pop(name) for name in names}
    with pytest.raises(InputError, match=message) as wrong:
        prepare(dataset, read_options(options), {"model": "openai:x", **given})
    assert "\n" not in str(wrong.value)


def test_no_password_of_a_wrong_judge_is_shown() -> None:
    with pytest.raises(InputError, match="`judge`: ") as wrong:
        read_options({"judge": "openai:@http://me:secret@127.0.0.1:1/v1"})
    assert "secret" not in str(wrong.value)


def test_the_command_names_flags_and_costs_nothing() -> None:
    for words, message in (
        (["nothing"], "there is no data set and no file 'nothing'"),
        ([MINE, "--shard", "5/4"], "--shard: write i/n"),
        ([MINE, "--vote-first", "-1"], "--vote-first"),
        ([MINE, "--methods", "art"], "art does not decide"),
    ):
        refused(command("eval", *words, "--out", "out"), message)
    assert not Path("out/results.jsonl").exists()


def test_python_names_parameters() -> None:
    made: Any = dialectree
    rows = [json.loads(line) for line in Path(CLAIMS).read_text().splitlines()]
    wrong: list[tuple[type[Exception], str, dict[str, Any]]] = [
        (ValueError, "limit and sample exclude one another", {"limit": 1, "sample": 1}),
        (ValueError, "methods: tsd does not verify", {"methods": "tsd"}),
        (TypeError, "max_cals: there is no such setting; did you mean max_calls", {"max_cals": 1}),
        (ValueError, "`vote_first`: input should be", {"vote_first": -1}),
    ]
    for kind, message, options in wrong:
        with pytest.raises(kind, match=message) as told:
            made.evaluate(rows, **options)
        assert "--" not in str(told.value)
