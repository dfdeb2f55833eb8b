"""Quotations: what stands in a text is found however it is set, and nothing else is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from dialectree.nodes.answers import folded
from dialectree.nodes.quotations import occurs, own_words, quoted

TEXT = (
    "Plants are **green**, as a rule; they make sugar — slowly —\nfrom light. "
    "It’s said that the “start” costs 3.5 units, or 1,000 in all. État d'âme; हिन्दी."
)

few = hypothesis_settings(max_examples=200, deadline=None, database=None)


@pytest.mark.parametrize(
    "quote",
    [
        "Plants are green",
        "plants ARE green, as a rule",
        "“Plants are green.”",
        "'they make   sugar'",
        "sugar - slowly - from light",
        "it's said that",
        'the "start" costs 3.5 units!',
        "1,000 in all",
        "green, as a rule; they",
        "Plants are ... sugar",
        "Plants are… they make […] from light",
        "...make sugar...",
        "Plants . . . light",
        "plants (...) light",
        "état d’âme",
        "हिन्दी",
        "3.5",
        TEXT,
    ],
)
def test_words_in_a_row_occur_however_they_are_set(quote: str) -> None:
    assert occurs(quote, TEXT)


@pytest.mark.parametrize(
    "quote",
    [
        "",
        "  ",
        "...",
        "“…”",
        "[...] ... ?!",
        "—",
        "art",
        "tart",
        "plant",
        "Plants are blue",
        "green are plants",
        "from light ... sugar",
        "Plants ... Plants",
        "they sugar",
        "costs 3",
        "5 units",
        "000 in all",
        "or 1",
        "हिन",
        "ta",
        f"{TEXT} And more.",
    ],
)
def test_anything_else_does_not_occur(quote: str) -> None:
    assert not occurs(quote, TEXT)


def test_nothing_occurs_in_an_empty_text() -> None:
    assert not occurs("plants", "")
    assert not occurs("", "")


def test_a_cut_word_is_passed_over_for_a_whole_one() -> None:
    assert occurs("art", "start art")
    assert occurs("art ... start", "start art restart start")
    assert not occurs("art ... art", "start art restart")


QUOTED = {
    '“a b” and "c d"': ["a b", "c d"],
    '„a b“, „c d”, “e f" and «g h»': ["a b", "c d", "e f", "g h"],
    "``a b'' then ‘c d’ then 'e f'": ["a b", "c d", "e f"],
    "‹a b› 「水と土」『深層学習』": ["a b", "水と土", "深層学習"],
    "the authors' model and the readers' time": [],
    "»a b«, ”c d”, ›e f‹ och ’g h’": ["a b", "c d", "e f", "g h"],
    "＂a b＂ ❝c d❞ 〝e f〟 ‟g h”": ["a b", "c d", "e f", "g h"],
    "«a b» et « c d » puis «e»": ["a b", " c d "],
    "“a”, or b, and “c”": [],
    '"a", or b, and "c"': [],
    "‘we’re sure’ and ’we’re sure’": ["we’re sure"] * 2,
    "rock ’n’ roll, the ’90s, the '80s and the authors’ own, ’tis true of the readers' time": [],
    "f(x)’s shape and the authors’ own": [],
    "the '90s say 'n points'": ["n points"],
    "it's what we're told, isn't it": [],
    "'we're sure of it', they say": ["we're sure of it"],
    "a “word” or a 'word' alone": [],
    "“" + "long " * 400 + "”": [("long " * 400)],
    f"‘{'long ' * 400}end’": [f"{'long ' * 400}end"],
    '5" or so': [],
    "Paper a says “we “always” lose every orbit” of it.": ["we “always” lose every orbit"],
    '"we “always” lose every orbit"': ["we “always” lose every orbit"],
    "says “the ladder stands always": ["the ladder stands always"],
    "says “the ladder stands always. Not „so it is": ["the ladder stands always", "so it is"],
    "“one two.\n\n“three four.”": ["one two", "three four."],
    "He says “it costs 3.5 units. “So it is”, he says": ["it costs 3.5 units", "So it is"],
    "„a b“ und „c d“, „Ala ma kota”": ["a b", "c d", "Ala ma kota"],
    "5“ or so": [],
}


@pytest.mark.parametrize(("text", "found"), QUOTED.items())
def test_quotations_stand_in_quotes_of_any_kind(text: str, found: list[str]) -> None:
    assert quoted(text) == found


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("a speedup of 103", "a speedup of 10³"),
        ("a speedup of 10", "a speedup of 10³"),
        ("a speedup of 10", "a speedup of 10⁻³"),
        ("a speedup of 3 times", "a speedup of 10³ times"),
        ("a rate of x2", "a rate of x²"),
        ("the number 102", "the number 10₂"),
        ("the number 10", "the number 10₂"),
    ],
)
def test_a_small_figure_is_no_large_one(quote: str, text: str) -> None:
    assert not occurs(quote, text)
    assert occurs(text, f"It has {text}.")


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("-40 degrees", "40 degrees"),
        ("−40 degrees is cold", "it was 40 degrees is cold"),
        ("40 degrees", "−40 degrees"),
        ("40 degrees", "it is “-40 degrees”"),
        ("it is ... 40 degrees", "it is at -40 degrees"),
        ("-40 degrees", "10-40 degrees"),
        (".5 percent of all", "5 percent of all"),
        ("5 percent of all", ".5 percent of all"),
        (".5 percent", "-.5 percent"),
        ("5 percent", "-.5 percent"),
    ],
)
def test_a_number_without_its_sign_is_another_number(quote: str, text: str) -> None:
    assert not occurs(quote, text)
    assert occurs(quote, f"{text} {quote}")


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("40 degrees", "10-40 degrees"),
        ("40 percent", "10%–40 percent"),
        ("40 of it", "pp. 10–40 of it"),
        ("40 degrees", "- 40 degrees"),
        ("- 40 degrees", "40 degrees"),
        ("40 degrees", "cold—40 degrees"),
        ("40 grados", "la temperatura —40 grados— es"),
        ("40 degrees", "it is --40 degrees"),
        ("...40 degrees", "40 degrees"),
        ("40 degrees", "...40 degrees"),
        (". 5 percent", "It ends. 5 percent"),
        ("5 percent", "It ends. 5 percent"),
        ("5 percent", "It ends.5 percent"),
        ("“−40 degrees.”", "at -40 degrees"),
        ("...-40 degrees", "it is...-40 degrees"),
        ("“.5 percent”", "by .5 percent"),
    ],
)
def test_a_dash_or_a_stop_before_a_number_is_no_sign_of_it(quote: str, text: str) -> None:
    assert occurs(quote, text)


@seed(4)
@few
@given(st.sampled_from(["", "-", ".", "-.", "−"]), st.sampled_from(["", "-", ".", "-.", "−"]))
def test_of_two_numbers_only_the_same_one_occurs(one: str, other: str) -> None:
    same = one.replace("−", "-") == other.replace("−", "-")
    assert occurs(f"{one}40 degrees", f"It is {other}40 degrees.") is same


def test_a_power_may_be_written_with_its_sign() -> None:
    assert occurs("a speedup of 10^3 times", "a speedup of 10³ times")


def test_what_is_misquoted_is_no_word_of_ones_own() -> None:
    text = "We agree: “plants make sugar”, and “rocks make sugar”."
    assert own_words(text, ["Plants make sugar."]) == "We agree: “plants make sugar”, and “…”."


@pytest.mark.parametrize("sign", ["“", "“a ", "“a” ", "“a “b” ", "“a. “b” ", "„a", '"a “', "”a"])
def test_quotations_that_nothing_closes_are_read_in_linear_time(sign: str) -> None:
    started = time.perf_counter()
    quoted(sign * (100_000 // len(sign)))
    assert time.perf_counter() - started < 2


word = st.text("abcé'-", min_size=1, max_size=5) | st.text(min_size=1, max_size=6)
spoken = st.lists(word, min_size=1, max_size=30).map(" ".join)


@seed(1)
@few
@given(spoken, st.data())
def test_any_slice_of_whole_words_occurs(text: str, data: st.DataObject) -> None:
    words = text.split()
    first = data.draw(st.integers(0, len(words)))
    last = data.draw(st.integers(first, len(words)))
    quote = " ".join(words[first:last])
    if any(map(str.isalnum, quote)):
        assert occurs(quote, text)
        assert occurs(f"“{quote}.”", text)
        assert occurs(f"... {quote} …", text)


@seed(2)
@few
@given(st.lists(st.text("abcdé", min_size=1, max_size=5), min_size=1, max_size=20), st.data())
def test_a_quotation_with_another_word_does_not_occur(
    words: list[str], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(words) - 1))
    changed = [*words[:place], data.draw(st.text("xyz", min_size=1)), *words[place + 1 :]]
    assert not occurs(" ".join(changed), " ".join(words))
    assert not occurs(" ... ".join(changed), " ".join(words))
    grown = [*words[:place], words[place] + "x", *words[place + 1 :]]
    assert not occurs(" ".join(words), " ".join(grown))


@seed(3)
@few
@given(st.text(), st.text())
def test_no_text_is_too_odd(quote: str, text: str) -> None:
    assert not occurs(quote, text) or any(map(str.isalnum, folded(quote)))


@pytest.mark.parametrize(
    "sign",
    [
        "a",
        "a ",
        "*",
        ".",
        "... ",
        "[",
        " ",
        "'",
        "1,",
        "水",
        "”",
        "»",
        "`",
        "``a",
        "“",
        "“a ",
        "“a “b” ",
        "„a",
        "-1",
    ],
)
def test_long_texts_are_read_fast(sign: str) -> None:
    text = sign * (20_000 // len(sign))
    started = time.perf_counter()
    for odd in (text, f" '{text}", text.replace("a", " 'a")):
        quoted(odd)
    for quote in (text, text[:9_999] + "b", sign * 5 + "b", f"a{text}a"):
        occurs(quote, f"a{text}x")
    assert time.perf_counter() - started < 2
