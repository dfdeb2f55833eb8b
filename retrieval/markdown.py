"""Markdown: headings and words; code, tables, pictures and markup are left out."""

from __future__ import annotations

import re
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

from dialectree.retrieval import front_matter, headings, latex, mending
from dialectree.retrieval.drafts import Block, Draft

_FLOATS = re.compile(
    r"^ {0,3}\\begin\{(figure|table|tabular|longtable|algorithm)(\*?)\}.*?\\end\{\1\2\}",
    re.MULTILINE | re.DOTALL,
)
_UNSAID_IN_TEXT = re.compile(
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
_UNSAID = re.compile(
    r"<(script|style|pre|table|thead|tbody|tfoot|tr|td|th|figure|svg)\b.*?(?:</\1\s*>|\Z)"
    r"|<!--.*?(?:-->|\Z)",
    re.IGNORECASE | re.DOTALL,
)
"""Markup whose content is no text."""
_BREAK = re.compile(r"<(?:br|/?(?:p|div|li))\b", re.IGNORECASE)
_HEADED = re.compile(r"<h[1-6]\b[^<>]*>(.*?)(?:</h[1-6]\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_APART = re.compile(
    r"</?(?:blockquote|body|center|dd|details|div|dl|dt|figcaption|footer|header|hr|li|main|ol|p"
    r"|section|summary|ul)\b[^<>]*>|\n[ \t]*\n",
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
    words = mending.words_of(text.splitlines())
    front = _front_matter(tokens, words)
    title = front.get("title")
    if not (titled or title):
        tokens = _from_the_title(tokens)
    blocks = mending.flowing([block for block in _said(tokens, words) if block.text], words)
    if (
        title is None
        and blocks
        and (blocks[0].heading or (len(blocks[0].text) < 200 and not titled))
    ):
        if not _names_a_part(blocks[0].text):
            title, blocks = blocks[0].text, blocks[1:]
    elif title is not None and blocks and blocks[0] == Block(title, heading=True):
        blocks = blocks[1:]
    abstract, body = front_matter.under_its_heading(blocks)
    abstract = front.get("abstract") or abstract
    if abstract is None and not abstracted:
        abstract, body = _without_its_heading(blocks)
    return Draft(title, abstract, body)


def _without_its_heading(blocks: list[Block]) -> tuple[str | None, list[Block]]:
    """The text above the first section; else a summary, which stays a section of the body too."""
    abstract, body = front_matter.first_paragraph(blocks)
    for at, block in enumerate(blocks if abstract is None else []):
        if block.heading and _is_summary(block.text):
            texts: list[str] = []
            for following in blocks[at + 1 :]:
                if following.heading:
                    break
                texts.append(following.text)
            return "\n\n".join(texts) or None, blocks
    return abstract, body


def _names_a_part(text: str) -> bool:
    return bool(headings.part(text)) or _is_summary(text)


def _is_summary(text: str) -> bool:
    return headings.bare(text).lower() in ("summary", "overview", "tl;dr")


def _front_matter(tokens: Sequence[Token], words: mending.Words) -> dict[str, str]:
    """Return title and abstract of a YAML block at the top."""
    content = "".join(token.content for token in tokens[:1] if token.type == "front_matter")
    try:
        fields = yaml.safe_load(content)
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    fields = fields if isinstance(fields, dict) else {}
    texts = {name: text for name, text in fields.items() if isinstance(text, str) and text.strip()}
    return {
        name: " ".join(_inline(token, words) for token in _PARSER.parseInline(text.strip()))
        for name, text in texts.items()
    }


def _from_the_title(tokens: list[Token]) -> list[Token]:
    """Without the logo and the links that stand in markup above a heading that is the title."""
    above = list(takewhile(lambda token: token.type == "html_block", tokens))
    opened = tokens[len(above) : len(above) + 2]
    if not opened or opened[0].type != "heading_open" or _names_a_part(opened[1].content):
        return tokens
    titled = any(_HEADED.search(token.content) for token in above)
    return tokens if titled else tokens[len(above) :]


def _said(tokens: Sequence[Token], words: mending.Words) -> Iterator[Block]:
    """Return the paragraphs and headings; tables, notes and code say nothing."""
    unread, heading = 0, False
    for token in tokens:
        if token.type.startswith(("table_", "footnote_block_")):
            unread += token.nesting
        elif token.type.startswith("heading_"):
            heading = token.nesting > 0
        elif unread:
            continue
        elif token.type == "inline" and not _CAPTION.match(token.content):
            yield _block(token, heading, words)
        elif token.type in ("math_block", "amsmath"):
            yield Block(latex.readable(f"${_formula(token.content)}$"))
        elif token.type == "html_block":
            yield from _in_markup(token.content, words)


def _formula(source: str) -> str:
    return re.sub(r"\\(?:begin|end)\{[a-z]+\*?\}", "", source)


def _in_markup(text: str, words: mending.Words) -> Iterator[Block]:
    """Return the paragraphs and headings that stand between tags."""
    for number, part in enumerate(_HEADED.split(_UNSAID.sub("", text))):
        for paragraph in _APART.split(part):
            for token in _PARSER.parseInline(paragraph.strip()):
                yield _block(token, number % 2 == 1, words)


def _block(token: Token, heading: bool, words: mending.Words) -> Block:
    text = _inline(token, words)
    alone = not heading and headings.looks_like_one(text) and bool(headings.part(text))
    return Block(text, heading or alone)


def _inline(token: Token, words: mending.Words) -> str:
    """Return the words of a paragraph; a link is its words, a picture nothing."""
    lines = [""]
    for child in token.children or []:
        if child.type in ("softbreak", "hardbreak") or _is_break(child):
            lines.append("")
        elif child.type in ("math_inline", "math_inline_double"):
            lines[-1] += latex.readable(f"${child.content}$")
        elif child.type == "code_inline":
            lines[-1] += child.content
        elif child.type == "text":
            text = _UNSAID_IN_TEXT.sub("", child.content)
            lines[-1] += _RAISED.sub(r"^\1", _LOWERED.sub(r"\1", text))
    return " ".join(mending.plain_signs(mending.on_one_line(lines, words)).split())


def _is_break(token: Token) -> bool:
    return token.type == "html_inline" and bool(_BREAK.match(token.content))
