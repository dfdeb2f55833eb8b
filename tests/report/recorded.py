"""The recorded demonstrations as records, whole or changed, and what a reader sees of a report."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, RenderableType

from dialectree.records import SCHEMA, Call, Event, Failure, RunRecord, Verdict
from dialectree.records.folder import RunFolder
from dialectree.report import html, markdown
from tests.folding import fold

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {
    "tsd": ROOT / "graphs/tree_structured_debate/demo",
    "rsd": ROOT / "graphs/role_switching_debate/demo",
    "art": ROOT / "graphs/adaptive_reasoning_tree/demo",
    "tod": ROOT / "graphs/tree_of_debate/demo",
    "majority_debate": ROOT / "examples/majority_debate/majority_debate/demo",
}
"""One demonstration for each view of a debate, by its protocol."""
DEMOS = [*FOLDERS]
RUN = "20260131-120000-abc123"


def record(name: str) -> RunRecord:
    """Return the record of a demonstration, folded from its events, under an id of a run."""
    tree, verdict = fold(events(name))
    head = json.loads((FOLDERS[name] / "run.json").read_text())
    head |= {"schema": SCHEMA, "run_id": RUN, "started": "2026-01-31T12:00:00.000000Z"}
    return RunRecord.model_validate({**head, "tree": tree, "verdict": verdict})


def events(name: str) -> list[Event]:
    return RunFolder(FOLDERS[name]).events()


def calls(name: str = "tsd") -> list[Call]:
    return RunFolder(FOLDERS[name]).calls() if name in FOLDERS else []


def prefix(name: str, length: int) -> RunRecord:
    """Return a run that was broken off after some of its events."""
    tree, _ = fold(events(name)[:length])
    update = {"tree": tree, "verdict": None, "status": "partial", "ended": None}
    return record(name).model_copy(update={**update, "notices": ["the budget is used up"]})


def failed(name: str) -> RunRecord:
    """Return a run of which a part failed at every node."""
    found = record(name)
    for node in found.tree.nodes.values():
        node.failures = [Failure(role="any_judge", fault=f"no reply came at {node.id}")]
    found.status = "degraded"
    return found


def everywhere(name: str, text: str) -> RunRecord:
    """Return a run with ``text`` wherever a model or a person can put one; ids stay."""

    def spread(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: spread(part) for key, part in value.items()}
        if isinstance(value, list):
            return [spread(part) for part in value]
        return text if isinstance(value, str) and " " in value else value

    found = record(name)
    whole = found.model_dump(mode="json")
    for part in ("input", "verdict", "tree"):
        whole[part] = spread(whole[part])
    whole |= {"notices": [text], "started": text, "ended": text, "models": {text: text}}
    whole["settings"] |= {"prices": {text: [1.0, 2.0]}}
    whole["input"]["question"] = text
    found = RunRecord.model_validate(whole)
    assert found.verdict is not None
    found.verdict.label = found.verdict.confidence_source = text
    found.verdict.notes = [text]
    for node in found.tree.nodes.values():
        node.text, node.notes = text, [text]
        node.failures = [Failure(role=text, fault=text)]
        for turn in node.transcript:
            turn.fields |= {"more": [{"qid": text, text: text}], text: text}
        if node.verdict is not None:
            node.verdict.answer = node.verdict.rationale = node.verdict.winner = text
    return found


def unresolved(name: str, *notes: str) -> RunRecord:
    """Return a run that ended without an answer."""
    update = {"status": "unresolved", "verdict": Verdict(notes=[*notes])}
    return record(name).model_copy(update=update)


def texts(value: object) -> Iterator[str]:
    """Yield the sentences in a record, which no report may lose."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts(part)
    elif isinstance(value, str) and " " in value.strip():
        yield value


# What a reader sees


class Page(HTMLParser):
    """The elements, attributes, links and text that a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.names: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []
        self.said: list[str] = []
        self.feed(text)
        self.close()
        self.text = "".join(self.said)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.names |= {name for name, _ in attrs}
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in ("br", "hr", "link", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("script", "style"):
            self.said.append(data)


GFM = MarkdownIt("commonmark").enable(["table", "strikethrough"])
GAPS = {"hardbreak", "softbreak", "paragraph_close", "heading_close", "td_close", "th_close"}


def tokens(page: str) -> list[Token]:
    """Return the tokens of Markdown, those within lines included."""
    return [t for token in GFM.parse(page) for t in (token, *(token.children or []))]


def read(page: str) -> tuple[set[str], str]:
    """Return the kinds of markup in Markdown, and the text that a reader sees."""
    found = tokens(page)
    shown = (t for t in found if t.type != "html_inline" and not t.children)
    words = [" " if t.type in GAPS else t.content for t in shown]
    return {token.type for token in found}, "".join(words).replace("\u2060", "")


def seen(renderable: RenderableType, width: int = 80, height: int = 24) -> str:
    """Return what a person sees of it in a terminal without colours."""
    console = Console(file=io.StringIO(), width=width, height=height, color_system=None)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def flat(text: str) -> str:
    """Return ``text`` on one line and in small letters."""
    return " ".join(text.replace("’", "'").lower().split())


def page_of(record: RunRecord) -> str:
    return flat(Page(html(record, calls(record.protocol))).text)


def text_of(record: RunRecord) -> str:
    return flat(read(markdown(record, calls(record.protocol)))[1])


Shown = Callable[[RunRecord], str]
REPORTS: dict[str, Shown] = {"page": page_of, "text": text_of}

HOSTILE = [
    "<script>alert(1)</script>",
    "</details></style></title></main><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "{{ 7 * 7 }} {% raw %} {# no #}",
    "[l](javascript:alert(1)) ![i](https://example.org/i.png) <https://example.org>",
    "https://example.org www.example.org me@example.org mailto:me@example.org",
    "# head\n---\n> quote\n- item\n1. one\n| a | b |\n| - | - |\n```\ncode\n```",
    "    indented\n\n\n\n\ttab\n***\n===\n+ plus\n:-\n* star",
    "\x1b[31mred\x1b[0m \x1b]8;;http://example.org\x07link\x1b]8;;\x07 \x00\x07\x9b1m\ud800",
    "مرحبا \u202eabc\u202c \u2066x\u2069",
    "[red]bold[/red] [link=https://example.org]l[/link]",
    "`" * 5 + "~" * 5 + "\\" * 5 + "$x$ $$y$$ &amp; &#60;",
    "",
    " \n ",
    "word " * 2_000,
]
"""Texts that must come out as nothing but text."""
