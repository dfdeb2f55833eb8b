"""Equality of answers: case, Unicode form and white space do not count, and all else does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialectree.answers import exact, is_same_answer, letter, match_candidate, normal, ruling
from dialectree.nodes.quotations import find_unsupported_quotations, occurs, own_words

TWO = {"A": "animals", "B": "plant materials"}
SWAPPED = {"A": "B", "B": "A", "C": "neither letter"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Plant Materials", "plant materials"),
        ("  a   green\n plant\u00a0", "a green plant"),
        ("état", "E\u0301TAT"),
        ("Straße", "STRASSE"),
        ("“Don’t” — ‘so’", "\"don't\" - 'so'"),
        ("−5", "-5"),
        ("soft\u00adened\ufeff", "softened"),
    ],
)
def test_case_unicode_form_and_white_space_do_not_count(one: str, other: str) -> None:
    assert is_same_answer(one, other)
    assert match_candidate(one, {"A": other, "B": "animals"}) == "A"


DIFFERENT = [
    *(("plants", "plants."), ("plants", "the plants"), ("plants", "**plants**"), ("5", "5!")),
    *(("[0, 1]", "(0, 1)"), ("f", "f'"), ("C", "C++"), ("5", "-5"), (".NET", "NET")),
    *(("10²", "102"), ("10₂", "102"), ("x²", "x2"), ("2½", "21/2"), ("10²", "10^2")),
    *(("Virginia", "West Virginia"), ("plants", "plants and animals"), ("vitamin", "vitamin B")),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_every_word_and_sign_counts(one: str, other: str) -> None:
    assert not is_same_answer(one, other)
    candidates = {"A": one, "B": other}
    for label, text in candidates.items():
        assert match_candidate(text, candidates) == label
        assert ruling(label, text, candidates) == label
    assert match_candidate(other, {"A": one, "B": "animals"}) is None


@pytest.mark.parametrize(
    ("answer", "candidates", "label"),
    [
        ("plant materials", TWO, "B"),
        ("b", TWO, "B"),
        ("B: Plant materials", TWO, "B"),
        ("A: plant materials", TWO, None),
        ("B) plant materials", TWO, None),
        ("(B)", TWO, None),
        ("Option B", TWO, None),
        ("plant materials.", TWO, None),
        ("The answer is plant materials", TWO, None),
        ("animals or plant materials", TWO, None),
        ("not animals", TWO, None),
        ("E", TWO, None),
        ("", TWO, None),
        ("A", SWAPPED, None),
        ("C", SWAPPED, "C"),
        ("A: B", SWAPPED, "A"),
        ("B: plants", {"A": "B: plants", "B": "plants"}, None),
        ("A", {"A": "A", "B": "B"}, "A"),
        ("mW", {"A": "mW", "B": "MW"}, "A"),
        ("mw", {"A": "mW", "B": "MW"}, None),
        ("植物", {"A": "植物", "B": "动物"}, "A"),
    ],
)
def test_a_candidate_is_named_by_its_text_its_label_or_both_as_listed(
    answer: str, candidates: dict[str, str], label: str | None
) -> None:
    assert match_candidate(answer, candidates) == label


@pytest.mark.parametrize(
    ("label", "answer", "candidate"),
    [
        ("B", " Plant\u00a0 MATERIALS\n", "B"),
        ("A", "plant materials", None),  # the lost verdict of the paper
        ("B", "B", None),
        ("B", "B: plant materials", None),
        ("B", "plant materials.", None),
        ("B", "both", None),
        ("B", "", None),
        ("b", "plant materials", None),
        ("C", "plant materials", None),
    ],
)
def test_a_ruling_needs_the_text_of_its_label(label: str, answer: str, candidate: str | None) -> None:
    assert ruling(label, answer, TWO) == candidate


@given(st.text(), st.text(), st.text())
def test_any_text_names_its_own_candidate_or_nobody(one: str, two: str, answer: str) -> None:
    candidates = {"A": one, "B": two}
    assert exact(exact(answer)) == exact(answer)
    assert match_candidate(answer, candidates) in (None, "A", "B")
    for label, text in candidates.items():
        assert match_candidate(text, candidates) in (label, None)
    if normal(one) != normal(two) and len(one.strip()) > len("A: "):
        assert ruling("A", one, candidates) == ("A" if normal(one) else None)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        *((" b\n", "B"), ("B", "B"), ("UNCERTAIN", "uncertain")),
        *(("(B)", "(B)"), ("B or C", "B or C"), (" Option B", "Option B"), ("", "")),
    ],
)
def test_a_label_is_one_letter_or_uncertain(text: str, label: str) -> None:
    assert letter(text) == label


TEXT = (
    "Plants are **green**, as a rule; they make sugar — slowly —\nfrom light. "
    "It’s said that the “start” costs 3.5 units, or 1,000 in all. État d'âme; 10³ times."
)


@pytest.mark.parametrize(
    "quote",
    [
        *("Plants are green", "plants ARE green, as a rule", "“Plants are green.”", "they make  sugar,"),
        *("sugar - slowly - from light", "it's said that", 'the "start" costs 3.5 units!'),
        *("Plants are ... sugar", "Plants are… they make […] from light", "...make sugar..."),
        *("état d’âme", "E\u0301tat", "3.5", "10³ times", TEXT),
    ],
)
def test_words_in_a_row_occur_however_they_are_set(quote: str) -> None:
    assert occurs(quote, TEXT)


@pytest.mark.parametrize(
    "quote",
    [
        *("", "...", "[...] ?!", "—", "art", "plant", "Plants are blue", "green are plants"),
        *("from light ... sugar", "Plants ... Plants", "they sugar", f"{TEXT} And more."),
        *("costs 3", "5 units", "000 in all", "or 1", "103 times", "-3.5 units"),
    ],
)
def test_anything_else_does_not_occur(quote: str) -> None:
    assert not occurs(quote, TEXT)
    assert not occurs(quote, "")


def test_a_misquoted_part_is_not_the_speakers_own_words() -> None:
    text, sources = "We agree: “plants make sugar”, and “rocks make sugar”.", ["Plants make sugar."]
    assert find_unsupported_quotations(text, sources) == ["rocks make sugar"]
    assert own_words(text, sources) == "We agree: “plants make sugar”, and “…”."


words = st.lists(st.text("abcdé'-", min_size=1, max_size=5), min_size=1, max_size=20)


@given(words, st.data())
def test_any_slice_of_whole_words_occurs_until_a_word_is_changed(
    text: list[str], data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, len(text) - 1))
    last = data.draw(st.integers(first + 1, len(text)))
    quote = text[first:last]
    if any(map(str.isalnum, "".join(quote))):
        assert occurs(" ".join(quote), " ".join(text))
        assert occurs(f"“... {' '.join(quote)}.”", " ".join(text))
    changed = [*quote[:-1], "xyz"]
    assert not occurs(" ".join(changed), " ".join(text))
    assert not occurs(" ... ".join(changed), " ".join(text))
