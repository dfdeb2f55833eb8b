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
