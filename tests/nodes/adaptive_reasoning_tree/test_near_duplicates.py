"""Near duplicates: the same words again, whatever their order and dress."""

from __future__ import annotations

import pytest
from hypothesis import given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from dialectree.nodes.adaptive_reasoning_tree.near_duplicates import near_duplicates

few = hypothesis_settings(max_examples=150, deadline=None, database=None)


@pytest.mark.parametrize(
    ("texts", "places"),
    [
        ([], []),
        (["one"], []),
        (["Plants are green.", "plants are GREEN"], [1]),
        (["Plants are green.", "Green are plants!", "Plants grow."], [1]),
        (["a b c d", "a b c d e", "a b c d f"], [1, 2]),  # 4 of 5
        (["a b c d", "a b c e"], []),  # 3 of 5
        (["a b c d e f g", "a b c d e f g h", "b c d e f g h"], [1]),  # 7 of 8, then 6 of 8
        (["a b c d", "a b c d e", "a b c d e f"], [1]),  # 4 of 6: the second is not kept
        (["", " ", "\n", ""], []),
        (["", "x", "", "X"], [3]),
        (["?!", "?!", "…"], []),
        (["don't", "DON’T!", "dont", "don t"], [1, 2]),
        (["Straße", "STRASSE"], [1]),
        (["état", "E\u0301TAT"], [1]),
        (["हिन्दी", "हिन्दी।", "हन्द"], [1]),
        (["植物", "「植物」", "动物"], [1]),
        (["It is 5", "It is 6"], []),
    ],
)
def test_the_same_words_again_are_found(texts: list[str], places: list[int]) -> None:
    assert near_duplicates(texts) == places


texts = st.lists(
    st.lists(st.sampled_from(["one", "Two", "three,", "vier", "cinq!", "六"]), max_size=5).map(
        " ".join
    )
    | st.text(max_size=10),
    max_size=12,
)


@seed(1)
@few
@given(texts)
def test_the_first_is_never_found_and_the_order_is_kept(given_texts: list[str]) -> None:
    found = near_duplicates(given_texts)
    assert found == sorted(set(found))
    assert all(0 < place < len(given_texts) for place in found)


@seed(2)
@few
@given(texts)
def test_what_is_kept_holds_no_near_duplicates(given_texts: list[str]) -> None:
    found = near_duplicates(given_texts)
    kept = [text for place, text in enumerate(given_texts) if place not in found]
    assert near_duplicates(kept) == []


@seed(3)
@few
@given(texts, st.data())
def test_the_same_text_again_is_always_found(given_texts: list[str], data: st.DataObject) -> None:
    worded = [text for text in given_texts if any(map(str.isalnum, text))]
    if worded:
        again = data.draw(st.sampled_from(worded))
        place = data.draw(st.integers(given_texts.index(again) + 1, len(given_texts)))
        doubled = [*given_texts[:place], again, *given_texts[place:]]
        assert place in near_duplicates(doubled)
        assert near_duplicates([again, f"“{again.casefold()}!”"]) == [1]
