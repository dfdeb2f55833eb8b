"""The list of runs and evaluations in a browser, and two runs beside each other."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn

from dialectree.contests.verdict_diff import compare_runs
from dialectree.evals import served
from dialectree.evals.evaluation_list import find_evaluations
from dialectree.interfaces.server import local
from dialectree.records import Contest, Event, RunRecord
from dialectree.records.folder import RunFolder
from dialectree.records.run import Evaluated
from tests.evals import sample
from tests.report.recorded import events, record
from tests.web.test_page import AXE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.e2e
SEEDS, CONTEST = "?run=seed1&beside=seed2", "?run=claim&beside=claim2"


def write(runs: Path, name: str, of: str, **update: Any) -> RunRecord:
    """Write the run of a demonstration under another name, with changes."""
    one = record(of).model_copy(deep=True, update={"run_id": name, **update})
    RunFolder.create(runs, name).write_whole(one, events(of), [])
    return one


def fill(runs: Path) -> None:
    """Write two seeds, a claim and its contest, a repeat, a run that waits, and an evaluation."""
    place = Evaluated(evaluation="rated", row="tsd small", item="q7")
    write(runs, "seed1", "tsd", started="2026-02-01", evaluated=place)
    second = write(runs, "seed2", "tsd", started="2026-02-02", settings={**record("tsd").settings, "seed": 7})
    leaf = second.tree.nodes["0.1"]
    assert leaf.verdict is not None
    leaf.transcript[1].fields["support"] = "Quite another thing."
    leaf.verdict.answer, leaf.verdict.confidence = "Never.", 0.25
    RunFolder(runs / "seed2").write_record(second)
    claim = write(runs, "claim", "art", started="2026-02-03")
    contest = Contest(run="claim", changes=["strength of 0.2 set to 0.1"], before=0.65, after=None, why="")
    new = write(runs, "claim2", "art", started="2026-02-04", contest=contest)
    new.tree.nodes["0.2"].scores["strength"] = 0.1
    new.contest = compare_runs(claim, new)
    RunFolder(runs / "claim2").write_record(new)
    write(runs, "stranger", "rsd", started="2026-02-05", protocol="of_a_stranger")
    waiting = {"status": "running", "ended": None, "verdict": None, "started": "2026-02-06"}
    write(runs, "waiting", "rsd", **waiting)
    asked = Event(n=1, t="", run_id="waiting", node="0", kind="asked", data={"note": "Who?"})
    RunFolder(runs / "waiting").write("events.jsonl", asked.model_dump_json() + "\n")
    sample.evaluation(runs / "rated", n=4)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a folder of runs as ``dialectree view`` does; return the address of its page."""
    runs = tmp_path_factory.mktemp("viewed")
    fill(runs)
    token, listening = local.new_token(), local.listen(0)
    evaluations = served.routes(lambda: find_evaluations([runs]), lambda name, file: file)
    app = local.app(local.folder(lambda scope: runs, evaluations), token)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none"))
    thread = threading.Thread(target=asyncio.run, args=(server.serve(sockets=[listening]),))
    thread.start()
    yield f"http://{local.HOST}:{listening.getsockname()[1]}/{token}/page/"
    server.should_exit = True
    thread.join()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """Return the page with the list; the test fails if its script does."""
    wrong: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(address)
    page.locator(".runs li").first.wait_for()
    yield page
    context.close()
    assert wrong == []


def listed(page: Page, *runs: str) -> None:
    """Wait for a list of these runs, in this order."""
    from playwright.sync_api import expect

    boxes = page.locator(".runs input")
    expect(boxes).to_have_count(len(runs))
    for box, run in zip(boxes.all(), runs, strict=True):
        expect(box).to_have_attribute("aria-label", f"Compare {run}")


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_axe_finds_nothing_in_lists_and_comparisons(
    browser: Browser, address: str, width: int, scheme: Any
) -> None:
    view: Any = {"width": width, "height": 800}
    with browser.new_context(viewport=view, color_scheme=scheme, bypass_csp=True) as context:
        page = context.new_page()
        for place in ("", SEEDS, CONTEST, "?run=seed1&beside=claim"):
            page.goto(address + place)
            page.locator("main.list li").first.wait_for()
            for fold in page.locator("main summary").all():
                fold.click()
            page.add_script_tag(path=AXE)
            found = page.evaluate("axe.run().then(result => result.violations)")
            assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_list_is_sorted_and_filtered(page: Page) -> None:
    listed(page, "waiting", "stranger", "claim2", "claim", "seed2", "seed1")
    assert "waits for a person" in page.locator(".runs li").first.inner_text()
    page.get_by_label("Sort").select_option("question")
    listed(page, "seed2", "seed1", "waiting", "stranger", "claim2", "claim")
    assert page.locator(".again").count() == 3
    page.get_by_label("Protocol").select_option("of_a_stranger")
    listed(page, "stranger")
    page.get_by_label("Protocol").select_option("")
    page.get_by_label("Status").select_option("waiting")
    listed(page, "waiting")
    page.get_by_label("Status").select_option("")
    page.get_by_role("searchbox").fill("claim")
    listed(page, "claim2", "claim")


def test_two_runs_are_chosen_and_part_where_their_words_do(page: Page) -> None:
    for name in ("seed2", "seed1"):
        page.get_by_label(f"Compare {name}", exact=True).check()
    page.get_by_role("link", name="Compare seed1 with seed2").click()
    part = page.locator("h2:has-text('Where they part') + .facing")
    assert "Quite another thing." in part.locator(".side-1").inner_text()
    assert "seed 7 instead of 0" in page.locator("main").inner_text()
    moved = page.locator("main .plain > li")
    assert "Never." in moved.inner_text() and "→" in moved.inner_text()
    moved.get_by_role("link", name="second run").click()
    page.wait_for_url("**run=seed2#0.1")
    assert page.locator("[aria-selected=true]").get_attribute("title") == "0.1"
    page.go_back()
    part.wait_for()


def test_a_contest_leads_to_what_it_moved(page: Page) -> None:
    page.get_by_label("Compare claim2").locator("..").get_by_role("link").first.click()
    page.get_by_role("link", name="both beside each other").click()
    page.go_back()
    page.go_back()
    page.get_by_role("link", name="what moved").click()
    page.get_by_role("heading", name="What a person changed").wait_for()
    (moved,) = page.locator("main .plain > li").all()
    assert "0.45 → 0.10" in " ".join(moved.inner_text().split())
    page.get_by_role("link", name="‹ All debates").click()
    page.locator(".runs li").first.wait_for()


def test_evaluations_stand_beside_the_runs(page: Page) -> None:
    listed = page.locator(".evaluations").inner_text()
    assert "4 questions of made-up" in listed and "two_round" in listed
    assert "tsd small · q7 of rated" in page.locator(".runs").inner_text()
