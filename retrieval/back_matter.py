"""Where the body ends: at the references. An appendix that follows them belongs to it again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from dialectree.retrieval import headings
from dialectree.retrieval.drafts import Block

_YEAR = r"\b(?:19|20)\d\d[a-z]?\b"
_DATED = re.compile(rf".{{0,400}}{_YEAR}\)?(?:[.,:;]|$)", re.DOTALL)
"""A year that something parts off."""
_CITED = re.compile(rf"[(\[][^()\[\]]*{_YEAR}[^()\[\]]*[)\]]")
_INITIALS = r"(?:[^\W\d_a-z]\.[\s-]*)"
_NAME = r"[^\W\d_a-z][\w'’-]+"
_WHOLE_NAME = rf"{_NAME}\s+{_INITIALS}*{_NAME}"
_AUTHORS = re.compile(
    rf"{_INITIALS}+{_NAME}|{_NAME},\s+{_INITIALS}|{_WHOLE_NAME}(?:,|,?\s+and)\s+{_WHOLE_NAME}"
)
_MARK = re.compile(r"\[\w+\]")
_NUMBERED = re.compile(r"\[(\d{1,3})\]\s*\S")
_FEWEST = 3
"""Works one under the other that are surely a list, though no heading opens it."""


def without_references(blocks: Sequence[Block]) -> list[Block]:
    """All but the references and what comes after them, up to an appendix that is surely one."""
    found: list[Block] = []
    own = True
    blocks = list(blocks)
    for at in range(len(blocks)):
        if _opens_references(blocks, at):
            own = False
            blocks[at + 1 :] = _with_lettered_headings(blocks[at + 1 :])
        elif not own and blocks[at].heading and _opens_appendix(blocks, at):
            own = True
        if own:
            found.append(blocks[at])
    return _without_lists(found)


def _without_lists(blocks: Sequence[Block]) -> list[Block]:
    """Without works in a row, [1], [2], [3] and on, most of them with a year."""
    found: list[Block] = []
    row: list[Block] = []
    last = None
    for block in [*blocks, Block("", heading=True)]:
        number = None if block.heading else _NUMBERED.match(block.text)
        if not (row and number and last is not None and int(number[1]) == last + 1):
            dated = sum(re.search(_YEAR, work.text) is not None for work in row)
            found += [] if len(row) >= _FEWEST and dated > len(row) / 2 else row
            row = []
        last = int(number[1]) if number else None
        (row if number else found).append(block)
    return found[:-1]


def _with_lettered_headings(blocks: Sequence[Block]) -> list[Block]:
    """Lines such as "A Proofs" are headings where "A.1 Lemmas" or "B Data" bears them out.

    One alone may be the title of a work in the references: "A Survey of Trees".
    """
    lines = [block for block in blocks if block.heading or headings.is_lettered(block.text)]
    letters = {(headings.letter(line.text) or "").rstrip(".:") for line in lines}
    return [
        replace(block, heading=True)
        if headings.is_lettered(block.text) and letters & _beside(block.text[0])
        else block
        for block in blocks
    ]


def _beside(letter: str) -> set[str]:
    """The letters before and after one, and the number of the first section under it."""
    return {chr(ord(letter) - 1), chr(ord(letter) + 1), f"{letter}.1"}


def _opens_references(blocks: Sequence[Block], at: int) -> bool:
    """Not in a table of contents, where one entry follows another."""
    if at == 0 or not _names_references(blocks[at]):
        return False
    if at + 1 == len(blocks) or not blocks[at + 1].heading:
        return True
    return not (blocks[at - 1].heading or any(map(_names_references, blocks[at + 1 :])))


def _names_references(block: Block) -> bool:
    return block.heading and headings.part(block.text) == "references"


def _opens_appendix(blocks: Sequence[Block], at: int) -> bool:
    """By its name or the number A.1; or by the letter A, unless an author may begin with it.

    A year in brackets cites a work inside a sentence; any other may end one of the references.
    """
    if headings.is_appendix(blocks[at].text):
        return True
    letter = headings.letter(blocks[at].text)
    if letter in ("A.1", "A.1."):
        return True
    if letter not in ("A", "A."):
        return False
    later = blocks[at + 1 :]
    letters = {headings.letter(block.text) for block in later if block.heading}
    if letters & {"A.1", "A.1."}:
        return True
    text = next((block.text for block in later if not block.heading), None)
    if text is None or _is_entry(text):
        return False
    dated = _DATED.match(_CITED.sub("", text)) is not None
    return ("B" in letters or not dated) if letter == "A" else ("B." in letters and not dated)


def _is_entry(text: str) -> bool:
    """Whether it begins as one of the references: a mark in brackets, or authors and a year."""
    return bool(_MARK.match(text) or (_AUTHORS.match(text) and _DATED.match(text)))
