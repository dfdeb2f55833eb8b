"""The browser, and the examples that pages install."""

from tests.browser import browser

__all__ = ["browser"]
