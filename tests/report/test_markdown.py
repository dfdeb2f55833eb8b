"""A run as Markdown: its links lead somewhere, and no text of a record is markup in it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialectree.report import markdown
from dialectree.report.markdown_text import bold, escape_markdown, lines, readable
from dialectree.text import clean
from tests.report.recorded import DEMOS, HOSTILE, calls, everywhere, read, record, tokens

steady = settings(derandomize=True, database=None, deadline=None, max_examples=60)
PLAIN = {"inline", "paragraph_open", "paragraph_close", "text", "hardbreak", "softbreak"}
AROUND = {"bullet_list_open", "list_item_open", "table_open", "thead_open", "tr_open", "th_open"}
AROUND |= {"td_open", "tbody_open", "blockquote_open", "strong_open"}


def words(text: str) -> str:
    return " ".join(text.split())


def opened(page: str) -> set[str]:
    return {kind for kind in read(page)[0] if not kind.endswith("_close")}


lively = st.text(st.sampled_from("ab1 \n\t#*_-+=~`|<>[]()!&:;.\\/{}$^%@\"'w"), max_size=40)


@steady
@given(st.text() | lively | st.sampled_from(HOSTILE))
def test_escaped_text_is_one_paragraph_that_says_the_same(text: str) -> None:
    said = words(clean(text))
    kinds, shown = read(escape_markdown(text))
    assert kinds <= PLAIN and words(shown) == said
    for page in ("\n".join(lines(text)), readable("\n".join(lines(text)))):
        kinds, shown = read(page)
        assert kinds <= PLAIN and words(shown) == (said or "–")


@steady
@given(lively | st.sampled_from(HOSTILE))
def test_escaped_text_stays_text_within_what_is_around_it(text: str) -> None:
    one = escape_markdown(text)
    around = f"before\n{one}\n\n- {one}\n\n| h |\n| - |\n| {one} |"
    assert opened(around) <= PLAIN | AROUND
    chat = readable(f"before\n\n> {one}\n\n- {one}\n\n{bold(text)}")
    assert opened(chat) <= PLAIN | AROUND
    assert not re.search(r"&#\d+;", chat) or "&#" in text


def test_a_chat_shows_signs_as_they_are() -> None:
    text = "A[i] = {x > 1} & f(a) ^ 2 [rests on nothing], -1 < 0"
    assert readable(escape_markdown(text)).replace("\u2060", "") == text


TRICKS = "\n".join(text for text in HOSTILE if len(text) < 1_000)
"""All that must come out as nothing but text, in one text."""


@pytest.mark.parametrize("name", DEMOS)
@pytest.mark.parametrize("hostile", [TRICKS, ""])
def test_no_text_of_a_record_is_markup(name: str, hostile: str) -> None:
    page = markdown(everywhere(name, hostile), calls(name))
    shown, allowed = tokens(page), tokens(markdown(everywhere(name, "x"), calls(name)))
    assert {t.type for t in shown} <= {t.type for t in allowed} | {"hardbreak", "softbreak"}
    for kind in ("heading_open", "list_item_open", "tr_open", "td_open", "hr", "link_open"):
        assert sum(t.type == kind for t in shown) <= sum(t.type == kind for t in allowed)
    of_html = [{t.content for t in of if t.type.startswith("html")} for of in (shown, allowed)]
    assert of_html[0] <= of_html[1]
    assert words(clean(hostile)) in words(read(page)[1])
    for trigger in ("://", "www.", "@example", "mailto:", "\x1b", "\x07", "\x9b", "\u202e"):
        assert trigger not in page
    page.encode()


def test_a_long_question_is_short_in_the_heading_and_whole_below() -> None:
    question = "Is it so, " + "and so, " * 600 + "and so on?"
    page = markdown(record("tsd").model_copy(update={"input": {"question": question}}), [])
    assert len(page.splitlines()[0]) < 400
    assert question in page


@pytest.mark.parametrize("name", DEMOS)
def test_a_report_has_no_link(name: str) -> None:
    kinds = {token.type for token in tokens(markdown(record(name), calls(name)))}
    assert "heading_open" in kinds and not {"link_open", "image"} & kinds


def test_a_figure_beside_a_text_stands_in_brackets_before_it() -> None:
    run = record("tsd")
    said = run.tree.nodes["0"].transcript[0]
    said.fields |= {"parts": [{"qid": "a", "text": "It is dry.", "score": 0.4}], "confidence": 0.7}
    page = markdown(run, [])
    assert "    - a (0.40): It is dry.\n" in page and "- Confidence 0.70\n" in page


def test_what_was_dropped_or_voided_is_struck_through() -> None:
    run = record("art")
    run.tree.nodes["0.1"].dropped = True
    run.tree.nodes["0"].comparisons[0].contested = "voided"
    page = markdown(run, [])
    assert f"~~{run.tree.nodes['0.1'].text}~~" in page and "~~0.0 beat 0.2~~" in page
