"""Measure reading: a folder of texts with its index, pages of a PDF, and memory of a long one."""

from __future__ import annotations

import io
import os
import random
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Table

from benchmarks.figures import Figure
from dialectree.retrieval.corpus import Corpus
from dialectree.retrieval.segments import sentences
from dialectree.retrieval.sources import read_sources

FILES, SIZE = 300, 5_000
"""Texts, and characters of each."""
MOST_CPU_S = 2.0
PAGES = (20, 500)
MOST_MEMORY = 1_000_000_000
"""The most bytes of memory for the process that reads a PDF."""
_PROSE = """
the mill valley river town grinds sacks of grain each year and people come to see it with a guide
who tells them that tower bridge harbour clinic was built in stone before the war
"""
_WORDS = _PROSE.split()


def documents(folder: Path, repeats: int) -> Iterator[Figure]:
    """Measure CPU of reading and indexing texts, and time and memory of PDFs."""
    os.environ["DIALECTREE_CACHE_DIR"] = str(folder / "cache")
    draw = random.Random(1)
    (texts := folder / "texts").mkdir()
    for number in range(FILES):
        (texts / f"{number}.txt").write_text(_text(draw))
    list(sentences("It loads its model. It does so once."))
    part = f"{FILES} texts of {SIZE:,} characters"
    began = time.process_time()
    read = read_sources(texts)
    between = time.process_time()
    corpus = Corpus(read.documents)
    ended = time.process_time()
    yield Figure(part, "CPU of reading them", between - began, "s")
    yield Figure(part, "CPU of indexing them", ended - between, "s", note=f"{len(corpus)} segments")
    yield Figure(part, "both", ended - began, "s", limit=MOST_CPU_S)
    for pages in PAGES:
        path = folder / f"{pages}.pdf"
        path.write_bytes(_pdf(draw, pages))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = read_sources(path).documents[0].passages[-1].page or 1
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        part = f"a PDF of {found} pages"
        yield Figure(part, "CPU of a page", 1000 * cpu / found, "ms", note="the start included")
        unit = 1 if sys.platform == "darwin" else 1024
        memory = after.ru_maxrss * unit
        yield Figure(part, "memory at its most", memory / 1e6, "MB", limit=MOST_MEMORY / 1e6)


def _text(draw: random.Random) -> str:
    text = ""
    while len(text) < SIZE:
        said = (" ".join(draw.choices(_WORDS, k=14)).capitalize() + "." for _ in range(5))
        text += " ".join(said) + "\n\n"
    return text[:SIZE]


def _pdf(draw: random.Random, pages: int) -> bytes:
    """Return a PDF of about ``pages`` pages, with prose and a table on every page."""
    styles, content = getSampleStyleSheet(), io.BytesIO()
    body: list[Flowable] = []
    for number in range(pages):
        body.append(Paragraph(f"Part {number}", styles["Heading2"]))
        body += [Paragraph(_text(draw)[:900], styles["BodyText"]) for _ in range(3)]
        rows = [[f"Land {row}", str(draw.randint(1, 99)), str(row)] for row in range(8)]
        body.append(Table([["Country", "Hospitals", "Schools"], *rows]))
    SimpleDocTemplate(content).build(body)
    return content.getvalue()
