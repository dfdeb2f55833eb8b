"""Take tables, notes and items out of LaTeX prose, and put them back as blocks.

A unique word in the prose keeps the place of each table, note or item.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from dialectree.retrieval.builder import Cell
from dialectree.retrieval.latex_source import pairs

_TABULAR = re.compile(
    r"\\begin\s*\{(?P<name>tabular[*xy]?|longtable|tabulary)\}(?P<inside>.*?)\\end\s*\{(?P=name)\}", re.DOTALL
)
_FLOAT = re.compile(
    r"\\(?:begin|end)\s*\{(?:side)?(?:wrap)?(?:table|figure|threeparttable|landscape)\*?\}"
    r"(?:\[[^\]]*\])?|\\(?:centering|includegraphics(?:\[[^\]]*\])?\{[^{}]*\}|label\{[^{}]*\})"
)
"""The commands around a table or a picture."""
_FLOATS = re.compile(
    r"\\begin\s*\{(?P<name>(?:side)?(?:wrap)?(?:table|figure)\*?)\}.*?\\end\s*\{(?P=name)\}", re.DOTALL
)
_NOTES = re.compile(r"\\(?:footnote|footnotetext|caption|thanks|marginpar)\*?\s*(?:\[[^\]]*\])?(?=\{)")
_WORKS = re.compile(r"\\begin\s*\{thebibliography\}.*?\\end\s*\{thebibliography\}", re.DOTALL)
_BIBITEM = re.compile(r"\\bibitem\s*(?:\[[^\]]*\])?\{[^{}]*\}")
_LIST_END = re.compile(r"\\end\s*\{(?:itemize|enumerate|description)\}")
_ITEM = re.compile(r"\\item\b\s*(?:\[(?P<name>[^\]]*)\])?")
_RULE = re.compile(
    r"\\(?:toprule|midrule|bottomrule|hline|addlinespace|endhead|endfirsthead|endfoot|endlastfoot)\b"
    r"(?:\[[^\]]*\])?|\\c(?:mid)?(?:rule|line)(?:\([^)]*\))?\{[^}]*\}"
)
_HEAD_ENDS = re.compile(r"\\(?:midrule|hline|endhead|endfirsthead)\b")
_SPAN = re.compile(r"\\multicolumn\s*\{(\d{1,3})\}\s*\{[^{}]*\}\s*\{(.*)\}\s*$", re.DOTALL)
_ROWS = re.compile(
    r"\\multirow\s*(?:\[[^\]]*\])?\{[^{}]*\}(?:\[[^\]]*\])?\s*\{[^{}]*\}(?:\[[^\]]*\])?\s*\{(.*)\}\s*$",
    re.DOTALL,
)
_LINE = re.compile(r"\\\\\*?\s*(?:\[[^\]]*\])?|\\tabularnewline\b")
_CELL = re.compile(r"(?<!\\)&")
_RAISED = re.compile(r"\\textsuperscript\s*\{([^{}]*)\}")
_ORDINAL = re.compile(r"st|nd|rd|th|er?|o|a|TM")
_GAP = re.compile(r"\n\s*\n")


class LatexPart(NamedTuple):
    """A note, a table or the name of an item, in LaTeX."""

    kind: Literal["note", "table", "item"]
    source: str


class TakenParts:
    """The parts taken out of a body; a unique word keeps the place of each."""

    def __init__(self, body: str) -> None:
        self._word = "QQPART"
        while self._word in body:
            self._word += "Q"
        self._parts: list[LatexPart] = []

    def leave(self, kind: Literal["note", "table", "item"], source: str) -> str:
        """Keep a part, and return the text that takes its place in the body."""
        self._parts.append(LatexPart(kind, source))
        end = " " if kind == "item" else ".\n\n"  # an item's text follows it
        return f"\n\n{self._word}{len(self._parts) - 1}{end}"

    def find(self, text: str) -> tuple[LatexPart, str] | None:
        """Return the part whose unique word opens ``text``, and the text after this word; or None."""
        match = re.match(rf"{self._word}(\d+)\.?\s*", text)
        return (self._parts[int(match[1])], text[match.end() :]) if match else None


def write_superscripts(source: str) -> str:
    """Write ``\\textsuperscript{5}`` as "^5", so that 10⁵ does not become 105."""

    def format_match(match: re.Match[str]) -> str:
        plain = _ORDINAL.fullmatch(match[1].strip())
        return match[1] if plain else f"\\textasciicircum{{}}{match[1]}"

    return _RAISED.sub(format_match, source)


def remove_floats(body: str) -> str:
    """Return a body without its figures and tables."""
    return _FLOATS.sub(" ", body)


def take_parts(body: str, references: str) -> tuple[str, TakenParts]:
    """Return a body with a word in the place of each table, note and item, and these parts.

    ``references`` is put into the body as the heading of a list of works.
    """
    parts = TakenParts(body)

    def works(match: re.Match[str]) -> str:
        items = _BIBITEM.split(match[0].partition("}")[2].rpartition("\\end")[0])[1:]
        return "".join([references, *(parts.leave("note", item) for item in items)])

    body = _LIST_END.sub(r"\g<0>\n\n", _FLOAT.sub("\n\n", _WORKS.sub(works, body)))
    body = _TABULAR.sub(lambda match: parts.leave("table", match["inside"]), body)
    body = _take_arguments(body, lambda content: parts.leave("note", content))
    return _ITEM.sub(lambda match: parts.leave("item", match["name"] or ""), body), parts


def _take_arguments(text: str, leave: Callable[[str], str]) -> str:
    """Take out the arguments of notes and captions, including those nested in them."""
    closed = pairs(text)
    pieces: list[str] = []
    notes: list[str] = []
    at = 0
    for match in _NOTES.finditer(text):
        end = closed.get(match.end(), 0)
        if match.start() < at or not end:
            continue
        pieces.append(text[at : match.start()])
        content = text[match.end() + 1 : end - 1]
        if match[0].startswith("\\caption"):
            pieces.append(leave(content))
        else:
            notes.append(content)
        at = end
        # A note goes below its paragraph: in the middle it would split a sentence.
        gap = _GAP.search(text, at)
        following = _NOTES.search(text, at)
        if gap and (following is None or following.start() > gap.start()):
            pieces.append(text[at : gap.start()])
            pieces += map(leave, notes)
            notes, at = [], gap.start()
    return "".join([*pieces, text[at:], *map(leave, notes)])


def read_table(source: str, read: Callable[[str], str]) -> tuple[list[list[Cell]], int | None]:
    """Return the rows of a tabular, and the number of head rows; ``read`` reads a cell."""
    closed = pairs(source)
    at = 0
    while at < len(source) and source[at] in "{[ \n":  # its width and its columns
        if source[at] == "{":
            at = closed.get(at, len(source))
        elif source[at] == "[":
            at = source.find("]", at) + 1 or len(source)
        else:
            at += 1
    lines = _LINE.split(source[at:])
    rows = [[*_cells(_RULE.sub(" ", line), read)] for line in lines]
    heads = next((n for n, line in enumerate(lines) if n and _HEAD_ENDS.search(line)), 0)
    filled = [row for row in rows if any(cell.text for cell in row)]
    head_rows = sum(any(cell.text for cell in row) for row in rows[:heads])
    return filled, head_rows if 0 < head_rows < len(filled) and head_rows < 4 else None


def _cells(line: str, read: Callable[[str], str]) -> Iterator[Cell]:
    for source in _CELL.split(line):
        source = source.strip()
        span = 1
        if match := _SPAN.match(source):
            span, source = max(1, int(match[1])), match[2]
        if match := _ROWS.match(source):
            source = match[1]
        text = read(source) if source else ""
        for number in range(span):
            yield Cell(text, repeated=number > 0)
