"""Check options, compare texts, and find the candidate that a reply names.

See docs/decisions/text-matching.md.

Two texts are equal if they agree after normalising case, Unicode form and white space. Free text is
not interpreted further, so a verdict is never guessed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

from dialectree.errors import InputError

_ONE_FORM = str.maketrans(
    dict.fromkeys("‘’‚‛′‵‹›`´ʼ", "'")
    | dict.fromkeys("“”„‟″«»「」『』", '"')
    | dict.fromkeys("‐‑‒–—―−﹘", "-")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", "")
)
"""Maps all quotes and dashes to one kind, and removes invisible characters."""
LONGEST = 6000
"""Most characters of an answer, because debaters and judges write it out word for word."""
_SHORT = 200
"""Most characters of an answer that is never shortened."""


def exact(text: str) -> str:
    """Return `text` with its own case, in one Unicode form (NFC) and with single blanks."""
    return " ".join(unicodedata.normalize("NFC", text).translate(_ONE_FORM).split())


def normal(text: str) -> str:
    """Return `text` in one case, one Unicode form (NFC) and with single blanks."""
    return unicodedata.normalize("NFC", exact(text).casefold())


def is_same_answer(a: str, b: str) -> bool:
    """Return whether two answers are equal. An empty answer is never equal."""
    return normal(a) == normal(b) != ""


def match_text(answer: str, candidates: Mapping[str, str]) -> set[str]:
    """Return the labels of the candidates whose text is `answer`.

    Exact case goes first: with the candidates "mW" and "MW", the answer "MW" matches only the second.
    """
    for form in (exact, normal):
        labels = {label for label, text in candidates.items() if form(text) == form(answer) != ""}
        if labels:
            return labels
    return set()


def match_candidate(answer: str, candidates: Mapping[str, str]) -> str | None:
    """Return the label of the one candidate that `answer` can mean; None if none or several.

    The answer is a candidate's text, its label, or both as prompts list them ("B: plants").
    """
    labels = match_text(answer, candidates)
    for label, text in candidates.items():
        if is_same_answer(answer, label) or is_same_answer(answer, f"{label}: {text}"):
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


def shorten_answer(answer: str) -> str:
    """Return the beginning of an answer, enough to recognise it."""
    return answer if len(answer) <= _SHORT else f"{answer[:_SHORT]}…"


def suggest_answers(answers: Sequence[str]) -> dict[str, list[str]]:
    """Return the answers that a reply's schema suggests, by field; empty if an answer is too long."""
    if not answers or any(len(answer) > _SHORT for answer in answers):
        return {}
    return {"answer": list(dict.fromkeys(answers))}


def tokens(*answers: str) -> int:
    """Return the most tokens that one of ``answers`` may need beyond the tokens of a short answer."""
    return max((len(answer) // 3 for answer in answers if len(answer) > _SHORT), default=0)


def distinct_options(options: object) -> list[str]:
    """Return the options as texts; raise InputError if a debate cannot choose between them."""
    if not isinstance(options, list | tuple):
        raise InputError("`options`: give a list of texts, [] for an open question")
    if len(options) == 1:
        raise InputError("`options`: one option is no choice; give two or more, or none")
    if len(options) > 26:
        raise InputError(f"`options`: {len(options)} options; give at most 26")
    texts: list[str] = []
    numbers: dict[str, int] = {}
    for number, option in enumerate(options, 1):
        if not isinstance(option, str | int | float):
            raise InputError(f"`options`: option {number} is not text")
        text = str(option).strip()
        if not exact(text):
            raise InputError(f"`options`: option {number} is empty")
        if len(text) > LONGEST:
            raise InputError(f"`options`: option {number} is longer than {LONGEST:,} characters")
        first = numbers.setdefault(exact(text), number)
        if first != number:
            raise InputError(f"`options`: options {first} and {number} are the same")
        texts.append(text)
    return texts
