"""Prepare LaTeX for reading: include its files, remove comments, expand macros."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from dialectree.errors import InputError
from dialectree.retrieval.encoding import decode

LARGEST = 2_000_000
"""Most characters of a source with all its macros expanded."""
_LARGEST_FILE = 400_000
"""Most bytes of an included file."""
_CODE = ("verbatim", "Verbatim", "lstlisting", "minted", "alltt", "Code", "CodeChunk")
"""Environments whose text is printed verbatim."""
_UNREAD = (*_CODE, *("comment", "filecontents", "CCSXML", "tikzpicture", "Sinput", "Soutput", "Schunk"))
"""Environments that are not read as LaTeX."""
_SCANNED = re.compile(
    rf"""
    \\begin\{{(?P<unread>(?:{"|".join(_UNREAD)})\*?)\}}
    | \\(?:verb\*?|lstinline[ ]*(?:\[[^\]\n]*\])?)
        (?P<sign>[^\sA-Za-z0-9*\\{{}}\[])(?P<verb>[^\n]*?)(?P=sign)
    | \\(?P<link>url|path|href)\s*\{{(?P<address>[^{{}}\n]*)\}}
    | \\(?P<off>iffalse)(?![A-Za-z])
    | (?P<macro>\\(?:[A-Za-z@]+|.))?(?P<comment>%[^\n]*(?:\n[ \t]*+(?!\n))?)
    | \\(?:[A-Za-z@]+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ON_AGAIN = re.compile(r"\\(?:fi|else)(?![A-Za-z])")
_SIGNS = re.compile(r"#(?!\d)|[\\%$&_{}~^`'!?-]")
"""Signs with a special meaning in LaTeX, but not in code or addresses. "#1", an argument, stays."""
_HIDDEN = re.compile("[\ue000-\ue07f]")
_INPUT = re.compile(
    r"\\(?:input|include|subfile(?:include)?)\s*\{\s*\"?(?P<name>(?:[^{}\n]|\{[^{}\n]{0,100}\}){1,200}?)\"?\s*\}"
    r"|\\input[ \t]+\"?(?P<bare>[^\s{}\\\"]{1,200})\"?"
    r"|\\(?:sub)?import\*?\s*\{(?P<folder>[^{}\n]{1,100})\}\s*\{(?P<file>[^{}\n]{1,100})\}"
)
_NO_PROSE = re.compile(
    r"glyphtounicode|.*\.(?:bbl|ind|pgf|tikz|sty|cls|def|cfg|\w{1,5}_t(?:ex)?)", re.IGNORECASE
)
"""Names of files with references, drawings or macros, but without sentences."""
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
_ENDS_IN_NAME = re.compile(r"\\[A-Za-z@]+\Z")


def _strip_comments(text: str) -> str:
    """Remove comments and drawings; hide the signs in addresses and code from LaTeX."""
    pieces: list[str] = []
    at, endless = 0, set[str]()
    while match := _SCANNED.search(text, at):
        pieces.append(text[at : match.start()])
        at = match.end()
        unread = match["unread"] or match["off"]
        if unread and unread not in endless:
            closing = re.compile(rf"\\end\{{{re.escape(unread)}\}}")
            end = (_ON_AGAIN if match["off"] else closing).search(text, at)
            at = end.end() if end else at
            endless |= set() if end else {unread}
            if end and unread in _CODE:
                code = re.sub(r"\A(?:\[[^\]]*\]|\{[^{}]*\})+", "", text[match.end() : end.start()])
                pieces.append(f"\n\n\\texttt{{{_hidden(code)}}}\n\n")
            pieces.append("\n" if end and match["unread"] else "" if end else match[0])
        elif match["verb"] is not None:
            pieces.append(f"\\texttt{{{_hidden(match['verb'])}}}")
        elif match["link"]:
            address = re.sub(r"\\([%#$&_~])", r"\1", match["address"])
            pieces.append(f"\\{match['link'].replace('path', 'url')}{{{_hidden(address)}}}")
        elif match["comment"]:
            macro = match["macro"] or ""
            pieces.append(f"{macro} " if macro[1:].isalpha() else macro)
        else:
            pieces.append(match[0])
    return "".join([*pieces, text[at:]])


def _hidden(text: str) -> str:
    return _SIGNS.sub(lambda sign: chr(0xE000 + ord(sign[0])), text)


def restore_hidden_signs(text: str) -> str:
    """Restore the signs that `_strip_comments` hid from LaTeX."""
    return _HIDDEN.sub(lambda sign: chr(ord(sign[0]) - 0xE000), text)


def inline_input_files(text: str, name: str, folder: Path | None) -> str:
    """Return a source without comments, with the files that it includes put in, each once.

    Only files in ``folder`` and below are put in, never files outside.
    """
    drawn_in: list[Path] = []

    def find_input_file(input_name: str) -> Path | None:
        """Return the .tex file of this name, relative to the folder or to an included file."""
        if folder is None or "\0" in input_name:
            return None
        file = input_name if input_name.endswith(".tex") else f"{input_name}.tex"
        top = folder.resolve()
        with suppress(OSError, RuntimeError):
            for place in [top, *(path.parent for path in drawn_in)]:
                path = (place / file).resolve()
                if path.is_relative_to(top) and path.is_file():
                    return path
        return None

    def content(match: re.Match[str]) -> str:
        """Return the content of the file, or the command itself if the file cannot be included."""
        path = find_input_file(_parse_input_name(match))
        if path in drawn_in:
            return "\n"
        if path is None or path.stat().st_size > _LARGEST_FILE:
            return match[0]
        drawn_in.append(path)
        return _strip_comments(_HIDDEN.sub("", decode(path.read_bytes(), path.name).text))

    drawn_in += [path for path in [find_input_file(name)] if path]
    text, before = _strip_comments(_HIDDEN.sub("", text)), ""
    while text != before:
        before, text = text, _INPUT.sub(content, text)
        if len(text) > LARGEST:
            raise InputError(f"{name}: it includes too much text; give its PDF or text")
    return text


def missing(text: str) -> list[str]:
    """Return the names of files that ``text`` includes and that were not read, if they may have sentences."""
    input_names = dict.fromkeys(map(_parse_input_name, _INPUT.finditer(text)))
    return [name for name in input_names if not _NO_PROSE.fullmatch(name)]


def without_inputs(text: str) -> str:
    """Remove the commands that include files."""
    return _INPUT.sub("\n", text)


def _parse_input_name(match: re.Match[str]) -> str:
    """Return the file that a match of `_INPUT` names."""
    name = re.sub(r"[{}]", "", match["name"] or "") or str(match["bare"] or "")
    return name or f"{match['folder'].strip()}/{match['file'].strip()}"


class Macro(NamedTuple):
    """A macro that a paper defines; its body has #1 to #9 for the arguments."""

    body: str
    arguments: int = 0
    default: str | None = None
    """The value of the first argument where a use leaves it out."""


def pairs(text: str) -> dict[int, int]:
    """Return, by the place of each opening brace, the place after its closing brace."""
    closed: dict[int, int] = {}
    opened: list[int] = []
    for sign in re.finditer(r"\\.|[{}]", text, re.DOTALL):
        if sign[0] == "{":
            opened.append(sign.start())
        elif sign[0] == "}" and opened:
            closed[opened.pop()] = sign.end()
    return closed


def definitions(text: str) -> tuple[str, dict[str, Macro]]:
    """Return the text without its definitions of macros, and the macros by name."""
    closed, macros = pairs(text), dict[str, Macro]()
    pieces: list[str] = []
    at = 0
    while match := _DEFINITION.search(text, at):
        end = closed.get(match.end(), 0)
        pieces.append(text[at : match.start()])
        at = end or match.end()
        name = match["new"] or match["bare"] or match["def"]
        if match["let"]:
            macros[match["let"]] = macros.get(match["other"], Macro(f"\\{match['other']}"))
        elif end and not (match["provided"] and name in macros):
            count = int(match["count"] or 0) or len(match["places"] or "") // 2
            macros[name] = Macro(text[match.end() + 1 : end - 1], count, match["default"])
    return "".join([*pieces, text[at:]]), macros


def expander(name: str, macros: Mapping[str, Macro]) -> Callable[[str], str]:
    """Return a function that expands the macros in the source called ``name``.

    The function raises InputError if the expansion grows too large.
    """
    room = 2 * LARGEST

    def expand_macros(text: str, within: frozenset[str] = frozenset()) -> str:
        """Expand `text`, but not the macros `within`: `text` comes from their bodies."""
        nonlocal room
        room -= len(text)
        if room < 0:
            raise InputError(f"{name}: its macros expand to too much text; give its PDF or text")
        closed, at = pairs(text), 0
        pieces: list[str] = []
        while match := _USE.search(text, at):
            pieces.append(text[at : match.start()])
            at = match.end()
            macro = macros.get(match[1] or "")
            use = _arguments(macro, text, at, closed) if macro else None
            if macro is None or use is None or match[1] in within:
                pieces.append(match[0])
                continue
            arguments, at = use
            body = _fill_in_arguments(macro.body, [expand_macros(argument, within) for argument in arguments])
            pieces.append(_set_apart(expand_macros(body, within | {match[1]}), text[at : at + 1]))
        return "".join([*pieces, text[at:]])

    return expand_macros


def _set_apart(result: str, following: str) -> str:
    """Put braces around an expanded macro, unless it ends in a command or opens a group."""
    if _ENDS_IN_NAME.search(result[-50:]):
        return f"{result}{{}}" if following.isalpha() or following.isspace() else result
    return result if _OPENS.search(result) else f"{{{result}}}"


def _arguments(macro: Macro, text: str, at: int, closed: dict[int, int]) -> tuple[list[str], int] | None:
    """Return the arguments of one use of a macro, and where they end; None if arguments are missing."""
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


def _fill_in_arguments(body: str, arguments: Iterable[str]) -> str:
    """Put the arguments in their places in the body of a macro."""
    values = {str(number): value for number, value in enumerate(arguments, 1)}

    def value(match: re.Match[str]) -> str:
        after_name = _ENDS_IN_NAME.search(body[max(0, match.start() - 50) : match.start()])
        return f"{' ' if after_name else ''}{values.get(match[1], '')}"

    return re.sub(r"(?<![\\#])#(\d)", value, body)
