"""Recognize the ids of arXiv's papers, and download their PDFs."""

from __future__ import annotations

import re

import httpx

from dialectree.errors import InputError
from dialectree.retrieval.formats import LARGEST_FILE
from dialectree.system import clock
from dialectree.system.addresses import describe_missing_file

ADDRESS = "https://arxiv.org"
DEADLINE = 15.0
"""Seconds for the whole download of a paper from arXiv."""
_ARCHIVE = r"(?:[a-z]{2,5}-[a-z]{2,4}|math|cs|nlin|physics|stat)(?:\.[A-Z]{2})?"
_ID = rf"([0-9]{{4}}\.[0-9]{{4,5}}|{_ARCHIVE}/[0-9]{{7}})(v[0-9]{{1,3}})?"
_PLAIN = re.compile(rf"(?:arxiv:\s*)?{_ID}", re.IGNORECASE)
_LINK = re.compile(
    rf"(?:https?://)?(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/{_ID}(?:\.pdf)?/?(?:[?#].*)?",
    re.IGNORECASE,
)


def find_id(source: str) -> str | None:
    """Return the arXiv id in ``source``, an id or an address of arXiv; None for other text.

    Raises InputError for an address of another site.
    """
    text = source.strip()
    if match := _PLAIN.fullmatch(text) or _LINK.fullmatch(text):
        return match[1] + (match[2] or "").lower()
    if re.match(r"https?://", text, re.IGNORECASE):
        raise InputError(f"{describe_missing_file(text[:200], '')}; only arXiv's papers are downloaded")
    return None


def fetch_pdf(identifier: str) -> bytes:
    """Download the paper's PDF; if that fails, InputError says how to get it by hand."""
    until, data = clock.seconds() + DEADLINE, bytearray()
    # Without compression, so that a few bytes cannot unpack to gigabytes.
    headers = {"Accept-Encoding": "identity"}
    client = httpx.Client(timeout=DEADLINE, follow_redirects=True, headers=headers)
    try:
        with client, client.stream("GET", f"{ADDRESS}/pdf/{identifier}") as reply:
            if reply.status_code == 404:
                raise InputError(f"arXiv:{identifier}: arXiv has no such paper; check the id")
            if reply.status_code != 200:
                raise _failure(identifier, f"arXiv answers {reply.status_code}")
            for piece in reply.iter_raw():
                data += piece
                if len(data) > LARGEST_FILE:
                    raise _failure(identifier, f"over {LARGEST_FILE // 1_000_000} MB")
                if clock.seconds() > until:
                    raise _failure(identifier, f"the download took more than {DEADLINE:g} s")
    except httpx.TimeoutException:
        raise _failure(identifier, f"no reply within {DEADLINE:g} s") from None
    except (httpx.HTTPError, httpx.InvalidURL):
        raise _failure(identifier, "no connection to arXiv") from None
    if b"%PDF-" not in data[:1024]:
        raise _failure(identifier, "arXiv answers with something else than a PDF")
    return bytes(data)


def _failure(identifier: str, why: str) -> InputError:
    return InputError(
        f"arXiv:{identifier}: {why}; download the PDF from {ADDRESS}/pdf/{identifier} by hand "
        "and give the file"
    )
