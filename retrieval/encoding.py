"""Decode the bytes of a text: as UTF-8 if possible, else in an encoding that gives words."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from contextlib import suppress
from typing import NamedTuple

from charset_normalizer import from_bytes

from dialectree.errors import InputError
from dialectree.retrieval.languages import LANGUAGES, language_score

_ENCODINGS = (
    *("cp1252", "cp1250", "cp1251", "koi8_r", "koi8_u", "cp1254", "cp1257", "cp1253", "cp1255"),
    *("cp1256", "iso8859_2", "iso8859_5", "iso8859_6", "iso8859_7", "iso8859_8", "iso8859_13"),
    *("iso8859_15", "mac_roman", "mac_latin2", "mac_cyrillic", "cp866", "cp850", "cp852", "cp874"),
)
"""Encodings of one byte per character; of two that fit equally well, the first is chosen."""
_WIDE_ENCODINGS = ("shift_jis", "euc_jp", "gb18030", "big5", "euc_kr")
_KANA, _IDEOGRAPH, _HANGUL = (re.compile(f"[{sign}]") for sign in ("ぁ-ヿ", "一-鿿", "가-힣"))
_COMMON = re.compile(
    "[的一是不了在人有我他中大上到和你地出也年要下以生会多小心天好這来來个個国國说說们們为為时時]"
)
"""The most frequent characters of Chinese."""
_STRANGE = re.compile(
    r"[\uff61-\uff9f\ue000-\uf8ff\u3130-\u318f]|[A-Za-z][\u3400-\u9fff\uac00-\ud7af](?=[A-Za-z])"
)
"""Signs that an encoding of East Asia is the wrong one."""
_LEAST_WIDE = 0.4
"""Least mean plausibility of the characters of a text of East Asia."""
_PUNCTUATION = "«»“”„’‘–—…¿¡§°€£ºª•\xa0"
_WRONG_IN_WORD = re.compile(
    r"[^\W\d_A-Z](?=[A-ZÀ-ÖØ-ÞΑ-ΩА-ЯЀ-Џ])|[a-z](?=[Α-ωА-яЀ-џא-ת])|[Α-ωА-яЀ-џא-ת](?=[a-z])"
    r"|[^\W\d_](?=[«»“”„—–…¿¡§°€£ºª•][^\W\d_])"
)
"""Signs of a wrong guess: capitals, another script or a sign in the middle of a word."""
_NO_TEXT = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]")
_LOOKED_AT = 20_000
"""Bytes from which the encoding is guessed."""
_MOST_STRAY = 0.1
"""Largest share of bytes above 127 that may be invalid in a UTF-8 text."""


class DecodedText(NamedTuple):
    """A text, and the name of its encoding if that was not UTF-8."""

    text: str
    encoding: str | None = None


def decode(data: bytes, name: str, declared: str | None = None) -> DecodedText:
    """Return the text in ``data``; ``declared`` is the encoding that the file itself names.

    Raises InputError, which names the file ``name``, if ``data`` is not text.
    """
    decoded = _decode_bytes(data, declared)
    start = decoded.text[:20_000]
    if len(_NO_TEXT.findall(start)) > 0.02 * len(start):
        raise InputError(f"{name}: not text; give a PDF, text, Markdown, LaTeX or JSON file")
    return decoded._replace(text=decoded.text.replace("\r\n", "\n").replace("\r", "\n"))


def _decode_bytes(data: bytes, declared: str | None) -> DecodedText:
    with suppress(UnicodeDecodeError):
        text = data.decode("utf-8-sig")
        if "\0" not in text[:1_000] and "\x1b$" not in text:
            return DecodedText(text)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return DecodedText(data.decode("utf-16", "replace"), "utf-16")
    if zeros := data[:_LOOKED_AT].count(0):
        low = data[1:_LOOKED_AT:2].count(0) > zeros / 2
        encoding = "utf-16-le" if low else "utf-16-be"
        with suppress(UnicodeDecodeError):
            return DecodedText(data.decode(encoding), encoding)
    if b"\x1b$" in data and data.isascii():
        return DecodedText(data.decode("iso2022_jp", "replace"), "iso2022_jp")
    if declared:
        with suppress(LookupError, UnicodeDecodeError):
            return DecodedText(data.decode(declared), declared.lower())
    stray = data.decode("utf-8", "surrogateescape")
    bad = sum("\udc80" <= sign <= "\udcff" for sign in stray)
    if bad <= _MOST_STRAY * (sum(byte > 127 for byte in data)):
        codecs.register_error("stray", _read_stray)
        return DecodedText(data.decode("utf-8", "stray"), "utf-8 with stray bytes of cp1252")
    return _guess_encoding(data)


def _read_stray(error: UnicodeError) -> tuple[str, int]:
    """Read a byte that is invalid in UTF-8 as cp1252, the encoding of Windows."""
    assert isinstance(error, UnicodeDecodeError)
    byte = error.object[error.start : error.start + 1]
    return byte.decode("cp1252", "replace"), error.start + 1


def _guess_encoding(data: bytes) -> DecodedText:
    """Return the decoded text that has most words and letters of one language."""
    start = data[:_LOOKED_AT]
    guess = from_bytes(start).best()
    if guess is not None and guess.encoding.startswith(("utf_16", "utf_32")):
        return DecodedText(data.decode(guess.encoding, "replace").lstrip("\ufeff"), guess.encoding)
    wide = {encoding: _wide_plausibility(start, encoding) for encoding in _WIDE_ENCODINGS}
    likely = max(_WIDE_ENCODINGS, key=wide.__getitem__)
    if wide[likely] >= _LEAST_WIDE:
        return DecodedText(data.decode(likely, "replace"), likely)
    best = max(_ENCODINGS, key=lambda encoding: _plausibility(start, encoding))
    return DecodedText(data.decode(best, "replace"), best)


def _wide_plausibility(data: bytes, encoding: str) -> float:
    """Return how plausible ``data`` is as a text of East Asia: the mean over its characters."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(data)  # its end may be cut off
    except UnicodeDecodeError:
        return 0.0
    kana, ideographs, hangul = (len(script.findall(text)) for script in (_KANA, _IDEOGRAPH, _HANGUL))
    wrong = 3 * len(_STRANGE.findall(text))
    if encoding == "euc_kr":
        score = 1.0 * hangul - 3 * (ideographs + kana)
    elif encoding in ("shift_jis", "euc_jp"):
        score = 1.5 * kana + 0.3 * ideographs
    else:
        score = 3 * len(_COMMON.findall(text)) + 0.3 * ideographs
    characters = kana + ideographs + hangul
    return (score - wrong) / characters if characters > 2 else 0.0


def _plausibility(data: bytes, encoding: str) -> float:
    """Return how plausible ``data`` is as a text in one language; greater is better."""
    text = data.decode(encoding, "replace")
    words = Counter(re.findall(r"[^\W\d_]+", text.lower()))
    letters = Counter(sign for sign in text.lower() if sign > "\x7f" and _is_letter(sign))
    symbols = sum(sign > "\x7f" and sign not in _PUNCTUATION and not _is_letter(sign) for sign in text)
    best = max(language_score(language, words, letters) for language in LANGUAGES.values())
    return best - 3 * (symbols + len(_WRONG_IN_WORD.findall(text)))


def _is_letter(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "LM"
