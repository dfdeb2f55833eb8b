"""The page on a server: debates are begun, answered, stopped and contested in a browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.endpoint import LocalEndpoint
from tests.server.test_langgraph_dev import serving
from tests.web.test_page import AXE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.e2e
PAPER = """# {0}

## Abstract

{0} carries loads over a river. We load ten bridges of {0} until they break.

## Introduction

Bridges break where the load is uneven. {0} gives way late, as its parts share the load.

## Methods

Each bridge was loaded with carts of the same weight, one after another, until it broke.
"""
WAYS = {
    "tsd": "Answer a question",
    "art": "Check a claim",
    "rsd": "Choose between options",
    "tod": "Compare two papers",
}
UNFOLD = "document.querySelectorAll('details').forEach((one) => one.open = true)"
Open = Callable[[str], "Page"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("server")
    points = {"match": r"\[e1\]", "set": {"sentences": ["e1"], "look_for": [], "rests_on": ["e1"]}}
    ruling = {"match": r"A: plants.*You judge a debate", "set": {"label": "A", "answer": "plants"}}
    with LocalEndpoint(latency_ms=20.0, rules=[points, ruling]) as endpoint:
        given: Any = {"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "none"}
        given |= {"DIALECTREE_MODEL": "openai:any", "DIALECTREE_EMBEDDINGS": "bm25"}
        with serving(folder, config="langgraph.json", **given) as url:
            yield url


@pytest.fixture
def opened(browser: Browser, server: str) -> Iterator[Open]:
    """Open an address of the page; at the end nothing went wrong in it."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    wrong: list[str] = []

    def open_page(query: str) -> Page:
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(f"{server}/page/{query}")
        return page

    yield open_page
    context.close()
    assert wrong == []


def begin(page: Page, protocol: str, given: dict[str, Any], settings: dict[str, str]) -> None:
    """Fill the form in and start the debate."""
    page.get_by_label(WAYS[protocol]).check()
    for name, value in given.items():
        field = page.locator(f'[name="{name}"]').first
        field.fill(value) if isinstance(value, str) else field.set_input_files(value)
    page.evaluate(UNFOLD)
    for name, value in settings.items():
        field = page.locator(f'[name="{name}"]')
        kind = field.evaluate("one => one.type")
        if kind == "checkbox":
            field.check()
        else:
            field.select_option(value) if kind == "select-one" else field.fill(value)
    page.get_by_role("button", name="Start the debate").click()


def ended(page: Page) -> str:
    """Wait for the end of the run that is shown, and return its id."""
    over = ("answered", "degraded", "unresolved")
    page.locator(", ".join(f"header[data-status={status}]" for status in over)).wait_for()
    page.get_by_role("button", name="Stop").wait_for(state="detached")
    return str(page.url).partition("run=")[2].partition("#")[0]


def paper(name: str) -> dict[str, Any]:
    return {"name": f"{name}.md", "mimeType": "text/markdown", "buffer": PAPER.format(name).encode()}


BEGUN: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "tsd": ({"question": "What do cows eat?"}, {"max_depth": "0", "leaf_rounds": "1"}),
    "art": ({"claim": "Cows eat plants."}, {}),
    "rsd": ({"question": "What do cows eat?", "options": "plants\nmeat"}, {}),
    "tod": (
        {"paper_a": paper("Stone"), "paper_b": paper("Rope"), "topic": "Bridges"},
        {"max_depth": "1", "max_subtopics": "1"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("protocol", BEGUN)
def test_a_debate_goes_from_the_form_to_its_verdict_and_is_contested(protocol: str, opened: Open) -> None:
    page = opened("?new")
    begin(page, protocol, *BEGUN[protocol])
    first = ended(page)
    page.reload()
    assert ended(page) == first
    if page.locator(".row").count():
        page.locator(".row").last.click()
    turn = page.locator(".turn", has=page.get_by_text("Contest this")).first
    if turn.count():
        turn.get_by_text("Contest this").click()
        turn.get_by_role("textbox").fill("It is otherwise.")
        turn.get_by_role("button", name="Say this instead").click()
    else:
        page.get_by_role("button", name="Leave it out").click()
    page.locator(".trial [role=status]", has_text=re.compile("call")).wait_for()
    page.get_by_role("button", name="Contest", exact=True).click()
    page.locator(f".contest [title={first!r}]").wait_for()
    assert ended(page) != first


def test_a_debate_argues_from_files_and_goes_on_without_one_of_them(opened: Open) -> None:
    page = opened("?new")
    question, settings = BEGUN["rsd"]
    asked = {**question, "question": "How do bridges break?"}
    begin(page, "rsd", {**asked, "sources": [paper("Stone"), paper("Rope")]}, settings)
    first = ended(page)
    page.locator(".verdict .cites a").first.click()
    source = page.get_by_role("region", name="The source")
    name = source.get_by_role("heading").inner_text()
    source.locator("mark.linked").wait_for()
    source.get_by_role("button", name="Take it out").first.click()
    page.locator(".trial [role=status]", has_text=re.compile("call")).wait_for()
    page.get_by_role("button", name="Contest", exact=True).click()
    page.locator(f".contest [title={first!r}]").wait_for()
    second = ended(page)
    dropped = page.locator("li", has=page.get_by_text("dropped by a person", exact=True))
    dropped.get_by_role("link", name=name).click()
    source.get_by_role("button", name="Bring it back").click()
    page.get_by_role("button", name="Contest", exact=True).click()
    page.locator(f".contest [title={second!r}]").wait_for()
    ended(page)
    assert page.get_by_text("dropped by a person", exact=True).count() == 0
    assert page.locator(".verdict .cites a").first.inner_text().startswith(name)


def test_a_person_judges_on_the_page_and_again_where_the_debate_is_contested(opened: Open) -> None:
    page = opened("?new")
    given, settings = BEGUN["rsd"]
    begin(page, "rsd", given, {**settings, "judge": "me"})
    page.locator("form.ask").wait_for()
    page.reload()
    page.locator("form.ask").get_by_role("button", name="B: meat", exact=True).click()
    ended(page)
    assert "meat" in page.locator("header .chosen").inner_text()
    turn = page.locator(".turn").first
    turn.get_by_text("Contest this").click()
    turn.get_by_role("button", name="Take it out").click()
    page.get_by_role("button", name="Contest", exact=True).click()
    page.locator("form.ask").get_by_role("button", name="A: plants", exact=True).click()
    ended(page)
    assert "plants" in page.locator("header .chosen").inner_text()


def test_a_run_is_stopped_and_goes_on(opened: Open) -> None:
    page = opened("?new")
    begin(page, "tsd", {"question": "What do cows eat?"}, {"leaf_rounds": "12", "max_depth": "0"})
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("You stopped it after").wait_for()
    before = page.get_by_role("slider", name="Event").get_attribute("max")
    page.get_by_role("button", name="Go on with it").click()
    ended(page)
    assert int(page.get_by_role("slider", name="Event").get_attribute("max") or 0) > int(before or 0)


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_axe_finds_nothing_in_forms_requests_and_changes(
    width: int, scheme: Any, browser: Browser, server: str
) -> None:
    view: Any = {"width": width, "height": 800}
    page = browser.new_page(viewport=view, color_scheme=scheme, bypass_csp=True)

    def check() -> None:
        page.add_script_tag(path=AXE)
        found = page.evaluate("axe.run().then(result => result.violations)")
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    page.goto(f"{server}/page/?new")
    given, settings = BEGUN["rsd"]
    page.evaluate(UNFOLD)
    check()
    begin(page, "rsd", given, {**settings, "judge": "me"})
    page.locator("form.ask").wait_for()
    check()
    page.locator("form.ask").get_by_role("button", name="A: plants", exact=True).click()
    ended(page)
    for edit in page.get_by_text("Contest this").all()[:2]:
        edit.click()
    page.get_by_role("button", name="Take it out").first.click()
    page.locator(".trial [role=status]", has_text=re.compile("call")).wait_for()
    check()
    page.close()


def test_a_wrong_setting_is_told_in_the_form(opened: Open) -> None:
    page = opened("?new")
    begin(page, "rsd", {"question": "What?", "options": "one"}, {})
    assert "one option is no choice" in page.get_by_role("alert").inner_text()
