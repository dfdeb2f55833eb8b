"""Argument trees in the page, and what the views make of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dialectree.records import RunRecord
from dialectree.report import arguments, html, words
from dialectree.text import clean, figure
from tests.report import sample, sample_art
from tests.report.test_pages import Page

RUNS = [
    sample_art.record,
    sample_art.pruned,
    sample_art.both_orders,
    sample_art.undecided,
    sample_art.unheard,
    sample_art.unknown,
    sample_art.ensemble,
    sample_art.contested,
    sample_art.leaf_of_a_tree,
]


def test_what_hangs_below_a_pruned_argument_does_not_count_either() -> None:
    record = sample_art.record()
    record.settings["prune_below"] = 0.95
    below = record.tree.nodes["0.1.0"]
    assert arguments.standing(record, below) == "pruned: its weight is below 0.95"
    record.settings["prune_below"] = None
    record.tree.nodes["0.1"].dropped = True
    assert arguments.standing(record, below) == "does not count: 0.1 above it does not"


def test_an_undecided_side_names_the_arguments_that_lack_a_strength() -> None:
    record = sample_art.unheard()
    assert "--set" not in words.unresolved(record)
    for name in ("0.0", "0.1.0"):
        record.tree.nodes[name].scores.pop("blended")
    assert words.unresolved(record).endswith(
        "dialectree contest 20260131-120000-abc123 --set 0.0=STRENGTH"
    )
    record.tree.nodes["0.0"].dropped = True
    assert "--set" not in words.unresolved(record)


def test_what_was_dropped_or_voided_is_struck_through() -> None:
    record = sample_art.contested()
    shown = html(record, [])
    assert f'<s dir="auto">{sample_art.MORE}</s>' in shown
    assert shown.count("</s>") == 3


def test_a_census_counts_claims_and_arguments_apart() -> None:
    assert words.census(sample_art.record()) == "1 claim and 4 arguments"
    assert words.census(sample_art.leaf_of_a_tree()) == "2 questions, 1 claim and 4 arguments"
    assert words.census(sample.record()) == "3 questions"
    assert words.unit(sample_art.record()) == "argument"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "–"),
        (0.0, "0.00"),
        (0.004, "0.004"),
        (0.41, "0.41"),
        (0.4996, "0.4996"),
        (0.5, "0.50"),
        (0.5028, "0.503"),
        (0.997, "0.997"),
        (1.0, "1.00"),
        (1e-9, ">0"),
        (0.5 - 1e-9, "<0.5"),
        (0.5 + 1e-9, ">0.5"),
        (1 - 1e-9, "<1"),
    ],
)
def test_a_strength_never_reads_as_a_limit_that_it_is_not(value: float | None, said: str) -> None:
    assert figure(value) == said


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("art", "Adaptive Reasoning Tree"),
        ("argllm", "ArgLLM, arguments weighed without meeting each other"),
        ("direct", "Yes or no without debate"),
        ("cot", "Reasoning, then yes or no, without debate"),
    ],
)
def test_methods_are_named_in_plain_words(method: str, said: str) -> None:
    record = sample_art.record().model_copy(update={"method": method})
    assert words.method(record).startswith(said)


@pytest.mark.parametrize("make", RUNS)
def test_each_kind_of_run_makes_a_whole_page(make: Callable[[], RunRecord]) -> None:
    record = make()
    parsed = Page(html(record, []))
    assert parsed.open == []
    assert len(parsed.ids) == len(set(parsed.ids))
    assert {link[1:] for link in parsed.links} <= set(parsed.ids)


@pytest.mark.parametrize("hostile", sample.HOSTILE)
def test_no_text_of_an_argument_is_more_than_text(hostile: str) -> None:
    record, plain = sample_art.everywhere(hostile), sample_art.everywhere("x")
    parsed, ordinary = Page(html(record, [])), Page(html(plain, []))
    assert set(parsed.elements) <= {*ordinary.elements, "details", "summary"}
    assert parsed.names <= {*ordinary.names, "class", "open"}
    assert parsed.open == []
    assert " ".join(clean(hostile).split()) in " ".join(parsed.text.split())
    assert not any(c in html(record, []) for c in "\x00\x07\x1b\x9b\ud800\u202e\u2066")
