"""Near duplicates: the same words again, whatever their order and dress."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialectree.nodes.adaptive_reasoning_tree.arguer import near_duplicates


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


@given(texts, st.data())
def test_a_repeated_text_is_found_and_what_is_left_has_no_near_duplicates(
    arguments: list[str], data: st.DataObject
) -> None:
    worded = [text for text in arguments if any(map(str.isalnum, text))]
    if worded:
        again = data.draw(st.sampled_from(worded))
        place = data.draw(st.integers(arguments.index(again) + 1, len(arguments)))
        assert place in near_duplicates([*arguments[:place], again, *arguments[place:]])
    duplicates = near_duplicates(arguments)
    assert duplicates == sorted(set(duplicates) - {0})
    distinct = [text for place, text in enumerate(arguments) if place not in duplicates]
    assert near_duplicates(distinct) == []
