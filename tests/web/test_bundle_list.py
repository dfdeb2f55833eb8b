"""The list of a bundle in a browser: it searches, filters and sorts without a server of ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dialectree.interfaces.cli.bundle import write_bundle
from tests.cli.test_bundle import keep, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.e2e


def test_the_list_is_searched_filtered_and_sorted(browser: Browser, tmp_path: Path) -> None:
    for name in ("tsd", "rsd", "art", "tod"):
        keep(name, name, started=f"2026-02-0{len(name)}")
    write_bundle(tmp_path / "site", tmp_path / "runs", {})
    with serving(tmp_path) as address:
        page = browser.new_page()
        faults: list[str] = []
        page.on("console", lambda message: faults.append(message.text))
        page.goto(f"{address}site/index.html")

        def shown() -> list[str]:
            rows = page.locator("#runs li:visible").all()
            return [str(row.get_attribute("id")) for row in rows]

        assert len(shown()) == 4
        page.select_option("#sort", "figure")
        assert shown() == ["run-rsd", "run-tsd", "run-art", "run-tod"]
        page.fill("#words", "RANDOM uuids")
        assert shown() == ["run-rsd"] and page.inner_text("#found") == "1 of 4 runs"
        page.fill("#words", "")
        page.select_option("#protocol", "art")
        assert shown() == ["run-art"]
        page.click("#run-art a.asked")
        page.wait_for_selector("main.two")
        assert page.url.endswith("/site/debates/art/report.html")
        page.go_back()
        assert len(shown()) == (1 if page.input_value("#protocol") else 4)
        page.click("#run-art >> text=memo")
        assert page.inner_text("p.answer") == "True · 65 % probability"
        assert faults == []
        page.close()
