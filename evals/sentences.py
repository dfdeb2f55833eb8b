"""Splits a text into sentences, which are judged one by one."""

from __future__ import annotations

import re

_END = re.compile(r"""[.!?…]["'”’)\]]*\s+(?=["'“‘(\[]*[A-Z0-9À-ÞΑ-Ω])""")
_SHORT = re.compile(
    r"(?:\b(?:e\.g|i\.e|et al|cf|vs|resp|approx|Figs?|Eqs?|Secs?|Tabs?|Refs?|Nos?|Dr|Mr|Mrs|Ms"
    r"|Prof|St|Jr)|\b[A-Z])\.$"
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text of Latin script; an abbreviation or an initial ends none.

    A line break between paragraphs ends one in any case.
    """
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        begin = 0
        for end in _END.finditer(paragraph):
            if not _SHORT.search(paragraph[begin : end.start() + 1]):
                found.append(paragraph[begin : end.end()])
                begin = end.end()
        found.append(paragraph[begin:])
    return [" ".join(sentence.split()) for sentence in found if sentence.strip()]
