"""Split texts into search words: normalized, and stemmed in the text's language."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

import Stemmer
from bm25s.stopwords import STOPWORDS_EN

from dialectree.retrieval.languages import LANGUAGES

_PAIRED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Characters to search in pairs: their scripts put no blank between words, or before endings."""
_SIGNS = "\u0900-\u0dff"
"""Letters and vowel signs of India's scripts; a word consists of both."""
_WORD = re.compile(
    rf"[{_PAIRED}]+|\d+(?:[.,]\d+)*|(?:(?![{_PAIRED}])[^\W_\d]|[{_SIGNS}])(?:(?![{_PAIRED}])\w|[{_SIGNS}])*"
)
_ASCII_WORD = re.compile(r"\d+(?:[.,]\d+)*|[A-Za-z]\w*", re.ASCII)
_PAIRED_WORD = re.compile(f"[{_PAIRED}]")
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u00ad\u200b-\u200f\u2060]"
)
"""Accents, vowel signs of Arabic and Hebrew, and invisible characters."""
_GROUPED = re.compile(r"(?<=\d)[,'’\u00a0\u202f\u2009](?=\d{3}(?!\d))")
_FIGURE_BEFORE_UNIT = re.compile(r"(?<=\d)(?=[^\W\d_])")
_HYPHENED = re.compile(r"\b([^\W\d_]+)[-\u2010\u2011]([^\W\d_]{2,})\b")
_STOP_WORDS = frozenset(STOPWORDS_EN)


def normalize(text: str) -> str:
    """Return ``text`` without accents; "CO₂" as "CO2", "12,500" as "12500", "5kg" as "5 kg".

    After the parts of a word with a hyphen comes the whole word: "e-mail" as "e mail email".
    """
    text = _GROUPED.sub("", text)
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", text))
    text = _FIGURE_BEFORE_UNIT.sub(" ", text)
    has_hyphen = "-" in text or not text.isascii()
    return _HYPHENED.sub(r"\1 \2 \1\2", text) if has_hyphen else text


def search_words(text: str, language: str = "en") -> list[str]:
    """Return the stems of the words of ``text``, without the stop words of English.

    ``language`` is an ISO code of :data:`~dialectree.retrieval.languages.LANGUAGES`; words of
    other languages are not stemmed. Chinese, Japanese, Korean and Thai are split into pairs of characters.
    """
    words: list[str] = []
    text = normalize(text)
    pattern = _ASCII_WORD if text.isascii() else _WORD
    for word in pattern.findall(text):
        if _PAIRED_WORD.match(word):
            words += map("".join, pairwise(word)) if len(word) > 1 else [word]
        elif (folded := word.casefold()) not in _STOP_WORDS or (len(word) == 2 and word.isupper()):
            words.append(folded)
    stemmer = _stemmer(language)
    return stemmer.stemWords(words) if stemmer else words


@lru_cache(maxsize=64)
def _stemmer(language: str) -> Stemmer.Stemmer | None:
    name = LANGUAGES[language].stemmer if language in LANGUAGES else None
    return Stemmer.Stemmer(name) if name else None
