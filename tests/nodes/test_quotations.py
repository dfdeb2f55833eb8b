"""Quotations: they stand in their source word for word, or they are unfounded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialectree.nodes.quotations import occurs, own_words, quoted, unfounded

TEXT = (
    "Plants are **green**, as a rule; they make sugar — slowly —\nfrom light. "
    "It’s said that the “start” costs 3.5 units, or 1,000 in all. État d'âme; 10³ times."
)


@pytest.mark.parametrize(
    "quote",
    [
        *(
            "Plants are green",
            "plants ARE green, as a rule",
            "“Plants are green.”",
            "they make  sugar,",
        ),
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


QUOTED = {
    '“a b” and "c d", „e f“, „g h” and «i j»': ["a b", "c d", "e f", "g h", "i j"],
    "then ‘c d’ then 'e f', ‹g h› and 「水 と」": ["c d", "e f", "g h", "水 と"],
    "‘we’re sure’ and 'we're sure'": ["we’re sure", "we're sure"],
    "the authors' model, and it's what we're told": [],
    "a “word”, a 'word' and 5\" or so": [],
    "says “the ladder stands always": [],
}


@pytest.mark.parametrize(("text", "quotes"), QUOTED.items())
def test_quotations_stand_in_quotes_and_have_two_words(text: str, quotes: list[str]) -> None:
    assert quoted(text) == quotes


def test_a_misquoted_part_is_not_the_speakers_own_words() -> None:
    text, sources = "We agree: “plants make sugar”, and “rocks make sugar”.", ["Plants make sugar."]
    assert unfounded(text, sources) == ["rocks make sugar"]
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
