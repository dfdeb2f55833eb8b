"""Measure the page of large runs in Chromium: its size, its opening, and the time of a step."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.figures import Figure
from dialectree import report
from dialectree.records.folder import RunFolder
from tests import contesting, running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[1]
BEFORE = "2af0a78"
"""The last commit whose report.html was a printed page."""
_OLD = """
import sys
from pathlib import Path
from dialectree.records.folder import RunFolder
from dialectree.report.pages import html
run = RunFolder(Path(sys.argv[1]))
Path(sys.argv[2]).write_text(html(run.record(), run.calls()))
"""
STEP_MS = 8
_SLIDER = "const one = document.querySelector('input[aria-label=Event]'); "
_MOVED = "; one.dispatchEvent(new Event('input', {bubbles: true}))"
_STRENGTH = "const one = document.querySelector('.strengths input[type=range]'); "
_ROWS = "const pane = document.querySelector('.pane.tree'); "
STEPS = {
    "nothing": "",
    "one event back": f"{_SLIDER} one.value -= 1{_MOVED}",
    "a jump to any event": f"{_SLIDER} one.value = 1 + Math.random() * one.max{_MOVED}",
    "a scroll by two rows": f"{_ROWS} pane.scrollTop += 108",
    "a scroll to any row": f"{_ROWS} pane.scrollTop = Math.random() * pane.scrollHeight",
    "a slider of a strength": f"{_STRENGTH} one.value = Math.random(){_MOVED}",
}
"""Scripts that do what a person does, once."""
_DONE = "await new Promise(done => requestAnimationFrame(() => setTimeout(done, 20)))"


def page(folder: Path, repeats: int) -> Iterator[Figure]:
    """Measure files, opening and steps of runs of 171, 341 and 1,024 nodes."""
    from playwright.sync_api import sync_playwright

    small, middle, large = (
        _run(folder, **shape) for shape in ({"depth": 3, "trees": 2}, {"depth": 4}, {"depth": 4, "trees": 3})
    )
    files = {run: folder / f"{n}.html" for n, run in enumerate((small, middle, large))}
    for run, limit in ((small, 700), (middle, 450), (large, None)):
        html = report.html(run.record(), run.calls(), run.events(), run.texts())
        files[run].write_text(html, encoding="utf-8")
        nodes = len(run.record().tree.nodes)
        kilobytes = files[run].stat().st_size / 1000
        yield Figure("report.html", f"its size with {nodes} nodes", kilobytes, "kB", limit=limit)
    with sync_playwright() as playwright:
        args = ["--no-sandbox", "--disable-gpu", "--disable-quic"]
        browser = playwright.chromium.launch(executable_path=which("chromium"), args=args)
        yield from _opening(browser, _printed(middle, folder), files[middle], repeats)
        yield from _steps(browser, files[large], 5 * repeats)
        browser.close()


def _run(folder: Path, **shape: int) -> RunFolder:
    model = contesting.speakers()
    begun = running.begin("art", "It is so.", folder, model=model, breadth=2, **shape)
    asyncio.run(begun.conduct())
    return begun.folder


def _printed(run: RunFolder, folder: Path) -> Path:
    """Return the report of ``run`` as it was before the page."""
    before, file = folder / "before", folder / "printed.html"
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "-q", "--detach", before, BEFORE], check=True)
    try:
        paths = [str(run.path), str(file)]
        environment = {**os.environ, "PYTHONPATH": str(before)}
        subprocess.run([sys.executable, "-c", _OLD, *paths], check=True, cwd=before, env=environment)
    finally:
        subprocess.run([*git, "remove", "--force", before], check=True)
    return file


def _opening(browser: Browser, old: Path, new: Path, repeats: int) -> Iterator[Figure]:
    """Measure both files turn by turn: until the DOM is complete, and on the main thread."""
    took: dict[Path, list[tuple[float, float]]] = {old: [], new: []}
    for _ in range(repeats):
        for file, times in took.items():
            opened = browser.new_page()
            busy = _busy(opened)
            opened.goto(file.as_uri())
            opened.wait_for_selector(".run, h1")
            done = "performance.getEntriesByType('navigation')[0].domComplete"
            times.append((opened.evaluate(done), busy()))
            opened.close()
    part = "opening report.html with 341 nodes"
    for n, name in enumerate(("until the DOM is complete", "on the main thread")):
        printed, played = (median(one[n] for one in took[file]) for file in (old, new))
        note = f"{played:.0f} ms, and {printed:.0f} ms as a printed page"
        yield Figure(part, f"{name}, of a printed page's", played / printed, limit=0.5, note=note)


def _steps(browser: Browser, file: Path, repeats: int) -> Iterator[Figure]:
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    opened.goto(file.as_uri() + "#0.0.1")
    opened.get_by_role("button", name="Unfold").click()
    busy, part = _busy(opened), "a step with 1,024 nodes, on the main thread"
    idle = 0.0
    for name, script in STEPS.items():
        times: list[float] = []
        if "strength" in name:
            opened.get_by_role("button", name="To the end").click()
        for _ in range(repeats):
            before = busy()
            opened.evaluate(f"async () => {{ {script}; {_DONE} }}")
            times.append(busy() - before)
        idle = idle or median(times)
        if script:
            note = f"{min(times) - idle:.1f} to {max(times) - idle:.1f}"
            yield Figure(part, name, median(times) - idle, "ms", limit=STEP_MS, note=note)
    elements = opened.evaluate("document.querySelectorAll('*').length")
    moment = "Number(document.querySelector('input[aria-label=Event]').value)"
    opened.get_by_label("Play the events").click()
    opened.wait_for_timeout(500)
    before, first = busy(), opened.evaluate(moment)
    opened.wait_for_timeout(3000)
    step = (busy() - before) / (opened.evaluate(moment) - first)
    yield Figure(part, "one event of ▶, the frames between them included", step, "ms", limit=STEP_MS)
    yield Figure(part, "elements", elements, limit=1500)


def _busy(opened: Page) -> Callable[[], float]:
    """Return a function that returns the main thread's CPU time so far, in milliseconds."""
    session = opened.context.new_cdp_session(opened)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy() -> float:
        told = session.send("Performance.getMetrics")["metrics"]
        return 1000 * float({one["name"]: one["value"] for one in told}["TaskDuration"])

    return busy
