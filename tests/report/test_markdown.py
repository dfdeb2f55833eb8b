"""A run as Markdown: its links lead somewhere, and no text of a record is markup in it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from dialectree.records import RunRecord
from dialectree.report import markdown
from dialectree.report.markdown_text import bold, escaped, lines, readable
from dialectree.text import clean
from tests.report import sample, sample_art, sample_rsd, sample_tod

steady = settings(derandomize=True, database=None, deadline=None, max_examples=60)
GFM = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PLAIN = {"inline", "paragraph_open", "paragraph_close", "text", "hardbreak", "softbreak"}
GAPS = {"hardbreak", "softbreak", "paragraph_close", "heading_close", "td_close", "th_close"}


def tokens(page: str) -> list[Token]:
    """Return the tokens of ``page``, those within lines included."""
    return [t for token in GFM.parse(page) for t in (token, *(token.children or []))]


def read(page: str) -> tuple[set[str], str]:
    """Return the kinds of markup in ``page``, and the text that a reader sees."""
    found = tokens(page)
    shown = (t for t in found if t.type != "html_inline" and not t.children)
    words = [" " if t.type in GAPS else t.content for t in shown]
    return {token.type for token in found}, "".join(words).replace("\u2060", "")


def anchors(page: str) -> tuple[set[str], set[str]]:
    """Return the places of ``page``, and where its links lead."""
    links = {str(t.attrs["href"])[1:] for t in tokens(page) if t.type == "link_open"}
    return set(re.findall(r'<a id="([^"]*)"></a>', page)), links


def flat(text: str) -> str:
    return " ".join(text.split())


lively = st.text(st.sampled_from("ab1 \n\t#*_-+=~`|<>[]()!&:;.\\/{}$^%@\"'w"), max_size=40)


@steady
@given(st.text() | lively | st.sampled_from(sample.HOSTILE))
def test_escaped_text_is_one_paragraph_that_says_the_same(text: str) -> None:
    said = flat(clean(text))
    kinds, shown = read(escaped(text))
    assert kinds <= PLAIN and flat(shown) == said
    kinds, shown = read("\n".join(lines(text)))
    assert kinds <= PLAIN and flat(shown) == (said or "–")


@steady
@given(lively)
def test_escaped_text_stays_text_within_what_is_around_it(text: str) -> None:
    around = f"before\n{escaped(text)}\n\n- {escaped(text)}\n\n| h |\n| - |\n| {escaped(text)} |"
    structure = {"bullet_list_open", "list_item_open", "table_open", "thead_open", "tr_open"}
    structure |= {"th_open", "td_open", "tbody_open"}
    assert {k for k in read(around)[0] if not k.endswith("_close")} <= PLAIN | structure


@steady
@given(lively | st.sampled_from(sample.HOSTILE))
def test_text_in_a_chat_is_text_too_and_has_no_entity(text: str) -> None:
    said = flat(clean(text))
    page = readable("\n".join(lines(text)))
    kinds, shown = read(page)
    assert kinds <= PLAIN and flat(shown) == (said or "–")
    around = readable(f"before\n\n> {escaped(text)}\n\n- {escaped(text)}\n\n{bold(text)}")
    structure = {"blockquote_open", "bullet_list_open", "list_item_open", "strong_open"}
    assert {k for k in read(around)[0] if not k.endswith("_close")} <= PLAIN | structure
    assert not re.search(r"&#\d+;", page) or "&#" in text


def test_a_chat_shows_signs_as_they_are() -> None:
    text = "A[i] = {x > 1} & f(a) ^ 2 [rests on nothing], -1 < 0"
    assert readable(escaped(text)).replace("\u2060", "") == text


HOSTILE = "\n".join(text for text in sample.HOSTILE if len(text) < 1_000)
"""All that must come out as nothing but text, in one text."""
Everywhere = Callable[[str], RunRecord]
RECORDS = [module.everywhere for module in (sample, sample_art, sample_rsd, sample_tod)]


@pytest.mark.parametrize("everywhere", RECORDS)
@pytest.mark.parametrize("hostile", [HOSTILE, ""])
def test_no_text_of_a_record_is_markup(everywhere: Everywhere, hostile: str) -> None:
    record, ordinary = everywhere(hostile), everywhere("x")
    page, plain = markdown(record, sample.calls()), markdown(ordinary, sample.calls())
    shown, allowed = tokens(page), tokens(plain)
    assert {t.type for t in shown} <= {t.type for t in allowed} | {"hardbreak", "softbreak"}
    for kind in ("heading_open", "list_item_open", "tr_open", "td_open", "hr", "link_open"):
        assert sum(t.type == kind for t in shown) <= sum(t.type == kind for t in allowed)
    of_html = [{t.content for t in of if t.type.startswith("html")} for of in (shown, allowed)]
    assert of_html[0] <= of_html[1]
    assert flat(clean(hostile)) in flat(read(page)[1])
    for trigger in ("://", "www.", "@example", "mailto:", "\x1b", "\x07", "\x9b", "\u202e"):
        assert trigger not in page
    page.encode()


def test_a_long_question_is_short_in_the_heading_and_whole_below() -> None:
    question = "Is it so, " + "and so, " * 600 + "and so on?"
    page = markdown(sample.record().model_copy(update={"input": {"question": question}}), [])
    assert len(page.splitlines()[0]) < 400
    assert question in page


@pytest.mark.parametrize("make", sample_tod.RUNS)
def test_every_link_leads_to_an_anchor(make: Callable[[], RunRecord]) -> None:
    places, links = anchors(markdown(make(), []))
    assert links <= places
    assert make is not sample_tod.record or {"segment-a-6", "node-0.0.1", "claim-0-a1"} <= links


def test_last_words_stand_side_by_side_and_references_behind_their_sentence() -> None:
    page = markdown(sample_tod.record(), [])
    assert "| **Linear beats n log n** | **The bound is worth the price** |" in page
    assert f"{sample_tod.FASTER} [0.0; a:6 (ladder2024, p. 5), b:5 (p. 4)]" in read(page)[1]


def test_what_was_dropped_or_voided_is_struck_through() -> None:
    page = markdown(sample_art.contested(), [])
    assert f"~~{sample_art.MORE}~~" in page and "~~0.0 tied with 0.2~~" in page
