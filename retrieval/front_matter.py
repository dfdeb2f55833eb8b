"""Where the abstract is, and where the body begins."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dialectree.retrieval import headings
from dialectree.retrieval.drafts import Block

_LOOKED_AT = 60
"""Blocks from the top among which an abstract is sought."""
_LONGEST = 900
"""Words; more than that is a body whose headings were not seen."""
_KEYWORDS = re.compile(
    r"(?:key ?words?(?: and phrases)?|index terms|ccs concepts)\b"
    r"|[\[【]?(?:关\s*键\s*[词字]|關\s*鍵\s*詞|キーワード)",
    re.IGNORECASE,
)


def under_its_heading(blocks: Sequence[Block]) -> tuple[str | None, list[Block]]:
    """Return the abstract that a heading (or "Abstract:" itself) opens, and what comes after it.

    Authors, addresses and whatever else stands before it belong to neither.
    """
    for at, block in enumerate(blocks[:_LOOKED_AT]):
        if block.heading and headings.part(block.text) == "abstract":
            texts = _until_a_heading(blocks[at + 1 :])
            if texts:
                return _joined(texts), _body(blocks[at + 1 + len(texts) :])
        elif not block.heading and (rest := headings.without_run_in(block.text)):
            return rest, _body(blocks[at + 1 :])
    return None, list(blocks)


def under_a_summary(blocks: Sequence[Block]) -> tuple[str | None, list[Block]]:
    """Return the abstract of a paper that calls it "Summary", and what comes after it.

    Only the first of all headings can be that one; a later one, or a numbered one, is a section's.
    """
    for at, block in enumerate(blocks[:_LOOKED_AT]):
        if block.heading and headings.looks_like_one(block.text):
            named = block.text.strip(" .:").lower() == "summary"
            texts = _until_a_heading(blocks[at + 1 :]) if named else []
            if texts:
                return _joined(texts), _body(blocks[at + 1 + len(texts) :])
            break
    return None, list(blocks)


def first_paragraph(blocks: Sequence[Block], words: int = 0) -> tuple[str | None, list[Block]]:
    """Return the first paragraph of so many words above the first heading, and what comes after it.

    Short ones without a sentence are passed over, for they name authors, where a longer one comes.
    """
    above = _until_a_heading(blocks[:_LOOKED_AT], all_of_them=True)
    told = [block for block in above if len(block.text.split()) >= words]
    said = [block for block in told if _is_said(block.text)]
    if not told:
        return None, list(blocks)
    chosen = (said or told)[0]
    return chosen.text, _body(blocks[above.index(chosen) + 1 :])


def _is_said(text: str) -> bool:
    return len(text.split()) > 25 or ends_a_sentence(text)


def ends_a_sentence(text: str) -> bool:
    """Whether a text ends as a sentence, not as a name."""
    ended = text.endswith((".", "!", "?", ".”", '."')) and not text.endswith(" al.")
    return ended and len(text.split()) > 2


def _until_a_heading(blocks: Sequence[Block], all_of_them: bool = False) -> list[Block]:
    """Return the paragraphs above the next heading, or the first one of a whole body."""
    found: list[Block] = []
    for block in blocks:
        if block.heading:
            break
        found.append(block)
    told = sum(len(block.text.split()) for block in found)
    endless = not all_of_them and (len(found) == len(blocks) or told > _LONGEST)
    return found[:1] if endless else found


def _joined(texts: Sequence[Block]) -> str:
    return "\n\n".join(block.text for block in texts if not _KEYWORDS.match(block.text))


def _body(blocks: Sequence[Block]) -> list[Block]:
    """Drop the keywords between the abstract and the first section."""
    rest = list(blocks)
    while rest and _KEYWORDS.match(rest[0].text):
        under = rest[0].heading and headings.bare(rest[0].text) == rest[0].text.strip(" :")
        rest = rest[2 if under and len(rest) > 1 and not rest[1].heading else 1 :]
    return rest
