"""What a program or a notebook meets: errors, records that show themselves, and progress."""

from __future__ import annotations

import asyncio
import inspect
import re
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from rich.console import Console

import dialectree
from dialectree import functions
from dialectree.contests import Drop
from dialectree.protocols.protocol import load_protocols
from dialectree.records import RunRecord, Verdict
from dialectree.report import progress
from tests.endpoint import LocalEndpoint
from tests.report import recorded
from tests.report.recorded import DEMOS, Page

QUESTION = "Do all people in Europe speak one language?"
CLAIM = "Chameleons change colour mainly for camouflage."
made: Any = dialectree  # calls that a type checker would refuse


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with LocalEndpoint(seed=3) as endpoint:
        yield f"openai:any@{endpoint.url}"


# Errors


WRONG: dict[str, tuple[type[Exception], str, str, tuple[Any, ...], dict[str, Any]]] = {
    "a value": (ValueError, "^`max_depth`: ", "answer", (QUESTION,), {"max_depth": -1}),
    "a name": (TypeError, "max_dpeth.*did you mean max_depth", "answer", (QUESTION,), {"max_dpeth": 1}),
    "of another method": (
        *(TypeError, "^`samples`: tsd has no such setting", "answer", (QUESTION,)),
        {"samples": 3},
    ),
    "no input": (TypeError, "^the claim is missing", "run", ("art",), {}),
    "too many inputs": (*(TypeError, "takes 2 inputs: claim, sources", "run", ("art", CLAIM, [], 1)), {}),
    "an input twice": (TypeError, "claim is given twice", "run", ("art", CLAIM), {"claim": CLAIM}),
    "one option": (ValueError, "^`options`: one option", "decide", (QUESTION, ["yes"]), {}),
    "a method": (ValueError, "^`method` x: ", "answer", (QUESTION,), {"method_name": "x"}),
    "a role": (ValueError, "^`roles` ", "verify", (CLAIM,), {"roles": {"judge": "openai:x"}}),
    "two settings": (
        *(ValueError, "`replay` and `cache=False` exclude", "answer", (QUESTION,)),
        {"replay": True, "cache": False},
    ),
    "a run": (FileNotFoundError, "there is no run 'gone'", "load", ("gone",), {}),
    "a run to resume": (FileNotFoundError, "there is no run", "resume", ("gone",), {}),
}


@pytest.mark.parametrize(("kind", "message", "name", "inputs", "settings"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_argument_raises_what_python_raises_and_names_the_parameter(
    kind: type[Exception], message: str, name: str, inputs: Any, settings: dict[str, Any]
) -> None:
    with pytest.raises(kind, match=message) as refused:
        getattr(made, name)(*inputs, **settings)
    assert isinstance(refused.value, dialectree.DialectreeError)
    assert refused.value.status == 2
    assert "--" not in str(refused.value)
    assert not Path("runs").exists()


def test_a_wish_that_cannot_be_is_named(model: str) -> None:
    record = dialectree.verify(CLAIM, model=model)
    with pytest.raises(ValueError, match=r"^`drop` 7: "):
        dialectree.contest(record, [Drop("7")])
    with pytest.raises(ValueError, match=r"give .*`drop` or `restore`$"):
        dialectree.contest(record, [])


# Signatures


@pytest.mark.parametrize("name", ["answer", "decide", "verify", "compare", "vote"])
def test_a_function_takes_the_input_of_its_protocol_and_passes_all_that_is_given(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = dict[str, Any]()

    async def arun(protocol: str, **values: Any) -> None:
        passed.update(values, protocol=protocol)

    monkeypatch.setattr(functions, "arun", arun)
    function = getattr(made, name)
    given = {part: f"the {part}" for part in inspect.signature(function).parameters if part != "values"}
    function(**given, max_calls=9)
    protocol = load_protocols()[passed.pop("protocol")]
    assert given.keys() == protocol.input.model_fields.keys()
    assert passed == {**given, "max_calls": 9}


# Records


def test_a_record_knows_its_folder_and_can_be_loaded(model: str) -> None:
    record = dialectree.verify(CLAIM, model=model, runs="elsewhere")
    assert record.path == Path("elsewhere").absolute() / record.run_id
    for run in (record.run_id, str(record.path), Path("elsewhere") / record.run_id):
        loaded = dialectree.load(run, runs="elsewhere")
        assert (loaded, loaded.path) == (record, record.path)
    assert recorded.record("tsd").path is None
    dropped = dialectree.contest(record, [Drop("0.1")])  # found by its own folder
    assert dropped.path == Path("runs").absolute() / dropped.run_id


def test_a_probability_is_called_one(model: str) -> None:
    verdict = dialectree.verify(CLAIM, model=model).verdict
    assert verdict is not None and verdict.probability == verdict.confidence
    assert verdict.model_dump()["probability"] == verdict.confidence
    assert Verdict.model_validate_json(verdict.model_dump_json()) == verdict
    other = Verdict(answer="no", confidence=0.3, confidence_source="judge")
    assert other.probability is None and "probability" not in other.model_dump()


@pytest.mark.parametrize(
    ("record", "shown"),
    [
        (recorded.record("tsd"), " · Confidence 0.74 · source: judges · 24 calls · 19,854 tokens"),
        (recorded.record("art"), "P(claim) 0.65: more likely true than false · 10 calls"),
        (recorded.prefix("tsd", 9), "There is no verdict yet. · "),
    ],
)
def test_a_record_says_in_two_lines_what_came_of_it(record: RunRecord, shown: str) -> None:
    first, second = repr(record).splitlines()
    assert first.startswith(f"<RunRecord {record.run_id} ({record.method}, {record.status}): ")
    assert shown in second
    assert str(record) == repr(record)


CARDS = {
    **{name: recorded.record(name) for name in DEMOS},
    "partial": recorded.prefix("tsd", 12),
    "degraded": recorded.failed("tsd"),
}


@pytest.mark.parametrize("record", CARDS.values(), ids=CARDS.keys())
def test_a_card_shows_a_run_and_asks_for_nothing(record: RunRecord) -> None:
    page = Page(record._repr_html_())
    assert page.open == [] and page.ids == [] and page.links == []
    assert not {"script", "link", "img", "iframe", "object", "form", "h1", "h2"} & {*page.elements}
    asked = str(record.input["question"])
    assert asked in page.text
    assert all(node.text[:100] in page.text for node in record.tree.nodes.values())
    assert page.elements.count("details") > 1
    assert f"{record.usage.calls} calls" in page.text
    probable = record.verdict is not None and record.verdict.probable
    assert ("P(claim)" in page.text) == probable
    assert not (probable and "confidence" in page.text)


def test_the_rules_of_a_card_hold_for_the_card_alone() -> None:
    card = recorded.record("tsd")._repr_html_()
    style = card[card.index("<style>") + len("<style>") : card.index("</style>")].strip()
    assert style.startswith(".dialectree {") and style.endswith("}")
    depth = 0
    for place, char in enumerate(style):
        depth += (char == "{") - (char == "}")
        assert depth or place in (len(style) - 1, *range(len(".dialectree "))), style[place - 40 :]


@pytest.mark.parametrize("name", DEMOS)
def test_a_card_shows_hostile_texts_and_obeys_none(name: str) -> None:
    ordinary = {*Page(recorded.everywhere(name, "plain")._repr_html_()).elements}
    hostile = Page(recorded.everywhere(name, "</style><script>x</script>\x1b[2J{{ 1 }}")._repr_html_())
    assert {*hostile.elements} == ordinary and "\x1b" not in hostile.text
    assert "<script>x</script>" in hostile.text


def test_a_card_warns_of_the_embedded_model() -> None:
    demonstration = recorded.record("tsd").model_copy(update={"demonstration": True})
    assert "answers at chance" in demonstration._repr_html_()
    assert "answers at chance" not in recorded.record("tsd")._repr_html_()


# Progress


@pytest.fixture
def cells(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the outputs of a notebook, each with its texts, as IPython's display fills them."""
    outputs: list[list[str]] = []

    class Handle:
        def update(self, data: dict[str, str], *, raw: bool) -> None:
            assert raw and "<script" not in data["text/html"]
            outputs[-1].append(data["text/plain"])

    def display(data: dict[str, str], *, raw: bool, display_id: bool) -> Handle:
        assert raw and display_id
        outputs.append([data["text/plain"]])
        return Handle()

    module: Any = ModuleType("IPython.display")
    module.display = display
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr(progress, "Console", lambda stderr: Console(force_jupyter=True))
    return outputs


def test_a_notebook_shows_in_one_place_what_goes_on(cells: list[list[str]], model: str) -> None:
    async def notebook() -> RunRecord:
        return dialectree.verify(CLAIM, model=model)

    record = asyncio.run(notebook())
    (texts,) = cells
    assert texts[-1].startswith(f"run {record.run_id} · {record.usage.calls} replies, ")
    assert texts[-1].endswith(" · done")
    dialectree.verify(CLAIM, model=model, progress=False)
    assert len(cells) == 1


def test_progress_says_who_speaks(cells: list[list[str]]) -> None:
    account = progress.Progress("1")
    for event in recorded.events("art")[:-1]:
        account.watch(event)
        if event.kind == "spoke" and event.data["role"] == "attacker":
            break

    async def shown() -> None:
        async with progress.show(account.line, True):
            await asyncio.sleep(0)

    asyncio.run(shown())
    assert re.search(r"^run 1 · \d+ repl(?:y|ies), .* · 0 Attacker: Making the battery", cells[0][-1])


def test_a_program_shows_progress_when_it_is_asked_to(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = StringIO()
    monkeypatch.setattr(progress, "Console", lambda stderr: Console(file=printed, width=200))
    dialectree.verify(CLAIM, model=model)
    assert printed.getvalue() == ""
    record = dialectree.verify(CLAIM, model=model, progress=True)
    (line,) = printed.getvalue().strip().splitlines()
    assert line.startswith(f"run {record.run_id} · {record.usage.calls} replies, ")
