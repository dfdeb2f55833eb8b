"""The words that may stand around an answer and say nothing of it: "So the best answer is ..."

The list is closed and English. Whatever is not on it may make another answer of the one it stands
beside: "plants as well as animals", "West Virginia", "the year after 1914". A reason may as well
("they sleep because it is cold"), so reasons are not on the list.
"""

from __future__ import annotations

import re

_NOUNS = "answer option choice candidate label letter"
_PRAISE = "correct right best final"
_VERBS = "choose pick select say think believe conclude"
_POINTERS = "it this that these those they"
_SMALL = "a an the my our i we is are s so thus therefore hence with for go rule vote of course"
_RULINGS = (
    "yes true both all either no not non never neither nor none nothing cannot false wrong"
    " incorrect untrue impossible unlikely other opposite uncertain unsure unclear undecided"
    " unresolved"
)
EMPTY = frozenset(" ".join([_NOUNS, _PRAISE, _VERBS, _POINTERS, _SMALL, _RULINGS]).split())
"""Words that name nothing: an answer that has no other is not looked for within a sentence."""
ARTICLES = frozenset(["a", "an", "the"])


def _one_of(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"


_NOUN = _one_of(_NOUNS)
_ANSWER = rf"(?:(?:the|my|our|this)\s)?(?:{_one_of(_PRAISE)}\s){{0,2}}{_NOUN}"
_LABELLED = rf"""{_NOUN}\s["'(\[{{*]*+(?P<label>[a-z])(?!\w)["')\]}}*]*+"""
_GAP = r"""[\s,:;"'(\[{*_]*+"""


def _mark(place: str) -> str:
    """A letter with a sign after it, as labels are written: "C: ...", "(c) ..."."""
    return rf"""(?: (?P<mark_{place}>[a-z])["'*]*+[)\]}}.:,;]++ {_GAP} )?"""


_BEFORE = re.compile(
    rf"""{_GAP}
    (?: (?:so|thus|therefore|hence)\b (?!\s*["'(\[{{*_]*$) {_GAP} )?  # "so hot" is very hot
    {_mark("before")}
    (?: (?:i|we)\s(?:{_one_of(_VERBS)}|go\swith|(?:rule|vote)\sfor)\b(?:\sthat\b)? {_GAP} )?
    (?: {_ANSWER}(?:\sis\b|\s?:) {_GAP} {_mark("behind")} )?
    (?: {_LABELLED}(?:\sis\b(?:\s(?:correct|right)[:,;])?)? {_GAP} )?
    (?: (?: (?:it|this|that)(?:\sis|'s) | (?:these|those|they)\sare )\b {_GAP} )?
    (?: the\b {_GAP} | an?\s["'*_]*+ )?  # "A: ..." and "A (...)" are labels
    """,
    re.VERBOSE,
)
_END = r"""[\s.,:;!"')\]}*_]*+"""
_AFTER = re.compile(
    rf"""{_END}
    (?: (?: of\scourse | i\s(?:think|believe|say) | it\sis | (?:is|are)\s(?:correct|right)
          | is\s{_ANSWER} )\b {_END} )?
    (?: [(\[]?{_LABELLED} {_END} )?""",
    re.VERBOSE,
)


def framed(before: str, after: str, label: str) -> bool:
    """Whether only such words, and no other label, stand ``before`` and ``after`` an answer.

    Both are of one case, with single blanks.
    """
    found = _BEFORE.fullmatch(before), _AFTER.fullmatch(after)
    if found[0] is None or found[1] is None:
        return False
    marks = (found[0]["mark_before"], found[0]["mark_behind"])
    said = {*marks, found[0]["label"], found[1]["label"]} - {None}
    return said <= {label.casefold()}
