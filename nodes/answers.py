"""Equality of texts, and which candidate a reply names. See docs/decisions/text-matching.md.

Two texts are equal when they agree after normalising case, Unicode form and white space. Nothing
else of a free text is read, so a verdict is never guessed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from string import ascii_uppercase

_ONE_FORM = str.maketrans(
    dict.fromkeys("‘’‚‛′‵‹›`´ʼ", "'")
    | dict.fromkeys("“”„‟″«»「」『』", '"')
    | dict.fromkeys("‐‑‒–—―−﹘", "-")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", "")
)
"""One kind of quotes and dashes, and no invisible characters."""


def exact(text: str) -> str:
    """Return `text` with its own case, in one Unicode form (NFC) and with single blanks."""
    return " ".join(unicodedata.normalize("NFC", text).translate(_ONE_FORM).split())


def normal(text: str) -> str:
    """Return `text` in one case, one Unicode form (NFC) and with single blanks."""
    return unicodedata.normalize("NFC", exact(text).casefold())


def same(a: str, b: str) -> bool:
    """Return whether two answers are equal. An empty answer equals none."""
    return normal(a) == normal(b) != ""


def match_text(answer: str, candidates: Mapping[str, str]) -> set[str]:
    """Return the labels of the candidates whose text is `answer`.

    Compare with case first: among "mW" and "MW", the answer "MW" is the second one alone.
    """
    for form in (exact, normal):
        labels = {label for label, text in candidates.items() if form(text) == form(answer) != ""}
        if labels:
            return labels
    return set()


def match_candidate(answer: str, candidates: Mapping[str, str]) -> str | None:
    """Return the label of the only candidate that `answer` can mean, or None.

    The answer is a candidate's text, its label, or both as prompts list them ("B: plants").
    """
    labels = match_text(answer, candidates)
    for label, text in candidates.items():
        if same(answer, label) or same(answer, f"{label}: {text}"):
            labels.add(label)
    return labels.pop() if len(labels) == 1 else None


def ruling(label: str, answer: str, candidates: Mapping[str, str]) -> str | None:
    """Return `label` if `answer` is the text of the candidate with that label, else None."""
    return label if label in match_text(answer, candidates) else None


def letter(text: str) -> str:
    """Return a label as a capital letter or "uncertain"; anything else unchanged but stripped."""
    plain = normal(text)
    if len(plain) == 1:
        return plain.upper()
    return plain if plain == "uncertain" else text.strip()


def letters(n: int) -> tuple[str, ...]:
    """Return the labels of `n` options, 2 to 26: A, B, C ..."""
    if not 2 <= n <= len(ascii_uppercase):
        raise ValueError(f"{n} options; labels are for 2 to {len(ascii_uppercase)}")
    return tuple(ascii_uppercase[:n])
