"""The page to every eye: axe, narrow and wide, by keyboard, to a screen reader, on paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pypdfium2
import pytest

from dialectree import report
from dialectree.records import Contest, RunRecord
from dialectree.records.contest import Moved
from dialectree.records.folder import RunFolder
from tests.docs.blocks import ROOT
from tests.report.recorded import DEMOS, calls, events, prefix, record
from tests.web import grounded
from tests.web.serving import viewed

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.e2e
AXE = ROOT / ".venv" / "axe" / "package" / "axe.min.js"
WIDE = """() => [...document.querySelectorAll("html, .pane, .list")]
  .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.outerHTML.slice(0, 80))"""
UNFOLD = "document.querySelectorAll('details').forEach((one) => one.open = true)"


def with_a_jury() -> RunRecord:
    """Return a run on which three judges ruled, one of them otherwise."""
    run = record("rsd")
    assert run.verdict is not None
    verdict = run.verdict.model_copy(update={"agreement": 2 / 3, "dissent": {"2": "A"}})
    return run.model_copy(update={"verdict": verdict})


def contested() -> RunRecord:
    """Return a run that contests another one."""
    run = record("art")
    moved = [Moved(node="0", before=run.verdict, after=run.verdict)]
    words = {"changes": ["strength of 0.2 set to 0.1"], "why": "The claim rests on 0.2."}
    contest = Contest(run="another", before=0.65, after=0.75, moved=moved, **words)
    return run.model_copy(update={"contest": contest})


RUNS: dict[str, Callable[[], tuple[RunRecord, int | None]]] = {
    **{name: partial(lambda name: (record(name), None), name) for name in DEMOS},
    "a jury": lambda: (with_a_jury(), 0),
    "a contest": lambda: (contested(), None),
    "broken off": lambda: (prefix("tsd", 40), 40),
    "sources": lambda: (grounded.run()[0], 0),
    "a source": lambda: (grounded.contested()[0], 0),
}
"""Runs, each with how many of its events are shown: none of them where the record says more."""


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """Open a tab in which nothing may go wrong."""
    context = browser.new_context(bypass_csp=True)
    page, wrong = context.new_page(), list[str]()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    yield page
    context.close()
    assert wrong == []


def show(tab: Page, folder: Path, name: str) -> RunRecord:
    """Show a run of ``RUNS`` from a file."""
    run, length = RUNS[name]()
    told = events(run.protocol)[:length]
    (folder / "report.html").write_text(report.html(run, calls(run.protocol), told))
    tab.goto((folder / "report.html").as_uri())
    tab.locator(".run").wait_for()
    return run


def look(tab: Page) -> None:
    """Find nothing wrong, in light and dark colours."""
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        found = tab.evaluate("axe.run({resultTypes: ['violations']}).then((all) => all.violations)")
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []


@pytest.mark.parametrize("name", RUNS)
def test_axe_finds_nothing_and_no_width_scrolls_sideways(tab: Page, tmp_path: Path, name: str) -> None:
    run = show(tab, tmp_path, name)
    tab.add_script_tag(path=AXE)
    tab.set_viewport_size({"width": 390, "height": 800})
    look(tab)
    if len(run.tree.nodes) > 1:
        tab.locator(".row").last.click()
    if name == "a source":
        tab.locator(".cites a").first.click()
        tab.get_by_role("region", name="The source").wait_for()
    tab.evaluate(UNFOLD)
    for change in tab.get_by_role("button", name=re.compile("^(Leave it out|Void)$")).all():
        change.click()
    look(tab)
    tab.set_viewport_size({"width": 1280, "height": 800})
    look(tab)
    for width in range(320, 1601, 80):
        tab.set_viewport_size({"width": width, "height": 800})
        assert tab.evaluate(WIDE) == [], width


def test_axe_finds_nothing_in_the_forms_of_a_server(tab: Page, tmp_path: Path) -> None:
    run = record("tsd").model_copy(update={"run_id": "asks", "status": "running", "ended": None})
    told = events("tsd")[:40]
    asks = told[-1].model_copy(update={"n": 41, "node": "0.0", "kind": "asked", "data": {}})
    RunFolder.create(tmp_path / "runs", "asks").write_whole(run, [*told, asks], [])
    asked = {"node": "0.0", "request": "Who won?", "transcript": "A: so. B: no.", "labels": "A, B"}
    tab.route("**/asked", lambda route: route.fulfill(json=asked))
    tab.route("**/protocols", lambda route: route.fulfill(json={**route.fetch().json(), "acts": True}))
    with viewed(tmp_path / "runs") as address:
        for query, there in (("?new", "Start the debate"), ("?run=asks#0.0", "No answer")):
            tab.goto("about:blank")
            tab.goto(f"{address}{query}")
            tab.get_by_role("button", name=there, exact=True).wait_for()
            tab.add_script_tag(path=AXE)
            if query == "?new":
                tab.get_by_label("Compare two papers").check()
                tab.get_by_label("Paper a").wait_for()
            tab.evaluate(UNFOLD)
            for width in (390, 1280):
                tab.set_viewport_size({"width": width, "height": 800})
                look(tab)
            for width in range(320, 1601, 80):
                tab.set_viewport_size({"width": width, "height": 800})
                assert tab.evaluate(WIDE) == [], width
        tab.route("**/debates?*", lambda route: route.fulfill(status=401, json={"detail": "no"}))
        tab.goto(address)
        tab.get_by_label("Key").wait_for()
        tab.add_script_tag(path=AXE)
        look(tab)


def test_a_screen_reader_gets_stance_figure_and_words_of_each_node(tab: Page, tmp_path: Path) -> None:
    run = show(tab, tmp_path, "art")
    tree = tab.get_by_role("tree").aria_snapshot()
    for node in run.tree.nodes.values():
        stance = {"support": "✓ for ", "attack": "✗ against "}[node.stance] if node.stance else ""
        line = f'treeitem "{stance}{node.text} {node.scores["strength"]:.2f}"'
        assert f"{line} [level={node.depth + 1}]" in re.sub(r" \[(expanded|selected)\]", "", tree)
    tab.locator(".row").last.click()
    detail = tab.get_by_role("region", name="The node").aria_snapshot()
    last = [*run.tree.nodes.values()][-1]
    assert f'heading "✗ against {last.text}" [level=2]' in detail
    assert 'slider "Strength by itself"' in detail


def test_a_phone_is_used_by_the_keyboard_alone(tab: Page, tmp_path: Path) -> None:
    run = show(tab, tmp_path, "art")
    tab.set_viewport_size({"width": 390, "height": 800})
    keys = tab.keyboard
    while tab.evaluate("document.activeElement.role") != "tree":
        keys.press("Tab")
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        keys.press(key)
    tab.get_by_role("heading", name=run.tree.nodes["0.1"].text).wait_for()
    assert tab.url.endswith("#0.1") and not tab.get_by_role("tree").is_visible()
    while tab.evaluate("document.activeElement.innerText") != "Leave it out":
        keys.press("Tab")
    keys.press("Enter")
    tab.get_by_text("1 change tried out").wait_for()
    while tab.evaluate("document.activeElement.className") != "back":
        keys.press("Shift+Tab")
    keys.press("Enter")
    assert tab.get_by_role("tree").is_visible()


@pytest.mark.parametrize("name", ["tsd", "tod"])
def test_the_whole_debate_is_printed(tab: Page, tmp_path: Path, name: str) -> None:
    run = show(tab, tmp_path, name)
    paper = pypdfium2.PdfDocument(tab.pdf(format="A4"))
    printed = "".join(page.get_textpage().get_text_range() for page in paper)
    letters = "".join(filter(str.isalnum, printed))
    for node in run.tree.nodes.values():
        texts = [turn.fields.get("support", "") for turn in node.transcript]
        texts += [node.text, node.verdict.answer if node.verdict else ""]
        for text in texts:
            assert "".join(filter(str.isalnum, str(text))) in letters
    for button in ("Call and prompt", "Contest this", "Play"):
        assert button not in printed
    assert tab.locator(".paper .node").count() == 0
