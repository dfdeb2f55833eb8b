"""Texts as Markdown that means nothing but itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from dialectree.report import words
from dialectree.report.view import Entry

_ENTITIES = {ord(char): f"&#{ord(char)};" for char in "[]{}|~`\\$^="}
_ENTITIES |= {ord("<"): "&lt;", ord(">"): "&gt;", ord("&"): "&amp;"}
_ENTITIES |= {ord(char): f"\\{char}" for char in "*_#"}
_BREAKER = "\u2060"
"""A word joiner: unseen, and no address or mention goes on across it."""
_LINKS = re.compile(
    r"(?<=:)(?=//)|(?<=@)(?=[^\W\d]|\w+[.-])|(?<=www)(?=\.)|(?<=mailto)(?=:)|(?<=xmpp)(?=:)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(\d+|[A-Za-z]|[ivxlcdm]+)([.)])(?=\s|$)")


def escaped(text: str) -> str:
    """``text`` as one line of Markdown that means nothing but itself.

    Entities can open no markup in any dialect; a backslash is used where all dialects know it.
    """
    flat = " ".join(words.clean(text).split())
    inert = _LINKS.sub(_BREAKER, flat).translate(_ENTITIES)
    if (found := _NUMBERED.match(inert)) is not None:
        return f"{found[1]}\\{inert[found.end(1) :]}"
    if inert[:1] in set("+-:!?%\"'(,./;@"):
        return f"&#{ord(inert[0])};{inert[1:]}"
    return inert


def lines(text: str) -> list[str]:
    """``text`` as lines of Markdown: its own line breaks stay, heaps of empty lines do not."""
    flat = [escaped(line) for line in words.clean(text).split("\n")]
    kept = [line for n, line in enumerate(flat) if line or (n and flat[n - 1])]
    while kept and not kept[-1]:
        kept.pop()
    return [_broken(line, after) for line, after in pairwise([*kept, ""])] or ["–"]


def _broken(line: str, after: str) -> str:
    """``line`` with a hard break where another one follows at once."""
    return f"{line}\\" if line and after else line


def quoted(text: str) -> str:
    """``text`` as a block quote."""
    return "\n".join(f"> {line}".rstrip() for line in lines(text))


def bold(text: str) -> str:
    return f"**{escaped(text) or '–'}**"


def share(figure: float | None) -> str:
    """A confidence as a percentage."""
    return words.percent(figure).replace("<", "&lt;")


def said(entries: Iterable[Entry]) -> Iterator[str]:
    """The fields of one reply as the lines of a list, each text whole."""
    for entry in entries:
        indent, figure = "    " * entry.level, ""
        if entry.share is not None:
            figure = f" ({share(entry.share)})" if entry.text else f" {share(entry.share)}"
        body = lines(entry.text) if entry.text else [""]
        if entry.node:
            body[-1] += f" → {escaped(entry.node)}"
        colon = ":" if entry.text or not figure else ""
        yield f"{indent}- {escaped(entry.label)}{figure}{colon} {body[0]}".rstrip()
        yield from (f"{indent}  {line}".rstrip() for line in body[1:])
