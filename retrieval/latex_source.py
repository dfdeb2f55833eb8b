"""LaTeX files before they are read: no comments, nothing that is switched off, files drawn in."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from dialectree.errors import InputError
from dialectree.retrieval import decoding, latex_switches

LARGEST = 2_000_000
"""Characters, with all files that it draws in and all macros written out."""
_DEEPEST = 5
"""Files within files."""
_MOST = 200
"""Files."""

_CODE = (
    *("verbatim", "lstlisting", "minted", "comment", "Verbatim", "BVerbatim", "LVerbatim"),
    *("filecontents", "alltt"),
)
_ADDRESS = r"\{(?P<address>(?:[^{}\\\n]|\\.|\n(?![ \t]*\n)|\{[^{}\n]{0,500}\}){0,2000})\}"
_OPTIONS = r"(?:\[[^\]\n]{0,200}\])?"
_LISTED = rf"(?:lstinline[ ]*{_OPTIONS}|mintinline[ ]*{_OPTIONS}\{{\w{{1,50}}\}})"
_SCANNED = re.compile(
    rf"""
    \\begin\{{(?P<code>(?:{"|".join(_CODE)})\*?)\}}
    | \\(?:verb\*?|{_LISTED})(?P<sign>[^\sA-Za-z0-9*\\{{}}\[])(?P<verb>[^\n]{{0,1000}}?)(?P=sign)
    | \\(?:url|path|nolinkurl)(?P<bar>[|!+"])(?P<barred>[^\n]{{0,1000}}?)(?P=bar)
    | \\{_LISTED}\{{(?P<listed>(?:[^{{}}\n]|\{{[^{{}}\n]{{0,500}}\}}){{0,2000}})\}}
    | \\(?P<linking>url|path|nolinkurl|href[ ]*{_OPTIONS})\s*{_ADDRESS}
    | \\(?:[A-Za-z@]+|.)
    | %[^\n]*(?:\n[ \t]*+(?!\n))?
    """,
    re.VERBOSE | re.DOTALL,
)
_SIGNS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    **{sign: f"\\{sign}" for sign in "%#$&{}"},
    **{sign: f"{sign}{{}}" for sign in "-`'!?"},
}
"""As LaTeX writes a sign that would mean something else."""
_IN_ADDRESS = re.compile(r"%\n[ \t]*|\\[A-Za-z]+|#\d|\\?([%#$&~`'-])")
_WORD_AT_END = re.compile(r"(?<!\\)(?:\\\\)*\\[A-Za-z@]+\Z")
_INPUT = re.compile(
    r"\\(?:input|include|subfile(?:include)?)\s*"
    r"\{\s*\"?(?P<name>(?:[^{}\n]|\{[^{}\n]{0,100}\}){1,200}?)\"?\s*\}"
    r"|\\input[ \t]+\"?(?P<bare>[^\s{}\\\"]{1,200})\"?"
    r"|\\(?:sub)?import\*?\s*\{(?P<folder>[^{}\n]{1,100})\}\s*\{(?P<file>[^{}\n]{1,100})\}"
)
_BOUND = re.compile(rf"\\(?P<bound>begin|end)\s*\{{(?P<of>\w+\*?)\}}|{_INPUT.pattern}")
_ASKED_FOR = re.compile(r"\\IfFileExists\s*\{([^{}\n]{1,200})\}")
_NO_PROSE = re.compile(r"\.(?:bbl|ind|pgf|tikz|sty|cls|def|cfg|\w{1,5}_t(?:ex)?)\Z", re.IGNORECASE)
"""Ends the names of files that hold references, drawings and macros, but no sentences."""


def whole(text: str, *, name: str, folder: Path | None) -> str:
    """The source with the files that it draws in, none of them from outside ``folder``.

    What draws in another file is left for :func:`complete`, which knows whether that matters.
    """
    itself = _inside(folder, name)
    text = _with_inputs(_stripped(text), folder, {itself} if itself else set(), 0)
    if len(text) > LARGEST:
        raise InputError(f"{name}: draws in too much text; give its PDF or text")
    return latex_switches.chosen(text, declared=True)


def complete(text: str, *, name: str, folder: Path | None, unread: Collection[str]) -> str:
    """Without what draws in a file that could not be; InputError where the body lacks its text.

    Nothing is lost in the preamble, in environments that are ``unread``, or where the source itself
    asks whether the file is there.
    """
    began = re.search(r"\\begin\s*\{document\}", text)
    excused = set(map(_base, _ASKED_FOR.findall(text)))
    within = 0
    for found in _BOUND.finditer(text, began.end() if began else 0):
        if found["of"] == "document" and found["bound"] == "end":
            break
        if found["of"] in unread:
            within = max(0, within + (1 if found["bound"] == "begin" else -1))
        elif not found["of"] and not within:
            asked = _asked(found)
            if _base(asked) not in excused and not _NO_PROSE.search(asked):
                raise _incomplete(name, asked, there=_inside(folder, asked) is not None)
    return _INPUT.sub("\n", text)


def lacking(text: str) -> list[str]:
    """Name the files outside the body that the source draws in and that could not be read.

    A macro that one of them defines is not known; nothing of the body is lost.
    """
    excused = {"glyphtounicode", *map(_base, _ASKED_FOR.findall(text))}
    began = re.search(r"\\begin\s*\{document\}", text)
    ended = re.search(r"\\end\s*\{document\}", text)
    outside = text[: began.start()] if began else ""
    outside += text[ended.end() :] if ended else ""
    asked = map(_asked, _INPUT.finditer(outside))
    return [name for name in dict.fromkeys(asked) if _base(name) not in excused]


def _incomplete(name: str, asked: str, *, there: bool) -> InputError:
    if not there:
        what = "is no .tex file in its folder; put it there, or give the paper's PDF"
        return InputError(f"{name}: it draws in {asked}, which {what}")
    why = "too large, too deep in other files, or named by a macro"
    return InputError(f"{name}: {asked} cannot be drawn in ({why}); give the paper's PDF")


def side_by_side(pieces: list[str]) -> str:
    """Put together, so that no macro's name grows by the letters that follow it."""
    kept: list[str] = []
    for piece in filter(None, pieces):
        if kept and piece[0].isalpha() and ends_in_a_name(kept[-1]):
            kept.append(" ")
        kept.append(piece)
    return "".join(kept)


def ends_in_a_name(text: str) -> bool:
    """Whether a macro's name ends it."""
    return _WORD_AT_END.search(text[-100:]) is not None


def _stripped(text: str) -> str:
    """Without comments, code and what is switched off; what stands word for word stays so."""
    kept: list[str] = []
    at, endless = 0, set[str]()
    while found := _SCANNED.search(text, at):
        kept.append(text[at : found.start()])
        at = found.end()
        if found["code"]:
            closing = f"\\end{{{found['code']}}}"
            end = -1 if closing in endless else text.find(closing, at)
            if end < 0:  # one that never ends is left alone
                endless.add(closing)
                kept.append(found[0])
            else:
                at = end + len(closing)
        else:
            kept.append(_without_meaning(found))
    return latex_switches.chosen(side_by_side([*kept, text[at:]]))


def _without_meaning(found: re.Match[str]) -> str:
    """A comment as nothing; code in a line and addresses with all of their signs."""
    if found[0][0] == "%":
        return ""
    for part in ("verb", "barred", "listed"):
        if found[part] is not None:
            return f"\\texttt{{{''.join(_SIGNS.get(sign, sign) for sign in found[part])}}}"
    if found["linking"]:
        macro = "href" if found["linking"].startswith("href") else "url"
        return f"\\{macro}{{{_IN_ADDRESS.sub(_sign, found['address'])}}}"
    return found[0]


def _sign(found: re.Match[str]) -> str:
    if found[1]:
        return _SIGNS[found[1]]
    return "" if found[0][0] == "%" else found[0]


def _with_inputs(
    text: str, folder: Path | None, seen: set[Path], depth: int, beside: str = ""
) -> str:
    """With the files that it draws in, each once; what cannot be drawn in stays as it is.

    An imported file names others as they lie ``beside`` it.
    """

    def drawn_in(found: re.Match[str]) -> str:
        asked = _asked(found)
        path = _inside(folder, f"{beside}{asked}") or _inside(folder, asked)
        if path in seen:
            return "\n"
        inner = _content(path) if path and depth < _DEEPEST and len(seen) <= _MOST else None
        if path is None or inner is None:
            return found[0]
        seen.add(path)
        below = f"{path.parent}/" if found["folder"] else beside
        return _with_inputs(_stripped(inner), folder, seen, depth + 1, below)

    return _INPUT.sub(drawn_in, text)


def _asked(found: re.Match[str]) -> str:
    """The file that a match of ``_INPUT`` names."""
    named = re.sub(r"[{}]", "", found["name"] or "")
    return named or found["bare"] or f"{found['folder'].strip()}/{found['file'].strip()}"


def _base(asked: str) -> str:
    return asked.strip().removesuffix(".tex")


def _content(path: Path) -> str | None:
    """What a file holds; None where that is too much, or no text."""
    try:
        if path.stat().st_size > LARGEST // 5:
            return None
        return decoding.decoded(path.read_bytes(), path.name)
    except (OSError, InputError):
        return None


def _inside(folder: Path | None, asked: str) -> Path | None:
    """The .tex file of that name at or below ``folder``, links followed; None for any other."""
    if folder is None or "\0" in asked:
        return None
    try:
        path = (folder / (asked if asked.endswith(".tex") else f"{asked}.tex")).resolve()
        inside = path.is_relative_to(folder.resolve()) and path.is_file()
    except (OSError, RuntimeError):
        return None
    return path if inside else None
