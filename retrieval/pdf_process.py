"""Read a PDF in a process of its own, whose memory and time are limited.

A PDF of 100 kB can unpack to many gigabytes inside PDFium, where only the system can stop it.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys

from dialectree.errors import InputError
from dialectree.retrieval import pdfium

MEMORY = 1_500_000_000
"""Bytes that the process may take; a long paper takes a tenth."""
SECONDS = 75.0
"""After these the process is ended; PDFium itself gives up after 60, but only between pages."""


def pages_of(data: bytes, name: str) -> list[pdfium.Page]:
    """Return all pages; raise InputError where the file is no PDF or takes too much to read."""
    command = [sys.executable, "-P", "-m", __name__, str(MEMORY), name]
    try:
        done = subprocess.run(
            command, input=data, capture_output=True, timeout=SECONDS, start_new_session=True
        )
    except subprocess.TimeoutExpired:
        raise _too_much(name, f"{SECONDS:g} s") from None
    if done.returncode > 0:
        raise RuntimeError(
            f"{' '.join(command[:4])} failed: {done.stderr.decode(errors='replace')}"
        )
    if done.returncode < 0 or not done.stdout:
        raise _too_much(name, f"{MEMORY / 1e9:g} GB of memory")
    answer = json.loads(done.stdout)
    if isinstance(answer, str):
        raise InputError(answer)
    return [
        pdfium.Page(number, height, [pdfium.Sign(*sign) for sign in signs])
        for number, height, signs in answer
    ]


def _too_much(name: str, limit: str) -> InputError:
    return InputError(
        f"{name}: reading this PDF takes more than {limit}, or it is damaged; "
        "print it to a new PDF, or give the paper's text"
    )


def _main(memory: int, name: str) -> None:
    """Read the PDF on stdin and write its pages, or what is wrong with it, to stdout."""
    _limit(memory)
    answer: object
    try:
        pages = pdfium.pages_of(sys.stdin.buffer.read(), name)
        answer = [(page.number, page.height, [*map(_fields, page.signs)]) for page in pages]
    except InputError as error:
        answer = str(error)
    sys.stdout.write(json.dumps(answer))


def _fields(sign: pdfium.Sign) -> tuple[object, ...]:
    return sign.text, sign.x0, sign.x1, sign.y, sign.size, sign.bold


def _limit(memory: int) -> None:
    """Take no more memory than that; Windows knows no such limit."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (memory, most))


if __name__ == "__main__":
    with contextlib.suppress(MemoryError):
        _main(int(sys.argv[1]), sys.argv[2])
