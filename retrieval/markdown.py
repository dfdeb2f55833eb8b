"""Markdown: headings and words; code, tables, pictures and markup are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from dialectree.retrieval import front_matter, headings, latex, mending
from dialectree.retrieval.drafts import Block, Draft

_FRONT = re.compile(r"\A\s*---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_CODE = r"(?<![\\`])(?P<ticks>``?)(?!`)(?:[^\n]|\n(?![ \t]*\n)){1,500}?(?<!`)(?P=ticks)(?!`)"
_MATHS = (
    r"\$\$(?P<shown>.+?)\$\$"
    r"|(?<![\\$\w])\$(?=\S)(?P<maths>[^$\n]{1,300}?)(?<=\S)\$(?![\d$])"
)
_CITED = r"\s?\[(?:[^\[\]@]|@(?![\w:./-]))*+@[\w:./-][^\[\]]*+\](?!\()"
_NOTE = r"\[\^[^\]\n]{1,200}\]:?"
_GOES_ON = r"(?:\n(?![ \t]*\n| {0,3}(?:#{1,6} |```|~~~|>|[-*+] |\[\^))[^\n]+)*"
_NOTED = (
    rf"^ {{0,3}}\[\^[^\]\n]+\]:[^\n]*{_GOES_ON}"
    rf"(?:(?:\n[ \t]*)+\n(?: {{4}}|\t)[^\n]+{_GOES_ON})*"
)
"""What a note says: its paragraph, and paragraphs set in under it."""
_NOTED_HERE = r"\^\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\]"
_ATTRIBUTES = r"(?<=\S)\s*\{(?:#|\.(?!\d))(?:\"[^\"{}]*\"|[^{},\"])*\}"
"""Names that Pandoc gives to what stands before them; a set as {.1, .5} is none."""
_LOWERED = r"(?<=[\w)])~(?P<low>[\w+−-]{1,10})~(?!~)"
_RAISED = r"(?<=[\w)])\^(?P<high>[\w+−.,*-]{1,20})\^(?![\w{\\])"
_CAPTION = rf"(?:(?:\n[ \t]*)+\n {{0,3}}(?:[Tt]able)?:[ \t][^\n]*{_GOES_ON})?"
_TABLE = (
    rf"(?:^[^\n]++\n)?^ *-{{2,}}(?: +-{{2,}})+[ \t]*$(?:\n(?![ \t]*\n)[^\n]+)*{_CAPTION}"
    rf"|^ {{0,3}}\+[-=:+]+\+[ \t]*$(?:\n {{0,3}}[|+][^\n]*)+{_CAPTION}"
)
"""Pandoc's tables without bars, and in a grid."""
_WORKS = r"^ {0,3}:{3,} *(?P<works>\{#refs\b)[^\n]*$"
"""Opens the works that Pandoc lists, with a heading or without."""
_FENCE = r"^ {0,3}:{3,}[^\n]*$"
_CITING = r"\s?\\[cC]ite[a-z]*\*?(?:\[[^\[\]\n]*\]){0,2}\{[^{}\n]*\}"
"""A citation in LaTeX, which Pandoc leaves to it."""
_LAYOUT = (
    r"^ {0,3}\\(?:(?:new|clear|cleardouble)page|pagebreak|maketitle|tableofcontents|listof\w+"
    r"|(?:big|med|small)skip|noindent|centering|[vh]space\*?\{[^{}\n]*\})[ \t]*$"
)
_LATEX = (
    r"^ {0,3}(?P<latex>\\begin\{(?P<kind>(?:figure|table|tabular|longtable|tikzpicture|algorithm"
    r"|equation|align|gather|multline|eqnarray)\*?)\}"
    r"(?:(?!\\begin\{(?P=kind)\}).){0,4000}?\\end\{(?P=kind)\})"
)
_SCANNED = re.compile(
    "|".join(
        (
            *(_NOTED, _CODE, _MATHS, _CITED, _NOTED_HERE, _NOTE, _ATTRIBUTES),
            *(_LOWERED, _RAISED, _TABLE, _WORKS, _FENCE, _CITING, _LAYOUT, _LATEX),
        )
    ),
    re.MULTILINE | re.DOTALL,
)
"""Whichever begins first: code and formulas keep what would be a citation or a note elsewhere."""
_BREAK = re.compile(r"<(?:br|/?(?:p|div|li))\b", re.IGNORECASE)
_UNSAID = re.compile(
    r"<(script|style|pre|table|thead|tbody|tfoot|tr|td|th|figure|svg)\b.*?(?:</\1\s*>|\Z)"
    r"|<!--.*?(?:-->|\Z)",
    re.IGNORECASE | re.DOTALL,
)
"""Markup whose content is no text."""
_HEADED = re.compile(r"<h[1-6]\b[^<>]*>(.*?)(?:</h[1-6]\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_APART = re.compile(
    r"</?(?:address|article|aside|blockquote|body|center|dd|details|div|dl|dt|figcaption|footer|form"
    r"|header|hr|li|main|nav|ol|p|section|summary|ul)\b[^<>]*>|\n[ \t]*\n",
    re.IGNORECASE,
)
"""Parts one paragraph from the next in markup."""
_INLINE = MarkdownIt("commonmark")
_OVER_TABLE = re.compile(r"(?:[Tt]able)?:\s")
"""Begins the caption of a table, where one stands beside it."""
_HELD = "\ue000"
"""Stands for a formula while Markdown is read, so that its stars and underscores stay."""


def draft(text: str, *, titled: bool = False, abstracted: bool = False) -> Draft:
    """What Markdown shows: its front matter first, then its headings."""
    front, text = _front_matter(text)
    title = front.get("title")
    blocks = _blocks(text, titled=titled or title is not None)
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
    parts = {k: _in_line(v) for k, v in told.items() if isinstance(v, str) and v.strip()}
    return parts, text[found.end() :]


def _in_line(text: str) -> str:
    """The words of a text that is one paragraph, whatever its lines begin with."""
    text, formulas = _with_formulas_held(text)
    words = mending.words_of(text.splitlines())
    told = (_inline(token, words) for token in _INLINE.parseInline(text))
    return " ".join(_with_formulas(" ".join(told), formulas).split())


def _blocks(text: str, *, titled: bool) -> list[Block]:
    text, formulas = _with_formulas_held(text)
    tokens = MarkdownIt("commonmark", {"maxNesting": 20}).enable("table").parse(text)
    tokens = tokens if titled else _from_the_title(tokens)
    words = mending.words_of(text.splitlines())
    blocks = [Block(_with_formulas(b.text, formulas), b.heading) for b in _said(tokens, words)]
    return mending.flowing([b for b in blocks if b.text], words)


def _with_formulas_held(text: str) -> tuple[str, list[str]]:
    """Without notes, citations, attributes and layout, each formula held in its place."""
    formulas: list[str] = []

    def read(found: re.Match[str]) -> str:
        if found["ticks"]:
            return found[0]
        if found["works"]:
            return "\n\n# References\n\n"
        if found["low"] or found["high"]:
            return found["low"] or f"^{found['high']}"
        formula = found["shown"] or found["maths"]
        source = f"${formula}$" if formula else found["latex"] or ""
        if not source or not (shown := latex.readable(source)):
            return ""
        formulas.append(shown)
        return f"{_HELD}{len(formulas) - 1}{_HELD}"

    return _SCANNED.sub(read, text.replace(_HELD, "")), formulas


def _with_formulas(text: str, formulas: Sequence[str]) -> str:
    return re.sub(f"{_HELD}(\\d+){_HELD}", lambda held: formulas[int(held[1])], text)


def _from_the_title(tokens: list[Token]) -> list[Token]:
    """Without the logo and the links that stand in markup above a heading that is the title."""
    above = list(takewhile(lambda token: token.type == "html_block", tokens))
    opened = tokens[len(above) : len(above) + 2]
    if not opened or opened[0].type != "heading_open" or _names_a_part(opened[1].content):
        return tokens
    titled = any(_HEADED.search(token.content) for token in above)
    return tokens if titled else tokens[len(above) :]


def _said(tokens: Sequence[Token], words: mending.Words) -> Iterator[Block]:
    """The paragraphs and headings among the tokens; tables and code say nothing."""
    tables, heading = 0, False
    for at, token in enumerate(tokens):
        if token.type in ("table_open", "table_close"):
            tables += token.nesting
        elif token.type in ("heading_open", "heading_close"):
            heading = token.nesting > 0
        elif token.type == "inline" and not tables and not _is_caption(tokens, at):
            yield _block(token, heading, words)
        elif token.type == "html_block":
            yield from _in_markup(token.content, words)


def _is_caption(tokens: Sequence[Token], at: int) -> bool:
    """Whether a paragraph names the table over or under it."""
    beside = [token.type for token in (*tokens[max(0, at - 2) : at], *tokens[at + 2 : at + 3])]
    captioned = beside[0] == "table_close" or beside[-1] == "table_open"
    return captioned and _OVER_TABLE.match(tokens[at].content) is not None


def _in_markup(text: str, words: mending.Words) -> Iterator[Block]:
    """The paragraphs and headings that stand between tags."""
    for number, part in enumerate(_HEADED.split(_UNSAID.sub("", text))):
        for paragraph in _APART.split(part):
            for token in _INLINE.parseInline(paragraph):
                yield _block(token, number % 2 == 1, words)


def _block(token: Token, heading: bool, words: mending.Words) -> Block:
    text = mending.plain_signs(_inline(token, words))
    alone = not heading and headings.looks_like_one(text) and bool(headings.part(text))
    return Block(re.sub(r"\s+", " ", text).strip(), heading or alone)


def _inline(token: Token, words: mending.Words) -> str:
    """The words of a paragraph; a link is its words, a picture nothing."""
    lines: list[list[str]] = [[]]
    for child in token.children or []:
        if child.type in ("softbreak", "hardbreak") or _is_break(child):
            lines.append([])
        elif child.type in ("text", "code_inline"):
            lines[-1].append(child.content)
    return mending.on_one_line(("".join(line) for line in lines), words)


def _is_break(token: Token) -> bool:
    return token.type == "html_inline" and bool(_BREAK.match(token.content))
