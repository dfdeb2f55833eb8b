"""Write out the macros that a LaTeX paper defines, without running any."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dialectree.errors import InputError

LARGEST = 2_000_000
"""Characters of a source with all its macros written out."""
_DEFINITION = re.compile(
    r"\\(?:(?:re)?newcommand|(?P<provided>providecommand)|DeclareRobustCommand"
    r"|DeclareMathOperator)\*?\s*(?:\{\s*\\(?P<new>[A-Za-z@]+)\s*\}|\\(?P<bare>[A-Za-z@]+))\s*"
    r"(?:\[(?P<count>\d)\]\s*)?(?:\[(?P<default>[^\[\]]*)\]\s*)?(?=\{)"
    r"|\\(?:def|gdef|edef|xdef)\s*\\(?P<def>[A-Za-z@]+)(?P<places>(?:#\d)*)\s*(?=\{)"
    r"|\\let\s*\\(?P<let>[A-Za-z@]+)\s*=?\s*\\(?P<other>[A-Za-z@]+)"
)
_USE = re.compile(r"\\(?:([A-Za-z@]+)|.)", re.DOTALL)
_BARE = re.compile(r"\\[A-Za-z@]+|[^\s\\{}\[\]]")
_OPTION = re.compile(r"\s*\[([^\[\]]*)\]")
_OPENS = re.compile(r"\\(?:begin|end)(?![A-Za-z])|\\[\[\]()]|\$")
"""Opens or closes what may end outside of a macro."""
_ENDS_IN_NAME = re.compile(r"\\[A-Za-z@]+\Z")


@dataclass(frozen=True)
class Macro:
    """What a macro stands for; #1 to #9 are its arguments."""

    body: str
    arguments: int = 0
    default: str | None = None
    """Stands for the first argument where it is left out."""


def pairs(text: str) -> dict[int, int]:
    """For each brace that opens and is closed, return the place behind the one that closes it."""
    closed: dict[int, int] = {}
    opened: list[int] = []
    for sign in re.finditer(r"\\.|[{}]", text, re.DOTALL):
        if sign[0] == "{":
            opened.append(sign.start())
        elif sign[0] == "}" and opened:
            closed[opened.pop()] = sign.end()
    return closed


def definitions(text: str) -> tuple[str, dict[str, Macro]]:
    """Return the text without its definitions, and these by name."""
    closed, macros = pairs(text), dict[str, Macro]()
    pieces: list[str] = []
    at = 0
    while found := _DEFINITION.search(text, at):
        end = closed.get(found.end(), 0)
        pieces.append(text[at : found.start()])
        at = end or found.end()
        name = found["new"] or found["bare"] or found["def"]
        if found["let"]:
            macros[found["let"]] = macros.get(found["other"], Macro(f"\\{found['other']}"))
        elif end and not (found["provided"] and name in macros):
            count = int(found["count"] or 0) or len(found["places"] or "") // 2
            macros[name] = Macro(text[found.end() + 1 : end - 1], count, found["default"])
    return "".join([*pieces, text[at:]]), macros


@dataclass
class Expander:
    """Writes out uses of macros; raises InputError where there is no end to it."""

    name: str
    macros: dict[str, Macro]
    room: int = 2 * LARGEST

    def expanded(self, text: str, within: frozenset[str] = frozenset()) -> str:
        """Write out `text`, which stands in the bodies of the macros `within`."""
        self.room -= len(text)
        if self.room < 0:
            raise InputError(
                f"{self.name}: its macros write out too much text; give its PDF or text"
            )
        if "\\" not in text:
            return text
        closed, at = pairs(text), 0
        pieces: list[str] = []
        while found := _USE.search(text, at):
            pieces.append(text[at : found.start()])
            at = found.end()
            macro = self.macros.get(found[1] or "")
            taken = _arguments(macro, text, at, closed) if macro else None
            if macro is None or taken is None or found[1] in within:
                pieces.append(found[0])
            else:
                arguments, at = taken
                filled = _filled(
                    macro.body, [self.expanded(argument, within) for argument in arguments]
                )
                result = self.expanded(filled, within | {found[1]})
                pieces.append(_set_apart(result, text[at : at + 1]))
        return "".join([*pieces, text[at:]])


def _set_apart(result: str, following: str) -> str:
    """Put braces around a result, unless it takes what follows or opens what ends there."""
    if _ENDS_IN_NAME.search(result[-50:]):
        return f"{result}{{}}" if following.isalpha() or following.isspace() else result
    return result if _OPENS.search(result) else f"{{{result}}}"


def _arguments(
    macro: Macro, text: str, at: int, closed: dict[int, int]
) -> tuple[list[str], int] | None:
    """Return what a use gives a macro, and where the use ends; None where it gives too little."""
    arguments: list[str] = []
    if macro.default is not None and macro.arguments:
        option = _OPTION.match(text, at)
        arguments.append(option[1] if option else macro.default)
        at = option.end() if option else at
    while len(arguments) < macro.arguments:
        while text[at : at + 1].isspace():
            at += 1
        bare = _BARE.match(text, at)
        if at in closed:
            arguments.append(text[at + 1 : closed[at] - 1])
            at = closed[at]
        elif bare:
            arguments.append(bare[0])
            at = bare.end()
        else:
            return None
    return arguments, at


def _filled(body: str, arguments: Sequence[str]) -> str:
    """Put the arguments in their places in the body of a macro."""
    filled = ""
    for number, piece in enumerate(re.split(r"(?<![\\#])#(\d)", body)):
        if number % 2:
            argument = arguments[int(piece) - 1] if 0 < int(piece) <= len(arguments) else ""
            piece = f" {argument}" if _ENDS_IN_NAME.search(filled[-50:]) else argument
        filled += piece
    return filled
