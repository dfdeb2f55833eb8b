"""Fetches a published file once, checks it against its pin, and keeps it in the cache folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from dialectree.context import cache_folder
from dialectree.errors import InputError

TIMEOUT_S = 15.0
"""Seconds without a sign of life after which an address is given up."""


class Pin(NamedTuple):
    """A published file: its address and its digest."""

    url: str
    sha256: str

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.url.partition("?")[0].rpartition("/")[2]

    @property
    def path(self) -> Path:
        """The file's place in the cache folder."""
        return folder() / f"{self.sha256[:12]}-{self.name}"


def folder() -> Path:
    """Return the folder of fetched files."""
    return cache_folder() / "datasets"


def fetched(pin: Pin, timeout_s: float = TIMEOUT_S) -> Path:
    """Return the pinned file's path; it is fetched where it is missing or damaged.

    InputError where the address does not give this very file. Nothing else is kept.
    """
    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")
    # A streamed error page would stay unread and keep its connection open.
    downloader: Any = pooch.HTTPDownloader(timeout=timeout_s, stream=False)
    try:
        path = pooch.retrieve(
            pin.url,
            f"sha256:{pin.sha256}",
            fname=pin.path.name,
            path=pin.path.parent,
            downloader=downloader,
        )
    except (requests.RequestException, OSError, ValueError) as error:
        raise InputError(
            f"{pin.url} cannot be fetched: {' '.join(str(error).split())[:300]}; nothing was kept, "
            "--data FILE reads a file of your own"
        ) from None
    return Path(path)
