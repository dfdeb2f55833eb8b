"""Detect the language of a text by its script, its most frequent words and its letters."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple


class Language(NamedTuple):
    """A language, and the marks of its texts."""

    code: str
    stemmer: str | None
    """The name of the language's Snowball stemmer; None if Snowball has none."""
    words: frozenset[str]
    """Some of the language's most frequent words."""
    letters: frozenset[str]
    """The language's letters besides a to z, in lower case."""


_TABLE = """
en english | the of and is was were to in for with that by from it are be this on as at not which |
de german | der die das und ist nicht mit ein eine von zu er es im am auf für den dem wird | äöüß
fr french | le la les et est des une du que dans pour qui sur il au ne pas par | àâæçéèêëîïôœùûüÿ
es spanish | el la los y es de una que en por con las del se al su más para no un | áéíñóúü
it italian | la il di e che è un una per con del sono gli le non si dei della nel | àèéìíòóù
pt portuguese | o a os e é de um uma que em para com não do da as no na por mais | áâãàçéêíóôõúü
nl dutch | de het een en is van niet met op dat zijn te in voor er aan ook wordt | éëïóöü
sv swedish | och att det är en som på av för med inte den till om ett har de var | åäöé
da danish | og at det er en som på af for med ikke den til de et har var | æøåé
no norwegian | og å det er en som på av for med ikke den til de et har var | æøåéòô
fi finnish | ja on ei se että oli ovat myös joka kun niin kuin mutta hän | äöå
et estonian | ja on ei see et oli ka kui mis aga ning tema | äöõüšž
hu hungarian | a az és hogy nem egy is meg van volt ez csak de minden | áéíóöőúüű
pl - | się i w na z nie do to że jest są o jak po ale od za przez był żeby | ąćęłńóśźż
cs - | a je se na v že to s z do i o jako ale by za po pro jsou má | áčďéěíňóřšťúůýž
sk - | a je sa na v že to s z do i o ako ale by za po pre sú má | áäčďéíĺľňóôŕšťúýž
hr - | i je u se na da za su od koji što ne kao ali bi | čćđšž
sl - | in je v se na da za so od ki ne kot ali bi tudi | čšž
ro romanian | și în de la cu nu este pe care un o din sunt mai au şi | ăâîșțşţ
lt lithuanian | ir yra į iš su kad tai ne per už bet kaip buvo nes | ąčęėįšųūž
lv - | un ir uz no ar ka par bija kas tas vai kā | āčēģīķļņšūž
tr turkish | ve bir bu için ile da de olarak çok daha gibi olan her | çğıöşüâîû
ru russian | и в не на что это с он как по а но из у к за от год | абвгдеёжзийклмнопрстуфхцчшщъыьэюя
uk - | і в не на що це з він як по а але із у до за та є | абвгґдеєжзиіїйклмнопрстуфхцчшщьюя
bg - | и в не на че това с той като по а но от за да се | абвгдежзийклмнопрстуфхцчшщъьюя
el greek | και το η ο της του να στο με τον για είναι από | αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰ
he - | של על את לא הוא זה עם כי היא גם | אבגדהוזחטיכלמנסעפצקרשתךםןףץ
ar arabic | في من على إلى أن هذا التي الذي عن مع لا ما | ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىي
fa - | و در به از که این است را با برای آن | ءآأؤئابپتثجچحخدذرزژسشصضطظعغفقکگلمنهوی
hi hindi | है में के की का और से को यह नहीं पर |
ta tamil | ஒரு இந்த என்று மற்றும் |
hy armenian | և է որ այս մի են |
am - | ነው እና ላይ ውስጥ |
th - | ที่ การ และ ของ ใน เป็น | กขฃคฅฆงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรฤลฦวศษสหฬอฮฯะัาำิีึืฺุูเแโใไๅๆ็่้๊๋์ํ๎
"""
LANGUAGES = {
    code: Language(
        code, None if stemmer == "-" else stemmer, frozenset(words.split()), frozenset(letters.strip())
    )
    for code, stemmer, words, letters in (
        (*head.split(), words, letters)
        for head, words, letters in (line.split("|") for line in _TABLE.strip().splitlines())
    )
}
_SCRIPTS = (
    ("\u0900", "\u097f", "hi"),
    ("\u0b80", "\u0bff", "ta"),
    ("\u0530", "\u058f", "hy"),
    ("\u1200", "\u137f", "am"),
    ("\u0e00", "\u0e7f", "th"),
    ("\u3040", "\u30ff", "ja"),
    ("\u4e00", "\u9fff", "zh"),
    ("\uac00", "\ud7af", "ko"),
    ("\u1000", "\u109f", "my"),
    ("\u1780", "\u17ff", "km"),
)
"""Scripts that show a language: first character, last character, code. Kana come before ideographs."""
_WORD = re.compile(r"[^\W\d_]+")
_LEAST_SCORE = 1
"""The score that a language must exceed: one word of two letters is too little."""
_LOOKED_AT = 4_000
"""Characters of a text from which its language is detected."""


def detect_language(text: str) -> str:
    """Return the ISO code of the language of ``text``; "en" without evidence.

    It knows the languages of :data:`LANGUAGES`, and some others that their script shows.
    """
    start = text[:_LOOKED_AT]
    if not start.isascii():
        for first, last, code in _SCRIPTS:
            if any(first <= sign <= last for sign in start):
                return code
    counts = Counter(_WORD.findall(start.lower()))
    signs = Counter[str](() if start.isascii() else filter(_is_foreign, start.lower()))
    best, code = _LEAST_SCORE, "en"
    for language in LANGUAGES.values():
        score = language_score(language, counts, signs)
        if score > best:
            best, code = score, language.code
    return code


def language_score(language: Language, words: Counter[str], letters: Counter[str]) -> int:
    """Return the evidence for a language: counts of its frequent words and letters, less foreign letters."""
    hits = sum(words[word] * (1 + (len(word) > 2)) for word in language.words & words.keys())
    fitting = sum(count if sign in language.letters else -3 * count for sign, count in letters.items())
    return hits + fitting


def _is_foreign(sign: str) -> bool:
    return sign > "\x7f" and sign.isalpha()
