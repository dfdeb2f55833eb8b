"""Read web pages and Markdown: each text is a block, or is left out with a reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from html import escape
from itertools import chain
from typing import Any

import lxml.html
import yaml
from lxml.html import HtmlElement

from dialectree.retrieval.blocks import BlockKind
from dialectree.retrieval.builder import Cell, DocumentBuilder, add_brackets, lower_text, raise_text
from dialectree.retrieval.text import sound

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_ITEMS = ("li", "dt", "dd")
_NOTES = ("figcaption", "caption", "footer", "aside", "small")
_CONTAINERS = """
html body div section article main header hgroup ul ol dl figure blockquote pre p table thead tbody
tfoot tr td th form fieldset legend details summary address hr center dialog search menu option
iframe object video audio canvas
"""
_BOXES = frozenset([*_CONTAINERS.split(), *_HEADINGS, *_ITEMS, *_NOTES]) - {"small"}
"""Elements that begin on a new line, and end their line."""
_LEFT_OUT = {
    "script": "scripts",
    "style": "scripts",
    "noscript": "scripts",
    "template": "hidden",
    "nav": "navigation",
    "del": "struck",
    "s": "struck",
    "strike": "struck",
    "annotation": "sources of formulas",
    "annotation-xml": "sources of formulas",
}
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    r"|(?:opacity|font-size)\s*:\s*0(?:\.0+)?(?:px|em|%)?\s*(?:;|$|!)",
    re.IGNORECASE,
)
_STRIKING = re.compile(r"text-decoration[\w-]*\s*:[^;]*line-through", re.IGNORECASE)
_RAISING = re.compile(r"vertical-align\s*:\s*(?:super|text-top)", re.IGNORECASE)
_LOWERING = re.compile(r"vertical-align\s*:\s*sub\b", re.IGNORECASE)
_STYLE_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_STYLE_BLOCK = re.compile(r"/\*.*?\*/|@[^{};]+\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", re.DOTALL)
_SELECTOR = re.compile(r"[.#][\w-]+")
_APART = ("title", "desc", "text")
"""Elements of drawings whose text is separate from the text around it."""
_TEXTS = "//text()[not(ancestor::script or ancestor::style or parent::title/parent::head)]"
_MARKS_LEFT_OUT = {
    "citations": re.compile(
        r"\s?\[(?:[^\[\]@]{0,200}[\s-])?@[^\W\d_][^\[\]]{0,500}\]"  # [see @doe2020, p. 2]
        r"|\s?\\[cC]ite[a-z]*\*?(?:\[[^\[\]]*\]){0,2}\{[^{}]*\}"
    ),
    "marks of the layout": re.compile(
        r"\[\^[^\[\]]{1,200}\]"  # a note without a text
        r"|^\\[A-Za-z]+\*?(?:\{[^{}]*\})*$"  # a command for the layout: \newpage
        r"|\s*\{[#.][A-Za-z][^{}]*\}"  # the name of the part before it: {#sec:a}
    ),
}
"""Patterns of text that Pandoc replaces or drops, by the reason to leave it out."""
_LISTED_WORKS = re.compile(r"^ {0,3}:{3,} *\{#refs\b", re.MULTILINE)
"""Opens Pandoc's list of works, with or without a heading above it."""
_FORMULA_FRAME = re.compile(r"\\(?:begin|end)\{[a-z]+\*?\}")
_LOGO_WORDS = 12
"""Most words above a title: the names of pictures and links."""
_WIDEST = 1_000
"""Most columns that a cell spans, as in browsers."""


def read_html(text: str, builder: DocumentBuilder) -> None:
    """Add a web page to ``builder``."""
    encoded = text.encode("utf-8", "replace")
    parser = lxml.html.HTMLParser(encoding="utf-8")
    _read_tree(lxml.html.document_fromstring(encoded, parser=parser), builder)


def _read_tree(tree: HtmlElement, builder: DocumentBuilder) -> None:
    for node in tree.xpath(_TEXTS):
        builder.expect(node)
    _Page(tree, builder).read()


def read_markdown(text: str, builder: DocumentBuilder) -> None:
    """Add a Markdown file, which may use Pandoc's extensions, to ``builder``.

    The file is rendered, and then read as a web page.
    """
    from markdown_it import MarkdownIt
    from mdit_py_plugins.amsmath import amsmath_plugin
    from mdit_py_plugins.container import container_plugin
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from mdit_py_plugins.footnote import footnote_plugin
    from mdit_py_plugins.front_matter import front_matter_plugin
    from mdit_py_plugins.subscript import sub_plugin
    from mdit_py_plugins.superscript import superscript_plugin

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.use(front_matter_plugin).use(footnote_plugin).use(sub_plugin).use(superscript_plugin)
    parser.use(amsmath_plugin, renderer=_read_formula)
    parser.use(
        dollarmath_plugin,
        allow_space=False,
        allow_digits=False,
        double_inline=True,
        renderer=lambda content, _: _read_formula(f"${content}$"),
    )
    parser.use(container_plugin, name="div", validate=lambda *_: True)
    environment: dict[str, Any] = {}
    tokens = parser.parse(_name_works(text), environment)
    for token in tokens:
        if token.type == "front_matter":
            _add_front_matter(token.content, builder)
        for part in token.children or []:
            if part.type == "text":
                part.content = _leave_out_marks(part.content, builder)
    page = parser.renderer.render(tokens, parser.options, environment)
    tree = lxml.html.document_fromstring(sound(f"<body>{page}</body>"))
    for link in tree.xpath("//a[@class='footnote-backref']"):
        link.drop_tree()
    for note in tree.xpath("//li[@class='footnote-item']"):
        note.tag = "aside"
    for item in tree.xpath("//ol/li"):  # the renderer does not write their numbers
        _number(item)
    builder.title = builder.title or _find_title(tree)
    _read_tree(tree, builder)


def _find_title(tree: HtmlElement) -> str | None:
    """Return the heading of the first level, if it is the only one and only a logo and links are above it."""
    headings = [*tree.iter("h1")]
    if len(headings) != 1:
        return None
    above = " ".join(headings[0].xpath("preceding::text()[normalize-space()]")).split()
    if len(above) > _LOGO_WORDS or any(word.endswith((".", "?", "!")) for word in above):
        return None
    return " ".join(headings[0].text_content().split()) or None


def _name_works(text: str) -> str:
    """Add a heading above a list of works that lacks one."""

    def add_heading(match: re.Match[str]) -> str:
        above = text[: match.start()].rstrip().rpartition("\n")[2]
        return match[0] if above.startswith("#") else f"\n# References\n\n{match[0]}"

    return _LISTED_WORKS.sub(add_heading, text)


def _read_formula(source: str) -> str:
    """Return a formula of LaTeX as HTML text."""
    from dialectree.retrieval.latex import readable

    return escape(readable(_FORMULA_FRAME.sub("", source)))


def _leave_out_marks(text: str, builder: DocumentBuilder) -> str:
    """Return text without the citations and names that Pandoc removes; record these as left out."""
    for reason, pattern in _MARKS_LEFT_OUT.items():
        for match in pattern.finditer(text):
            builder.expect(match[0])
            builder.leave_out(match[0], reason)
        text = pattern.sub("", text)
    return text


def _add_front_matter(text: str, builder: DocumentBuilder) -> None:
    """Add the lines of front matter; if it is YAML, read title and abstract from it."""
    with suppress(yaml.YAMLError, RecursionError, ValueError):
        fields = yaml.safe_load(text)
        if isinstance(fields, dict):
            parts = {
                name: " ".join(value.split())
                for name, value in fields.items()
                if isinstance(value, str) and value.strip()
            }
            builder.title = builder.title or parts.get("title")
            builder.abstract = builder.abstract or parts.get("abstract")
    for line in text.splitlines():
        builder.expect(line)
        builder.add(line, "note")


def _number(item: HtmlElement) -> None:
    """Write the number of a list item into its text."""
    above = item.getparent()
    start = re.sub(r"\D", "", above.get("start", "")) or "1"
    number = int(start[:9]) + len([*item.itersiblings("li", preceding=True)])
    target = item[0] if len(item) and item[0].tag == "p" and not (item.text or "").strip() else item
    target.text = f"{number}. {target.text or ''}"


class _Page:
    """The walk over the elements of one web page."""

    def __init__(self, tree: HtmlElement, builder: DocumentBuilder) -> None:
        self._tree, self._builder = tree, builder
        self._line: list[str] = []
        """The text of the current block."""
        self._parents = {above for box in tree.iter(*_BOXES) for above in box.iterancestors()}
        """Elements that contain an element of :data:`_BOXES`."""
        self._selectors = _hiding_selectors(tree)

    def read(self) -> None:
        title = self._tree.find(".//head/title")
        if title is not None:
            self._add_title(title)
        head, body = self._tree.find("head"), self._tree.find("body")
        if head is not None:
            for element in head:
                if element is not title:
                    self._inline(element)
        if body is not None:
            self._walk(body)
        for element in self._tree:
            if element is not head and element is not body:
                self._walk(element)
        self._flush("paragraph")

    def _add_title(self, element: HtmlElement) -> None:
        """Add the title of a page as a heading, unless a heading of the page repeats it."""
        text = self._inline(element)
        title = self._builder.title = " ".join(text.split()) or None
        headings = {" ".join(h1.text_content().split()) for h1 in self._tree.iter("h1")}
        if title not in headings:
            self._builder.expect(text)
            self._builder.add(text, "heading")

    def _walk(self, element: HtmlElement) -> None:
        if not isinstance(element.tag, str) or self._reason(element):
            self._line.append(self._inline(element))
        elif element.tag == "table" and not self._is_layout(element):
            self._flush(_kind_of(element))
            for caption in element.iterchildren("caption"):
                self._builder.add(self._inline(caption), "note")
            self._add_table(element)
        elif element in self._parents:
            box = element.tag in _BOXES
            self._flush_if(box, element)
            self._line.append(element.text or "")
            for child in element:
                self._walk(child)
                self._line.append(child.tail or "")
            self._flush_if(box, element)
        elif element.tag == "pre":
            self._flush(_kind_of(element))
            for line in self._inline(element).splitlines():
                self._builder.add(line)
        elif element.tag in _BOXES:
            self._flush(_kind_of(element.getparent()))
            self._line.append(self._inline(element))
            self._flush(_kind_of(element))
        else:
            self._line.append(self._inline(element))

    def _flush_if(self, box: bool, element: HtmlElement) -> None:
        if box:
            self._flush(_kind_of(element))

    def _flush(self, kind: BlockKind) -> None:
        text = "".join(self._line)
        self._line.clear()
        self._builder.add(text, kind)

    def _inline(self, element: HtmlElement) -> str:
        """Return the text of an element in one line, without its hidden text."""
        if not isinstance(element.tag, str):
            return ""
        tag = element.tag.rpartition(":")[2]
        if reason := self._reason(element):
            if tag == "script" and (element.get("type") or "").startswith("math/"):
                self._builder.expect(element.text or "")
                return f" {element.text or ''} "
            if tag not in ("script", "style"):
                self._builder.leave_out(" ".join(element.itertext("*")), reason)
            return ""
        if tag in _ATTRIBUTES and element.get("type") not in ("hidden", "password"):
            attribute = element.get(_ATTRIBUTES[tag]) or ""
            self._builder.expect(attribute)
            return f" {attribute} "
        if tag in _FORMULAS and (tag != "msubsup" or len(element) == 3):
            return _FORMULAS[tag]([self._inline(child) for child in element])
        texts = ((self._inline(child), child.tail or "") for child in element)
        text = "".join([element.text or "", *chain.from_iterable(texts)])
        if tag == "sup" or _RAISING.search(element.get("style") or ""):
            return raise_text(text, linked=_is_note_link(element))
        if tag == "sub" or _LOWERING.search(element.get("style") or ""):
            return lower_text(text)
        if tag == "br":
            return "\n"
        return f" {text} " if tag in _BOXES or tag in _APART else text

    def _reason(self, element: HtmlElement) -> str | None:
        """Return the reason to leave an element out, or None."""
        style = element.get("style") or ""
        closed = element.tag == "dialog" and "open" not in element.attrib
        hidden = closed or "hidden" in element.attrib or _HIDING.search(style)
        if hidden or (self._selectors and self._is_hidden_by_sheet(element)):
            return "hidden"
        if element.get("role") == "navigation":
            return "navigation"
        if _STRIKING.search(style):
            return "struck"
        return _LEFT_OUT.get(element.tag.rpartition(":")[2])

    def _is_hidden_by_sheet(self, element: HtmlElement) -> bool:
        names = {f".{name}" for name in (element.get("class") or "").split()}
        return not self._selectors.isdisjoint({*names, f"#{element.get('id')}"})

    def _is_layout(self, table: HtmlElement) -> bool:
        """Return whether a table only places boxes: it has one column, or tables inside."""
        nests = table.find(".//table//tr") is not None and table.find(".//th") is None
        if nests or table.get("role") in ("presentation", "none"):
            return True
        return all(len(_cells(row)) < 2 for row in _own_rows(table))

    def _add_table(self, table: HtmlElement) -> None:
        rows: list[list[Cell]] = []
        spans: dict[int, tuple[int, str]] = {}
        heads = 0
        for row in _own_rows(table):
            cells = _cells(row)
            rows.append(self._row(cells, spans))
            marked = bool(cells) and all(
                cell.tag == "th" or (not len(cell) and not cell.text) for cell in cells
            )
            if heads == len(rows) - 1 and (marked or row.getparent().tag == "thead"):
                heads += 1
        strays = (
            child
            for part in (table, *table.iter("tbody", "thead", "tfoot", "tr"))
            if part is table or next(part.iterancestors("table"), None) is table
            for child in part
            if child.tag not in _IN_TABLES
        )
        for child in strays:
            self._builder.add(self._inline(child))
        self._builder.add_table(rows, heads or None)

    def _row(self, cells: list[HtmlElement], spans: dict[int, tuple[int, str]]) -> list[Cell]:
        """Return a row. ``spans`` has, by column, a text from above and how many more rows it fills."""
        row: list[Cell] = []

        def fill_spans() -> None:
            while spans.get(len(row), (0, ""))[0] > 0:
                remaining_rows, text = spans[len(row)]
                spans[len(row)] = remaining_rows - 1, text
                row.append(Cell(text, repeated=True))

        for cell in cells:
            fill_spans()
            text = " ".join(self._inline(cell).split())
            for number in range(_span(cell, "colspan")):
                spans[len(row)] = _span(cell, "rowspan") - 1, text
                row.append(Cell(text, repeated=number > 0))
        fill_spans()
        return row


_ATTRIBUTES = {"img": "alt", "input": "value"}
"""Elements whose text is in an attribute, and the attribute's name."""
_IN_TABLES = {"thead", "tbody", "tfoot", "tr", "td", "th", "caption", "colgroup", "col"}

_FORMULAS: dict[str, Callable[[list[str]], str]] = {
    "msup": lambda parts: "".join([*parts[:1], raise_text("".join(parts[1:]).strip())]),
    "msub": lambda parts: "".join([*parts[:1], lower_text("".join(parts[1:]).strip())]),
    "msubsup": lambda parts: "".join([*parts[:1], lower_text(parts[1]), raise_text("".join(parts[2:]))]),
    "mfrac": lambda parts: "/".join(map(add_brackets, parts)),
    "msqrt": lambda parts: f"√{add_brackets(''.join(parts))}",
    "mtr": lambda parts: f"{'; '.join(parts)} ",
}
"""Functions that write the parts of a formula in one line."""


def _own_rows(table: HtmlElement) -> list[HtmlElement]:
    """Return the rows of a table without those of tables inside it."""
    return [row for row in table.iter("tr") if next(row.iterancestors("table"), None) is table]


def _cells(row: HtmlElement) -> list[HtmlElement]:
    return [cell for cell in row if cell.tag in ("td", "th")]


def _span(cell: HtmlElement, name: str) -> int:
    digits = re.sub(r"\D", "", cell.get(name) or "")[:6]
    return max(1, min(_WIDEST, int(digits or 1)))


def _is_note_link(element: HtmlElement) -> bool:
    """Return whether a superscript links to a note of the page."""
    links = [element.getparent(), *element.iter("a")]
    return any(
        link is not None and link.tag == "a" and (link.get("href") or "").startswith("#") for link in links
    )


def _kind_of(element: HtmlElement | None) -> BlockKind:
    """Return the kind of block that the text of an element becomes."""
    while element is not None:
        if element.tag in _HEADINGS:
            return "heading"
        if element.tag in _ITEMS:
            return "item"
        if element.tag in _NOTES:
            return "note"
        element = element.getparent()
    return "paragraph"


def _hiding_selectors(tree: HtmlElement) -> set[str]:
    """Return the classes and ids that a page's own style sheets hide on every screen."""
    rules: Iterator[tuple[str, str]] = chain.from_iterable(
        _STYLE_RULE.findall(_STYLE_BLOCK.sub("", sheet.text or "")) for sheet in tree.iter("style")
    )
    hiding = (names for names, declarations in rules if _HIDING.search(declarations))
    return {
        name.strip() for names in hiding for name in names.split(",") if _SELECTOR.fullmatch(name.strip())
    }
