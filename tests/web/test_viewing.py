"""``dialectree view``: a debate is begun on the page, contested, taken home, and followed by another."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import docx
import httpx
import pytest

from tests.endpoint import LocalEndpoint
from tests.web.serving import viewed
from tests.web.test_acting import begin, ended

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.e2e
CLAIM = "Cows eat plants."
NOTES: Any = {
    "name": "cows.md",
    "mimeType": "text/markdown",
    "buffer": b"Cows eat grass. They chew it twice.",
}


def test_a_claim_is_debated_contested_taken_home_and_followed_by_another(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, wrong = browser.new_page(), list[str]()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    points = {"match": r"\[e1\]", "set": {"sentences": ["e1"], "look_for": [], "rests_on": ["e1"]}}
    with LocalEndpoint(latency_ms=20.0, rules=[points]) as endpoint:
        settings = {
            "OPENAI_BASE_URL": endpoint.url,
            "OPENAI_API_KEY": "none",
            "DIALECTREE_MODEL": "openai:any",
        }
        for name, value in {**settings, "DIALECTREE_EMBEDDINGS": "bm25"}.items():
            monkeypatch.setenv(name, value)
        with viewed(tmp_path / "runs", acts=True) as address:
            page.goto(address)
            page.get_by_role("link", name="Begin one").click()
            page.locator(".price", has_text=re.compile("calls")).wait_for()
            begin(page, "art", {"claim": CLAIM, "sources": [NOTES]}, {})
            first = ended(page)
            with page.expect_download() as download:
                page.get_by_role("button", name="Word").click()
            memo = docx.Document(str(download.value.path()))
            assert CLAIM in "\n".join(paragraph.text for paragraph in memo.paragraphs)
            page.get_by_role("link", name="Ask something else about these documents").click()
            page.get_by_text("Documents: cows.md").wait_for()
            begin(page, "rsd", {"question": "What do cows eat?", "options": "grass\nmeat"}, {})
            second = ended(page)
            assert second != first and page.get_by_role("link", name="cows.md", exact=True).count()
            page.locator(".turn").first.get_by_text("Contest this").click()
            page.locator(".turn").first.get_by_role("button", name="Take it out").click()
            page.get_by_role("button", name="Contest", exact=True).click()
            page.locator(f".contest [title={second!r}]").wait_for()
            ended(page)
        with viewed(tmp_path / "runs") as address:
            offers = httpx.get(f"{address}../protocols").json()
            assert offers["acts"] is False
            begun = httpx.post(f"{address}../protocols/art/start", json={"given": {"claim": CLAIM}})
            assert begun.status_code in (404, 405)
    page.context.close()
    assert wrong == []
