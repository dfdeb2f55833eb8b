"""Reads items from a user's own file: which column holds what.

Written ``question=Frage,options=a|b|c,gold=key``: our name, the file's, and ``|`` between several
columns that together are a list. A backslash before ``,``, ``=`` or ``|`` makes it part of a name.
Without a map the columns bear our names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_uppercase

from pydantic import JsonValue

from dialectree.errors import InputError
from dialectree.evals.items import Inputs, Item, Paper, Reference
from dialectree.evals.tables import Row
from dialectree.nodes.answers import match_candidate

Columns = Mapping[str, Sequence[str]]
"""The file's columns for each of our names."""

_ASKED = ("question", "claim", "topic")
"""An item asks one of these."""
_PAPER = ("title", "abstract", "introduction", "body")
_LISTS = ("options", "true", "false")
FIELDS = (
    *("id", "category", "question", "options", "gold", "claim", "label"),
    *("true", "false", "best", "best_false", "topic"),
    *(f"{part}_{side}" for side in "ab" for part in _PAPER),
)
"""Everything that a column can be mapped to. ``gold`` is a letter or the text of an option."""


def columns(written: str) -> dict[str, tuple[str, ...]]:
    """Return a map from its written form; InputError for an unknown or repeated name."""
    found: dict[str, tuple[str, ...]] = {}
    for part in _split(written, ","):
        ours, *theirs = _split(part, "=")
        name = ours.strip()
        several = tuple(
            re.sub(r"\\([,=|])", r"\1", column).strip() for column in _split("=".join(theirs), "|")
        )
        if name not in FIELDS:
            raise InputError(f"--columns {part.strip()}: known are {', '.join(FIELDS)}")
        if len(theirs) != 1 or not all(several):
            raise InputError(f"--columns {part.strip()}: write {name}=COLUMN")
        if len(several) > 1 and name not in _LISTS:
            raise InputError(f"--columns {part.strip()}: only {', '.join(_LISTS)} take several")
        if name in found:
            raise InputError(f"--columns: {name} is mapped twice")
        found[name] = several
    return found


def _split(text: str, sign: str) -> list[str]:
    """Split ``text`` at each ``sign`` that has no backslash before it."""
    return re.split(rf"(?<!\\){re.escape(sign)}", text)


def item(row: Row, mapped: Columns, number: int) -> Item:
    """Return the item of a row; the ``number`` of the row, from 1, is its id where it has none."""
    renamed = Row(row.path, row.line, dict(_renamed(row, mapped)))
    if not renamed.values.keys() & _ASKED:
        there = ", ".join(row.values) or "none"
        raise row.fault(
            f"no column is its question, claim or topic; there are: {there}: name the one that "
            "is, as in --columns question=COLUMN"
        )
    return _item(renamed, number)


def _renamed(row: Row, mapped: Columns) -> Iterator[tuple[str, JsonValue]]:
    """Yield the row's values by our names; a list in several columns leaves out the empty ones."""
    for name in FIELDS:
        theirs = mapped.get(name, (name,) if not mapped else ())
        if len(theirs) > 1:
            texts = [row.value(column) for column in theirs]
            if name == "options" and (gap := _gap(texts)) is not None:
                raise row.fault(f"the option in column {theirs[gap]!r} is empty, and others follow")
            yield name, [text for text in texts if not _empty(text)]
        elif theirs and (mapped or name in row.values):
            yield name, row.value(theirs[0])


def _gap(texts: Sequence[JsonValue]) -> int | None:
    """Return the place of the first empty text that others follow: letters would shift by it."""
    filled = [place for place, text in enumerate(texts) if not _empty(text)]
    return next((n for n, place in enumerate(filled) if n != place), None)


def _empty(text: JsonValue) -> bool:
    return text is None or (isinstance(text, str) and not text.strip())


def _item(row: Row, number: int) -> Item:
    written = row.values.get("options")
    if isinstance(written, str) and not written.lstrip().startswith("["):
        gap = _gap([*written.split(";")])
        if gap is not None:
            raise row.fault(f"option {gap + 1} of {written[:80]!r} is empty, and others follow")
    options = row.several("options")
    papers = [{part: row.optional(f"{part}_{side}") or "" for part in _PAPER} for side in "ab"]
    return Item(
        id=row.optional("id") or str(number),
        category=row.optional("category"),
        inputs=Inputs(
            question=row.optional("question"),
            options=options,
            claim=row.optional("claim"),
            topic=row.optional("topic"),
            papers=tuple(Paper(**parts) for parts in papers if any(parts.values())),
        ),
        reference=Reference(
            gold=_gold(row, options),
            label=None if row.empty("label") else row.truth("label"),
            true=row.several("true"),
            false=row.several("false"),
            best=row.optional("best"),
            best_false=row.optional("best_false"),
        ),
    )


def _gold(row: Row, options: Sequence[str]) -> str | None:
    """Return the right option's letter; a text that two options share names none."""
    written = row.optional("gold")
    if written is None:
        return None
    choices = dict(zip(ascii_uppercase, options, strict=False))
    gold = match_candidate(written, choices)
    if gold is None:
        raise row.fault(
            f"the right option {written!r} names none of the options, or more than one option: "
            "give a letter or a text"
        )
    return gold
