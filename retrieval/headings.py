"""Which line is a heading, and which headings mean something to us."""

from __future__ import annotations

import re
from typing import Literal

LONGEST = 100
"""Characters; a longer line is no heading."""

Part = Literal["abstract", "introduction", "references", "keywords"]

_PARTS: dict[str, Part] = {
    **dict.fromkeys(("abstract", "summaryabstract", "摘要", "中文摘要", "要旨"), "abstract"),
    **dict.fromkeys(
        (
            *("introduction", "introductionandmotivation", "引言", "绪论", "緒論", "前言"),
            *("はじめに", "序論"),
        ),
        "introduction",
    ),
    **dict.fromkeys(
        (
            "references",
            "bibliography",
            "literaturecited",
            "workscited",
            "referencescited",
            "referencesandnotes",
            "literature",
            "literaturverzeichnis",
            *("参考文献", "參考文獻", "主要参考文献", "参考书目", "引用文献"),
        ),
        "references",
    ),
    **dict.fromkeys(
        (
            *("keywords", "indexterms", "ccsconcepts", "categoriesandsubjectdescriptors"),
            *("关键词", "關鍵詞", "キーワード"),
        ),
        "keywords",
    ),
}
_KNOWN = {
    *_PARTS,
    *("relatedwork", "background", "preliminaries", "method", "methods", "methodology", "approach"),
    *("experiments", "evaluation", "results", "discussion", "limitations", "conclusion"),
    *("conclusions", "acknowledgments", "acknowledgements", "acknowledgment", "appendix"),
    *("summary", "statementofneed", "futurework", "ethicsstatement", "notation", "overview"),
    *("motivation", "experimentalsetup", "implementation", "relatedworks", "analysis"),
    *("resultsanddiscussion", "conclusionandfuturework", "dataavailability"),
    *("appendices", "supplement", "supplementarymaterial", "supplementarymaterials"),
    *("supplementalmaterial", "supplementaryinformation", "supportinginformation"),
}
_CHINESE_NUMBER = (
    r"(?:第[一二三四五六七八九十\d]{1,3}[章节節]|[一二三四五六七八九十]{1,3}[、.．\s]"
    r"|[（(][一二三四五六七八九十]{1,3}[)）]|\d{1,2}(?:[.．]\d{1,2}){0,3}[.．]?)\s*(?=[\u4e00-\u9fff])"
)
_CHINESE = re.compile(rf"{_CHINESE_NUMBER}[^\s。，；：！？,;]{{2,30}}")
_NUMBER = re.compile(
    r"(?:(?i:section|appendix)\s+)?"
    r"(?:\d{1,2}(?:\.\d{1,2}){0,3}[.:)]?|[IVX]{1,5}[.:]|[A-Z](?:[.:]|(?:\.\d{1,2})+[.:]?))\s+"
    rf"|{_CHINESE_NUMBER}"
)
_NUMBERED = re.compile(
    r"(?:(?i:appendix)\s+[A-Z\d]{1,2}[.:]?|\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,5}\.|[A-H]\.|[A-H](?:\.\d{1,2})+\.?)\s+\S"
)
_APPENDIX = re.compile(
    r"(?:[A-Z\dIVX]{1,4}[.:]?\s+)?"
    r"(?i:appendi(?:x|ces)|anhang|supplement(?:ary|al)?|supporting\s+information)\b"
)
_APPENDIX_ALONE = re.compile(r"(?i:appendix)\s+[A-Z\d]{1,2}[.:]?")
_LETTER = re.compile(r"([A-Z](?:\.\d{1,2})*[.:]?)\s+[A-Z]")
_RUN_IN = re.compile(
    r"^(abstract|a b s t r a c t|摘\s*要|要\s*旨)\s*[-–—.:：]+\s*(?=\S)", re.IGNORECASE
)


def bare(line: str) -> str:
    """Return a heading without its number, its marks and its colon."""
    text = line.strip().strip("#*_ ").strip()
    text = re.sub(r"\s*\{[#.][^}]*\}$", "", text)
    found = _NUMBER.match(text)
    return (text[found.end() :] if found else text).rstrip(" .:：").strip() or text


def _key(line: str) -> str:
    return re.sub(r"[\W\d_]+", "", bare(line)).lower()


def part(line: str) -> Part | None:
    """Return which part of a paper a heading opens; "R EFERENCES" counts as well."""
    if len(line) > LONGEST:
        return None
    whole = re.sub(r"[\W\d_]+", "", line).lower()
    found = _PARTS.get(_key(line)) or _PARTS.get(whole)
    found = found or _PARTS.get(re.sub("[a-z]+", "", _key(line)))  # "参考文献 (References)"
    if found is None and re.match(r"introduction\b", bare(line), re.IGNORECASE):
        return "introduction"
    return found


def is_appendix(heading: str) -> bool:
    """Whether a heading says that an appendix begins, whatever its number."""
    return _APPENDIX.match(heading.strip("#*_ ")) is not None or _key(heading) == "appendix"


def letter(heading: str) -> str | None:
    """Return the letter that numbers an appendix, as printed: "A", "A." or "A.1"."""
    found = _LETTER.match(heading.strip("#*_ "))
    return found[1] if found else None


def is_lettered(line: str) -> bool:
    """Whether a bare letter stands before what would be a heading if a number did."""
    found = letter(line)
    return found is not None and len(found) == 1 and looks_like_one(f"1{line[1:]}")


def without_run_in(text: str) -> str | None:
    """Return what follows "Abstract—" on its line, or None."""
    found = _RUN_IN.match(text)
    return text[found.end() :] if found else None


def looks_like_one(line: str) -> bool:
    """Whether a line that stands alone is a heading, by its words alone."""
    text = line.strip()
    if not text or len(text) > LONGEST or text.endswith((",", ";", "-")) or len(text.split()) > 14:
        return False
    if text[-1] in ".!?" and next(filter(str.isalpha, text), "").islower():
        return False  # the last line of a sentence: "literature."
    key = _key(text)
    if key in _KNOWN or part(text) or _APPENDIX_ALONE.fullmatch(text) or _CHINESE.fullmatch(text):
        return True
    if text[-1] in ".!?" or sum(map(str.isalpha, text)) < 3 or re.search(r"[=<>∈∑]", text):
        return False
    return _is_numbered(text) or _is_in_capitals(text)


def is_numbered(line: str) -> bool:
    """Whether a line is numbered as sections are."""
    return _is_numbered(line.strip())


def _is_numbered(text: str) -> bool:
    found = _NUMBERED.match(text)
    if not found:
        return False
    rest = text[found.end() - 1 :]
    return rest[0].isupper() and len(rest.split()) <= 12 and ", " not in rest[:12]


def _is_in_capitals(text: str) -> bool:
    letters = [sign for sign in text if sign.isalpha()]
    return len(letters) >= 5 and all(sign.isupper() for sign in letters) and len(text.split()) <= 10
