"""Markdown: headings and words; code, tables, pictures and markup are left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from dialectree.retrieval import blocks, latex, sections
from dialectree.retrieval.blocks import Block, Draft, timely

_FLOATS = re.compile(
    r"^ {0,3}\\begin\{(figure|table|tabular|longtable|algorithm)(\*?)\}.*?\\end\{\1\2\}",
    re.MULTILINE | re.DOTALL,
)
_NO_WORDS = re.compile(
    r"\s?\[[^\[\]@]{0,200}@\w[^\[\]]{0,500}\]"  # a citation: [see @doe2020, p. 2]
    r"|\s?\\[cC]ite[a-z]*\*?(?:\[[^\[\]]*\]){0,2}\{[^{}]*\}"
    r"|\[\^[^\[\]]{1,200}\]"  # a note that is nowhere
    r"|^\\[A-Za-z]+\*?(?:\{[^{}]*\})*$"  # a command for the layout: \newpage
    r"|\s*\{[#.][A-Za-z][^{}]*\}"  # the name of what stands before it: {#sec:a}
)
_CAPTION = re.compile(r"(?:[Tt]able)?: ")
"""Begins the caption of a table."""
_LOWERED = re.compile(r"(?<=\w)~(\w{1,10})~")
_RAISED = re.compile(r"(?<=\w)\^([\w+−-]{1,20})\^")
_WORKS = re.compile(r"^ {0,3}:{3,} *\{#refs\b[^\n]*$", re.MULTILINE)
"""Opens the works that Pandoc lists, with a heading or without."""
_UNREAD = re.compile(
    r"<(script|style|pre|table|thead|tbody|tfoot|tr|td|th|figure|svg)\b.*?(?:</\1\s*>|\Z)"
    r"|<!--.*?(?:-->|\Z)",
    re.IGNORECASE | re.DOTALL,
)
"""Markup whose content is no text of a paper."""
_BREAK = re.compile(r"<(?:br|/?(?:p|div|li))\b", re.IGNORECASE)
_APART = re.compile(
    r"</?(?:blockquote|body|center|dd|details|div|dl|dt|figcaption|footer|h[1-6]|header|hr|li|main"
    r"|ol|p|section|summary|ul)\b[^<>]*>|\n[ \t]*\n",
    re.IGNORECASE,
)
"""Parts one paragraph from the next in markup."""


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 20}).enable("table")
    parser.use(front_matter_plugin).use(footnote_plugin).use(amsmath_plugin)
    parser.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)
    return parser.use(container_plugin, name="div", validate=lambda *_: True)


_PARSER = _parser()


def draft(text: str, *, titled: bool = False, abstracted: bool = False) -> Draft:
    """Return what Markdown shows: its front matter first, then its headings."""
    text = _WORKS.sub("\n# References\n", _FLOATS.sub("", text.lstrip()))
    tokens = _PARSER.parse(text)
    words = blocks.words_of(text.splitlines())
    front = _front_matter(tokens, words)
    title = front.get("title")
    if not (titled or title):
        tokens = _without_logo(tokens)
    body = blocks.flowing([block for block in _blocks(tokens, words) if block.text], words)
    if title is None:
        title, body = _title(body, titled=titled)
    elif body and body[0] == Block(title, "heading"):
        body = body[1:]
    abstract, rest = sections.abstract_by_heading(body)
    abstract = front.get("abstract") or abstract
    if abstract is None and not abstracted:
        abstract, rest = sections.abstract_by_place(body)
        abstract = abstract or _summary(body)
    return Draft(title, abstract, rest)


def _title(body: list[Block], *, titled: bool) -> tuple[str | None, list[Block]]:
    """Return the first heading, or a short first line, and the body under it."""
    if not body or _names_part(body[0].text):
        return None, body
    if not body[0].heading and (titled or len(body[0].text) >= 200):
        return None, body
    return body[0].text, body[1:]


def _without_logo(tokens: list[Token]) -> list[Token]:
    """Drop the pictures and links that stand in markup above a heading that is the title."""
    above = list(takewhile(lambda token: token.type == "html_block", tokens))
    opened = tokens[len(above) : len(above) + 2]
    if opened and opened[0].type == "heading_open" and not _names_part(opened[1].content):
        return tokens[len(above) :]
    return tokens


def _names_part(text: str) -> bool:
    return sections.part(text) is not None or _is_summary(text)


def _summary(body: Sequence[Block]) -> str | None:
    """Return the text of a summary, which stays a section of the body too."""
    for at, block in enumerate(body):
        if block.heading and _is_summary(block.text):
            texts = takewhile(lambda block: not block.heading, body[at + 1 :])
            return "\n\n".join(block.text for block in texts) or None
    return None


def _is_summary(text: str) -> bool:
    return sections.bare(text).lower() in ("summary", "overview", "tl;dr")


def _front_matter(tokens: Sequence[Token], words: Counter[str]) -> dict[str, str]:
    """Return title and abstract of a YAML block at the top."""
    content = "".join(token.content for token in tokens[:1] if token.type == "front_matter")
    try:
        fields = yaml.safe_load(content)
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    return {
        name: " ".join(_inline(token, words) for token in _PARSER.parseInline(text.strip()))
        for name, text in (fields if isinstance(fields, dict) else {}).items()
        if isinstance(text, str) and text.strip()
    }


def _blocks(tokens: Sequence[Token], words: Counter[str]) -> Iterator[Block]:
    """Return the paragraphs and headings, without tables, notes and code."""
    unread, heading = 0, False
    for token in timely(tokens):
        if token.type.startswith(("table_", "footnote_block_")):
            unread += token.nesting
        elif token.type.startswith("heading_"):
            heading = token.nesting > 0
        elif unread:
            continue
        elif token.type == "inline" and not _CAPTION.match(token.content):
            text = _inline(token, words)
            alone = sections.looks_like_heading(text) and sections.part(text) is not None
            yield Block(text, "heading" if heading or alone else "paragraph")
        elif token.type in ("math_block", "amsmath"):
            formula = re.sub(r"\\(?:begin|end)\{[a-z]+\*?\}", "", token.content)
            yield Block(latex.readable(f"${formula}$"))
        elif token.type == "html_block":
            for paragraph in _APART.split(_UNREAD.sub("", token.content)):
                for inline in _PARSER.parseInline(paragraph.strip()):
                    yield Block(_inline(inline, words))


def _inline(token: Token, words: Counter[str]) -> str:
    """Return the words of a paragraph; a link is its words, a picture nothing."""
    lines = [""]
    for child in token.children or []:
        tag = child.type == "html_inline" and _BREAK.match(child.content)
        if child.type in ("softbreak", "hardbreak") or tag:
            lines.append("")
        elif child.type in ("math_inline", "math_inline_double"):
            lines[-1] += latex.readable(f"${child.content}$")
        elif child.type == "code_inline":
            lines[-1] += child.content
        elif child.type == "text":
            text = _NO_WORDS.sub("", child.content)
            lines[-1] += _RAISED.sub(r"^\1", _LOWERED.sub(r"\1", text))
    return " ".join(blocks.plain_signs(blocks.on_one_line(lines, words)).split())
