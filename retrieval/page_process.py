"""Read web pages and Word files in a process of its own, whose memory and time are limited.

A Word file of 100 kB can unpack to gigabytes, and a page can nest without end. One process reads
the files of a call one after another, because starting one takes a second.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from math import ceil
from typing import Any, Literal

from dialectree.errors import InputError

Kind = Literal["html", "docx"]

MEMORY = 2_000_000_000
"""Bytes of address space that the process may take."""
WAIT_S = 300.0
"""Seconds after which the process is ended on a system without a limit of the processor's time."""
UNPACKED = 30_000_000
"""Bytes of the parts of a Word file, unpacked."""

_HEADINGS = {"head", "h1", "h2", "h3", "h4", "h5", "h6"}
_ROWS = {"row", "tr"}
_TEXTS = {"p", "item", "li", "quote", "blockquote", "code", "pre", "ab", "dt", "dd", "caption"}
_BOXES = {"body", "main", "article", "section", "div", "list", "ul", "ol", "dl", "table", "td"}
_PARTS = _HEADINGS | _ROWS | _TEXTS | _BOXES
_ASIDE = ("nav", "header", "footer", "aside", "script", "style", "noscript", "template", "form")
"""Elements of a page that hold no text of its own."""
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)


class PageReader:
    """The process that reads the files of one call; it starts at the first of them."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> PageReader:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def read(self, data: bytes, kind: Kind, name: str) -> tuple[str | None, list[tuple[str, bool]]]:
        """Return the title, and each paragraph with whether it is a heading.

        Raises InputError if the file is of another kind, damaged or takes too much to read.
        """
        from dialectree.retrieval import blocks  # the process that reads needs none of it

        process = self._process = self._process or _started(ceil(blocks.SECONDS))
        assert process.stdin and process.stdout
        late = threading.Timer(WAIT_S, process.kill)
        late.start()
        try:
            process.stdin.write(f"{kind} {len(data)}\n".encode() + data)
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
        read = json.loads(answer)
        if isinstance(read, str):
            raise InputError(f"{name}: {read}")
        title, paragraphs = read
        return title, [(text, heading) for text, heading in paragraphs]

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(BrokenPipeError):
                self._process.communicate()
            self._process = None


def _started(seconds: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", __name__, str(MEMORY), str(seconds)]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _main(memory: int, seconds: int) -> None:
    """Read files from stdin, and write of each what it says, or why it cannot be read."""
    for package in ("mammoth", "trafilatura"):  # while memory has no limit
        import_module(package)
    answers, sys.stdout = sys.stdout.buffer, sys.stderr  # nothing else writes there
    _limit(memory, seconds)
    while head := sys.stdin.buffer.readline().split():
        data = sys.stdin.buffer.read(int(head[1]))
        _limit(memory, seconds)
        answers.write(json.dumps(_read(data, head[0].decode())).encode() + b"\n")
        answers.flush()


def _limit(memory: int, seconds: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows knows no such limit
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        until = ceil(used.ru_utime + used.ru_stime) + seconds
        for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, until)):
            resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))


def _read(data: bytes, kind: str) -> object:
    try:
        return _word(data) if kind == "docx" else _page(_decoded(data))
    except InputError as error:
        return str(error).partition(": ")[2]
    except MemoryError:
        raise
    except Exception as error:  # zip, XML, HTML and Word each have errors of their own
        return f"damaged, or another kind of file ({type(error).__name__}); save it again"


def _decoded(data: bytes) -> str:
    """Return the text of a page, in the encoding that it names where it is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        named = _CHARSET.search(data[:4096])
    if named:
        with contextlib.suppress(LookupError, UnicodeDecodeError):
            return data.decode(named[1].decode())
    from dialectree.retrieval.text import decoded

    return decoded(data, "it")


def _page(text: str) -> object:
    """Return a page by trafilatura, which leaves out navigation; a short one by itself."""
    import trafilatura
    from lxml import html

    tree = html.document_fromstring(text.encode(), parser=html.HTMLParser(encoding="utf-8"))
    title = " ".join("".join(tree.xpath("//title[1]//text()")).split()) or None
    found: Any = trafilatura.bare_extraction(
        text, include_tables=True, include_comments=False, favor_recall=True, with_metadata=True
    )
    if found is not None and len(found.body) > 1:
        return [found.title or title, [*_paragraphs(found.body)]]
    for element in [*tree.iter(*_ASIDE)]:
        element.drop_tree()
    return [title, [*_paragraphs(tree.find("body"))]]


def _word(data: bytes) -> object:
    """Return a Word file by mammoth: headings, paragraphs, lists, notes and rows of tables."""
    import zipfile

    import mammoth
    from lxml import html

    if data.startswith(b"\xd0\xcf\x11\xe0"):
        return "an encrypted Word file, or one of Word 2003; save it as .docx without a password"
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        texts = [part for part in parts.infolist() if "media/" not in part.filename]
    if sum(part.file_size for part in texts) > UNPACKED:
        return f"it unpacks to over {UNPACKED // 1_000_000} MB of text; cut it down"
    result = mammoth.convert_to_html(io.BytesIO(data), convert_image=lambda image: [])
    if not result.value.strip():
        return [None, []]
    return [None, [*_paragraphs(html.fromstring(f"<body>{result.value}</body>"))]]


def _paragraphs(element: Any) -> Iterator[tuple[str, bool]]:
    """Return the paragraphs and headings in an element; a row of a table is one paragraph."""
    if element is None or not isinstance(element.tag, str):
        return
    if element.tag in _HEADINGS:
        yield from _told([_text(element)], heading=True)
    elif element.tag in _ROWS:
        cells = [_text(cell) for cell in element]
        yield from _told([" | ".join(filter(None, cells))])
    elif not any(child.tag in _PARTS for child in element.iterdescendants()):
        yield from _told([_text(element)])
    else:
        inline = [element.text or ""]
        for child in element:
            parts = isinstance(child.tag, str) and {child.tag, *(one.tag for one in child.iter())}
            if parts and parts & _PARTS:
                yield from _told(inline)
                yield from _paragraphs(child)
                inline = [child.tail or ""]
            else:
                inline += [_text(child), child.tail or ""]
        yield from _told(inline)


def _text(element: Any) -> str:
    if not isinstance(element.tag, str):  # a comment
        return ""
    for line in element.iter("br", "lb"):
        line.tail = f" {line.tail or ''}"
    apart = any(child.tag in _PARTS for child in element.iterdescendants())
    return (" " if apart else "").join(element.itertext())


def _told(texts: list[str], *, heading: bool = False) -> Iterator[tuple[str, bool]]:
    if text := " ".join("".join(texts).split()):
        yield text, heading


if __name__ == "__main__":
    with contextlib.suppress(MemoryError):
        _main(int(sys.argv[1]), int(sys.argv[2]))
