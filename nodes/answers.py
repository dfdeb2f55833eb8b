"""Which candidate a text names: never by a guess, so that a won debate is not lost in the mapping.

What can be read in two ways names nobody, and the judge is asked once more. The words that may
stand around a candidate are English: in another language only the candidate itself names it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import NamedTuple

from dialectree.nodes.framing import ARTICLES, EMPTY, framed

_UNIFIED = str.maketrans(
    dict.fromkeys("‘’‚‛′‵‹›`´ʼ", "'")
    | dict.fromkeys("“”„‟″«»「」『』", '"')
    | dict.fromkeys("‐‑‒–—―−﹘", "-")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", "")
)
_HIGH, _LOW = "²³¹⁰-ⁿ", "₀-₎ₐ-ₜ"
# Where a small figure would become part of what stands beside it: 10², log₂8, 2½.
_SMALL = re.compile(
    rf"(?P<high>(?<![{_HIGH}])(?<=[\w)\]}}|])(?=[{_HIGH}]))|(?P<low>(?<=\d)(?=[{_LOW}]))"
    rf"|(?P<apart>(?<=[{_HIGH}{_LOW}])(?=\d)|(?<=\d)(?=[¼-¾⅐-⅟]))"
)
# A sign or a decimal point belongs to what it touches: "-5", ".5" and "A-" keep theirs.
_HEAD = re.compile(
    r"""(?:[\s,;:!?¡¿"'()\[\]{}*_|]|\.(?!\d)|-(?![^\s-]|\s+\.?\d)|(?:an?|the)\s+(?=["'(\[]*\w))*+"""
)
_TAIL = re.compile(r"""(?:[\s.,;:!?¡¿"'()\[\]{}*_|]|-(?![^\s-]))*+""")  # of the text reversed
_NOUN = r"(?i:option|answer|choice|candidate|label|letter)"
_LETTER = re.compile(
    rf"""(?:(?:(?i:the)\s+)?(?:(?i:correct|final|best|right)\s+)?{_NOUN}\b\s*(?:(?i:is)\b\s*)?[:=]?)?"""
    r"""[\s("'\[{*]*([A-Za-z]|(?i:uncertain))[\s)"'\]}*.:,;!]*"""
)
_MARK = re.compile(
    rf"""\s*(?:{_NOUN}\b\s*(?:(?i:is)\b\s*)?[:=]?\s*)?[("'\[{{*]*([A-Za-z])"""
    r"""(?:\s*["'*]*[)\]}.:]+["'*]*|\s+-\s|[^\S\n]*\n)"""
)
# More may belong to it: "Paris," before "Texas", ", animals" after "plants", 5' and 5" of a length.
_BEGUN, _CUT = re.compile(r"\.\.|[,;:]"), re.compile(r"\.\.|[,;:(\[{]|\s-")
_PRIMED = re.compile(r"""(?:[^'"]|(?<=\w)'(?=\w))*+(?:(?<=\d)|(?<=\d\s))['"]""")
_WORD = re.compile(r"[^\W_]+")


class _Word(NamedTuple):
    """A word and where it stands."""

    text: str
    start: int
    end: int


def folded(text: str) -> str:
    """One case, one kind of quote and dash, and nothing that cannot be seen."""
    return unicodedata.normalize("NFKC", _unified(text).casefold())


def exact(text: str) -> str:
    """The text itself, each sign and capital of it; with one kind of quote, dash and blank.

    10² is 10^2 and not 102.
    """
    return " ".join(_unified(_parted(text)).split())


def normal(text: str) -> str:
    """For comparing: one case, one kind of quote, dash and blank; no article or sign around it.

    10² is 10^2 and not 102.
    """
    plain = folded(_parted(text))
    return " ".join(plain[_inside(plain)].split())


def same(a: str, b: str) -> bool:
    """Whether two answers are the same words; an empty one is like none."""
    return bool(normal(a)) and normal(a) == normal(b)


def letter(text: str) -> str:
    """A label as models write it, as the bare capital letter, or "uncertain".

    Anything else comes back as it is, stripped, for a closed set to refuse.
    """
    found = _LETTER.fullmatch(_unified(text).strip())
    if not found:
        return text.strip()
    return found[1].upper() if len(found[1]) == 1 else "uncertain"


def letters(n: int) -> tuple[str, ...]:
    """The labels of ``n`` options, 2 to 26: A, B, C ..."""
    if not 2 <= n <= len(ascii_uppercase):
        raise ValueError(f"{n} options; labels are for 2 to {len(ascii_uppercase)}")
    return tuple(ascii_uppercase[:n])


def ruling(label: str, answer: str, candidates: Mapping[str, str]) -> str | None:
    """``label``, if it is a candidate's and ``answer`` names that same candidate; else None."""
    return label if label in candidates and named(answer, candidates) == label else None


def named(answer: str, candidates: Mapping[str, str]) -> str | None:
    """The label of the one candidate that ``answer`` names, or None.

    It names it by being its text, its letter, or both ("B) plants"); by these readings only if
    they agree. Otherwise by holding its text, and nothing that could mean another one.
    """
    plain, texts = (
        _unified(_parted(answer)),
        {label: normal(text) for label, text in candidates.items()},
    )
    if _indistinct([*texts.values()]) or _unfinished(plain):
        return _sign_for_sign(answer, candidates)
    mark = _MARK.match(plain)
    readings = _equal(plain, texts) | _lettered(plain, candidates)
    if mark and (meant := _equal(plain[mark.end() :], texts)):
        readings |= meant | {mark[1].upper()}
    if not readings:
        body = _plain(answer)
        readings = {label for label in texts if _holds(body, label, texts)}
        if mark:
            readings &= {mark[1].upper()}
    return readings.pop() if len(readings) == 1 and readings <= candidates.keys() else None


def _plain(text: str) -> str:
    """One case and single blanks, with every sign in its place."""
    return " ".join(folded(_parted(text)).split())


def _indistinct(texts: Sequence[str]) -> bool:
    """Whether a candidate is only signs or only an article, such as "=" or "the".

    Then a candidate is named by its very text, sign for sign, or by its letter alone.
    """
    return any(not _WORD.search(text) or text in ("an", "the") for text in texts)


def _unfinished(text: str) -> bool:
    """Whether it begins or ends as if there were more of it, or has a sign of feet or inches."""
    words = [word.span() for word in _WORD.finditer(text)]
    if not words:
        return False
    before, after = text[: words[0][0]], text[words[-1][1] :]
    return bool(_BEGUN.search(before) or _CUT.search(after) or _PRIMED.match(text))


def _sign_for_sign(answer: str, candidates: Mapping[str, str]) -> str | None:
    """The candidate that ``answer`` repeats with every sign, or whose letter it is."""
    said = _plain(answer)
    found = {label for label, text in candidates.items() if _plain(text) == said}
    found |= {answer.strip().strip("()[].:,;").upper()} & candidates.keys()
    return found.pop() if len(found) == 1 else None


def _equal(answer: str, texts: Mapping[str, str]) -> set[str]:
    plain = normal(answer)
    return {label for label, text in texts.items() if plain and plain == text}


def _lettered(answer: str, candidates: Mapping[str, str]) -> set[str]:
    """Whom a bare letter may mean: the candidate with this label, and any whose text it is."""
    label = letter(answer)
    if label not in candidates:
        return set()
    return {label} | {other for other, text in candidates.items() if letter(text) == label}


def _holds(body: str, label: str, texts: Mapping[str, str]) -> bool:
    """Whether ``body`` is the text of ``label`` in words that say nothing of any candidate.

    To be named, a text must stand there sign for sign; to be in the way, a word is enough.
    """
    spans = _spans(texts[label], body)
    if len(spans) != 1:
        return False
    start, end = spans[0]
    before, after = body[:start], body[end:]
    if not framed(before, after, label):
        return False
    others = [text for other, text in texts.items() if other != label]
    return not any(_in_the_way(other, before, texts[label], after) for other in others)


def _spans(own: str, body: str) -> list[tuple[int, int]]:
    """Where ``own`` stands in ``body``, sign for sign; nowhere if its words tell nothing."""
    seek, tokens = [token.text for token in _tokens(own)], _tokens(body)
    if not any(map(_tells, seek)):
        return []
    places = _places(seek, [token.text for token in tokens])
    spans = [(tokens[at].start, tokens[at + len(seek) - 1].end) for at in places]
    return [(start, end) for start, end in spans if body[start:end] == own]


def _in_the_way(other: str, before: str, own: str, after: str) -> bool:
    """Whether what stands around ``own``, or all of it together, may tell of ``other``."""
    around = set(_WORD.findall(f"{before} {after}".replace("'s", " is")))
    missing = set(_WORD.findall(other)) - set(_WORD.findall(own))
    if (missing - ARTICLES) & around or (missing and missing <= around):
        return True
    words = [word.text for word in _pieces(f"{before} {own} {after}")]
    inside = [word.text for word in _pieces(own)]
    seek = [word.text for word in _pieces(other)]
    return len(_places(seek, words)) > len(_places(seek, inside))


def _tells(word: str) -> bool:
    """False for a word that stands in texts about anything: "a", "no", "it", "answer"."""
    single = len(word) == 1 and "a" <= word <= "z"
    return not (single or word in EMPTY)


def _parted(text: str) -> str:
    """``text`` with small figures told from large ones, which folding makes alike."""
    signs = {"high": "^", "low": "_", "apart": " "}
    return _SMALL.sub(lambda found: signs[found.lastgroup or ""], text)


def _unified(text: str) -> str:
    return unicodedata.normalize("NFKC", text.translate(_UNIFIED)).translate(_UNIFIED)


def _inside(text: str) -> slice:
    """Where the text stands between the signs, blanks and articles around it."""
    tail = _TAIL.match(text[::-1])
    end = len(text) - (tail.end() if tail else 0)
    head = _HEAD.match(text, 0, end)
    return slice(head.end() if head else 0, end)


def _tokens(text: str) -> list[_Word]:
    """What stands between blanks, without the signs around it: "-5" and "c++" are whole."""
    found = [(match, _inside(match[0])) for match in re.finditer(r"\S+", text)]
    return [
        _Word(match[0][part], match.start() + part.start, match.start() + part.stop)
        for match, part in found
        if match[0][part]
    ]


def _pieces(text: str) -> list[_Word]:
    """Runs of plain letters and figures; any other letter alone, as some scripts have no blanks."""
    found = re.finditer(r"[a-z0-9]+|[^\W_]", text)
    return [_Word(match[0], match.start(), match.end()) for match in found]


def _places(piece: Sequence[str], words: Sequence[str]) -> list[int]:
    """Where ``piece`` begins in ``words``, overlaps included (Knuth, Morris and Pratt: linear)."""
    joined = [*piece, None, *words]
    border = [0] * len(joined)
    for at in range(1, len(joined)):
        length = border[at - 1]
        while length and joined[at] != joined[length]:
            length = border[length - 1]
        border[at] = length + (joined[at] == joined[length])
    return [at - 2 * len(piece) for at, length in enumerate(border) if length == len(piece)]
