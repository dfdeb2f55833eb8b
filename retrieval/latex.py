"""Read LaTeX: title, abstract, sections and sentences, with tables, notes and captions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pylatexenc import latex2text, latexwalker, macrospec

from dialectree.errors import InputError
from dialectree.retrieval import blocks, latex_source, sections
from dialectree.retrieval.blocks import Block, timely
from dialectree.retrieval.builder import DocumentBuilder
from dialectree.retrieval.latex_parts import (
    TakenParts,
    read_table,
    remove_floats,
    take_parts,
    write_superscripts,
)

_SECTION = "\x01"
"""Marks a paragraph as a heading; the source itself is read without this character."""
_REFERENCES = f"\n\n{_SECTION}References\n\n"
_APPENDIX = f"\n\n{_SECTION}Appendix\n\n"

_DROPPED = (
    *("tabular", "tabular*", "tabularx"),
    *("acknowledgments", "acknowledgements", "keywords", "keyword", "IEEEkeywords"),
)


_MACROS = (
    # the way to read them, their arguments as pylatexenc writes them, their names
    ("silent", "", "vskip maketitle tableofcontents xspace today"),
    ("silent", "{", "nocite linespread phantom hypersetup pagenumbering IfFileExists"),
    ("silent", "{{", "newcommand renewcommand setlength addtolength fontsize captionof"),
    ("silent", "{{", "numberwithin"),
    ("silent", "{{{", "addcontentsline"),
    ("silent", "[", "footnotemark"),
    ("silent", "[{", "footnote footnotetext thanks label keywords email affiliation affil author"),
    ("silent", "[{", "date marginpar todo index pagestyle title thispagestyle ccsdesc institute"),
    ("silent", "[{", "address orcid subtitle usepackage documentclass setcounter definecolor"),
    ("silent", "[{", "graphicspath cellcolor rowcolor captionsetup"),
    ("silent", "[{{", "rule pdfbookmark"),
    ("silent", "*{", "tag ref eqref autoref cref Cref pageref nameref vref subref"),
    ("silent", "*{{", "crefrange Crefrange"),
    ("silent", "*[{", "bibliographystyle includegraphics caption vspace hspace"),
    ("cited", "*[[{", "cite citep citet citealt citealp citeauthor citeyear citeyearpar"),
    ("cited", "*[[{", "parencite textcite autocite footcite Citet Citep citenum fullcite"),
    ("cited", "*[[{", "Citealt Citealp Citeauthor Parencite Textcite Autocite supercite"),
    ("worded", "{", "texttt textsf textup textmd mbox url"),
    ("worded", "{{", "foreignlanguage texorpdfstring hypertarget hyperlink"),
    ("worded", "[{", "hyperref num ang"),
    ("worded", "[{{", "href textcolor colorbox rotatebox"),
    ("worded", "[[{", "makebox framebox"),
    ("worded", "[[[{{", "parbox"),
    ("worded", "[", "twocolumn"),
    ("worded", "*{", "operatorname"),
    ("worded", "*{{{", "resizebox"),
    ("worded", "{[{", "scalebox"),
    ("worded", "{[[{", "raisebox"),
    ("quantity", "[{[{", "SI SIlist"),
    ("quantity", "[{{", "qty qtylist"),
    ("quantity", "[{{{", "SIrange qtyrange"),
    ("quantity", "[{", "si unit"),
    ("section", "*[{", "part chapter section subsection subsubsection addpart addchap addsec"),
    ("section", "*[{", "minisec"),
    ("run_in", "*{", "paragraph subparagraph"),
    ("joined", "[{{", "numrange"),
    ("joined", "{{", "dfrac tfrac cfrac"),
    ("references", "[{", "bibliography bibitem"),
    ("references", "[", "printbibliography"),
    ("appendix", "", "appendix"),
    ("frame", "{", "multicols spacing"),
    ("frame", "{{", "adjustwidth"),
    ("frame", "[", "tcolorbox mdframed"),
    ("frame", "[[[{", "minipage"),
)
"""Macros, and environments whose arguments are not text (``frame``), each with its way of reading."""


def _list_macros(*readings: str) -> set[str]:
    """Return the macros to read in one of these ways."""
    return {name for how, _, names in _MACROS if how in readings for name in names.split()}


_KEPT = {
    *_list_macros("cited", "section"),
    *("ref", "eqref", "autoref", "cref", "Cref", "pageref", "nameref", "vref", "subref"),
    *("begin", "end", "item", "par", "paragraph", "subparagraph", "url", "href", "title"),
    *("abstract", "maketitle", "input", "include", "texttt", "left", "right"),
}
"""Macros that keep their meaning even if a paper defines them."""
_ABSTRACT = re.compile(
    r"\\begin\s*\{(?P<name>(?:onecol|sci)?[Aa]bstracts?\*?)\}(?P<content>.*?)"
    r"\\end\s*\{(?P=name)\}",
    re.DOTALL,
)
_BEGIN = re.compile(r"\\begin\s*\{document\}")
_END = re.compile(r"\\end\s*\{document\}")
_BIBITEM = re.compile(r"\\bibitem\s*(?:\[[^\]]{0,500}\]\s*)?\{([^{}]*)\}")
_WITHOUT_WORDS = re.compile(
    r"(?<!\\)%[^\n]*|\\begin\s*\{(?:tabular[*xy]?|longtable|thebibliography)\}(?:\{[^{}]*\}){1,2}"
    r"|\\multi(?:column|row)\s*\{[^{}]*\}\s*\{[^{}]*\}"
    r"|\\[Cc]ite[a-z]*\*?(?:\[[^\]]*\]){0,2}\{[^{}]*\}|\\bibitem(?:\[[^\]]*\])?\{[^{}]*\}"
    r"|\\(?:begin|end|label|ref|eqref|cref|input|include|includegraphics|bibliography"
    r"|bibliographystyle|vspace|hspace)\*?\s*(?:\[[^\]]*\])?\{[^{}]*\}|\\[A-Za-z@]+\*?"
)
"""Comments, and commands that print no word."""
_UNREADABLE = (RecursionError, latexwalker.LatexWalkerError, IndexError, ValueError)
"""Errors of pylatexenc for text that is not LaTeX."""


def read_latex(text: str, builder: DocumentBuilder, name: str, folder: Path | None) -> None:
    """Add a LaTeX file to ``builder``, with the files that it includes from ``folder`` and below.

    Raises InputError if the file cannot be read, or if its body includes a file that is missing.
    Notices name missing files that other parts include.
    """
    raised = write_superscripts(text.replace(_SECTION, ""))
    source = latex_source.inline_input_files(raised, name, folder)
    source, macros = latex_source.definitions(source)
    paper_macros = {macro: macros[macro] for macro in macros.keys() - _KEPT}
    paper_macros |= {
        macro: paper_macros[macro]._replace(body="") for macro in paper_macros.keys() & _list_macros("silent")
    }
    expanded = latex_source.expander(name, paper_macros)
    preamble, body, rest = _parts(source, name)
    body = expanded(body)
    for file in latex_source.missing(remove_floats(body)):
        raise InputError(
            f"{name}: it includes {file}, which is not a .tex file in its folder or is too large; "
            "put it there, or give the paper's PDF"
        )
    builder.notices += [
        f"it includes {file} outside of its sentences, but the file is missing"
        for file in latex_source.missing(preamble + body + rest)
    ]
    title = expanded(_argument(source, "title"))
    abstract = _environment(body) or expanded(_environment(preamble))
    command = expanded(_argument(source, "[Aa]bstracts?"))
    body = _ABSTRACT.sub("\n\n", latex_source.without_inputs(body))
    body, parts = take_parts(body, _REFERENCES)
    cited = {key: number for number, key in enumerate(dict.fromkeys(_BIBITEM.findall(source)), 1)}
    try:
        builder.title = _flat(_words(title, cited)) or None
        above = _blocks(_words(abstract, cited))
        own_blocks = _blocks(_words(body, cited))
        above = above or _blocks(_words(command, cited))
    except InputError:
        raise
    except _UNREADABLE as error:
        raise InputError(f"{name}: LaTeX that cannot be read; give its PDF or text") from error
    builder.abstract = "\n\n".join(block.text for block in above) or None
    builder.add(builder.title or "", "heading")
    for block in above:
        builder.add(block.text)
    for block in own_blocks:
        _add_block(block, parts, builder)
    printed = _WITHOUT_WORDS.sub(" ", _parts(text, name)[1])
    builder.leave_out_missing(printed, "arguments of commands")


def _add_block(block: Block, parts: TakenParts, builder: DocumentBuilder) -> None:
    """Add a block. If it only keeps the place of a table, note or item, add that part instead."""
    part_match = parts.find(block.text)
    if part_match is None:
        builder.add(block.text, block.kind)
        return
    part, behind = part_match
    if part.kind == "table":
        builder.add_table(*read_table(part.source, readable))
        return
    text = readable(part.source)
    is_mark = part.kind == "item" and not any(map(str.isalnum, text))
    builder.add(behind if is_mark else f"{text} {behind}", part.kind)


def _parts(source: str, name: str) -> tuple[str, str, str]:
    """Return the text before, inside and after the document environment."""
    begin = _BEGIN.search(source)
    end = _END.search(source, begin.end() if begin else 0)
    if begin and not end:
        raise InputError(f"{name}: LaTeX that is cut short, with no \\end{{document}}; save it again")
    opens, starts = (begin.start(), begin.end()) if begin else (0, 0)
    stops, closes = (end.start(), end.end()) if end else (len(source), len(source))
    return source[:opens], source[starts:stops], source[closes:]


def readable(maths: str) -> str:
    """Return a piece of LaTeX as text on one line, or unchanged if it cannot be read."""
    try:
        return _flat(_words(maths, {}))
    except _UNREADABLE:
        return maths


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace(_SECTION, "").replace("ˆ", "^").strip()


def _argument(text: str, macro: str) -> str:
    """Return the text in the braces of ``\\macro[...]{...}``, at its first use."""
    pairs = latex_source.pairs(text)
    for match in re.finditer(rf"\\{macro}\s*(?:\[[^\]]{{0,1000}}\])?\s*(?=\{{)", text):
        if match.end() in pairs:
            return text[match.end() + 1 : pairs[match.end()] - 1]
    return ""


def _environment(text: str) -> str:
    match = _ABSTRACT.search(text)
    return match["content"] if match else ""


def _blocks(text: str) -> list[Block]:
    """Return the paragraphs and headings of text already free of LaTeX."""
    words = blocks.words_of(text.splitlines())
    return blocks.flowing(list(_paragraphs(text)), words)


def _paragraphs(full_text: str) -> Iterator[Block]:
    for paragraph in timely(re.split(r"\n\s*\n", full_text)):
        text = re.sub(r"\s+", " ", blocks.plain_signs(paragraph)).strip().replace("ˆ", "^")
        text = re.sub(r"\(\s*\)|\[\s*\]", "", text)
        text = re.sub(r"(?<=\w\.)\s+\.(?=\s|$)(?!\s\.)", "", text)  # "Fig. ." of a reference
        text = re.sub(r"\s+([,.;:](?=\s|$)|[)。，；：）])", r"\1", text)
        if any(map(str.isalnum, text)):
            heading = paragraph.lstrip().startswith(_SECTION)
            opens_part = sections.part(text) in ("abstract", "references")
            yield Block(text, "heading" if heading or opens_part else "paragraph")


def _words(source: str, cited: dict[str, int]) -> str:
    """Return the source as text, with a mark before each heading; number new citations."""
    source = re.sub(r"(?<=\d)\}\{(?=\d)", "} {", source)  # keeps two numbers apart
    walker = latexwalker.LatexWalker(source, latex_context=_parsing(), tolerant_parsing=True)
    nodes = walker.get_latex_nodes()[0]
    reading = latex2text.get_default_latex_context_db()
    reading.add_context_category(
        "papers", prepend=True, macros=_readings(cited), environments=_environments()
    )
    reader = latex2text.LatexNodes2Text(latex_context=reading, math_mode="text", strict_latex_spaces="macros")
    return latex_source.restore_hidden_signs(reader.nodelist_to_text(nodes))


@cache
def _parsing() -> Any:
    """Return which arguments each macro takes."""
    db = latexwalker.get_default_latex_context_db()
    specs: dict[bool, list[Any]] = {True: [], False: []}
    for how, arguments, names in _MACROS:
        make = macrospec.std_environment if how == "frame" else macrospec.std_macro
        specs[how == "frame"] += [make(name, arguments) for name in names.split()]
    db.add_context_category("papers", prepend=True, macros=specs[False], environments=specs[True])
    return db


def _readings(cited: dict[str, int]) -> list[Any]:
    """Return how each macro is read."""

    def arguments(node: Any) -> list[Any]:
        nodes = node.nodeargd.argnlist if node.nodeargd else []
        return [argument for argument in nodes if argument is not None]

    def citation(node: Any) -> str:
        keys = "".join(argument.latex_verbatim() for argument in arguments(node)[-1:]).strip("{}").split(",")
        numbers = [cited.setdefault(key.strip(), len(cited) + 1) for key in keys]
        return f"[{', '.join(map(str, numbers))}]"

    def last(node: Any, l2tobj: Any) -> str:
        return str(l2tobj.nodelist_to_text(arguments(node)[-1:]))

    def join_arguments(node: Any, l2tobj: Any) -> str:
        sign = " to " if node.macroname == "numrange" else "/"
        return sign.join(l2tobj.nodelist_to_text([argument]).strip() for argument in arguments(node))

    def quantity(node: Any) -> str:
        groups = [argument.latex_verbatim() for argument in arguments(node)]
        *numbers, unit = [group[1:-1].strip() for group in groups if group.startswith("{")]
        unit = re.sub(r"[{}~\\]", "", re.sub(r"\\per(?![A-Za-z])", " per ", unit))
        return f"{' to '.join(numbers)} {unit}"

    def section(node: Any, l2tobj: Any) -> str:
        return f"\n\n{_SECTION}{_flat(last(node, l2tobj))}\n\n"

    def run_in(node: Any, l2tobj: Any) -> str:
        name = _flat(last(node, l2tobj))
        return f"\n\n{name}{'' if name.endswith(('.', ':', '?')) else '.'} "

    def item(node: Any, l2tobj: Any) -> str:
        label = _flat(last(node, l2tobj))
        return f"\n\n{label} " if any(map(str.isalnum, label)) else "\n\n"

    readings: dict[str, Any] = {
        "silent": "",
        "cited": citation,
        "worded": last,
        "quantity": quantity,
        "joined": join_arguments,
        "section": section,
        "run_in": run_in,
        "references": _REFERENCES,
        "appendix": _APPENDIX,
    }
    macro_readings = [(name, readings[how]) for how in readings for name in _list_macros(how)]
    macro_readings += [("item", item), ("par", "\n\n"), ("newline", " "), ("\\", " ")]
    macro_readings += [(name, name) for name in ("TeX", "LaTeX")]
    return [latex2text.MacroTextSpec(name, simplify_repl=reading) for name, reading in macro_readings]


def _environments() -> list[Any]:
    spec = latex2text.EnvironmentTextSpec
    return [
        *(spec(name, discard=True) for name in _DROPPED),
        spec("thebibliography", simplify_repl=_REFERENCES),
        spec("center", simplify_repl="\n\n%s\n\n"),
        *(spec(name, simplify_repl=f"{_APPENDIX}%s") for name in ("appendix", "appendices")),
    ]
