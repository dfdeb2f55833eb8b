"""Read figures in free text as numbers with sign and unit: "3,1 %" is 3.1 percent, "½" is 0.5."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date
from decimal import Decimal
from typing import NamedTuple

_NUMBER = (
    r"\d{1,3}(?:[\s'’]\d{3})+(?:[.,٫]\d+)?(?!\d)"  # 12 000,5
    r"|\d+(?:[.,٫٬]\d+)*"
)
_FRACTIONS = "".join(chr(code) for code in (*range(0xBC, 0xBF), *range(0x2150, 0x215F), 0x2189))
_FIGURE = re.compile(
    rf"(?P<sign>(?<![\w.,)\]%])[-−–](?=\d|[{_FRACTIONS}]))?"
    rf"(?P<number>{_NUMBER})?(?P<fraction>[{_FRACTIONS}])?"
    r"(?:\s?(?P<scale>(?:thousand|tausend|million(?:s|en)?|mio\b\.?|billion(?:s)?|bn\b|milliarden?"
    r"|milliards?|mrd\b\.?|trillions?)))?"
    r"(?:\s?(?P<unit>%|‰|°\s?[CF]\b|[€$£]|(?:percent|per cent|prozent|pour cent|por ciento|euros?"
    r"|dollars?|eur|usd|gbp|km|kilomet(?:re|er)s?|cm|mm|m|met(?:re|er)s?|kg|kilograms?|tonnes?"
    r"|hours?|minutes?|seconds?|days?|weeks?|months?|years?)\b))?",
    re.IGNORECASE,
)
_SCALES = {
    **dict.fromkeys(("thousand", "tausend"), 10**3),
    **dict.fromkeys(("million", "millions", "millionen", "mio"), 10**6),
    **dict.fromkeys(("billion", "billions", "bn", "milliarde", "milliarden"), 10**9),
    **dict.fromkeys(("milliard", "milliards", "mrd"), 10**9),
    **dict.fromkeys(("trillion", "trillions"), 10**12),
}
_UNITS = {
    **dict.fromkeys(("percent", "per cent", "prozent", "pour cent", "por ciento"), "%"),
    **dict.fromkeys(("euro", "euros", "eur"), "€"),
    **dict.fromkeys(("dollar", "dollars", "usd"), "$"),
    "gbp": "£",
    **dict.fromkeys(("kilometre", "kilometres", "kilometer", "kilometers"), "km"),
    **dict.fromkeys(("metre", "metres", "meter", "meters"), "m"),
    **dict.fromkeys(("kilogram", "kilograms"), "kg"),
}
"""Other names of units. A unit that is not listed keeps its name, without the s of the plural."""
_MONTHS = {
    "jan": 1, "ene": 1, "gen": 1, "feb": 2, "fev": 2, "mar": 3, "apr": 4, "avr": 4, "abr": 4,
    "may": 5, "mai": 5, "mag": 5, "jun": 6, "giu": 6, "jul": 7, "lug": 7, "aug": 8, "aou": 8,
    "ago": 8, "sep": 9, "set": 9, "oct": 10, "okt": 10, "ott": 10, "nov": 11, "dec": 12, "dez": 12,
    "dic": 12, "dek": 12,
}  # fmt: skip
"""Months by the first three letters of their names in six languages. ``_month`` distinguishes
juin and juillet."""
_DATE = re.compile(
    r"\b(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)\b"
    r"|\b(?P<d1>\d{1,2})(?P<dot>[./])(?P<m1>\d{1,2})(?P=dot)(?P<y1>\d{4})\b"
    r"|\b(?P<d2>\d{1,2})(?:st|nd|rd|th|\.|er)?\s+(?:de\s+|of\s+)?(?P<m2>[^\W\d_]{3,10})\.?,?\s+"
    r"(?:de\s+)?(?P<y2>\d{4})\b"
    r"|\b(?P<m3>[^\W\d_]{3,10})\.?\s+(?P<d3>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<y3>\d{4})\b"
)
_NAME = re.compile(r"[A-Za-z]\d[\d.,]*")


class Quantity(NamedTuple):
    """A figure as it is written, with its possible values."""

    text: str
    values: frozenset[Decimal | date]
    """The numbers, with scale and sign, or the days that the figure can mean; several if it is ambiguous."""
    unit: str = ""
    bare: frozenset[Decimal] = frozenset()
    """The numbers without their scale, such as million; for a day, the numbers of year, month and day."""


def find_missing_quantities(point: str, sentences: Sequence[str]) -> list[str]:
    """Return the figures of ``point`` that none of ``sentences`` has.

    1,000 is 1.000, 1 000 and 1000; −5 is not 5; units are compared if both figures have one. Digits in names
    such as H2O do not count. "1.2" without a scale in a sentence, as under "Population (millions)",
    also matches "1.2 million".
    """
    quantities = [quantity for sentence in sentences for quantity in find_quantities(sentence)]
    figures = {quantity.text: quantity for quantity in find_quantities(_NAME.sub("", point))}
    return [
        text
        for text, figure in figures.items()
        if not any(_is_in(figure, quantity) for quantity in quantities)
    ]


def _is_in(figure: Quantity, quantity: Quantity) -> bool:
    """Return whether the ``figure`` of a point is, or is part of, the ``quantity`` of a sentence."""
    if figure.unit and quantity.unit and figure.unit != quantity.unit:
        return False
    is_day = any(isinstance(value, date) for value in quantity.values)
    scaled = quantity.bare != quantity.values
    return bool(
        figure.values & quantity.values
        or (is_day and figure.bare == figure.values and figure.values & quantity.bare)
        or (not is_day and not scaled and figure.bare & quantity.bare)
    )


def find_quantities(text: str) -> Iterator[Quantity]:
    """Yield the figures of ``text``: its days first, then its numbers."""
    rest = []
    last = 0
    for match in _DATE.finditer(text):
        if (day := _day(match)) is not None:
            yield day
            rest.append(text[last : match.start()])
            last = match.end()
    for match in _FIGURE.finditer(" ".join([*rest, text[last:]])):
        if match["number"] or match["fraction"]:
            yield from _quantities(match)


def _day(match: re.Match[str]) -> Quantity | None:
    """Return the figure of a date; 03/07/2021 may be either of two days."""
    groups = match.groupdict()
    year, month, day = (
        next(text for name, text in groups.items() if name[0] == part and text and name != "dot")
        for part in "ymd"
    )
    number = int(month) if month.isdecimal() else _month(month)
    days = set[date]()
    orders = {(number, int(day)), (int(day), number)} if match["dot"] == "/" else {(number, int(day))}
    for month_number, day_number in orders:
        with suppress(ValueError):
            days.add(date(int(year), month_number, day_number))
    parts = frozenset(map(Decimal, (year, number, day)))
    return Quantity(match[0], frozenset(days), bare=parts) if days else None


def _month(name: str) -> int:
    plain = unicodedata.normalize("NFKD", name.lower()).encode("ascii", "ignore").decode()
    if plain.startswith("jui"):
        return 7 if plain.startswith("juil") else 6
    return _MONTHS.get(plain[:3], 0)


def _quantities(match: re.Match[str]) -> Iterator[Quantity]:
    """Yield a number; for a version or another row of numbers, each part."""
    text = match[0].strip()
    scale = _SCALES.get((match["scale"] or "").lower().rstrip("."), 1)
    unit = re.sub(r"\s", "", (match["unit"] or "").lower())
    unit = _UNITS.get((match["unit"] or "").lower(), unit if len(unit) < 3 else unit.rstrip("s"))
    more = Decimal(0)
    if match["fraction"]:
        value = unicodedata.numeric(match["fraction"])
        more = Decimal(value).quantize(Decimal("0.000001")).normalize()
    signs = {"-": (-1,), "−": (-1,), "–": (-1, 1)}.get(match["sign"] or "", (1,))
    rows = _readings(match["number"]) if match["number"] else [{Decimal(0)}]
    for row in rows:
        part = text if len(rows) == 1 else str(min(row))
        bare = frozenset(sign * (value + more) for value in row for sign in signs)
        yield Quantity(part, frozenset(scale * value for value in bare), unit, bare)


def _readings(figure: str) -> list[set[Decimal]]:
    """Return the numbers that a figure can mean; for "1.2.3", each part by itself."""
    parts, signs = re.split(r"\D", figure), re.findall(r"\D", figure)
    grouped = all(len(part) == 3 for part in parts[1:]) and (parts[0] != "0" or not signs)
    if not grouped and signs[-1] in signs[:-1]:
        return [{Decimal(part)} for part in parts]
    integer, decimals = "".join(parts[:-1]), parts[-1]
    values = {Decimal(integer + decimals)} if grouped else set()
    if signs and signs[-1] not in signs[:-1] and not (grouped and decimals == "000"):
        values.add(Decimal(f"{integer}.{decimals}"))
    return [values]
