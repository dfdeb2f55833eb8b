"""Read PDFs, web pages, Word and Markdown files in a process of limited memory and time.

A file of 100 kB can unpack to gigabytes, and a page can nest without end: only the operating system
can stop the reading then. One process reads all files of a call in turn, because its start takes a second.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from importlib import import_module
from math import ceil
from typing import TYPE_CHECKING

from dialectree.errors import InputError

if TYPE_CHECKING:
    from dialectree.retrieval.blocks import Reading
    from dialectree.retrieval.formats import File, Format

MEMORY = 3_000_000_000
"""Most bytes of address space for the process; PDFium reserves 1.2 GB for any file."""
WAIT_S = 300.0
"""Seconds after which the process is ended on systems that cannot limit processor time."""
_READERS = threading.BoundedSemaphore(2)
"""Limits processes at once: each may take gigabytes and a whole processor."""


class ReadingProcess:
    """The process that reads the files of one call; the first file starts it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ReadingProcess:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def read(self, data: bytes, format: str, name: str) -> Reading:
        """Return a file's contents; ``format`` is a name in ``formats.FORMATS``.

        Raises InputError if the file is of another kind, damaged, or takes too much memory or time.
        """
        from dialectree.retrieval import blocks

        with _READERS:
            process = self._process = self._process or _start_process(ceil(blocks.SECONDS))
            assert process.stdin and process.stdout
            late = threading.Timer(WAIT_S, process.kill)
            late.start()
            try:
                process.stdin.write(f"{format} {len(data)}\n".encode() + data)
                process.stdin.flush()
                answer = process.stdout.readline()
            except BrokenPipeError:
                answer = b""
            finally:
                late.cancel()
        if not answer:
            status = process.wait()
            self._end()
            if status > 0:
                raise RuntimeError(f"{name}: the process that reads it failed; report it")
            limit = f"{blocks.SECONDS:g} s or {MEMORY / 1e9:g} GB of memory"
            raise blocks.too_much(name, limit)
        result = json.loads(answer)
        if isinstance(result, str):
            raise InputError(f"{name}: {result}")
        return blocks.Reading.from_fields(result)

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(BrokenPipeError):
                self._process.communicate()
            self._process = None


def _start_process(seconds: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", __name__, str(MEMORY), str(seconds)]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def read_file(file: File, format: Format, process: ReadingProcess) -> Reading:
    """Return a file's contents, and the text left out.

    Raises InputError if the file is too large, of another kind or damaged.
    """
    from dialectree.retrieval.builder import DocumentBuilder
    from dialectree.retrieval.formats import require_size

    require_size(file, format.largest)
    if format.limited:
        return process.read(file.data, format.name, file.name)
    builder = DocumentBuilder()
    format.read(file, builder)
    return builder.finish()


def _main(memory: int, seconds: int) -> None:
    """Read files from stdin, and write the contents of each, or the reason of a failure."""
    for module in ("lxml.html", "markdown_it", "pypdfium2"):  # before memory is limited
        import_module(module)
    answers, sys.stdout = sys.stdout.buffer, sys.stderr  # nothing else writes there
    _limit(memory, seconds)
    while head := sys.stdin.buffer.readline().split():
        data = sys.stdin.buffer.read(int(head[1]))
        _limit(memory, seconds)
        answers.write(json.dumps(_read(data, head[0].decode())).encode() + b"\n")
        answers.flush()


def _limit(memory: int, seconds: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has no such limit
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        until = ceil(used.ru_utime + used.ru_stime) + seconds
        for kind, limit in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, until)):
            resource.setrlimit(kind, (limit, resource.getrlimit(kind)[1]))


def _read(data: bytes, format: str) -> object:
    from dialectree.retrieval.builder import DocumentBuilder
    from dialectree.retrieval.formats import FORMATS, File

    builder = DocumentBuilder()
    try:
        FORMATS[format].read(File("it", data), builder)
    except InputError as error:
        return str(error).removeprefix("it: ")
    except MemoryError:
        raise
    except Exception as error:  # zip, XML, HTML, PDFium and Word each have errors of their own
        return f"damaged, or another kind of file ({type(error).__name__}); save it again"
    return builder.finish().as_fields()


if __name__ == "__main__":
    with contextlib.suppress(MemoryError):
        _main(int(sys.argv[1]), int(sys.argv[2]))
