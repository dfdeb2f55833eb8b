"""What a run asks the person, and what becomes of the answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable

from pydantic import JsonValue

from dialectree import clock
from dialectree.errors import InputError
from dialectree.nodes.role_switching_debate.judge import named_by_person, ruled_by_person
from dialectree.nodes.tree_structured_debate.clarification import answered_by_person
from dialectree.records import Event, path_key
from dialectree.runs import RunFolder

Ask = Callable[[Mapping[str, str]], Awaitable[str] | str]
"""Asks the person: gets node, kind (clarification, judge), question, request and, to judge by, the
transcript and the labels; returns the answer. A plain function serves as well as an asynchronous
one."""
Answers = dict[tuple[str, str], str]
"""What a person answered, by node and kind of request."""


def answered_before(folder: RunFolder) -> Answers:
    """What the person answered before the run was broken off."""
    told = [event for event in folder.told() if event.kind == "answered"]
    return {(e.node, str(e.data.get("of", "clarification"))): str(e.data["answer"]) for e in told}


async def replies(
    requests: Mapping[str, Mapping[str, str]],
    known: Answers,
    ask: Ask,
    folder: RunFolder,
) -> dict[str, str]:
    """What the person says to each request, in the order of the tree.

    Each answer is kept at once: a run that is broken off at the next request does not lose it.
    """
    said: dict[str, str] = {}
    for i, asked in sorted(requests.items(), key=lambda item: path_key(item[1]["node"])):
        answer = known.pop((asked["node"], asked["kind"]), None)
        said[i] = await _answer(ask, asked) if answer is None else answer
        if data := _taken(asked, said[i]):
            event = {"t": clock.stamp(), "run_id": folder.run_id, "node": asked["node"]}
            folder.tell(Event.model_validate({**event, "kind": "answered", "data": data}))
    return said


async def _answer(ask: Ask, asked: Mapping[str, str]) -> str:
    """What ``ask`` says; InputError where that is no text: nobody has kept silent by mistake."""
    said: object = ask(asked)
    if isawaitable(said):
        said = await said
    if not isinstance(said, str):
        raise InputError(f"ask: it returned {said!r:.80}, no text; to say nothing return ''")
    return said


def _taken(asked: Mapping[str, str], answer: str) -> dict[str, JsonValue] | None:
    """What the node will tell of ``answer``; None for a label that it will ask for again."""
    if asked["kind"] != "judge":
        return answered_by_person(answer)
    label = named_by_person(answer)
    return ruled_by_person(label) if label in ["", *asked["labels"].split(", ")] else None


async def nobody(asked: Mapping[str, str]) -> str:
    """Answers for a person who is not there: with nothing, but a ruling cannot be nothing."""
    if asked["kind"] == "judge":
        raise InputError("--judge me: nobody is there to rule")
    return ""
