"""Every field, phase and role whose name does not explain itself has a name for readers."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Iterator

import pytest
from pydantic import BaseModel, JsonValue

from dialectree.protocols.protocol import Protocol, load_protocols
from dialectree.report import words
from tests.report.recorded import DEMOS, record

OURS = [one for one in load_protocols().values() if one.graph.startswith("dialectree.")]
CRYPTIC = {"n", "qid", "occurs", "percent", "stop"}
"""Names that are words, or parts of words, and say nothing to a reader."""


def field_names(value: JsonValue) -> Iterator[str]:
    """Yield the name of each field in a reply, at any depth."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from field_names(inner)
    for inner in value if isinstance(value, list) else ():
        yield from field_names(inner)


def known_names(protocol: Protocol) -> set[str]:
    """Return the names of all fields of replies, phases, roles and purposes of a protocol."""
    names = {*protocol.order.phases, *protocol.roles, *protocol.look_of({}).purposes, "n", "occurs"}
    package = importlib.import_module(protocol.graph.partition(":")[0].rpartition(".")[0])
    nodes = package.__name__.replace("graphs", "nodes")
    modules = [package]
    if importlib.util.find_spec(nodes) is not None:
        path = importlib.import_module(nodes).__path__
        modules += [
            importlib.import_module(f"{nodes}.{module.name}") for module in pkgutil.iter_modules(path)
        ]
    for module in modules:
        for _, kind in inspect.getmembers(module, inspect.isclass):
            names |= {*kind.model_fields} if issubclass(kind, BaseModel) else set()
    return names


@pytest.mark.parametrize("name", DEMOS)
def test_no_field_of_a_reply_is_shown_by_a_name_of_the_code(name: str) -> None:
    run = record(name)
    captions = words.look(run).captions
    turns = [turn for node in run.tree.nodes.values() for turn in node.transcript]
    shown = {name for turn in turns for name in field_names({**turn.fields})}
    cryptic = {name for name in shown if "_" in name or name in CRYPTIC}
    assert cryptic <= captions.keys()
    assert {turn.phase for turn in turns if turn.phase == "cross_examination"} <= captions.keys()


@pytest.mark.parametrize("protocol", OURS, ids=lambda protocol: protocol.name)
def test_every_caption_is_of_something_that_there_is(protocol: Protocol) -> None:
    look = protocol.look_of({})
    assert look.captions.keys() <= known_names(protocol)
