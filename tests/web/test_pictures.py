"""The pictures of the page can be made anew."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.report.recorded import FOLDERS
from tests.web import pictures
from tests.web.serving import acting

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.e2e


def test_a_contest_is_filmed_in_a_small_file(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(FOLDERS["art"], tmp_path / "runs" / "art")
    monkeypatch.setenv("DIALECTREE_RUNS", str(tmp_path / "runs"))
    page = browser.new_page()
    with acting() as address:
        film = pictures.contest(page, address)
    assert "0.65 → 0.55" in page.locator(".contest").inner_text()
    page.context.close()
    assert len(film.frames) == len(film.times) > 30
    assert (pictures.IMAGES / "contest.webp").stat().st_size < 600_000


def test_the_still_pictures_show_a_tree_and_an_open_source(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page()
    pictures.stills(page, tmp_path, tmp_path)
    assert "Shops took 6 % more while the lane was closed." in page.locator(".source").inner_text()
    page.context.close()
    sizes = [(tmp_path / name).stat().st_size for name in ("report.png", "sources.png")]
    assert all(10_000 < size < 200_000 for size in sizes), sizes
