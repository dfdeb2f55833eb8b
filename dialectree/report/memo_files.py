"""Write a memo as Markdown, as a page or as a document for Word. Texts of the record are data in all."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Literal, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from dialectree.records import RunRecord
from dialectree.report.markdown_text import block_quote, escape_markdown
from dialectree.report.memo import make_memo
from dialectree.report.memo_blocks import Memo, MemoBlock, MemoLine
from dialectree.text import clean

MemoFormat = Literal["md", "docx", "html"]


class MemoFile(NamedTuple):
    """A memo as a file."""

    name: str
    media_type: str
    content: bytes


def write_memo(record: RunRecord, format: MemoFormat = "md") -> MemoFile:
    """Return the memo of a run as a file; raise MissingPackage if ``docx`` lacks its package."""
    render, media_type = _FORMATS[format]
    return MemoFile(f"memo-{record.run_id}.{format}", media_type, render(make_memo(record)))


def _markdown(memo: Memo) -> bytes:
    parts = [f"# {escape_markdown(memo.title)}", f"*{escape_markdown(memo.subtitle)}*"]
    parts += [_markdown_block(block) for block in memo.blocks]
    if memo.notes:
        parts += ["## Cited sentences", "\n".join(_markdown_notes(memo))]
    facts = (f"- **{escape_markdown(name)}**: {escape_markdown(value)}" for name, value in memo.facts)
    parts += ["## How it was made", "\n".join(facts)]
    return ("\n\n".join(parts) + "\n").encode()


def _markdown_block(block: MemoBlock) -> str:
    if block.kind == "bullets":
        return "\n".join(f"- {_markdown_line(line)}" for line in block.lines)
    (line,) = block.lines
    if block.kind == "quote":
        return str(block_quote(line.text))
    if block.kind == "warning":
        return f"**{escape_markdown(line.text)}**"
    return f"{_MARKDOWN_SIGNS.get(block.kind, '')}{_markdown_line(line)}"


_MARKDOWN_SIGNS = {"heading": "## ", "subheading": "### "}


def _markdown_line(line: MemoLine) -> str:
    texts = [_markdown_span(span.text, strong=span.strong) for span in line.spans]
    notes = "".join(f" \\[{number}\\]" for number in line.notes)
    return f"{''.join(texts) or '–'}{notes}"


def _markdown_span(text: str, *, strong: bool) -> str:
    """Return a span with the blanks at its ends outside the stars, where Markdown needs them."""
    inner = escape_markdown(text)
    before, after = " " * text[:1].isspace(), " " * text[-1:].isspace()
    return f"{before}{f'**{inner}**' if strong and inner else inner}{after}"


def _markdown_notes(memo: Memo) -> Iterator[str]:
    for note in memo.notes:
        quote, place = escape_markdown(note.quote), escape_markdown(note.place)
        yield f"{note.number}. {place}: “{quote}{'…' * note.cut}” ({escape_markdown(note.id)})"


def _html(memo: Memo) -> bytes:
    style, template = _page()
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return template.render(memo=memo, style=style, policy=policy).encode()


@cache
def _page() -> tuple[str, Template]:
    """Return the style and the template of the page."""
    environment = Environment(
        loader=PackageLoader("dialectree", "report"),
        autoescape=True,
        finalize=lambda value: (
            clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value
        ),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = files("dialectree").joinpath("report/memo_style.jinja").read_text(encoding="utf-8")
    return style, environment.get_template("memo.html.jinja")


def _docx(memo: Memo) -> bytes:
    from dialectree.report.memo_docx import write_docx

    return write_docx(memo)


_FORMATS: dict[MemoFormat, tuple[Callable[[Memo], bytes], str]] = {
    "md": (_markdown, "text/markdown; charset=utf-8"),
    "html": (_html, "text/html; charset=utf-8"),
    "docx": (_docx, "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
}
