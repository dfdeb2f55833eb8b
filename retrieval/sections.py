"""Find the headings, the abstract and the references of a paper."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Literal

from dialectree.retrieval.blocks import Block

LONGEST = 100
"""Most characters of a heading."""

Part = Literal["abstract", "introduction", "references", "keywords"]

_NAMES: dict[Part, str] = {
    "abstract": "abstract summaryabstract 摘要 中文摘要 要旨",
    "introduction": "introductionandmotivation 引言 绪论 緒論 前言 はじめに 序論",
    "references": "references bibliography literaturecited workscited referencescited"
    " referencesandnotes literature literaturverzeichnis 参考文献 參考文獻 主要参考文献 参考书目"
    " 引用文献",
    "keywords": "keywords indexterms ccsconcepts categoriesandsubjectdescriptors 关键词 關鍵詞 キーワード",
}
_PARTS = {name: part for part, names in _NAMES.items() for name in names.split()}
_OTHERS = (
    "relatedwork relatedworks background preliminaries method methods methodology approach"
    " experiments experimentalsetup evaluation results resultsanddiscussion discussion analysis"
    " limitations conclusion conclusions conclusionandfuturework futurework implementation"
    " acknowledgments acknowledgements acknowledgment appendix appendices summary overview"
    " statementofneed ethicsstatement dataavailability notation motivation supplement"
    " supplementarymaterial supplementarymaterials supportinginformation"
)
_KNOWN = {*_PARTS, *_OTHERS.split()}
_CHINESE_NUMBER = (
    r"(?:第[一二三四五六七八九十\d]{1,3}[章节節]|[一二三四五六七八九十]{1,3}[、.．\s]"
    r"|[（(][一二三四五六七八九十]{1,3}[)）]|\d{1,2}(?:[.．]\d{1,2}){0,3}[.．]?)\s*(?=[\u4e00-\u9fff])"
)
_CHINESE = re.compile(rf"{_CHINESE_NUMBER}[^\s。，；：！？,;]{{2,30}}")
_NUMBER = re.compile(
    r"(?:(?i:section|appendix)\s+[A-Z\d]{1,2}[.:]?|\d{1,2}(?:\.\d{1,2}){0,3}[.:]?"
    rf"|[IVX]{{1,5}}[.:]|[A-H](?:[.:]|(?:\.\d{{1,2}})+[.:]?))\s+|{_CHINESE_NUMBER}"
)
_APPENDIX = re.compile(
    r"(?:[A-Z\dIVX]{1,4}[.:]?\s+)?"
    r"(?i:a\s?ppendi(?:x|ces)|anhang|supplement(?:ary|al)?|supporting\s+information)\b"
)
_RUN_IN = re.compile(r"(?:abstract|a b s t r a c t|摘\s*要|要\s*旨)\s*[-–—.:：]+\s*(?=\S)", re.IGNORECASE)
_CAPTION = re.compile(
    r"(?:figure|fig\.|table|algorithm|listing)\s+[\dIVX]+(?:\.\d+)*\s*(?:[:.|](?:\s|$)|$)"
    r"|algorithm\s+\d+\s+(?-i:[A-Z])",
    re.IGNORECASE,
)
_KEYWORDS = re.compile(
    r"(?:key ?words?(?: and phrases)?|index terms|ccs concepts)\b"
    r"|[\[【]?(?:关\s*键\s*[词字]|關\s*鍵\s*詞|キーワード)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:19|20)\d\d[a-z]?\b")
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_SUMMARIES = ("summary", "overview", "tl;dr")
_LOOKED_AT = 60
"""Number of first blocks of a paper in which its abstract is looked for."""


def strip_heading_marks(line: str) -> str:
    """Return a heading without its number, its marks and its colon."""
    text = line.strip().strip("#*_ ")
    return _NUMBER.sub("", text, count=1).rstrip(" .:：").strip() or text


def letters(text: str) -> str:
    """Return the letters of a text in lower case, without blanks, figures and signs."""
    return re.sub(r"[\W\d_]+", "", text).lower()


def part(line: str) -> Part | None:
    """Return the part of a paper that a heading opens, or None; "R EFERENCES" is read as "References"."""
    if len(line) > LONGEST:
        return None
    if re.match(r"introduction\b", strip_heading_marks(line), re.IGNORECASE):
        return "introduction"
    key = letters(strip_heading_marks(line))
    chinese = re.sub("[a-z]+", "", key)  # "参考文献 (References)"
    return _PARTS.get(key) or _PARTS.get(letters(line)) or _PARTS.get(chinese)


def without_run_in(text: str) -> str | None:
    """Return the text after "Abstract—" at the start, or None."""
    match = _RUN_IN.match(text)
    return text[match.end() :] if match else None


def is_caption(text: str) -> bool:
    """Return whether a paragraph is the caption of a figure or a table."""
    return _CAPTION.match(text) is not None


def is_numbered(line: str) -> bool:
    """Return whether a line is numbered like a section."""
    match = _NUMBER.match(line.strip())
    rest = line.strip()[match.end() :] if match else ""
    return rest[:1].isupper() and len(rest.split()) <= 12 and ", " not in rest[:12]


def is_section(line: str) -> bool:
    """Return whether a line names a part of a paper, or is numbered and in capitals."""
    text = line.strip()
    if text[:1].islower() or text.endswith((".", ",", ";", "-")):
        return False
    return part(text) is not None or (is_numbered(text) and text.upper() == text)


def looks_like_heading(line: str) -> bool:
    """Return whether a separate line is a heading, judged only by its words."""
    text = line.strip()
    if not text or len(text) > LONGEST or text.endswith((",", ";", "-")) or len(text.split()) > 14:
        return False
    stopped = text[-1] in ".!?"
    if stopped and next(filter(str.isalpha, text), "").islower():
        return False  # the last line of a sentence: "literature."
    if letters(strip_heading_marks(text)) in _KNOWN or part(text) or _CHINESE.fullmatch(text):
        return True
    if re.fullmatch(r"(?i:appendix)\s+[A-Z\d]{1,2}[.:]?", text):
        return True
    alphabetic = [sign for sign in text if sign.isalpha()]
    if stopped or len(alphabetic) < 3 or re.search(r"[=<>∈∑]", text):
        return False
    in_capitals = len(alphabetic) >= 5 and all(map(str.isupper, alphabetic)) and len(text.split()) <= 10
    return is_numbered(text) or in_capitals


def ends_sentence(text: str) -> bool:
    """Return whether a text ends like a sentence rather than a name."""
    ended = text.endswith((".", "!", "?", ".”", '."')) and not text.endswith(" al.")
    return ended and len(text.split()) > 2


def abstract_by_heading(blocks: Sequence[Block], *, summary: bool = False) -> tuple[str | None, list[Block]]:
    """Return the abstract below its heading or after "Abstract:" in a paragraph, and the body after it.

    The authors and addresses above the abstract are in neither. With `summary`, "Summary" opens an
    abstract, too, if it is the first heading and has no number.
    """
    for at, block in enumerate(blocks[:_LOOKED_AT]):
        if block.heading and part(block.text) == "abstract":
            if texts := _until_heading(blocks[at + 1 :]):
                return _join_prose(texts), _body(blocks[at + 1 + len(texts) :])
        elif not block.heading and (rest := without_run_in(block.text)):
            return rest, _body(blocks[at + 1 :])
    tops = (at for at, b in enumerate(blocks) if b.heading and looks_like_heading(b.text))
    top = next(tops, len(blocks)) if summary else len(blocks)
    is_summary = top < len(blocks) and blocks[top].text.strip(" .:").lower() == "summary"
    if is_summary and (texts := _until_heading(blocks[top + 1 :])):
        return _join_prose(texts), _body(blocks[top + 1 + len(texts) :])
    return None, list(blocks)


def abstract_by_place(blocks: Sequence[Block], words: int = 0) -> tuple[str | None, list[Block]]:
    """Return the first paragraph of at least ``words`` words above any heading, and the body after it.

    A short paragraph without a sentence may be the authors' names: it is the last choice.
    """
    above = list(takewhile(lambda block: not block.heading, blocks[:_LOOKED_AT]))
    prose = (block for block in above if block.kind == "paragraph")
    long = [block for block in prose if len(block.text.split()) >= words]
    if not long:
        return None, list(blocks)
    sentences = (b for b in long if len(b.text.split()) > 25 or ends_sentence(b.text))
    chosen = next(sentences, long[0])
    return chosen.text, _body(blocks[above.index(chosen) + 1 :])


def find_summary(blocks: Sequence[Block]) -> str | None:
    """Return the text of a summary section, or None. The section stays in the body."""
    for at, block in enumerate(blocks):
        if block.heading and strip_heading_marks(block.text).lower() in _SUMMARIES:
            return _join_prose(_until_heading(blocks[at + 1 :])) or None
    return None


def _until_heading(blocks: Sequence[Block]) -> list[Block]:
    """Return the paragraphs above the next heading; without headings, the first paragraph."""
    above = list(takewhile(lambda block: not block.heading, blocks))
    return above[:1] if len(above) == len(blocks) else above


def _join_prose(texts: Sequence[Block]) -> str:
    """Return the prose in ``texts``, or all of ``texts`` if none is prose; without keywords."""
    prose = [block for block in texts if block.kind in ("paragraph", "item")] or texts
    return "\n\n".join(block.text for block in prose if not _KEYWORDS.match(block.text))


def _body(blocks: Sequence[Block]) -> list[Block]:
    """Drop the keywords between the abstract and the first section."""
    rest = list(blocks)
    while rest and _KEYWORDS.match(rest[0].text):
        under = rest[0].heading and strip_heading_marks(rest[0].text) == rest[0].text.strip(" :")
        rest = rest[2 if under and len(rest) > 1 and not rest[1].heading else 1 :]
    return rest


def part_references(blocks: Sequence[Block]) -> tuple[list[Block], list[Block]]:
    """Split blocks into the body and the references. An appendix after these belongs to the body."""
    body_blocks: list[Block] = []
    references: list[Block] = []
    reading = True
    for at, block in enumerate(blocks):
        if at and _opens_references(block, blocks[at + 1 :]):
            reading = False
        elif not reading and block.heading and _opens_appendix(block, blocks[at + 1 :]):
            reading = True
        (body_blocks if reading else references).append(block)
    return body_blocks, references


def names_part(text: str) -> bool:
    """Return whether a heading names a part of a paper, or its summary."""
    return part(text) is not None or strip_heading_marks(text).lower() in _SUMMARIES


def _opens_references(block: Block, later: Sequence[Block]) -> bool:
    """Return whether a block is the heading of the references, not its line in a table of contents."""
    if not _names_references(block):
        return False
    return not (later and later[0].heading and any(map(_names_references, later)))


def _names_references(block: Block) -> bool:
    return block.heading and part(block.text) == "references"


def _opens_appendix(block: Block, later: Sequence[Block]) -> bool:
    """Return whether a heading opens an appendix: by name, or by the letter A if no cited work follows."""
    heading = block.text.strip("#*_ ")
    if _APPENDIX.match(heading) or re.match(r"A\.1\.?\s+[A-Z]", heading):
        return True
    text = next((later_block.text for later_block in later if not later_block.heading), "")
    is_work = bool(_YEAR.search(_IN_BRACKETS.sub("", text)))
    return re.match(r"A\.?\s+[A-Z]", heading) is not None and not is_work
