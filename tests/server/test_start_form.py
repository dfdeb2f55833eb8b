"""What a form needs to begin a debate: ways in, examples, presets, and settings in words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from dialectree import ProtocolInput, ProtocolSettings, option
from dialectree.interfaces.presets import LEVELS
from dialectree.interfaces.server import acting, debates, protocols
from dialectree.interfaces.server.form_words import SettingWords
from dialectree.interfaces.server.ways_in import find_way_in, list_examples
from dialectree.protocols.protocol import Protocol, load_protocols
from dialectree.protocols.trust import find_marked_fields
from tests.protocols.test_protocol import declared

OURS = {name: one for name, one in load_protocols().items() if one.ours}
WAYS = {"art": "claim", "rsd": "choice", "vote_first": "choice", "tsd": "question", "tod": "papers"}


@pytest.fixture(scope="module")
def served() -> dict[str, Any]:
    """The entries of the route of protocols, by name."""
    client = TestClient(Starlette(routes=protocols.routes))
    return {one["name"]: one for one in client.get("/protocols").json()["protocols"]}


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    monkeypatch.setenv("DIALECTREE_RUNS", str(tmp_path))
    every, faults = [*debates.routes, *acting.routes], debates.exception_handlers
    return TestClient(Starlette(routes=every, exception_handlers=faults))


def test_each_protocol_of_ours_has_a_way_in_and_three_presets(served: dict[str, Any]) -> None:
    assert {name: served[name]["kind"] for name in WAYS} == WAYS
    for name, protocol in OURS.items():
        presets, words = served[name]["presets"], served[name]["preset_words"]
        assert [*presets][:3] == [*LEVELS] and presets["usual"] == {}
        assert {name: len(lines) for name, lines in words.items()} == {n: len(presets[n]) for n in presets}
        for settings in presets.values():
            protocol.methods()[name].configure(settings, warn=pytest.fail)


@pytest.mark.parametrize("name", WAYS)
def test_a_preset_changes_what_each_example_will_take(client: TestClient, name: str) -> None:
    """The CPU goes into rehearsals, of which a comparison of papers takes most."""
    protocol = OURS[name]
    examples = list_examples(protocol)
    assert len(examples) == 3
    for given in examples:
        body = {"given": given, "settings": {"model": "openai:any"}, "estimate": False}
        assert client.post(f"/protocols/{name}/prepare", json=body).status_code == 200
    expected: list[dict[str, Any]] = []
    for level in LEVELS:
        settings = {"model": "openai:any", **protocol.presets[level]}
        body = {"given": examples[0], "settings": settings}
        expected.append(client.post(f"/protocols/{name}/prepare", json=body).json()["estimate"])
    end = "least" if name == "rsd" else "median"  # fast: direct answers, and a debate if they differ
    for figure in ("calls", "tokens"):
        fast, usual, thorough = (one[figure][end] for one in expected)
        assert fast < usual < thorough
    assert all(one["line"] and one["seconds"]["median"] > 0 for one in expected)


class Claim(ProtocolInput):
    """A claim of a stranger."""

    claim: str = option(positional=True)
    """What is claimed."""


class Papers(ProtocolInput):
    """Two files of a stranger."""

    first: str | Path = option(positional=True)
    """One file."""
    second: str | Path = option(positional=True)
    """The other one."""
    about: str = option()
    """What they are about."""


class Needy(ProtocolInput):
    """More than an example has."""

    question: str = option(positional=True)
    """What is asked."""
    jurisdiction: str = option()
    """Whose law holds."""


STRANGERS: list[tuple[dict[str, Any], str, set[str]]] = [
    ({}, "question", {"question"}),
    ({"outcome": "probability"}, "claim", {"question"}),
    ({"input": Claim}, "claim", {"claim"}),
    ({"input": Papers}, "papers", {"first", "second", "about"}),
    ({"input": Needy}, "question", set()),
]


@pytest.mark.parametrize(("fields", "kind", "given"), STRANGERS)
def test_the_way_into_a_strangers_protocol_follows_from_its_input(
    fields: dict[str, Any], kind: str, given: set[str]
) -> None:
    protocol = declared(**fields)
    assert find_way_in(protocol) == kind
    assert [{*one} for one in list_examples(protocol)] == ([given] * 3 if given else [])


CODE = re.compile(r"`|\bNone\b|\b[A-Z][a-z]{2,}[A-Z]\w+|\b(?!voter_\d)[a-z]+_[a-z_]+\b(?!:)")
"""A name in Python, or backticks around one."""


def texts(field: dict[str, Any]) -> list[str]:
    return [field["title"], field["description"], *field.get("choices", {}).values()]


@pytest.mark.parametrize("name", WAYS)
def test_a_form_says_in_words_what_each_setting_means(served: dict[str, Any], name: str) -> None:
    fields: dict[str, Any] = served[name]["forms"]["settings"]["properties"]
    titles = [field["title"] for field in fields.values()]
    assert len(titles) == len({*titles}) > 10
    for setting, field in fields.items():
        assert field["group"] and field["description"], setting
        if setting != "roles":  # its fields are named by their roles
            assert not [text for text in texts(field) if CODE.search(text)], (setting, texts(field))
        values = {*field.get("enum", ())}
        assert {*field.get("choices", values)} == values, setting
        assert all(value in field["choices"] for value in values if "_" in value), setting
    assert [n for n in fields if fields[n].get("common")][:2] == ["model", "roles"]
    assert not find_marked_fields(OURS[name].settings, fields, "operator")
    lines = [line for lines in served[name]["preset_words"].values() for line in lines]
    assert lines and not [line for line in lines if CODE.search(line)]


class Spoken(ProtocolSettings):
    """Settings whose descriptions name others."""

    speed: str = option("slow_one", group="Own", title="How fast", choices={"slow_one": "slowly"})
    """``slow_one`` is usual."""
    rests: int | None = option(None, group="Own")
    """Only ``speed`` ``slow_one`` reads it; none: with `art`, ``x_of_its_own``."""
    said: list[str] | None = option(None, group="Own")
    """Words: ``word=thing``."""


def test_names_and_values_in_a_description_become_titles_and_words() -> None:
    protocol: Protocol = declared("spoken", settings=Spoken)
    words, names = SettingWords(protocol), ("speed", "rests", "said")
    form = words.describe_form({"properties": {name: {} for name in names}})["properties"]
    assert [form[name]["description"] for name in names] == [
        "“slowly” is usual.",
        "Only “How fast: slowly” reads it; left empty: with Adaptive Reasoning Tree, x_of_its_own.",
        "Words.",
    ]
    assert words.describe_preset({"speed": "slow_one", "rests": 3, "cache": True}) == [
        "How fast: slowly",
        "Rests: 3",
        "Cache: yes",
    ]
