"""Which candidate a text names: never by a guess, so that a won debate is not lost in the mapping.

What can be read in two ways names nobody, and the judge is asked once more. The words of denial
are English: in another language only a text that is the candidate itself is safe from them.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import NamedTuple

_UNIFIED = str.maketrans(
    dict.fromkeys("‘’‚‛′‵‹›`´ʼ", "'")
    | dict.fromkeys("“”„‟″«»「」『』", '"')
    | dict.fromkeys("‐‑‒–—―−﹘", "-")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", "")
)
_HIGH, _LOW = "²³¹⁰-ⁿ", "₀-₎ₐ-ₜ"
# Where a small figure would become part of what stands beside it: 10², log₂8, 2½.
_SMALL = re.compile(
    rf"(?P<high>(?<![{_HIGH}])(?<=[\w)\]])(?=[{_HIGH}]))|(?P<low>(?<=\d)(?=[{_LOW}]))"
    rf"|(?P<apart>(?<=[{_HIGH}{_LOW}])(?=\d)|(?<=\d)(?=[¼-¾⅐-⅟]))"
)
# A sign or a decimal point belongs to what it touches: "-5", ".5" and "A-" keep theirs.
_HEAD = re.compile(
    r"""(?:[\s,;:!?¡¿"'()\[\]{}*_|]|\.(?!\d)|-(?![^\s-])|(?:an?|the)\s+(?=["'(\[]*\w))*+"""
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
# A label in running text. "a" before a word is an article, unless the word is a verb.
_BOUND = re.compile(
    r"""\b(?:option|choice|candidate|label|letter)s?\s+["'(\[]*([a-z])(?!\w)"""
    r"""|["'(\[{*]([a-z])["')\]}*]"""
)
_LOOSE = re.compile(
    r"(?<![\w'.])(?<!debater )(?<!side )(?!i\b|a\s+(?!(?:is|was|has|wins|and|or)\b)\w)"
    r"([a-z])(?!\w|\.\w)"
)
_DENIAL = re.compile(
    r"\b(?:not|no|non|never|neither|nor|none|cannot|cant|wont|dont|doesnt|didnt|isnt|arent|wasnt"
    r"|rather|instead|than|unlike|except|excluding|without|but|however|although|though|whereas"
    r"|opposite|other|against|versus|vs|reject(?:s|ed)?|refute[sd]?|den(?:y|ies|ied)|los(?:es?|t)"
    r"|fail(?:s|ed)?|wrong|incorrect(?:ly)?|false|untrue|mistaken|impossible|implausible|unlikely"
    r"|hardly|less|weaker|worse|uncertain|unsure|unclear|undecided|unresolved)\b|n't\b"
)
_WORD = re.compile(r"[^\W_]+")
_POLAR = {"yes", "true", "right", "correct", "both", "all"}


class _Word(NamedTuple):
    """A word and where it stands."""

    text: str
    start: int
    end: int


def folded(text: str) -> str:
    """One case, one kind of quote and dash, and nothing that cannot be seen."""
    return unicodedata.normalize("NFKC", _unified(text).casefold())


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
    if _indistinct([*texts.values()]):
        bare = answer.strip().strip("()[].:").upper()
        found = {label for label, text in candidates.items() if answer.strip() == text.strip()}
        found |= {bare} & candidates.keys()
        return found.pop() if len(found) == 1 else None
    mark = _MARK.match(plain)
    readings = _equal(plain, texts) | _lettered(plain, candidates)
    if mark and (meant := _equal(plain[mark.end() :], texts)):
        readings |= meant | {mark[1].upper()}
    if not readings:
        body = " ".join(folded(plain).split())
        readings = {label for label in texts if _holds(body, label, texts)}
        if mark:
            readings &= {mark[1].upper()}
    return readings.pop() if len(readings) == 1 and readings <= candidates.keys() else None


def _indistinct(texts: Sequence[str]) -> bool:
    """Whether a candidate is only signs or only an article, such as "=" or "the".

    Then a candidate is named by its very text, sign for sign, or by its letter alone.
    """
    return any(not _WORD.search(text) or text in ("an", "the") for text in texts)


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
    """Whether ``body`` holds the text of ``label``, and neither denies it nor tells of another.

    To be named, a text must stand there sign for sign; to be in the way, its words are enough.
    """
    spans = _spans(texts[label], body)
    rest = _without(spans, body)
    if not spans or _DENIAL.search(rest) or _other_labels(rest, label, texts):
        return False
    others = [text for other, text in texts.items() if other != label]
    return not any(_in_the_way(other, texts[label], body, spans) for other in others)


def _spans(own: str, body: str) -> list[tuple[int, int]]:
    """Where ``own`` stands in ``body``, sign for sign; nowhere if its words tell nothing."""
    seek, tokens = [token.text for token in _tokens(own)], _tokens(body)
    if not any(map(_tells, seek)):
        return []
    places = _places(seek, [token.text for token in tokens])
    spans = [(tokens[at].start, tokens[at + len(seek) - 1].end) for at in places]
    return [(start, end) for start, end in spans if body[start:end] == own]


def _in_the_way(other: str, own: str, body: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether ``body`` may tell of ``other``, and not only within ``own`` at ``spans``."""
    sought = set(_WORD.findall(other))
    if not sought:
        return True  # signs only: nobody can say that they are not there
    if sought <= set(_WORD.findall(body)) and not sought <= set(_WORD.findall(own)):
        return True
    seek, words = [word.text for word in _pieces(other)], _pieces(body)
    starts = [start for start, _ in spans]
    for at in _places(seek, [word.text for word in words]):
        before = bisect_right(starts, words[at].start) - 1
        if before < 0 or spans[before][1] < words[at + len(seek) - 1].end:
            return True
    return False


def _other_labels(rest: str, label: str, texts: Mapping[str, str]) -> set[str]:
    """Labels in ``rest`` besides ``label``; a loose letter counts only if it is a candidate's."""
    bound = {(a or b).upper() for a, b in _BOUND.findall(rest)}
    loose = {found.upper() for found in _LOOSE.findall(rest)} & texts.keys()
    return (bound | loose) - {label}


def _tells(word: str) -> bool:
    """False for a word that stands in texts about anything: "a", "no", "yes", "true"."""
    single = len(word) == 1 and "a" <= word <= "z"
    return not (single or word in _POLAR or _DENIAL.fullmatch(word))


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


def _without(spans: Sequence[tuple[int, int]], text: str) -> str:
    """``text`` with "_" for what stands at ``spans``."""
    kept, at = [], 0
    for start, end in spans:
        kept.append(text[at:start])
        at = max(at, end)
    return "_".join([*kept, text[at:]])
