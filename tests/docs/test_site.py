"""The built site in a browser: its copy buttons, search, paths, old addresses, colours and width.

``make test-site`` builds the site first.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest

from tests.docs.blocks import ROOT, Block, blocks, commands

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.site
SITE = ROOT / "site"
AXE = ROOT / ".venv" / "axe" / "package" / "axe.min.js"
CHECKED = (
    "index",
    "check-a-claim",
    "commands",
    "choose-a-protocol",
    "install",
    "troubleshooting",
    "protocols/tod",
    "reference/functions",
    "decisions/contest",
)
PAGES = sorted(str(path.relative_to(SITE).with_suffix("")) for path in SITE.rglob("*.md"))
ADDRESSES = (ROOT / "tests" / "docs" / "addresses.txt").read_text().split()
"""The addresses of the site that was organised by tutorials, how-tos and reference."""
WANTED = {
    "install ollama": "providers",
    "cite a pdf": "check-a-claim",
    "timeout": "troubleshooting",
    "contest": "contest",
    "cost": "estimates",
    "csv": "evaluations",
    "evaluate my own questions": "evaluations",
    "cite": "cite",
    "notebook": "python",
    "compare two papers": "compare-papers",
    "rate limit": "troubleshooting",
}
"""What people type into the search, with the page that they want first."""
WITH_CONSOLE = [name for name in PAGES if "```console" in (SITE / f"{name}.md").read_text()]


class Files(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Serve the site."""
    handler = partial(Files, directory=str(SITE))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def tab(browser: Browser, address: str) -> Iterator[Page]:
    """Open a tab of a narrow phone; fail if it asks for anything outside the site."""
    elsewhere = list[str]()
    context = browser.new_context(
        base_url=f"{address}/",
        viewport={"width": 390, "height": 800},
        permissions=["clipboard-read", "clipboard-write"],
    )
    opened = context.new_page()
    opened.on(
        "request",
        lambda request: None if request.url.startswith((address, "data:")) else elsewhere.append(request.url),
    )
    yield opened
    context.close()
    assert elsewhere == []


def visit(tab: Page, name: str) -> None:
    """Open the page of a Markdown file."""
    reply = tab.goto(f"{re.sub('README$', 'index', name)}.html")
    assert reply is not None and reply.ok, name


def copied(block: Block) -> str:
    """Return what the copy button of a block is to copy."""
    if block.kind != "console":
        return block.text.rstrip()
    return "\n".join(command for command, _ in commands(block.text))


def test_the_copy_buttons_copy_what_can_be_run(tab: Page) -> None:
    assert WITH_CONSOLE
    for name in WITH_CONSOLE:
        visit(tab, name)
        expected = [
            copied(block) for block in blocks((SITE / f"{name}.md").read_text()) if block.kind != "mermaid"
        ]
        buttons = tab.locator("button[data-clipboard-target]")
        buttons.last.wait_for(state="attached")
        clicked = []
        for number in range(buttons.count()):
            buttons.nth(number).click()
            clicked.append(tab.evaluate("navigator.clipboard.readText()"))
        assert clicked == expected, name


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", CHECKED)
def test_axe_finds_nothing_serious(tab: Page, name: str, scheme: Any) -> None:
    tab.emulate_media(color_scheme=scheme)
    for width in (390, 1280):
        tab.set_viewport_size({"width": width, "height": 800})
        visit(tab, name)
        tab.wait_for_load_state("networkidle")
        tab.evaluate(AXE.read_text())
        found = tab.evaluate("axe.run().then(result => result.violations)")
        assert [
            (one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")
        ] == []


def test_no_page_scrolls_sideways_on_a_phone(tab: Page) -> None:
    wide = []
    for name in PAGES:
        visit(tab, name)
        if tab.evaluate("document.scrollingElement.scrollWidth") > 390:
            wide.append(name)
    assert wide == []


def found_pages(tab: Page, words: str) -> list[str]:
    """Type ``words`` into the search, and return the addresses that it lists, best first."""
    visit(tab, "index")
    tab.locator("label.md-header__button[for=__search]").click()
    tab.locator(".md-search-result__meta", has_text="Type to start searching").wait_for()  # the index is read
    box = tab.get_by_role("textbox", name="Search")
    box.fill(words)
    box.press("End")  # it hears keys, and no paste
    results = tab.locator(".md-search-result__item > a.md-search-result__link")
    results.first.wait_for()
    return [*map(str, results.evaluate_all("links => links.map(link => link.getAttribute('href'))"))]


@pytest.mark.parametrize("words", WANTED)
def test_a_search_finds_the_wanted_page_first(tab: Page, words: str) -> None:
    assert found_pages(tab, words)[0].partition("?")[0].endswith(f"/{WANTED[words]}.html")


@pytest.mark.parametrize("words", ["confidence", "contest", "settings", "candidates", "roles"])
def test_a_search_finds_guides_before_decisions(tab: Page, words: str) -> None:
    found = found_pages(tab, words)
    background = [bool(re.search("/decisions/|/changelog", link)) for link in found]
    assert background == sorted(background) and not background[0], found


def test_every_decision_stands_in_their_list_and_not_in_the_navigation(tab: Page) -> None:
    visit(tab, "decisions/README")
    listed = {str(a.get_attribute("href")) for a in tab.locator(".md-content td a").all()}
    written = {path.stem for path in (ROOT / "docs" / "decisions").glob("*.md")} - {"README"}
    assert {f"{name}.html" for name in written} <= listed
    entries = tab.locator(".md-nav--primary a[href]").all()
    links = {str(entry.get_attribute("href")) for entry in entries}
    assert "./" in links or "index.html" in links
    assert not links & {f"{name}.html" for name in written}


@pytest.mark.parametrize("name", ["index", "evaluations", "write-a-protocol", "reference/errors"])
def test_the_drawer_of_a_phone_shows_the_three_paths(tab: Page, name: str) -> None:
    visit(tab, name)
    tab.locator("label.md-header__button[for=__drawer]").click()
    paths = tab.locator(".md-nav--primary > .md-nav__list > .md-nav__item > label.md-nav__link")
    assert [path.inner_text().strip() for path in paths.all()] == ["Use", "Study", "Build"]
    for path in paths.all():
        path.click(trial=True)
    paths.nth(1).click()
    tab.locator(".md-nav--primary").get_by_role("link", name="How far to trust a verdict").click()
    assert tab.locator("h1").inner_text().startswith("How far to trust a verdict")


def test_every_address_of_the_earlier_site_leads_to_a_page(tab: Page) -> None:
    assert len(ADDRESSES) > 80
    moved = dict[str, str]()
    for address in ADDRESSES:
        text = (SITE / address).read_text(encoding="utf-8")
        if 'http-equiv="refresh"' in text:
            (moved[address],) = re.findall(r'<link rel="canonical" href="([^"]+)">', text)
            assert "http-equiv" not in (SITE / moved[address]).read_text(encoding="utf-8")
    assert moved
    for address, target in moved.items():
        tab.goto(address)
        tab.wait_for_url(f"**/{target}")
        assert tab.locator("h1").count() == 1


def test_a_page_shows_the_version(tab: Page) -> None:
    visit(tab, "index")
    assert f"dialectree {version('dialectree')}" in tab.locator(".md-copyright").inner_text()
    visit(tab, "changelog")
    assert tab.locator("h1").inner_text().startswith("Changelog")


@pytest.mark.parametrize("name", ["tsd", "rsd", "art", "tod"])
def test_the_page_of_a_protocol_plays_a_debate(tab: Page, name: str) -> None:
    visit(tab, f"protocols/{name}")
    tab.locator("iframe.player").scroll_into_view_if_needed()
    player = tab.frame_locator("iframe.player")
    player.get_by_label("Play the events").click()
    player.locator(".moment", has_text="3 of ").wait_for()
