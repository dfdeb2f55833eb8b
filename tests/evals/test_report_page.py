"""A report's plots, its page and the rating sheet: the same bytes, and nothing asked for."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from dialectree.evals import rating
from dialectree.evals.dataset_items import Task
from dialectree.evals.plan import repeat_items
from dialectree.evals.plots import Plot, inline, plots
from dialectree.evals.reporting import audit_page, route_page
from dialectree.evals.reporting import page as report_page
from dialectree.evals.reporting.analysis import analyse_study
from dialectree.evals.reporting.study import study
from dialectree.evals.reporting.writing import ENDINGS, report
from dialectree.evals.route_choice import Routing
from dialectree.evals.voted_debates import read
from tests.docs.blocks import ROOT
from tests.evals import routed, sample, simulated
from tests.report.recorded import HOSTILE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def drawn(folder: Path, task: Task) -> list[Plot]:
    return plots(analyse_study(study([sample.evaluation(folder, task, 24)])))


def test_a_plot_is_drawn_the_same_each_time(tmp_path: Path) -> None:
    (one,), (other,) = drawn(tmp_path, "compare"), drawn(tmp_path, "compare")
    assert one.key == "summaries"
    assert one.svg == other.svg and one.svg.startswith("<?xml")
    assert one.png == other.png and one.png.startswith(b"\x89PNG")


def test_a_plot_in_a_page_takes_its_colours_and_keeps_its_text(tmp_path: Path) -> None:
    ids: list[str] = []
    plots_of_answers = drawn(tmp_path, "answer")
    assert [plot.key for plot in plots_of_answers] == ["accuracy", "front", "reliability", "risk"]
    for plot in plots_of_answers:
        text = inline(plot)
        ElementTree.fromstring(text)
        assert not re.search(r"#[0-9a-f]{6}\b", text)
        assert "var(--plot-0)" in text
        assert not re.search("<(style|script|metadata|title)", text)
        assert "var(--sans)" in text and "DejaVu" not in text
        assert ">TSD<" in text
        ids += re.findall(r'\bid="([^"]*)"', text)
        assert set(re.findall(r'(?:xlink:href="#|url\(#)([^")]*)', text)) <= set(ids)
    assert len(ids) == len(set(ids))


def test_a_plot_of_rows_grows_with_them_and_no_other_way(tmp_path: Path) -> None:
    sizes: list[tuple[float, float]] = []
    for count in (2, 5):
        asked, rows = (sample.items("answer", 6), [sample.row("tsd", name=f"row {n}") for n in range(count)])
        results = sample.results("answer", rows, asked)
        folder = sample.write(tmp_path / str(count), "answer", rows, asked, results)
        accuracy = plots(analyse_study(study([folder])))[0]
        assert accuracy.key == "accuracy"
        found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', accuracy.svg)
        assert found is not None
        sizes.append((float(found[1]), float(found[2])))
    (wide, low), (as_wide, high) = sizes
    assert wide == pytest.approx(as_wide, rel=0.05)
    assert wide > high > low
    assert high - low == pytest.approx(3 * 0.36 * 72, rel=0.3)  # points of 1/72 inch


@pytest.mark.parametrize(
    ("room", "most", "shortest"), [(1_200, 100, 25), (10_000_000, 320, 200), (1, 24, 24)]
)
def test_the_texts_of_very_many_questions_are_shortened(
    room: int, most: int, shortest: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_page, "_TEXTS", room)
    folder = sample.evaluation(tmp_path, "answer", 12, text="word " * 200)
    listed: Any = report_page.build_question_list(study([folder]), tmp_path)
    lengths = {len(question[2]) for question in listed["questions"]}
    assert max(lengths) <= most < max(lengths) + 10
    answers = {len(cell[1]) for question in listed["questions"] for cell in question[4] if cell}
    assert max(answers) <= shortest < max(answers) + 10


def test_the_repeats_of_a_question_stand_together(tmp_path: Path) -> None:
    asked = repeat_items(sample.items("answer", 3), 3)
    rows = [sample.row("tsd")]
    results = sample.results("answer", rows, asked)
    folder = sample.write(tmp_path, "answer", rows, asked, results)
    listed = [f"q{n}{again}" for n in (1, 2, 3) for again in ("", "#1", "#2")]
    assert study([folder]).together() == listed


def test_a_name_is_only_a_name(tmp_path: Path) -> None:
    asked = sample.items("answer", 6)
    names = ("$x^2$ \\frac", "<b>&amp;</b>", "模型 🙂", "a\x07\u202eb")
    rows = [sample.row("tsd", name=name) for name in names]
    results = sample.results("answer", rows, asked)
    found = study([sample.write(tmp_path, "answer", rows, asked, results)])
    for plot in plots(analyse_study(found)):
        ElementTree.fromstring(plot.svg)
        ElementTree.fromstring(inline(plot))


AXE = ROOT / ".venv" / "axe" / "package" / "axe.min.js"
SHADOWS = "all => all.map(one => getComputedStyle(one).backgroundImage.includes('gradient'))"
TRICKS = "</script><script>alert(2)</script>" + "".join(HOSTILE[:8])


class Watched:
    """A tab, what it asked for, and what it complained of."""

    def __init__(self, browser: Browser, width: int = 390) -> None:
        self.asked, self.complaints = list[str](), list[str]()
        self.tab: Page = browser.new_page(viewport={"width": width, "height": 800})
        self.tab.on("request", lambda request: self.asked.append(request.url))
        self.tab.on("console", lambda message: self.complaints.append(message.text))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("dialog", lambda dialog: self.complaints.append(dialog.message))

    def texts(self, selector: str) -> list[str]:
        return self.tab.locator(selector).all_inner_texts()


@pytest.mark.e2e
def test_the_list_filters_and_no_text_runs(browser: Browser, tmp_path: Path) -> None:
    folder = sample.evaluation(tmp_path, "decide", 120, text=TRICKS)
    found = study([folder])
    one = found.rows["rsd"].run("q1")
    assert one is not None
    one.mkdir(parents=True)
    (one / "run.json").write_text("{}")
    written = report([folder])
    watched = Watched(browser)
    tab = watched.tab
    tab.goto(written.page.as_uri())
    assert watched.texts("#found") == ["1–50 of 120"]
    assert tab.locator("#list tr").count() == 50
    tab.locator("#on").click()
    tab.locator("#on").click()
    assert watched.texts("#found") == ["101–120 of 120"]
    assert tab.locator("#on").is_disabled()
    tab.select_option("#by-row", label="RSD")
    tab.select_option("#by-outcome", label="wrong")
    wrong = found.rows["rsd"].counts["wrong"]
    assert watched.texts("#found")[0].endswith(f"of {wrong} (of 120)")
    tab.select_option("#by-row", label="any method")
    tab.select_option("#by-outcome", label="methods differ")
    assert 0 < tab.locator("#list tr").count() <= 50
    tab.select_option("#by-outcome", label="any outcome")
    health = sum(found.category(item) == "Health" for item in found.items)
    tab.select_option("#by-category", label="Health")
    assert watched.texts("#found")[0].endswith(f"of {health} (of 120)")
    tab.select_option("#by-category", label="all categories")
    tab.locator("#by-words").fill("q17")
    assert tab.locator("#list tr").count() == 1
    tab.locator("#by-words").fill("")
    tab.locator("#list summary").first.click()
    assert "<script>alert(2)</script>" in tab.locator("#list .answers").first.inner_text()
    assert tab.locator("#list a.mark").first.get_attribute("href") == f"runs/{one.name}/run.json"
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    tab.close()
    assert watched.asked == [written.page.as_uri()]
    assert watched.complaints == []


@pytest.mark.e2e
def test_the_table_for_a_paper_is_copied_in_each_form_without_the_network(
    browser: Browser, tmp_path: Path
) -> None:
    folder = sample.evaluation(tmp_path, "decide", 24, text=TRICKS)
    watched = Watched(browser, 1280)
    tab = watched.tab
    tab.goto(report([folder]).page.as_uri())
    assert tab.locator("main > header > :first-child").evaluate("one => one.className") == "first-line"
    tab.evaluate("document.body.append(Object.assign(document.createElement('textarea'), {id: 'paste'}))")
    for form, ending in ENDINGS.items():
        tab.select_option("#form", form)
        tab.locator("#copy-table").click()
        assert watched.texts("#copied") == ["copied"]
        tab.locator("#paste").fill("")
        tab.locator("#paste").press("Control+V")
        assert tab.locator("#paste").input_value() == (folder / f"report/paper.{ending}").read_text("utf-8")
    tab.close()
    assert len(watched.asked) == 1 and watched.complaints == []


def written_pages(folder: Path) -> Iterator[Path]:
    """A report with withheld answers, an audit and a route."""
    yield report([sample.evaluation(folder / "report", "decide", 30)]).page
    (folder / "audit").mkdir()
    yield audit_page.write(simulated.audit(1, "withholding", 40), folder / "audit")
    voted = read(routed.written(folder / "route", routed.sample("helps below", 3, 60)))
    yield route_page.write(voted, Routing(voted.sample), folder / "route")


@pytest.mark.e2e
def test_axe_finds_nothing_in_reports_audits_and_routes(browser: Browser, tmp_path: Path) -> None:
    for page in written_pages(tmp_path):
        for width in (390, 1280):
            tab = browser.new_page(viewport={"width": width, "height": 800}, bypass_csp=True)
            tab.goto(page.as_uri())
            tab.add_script_tag(path=AXE)
            for scheme in ("light", "dark"):
                tab.emulate_media(color_scheme=scheme)
                found = tab.evaluate("axe.run({resultTypes: ['violations']}).then(all => all.violations)")
                assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
            assert tab.evaluate("document.documentElement.scrollWidth") == width
            assert all(tab.locator(".wide").evaluate_all(SHADOWS)), page  # an edge that shows more
            tab.close()


LONG = "candidates=balanced, cross_examination=simultaneous, judge_orders=both"
CUT = """[...document.querySelectorAll(".wide")].filter(one => one.offsetParent)
    .filter(one => one.firstElementChild.offsetWidth > one.clientWidth).length"""
OVERPRINTED = """[...document.querySelectorAll("th, td")].filter(one => one.offsetParent)
    .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.textContent)"""


def long_names(folder: Path) -> Path:
    """The page of an evaluation whose rows have long names, and names of one long word."""
    methods = ("rsd", "no_uncertainty", "basic", "self_consistency")
    ends = (LONG, LONG, "x" * 90, "x" * 30)
    rows = [sample.row(method, name=f"{method} {end}") for method, end in zip(methods, ends, strict=True)]
    asked = sample.items("decide", 24)
    made = sample.results("decide", rows, asked)
    return report([sample.write(folder, "decide", rows, asked, made)]).page


@pytest.mark.e2e
def test_names_of_any_length_are_whole_on_screen_and_tables_are_whole_on_paper(
    browser: Browser, tmp_path: Path
) -> None:
    page = long_names(tmp_path)
    for width in (360, 1200):
        tab = Watched(browser, width).tab
        tab.goto(page.as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        assert tab.evaluate(OVERPRINTED) == []
        heights = tab.evaluate(
            "[...document.querySelectorAll('svg text')].map(t => t.getBoundingClientRect().height)"
        )
        assert min(height for height in heights if height) > 8
        tab.close()
    tab = Watched(browser, 680).tab  # as wide as A4 between margins of 15 mm
    tab.goto(page.as_uri())
    tab.emulate_media(media="print")
    assert tab.evaluate(CUT) == 0
    assert tab.evaluate(OVERPRINTED) == []
    tab.close()


@pytest.mark.e2e
def test_a_sheet_keeps_gives_and_takes_marks(browser: Browser, tmp_path: Path) -> None:
    folder = sample.evaluation(tmp_path / "e", "compare", 2, text=TRICKS)
    found = study([folder])
    page, count = rating.write(folder, found)
    watched = Watched(browser)
    tab = watched.tab
    tab.goto(page.as_uri())
    fields = tab.locator("fieldset").count()
    assert watched.texts("#left") == [f"{fields} of {fields} marks are open"]
    for box in tab.locator("fieldset").all():
        box.locator("input").last.check()
    assert watched.texts("#left") == ["every mark is given"]
    with tab.expect_download() as waiting:
        tab.locator("#export").click()
    given = tmp_path / "Ada.csv"
    waiting.value.save_as(given)
    rated = rating.read(folder, found, given, "Ada")
    assert len(rated) == count
    assert {(s.key, s.score) for one in rated for s in one.scores} == {
        ("factuality", 0.0),
        ("breadth", 100.0),
        ("contextualisation", 100.0),
    }
    tab.reload()
    assert watched.texts("#left") == ["every mark is given"]
    lines = list(csv.reader(given.read_text("utf-8").splitlines()))
    lines[1][-1] = "yes"
    with given.open("w", newline="") as file:
        csv.writer(file).writerows(lines)
    tab.locator("#import").set_input_files(given)
    tab.locator("#told:not(:empty)").wait_for()  # the file is read while the page goes on
    assert watched.texts("#told") == [f"{fields} marks read"]
    assert tab.locator("fieldset").first.locator("input").first.is_checked()
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    tab.close()
    assert all(url.startswith(("file:", "blob:")) for url in watched.asked)
    assert watched.complaints == []
