"""The page in a browser: a run in one file, looked into, searched, weighed and printed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dialectree import report
from dialectree.contests import Set, start
from dialectree.records.folder import RunFolder
from dialectree.running.runner import RunHandle
from tests import contesting, running
from tests.docs.blocks import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.e2e
AXE = ROOT / ".venv" / "axe" / "package" / "axe.min.js"
DEMOS = sorted(path for path in ROOT.glob("graphs/*/demo"))

Open = Callable[..., "Page"]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Return a function that opens a run's file; the test fails if the page asks for anything."""
    contexts, wrong = [], list[str]()

    def open_page(folder: RunFolder, at: str = "", **options: Any) -> Page:
        usual = {"viewport": {"width": 1280, "height": 900}}
        context = browser.new_context(**{**usual, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        file = tmp_path / "report.html"
        html = report.html(folder.record(), folder.calls(), folder.events(), folder.texts())
        file.write_text(html, encoding="utf-8")
        page.on(
            "request", lambda one: None if one.url.startswith(("file:", "data:")) else wrong.append(one.url)
        )
        page.goto(file.as_uri() + at)
        page.wait_for_selector(".run")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


def conduct(run: RunHandle) -> RunFolder:
    """Conduct ``run`` in a thread of its own, as the browser's loop runs in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, run.conduct()).result()
    return run.folder


def weighed(runs: Path, **given: Any) -> RunFolder:
    """Return a run whose arguments are weighed."""
    model = contesting.speakers()
    shape = {"breadth": 2, "depth": 2, **given}
    return conduct(running.begin("art", "It is so.", runs, model=model, **shape))


def test_a_link_leads_to_a_turn_with_its_call_and_prompt(opened: Open) -> None:
    demo = next(path for path in DEMOS if "role" in path.parent.name)
    page = opened(RunFolder(demo), "#0/B1")
    turn = page.locator(".turn.linked")
    assert "The id stands in a link" in turn.inner_text()
    turn.get_by_text("Call and prompt").click()
    turn.locator("pre", has_text="Every order in a new web shop").nth(0).wait_for()
    assert "Every order in a new web shop" in turn.locator("pre").all_inner_texts()[1]


def test_the_tree_is_walked_searched_and_folded_by_the_keyboard(opened: Open, tmp_path: Path) -> None:
    page = opened(weighed(tmp_path / "runs"))
    tree = page.get_by_role("tree")
    tree.focus()
    for key in ("Home", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    chosen = page.locator('[aria-selected="true"]')
    assert tree.get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.locator('[aria-selected="true"][aria-expanded="false"]').wait_for()
    page.get_by_role("searchbox").fill("no such word at all")
    page.get_by_text("0 found").wait_for()


def test_a_slider_shows_the_figure_that_a_contest_then_gives(opened: Open, tmp_path: Path) -> None:
    run = weighed(tmp_path / "runs")
    page = opened(run, "#0.1")
    page.get_by_label("Strength by itself").fill("0.2")
    contest = start(run, [Set("0.1", 0.2)], tmp_path / "runs", {"model": contesting.speakers()})
    record = conduct(contest).record()
    assert record.verdict is not None and record.verdict.confidence is not None
    page.locator(".verdict", has_text="tried out; it was").wait_for()
    shown = page.locator(".sure b").inner_text().partition(" %")[0]
    assert float(shown) == pytest.approx(100 * record.verdict.confidence, abs=0.5)
    answer = "True" if record.verdict.confidence > 0.5 else "False"
    assert page.locator(".verdict .lead").inner_text() == answer
    before = float(page.locator(".row.tried .moved").first.inner_text().removeprefix("was "))
    assert before == pytest.approx(run.record().tree.nodes["0"].scores["strength"], abs=0.005)
    assert "You set 0.20 by itself" in page.locator(".strengths").inner_text()
    assert "--set 0.1=0.2" in page.locator(".trial").inner_text()


def test_the_events_are_played_one_by_one(opened: Open) -> None:
    page = opened(RunFolder(DEMOS[0]))
    last = page.get_by_role("slider", name="Event").get_attribute("max")
    page.get_by_label("Play the events").click()
    page.get_by_text(f"4 of {last}").wait_for()
    page.get_by_label("Pause").click()


def test_a_large_tree_needs_few_elements(opened: Open, tmp_path: Path) -> None:
    page = opened(weighed(tmp_path / "runs", breadth=3, depth=3, blend=0.0))
    assert "259 nodes" in str(page.locator(".strip canvas").get_attribute("aria-label"))
    assert page.evaluate("document.querySelectorAll('*').length") <= 1500


def test_a_phone_shows_one_pane_with_a_way_back(opened: Open) -> None:
    page = opened(RunFolder(DEMOS[0]), viewport={"width": 390, "height": 844})
    assert not page.get_by_role("region", name="The node").is_visible()
    page.locator(".row").last.click()
    assert not page.get_by_role("tree").is_visible()
    page.get_by_role("button", name="‹ The tree").click()
    assert page.get_by_role("tree").is_visible()
