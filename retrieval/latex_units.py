"""Numbers and units as siunitx prints them: of \\SI{5}{\\kilo\\gram} a reader sees 5 kg."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dialectree.retrieval import latex_definitions

_PREFIXES = {
    **{"quecto": "q", "ronto": "r", "yocto": "y", "zepto": "z", "atto": "a", "femto": "f"},
    **{"pico": "p", "nano": "n", "micro": "μ", "milli": "m", "centi": "c", "deci": "d"},
    **{"deca": "da", "deka": "da", "hecto": "h", "kilo": "k", "mega": "M", "giga": "G"},
    **{"tera": "T", "peta": "P", "exa": "E", "zetta": "Z", "yotta": "Y", "ronna": "R"},
    **{"quetta": "Q", "kibi": "Ki", "mebi": "Mi", "gibi": "Gi", "tebi": "Ti", "pebi": "Pi"},
    **{"exbi": "Ei", "zebi": "Zi", "yobi": "Yi"},
}
_ABBREVIATED = {
    f"{short}{unit}": f"{prefix}{unit}"
    for short, prefix in [("", ""), ("u", "μ"), *((sign, sign) for sign in "afpnmcdhkMGT")]
    for unit in (*"gmsAlLNVWJFHKBCT", "mol", "Hz", "Pa", "eV", "Wh")
}
_UNITS = {
    **_ABBREVIATED,
    **{"ampere": "A", "candela": "cd", "kelvin": "K", "kilogram": "kg", "gram": "g"},
    **{"metre": "m", "meter": "m", "mole": "mol", "second": "s", "becquerel": "Bq"},
    **{"degreeCelsius": "°C", "celsius": "°C", "degC": "°C", "coulomb": "C", "farad": "F"},
    **{"gray": "Gy", "hertz": "Hz", "henry": "H", "joule": "J", "lumen": "lm", "katal": "kat"},
    **{"lux": "lx", "newton": "N", "ohm": "Ω", "pascal": "Pa", "radian": "rad", "siemens": "S"},
    **{"sievert": "Sv", "steradian": "sr", "tesla": "T", "volt": "V", "watt": "W", "weber": "Wb"},
    **{"astronomicalunit": "au", "bel": "B", "dalton": "Da", "day": "d", "decibel": "dB"},
    **{"electronvolt": "eV", "hectare": "ha", "hour": "h", "litre": "L", "liter": "L"},
    **{"minute": "min", "neper": "Np", "tonne": "t", "bit": "bit", "byte": "B", "bar": "bar"},
    **{"angstrom": "Å", "atomicmassunit": "u", "amu": "u", "barn": "b", "knot": "kn"},
    **{"mmHg": "mmHg", "nauticalmile": "M", "mohm": "mΩ", "kohm": "kΩ", "Mohm": "MΩ"},
    **{"percent": r"\%", "degree": "°", "arcminute": "′", "arcsecond": "″"},
}
_DEEPEST = 5
"""Uses within uses; deeper ones are left alone."""
_CLOSE = (r"\%", "°", "′", "″")
"""Stand at their number without a blank."""
_RAISED_FIRST = {"square": "2", "cubic": "3"}
_RAISED = {"squared": "2", "cubed": "3"}
_USES = {  # macro: the numbers and the unit that it takes; a list and a product are in one group
    **dict.fromkeys(("SI", "qty", "complexqty"), "number unit"),
    **dict.fromkeys(("SIrange", "qtyrange"), "number number unit"),
    **dict.fromkeys(("SIlist", "qtylist", "qtyproduct"), "number unit"),
    **dict.fromkeys(("num", "numlist", "numproduct", "complexnum"), "number"),
    **dict.fromkeys(("si", "unit"), "unit"),
    "numrange": "number number",
    "ang": "angle",
}
_USE = re.compile(rf"(?<!\\)((?:\\\\)*)\\({'|'.join(_USES)})(?![A-Za-z@])")
_OPENING = re.compile(r"\s*(?:\[([^\[\]{}]{0,500})\]\s*)?(?=\{)")
_PART = re.compile(
    r"""
    \\(?P<raised>tothe|raiseto|of)\s*\{(?P<told>[^{}]*)\}
    | (?P<sign>\\(?:text|math)[a-z]*\s*\{[^{}]*\}|\\[%$#&_]|(?:\^\{[^{}]*\}|[^\\{}\s~.])+)
    | \\(?P<name>[A-Za-z]+)
    """,
    re.VERBOSE,
)
_TIMES = re.compile(r"(?<=[\d)])\s*x\s*(?=[-+.\d])")
_POWER_OF_TEN = re.compile(r"([-+.,\d\s()±]*)[eEdD]\s*\+?(-?\d+)")


def written_out(text: str, depth: int = 0) -> str:
    """With each number and unit that siunitx sets as the text that it prints."""
    if depth > _DEEPEST or not _USE.search(text):
        return text
    pairs = latex_definitions.pairs(text)
    kept: list[str] = []
    at = 0
    while found := _USE.search(text, at):
        kinds = _USES[found[2]].split()
        arguments, end = _arguments(text, found.end(), len(kinds), pairs)
        kept.append(text[at : found.end(1) if arguments else found.end()])
        if arguments:
            told = [written_out(argument, depth + 1).strip() for _, argument in arguments]
            kept.append(_shown(kinds, told, arguments[-1][0]))
        at = end
    return "".join([*kept, text[at:]])


def _arguments(
    text: str, at: int, count: int, pairs: Mapping[int, int]
) -> tuple[list[tuple[str, str]], int]:
    """So many groups, each with what stands in brackets before it, and their end; else none."""
    taken, began = list[tuple[str, str]](), at
    for _ in range(count):
        opening = _OPENING.match(text, at)
        if opening is None or opening.end() not in pairs:
            return [], began
        at = pairs[opening.end()]
        taken.append((opening[1] or "", text[opening.end() + 1 : at - 1]))
    return taken, at


def _shown(kinds: Sequence[str], told: Sequence[str], before: str) -> str:
    """The numbers and their unit, in braces; ``before`` stands in brackets before the last."""
    read = {"number": _several, "angle": _angle, "unit": _unit}
    shown = [read[kind](argument) for kind, argument in zip(kinds, told, strict=True)]
    unit = shown.pop() if kinds[-1] == "unit" else ""
    before = before if kinds[-1] == "unit" and "=" not in before else ""
    if not shown:  # \unit[5]{kg}, as the package of that name has it
        shown, before = [before], ""
    gap = " " if shown[0] and unit and unit not in _CLOSE else ""
    return f"{{{before}{' to '.join(shown)}{gap}{unit}}}"


def _several(told: str) -> str:
    """A number, or those of a list (1;2;3) or a product (1 x 2)."""
    *first, last = (_number(one) for one in told.split(";"))
    return f"{', '.join(first)} and {last}" if first else last


def _number(told: str) -> str:
    told = told.strip().replace("+-", "±")
    first, *rest = _TIMES.split(told)
    if rest:
        return " × ".join(map(_number, (first, *rest)))
    found = _POWER_OF_TEN.fullmatch(told)
    if found is None:
        return told
    return f"{found[1].rstrip()}×10^{found[2]}" if found[1] else f"10^{found[2]}"


def _angle(told: str) -> str:
    """Degrees, minutes and seconds of arc."""
    parts = zip(told.split(";"), "°′″", strict=False)
    return "".join(f"{_number(number)}{sign}" for number, sign in parts if number.strip())


@dataclass
class _Part:
    """A unit within a unit: the s^2 of m/s^2."""

    sign: str = ""
    power: str = ""
    divides: bool = False

    def shown(self, first: bool) -> str:
        """As it stands behind another one; as the first, s^-2."""
        power = f"-{self.power or 1}" if self.divides and first else self.power
        glue = "" if first else "/" if self.divides else " "
        return f"{glue}{self.sign}{power and f'^{power}'}"


def _unit(told: str) -> str:
    shown = "".join(part.shown(first=not at) for at, part in enumerate(_parts(told)))
    return re.sub(r"\s*/\s*", "/", shown)


def _parts(told: str) -> list[_Part]:
    """Each with its prefix, with its power, and with the \\per before it."""
    part, done = _Part(), list[_Part]()
    for found in _PART.finditer(told):
        name, raised = found["name"], found["raised"]
        if name == "per":
            part.divides = True
        elif name in _PREFIXES:
            part.sign += _PREFIXES[name]
        elif name in _RAISED_FIRST or raised == "raiseto":
            part.power = _RAISED_FIRST.get(name, found["told"])
        elif (name in _RAISED or raised == "tothe") and done:
            done[-1].power = _RAISED.get(name, found["told"])
        elif raised == "of" and done:
            done[-1].sign += f"_{found['told']}"
        elif not raised:
            part.sign += found["sign"] or _UNITS.get(name, f"\\{name}{{}}")
            done.append(part)
            part = _Part()
    return [*done, part] if part.sign else done
