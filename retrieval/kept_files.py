"""Cache what was read from files, by their content and our code; write files whole or not at all."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import tempfile
from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from dialectree.protocols.sources import cache_folder
from dialectree.retrieval.blocks import Reading

log = logging.getLogger(__name__)

_LIBRARIES = (
    *("pypdfium2", "lxml", "markdown-it-py", "mdit-py-plugins", "charset-normalizer"),
    *("pylatexenc", "nupunkt", "sentencex", "PyStemmer", "pyyaml", "striprtf"),
)
"""Packages whose versions may change how a file is read and cut."""


@lru_cache(maxsize=1)
def hash_code() -> bytes:
    """Hash the code of this package and the versions of its libraries.

    Documents are read again after a change in either.
    """
    hashed = blake2b(digest_size=16)
    for library in _LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):
            hashed.update(f"{library} {version(library)}".encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        hashed.update(file.read_bytes())
    return hashed.digest()


def locate_reading(content: bytes) -> Path:
    """Return the path of the cached reading of ``content``."""
    name = blake2b(content, digest_size=16, key=hash_code()).hexdigest()
    return cache_folder() / "readings" / name[:2] / name


def read_once(content: bytes, read: Callable[[], Reading]) -> Reading:
    """Return the reading of ``content`` from the cache, else from ``read``."""
    file = locate_reading(content)
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        cached_reading = Reading.from_fields(json.loads(file.read_bytes()))
        os.utime(file)
        return cached_reading
    reading = read()
    try:
        write_whole(file, json.dumps(reading.as_fields()).encode())
    except OSError as error:
        log.warning("cannot cache documents in %s: %s", cache_folder(), error)
    return reading


def write_whole(file: Path, content: bytes) -> None:
    """Write a file whole or not at all, and make its folder; raise OSError if this fails."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as draft_file:
            draft_file.write(content)
        os.replace(draft, file)
    except OSError:
        Path(draft).unlink(missing_ok=True)
        raise
