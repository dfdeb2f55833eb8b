"""LaTeX: title, abstract, sections and sentences; figures, tables and notes are left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pylatexenc import latex2text, latexwalker, macrospec

from dialectree.errors import InputError
from dialectree.retrieval import front_matter, headings, latex_macros, latex_source, mending
from dialectree.retrieval.drafts import Block, Draft

_SECTION = "\x01"
"""Begins a paragraph that is a heading; removed from the source itself."""
_REFERENCES = f"\n\n{_SECTION}References\n\n"
_APPENDIX = f"\n\n{_SECTION}Appendix\n\n"

_DROPPED = (
    *("tabular", "tabular*", "tabularx"),
    *("acknowledgments", "acknowledgements", "keywords", "keyword", "IEEEkeywords"),
)


def _arguments(table: dict[str, str]) -> dict[str, str]:
    """Return the arguments of each macro; the table lists macros by their arguments."""
    return {macro: arguments for arguments, macros in table.items() for macro in macros.split()}


_SILENT = _arguments(  # these say nothing to a reader
    {
        "": "vskip maketitle tableofcontents xspace today",
        "{": "nocite linespread phantom hypersetup pagenumbering IfFileExists",
        "{{": "newcommand renewcommand setlength addtolength fontsize captionof numberwithin",
        "{{{": "addcontentsline",
        "[": "footnotemark",
        "[{": "footnote footnotetext thanks label keywords email affiliation affil author date"
        " marginpar todo index pagestyle title thispagestyle ccsdesc institute address orcid"
        " subtitle usepackage documentclass setcounter definecolor graphicspath cellcolor rowcolor"
        " captionsetup",
        "[{{": "rule pdfbookmark",
        "*{": "tag",
        "*{{": "crefrange Crefrange",
        "*[{": "bibliographystyle includegraphics caption vspace hspace",
    }
)
_CITING = _arguments(
    {
        "*[[{": "cite citep citet citealt citealp citeauthor citeyear citeyearpar parencite"
        " textcite autocite footcite Citet Citep citenum fullcite Citealt Citealp Citeauthor"
        " Parencite Textcite Autocite supercite"
    }
)
_REFERRING = _arguments({"*{": "ref eqref autoref cref Cref pageref nameref vref subref"})
_WORDED = _arguments(  # the last of their arguments is read
    {
        "{": "texttt textsf textup textmd mbox",
        "{{": "foreignlanguage texorpdfstring hypertarget hyperlink",
        "[{": "hyperref num ang",
        "[{{": "href textcolor colorbox rotatebox",
        "[[{": "makebox framebox",
        "[[[{{": "parbox",
        "[": "twocolumn",
        "*{": "operatorname",
        "*{{{": "resizebox",
        "{[{": "scalebox",
        "{[[{": "raisebox",
    }
)
_QUANTITIES = _arguments(  # the last of their arguments is a unit
    {"[{[{": "SI SIlist", "[{{": "qty qtylist", "[{{{": "SIrange qtyrange", "[{": "si unit"}
)
_DIVIDED = ("dfrac", "tfrac", "cfrac")
_FRAMED = _arguments(  # environments whose arguments say nothing
    {"{": "multicols spacing", "{{": "adjustwidth", "[": "tcolorbox mdframed", "[[[{": "minipage"}
)
_STRUCTURE = (
    *("begin", "end", "item", "par", "paragraph", "subparagraph", "url", "href", "title"),
    *("abstract", "maketitle", "input", "include", "texttt", "left", "right"),
)
_SECTIONS = (
    *("part", "chapter", "section", "subsection", "subsubsection"),
    *("addpart", "addchap", "addsec", "minisec"),
)
_KEPT = {*_CITING, *_REFERRING, *_SECTIONS, *_STRUCTURE}
"""Macros whose meaning no definition in a paper changes."""
_ABSTRACTS = r"(?:onecol|sci)?[Aa]bstracts?\*?"
"""Environments whose text is the abstract."""
_BEGIN = re.compile(r"\\begin\s*\{document\}")
_END = re.compile(r"\\end\s*\{document\}")
_BIBITEM = re.compile(r"\\bibitem\s*(?:\[[^\]]{0,500}\]\s*)?\{([^{}]*)\}")


def draft(text: str, *, name: str, folder: Path | None = None) -> Draft:
    """Return what a LaTeX source says; it draws in files from `folder` and below.

    Raises InputError where it cannot be read, and where a file of its body is not there; the
    draft's `notices` name the other files that are missing.
    """
    files = latex_source.Folder(folder)
    text, macros = latex_macros.definitions(files.whole(text.replace(_SECTION, ""), name))
    own = {macro: macros[macro] for macro in macros.keys() - _KEPT}
    own |= {macro: replace(own[macro], body="") for macro in own.keys() & _SILENT.keys()}
    expander = latex_macros.Expander(name, own)
    preamble, begun, body = _parted(_BEGIN, text)
    if not begun:
        preamble, body = "", text
    body, ended, after = _parted(_END, body)
    if begun and not ended:
        raise InputError(
            f"{name}: LaTeX that is cut short, with no \\end{{document}}; save it again"
        )
    body = expander.expanded(body)
    files.check(body, name)
    notices = [
        f"it draws in {file} outside of its body, which is not there"
        for file in latex_source.missing(preamble + after)
    ]
    title = expander.expanded(_argument(text, "title") or "")
    abstract = _environment(body, _ABSTRACTS) or expander.expanded(
        _environment(preamble, _ABSTRACTS) or ""
    )
    body = latex_source.without_inputs(body)
    body = re.sub(_environed(_ABSTRACTS), "\n\n", body, flags=re.DOTALL)
    try:
        cited = {key: n for n, key in enumerate(dict.fromkeys(_BIBITEM.findall(text)), 1)}
        title = _flat(_words(title, cited))
        above = _blocks(_words(abstract, cited)) if abstract else []
        blocks = _blocks(_words(body, cited))
        if not above and (preceding := _argument(text, "[Aa]bstracts?")):
            above = _blocks(_words(expander.expanded(preceding), cited))
    except (RecursionError, latexwalker.LatexWalkerError, IndexError, ValueError) as error:
        raise InputError(f"{name}: LaTeX that cannot be read; give its PDF or text") from error
    summary: str | None = "\n\n".join(block.text for block in above)
    if not summary:
        summary, blocks = front_matter.under_its_heading(blocks)
    return Draft(title or None, summary or None, blocks, notices=notices)


def _parted(boundary: re.Pattern[str], text: str) -> tuple[str, bool, str]:
    """Return what stands before a boundary, whether there is one, and what stands after it."""
    found = boundary.search(text)
    return (text[: found.start()], True, text[found.end() :]) if found else (text, False, "")


def readable(maths: str) -> str:
    """Return a piece of LaTeX as text on one line, or as it is where it cannot be read."""
    try:
        return _flat(_words(maths, {}))
    except (RecursionError, latexwalker.LatexWalkerError, IndexError, ValueError):
        return maths


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace(_SECTION, "").strip()


def _argument(text: str, macro: str) -> str | None:
    """Return what stands in the braces of ``\\macro[...]{...}``, at its first use."""
    pairs = latex_macros.pairs(text)
    for found in re.finditer(rf"\\{macro}\s*(?:\[[^\]]{{0,1000}}\])?\s*(?=\{{)", text):
        if found.end() in pairs:
            return text[found.end() + 1 : pairs[found.end()] - 1]
    return None


def _environment(text: str, name: str) -> str | None:
    found = re.search(_environed(name), text, re.DOTALL)
    return found["content"] if found else None


def _environed(name: str) -> str:
    return rf"\\begin\s*\{{(?P<name>{name})\}}(?P<content>.*?)\\end\s*\{{(?P=name)\}}"


def _blocks(text: str) -> list[Block]:
    """Return the paragraphs and headings of text that has no LaTeX left."""
    words = mending.words_of(text.splitlines())
    return mending.flowing(list(_paragraphs(re.split(r"\n\s*\n", text))), words)


def _paragraphs(paragraphs: Sequence[str]) -> Iterator[Block]:
    for paragraph in paragraphs:
        text = re.sub(r"\s+", " ", mending.plain_signs(paragraph)).strip()
        text = re.sub(r"\(\s*\)|\[\s*\]", "", text)
        text = re.sub(r"(?<=\w\.)\s+\.(?=\s|$)(?!\s\.)", "", text)  # "Fig. ." of a reference
        text = re.sub(r"\s+([,.;:](?=\s|$)|[)。，；：）])", r"\1", text)
        if text and any(map(str.isalnum, text)):
            heading = paragraph.lstrip().startswith(_SECTION)
            yield Block(text, heading or headings.part(text) in ("abstract", "references"))


def _words(source: str, cited: dict[str, int]) -> str:
    """Return the source as text, with a mark before each heading; number new citations."""
    parsing, reading = _known()
    source = re.sub(r"(?<=\d)\}\{(?=\d)", "} {", source)  # or two numbers become one
    walker = latexwalker.LatexWalker(source, latex_context=parsing, tolerant_parsing=True)
    nodes = walker.get_latex_nodes()[0]
    reader = latex2text.LatexNodes2Text(
        latex_context=reading(cited), math_mode="text", strict_latex_spaces="macros"
    )
    text: str = reader.nodelist_to_text(nodes)
    return text


@cache
def _known() -> tuple[Any, Callable[[dict[str, int]], Any]]:
    """Return which arguments each macro takes, and how each is read."""
    parsing = latexwalker.get_default_latex_context_db()
    specs = {
        **_SILENT,
        **_WORDED,
        **_QUANTITIES,
        "numrange": "[{{",
        **dict.fromkeys(_DIVIDED, "{{"),
        **_CITING,
        **_REFERRING,
        **dict.fromkeys(_SECTIONS, "*[{"),
        **dict.fromkeys(("paragraph", "subparagraph"), "*{"),
        "url": "{",
        "bibliography": "[{",
        "printbibliography": "[",
        "bibitem": "[{",
        "appendix": "",
    }
    macros = [macrospec.std_macro(macro, takes) for macro, takes in specs.items()]
    framed = [macrospec.std_environment(name, takes) for name, takes in _FRAMED.items()]
    parsing.add_context_category("papers", prepend=True, macros=macros, environments=framed)

    def reading(cited: dict[str, int]) -> Any:
        db = latex2text.get_default_latex_context_db()
        db.add_context_category(
            "papers", prepend=True, macros=_readings(cited), environments=_environments()
        )
        return db

    return parsing, reading


def _readings(cited: dict[str, int]) -> list[Any]:
    def arguments(node: Any) -> list[Any]:
        every = node.nodeargd.argnlist if node.nodeargd else []
        return [one for one in every if one is not None]

    def citation(node: Any) -> str:
        keys = "".join(one.latex_verbatim() for one in arguments(node)[-1:]).strip("{}").split(",")
        numbers = [cited.setdefault(key.strip(), len(cited) + 1) for key in keys]
        return f"[{', '.join(map(str, numbers))}]"

    def last(node: Any, l2tobj: Any) -> str:
        return str(l2tobj.nodelist_to_text(arguments(node)[-1:]))

    def quantity(node: Any) -> str:
        groups = [one.latex_verbatim() for one in arguments(node)]
        *numbers, unit = [one[1:-1].strip() for one in groups if one.startswith("{")]
        unit = re.sub(r"\\(?![A-Za-z])|[{}~]", "", re.sub(r"\\per(?![A-Za-z])", " per ", unit))
        return f"{' to '.join(numbers)} {unit.replace(chr(92), '')}"

    def numbers(node: Any, l2tobj: Any) -> str:
        return " to ".join(l2tobj.nodelist_to_text([one]) for one in arguments(node))

    def divided(node: Any, l2tobj: Any) -> str:
        return "/".join(l2tobj.nodelist_to_text([one]).strip() for one in arguments(node))

    def section(node: Any, l2tobj: Any) -> str:
        return f"\n\n{_SECTION}{_flat(last(node, l2tobj))}\n\n"

    def run_in(node: Any, l2tobj: Any) -> str:
        name = _flat(last(node, l2tobj))
        return f"\n\n{name}{'' if name.endswith(('.', ':', '?')) else '.'} "

    def item(node: Any, l2tobj: Any) -> str:
        label = _flat(last(node, l2tobj))
        return f"\n\n{label} " if any(map(str.isalnum, label)) else "\n\n"

    spec = latex2text.MacroTextSpec
    return [
        *(spec(macro, discard=True) for macro in _SILENT),
        *(spec(macro, simplify_repl=citation) for macro in _CITING),
        *(spec(macro, simplify_repl="") for macro in _REFERRING),
        *(spec(macro, simplify_repl=last) for macro in (*_WORDED, "url")),
        *(spec(macro, simplify_repl=quantity) for macro in _QUANTITIES),
        spec("numrange", simplify_repl=numbers),
        *(spec(macro, simplify_repl=divided) for macro in _DIVIDED),
        *(spec(macro, simplify_repl=section) for macro in _SECTIONS),
        *(spec(macro, simplify_repl=run_in) for macro in ("paragraph", "subparagraph")),
        *(
            spec(macro, simplify_repl=_REFERENCES)
            for macro in ("bibliography", "printbibliography", "bibitem")
        ),
        spec("appendix", simplify_repl=_APPENDIX),
        *(spec(macro, simplify_repl=macro) for macro in ("TeX", "LaTeX")),
        spec("item", simplify_repl=item),
        spec("par", simplify_repl="\n\n"),
        spec("newline", simplify_repl=" "),
        spec("\\", simplify_repl=" "),
    ]


def _environments() -> list[Any]:
    spec = latex2text.EnvironmentTextSpec
    return [
        *(spec(name, discard=True) for name in _DROPPED),
        spec("thebibliography", simplify_repl=_REFERENCES),
        spec("center", simplify_repl="\n\n%s\n\n"),
        *(spec(name, simplify_repl=f"{_APPENDIX}%s") for name in ("appendix", "appendices")),
    ]
