"""Escape texts for Markdown: the filters of the Markdown templates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from html import unescape
from itertools import pairwise

from markupsafe import Markup

from dialectree.report.figures import format_share
from dialectree.report.view import ReplyLine
from dialectree.text import clean

_ENTITIES = {ord(char): f"&#{ord(char)};" for char in "[]{}|~`\\$^="}
_ENTITIES |= {ord("<"): "&lt;", ord(">"): "&gt;", ord("&"): "&amp;"}
_ENTITIES |= {ord(char): f"\\{char}" for char in "*_#"}
BREAKER = "\u2060"
"""A word joiner, which is invisible: no address or mention continues across it."""
_LINKS = re.compile(
    r"(?<=:)(?=//)|(?<=@)(?=[^\W\d]|\w+[.-])|(?<=www)(?=\.)|(?<=mailto)(?=:)|(?<=xmpp)(?=:)", re.IGNORECASE
)
_ENTITY = re.compile(r"(?P<start>^[ >]*(?:- )?)?(?P<entity>&(?:#\d+|lt|gt|amp);)", re.MULTILINE)
"""An entity. At the beginning of a line, our own markup before the entity is matched, too."""
_TAG = re.compile(r"\w+;|[A-Za-z/!?]")
"""Text that turns the sign before it into an entity or a tag."""
_NUMBERED = re.compile(r"(\d+|[A-Za-z]|[ivxlcdm]+)([.)])(?=\s|$)")


def escape_markdown(text: str) -> str:
    """Return ``text`` as one line of Markdown without markup.

    An entity opens markup in no dialect. A backslash is used where all dialects know it.
    """
    flat = " ".join(clean(text).split())
    inert = _LINKS.sub(BREAKER, flat).translate(_ENTITIES)
    if (label := _NUMBERED.match(inert)) is not None:
        return f"{label[1]}\\{inert[label.end(1) :]}"
    if inert[:1] in set("+-:!?%\"'(,./;@"):
        return f"&#{ord(inert[0])};{inert[1:]}"
    return inert


def finalize(value: object) -> Markup:
    """Escape any value that a template prints, except markup of our own."""
    return value if isinstance(value, Markup) else Markup(escape_markdown(str(value)))


def readable(page: str) -> str:
    """Return our Markdown without entities, for readers who may see its source.

    The result means the same in CommonMark and GFM. A report keeps its entities, because it must be
    safe in other dialects, too.
    """
    return _ENTITY.sub(_sign, page)


def _sign(entity: re.Match[str]) -> str:
    """Return an entity's character, with a backslash only where the character would be markup."""
    start, char = entity["start"], unescape(entity["entity"])
    if char == "]":
        char += BREAKER  # no address and no definition follows
    elif char in "&<":
        char = f"\\{char}" if _TAG.match(entity.string, entity.end()) else char
    elif char in "\\`|~$" or (start is not None and char in "+-=:>"):
        char = f"\\{char}"
    return f"{start or ''}{char}"


def lines(text: str) -> list[str]:
    """Return ``text`` as lines of Markdown, with its line breaks. Repeated empty lines become one."""
    flat = [escape_markdown(line) for line in clean(text).split("\n")]
    text_lines = [line for n, line in enumerate(flat) if line or (n and flat[n - 1])]
    while text_lines and not text_lines[-1]:
        text_lines.pop()
    return [_with_break(line, after) for line, after in pairwise([*text_lines, ""])] or ["–"]


def _with_break(line: str, after: str) -> str:
    """Return ``line``, with a hard break if neither ``line`` nor ``after`` is empty."""
    return f"{line}\\" if line and after else line


def block_quote(text: str) -> Markup:
    """Return ``text`` as a block quote."""
    return Markup("\n".join(f"> {line}".rstrip() for line in lines(text)))


def bold(text: str) -> Markup:
    """Return ``text`` in bold, or a dash if it is empty."""
    return Markup(f"**{escape_markdown(text) or '–'}**")


def strong(text: str) -> Markup:
    """Return ``text`` in bold, line by line."""
    return Markup("\n".join(re.sub(r"^(.+?)(\\?)$", r"**\1**\2", line) for line in lines(text)))


def fields(entries: Iterable[ReplyLine]) -> Markup:
    """Return the fields of one reply as a list, with their texts in full."""
    return Markup("\n".join(_fields(entries)))


def _fields(entries: Iterable[ReplyLine]) -> Iterator[str]:
    for entry in entries:
        indent, figure = "    " * entry.level, ""
        if entry.share is not None:
            sure = escape_markdown(format_share(entry.share))
            figure = f" ({sure})" if entry.text else f" {sure}"
        body = lines(entry.text) if entry.text else [""]
        if entry.node:
            body[-1] += f" → {escape_markdown(entry.node)}"
        colon = ":" if entry.text or not figure else ""
        yield f"{indent}- {escape_markdown(entry.label)}{figure}{colon} {body[0]}".rstrip()
        yield from (f"{indent}  {line}".rstrip() for line in body[1:])


FILTERS: dict[str, Callable[..., Markup]] = {
    "block_quote": block_quote,
    "bold": bold,
    "fields": fields,
    "strong": strong,
}
"""The filters of the templates."""
