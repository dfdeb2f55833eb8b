"""The browser, and the examples that pages install."""

from tests.browser import browser
from tests.examples.conftest import target

__all__ = ["browser", "target"]
