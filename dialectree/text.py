"""Format words and figures for people: terminal, Markdown, HTML, messages.

- A text of a model or a person passes :func:`clean` before it is shown.
- A share (a confidence, a strength, a probability) has two decimals: ``0.73``. It reads as 0, 0.5
  or 1 only if it is exactly that; otherwise it gets further decimals: ``0.996``.
- Counts of calls and tokens have thousands separators: ``12,345 tokens``.
- A time is ``0.9 s``, ``48 s``, ``1 min 26 s`` or ``2 h 03 min``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from math import isfinite

_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, moves of the cursor
    r"|(?:\x1b[]P^_X]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # titles, links
    r"|\x1b[ -/]*[0-~]"
)
_BREAKS = re.compile("\r\n|[\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of all text after them, even beyond the text that has them."""


_SUGGESTION = "; did you mean "
_LONGEST_NAME = 100
"""Most characters of a misspelt name to compare: the comparison of long texts takes seconds."""


def clean(text: str) -> str:
    """Remove from ``text`` the escapes and control characters that a terminal or a page would obey.

    The result is also valid in XML.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _BREAKS.sub("\n", _ESCAPES.sub("", text)).replace("\t", "    ")
    return "".join(map(_visible, text))


def _visible(char: str) -> str:
    if char == "\n":
        return char
    kind = unicodedata.category(char)
    if kind == "Cs" or ord(char) & 0xFFFE == 0xFFFE:  # half a surrogate pair, or not a character
        return "\ufffd"
    return "" if kind == "Cc" or char in _TURNS else char


def line(text: str, limit: int) -> str:
    """Return ``text`` as one line of at most ``limit`` characters, shortened with an ellipsis."""
    flat = " ".join(clean(text[: 8 * limit + 64]).split())
    cut = len(flat) > limit or len(text) > 8 * limit + 64
    return f"{flat[: limit - 1].rstrip()}…" if cut else flat


def label(name: str) -> str:
    """Return the name of a field, a role or a phase as words: ``Leaf judge``."""
    words = " ".join(name.replace("_", " ").split())
    return words[:1].upper() + words[1:]


def format_list(parts: Iterable[str]) -> str:
    """Return ``a``, ``a and b`` or ``a, b and c``."""
    *first, last = [*parts] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def find_nearest(name: str, valid_names: Iterable[str]) -> str:
    """Return the valid name that is most similar to ``name``; "" if none is similar."""
    by_lower_case = {valid_name.lower(): valid_name for valid_name in valid_names}
    near = get_close_matches(name[:_LONGEST_NAME].lower(), by_lower_case, n=1)
    return by_lower_case[near[0]] if near else ""


def suggest_nearest(name: str, valid_names: Iterable[str], prefix: str = "") -> str:
    """Return ``; did you mean NAME?`` with the most similar valid name; "" if none is similar.

    ``prefix`` is put before the valid name.
    """
    near = find_nearest(name, valid_names)
    return f"{_SUGGESTION}{prefix}{near}?" if near else ""


def add_value(message: str, value: str) -> str:
    """Return ``message, not VALUE``; a suggestion at the end of the message stays at the end."""
    fault, mark, name = message.partition(_SUGGESTION)
    return f"{fault}, not {value}{mark}{name}"


def figure(value: float | None, missing: str = "–") -> str:
    """Return a share with two decimals, or more if it would wrongly read as 0, 0.5 or 1."""
    if value is None:
        return missing
    for digits in range(2, 7):
        if round(value, digits) == value or round(value, digits) not in (0, 0.5, 1):
            return f"{value:.{digits}f}"
    near = round(value, 1)
    return f"{'>' if value > near else '<'}{near:g}"


def count(number: int, singular: str, many: str | None = None) -> str:
    """Return a number with its noun: ``1 call``, ``1,204 calls``."""
    return f"{number:,} {singular if number == 1 else many or f'{singular}s'}"


def duration(seconds: float) -> str:
    """Return a duration: ``0.9 s``, ``1 min 26 s``, ``2 h 03 min``."""
    if not isfinite(seconds):
        return "–"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    rounded_seconds = round(seconds)
    if rounded_seconds < 60:
        return f"{rounded_seconds} s"
    if rounded_seconds < 3600:
        return f"{rounded_seconds // 60} min {rounded_seconds % 60:02} s"
    return f"{rounded_seconds // 3600} h {rounded_seconds % 3600 // 60:02} min"
