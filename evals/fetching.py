"""Fetches a published file once, checks it against its pin, and keeps it in the cache folder.

Nothing that differs from its pin is ever kept or read: the file is checked in a draft beside its
place and takes its name whole or not at all.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx

from dialectree import chance, clock
from dialectree.context import cache_folder
from dialectree.errors import InputError
from dialectree.runs import files

DEADLINE_S = 120.0
LARGEST = 64 << 20
"""Bytes; the largest of the pinned files has a few million."""
_STEP_S = 15.0
"""Seconds without a sign of life that are too many."""


class Pin(NamedTuple):
    """Where a file is published, and which file it is."""

    url: str
    sha256: str

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.url.partition("?")[0].rpartition("/")[2]


def folder() -> Path:
    """Where fetched files are kept."""
    return cache_folder() / "datasets"


def fetched(
    pin: Pin, home: Path | None = None, *, deadline_s: float = DEADLINE_S, largest: int = LARGEST
) -> Path:
    """The pinned file's place in ``home`` (none: :func:`folder`); fetched where it is not there.

    A damaged copy is fetched anew. InputError where the address gives nothing in time, more than
    ``largest`` bytes, or another file; DiskFull where there is no room.
    """
    home = home or folder()
    path = home / f"{pin.sha256[:12]}-{pin.name}"
    draft = path.with_name(f".{path.name}.{chance.token()}.draft")
    with files(path, "go on"):
        if path.is_file() and _digest(path) == pin.sha256:
            return path
        home.mkdir(parents=True, exist_ok=True)
        try:
            with open(draft, "xb") as file:
                found = hashlib.sha256()
                for part in _parts(pin.url, deadline_s, largest):
                    found.update(part)
                    file.write(part)
                file.flush()
                os.fsync(file.fileno())
            _require(pin, found.hexdigest())
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)
    return path


def _require(pin: Pin, found: str) -> None:
    if found != pin.sha256:
        raise InputError(
            f"{pin.url} gives another file than the pinned one: sha256 {found} instead of "
            f"{pin.sha256}; nothing was kept, --data FILE reads a file of your own"
        )


def _parts(url: str, deadline_s: float, largest: int) -> Iterator[bytes]:
    """The body of ``url``, part by part."""
    ends, size = clock.seconds() + deadline_s, 0
    wait = httpx.Timeout(min(_STEP_S, deadline_s))
    try:
        # Nothing packed: a few bytes could unpack to gigabytes before their size can be looked at.
        plain = {"Accept-Encoding": "identity"}
        with httpx.stream("GET", url, timeout=wait, headers=plain, follow_redirects=True) as answer:
            if answer.status_code != 200:
                raise _nothing(url, f"status {answer.status_code}")
            for part in answer.iter_raw():
                size += len(part)
                if size > largest:
                    raise _nothing(url, f"more than {largest:,} bytes")
                if clock.seconds() > ends:
                    raise _nothing(url, f"not done after {deadline_s:g} s")
                yield part
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise _nothing(url, f"{type(error).__name__} {error}".strip()) from None


def _nothing(url: str, why: str) -> InputError:
    said = " ".join(why.split())
    return InputError(f"{url} cannot be fetched: {said}; --data FILE reads a file of your own")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
