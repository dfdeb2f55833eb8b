"""A browser for tests of pages; a conftest.py takes the fixture from here."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run Chromium while the block runs."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("there is no chromium on the path")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        args = ["--no-sandbox", "--disable-gpu", "--disable-quic"]
        started = playwright.chromium.launch(executable_path=program, args=args)
        yield started
        started.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Chromium for the tests of a module: a loop of its own runs while it is open."""
    with chromium() as started:
        yield started
