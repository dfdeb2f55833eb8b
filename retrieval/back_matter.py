"""Where the body ends: at the references. An appendix that follows them belongs to it again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dialectree.retrieval import headings
from dialectree.retrieval.drafts import Block

_ENTRY = re.compile(r"\[\w+\]|.{0,400}\b(?:19|20)\d\d[a-z]?\)?(?:[.,:;]|$)", re.DOTALL)
"""One of the references: a mark in brackets before it, or a year that something parts off."""


def without_references(blocks: Sequence[Block]) -> list[Block]:
    """All but the references and what comes after them, up to an appendix that is surely one."""
    found: list[Block] = []
    own = True
    for at, block in enumerate(blocks):
        if _opens_references(blocks, at):
            own = False
        elif not own and block.heading and _opens_appendix(blocks, at):
            own = True
        if own:
            found.append(block)
    return found


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
    """By its name; or by the letter A, unless what follows shows that an author begins with it."""
    if headings.is_appendix(blocks[at].text):
        return True
    letter = headings.letter(blocks[at].text)
    if letter not in ("A", "A."):
        return False
    later = blocks[at + 1 :]
    letters = {headings.letter(block.text) for block in later if block.heading}
    if letters & {"A.1", "A.1."}:
        return True
    text = next((block.text for block in later if not block.heading), None)
    if text is None or _ENTRY.match(text):
        return False
    return letter == "A" or "B." in letters
