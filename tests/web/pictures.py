"""Take the pictures of the page for the documents: two reports, and a contest that moves.

From the root of the repository: ``.venv/bin/python -m tests.web.pictures``.
"""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from PIL import Image, ImageDraw

from dialectree import report
from dialectree.records.folder import RunFolder
from tests.docs.blocks import ROOT
from tests.report.recorded import FOLDERS
from tests.web import grounded
from tests.web.serving import acting

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

IMAGES = ROOT / "docs" / "images"
WIDE, HIGH = 1000, 620
"""Pixels of the picture that moves."""


class Film:
    """Pictures of a page, one after another, with a mark where the pointer is."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._at = (WIDE * 0.6, HIGH * 0.8)
        self.frames: list[Image.Image] = []
        self.times: list[int] = []

    def take(self, milliseconds: int, *, pressed: bool = False) -> None:
        """Add a picture that is shown for some time."""
        frame = Image.open(io.BytesIO(self._page.screenshot())).convert("RGB")
        x, y = self._at
        size = 7 if pressed else 9
        mark = ImageDraw.Draw(frame, "RGBA")
        mark.ellipse((x - size, y - size, x + size, y + size), (210, 90, 20, 120), (160, 60, 0), 2)
        self.frames.append(frame)
        self.times.append(milliseconds)

    def move(self, to: tuple[float, float], steps: int = 6) -> None:
        """Lead the pointer somewhere."""
        (x, y), (end_x, end_y) = self._at, to
        for step in range(1, steps + 1):
            part = step / steps
            self._at = (x + (end_x - x) * part, y + (end_y - y) * part)
            self.take(60)

    def click(self, on: Locator) -> None:
        """Lead the pointer to the middle of ``on``, and click there."""
        box = on.bounding_box()
        assert box is not None
        self.move((box["x"] + min(box["width"], 200) / 2, box["y"] + box["height"] / 2))
        self.take(250, pressed=True)
        on.click()

    def slide(self, slider: Locator, values: list[float]) -> None:
        """Pull a slider from value to value."""
        self.move(self._handle(slider, values[0]))
        for value in values:
            slider.fill(f"{value:.2f}")
            self._at = self._handle(slider, value)
            self.take(90, pressed=True)

    def _handle(self, slider: Locator, value: float) -> tuple[float, float]:
        box = slider.bounding_box()
        assert box is not None
        return box["x"] + 8 + (box["width"] - 16) * value, box["y"] + box["height"] / 2

    def save(self, file: Path) -> None:
        """Write all pictures into one file that moves for ever."""
        first, *others = self.frames
        how: dict[str, Any] = {"save_all": True, "loop": 0, "duration": self.times}
        how |= {"append_images": others, "quality": 70, "method": 6, "minimize_size": True}
        first.save(file, **how)
        print(f"{file}: {len(self.frames)} frames, {file.stat().st_size / 1000:.0f} kB")


def contest(page: Page, address: str) -> Film:
    """Slide the strength of an argument, watch the claim, and contest the verdict with it."""
    page.set_viewport_size({"width": WIDE, "height": HIGH})
    page.goto(f"{address}?run=art")
    page.locator(".moment", has_text="Ended").wait_for()
    film = Film(page)
    film.take(1500)
    film.click(page.locator(".row").nth(3))
    slider = page.get_by_label("Strength by itself")
    slider.wait_for()
    film.take(900)
    begin = float(slider.input_value())
    film.slide(slider, [begin + (0.98 - begin) * step / 18 for step in range(19)])
    page.locator(".trial [role=status]", has_text="call").wait_for()
    film.take(1800)
    film.click(page.get_by_role("button", name="Contest", exact=True))
    page.locator(".contest", has_text="0.65 → 0.55").wait_for()
    film.take(3500)
    return film


ARGUMENTS = {
    "a": "The closure of May was a trial, and the count speaks for it: shops sold more, not less.",
    "b": "The lane is how help reaches the old town, and not every shop gained.",
}
"""What the debaters say in the picture; their points and sentences are those of ``grounded``."""


def tree_report() -> str:
    """Return the report of a debate that split its question."""
    run = RunFolder(FOLDERS["tsd"])
    return report.html(run.record(), run.calls(), run.events(), run.texts())


def sources_report() -> str:
    """Return the report of a debate about three documents."""
    events = grounded.events()
    for event in events:
        data: dict[str, Any] = event.data
        if data.get("phase") == "proposals":
            data["fields"]["argument"] = ARGUMENTS[data["speaker"]]
    return report.html(grounded.record_of(events), [], events, {})


def open_file(page: Page, folder: Path, html: str, place: str) -> None:
    """Open a report at one of its places."""
    (folder / "report.html").write_text(html, encoding="utf-8")
    page.goto("about:blank")
    page.goto((folder / "report.html").as_uri() + place)
    page.locator(".turn").first.wait_for()


def save_still(page: Page, file: Path) -> None:
    """Write what the page shows into a file of few colours."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(256).save(file, optimize=True)


def stills(page: Page, folder: Path, images: Path) -> None:
    """Take the pictures of two reports: at a part of the tree, and with a source open."""
    page.set_viewport_size({"width": 1200, "height": 900})
    open_file(page, folder, tree_report(), "#0.1")
    save_still(page, images / "report.png")
    page.set_viewport_size({"width": 1280, "height": 900})
    open_file(page, folder, sources_report(), "#s1:2.1")
    page.locator("summary", has_text="retrieved").first.click()
    page.locator("details[open] > summary", has_text="Contest this").first.click()
    page.evaluate("scrollTo(0, 0)")
    save_still(page, images / "sources.png")


def main() -> None:
    """Take all pictures."""
    from playwright.sync_api import sync_playwright

    with TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        shutil.copytree(FOLDERS["art"], folder / "runs" / "art")
        os.environ["DIALECTREE_RUNS"] = str(folder / "runs")
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with acting() as address:
            contest(browser.new_page(), address).save(IMAGES / "contest.webp")
        stills(browser.new_page(), folder, IMAGES)
        browser.close()


if __name__ == "__main__":
    main()
