"""The examples are installed for the pages that use them."""

from tests.examples.conftest import installed, target

__all__ = ["installed", "target"]
