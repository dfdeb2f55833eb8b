"""The page and the card: whole, and nothing that a text could smuggle in."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dialectree.report import html
from dialectree.report.pages import card
from dialectree.text import clean
from tests.report.recorded import DEMOS, HOSTILE, Page, calls, everywhere, failed, prefix, record

steady = settings(derandomize=True, database=None, deadline=None, max_examples=12)
each = pytest.mark.parametrize("name", DEMOS)
FOLDED = {"details", "summary"}
"""Elements in which a long text is folded away."""


@each
def test_a_page_is_one_file_that_asks_for_nothing_and_every_link_leads_somewhere(
    name: str,
) -> None:
    ledger = calls(name)
    for run, paid in ((record(name), ledger), (failed(name), ledger), (prefix(name, 8), [])):
        page = html(run, paid)
        parsed = Page(page)
        assert page.startswith("<!DOCTYPE html>")
        assert "default-src 'none'; style-src 'unsafe-inline'" in page
        assert not {"script", "link", "img", "iframe", "object", "form"} & set(parsed.elements)
        assert "url(" not in page and "@import" not in page
        assert parsed.open == []
        assert len(parsed.ids) == len(set(parsed.ids))
        assert {f"node-{node}" for node in run.tree.nodes} <= set(parsed.ids)
        assert {link[1:] for link in parsed.links} <= set(parsed.ids)
        assert html(run, paid) == page


@steady
@given(
    st.sampled_from(DEMOS),
    st.text() | st.sampled_from(HOSTILE).flatmap(lambda t: st.text().map(t.__add__)),
)
@example("tsd", HOSTILE[0])
@example("tod", HOSTILE[1])
@example("art", HOSTILE[2])
def test_no_text_becomes_an_element_of_the_page(name: str, text: str) -> None:
    hostile, ordinary = (everywhere(name, words) for words in (text, "x"))
    for shown, plain in (
        (Page(html(hostile, calls(name))), Page(html(ordinary, calls(name)))),
        (Page(card(hostile)), Page(card(ordinary))),
    ):
        assert set(shown.elements) <= {*plain.elements, *FOLDED, "div", "p"}
        assert shown.names <= plain.names | {"class", "open"}
        assert shown.open == []
        assert {link[1:] for link in shown.links} <= set(shown.ids)


@each
@pytest.mark.parametrize("text", HOSTILE)
def test_the_known_tricks_come_out_as_text(name: str, text: str) -> None:
    run, plain = everywhere(name, text), everywhere(name, "x")
    page, ordinary = html(run, calls(name)), Page(html(plain, calls(name)))
    shown = Page(page)
    assert " ".join(clean(text).split()) in " ".join(shown.text.split())
    for element in ("h1", "h2", "h3", "article", "section", "li", "tr"):
        assert shown.elements.count(element) <= ordinary.elements.count(element)
    assert not any(c in page for c in "\x00\x07\x1b\x9b\ud800\u202e\u2066")
    page.encode()


def test_a_huge_question_is_short_in_the_heading_and_whole_below() -> None:
    question = "Is it so, " + "and so, " * 6000 + "and so on?"
    run = record("tsd")
    run.input, run.tree.nodes["0"].text = {"question": question}, question
    page = html(run, [])
    heading = page[page.index("<h1") : page.index("</h1>")]
    assert len(heading) < 400 and "…" in heading
    assert question in page


def test_the_sides_face_each_other_with_their_answers() -> None:
    page = html(record("rsd"), [])
    sides = Page(page[page.index('<div class="facing sides">') : page.index("Proposals</summary>")])
    said = " ".join(sides.text.split())
    assert said.index("Debater A") < said.index("Sequential") < said.index("0.35")
    assert said.index("0.35") < said.index("Debater B won") < said.index("0.75")
    assert page.count('class="facing"') == 4


def test_debaters_face_each_other_round_by_round() -> None:
    page = html(record("tsd"), [])
    leaf = page[page.index('id="node-0.1"') : page.index('id="node-0.2"')]
    assert leaf.count('class="facing"') == 2
    assert leaf.index("0.1/A1") < leaf.index("0.1/B1") < leaf.index("0.1/A2")


@pytest.mark.parametrize("name", DEMOS)
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_runs_nothing_and_nothing_overflows(
    tmp_path: Path, name: str, width: int
) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium on the path")
    from playwright.sync_api import sync_playwright

    page = tmp_path / "report.html"
    hostile = everywhere(name, "".join(HOSTILE[:12]) + "x" * 400)
    page.write_text(html(hostile, []), "utf-8", "replace")
    asked, complaints = list[str](), list[str]()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-quic"]
        )
        tab = browser.new_page(viewport={"width": width, "height": 800})
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("dialog", lambda dialog: complaints.append(dialog.message))
        tab.goto(page.as_uri())
        for _ in range(2):
            assert tab.evaluate("document.documentElement.scrollWidth") == width
            tab.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        browser.close()
    assert asked == [page.as_uri()]
    assert complaints == []
