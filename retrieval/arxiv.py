"""A paper by its arXiv id, where there is a network."""

from __future__ import annotations

import queue
import re
import threading
import time

import httpx

from dialectree.errors import InputError

ADDRESS = "https://arxiv.org"
DEADLINE = 15.0
"""Seconds for the whole of it."""
LARGEST = 100_000_000
"""Bytes."""

_ARCHIVE = r"(?:[a-z]{2,5}-[a-z]{2,4}|math|cs|nlin|physics|stat)(?:\.[A-Z]{2})?"
_ID = rf"([0-9]{{4}}\.[0-9]{{4,5}}|{_ARCHIVE}/[0-9]{{7}})(v[0-9]{{1,3}})?"
_NAMED = re.compile(rf"(?:arxiv:\s*)?{_ID}", re.IGNORECASE)
_LINKED = re.compile(
    rf"(?:https?://)?(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/{_ID}(?:\.pdf)?/?(?:[?#].*)?",
    re.IGNORECASE,
)


def id_in(source: str) -> str | None:
    """The id that ``source`` is, by itself or in an address of arXiv's; None for all else."""
    text = source.strip()
    found = _NAMED.fullmatch(text) or _LINKED.fullmatch(text)
    if found:
        return found[1] + (found[2] or "").lower()
    if re.match(r"https?://", text, re.IGNORECASE):
        raise InputError(
            f"{text[:200]}: only arXiv's papers are fetched; download it and give the file"
        )
    return None


def fetch(identifier: str) -> bytes:
    """The paper's PDF; raises InputError where it does not come within the deadline."""
    replies: queue.SimpleQueue[bytes | Exception] = queue.SimpleQueue()

    def work() -> None:
        try:
            replies.put(_download(identifier))
        except Exception as error:  # handed on, and raised below
            replies.put(error)

    # A thread of its own, left behind when it hangs: a name server can take longer than we wait.
    threading.Thread(target=work, daemon=True, name="arxiv").start()
    try:
        reply = replies.get(timeout=DEADLINE)
    except queue.Empty:
        raise _failed(identifier, f"no reply within {DEADLINE:g} s") from None
    if isinstance(reply, httpx.HTTPError | httpx.InvalidURL | httpx.StreamError):
        raise _failed(identifier, "no connection to arXiv") from None
    if isinstance(reply, Exception):
        raise reply
    return reply


def _download(identifier: str) -> bytes:
    until, data = time.monotonic() + DEADLINE, bytearray()
    # Nothing packed: a few bytes could unpack to gigabytes before their size can be looked at.
    headers = {"Accept-Encoding": "identity"}
    client = httpx.Client(timeout=DEADLINE, follow_redirects=True, headers=headers)
    with client, client.stream("GET", f"{ADDRESS}/pdf/{identifier}") as reply:
        if reply.status_code == 404:
            raise InputError(f"arXiv:{identifier}: arXiv has no such paper; check the id")
        if reply.status_code != 200:
            raise _failed(identifier, f"arXiv answers {reply.status_code}")
        for piece in reply.iter_raw():
            data += piece
            if len(data) > LARGEST:
                raise _failed(identifier, f"over {LARGEST // 1_000_000} MB")
            if time.monotonic() > until:
                raise _failed(identifier, f"not whole within {DEADLINE:g} s")
    if b"%PDF-" not in data[:1024]:
        raise _failed(identifier, "arXiv answers with something else than a PDF")
    return bytes(data)


def _failed(identifier: str, why: str) -> InputError:
    return InputError(
        f"arXiv:{identifier}: {why}; download the PDF from {ADDRESS}/pdf/{identifier} by hand "
        "and give the file"
    )
