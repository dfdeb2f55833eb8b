"""Nothing is asked: every method says so in one line, and pays for no call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dialectree.context import Context
from dialectree.errors import InputError
from dialectree.graphs import METHODS
from tests.graphs.tree_of_debate.comparing import PAPER_A, PAPER_B
from tests.scripted import ScriptedModel

CALLED = {"tsd": "question", "rsd": "question", "art": "claim", "tod": "topic"}
EMPTY: dict[str, dict[str, Any]] = {
    "none": {},
    "null": {"question": None},
    "no letters": {"question": ""},
    "blanks": {"question": " \n\t"},
    "what cannot be seen": {"question": " \u200b"},
}


def refused(name: str, given: dict[str, Any]) -> str:
    """What the method says of it, to a host and before a run is begun; nothing is asked."""
    model = ScriptedModel()
    context = Context(model=model)
    if METHODS[name].protocol == "tod":
        given = {**given, "papers": [PAPER_A, PAPER_B]}
    with pytest.raises(InputError) as to_a_host:
        asyncio.run(METHODS[name].graph().ainvoke(given, context=context))
    with pytest.raises(InputError) as before:
        METHODS[name].require(given, context)
    assert str(before.value) == str(to_a_host.value)
    assert model.calls == []
    return str(before.value)


@pytest.mark.parametrize("given", EMPTY.values(), ids=EMPTY.keys())
@pytest.mark.parametrize("name", METHODS)
def test_a_method_refuses_an_empty_question_before_any_call(
    name: str, given: dict[str, Any]
) -> None:
    assert refused(name, given) == f"the {CALLED[METHODS[name].protocol]} is empty"


@pytest.mark.parametrize("name", METHODS)
def test_a_method_refuses_a_question_that_is_no_text(name: str) -> None:
    said = refused(name, {"question": ["Why?"]})
    assert said == f"the {CALLED[METHODS[name].protocol]} is no text"
