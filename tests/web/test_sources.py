"""What a person sees of a grounded debate: sources, points, sentences, and a contest of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import dialectree
from dialectree import report
from dialectree.records import Event, RunRecord
from dialectree.records.folder import RunFolder
from tests.graphs.test_grounded_debates import ART, UNDECIDED, as_strong_as_the_other
from tests.grounding import pointing
from tests.web import grounded
from tests.web.serving import viewed

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.e2e
Show = Callable[..., "Page"]


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Show]:
    """Return a function that shows a run from a file; at the end nothing went wrong in it."""
    context, wrong = browser.new_context(viewport={"width": 1280, "height": 900}), list[str]()
    context.set_default_timeout(10_000)

    def show_run(run: tuple[RunRecord, list[Event]], at: str = "") -> Page:
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        (tmp_path / "report.html").write_text(report.html(run[0], [], run[1]), encoding="utf-8")
        page.goto((tmp_path / "report.html").as_uri() + at)
        page.locator(".run").wait_for()
        return page

    yield show_run
    context.close()
    assert wrong == []


def linked(page: Page) -> str:
    """Return the words at which the source is open; they have the focus."""
    page.locator("mark.linked").wait_for()
    page.wait_for_function("document.activeElement.matches('mark.linked')")
    return page.locator("mark.linked").inner_text()


def test_a_point_leads_to_its_sentence_in_the_source(show: Show) -> None:
    page = show(grounded.run())
    point = page.locator(".turn", has_text="0/B1").locator(".point").first
    assert "A shop lost customers." in point.inner_text()
    assert "⚠ Contradicted. The report counts more for all shops." in point.inner_text()
    point.get_by_role("link", name="notes.md, passage 1").click()
    assert linked(page) == "The baker lost customers in May."  # after a sign of two halves
    assert page.url.endswith("#s2%3A1.2")
    source = page.get_by_role("region", name="The source")
    assert "2 segments retrieved · cited in 2 points" in source.inner_text()
    assert source.locator("mark").all_inner_texts() == [
        "The baker lost customers in May.",
        "The fire brigade needs the lane.",
        "It came 2 minutes later.",
    ]
    source.get_by_role("link", name="Judge, judgment").click()
    assert "0/judge1" in str(page.locator(".turn.linked").text_content())


def test_the_keyboard_goes_to_a_sentence_and_back(show: Show) -> None:
    page = show(grounded.run())
    link = page.locator(".point").get_by_role("link", name="traffic.pdf, p. 3").first
    link.focus()
    page.keyboard.press("Enter")
    assert linked(page) == "Shops took 6 % more while the lane was closed."
    page.keyboard.press("Escape")
    page.get_by_role("region", name="The source").wait_for(state="detached")
    page.wait_for_function("document.activeElement.matches('.point a')")
    assert page.url.endswith("#0")


def test_an_address_leads_to_a_sentence(show: Show, tmp_path: Path) -> None:
    page = show(grounded.run(), "#s1:2.2")
    assert linked(page) == "They want more."
    record, events = grounded.run()
    RunFolder.create(tmp_path / "runs", record.run_id).write_whole(record, events, [])
    with viewed(tmp_path / "runs") as address:
        page.goto(f"{address}?run={record.run_id}#s2%3A2.2")
        assert linked(page) == "It came 2 minutes later."
        page.reload()
        assert linked(page) == "It came 2 minutes later."
        page.set_viewport_size({"width": 390, "height": 800})
        assert not page.get_by_role("region", name="The node").is_visible()
        page.get_by_role("button", name="Close").click()
        assert page.get_by_role("region", name="The node").is_visible()
    page.close()


def test_the_sources_say_what_became_of_them(show: Show) -> None:
    page = show(grounded.run())
    sources = page.locator("details", has_text="2 of 3 retrieved").locator("li")
    assert [text.replace("\n\n", " | ") for text in sources.all_inner_texts()] == [
        "traffic.pdf | Traffic in the old town | 3 segments retrieved · cited in 2 points · "
        "1 cited by nobody",
        "notes.md | Notes of the hearing | 2 segments retrieved · cited in 2 points",
        "minutes.txt | nothing retrieved",
    ]
    sources.first.get_by_role("link").click()
    left = page.locator(".source .segment").last
    assert "page 4 · Noise" in left.inner_text() and "Cited by nobody" in left.inner_text()
    page.get_by_text("Searches in the sources").click()
    assert "Further 1: fire brigade Mill Lane 3 segments" in page.locator(".detail").inner_text()


def test_what_a_retriever_found_is_a_source_too(show: Show) -> None:
    page = show(grounded.retrieved(), "#s2:1.2")
    assert linked(page) == "The baker lost customers in May."
    assert "2 of 2 retrieved" in page.locator(".detail").inner_text()


def test_a_verdict_shows_its_grounds_or_that_there_are_none(show: Show) -> None:
    page = show(grounded.run())
    verdict = page.locator(".verdict")
    verdict.get_by_text("1 more sentence").click()
    assert "notes.md, passage 2 It came 2 minutes later." in verdict.inner_text()
    verdict.get_by_role("link", name="traffic.pdf, p. 3").click()
    assert linked(page) == "Shops took 6 % more while the lane was closed."
    page = show(grounded.without_grounds())
    assert "rests on no evidence" in page.locator(".verdict").inner_text()


def test_what_the_checker_said_stands_with_each_point(show: Show) -> None:
    page = show(grounded.run())
    assert "✓ Borne out: 2 points" in page.locator(".turn", has_text="0/checker1").inner_text()
    marks = [text.partition(".")[0] for text in page.locator(".check").all_inner_texts()]
    assert marks == ["✓ Borne out", "✗ Not borne out", "⚠ Contradicted", "✓ Borne out"]


def test_a_person_drops_a_source_replaces_a_segment_and_takes_that_back(show: Show) -> None:
    page = show(grounded.run(), "#s2")
    source = page.get_by_role("region", name="The source")
    assert "would be asked again. The verdict rests on it." in source.inner_text()
    source.get_by_role("button", name="Take it out").first.click()
    segment = source.locator(".segment").last
    segment.get_by_text("Contest this").click()
    segment.get_by_role("textbox").fill("It came at once.")
    segment.get_by_role("button", name="Say this instead").click()
    command = page.locator(".trial code").inner_text()
    assert command.endswith("--drop s2 --replace s2:2 'It came at once.'")
    page = show(grounded.contested(), "#s2")
    assert "dropped by a person" in page.locator(".detail li", has_text="notes.md").inner_text()
    source = page.get_by_role("region", name="The source")
    source.get_by_role("button", name="Bring it back").click()
    assert page.locator(".trial code").inner_text().endswith("--restore s2")


def test_at_an_earlier_moment_less_is_retrieved(show: Show) -> None:
    page = show(grounded.run(), "#s2:2.2")
    page.get_by_role("slider", name="Event").fill("4")
    page.get_by_text("s2:2.2 has not been retrieved.").wait_for()
    page.get_by_role("slider", name="Event").fill("14")
    assert page.locator("mark.linked").inner_text() == "It came 2 minutes later."


VALLEY = """<h1>Valley</h1><p>Cows eat grass. They chew it twice.</p><ul><li>A first item</li></ul>
<table><tr><th>Country</th><th>Hospitals</th></tr><tr><td>Belmark</td><td>12</td></tr></table>
<p>&lt;img src=x onerror=alert(1)&gt; is a text.</p><p hidden>Hidden words about cheese.</p>"""


def valley(runs: Path) -> RunRecord:
    """Run a debate about a web page with a heading, an item, a table and a hidden paragraph."""
    source = runs.parent / "valley.html"
    source.write_text(VALLEY)
    settings: dict[str, Any] = {"cache": False, "embeddings": "bm25", "runs": runs}
    question, options = "What do cows eat?", ["grass", "meat"]
    model = pointing()
    return dialectree.run("rsd", question, options, sources=[source], model=model, **settings)


def test_all_that_was_read_of_a_source_is_shown(show: Show, tmp_path: Path) -> None:
    record = valley(tmp_path / "runs")
    assert record.path is not None
    page = show((record, RunFolder(record.path).events()), "#s1")
    shown = page.get_by_role("region", name="The source")
    assert f"All that was read: dialectree sources {tmp_path}/valley.html" in shown.inner_text()
    with viewed(tmp_path / "runs") as address:
        page.goto(f"{address}?run={record.run_id}#s1")
        assert "Left out of it: hidden (4 words)" in shown.inner_text()
        assert shown.locator(".block").count() == 0
        shown.get_by_text("All that was read").click()
        shown.locator(".block").first.wait_for()
        blocks = [
            (block.get_attribute("class"), block.inner_text()) for block in shown.locator(".block").all()
        ]
        assert blocks == [
            ("block block-heading", "Valley"),
            ("block block-paragraph", "Cows eat grass. They chew it twice."),
            ("block block-item", "A first item"),
            ("block block-names", "Country | Hospitals"),
            ("block block-row", "Country: Belmark; Hospitals: 12"),
            ("block block-paragraph", "<img src=x onerror=alert(1)> is a text."),
        ]
        assert "4 words left out: hidden" in shown.locator("details", has_text="Valley").inner_text()
        shown.locator(".block mark").first.click()
        sentence = linked(page)
        assert sentence == shown.locator(".block mark").first.inner_text()
        page.set_viewport_size({"width": 390, "height": 800})
        widths = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        wide, seen = page.evaluate(widths)
        assert wide <= seen
        [file] = (record.path / "sources").iterdir()
        file.unlink()
        page.reload()
        shown.get_by_text("All that was read").click()
        shown.get_by_text("its text is not in the folder of the run").wait_for()


@pytest.mark.parametrize(("pointed", "why"), UNDECIDED.values(), ids=UNDECIDED)
def test_the_page_says_why_the_sources_decide_nothing(
    pointed: Any, why: str, show: Show, tmp_path: Path
) -> None:
    model = as_strong_as_the_other(pointing())
    model.will_point(pointed)
    with ThreadPoolExecutor(1) as apart:  # the loop of the browser runs in this thread
        record = apart.submit(ART.debate, tmp_path / "runs", model).result()
    assert record.path is not None
    page = show((record, RunFolder(record.path).events()))
    notes = page.locator(".verdict .note").all_inner_texts()
    assert [note for note in notes if re.search(why, note)], notes
    assert "There is no answer." in page.locator(".verdict").inner_text()
    assert "unresolved" in page.locator("header .kicker").inner_text()
