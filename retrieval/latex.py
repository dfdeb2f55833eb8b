"""LaTeX: title, abstract, sections and sentences; figures, tables and notes are left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pylatexenc import latex2text, latexwalker, macrospec

from dialectree.errors import InputError
from dialectree.retrieval import decoding, front_matter, headings, mending
from dialectree.retrieval.drafts import Block, Draft

_LARGEST = 2_000_000
"""Characters, with all files that it draws in and all macros written out."""
_DEEPEST = 5
"""Files within files, and macros within macros."""
_SECTION = "\x01"
"""Begins a paragraph that is a heading; no source holds it, for a source's own are taken out."""
_REFERENCES = f"\n\n{_SECTION}References\n\n"
_APPENDIX = f"\n\n{_SECTION}Appendix\n\n"

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*(\n[ \t]*(?!\s*\n))?")
_UNREAD = re.compile(
    r"\\begin\{((?:verbatim|lstlisting|minted|comment|Verbatim)\*?)\}|\\iffalse(?![A-Za-z])"
)
_INPUT = re.compile(r"\\(?:input|include|subfile)\s*\{\s*([^{}\n]{1,200}?)\s*\}")
_MACRO = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand)\*?\s*"
    r"(?:\{\s*\\([A-Za-z@]+)\s*\}|\\([A-Za-z@]+))\s*(\[\d\](?:\[[^\]]*\])?)?\s*(?=\{)"
    r"|\\def\s*\\([A-Za-z@]+)\s*((?:#\d)*)\s*(?=\{)"
)

_DROPPED = (
    *("figure", "figure*", "table", "table*", "wrapfigure", "wraptable", "sidewaystable"),
    *("tabular", "tabular*", "tabularx", "longtable", "deluxetable", "deluxetable*"),
    *("algorithm", "algorithm*", "algorithmic", "tikzpicture", "lstlisting", "verbatim", "comment"),
    *("acknowledgments", "acknowledgements", "keywords", "IEEEkeywords", "CCSXML"),
)
_SILENT = {  # macro: its arguments, which say nothing to a reader
    **dict.fromkeys(("footnote", "footnotetext", "thanks", "label"), "[{"),
    **dict.fromkeys(("bibliographystyle", "includegraphics", "caption", "vspace", "hspace"), "*[{"),
    **dict.fromkeys(("keywords", "email", "affiliation", "affil", "author", "date"), "[{"),
    **dict.fromkeys(("footnotemark", "marginpar", "todo", "index", "pagestyle", "title"), "[{"),
    **dict.fromkeys(
        ("thispagestyle", "ccsdesc", "institute", "address", "orcid", "subtitle"), "[{"
    ),
    **dict.fromkeys(
        ("usepackage", "documentclass", "setcounter", "definecolor", "graphicspath"), "[{"
    ),
    **dict.fromkeys(("vskip", "maketitle", "tableofcontents", "xspace", "iffalse"), ""),
    **dict.fromkeys(("newcommand", "renewcommand", "setlength", "addtolength"), "{{"),
}
_SILENT["footnotemark"] = "["
_CITING = (
    *("cite", "citep", "citet", "citealt", "citealp", "citeauthor", "citeyear", "citeyearpar"),
    *("parencite", "textcite", "autocite", "footcite", "Citet", "Citep", "citenum", "fullcite"),
)
_REFERRING = ("ref", "eqref", "autoref", "cref", "Cref", "pageref", "nameref", "vref", "subref")
_WORDED = {  # macro: its arguments, the last of which is read
    **dict.fromkeys(("href", "textcolor", "colorbox", "SI", "foreignlanguage"), "{{"),
    **dict.fromkeys(("resizebox",), "*{{{"),
    **dict.fromkeys(("texorpdfstring",), "{{"),
}
_SECTIONS = ("part", "chapter", "section", "subsection", "subsubsection")


def draft(text: str, *, name: str, folder: Path | None = None) -> Draft:
    """What a LaTeX source says; it draws in files from ``folder`` and below, never from outside."""
    text = _written_out(_with_inputs(_stripped(text), folder, set(), 0), name)
    title = _argument(text, "title")
    abstract = _environment(text, "abstract") or _argument(text, "abstract")
    body = re.split(r"\\begin\s*\{document\}", text, maxsplit=1)[-1]
    body = re.split(r"\\end\s*\{document\}", body, maxsplit=1)[0]
    body = re.sub(r"\\begin\s*\{abstract\}.*?\\end\s*\{abstract\}", "\n\n", body, flags=re.DOTALL)
    try:
        cited: dict[str, int] = {}
        told = _flat(_words(title, cited)) if title else None
        above = _blocks(_words(abstract, cited)) if abstract else []
        blocks = _blocks(_words(body, cited))
    except (RecursionError, latexwalker.LatexWalkerError, IndexError, ValueError) as error:
        raise InputError(f"{name}: LaTeX that cannot be read; give its PDF or text") from error
    summary: str | None = "\n\n".join(block.text for block in above)
    if not summary:
        summary, blocks = front_matter.under_its_heading(blocks)
    return Draft(told or None, summary or None, blocks)


def readable(maths: str) -> str:
    """A piece of LaTeX on one line; as it stands where it cannot be read."""
    try:
        return _flat(_words(maths, {}))
    except (RecursionError, latexwalker.LatexWalkerError, IndexError, ValueError):
        return maths


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace(_SECTION, "").strip()


def _stripped(text: str) -> str:
    """Without comments, code and what is switched off."""
    return _COMMENT.sub(r"\1", _without_code(text.replace(_SECTION, "")))


def _without_code(text: str) -> str:
    """Without what stands between an opening and its end; one that never ends is left alone."""
    kept: list[str] = []
    at, endless = 0, set[str]()
    for found in _UNREAD.finditer(text):
        closing = f"\\end{{{found[1]}}}" if found[1] else "\\fi"
        if found.start() < at or closing in endless:
            continue
        end = text.find(closing, found.end())
        if end < 0:
            endless.add(closing)
            continue
        kept.append(text[at : found.start()])
        at = end + len(closing)
    return "".join([*kept, text[at:]])


def _with_inputs(text: str, folder: Path | None, seen: set[Path], depth: int) -> str:
    """With the files that it draws in, each once; one from outside the folder stays out."""

    def drawn_in(found: re.Match[str]) -> str:
        path = _inside(folder, found[1])
        if path is None or path in seen or depth >= _DEEPEST or len(seen) > 200:
            return "\n"
        seen.add(path)
        try:
            if path.stat().st_size > _LARGEST // 5:
                return "\n"
            inner = decoding.decoded(path.read_bytes(), path.name)
        except (OSError, InputError):
            return "\n"
        return _with_inputs(_stripped(inner), folder, seen, depth + 1)

    return _INPUT.sub(drawn_in, text)


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


def _written_out(text: str, name: str) -> str:
    """With macros that take no arguments replaced by what they stand for."""
    text, macros = _without_definitions(text)
    if not macros:
        return text
    names = "|".join(map(re.escape, sorted(macros, key=len, reverse=True)))
    called = re.compile(rf"\\({names})(?![A-Za-z@])(?:\{{\}})?")
    for _ in range(_DEEPEST):
        size = sum(len(macros[found[1]]) for found in called.finditer(text))
        if not size:
            break
        if len(text) + size > min(_LARGEST, 10 * len(text) + 1_000_000):
            raise InputError(f"{name}: its macros write out too much text; give its PDF or text")
        text = called.sub(lambda found: macros[found[1]], text)
    return text


def _without_definitions(text: str) -> tuple[str, dict[str, str]]:
    """The text without its macros' definitions, and what those without arguments stand for."""
    macros: dict[str, str] = {}
    kept: list[str] = []
    at = 0
    for found in _MACRO.finditer(text):
        end = _closing(text, found.end())
        if found.start() < at or end is None:
            continue
        kept.append(text[at : found.start()])
        if not found[3] and not found[5]:
            macros[found[1] or found[2] or found[4]] = "{" + text[found.end() + 1 : end - 1] + "}"
        at = end
    return "".join([*kept, text[at:]]), macros


def _closing(text: str, start: int) -> int | None:
    """Behind the brace that closes the one at ``start``."""
    depth = 0
    for found in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, start):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return found.end()
    return None


def _argument(text: str, macro: str) -> str | None:
    """What stands in the braces of ``\\macro[...]{...}``, at its first use."""
    for found in re.finditer(rf"\\{macro}\s*(?:\[[^\]]*\])?\s*(?=\{{)", text):
        if (end := _closing(text, found.end())) is not None:
            return text[found.end() + 1 : end - 1]
    return None


def _environment(text: str, name: str) -> str | None:
    found = re.search(rf"\\begin\s*\{{{name}\}}(.*?)\\end\s*\{{{name}\}}", text, re.DOTALL)
    return found[1] if found else None


def _blocks(text: str) -> list[Block]:
    """Paragraphs and headings of text that has no LaTeX left."""
    words = mending.words_of(text.splitlines())
    return mending.flowing(list(_said(re.split(r"\n\s*\n", text))), words)


def _said(paragraphs: Sequence[str]) -> Iterator[Block]:
    for paragraph in paragraphs:
        text = re.sub(r"\s+", " ", mending.plain_signs(paragraph)).strip()
        text = re.sub(r"\s+([,.;:])(?=\s|$)", r"\1", re.sub(r"\(\s*\)|\[\s*\]", "", text))
        if text and any(map(str.isalnum, text)):
            heading = paragraph.lstrip().startswith(_SECTION)
            yield Block(text, heading or headings.part(text) == "references")


def _words(source: str, cited: dict[str, int]) -> str:
    """The source as text, with a mark before every section's name; adds to what is ``cited``."""
    parsing, reading = _known()
    walker = latexwalker.LatexWalker(source, latex_context=parsing, tolerant_parsing=True)
    nodes = walker.get_latex_nodes()[0]
    reader = latex2text.LatexNodes2Text(
        latex_context=reading(cited), math_mode="text", strict_latex_spaces="macros"
    )
    text: str = reader.nodelist_to_text(nodes)
    return text


@cache
def _known() -> tuple[Any, Callable[[dict[str, int]], Any]]:
    """Which arguments each macro takes, and how each is read."""
    parsing = latexwalker.get_default_latex_context_db()
    specs = {
        **_SILENT,
        **_WORDED,
        **dict.fromkeys(_CITING, "*[[{"),
        **dict.fromkeys(_REFERRING, "*{"),
        **dict.fromkeys(_SECTIONS, "*[{"),
        **dict.fromkeys(("paragraph", "subparagraph"), "*{"),
        "url": "{",
        "bibliography": "[{",
        "printbibliography": "[",
        "appendix": "",
    }
    macros = [macrospec.std_macro(macro, arguments) for macro, arguments in specs.items()]
    parsing.add_context_category("papers", prepend=True, macros=macros)

    def reading(cited: dict[str, int]) -> Any:
        db = latex2text.get_default_latex_context_db()
        db.add_context_category(
            "papers", prepend=True, macros=_readings(cited), environments=_environments()
        )
        return db

    return parsing, reading


def _readings(cited: dict[str, int]) -> list[Any]:
    def citation(node: Any) -> str:
        keys = node.nodeargd.argnlist[-1].latex_verbatim().strip("{}").split(",")
        numbers = [cited.setdefault(key.strip(), len(cited) + 1) for key in keys]
        return f"[{', '.join(map(str, numbers))}]"

    def last(node: Any, l2tobj: Any) -> str:
        return str(l2tobj.nodelist_to_text([node.nodeargd.argnlist[-1]]))

    def section(node: Any, l2tobj: Any) -> str:
        return f"\n\n{_SECTION}{_flat(last(node, l2tobj))}\n\n"

    def run_in(node: Any, l2tobj: Any) -> str:
        name = _flat(last(node, l2tobj))
        return f"\n\n{name}{'' if name.endswith(('.', ':', '?')) else '.'} "

    spec = latex2text.MacroTextSpec
    return [
        *(spec(macro, discard=True) for macro in _SILENT),
        *(spec(macro, simplify_repl=citation) for macro in _CITING),
        *(spec(macro, simplify_repl="") for macro in _REFERRING),
        *(spec(macro, simplify_repl=last) for macro in (*_WORDED, "url")),
        *(spec(macro, simplify_repl=section) for macro in _SECTIONS),
        *(spec(macro, simplify_repl=run_in) for macro in ("paragraph", "subparagraph")),
        *(
            spec(macro, simplify_repl=_REFERENCES)
            for macro in ("bibliography", "printbibliography")
        ),
        spec("appendix", simplify_repl=_APPENDIX),
        spec("item", simplify_repl="\n\n"),
        spec("par", simplify_repl="\n\n"),
        spec("newline", simplify_repl=" "),
        spec("\\", simplify_repl=" "),
    ]


def _environments() -> list[Any]:
    spec = latex2text.EnvironmentTextSpec
    return [
        *(spec(name, discard=True) for name in _DROPPED),
        spec("thebibliography", simplify_repl=_REFERENCES),
        *(spec(name, simplify_repl=f"{_APPENDIX}%s") for name in ("appendix", "appendices")),
    ]
