"""LaTeX files before they are read: without comments and code, and with the files drawn in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from dialectree.errors import InputError
from dialectree.retrieval import decoding
from dialectree.retrieval.latex_macros import LARGEST

_DEEPEST = 5
"""Files within files."""
_MOST = 200
"""Files."""
_UNREAD = (
    *("verbatim", "lstlisting", "minted", "comment", "Verbatim", "filecontents", "alltt", "CCSXML"),
    *("figure", "table", "wrapfigure", "wraptable", "sidewaystable", "longtable", "deluxetable"),
    *(
        "algorithm",
        "algorithmic",
        "tikzpicture",
        "Sinput",
        "Soutput",
        "Schunk",
        "Code",
        "CodeChunk",
    ),
)
"""Environments without sentences of the paper."""
_SCANNED = re.compile(
    rf"""
    \\begin\{{(?P<unread>(?:{"|".join(_UNREAD)})\*?)\}}
    | \\(?:verb\*?|lstinline[ ]*(?:\[[^\]\n]*\])?)
        (?P<sign>[^\sA-Za-z0-9*\\{{}}\[])(?P<verb>[^\n]*?)(?P=sign)
    | \\(?P<link>url|path|href)\s*\{{(?P<address>[^{{}}\n]*)\}}
    | \\(?P<off>iffalse)(?![A-Za-z])
    | \\(?:[A-Za-z@]+|.)
    | %[^\n]*(?:\n[ \t]*+(?!\n))?
    """,
    re.VERBOSE | re.DOTALL,
)
_ON_AGAIN = re.compile(r"\\(?:fi|else)(?![A-Za-z])")
_NAME_AT_END = re.compile(r"\\[A-Za-z]+\Z")
_SIGNS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    **{sign: f"\\{sign}" for sign in "%#$&{}"},
    **{sign: f"{sign}{{}}" for sign in "-`'!?"},
}
"""As LaTeX writes a sign that would mean something else."""
_INPUT = re.compile(
    r"\\(?:input|include|subfile(?:include)?)\s*\{\s*\"?(?P<name>(?:[^{}\n]|\{[^{}\n]{0,100}\}){1,200}?)\"?\s*\}"
    r"|\\input[ \t]+\"?(?P<bare>[^\s{}\\\"]{1,200})\"?"
    r"|\\(?:sub)?import\*?\s*\{(?P<folder>[^{}\n]{1,100})\}\s*\{(?P<file>[^{}\n]{1,100})\}"
)
_ASKED_FOR = re.compile(r"\\IfFileExists\s*\{([^{}\n]{1,200})\}")
_NO_PROSE = re.compile(r"\.(?:bbl|ind|pgf|tikz|sty|cls|def|cfg|\w{1,5}_t(?:ex)?)\Z", re.IGNORECASE)
"""Ends the names of files that hold references, drawings and macros, but no sentences."""


@dataclass
class Folder:
    """Where a source lies; it draws in files from there and below, never from outside."""

    path: Path | None
    drawn_in: set[Path] = field(default_factory=set)

    def whole(self, text: str, name: str) -> str:
        """Return a source with the files that it draws in, without comments and code."""
        itself = self._inside(name)
        self.drawn_in = {itself} if itself else set()
        text = self._with_inputs(_stripped(text), 0, "")
        if len(text) > LARGEST:
            raise InputError(f"{name}: draws in too much text; give its PDF or text")
        return text

    def check(self, text: str, name: str) -> None:
        """Raise InputError where the body draws in a file that could not be drawn in."""
        excused = set(map(_base, _ASKED_FOR.findall(text)))
        for asked in map(_asked, _INPUT.finditer(text)):
            if _base(asked) in excused or _NO_PROSE.search(asked):
                continue
            if self._inside(asked) is None:
                what = "is no .tex file in its folder; put it there, or give the paper's PDF"
                raise InputError(f"{name}: it draws in {asked}, which {what}")
            why = "too large, too deep in other files, or named by a macro"
            raise InputError(f"{name}: {asked} cannot be drawn in ({why}); give the paper's PDF")

    def _with_inputs(self, text: str, depth: int, beside: str) -> str:
        """Draw in each file once; an imported file names others as they lie `beside` it."""

        def drawn_in(found: re.Match[str]) -> str:
            asked = _asked(found)
            path = self._inside(f"{beside}{asked}") or self._inside(asked)
            if path in self.drawn_in:
                return "\n"
            shallow = depth < _DEEPEST and len(self.drawn_in) <= _MOST
            inner = _content(path) if path and shallow else None
            if path is None or inner is None:
                return found[0]
            self.drawn_in.add(path)
            below = f"{path.parent}/" if found["folder"] else beside
            return self._with_inputs(_stripped(inner), depth + 1, below)

        return _INPUT.sub(drawn_in, text)

    def _inside(self, asked: str) -> Path | None:
        """Return the .tex file of that name at or below the folder, links followed."""
        if self.path is None or "\0" in asked:
            return None
        try:
            path = (self.path / (asked if asked.endswith(".tex") else f"{asked}.tex")).resolve()
            inside = path.is_relative_to(self.path.resolve()) and path.is_file()
        except (OSError, RuntimeError):
            return None
        return path if inside else None


def missing(preamble: str) -> list[str]:
    """Name the files outside the body that the source draws in and that could not be read.

    A macro that one of them defines is not known; nothing of the body is lost.
    """
    excused = {"glyphtounicode", *map(_base, _ASKED_FOR.findall(preamble))}
    asked = map(_asked, _INPUT.finditer(preamble))
    return [name for name in dict.fromkeys(asked) if _base(name) not in excused]


def without_inputs(text: str) -> str:
    """Remove the commands that draw in files."""
    return _INPUT.sub("\n", text)


def _stripped(text: str) -> str:
    """Remove comments, code, tables and figures; keep the signs of addresses as they are."""
    pieces: list[str] = []
    at, endless = 0, set[str]()
    while found := _SCANNED.search(text, at):
        pieces.append(text[at : found.start()])
        at = found.end()
        unread = found["unread"] or found["off"]
        if unread and unread not in endless:
            closing = re.compile(rf"\\end\{{{re.escape(unread)}\}}")
            end = (_ON_AGAIN if found["off"] else closing).search(text, at)
            at = end.end() if end else at
            endless |= set() if end else {unread}
            pieces.append("\n" if end and found["unread"] else "" if end else found[0])
        elif found["verb"] is not None:
            pieces.append(f"\\texttt{{{_literal(found['verb'])}}}")
        elif found["link"]:
            macro = "href" if found["link"] == "href" else "url"
            pieces.append(f"\\{macro}{{{_literal(found['address'])}}}")
        elif found[0][0] != "%":
            pieces.append(found[0])
        elif pieces and _NAME_AT_END.search("".join(pieces[-2:])[-100:]):
            pieces.append(" ")
    return "".join([*pieces, text[at:]])


def _literal(text: str) -> str:
    """Write signs as LaTeX prints them; #1 stays the argument of a macro."""
    plain = re.sub(r"\\([%#$&_~])", r"\1", text)
    return "".join(_SIGNS.get(piece, piece) for piece in re.split(r"(#\d|.)", plain))


def _asked(found: re.Match[str]) -> str:
    """Return the file that a match of `_INPUT` names."""
    name = re.sub(r"[{}]", "", found["name"] or "") or str(found["bare"] or "")
    return name or f"{found['folder'].strip()}/{found['file'].strip()}"


def _base(asked: str) -> str:
    return asked.strip().removesuffix(".tex")


def _content(path: Path) -> str | None:
    """Return what a file holds; None where that is too much, or no text."""
    try:
        if path.stat().st_size > LARGEST // 5:
            return None
        return decoding.decoded(path.read_bytes(), path.name)
    except (OSError, InputError):
        return None
