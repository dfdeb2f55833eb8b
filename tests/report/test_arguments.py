"""Argument trees in the page, in Markdown and in the terminal."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rich.cells import cell_len

from dialectree.records import RunRecord, Tree
from dialectree.report import arguments, html, markdown, transcript, tree, words
from dialectree.report.words import clean, figure
from tests.report import sample, sample_art
from tests.report.test_exchange import Shown, everywhere, flat, page, terminal, text
from tests.report.test_pages import Page, read
from tests.report.test_terminal import seen

RUNS = [
    sample_art.record,
    sample_art.pruned,
    sample_art.both_orders,
    sample_art.undecided,
    sample_art.unheard,
    sample_art.unknown,
    sample_art.taken_back,
    sample_art.ensemble,
    sample_art.contested,
    sample_art.leaf_of_a_tree,
]


@everywhere
def test_the_verdict_is_a_probability_and_never_a_confidence(shown: Shown) -> None:
    said = flat(shown(sample_art.record()))
    assert "P(claim)" in said and "below the threshold 0.5: False" in said and "0.41" in said
    assert "onfidence" not in said


@everywhere
def test_the_reckoning_is_named(shown: Shown) -> None:
    said = flat(shown(sample_art.record()))
    assert "DF-QuAD semantics · λ" in said and "a tie counts for nobody" in said
    assert "θ is a Bradley-Terry fit" in said  # a record that names no rule was made by this one
    rates = flat(shown(sample_art.run(sample_art.events(), strength_rule="win_rate")))
    assert "θ is a mean win rate" in rates and "a tie counts half for each" in rates
    argllm = sample_art.record().model_copy(update={"method": "argllm"})
    assert "0 (comparisons do not count)" in flat(shown(argllm))


@everywhere
def test_each_argument_shows_its_stance_and_how_its_strength_came_about(shown: Shown) -> None:
    said = flat(shown(sample_art.record()))
    for part in (
        "✓ supports",
        "✗ attacks",
        "τ 0.68, θ 0.00 → τ′ 0.34 → s 0.34",
        "τ 0.80, θ 1.00 → τ′ 0.90 → s 0.97",
        "τ 0.25 → s 0.25",
        sample_art.AGAINST,
        "Why 0.1 weighs.",
    ):
        assert part in said


@everywhere
def test_a_parent_shows_who_beat_whom_ties_and_who_declined(shown: Shown) -> None:
    said = flat(shown(sample_art.record()))
    assert "0.0 lost to 0.1" in said and "0.0 tied with 0.2" in said
    assert "Why ATTACK." in said
    assert "beat 0.0" in said
    assert "1 tie counts for nobody" in said
    assert "The attacker declined: it has no (further) honest argument against this." in said


def test_the_terminal_has_one_compact_line_for_an_argument() -> None:
    rows = seen(tree(sample_art.record()), 80).splitlines()
    line = next(row for row in rows if "0.1 ✗" in row)
    assert line == "├── 0.1 ✗ attacks  τ 0.80, θ 1.00 → τ′ 0.90 → s 0.97 ████████"
    assert rows[rows.index(line) + 3] == "│   beat 0.0"


@everywhere
def test_what_does_not_count_says_so(shown: Shown) -> None:
    said = flat(shown(sample_art.pruned()))
    assert "pruned: its weight is below 0.3" in said
    assert "left out: it has no strength" in said
    assert "arguments below 0.3 are pruned" in said


def test_what_hangs_below_a_pruned_argument_does_not_count_either() -> None:
    record = sample_art.record()
    record.settings["prune_below"] = 0.95
    below = record.tree.nodes["0.1.0"]
    assert arguments.standing(record, below) == "pruned: its weight is below 0.95"
    record.settings["prune_below"] = None
    record.tree.nodes["0.1"].dropped = True
    assert arguments.standing(record, below) == "does not count: 0.1 above it does not"


@everywhere
def test_bradley_terry_that_has_not_converged_is_said(shown: Shown) -> None:
    note = "Bradley-Terry has not converged after 100 steps"
    said = flat(shown(sample_art.run([*sample_art.events(), sample_art.told("noted", note=note)])))
    assert note in said


@everywhere
def test_both_orders_of_a_pair_are_shown(shown: Shown) -> None:
    said = flat(shown(sample_art.both_orders()))
    assert "supporter shown first" in said and "attacker shown first" in said
    assert "lost to 0.0 / beat 0.0" in said


@everywhere
def test_exactly_one_half_is_undecided(shown: Shown) -> None:
    said = flat(shown(sample_art.undecided()))
    assert "exactly at the threshold 0.5: undecided, which counts as False" in said
    assert "undecided: P(claim) is exactly 0.5" in said


@everywhere
def test_a_claim_that_was_not_heard_has_no_verdict(shown: Shown) -> None:
    said = flat(shown(sample_art.unheard()))
    assert "ended without an answer: a side of the claim could not be heard or weighed" in said
    assert "Supporter failed: no reply came" in said
    assert "the threshold" not in said


@everywhere
def test_a_claim_without_a_strength_of_its_own_says_so_and_how_to_give_it_one(shown: Shown) -> None:
    said = flat(shown(sample_art.unknown()))
    assert "ended without an answer: the claim's own strength is not known" in said
    assert "dialectree contest 20260131-120000-abc123 --set 0" in said
    assert "ot weighed yet" not in said and "left out" not in said
    assert "τ 0.80, θ 1.00 → τ′ 0.90 → s 0.97" in said


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


@everywhere
def test_the_trees_of_a_leaf_show_their_strength_and_lack_no_verdict(shown: Shown) -> None:
    record = sample_art.ensemble().model_copy(update={"protocol": "tsd", "method": "tsd"})
    said = flat(shown(record))
    assert "0.62" in said
    assert "no verdict yet" not in said


@everywhere
def test_an_ensemble_shows_what_its_mean_is_of(shown: Shown) -> None:
    said = flat(shown(sample_art.ensemble()))
    assert "The mean of 2 trees: 0.0 0.62, 0.1 0.40" in said
    assert "0.1.0" in said


@everywhere
def test_a_contest_says_what_was_changed_and_what_it_did(shown: Shown) -> None:
    said = flat(shown(sample_art.contested()))
    assert "20260130-090000-ffffff" in said
    top = said.index("0.41 → 0.51, False → True")
    assert said.index("0.0 against 0.1: flipped") < top < said.index(sample_art.WHY)
    assert "0.97 → 0.82" in said and "0.25 → –" in said
    assert "flipped by a person" in said and "voided by a person: counts for nobody" in said
    assert "ropped by a person" in said
    assert "Without a strength" not in said


@everywhere
def test_the_comparisons_of_an_argument_that_was_taken_back_are_marked(shown: Shown) -> None:
    said = flat(shown(sample_art.taken_back()))
    assert "tied with 0.2 (taken back)" in said
    assert "lost to 0.1 (" not in said
    assert "with an argument that a person added and took back: counts for nobody" in said


def test_what_was_dropped_or_voided_is_struck_through() -> None:
    record = sample_art.contested()
    shown = html(record, [])
    assert f'<s dir="auto">{sample_art.MORE}</s>' in shown
    assert shown.count("</s>") == 3
    assert f"~~{sample_art.MORE}~~" in markdown(record, [])
    assert "~~0.0 tied with 0.2~~" in markdown(record, [])


@everywhere
def test_a_contest_that_is_not_reckoned_yet_is_shown(shown: Shown) -> None:
    record = sample_art.contested()
    assert record.contest is not None
    record.contest.after, record.contest.path, record.contest.why = None, [], ""
    record.verdict, record.status, record.tree = None, "running", Tree()
    assert "0.41 → –, False → not determined" in flat(shown(record))


@everywhere
def test_an_argument_of_a_persons_own_is_marked(shown: Shown) -> None:
    record = sample_art.record()
    record.tree.nodes["0.2"].added = True
    assert "dded by a person" in flat(shown(record))


@everywhere
def test_a_tree_that_still_grows_is_shown_as_far_as_it_came(shown: Shown) -> None:
    record = sample_art.run(sample_art.events()[:14])
    record.status, record.verdict = "partial", None
    said = flat(shown(record))
    assert "τ 0.68" in said and "There is no verdict yet." in said
    assert "ot weighed yet" in said


@everywhere
def test_a_leaf_of_a_tree_keeps_its_verdict_beside_its_claims_probability(shown: Shown) -> None:
    said = flat(shown(sample_art.leaf_of_a_tree()))
    assert "59%" in said and "Half." in said
    assert "P 0.41" in said or "P the claim is true" in said
    assert "36%" in said and "τ 0.80, θ 1.00 → τ′ 0.90 → s 0.97" in said


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
    for shown in (page, text, terminal):
        assert shown(record) == shown(make())
    for width in (80, 40):
        for part in (tree(record), *(transcript(n, record) for n in record.tree.nodes.values())):
            assert max(map(cell_len, seen(part, width).splitlines())) <= width


@pytest.mark.parametrize("hostile", sample.HOSTILE)
def test_no_text_of_an_argument_is_more_than_text(hostile: str) -> None:
    record, plain = sample_art.everywhere(hostile), sample_art.everywhere("x")
    parsed, ordinary = Page(html(record, [])), Page(html(plain, []))
    assert set(parsed.elements) <= {*ordinary.elements, "details", "summary"}
    assert parsed.names <= {*ordinary.names, "class", "open"}
    assert parsed.open == []
    assert " ".join(clean(hostile).split()) in " ".join(parsed.text.split())
    assert not any(c in html(record, []) for c in "\x00\x07\x1b\x9b\ud800\u202e\u2066")
    kinds = read(markdown(record, []))[0]
    assert kinds <= read(markdown(plain, []))[0] | {"hardbreak"}
    for part in (tree(record), *(transcript(n, record) for n in record.tree.nodes.values())):
        shown = seen(part, 60)
        assert all(c == "\n" or c.isprintable() for c in shown)
        assert max(map(cell_len, shown.splitlines())) <= 60
