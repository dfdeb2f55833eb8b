"""Nothing is asked: every method says so in one line, and pays for no call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dialectree.context import build
from dialectree.errors import InputError
from dialectree.protocol import methods
from tests.graphs.tree_of_debate.comparing import PAPER_A, PAPER_B
from tests.scripted import ScriptedModel

CALLED = {"tsd": "question", "rsd": "question", "art": "claim", "tod": "topic"}
MORE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "tod": ({"papers": [PAPER_A, PAPER_B]}, {"paper_a": PAPER_A, "paper_b": PAPER_B})
}
"""What a graph takes beside the question, and what a user gives."""
WRONG = {
    "null": (None, "empty"),
    "no letters": ("", "empty"),
    "blanks": (" \n\t", "empty"),
    "what cannot be seen": (" \u200b", "empty"),
    "no text": (["Why?"], "no text"),
}


@pytest.mark.parametrize(("text", "fault"), WRONG.values(), ids=WRONG.keys())
@pytest.mark.parametrize("name", methods())
def test_a_question_that_is_none_is_refused_before_any_call(
    name: str, text: Any, fault: str
) -> None:
    chosen, model = methods()[name], ScriptedModel()
    protocol = chosen.protocol.name
    to_graph, given = MORE.get(protocol, ({}, {}))
    settings = build(chosen.protocol.settings, model=model)
    with pytest.raises(InputError) as refused:
        asyncio.run(chosen.graph().ainvoke({"question": text, **to_graph}, context=settings))
    assert str(refused.value) == f"the {CALLED[protocol]} is {fault}"
    with pytest.raises(InputError, match=f"^{refused.value}$"):
        chosen.prepare({CALLED[protocol]: text, **given}, settings)
    assert model.calls == []


@pytest.mark.parametrize("name", methods())
def test_a_graph_that_is_given_no_question_says_so(name: str) -> None:
    chosen = methods()[name]
    to_graph, _ = MORE.get(chosen.protocol.name, ({}, {}))
    settings = build(chosen.protocol.settings, model=ScriptedModel())
    with pytest.raises(InputError, match="is empty"):
        asyncio.run(chosen.graph().ainvoke(to_graph, context=settings))
