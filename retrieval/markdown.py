"""Markdown: headings and words; code, tables, pictures and markup are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from dialectree.retrieval import front_matter, headings, latex, mending
from dialectree.retrieval.drafts import Block, Draft

_FRONT = re.compile(r"\A\s*---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_CITED = re.compile(r"\s?\[[^\[\]]*@[\w:./-]+[^\[\]]*\](?!\()")
_NOTE = re.compile(r"\[\^[^\]]+\]:?")
_ATTRIBUTES = re.compile(r"(?<=\S)\s*\{[#.][^{}]*\}")
_MATHS = re.compile(
    r"\$\$(.+?)\$\$|(?<![\\$\w])\$(?=\S)([^$\n]{1,300}?)(?<=\S)\$(?![\d$])", re.DOTALL
)
_HELD = "\ue000"
"""Stands for a formula while Markdown is read, so that its stars and underscores stay."""


def draft(text: str, *, titled: bool = False, abstracted: bool = False) -> Draft:
    """What Markdown shows: its front matter first, then its headings."""
    front, text = _front_matter(text)
    blocks = _blocks(text)
    title = front.get("title")
    if (
        title is None
        and blocks
        and (blocks[0].heading or (len(blocks[0].text) < 200 and not titled))
    ):
        if not headings.part(blocks[0].text) and not _is_summary(blocks[0]):
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
        if _is_summary(block):
            texts: list[str] = []
            for following in blocks[at + 1 :]:
                if following.heading:
                    break
                texts.append(following.text)
            return "\n\n".join(texts) or None, blocks
    return abstract, body


def _is_summary(block: Block) -> bool:
    return block.heading and headings.bare(block.text).lower() in ("summary", "overview", "tl;dr")


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """Title and abstract of a YAML block at the top, and the text under it."""
    found = _FRONT.match(text)
    if not found:
        return {}, text
    try:
        told = yaml.safe_load(found[1])
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}, text[found.end() :]
    told = told if isinstance(told, dict) else {}
    parts = {k: " ".join(v.split()) for k, v in told.items() if isinstance(v, str) and v.strip()}
    return parts, text[found.end() :]


def _blocks(text: str) -> list[Block]:
    formulas: list[str] = []

    def hold(found: re.Match[str]) -> str:
        formulas.append(latex.readable(f"${found[1] or found[2]}$"))
        return f"{_HELD}{len(formulas) - 1}{_HELD}"

    text = _MATHS.sub(hold, _NOTE.sub("", _ATTRIBUTES.sub("", _CITED.sub("", text))))
    tokens = MarkdownIt("commonmark", {"maxNesting": 20}).enable("table").parse(text)
    words = mending.words_of(text.splitlines())
    blocks = [
        Block(re.sub(f"{_HELD}(\\d+){_HELD}", lambda m: formulas[int(m[1])], b.text), b.heading)
        for b in _said(tokens, words)
    ]
    return mending.flowing([b for b in blocks if b.text], words)


def _said(tokens: Sequence[Token], words: mending.Words) -> Iterator[Block]:
    """The paragraphs and headings among the tokens; tables and code say nothing."""
    tables, heading = 0, False
    for token in tokens:
        if token.type in ("table_open", "table_close"):
            tables += token.nesting
        elif token.type in ("heading_open", "heading_close"):
            heading = token.nesting > 0
        elif token.type == "inline" and not tables:
            text = mending.plain_signs(_inline(token, words))
            alone = not heading and headings.looks_like_one(text) and bool(headings.part(text))
            yield Block(re.sub(r"\s+", " ", text).strip(), heading or alone)


def _inline(token: Token, words: mending.Words) -> str:
    """The words of a paragraph; a link is its words, a picture nothing."""
    lines: list[list[str]] = [[]]
    for child in token.children or []:
        if child.type in ("softbreak", "hardbreak"):
            lines.append([])
        elif child.type in ("text", "code_inline"):
            lines[-1].append(child.content)
    return mending.on_one_line(("".join(line) for line in lines), words)
