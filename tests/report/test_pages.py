"""The page: all of the record, and nothing that a text could smuggle in."""

from __future__ import annotations

import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from dialectree.records import RunRecord
from dialectree.report import html, view
from dialectree.text import clean, duration
from tests.report import sample

steady = settings(derandomize=True, database=None, deadline=None, max_examples=60)


class Page(HTMLParser):
    """What a browser would make of a page: its elements, its attributes, its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.names: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []
        self.said: list[str] = []
        self.feed(text)
        self.close()
        self.text = "".join(self.said)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.names |= {name for name, _ in attrs}
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.said.append(data)


ORDINARY = Page(html(sample.degraded(), sample.calls()))
"""Its elements and attributes are all that any page may hold, besides long texts folded away."""


def test_a_page_is_one_file_that_asks_for_nothing() -> None:
    page = html(sample.record(), sample.calls())
    parsed = Page(page)
    assert page.startswith("<!DOCTYPE html>")
    assert "default-src 'none'; style-src 'unsafe-inline'" in page
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(parsed.elements)
    assert "url(" not in page and "@import" not in page
    assert parsed.open == []


def test_every_link_leads_to_a_place_on_the_page() -> None:
    parsed = Page(html(sample.record(), sample.calls()))
    assert len(parsed.ids) == len(set(parsed.ids))
    assert {"node-0", "node-0.0", "node-0.1"} <= set(parsed.ids)
    assert {link[1:] for link in parsed.links} <= set(parsed.ids)


def test_debaters_face_each_other_round_by_round() -> None:
    page = html(sample.record(), [])
    leaf = page[page.index('id="node-0.1"') :]
    assert leaf.index("only claim A1") < leaf.index("only claim B0")
    assert leaf.count('class="facing"') == 2
    assert leaf.index("won</span>") < leaf.index("only claim A1")
    assert leaf.index("only claim A1") < leaf.index("spoke first") < leaf.index("only claim B0")


def test_scores_stand_beside_the_parts_that_they_rate() -> None:
    page = html(sample.record(), [])
    rated = page[page.index("Difficulty") :]
    assert rated.index(sample.FIRST) < rated.index("0.25") < rated.index(sample.SECOND)
    assert 'href="#node-0.1">→ 0.1</a>' in rated


def test_parts_that_ask_the_same_each_lead_to_their_own_question() -> None:
    twins = sample.record().model_dump_json().replace(sample.SECOND, sample.FIRST)
    page = html(RunRecord.model_validate_json(twins), [])
    rated = page[page.index("Difficulty") : page.index("Synthesis")]
    assert rated.index("→ 0.0</a>") < rated.index("→ 0.1</a>")


def test_the_verdict_says_how_sure_and_whose_figure_that_is() -> None:
    parsed = Page(html(sample.record(), []))
    assert "0.36confidence · source: judges" in parsed.text
    assert "0.90 by the judge of this question × 0.40 of its weakest part, 0.0." in parsed.text


def test_a_huge_question_is_short_in_the_heading_and_whole_below() -> None:
    question = "Is it so, " + "and so, " * 6000 + "and so on?"
    run = sample.record()
    run.input, run.tree.nodes["0"].text = {"question": question}, question
    page = html(run, [])
    heading = page[page.index("<h1") : page.index("</h1>")]
    assert len(heading) < 400 and "…" in heading
    assert question in page


def test_the_same_record_makes_the_same_page() -> None:
    assert html(sample.record(), sample.calls()) == html(sample.record(), sample.calls())


def hostile(text: str) -> tuple[RunRecord, str]:
    return sample.everywhere(text), " ".join(clean(text).split())


@steady
@given(st.text() | st.sampled_from(sample.HOSTILE).flatmap(lambda t: st.text().map(t.__add__)))
@example(sample.HOSTILE[0])
@example(sample.HOSTILE[1])
@example(sample.HOSTILE[2])
def test_no_text_becomes_an_element_of_the_page(text: str) -> None:
    run, flat = hostile(text)
    page = Page(html(run, sample.calls()))
    assert set(page.elements) <= set(ORDINARY.elements)
    assert page.names <= ORDINARY.names
    assert page.open == []
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert flat in " ".join(page.text.split())


@pytest.mark.parametrize("text", sample.HOSTILE)
def test_the_known_tricks_come_out_as_text(text: str) -> None:
    run, flat = hostile(text)
    page = html(run, sample.calls())
    assert set(Page(page).elements) <= set(ORDINARY.elements)
    assert flat in " ".join(Page(page).text.split())
    plain = Page(html(sample.everywhere("x"), sample.calls()))
    for element in ("h1", "h2", "h3", "article", "section", "li", "tr", "b"):
        assert Page(page).elements.count(element) <= plain.elements.count(element)
    assert not any(c in page for c in "\x00\x07\x1b\x9b\ud800\u202e\u2066")
    page.encode()


def test_a_browser_runs_nothing_and_asks_for_nothing(tmp_path: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium on the path")
    from playwright.sync_api import sync_playwright

    page = tmp_path / "report.html"
    page.write_text(html(sample.everywhere("".join(sample.HOSTILE[:12])), []), "utf-8", "replace")
    asked, complaints = list[str](), list[str]()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-quic"]
        )
        tab = browser.new_page(viewport={"width": 390, "height": 800})
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("dialog", lambda dialog: complaints.append(dialog.message))
        tab.goto(page.as_uri())
        width = tab.evaluate("document.documentElement.scrollWidth")
        tab.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        opened = tab.evaluate("document.documentElement.scrollWidth")
        browser.close()
    assert asked == [page.as_uri()]
    assert complaints == []
    assert (width, opened) == (390, 390)


@pytest.mark.parametrize(
    ("method", "unset", "shown"),
    [
        ("tsd", {"max_depth": None, "depth_profile": "adaptive"}, {"max_depth": "3"}),
        ("tsd", {"max_depth": None, "depth_profile": "fixed"}, {"max_depth": "2"}),
        ("tsd", {"max_depth": 0, "samples": None}, {"max_depth": "0"}),
        ("best_of_n", {"samples": None}, {"samples": "5"}),
        ("self_consistency", {"samples": 3}, {"samples": "3"}),
        ("rsd", {"max_calls": None, "prices": {}}, {"max_calls": "no limit", "prices": "none"}),
        ("art", {"prune_below": None}, {"prune_below": "nothing is pruned"}),
    ],
)
def test_a_setting_that_nobody_gave_is_shown_as_what_holds_without(
    method: str, unset: dict[str, JsonValue], shown: dict[str, str]
) -> None:
    run = sample.record().model_copy(update={"method": method, "settings": unset})
    found = view.settings(run)
    assert {name: found[name] for name in shown} == shown
    assert "–" not in found.values() and "" not in found.values()


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.6, "1 min 00 s"),
        (245, "4 min 05 s"),
        (3599.6, "1 h 00 min"),
    ],
)
def test_a_duration_is_rounded_before_its_unit_is_chosen(seconds: float, said: str) -> None:
    assert duration(seconds) == said
