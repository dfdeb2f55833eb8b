"""How a LaTeX paper defines its macros, and what each use of one gives it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

_REACH = 1000
"""Characters in which an argument that is not in braces must end."""

_NEW = ("newcommand", "renewcommand", "providecommand", "DeclareRobustCommand")
_DEF = ("def", "gdef", "edef", "xdef")
_DOCUMENT = tuple(f"{word}DocumentCommand" for word in ("New", "Renew", "Provide", "Declare"))
_NAME = re.compile(r"\*?\s*(?:\{\s*\\([A-Za-z@]+)\s*\}|\\([A-Za-z@]+))")
_COUNT = re.compile(r"\s*\[\s*(\d)\s*\]")
_PATTERN = re.compile(r"([^{}\\]{0,100}(?:\\[^{}]{0,100})?)(?=\{)")
_LET = re.compile(r"\s*\\([A-Za-z@]+)\s*=?\s*(?:\\([A-Za-z@]+)|([^\s\\{}#]))")
_SPACE = re.compile(r"[ \t]*(?:\n[ \t]*(?!\n))?")
_BARE = re.compile(
    r"\\(?!(?:par|item)(?![A-Za-z@]))[A-Za-z@]+(?![A-Za-z@]|\s*[\[{])|\d|[A-Za-z](?![A-Za-z])"
)
_ASKED = re.compile(r"\s*\+?\s*(?:(m)|O\{([^{}]*)\})\s*")
_LAST_NAME = re.compile(r"(?<!\\)(?:\\\\)*\\([A-Za-z@]+)\s*\Z")
_PROGRAM = re.compile(
    r"\\(?:if(?!f(?![A-Za-z@]))|@if|IfNoValue|IfValue|IfBoolean|futurelet|csname|expandafter"
    r"|@for|foreach|loop(?![A-Za-z@])|catcode)"
)
"""What only LaTeX itself could follow."""


@dataclass(frozen=True)
class Parameter:
    """What a macro takes."""

    default: str | None = None
    """Stands in where it is left out; None for what must be there."""
    opens: str = "["
    """What begins it where it may be left out."""
    until: str = ""
    """What ends it, where braces do not."""


@dataclass(frozen=True)
class Macro:
    """What a macro stands for; #1 to #9 are what it takes."""

    body: str
    parameters: tuple[Parameter, ...] = ()
    opening: str = ""
    """Must follow its name."""
    alias: str | None = None
    """The macro whose meaning it was given."""
    readable: bool = field(default=True, kw_only=True)
    """False where only LaTeX could tell what it stands for."""


@dataclass(frozen=True)
class Definition:
    """A macro and its name, as far as the definition's end."""

    name: str
    macro: Macro
    end: int
    unless_defined: bool = False


def pairs(text: str) -> dict[int, int]:
    """For each brace that opens and is closed, the place behind the one that closes it."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for sign in re.finditer(r"\\.|[{}]", text, re.DOTALL):
        if sign[0] == "{":
            opened.append(sign.start())
        elif sign[0] == "}" and opened:
            found[opened.pop()] = sign.end()
    return found


def read(text: str, word: re.Match[str], closed: Mapping[int, int]) -> Definition | None:
    """The definition that ``word`` begins; None where it begins none that we can read."""
    kind = word[1]
    if kind in _NEW:
        return _new(text, word.end(), closed, unless_defined=kind == "providecommand")
    if kind in _DEF:
        return _def(text, word.end(), closed)
    if kind == "let":
        return _let(text, word.end())
    if kind in ("DeclareMathOperator", "DeclareSIUnit"):
        return _grouped(text, word.end(), closed, 1)
    if kind == "DeclarePairedDelimiter":
        return _grouped(text, word.end(), closed, 2)
    if kind in _DOCUMENT:
        return _grouped(text, word.end(), closed, 2, asked=True)
    return None


def _new(
    text: str, at: int, closed: Mapping[int, int], *, unless_defined: bool
) -> Definition | None:
    named = _NAME.match(text, at)
    if named is None:
        return None
    at, default = named.end(), None
    counted = _COUNT.match(text, at)
    if counted:
        at = _space(text, counted.end())
        if text.startswith("[", at):
            end = _until(text, at + 1, "]")
            if end is None:
                return None
            default, at = text[at + 1 : end], end + 1
    body = _taken(Parameter(), text, at, closed, apart=True)
    if body is None:
        return None
    plain = int(counted[1]) if counted else 0
    parameters = [Parameter()] * plain
    if default is not None and plain:
        parameters[0] = Parameter(default)
    macro = _macro(body[0], parameters)
    return Definition(named[1] or named[2], macro, body[1], unless_defined)


def _def(text: str, at: int, closed: Mapping[int, int]) -> Definition | None:
    named = _NAME.match(text, at)
    pattern = _PATTERN.match(text, named.end()) if named and named[2] else None
    if named is None or pattern is None or pattern.end() not in closed:
        return None
    end = closed[pattern.end()]
    opening, *rest = re.split(r"#\d", pattern[1])
    parameters = [Parameter(until=sign.strip()) for sign in rest]
    macro = _macro(text[pattern.end() + 1 : end - 1], parameters, opening.strip())
    return Definition(named[2], macro, end)


def _let(text: str, at: int) -> Definition | None:
    found = _LET.match(text, at)
    if found is None:
        return None
    nothing = found[2] in ("relax", "undefined", "empty", "@empty", "@undefined")
    body = "" if nothing else found[3] or f"\\{found[2]}"
    return Definition(found[1], Macro(body, alias=None if nothing else found[2]), found.end())


def _grouped(
    text: str, at: int, closed: Mapping[int, int], groups: int, *, asked: bool = False
) -> Definition | None:
    """A name and groups: a body, what stands on both sides, or what is asked for and a body."""
    named = _NAME.match(text, at)
    if named is None:
        return None
    at, found = named.end(), list[str]()
    for _ in range(groups):
        at = _space(text, at)
        if at not in closed:
            return None
        found.append(text[at + 1 : closed[at] - 1])
        at = closed[at]
    if asked:
        macro = _document_macro(*found)
    elif groups == 2:
        optional = (Parameter("", "*"), Parameter(""), Parameter())
        macro = _macro(f"{found[0]} #3 {found[1]}", optional)
    else:
        macro = _macro(found[0], ())
    return Definition(named[1] or named[2], macro, at)


def _document_macro(asked: str, body: str) -> Macro:
    parameters: list[Parameter] = []
    at = 0
    while one := _ASKED.match(asked, at):
        parameters.append(Parameter(one[2]))
        at = one.end()
    macro = _macro(body, parameters)
    return (
        macro if at == len(asked.rstrip()) or not asked.strip() else replace(macro, readable=False)
    )


def _macro(
    body: str, parameters: list[Parameter] | tuple[Parameter, ...], opening: str = ""
) -> Macro:
    places = [int(place) for place in re.findall(r"(?<![\\#])#(\d)", body)]
    fits = all(0 < place <= len(parameters) for place in places)
    return Macro(body, tuple(parameters), opening, readable=fits and not _PROGRAM.search(body))


def arguments(
    macro: Macro, text: str, at: int, closed: Mapping[int, int]
) -> tuple[list[str], int] | None:
    """What a use of the macro gives it, and where the use ends; None where that does not fit."""
    if not text.startswith(macro.opening, at):
        return None
    at += len(macro.opening)
    found: list[str] = []
    apart = True
    for parameter in macro.parameters:
        taken = _taken(parameter, text, at, closed, apart=apart)
        if taken is None:
            return None
        found.append(taken[0])
        apart = apart and text[taken[1] - 1] not in "]}"
        at = taken[1]
    return found, at


def _taken(
    parameter: Parameter, text: str, at: int, closed: Mapping[int, int], *, apart: bool
) -> tuple[str, int] | None:
    """One argument and its end; ``apart`` lets a sign without braces stand after a space."""
    if parameter.until:
        end = _until(text, at, parameter.until)
        return None if end is None else (text[at:end], end + len(parameter.until))
    start = _space(text, at)
    if parameter.default is not None:
        return _optional(parameter, parameter.default, text, at, start)
    if text.startswith("{", start):
        return (text[start + 1 : closed[start] - 1], closed[start]) if start in closed else None
    bare = _BARE.match(text, start) if apart or start == at else None
    return (bare[0], bare.end()) if bare else None


def _optional(
    parameter: Parameter, default: str, text: str, at: int, start: int
) -> tuple[str, int] | None:
    if not text.startswith(parameter.opens, start):
        return default, at
    if parameter.opens != "[":
        return parameter.opens, start + 1
    end = _until(text, start + 1, "]")
    return None if end is None else (text[start + 1 : end], end + 1)


def _space(text: str, at: int) -> int:
    """Behind the spaces at ``at``, with no more than the end of one line."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _until(text: str, at: int, sign: str) -> int | None:
    """Where ``sign`` next stands outside braces, in reach and in the same paragraph."""
    end = at - 1
    for _ in range(5):
        end = text.find(sign, end + 1, at + _REACH)
        inner = text[at : max(end, at)]
        if end < 0 or "\n\n" in inner:
            return None
        if inner.count("{") == inner.count("}"):
            return end
    return None


def last_name(body: str) -> str | None:
    """The name of the macro that ends it, which may take what follows."""
    found = _LAST_NAME.search(body[-100:])
    return found[1] if found else None
