"""Which candidate a text names: never by a guess, so that a won debate is not lost in the mapping.

What can be read in two ways names nobody, and the judge is asked once more. The words that may
stand around a candidate are English: in another language only the candidate itself names it.

Three degrees of sameness: the same text (``exact``), the same answer in another dress
(``undressed``, for votes and proposals), what may be read as a known candidate (``normal``). A sign
that may be part of the answer is no dress: 5! is not 5, and [0, 1] is not (0, 1).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
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
# What may mean something beside a figure or a letter means nothing beside a word: "plants!", "5!".
_HEAD = re.compile(
    r"""(?:[\s,;¡¿]|\.(?=\s)|-(?![^\s-]|\s+\.?\d)|(?:an|the)\s+(?=["'(\[*]*\w)|a\s+(?=[^\W\d_])(?!no\b)"""
    r"""|["(?:]++(?=['*_]*+(?:an?\s+)?(?:[^\W\d_]{3}|no\b)))*+"""
)
_TAIL = re.compile(  # of the text reversed
    r"""(?:[\s.,;:]|[!?]++\Z|-(?![^\s-])|[\s.,;:!?¡¿"()]++(?=['*_]*+(?:[^\W\d_]{3}|on\b)))*+"""
)
# Around a word of a sentence. A sign or a decimal point belongs to what it touches: "-5", ".5".
_BEFORE = re.compile(r"""(?:[,;:!?¡¿"'()\[\]{}*_|]|\.(?!\d)|-(?![^-]))*+""")
_BEHIND = re.compile(r"""(?:[.,;:!?¡¿"'()\[\]{}*_|]|-(?![^-]))*+""")  # of the word reversed
_DRESS = re.compile(
    r"""(?P<sign>\*{1,3}(?!\*)|_(?!_)|["'])(?!\s)"""
    r"""(?P<inner>(?:(?<=\w)'(?=\w)|(?!(?P=sign))[\s\S])++)(?<!\s)(?P=sign)"""
)
_STOP = re.compile(r"(?<=[^\s.])\.$")
_NOUN = r"(?i:option|answer|choice|candidate|label|letter)"
_LETTER = re.compile(
    rf"""(?:(?:(?i:the)\s+)?(?:(?i:correct|final|best|right)\s+)?{_NOUN}\b\s*(?:(?i:is)\b\s*)?[:=]?)?"""
    r"""[\s("'\[{*]*([A-Za-z]|(?i:uncertain))[\s)"'\]}*.:,;!]*"""
)
_MARK = re.compile(
    rf"""\s*(?:{_NOUN}\b\s*(?:(?i:is)\b\s*)?[:=]?\s*)?[("'\[{{*]*([A-Za-z])"""
    r"""(?:\s*["'*]*(?:[)\]}:]|\.(?!\d))+["'*]*|\s+-\s|[^\S\n]*\n)"""
)
# An A in the place of an article, and no article: "it is A plants", 'A "plants"', "A 5".
_LABEL_A = re.compile(r"""(?:\S A|\AA(?= ["'*_])) ["'*_]*\Z""")
_FIRST_A = re.compile(r"[Aa] ")
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


def undressed(text: str) -> str:
    """What an answer says: no quotes or emphasis around it, and no full stop after it.

    Letters alone whose capitals each begin a word of three letters or more lose their case and an
    article before them, and so does "No". Any other answer keeps its case: mW, 5 Cal.
    """
    said = _bare(exact(text))
    first, _, rest = said.partition(" ")
    plain = rest and rest != "No" and first.casefold() in ARTICLES
    words = rest if plain else said
    return words.casefold() if words and all(map(_ordinary, words.split())) else said


def normal(text: str) -> str:
    """For reading: one case besides, and no article or sign around it that cannot mean anything."""
    plain, before = " ".join(folded(_parted(text)).split()), None
    while plain != before:
        before, plain = plain, _bare(plain)
        plain = plain[_inside(plain, _HEAD, _TAIL)]
    return plain


def same(a: str, b: str) -> bool:
    """Whether two answers say the same; an empty one is like none."""
    return bool(undressed(a)) and undressed(a) == undressed(b)


def matches(answer: str, candidates: Mapping[str, str]) -> set[str]:
    """The labels of those whose text ``answer`` is: the nearest degree of sameness goes first.

    More than one is a match with nobody.
    """
    degrees = (_alike(form, answer, candidates) for form in (exact, undressed, normal))
    return next(filter(None, degrees), set())


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
    """Return ``label`` if ``answer`` is the text of the candidate that bears it, else None.

    Case, Unicode form and white space do not count, unless another candidate's text is nearer:
    of "mW" and "MW" each is itself alone.
    """
    alike = _alike(exact, answer, candidates) or _alike(_plain, answer, candidates)
    return label if label in alike else None


def named(answer: str, candidates: Mapping[str, str]) -> str | None:
    """The label of the one candidate that ``answer`` names, or None.

    It names it by being its text, its letter, or both ("B) plants"); by these readings only if
    they agree. Otherwise by holding its text, and nothing that could mean another one.
    """
    plain = _bare(_unified(_parted(answer)).strip())
    texts = {label: normal(text) for label, text in candidates.items()}
    if _indistinct([*texts.values()]) or _unfinished(plain):
        return _sign_for_sign(answer, candidates)
    mark = _MARK.match(plain)
    readings = matches(answer, candidates) | _lettered(plain, candidates)
    if mark and (meant := _after(mark, candidates)):
        readings |= meant | {mark[1].upper()}
    if not readings:
        cased = " ".join(_unified(_parted(plain)).split())
        readings = {label for label in texts if _holds(cased, label, texts)}
        if mark:
            readings &= {mark[1].upper()}
    return readings.pop() if len(readings) == 1 and readings <= candidates.keys() else None


def _after(mark: re.Match[str], candidates: Mapping[str, str]) -> set[str]:
    """Whose text stands after a label; the signs between them may belong to either: "C:.NET"."""
    starts = range(mark.end(1), mark.end() + 1)
    return set[str]().union(*(matches(mark.string[at:], candidates) for at in starts))


def _alike(form: Callable[[str], str], answer: str, candidates: Mapping[str, str]) -> set[str]:
    said = form(answer)
    return {label for label, text in candidates.items() if said and form(text) == said}


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
    found = _alike(exact, answer, candidates) or _alike(_plain, answer, candidates)
    found |= {answer.strip().strip("()[].:,;").upper()} & candidates.keys()
    return found.pop() if len(found) == 1 else None


def _lettered(answer: str, candidates: Mapping[str, str]) -> set[str]:
    """Whom a bare letter may mean: the candidate with this label, and any whose text it is."""
    label = letter(answer)
    if label not in candidates or re.search("['*!]", answer):  # a' is no label
        return set()
    return {label} | {other for other, text in candidates.items() if letter(text) == label}


def _holds(cased: str, label: str, texts: Mapping[str, str]) -> bool:
    """Whether ``cased`` is the text of ``label`` in words that say nothing of any candidate.

    To be named, a text must stand there sign for sign; to be in the way, a word is enough.
    """
    body = folded(cased)
    span = _span(texts[label], body)
    if span is None:
        return False
    start, end = span
    before, after = body[:start], body[end:]
    if not framed(before, after, label):
        return False
    known = cased[:start] if len(cased) == len(body) else before.upper()
    if "A" in texts and label != "A" and _names_a(known, texts[label]):
        return False
    others = [text for other, text in texts.items() if other != label]
    return not any(_in_the_way(other, before, texts[label], after) for other in others)


def _names_a(before: str, own: str) -> bool:
    """Whether an A ``before`` the text ``own`` may be a label."""
    article_of_a_figure = _FIRST_A.fullmatch(before) and not own[0].isalpha()
    return bool(article_of_a_figure or _LABEL_A.search(before))


def _span(own: str, body: str) -> tuple[int, int] | None:
    """Where ``own`` stands in ``body``, once and sign for sign; None if its words tell nothing."""
    seek, tokens = [token.text for token in _tokens(own)], _tokens(body)
    if not any(map(_tells, seek)):
        return None
    places = _places(seek, [token.text for token in tokens])
    if len(places) != 1:
        return None
    start, end = tokens[places[0]].start, tokens[places[0] + len(seek) - 1].end
    whole = slice(body.rfind(" ", 0, start) + 1, (body + " ").index(" ", end))
    return (start, end) if normal(body[whole]) == own else None


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


def _bare(text: str) -> str:
    """``text`` without pairs of quotes or emphasis around all of it, or a full stop after it."""
    before = None
    while text != before:
        before, dress = text, _DRESS.fullmatch(text)
        text = _STOP.sub("", dress["inner"] if dress else text)
    return text


def _ordinary(word: str) -> bool:
    """Whether the case of a word says nothing: no mW, no Mg, no NET, no figure or sign."""
    begun = len(word) > 2 and word[1:].islower()
    return word.isalpha() and (word.islower() or begun or word == "No")


def _inside(text: str, head: re.Pattern[str], tail: re.Pattern[str]) -> slice:
    """Where the text stands between what ``head`` and, read backwards, ``tail`` find around it."""
    after = tail.match(text[::-1])
    end = len(text) - (after.end() if after else 0)
    before = head.match(text, 0, end)
    return slice(before.end() if before else 0, end)


def _tokens(text: str) -> list[_Word]:
    """What stands between blanks, without the signs around it: "-5" and "c++" are whole."""
    runs = re.finditer(r"\S+", text)
    found = [(match, _inside(match[0], _BEFORE, _BEHIND)) for match in runs]
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
