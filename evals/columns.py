"""A user's own file: which column holds what.

Written ``question=Frage,options=a|b|c,gold=key``: our name, the file's, and ``|`` between several
columns that together are a list. A backslash before ``,``, ``=`` or ``|`` makes it part of a name.
Without a map the columns bear our names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from string import ascii_uppercase

from pydantic import JsonValue, ValidationError

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
    """A map from its written form; InputError for a name that is none or is said twice."""
    found: dict[str, tuple[str, ...]] = {}
    for part in _split(written, ","):
        ours, *theirs = _split(part, "=")
        name = ours.strip()
        several = tuple(_bare(column) for column in _split("=".join(theirs), "|"))
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
    """``text`` in parts between ``sign``, but not at one behind a backslash."""
    return re.split(rf"(?<!\\){re.escape(sign)}", text)


def _bare(name: str) -> str:
    return re.sub(r"\\([,=|])", r"\1", name).strip()


def item(row: Row, mapped: Columns, number: int) -> Item:
    """The item of a row; the ``number`` of the row, from 1, is its id where no column is."""
    renamed = dict(_renamed(row, mapped))
    if not renamed.keys() & _ASKED:
        there = ", ".join(row.values) or "none"
        raise row.fault(
            f"no column is its question, claim or topic; there are: {there}: name the one that "
            "is, as in --columns question=COLUMN"
        )
    return _item(Row(row.path, row.line, renamed), number)


def numbered(row: Row, mapped: Columns) -> bool:
    """Whether a row has no id of its own, so that its number is its id."""
    return dict(_renamed(row, mapped)).get("id") in (None, "")


def built(row: Row, make: Callable[[], Item]) -> Item:
    """What ``make`` makes of ``row``; a ValueError becomes an InputError that names the line."""
    try:
        return make()
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        what = ": ".join([*map(str, first["loc"]), first["msg"].removeprefix("Value error, ")])
        raise row.fault(what) from None
    except ValueError as error:
        raise row.fault(str(error)) from None


def _renamed(row: Row, mapped: Columns) -> Iterator[tuple[str, JsonValue]]:
    """The row under our names. A list in several columns leaves out the empty ones.

    An empty option that others follow is a fault: a gold letter would name another one than it did.
    """
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
    """The place, from 0, of the first empty text that others follow."""
    filled = [place for place, text in enumerate(texts) if not _empty(text)]
    return next((place for place in range(len(filled)) if filled[place] != place), None)


def _empty(text: JsonValue) -> bool:
    return text is None or (isinstance(text, str) and not text.strip())


def _options(row: Row) -> tuple[str, ...]:
    """The options; in one cell, too, an empty one that others follow is a fault."""
    written = row.values.get("options")
    if isinstance(written, str) and not written.lstrip().startswith("["):
        gap = _gap([*written.split(";")])
        if gap is not None:
            raise row.fault(f"option {gap + 1} of {written[:80]!r} is empty, and others follow")
    return row.several("options")


def _item(row: Row, number: int) -> Item:
    options = _options(row)
    inputs = Inputs(
        question=row.optional("question"),
        options=options,
        claim=row.optional("claim"),
        topic=row.optional("topic"),
        papers=tuple(_papers(row)),
    )
    reference = Reference(
        gold=_gold(row, options),
        label=None if row.values.get("label") in (None, "") else row.truth("label"),
        true=row.several("true"),
        false=row.several("false"),
        best=row.optional("best"),
        best_false=row.optional("best_false"),
    )
    return Item(
        id=row.optional("id") or str(number),
        category=row.optional("category"),
        inputs=inputs,
        reference=reference,
    )


def _papers(row: Row) -> Iterator[Paper]:
    for side in "ab":
        parts = {part: row.optional(f"{part}_{side}") or "" for part in _PAPER}
        if any(parts.values()):
            yield Paper(**parts)


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
