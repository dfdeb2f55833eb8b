"""The examples are installed for the pages that use them."""

from tests.examples.conftest import target

__all__ = ["target"]
