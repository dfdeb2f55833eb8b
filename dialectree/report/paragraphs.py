"""Print each turn of a debate as a paragraph: who speaks, in which phase, then the words.

What stands in a reply for programs, such as the ids of the evidence, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pydantic import JsonValue
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dialectree.records import Event, RunRecord, Turn
from dialectree.report import words
from dialectree.report.progress import ACCENT, SECOND, SOFT, Lines
from dialectree.text import clean, figure, label

_TITLES = ("title", "name")
_QUOTATIONS = ("quote", "quotation")
_LONGEST_ID = 30
"""Characters of a word that may be an id or a label; a longer one is a text without spaces."""
_SAID_LINES = 2
"""Lines of a node's text as a heading, where the text was said before."""
_STYLES = {"a": ACCENT, "support": ACCENT, "b": SECOND, "attack": SECOND}
"""Colours of those who face each other, by name or by stance."""


class Passage(NamedTuple):
    """One field of a reply that people read: a text, or several that are numbered."""

    label: str
    """Empty for the text that the turn begins with."""
    texts: list[str]
    style: str = ""


def passages(turn: Turn) -> list[Passage]:
    """Return the texts of ``turn`` in their order; a title first, if there is one."""
    title = [Passage("", [clean(text)], "bold") for text in _titles(turn.fields)]
    fields = {name: value for name, value in turn.fields.items() if name not in _TITLES}
    found: list[Passage] = []
    for name, value in fields.items():
        items = value if isinstance(value, list) else [value]
        texts = [text for item in items if item != turn.side and (text := _joined(item))]
        if texts:
            begins = not found and (len(texts) == 1 or len(fields) == 1)
            found.append(Passage("" if begins else label(name), texts))
    return title + found


def facts(turn: Turn) -> list[str]:
    """``Winner: A``, ``Confidence: 0.80``: what a reply says in one word or one number.

    None of a reply whose lists hold no text, as an assessment of evidence by ids.
    """
    lists = any(isinstance(value, list | dict) and value for value in turn.fields.values())
    if lists and not passages(turn):
        return []
    return [
        f"{label(name)}: {text}"
        for name, value in turn.fields.items()
        if value != turn.side and (text := _fact(value))
    ]


def length(turn: Turn) -> int:
    """Return the number of words that are printed of ``turn``."""
    return sum(len(text.split()) for passage in passages(turn) for text in passage.texts)


def _reads(value: JsonValue) -> bool:
    """Return whether ``value`` is a text for people, not an id or a label."""
    return isinstance(value, str) and (" " in value.strip() or len(value) > _LONGEST_ID)


def _titles(fields: Mapping[str, JsonValue]) -> Iterator[str]:
    return (str(fields[name]) for name in _TITLES if _reads(fields.get(name)))


def _joined(item: JsonValue) -> str:
    """Return all texts of one item of a list as one: ``A title: its description``."""
    joined = ""
    for text in _texts("", item):
        joined += text if not joined else f" {text}" if joined[-1] in ".!?" else f": {text}"
    parts = item.values() if isinstance(item, dict) else ()
    numbers = [_fact(part) for part in parts if isinstance(part, float)]
    return f"{joined} ({', '.join(numbers)})" if joined and numbers else joined


def _texts(name: str, value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        for field, part in value.items():
            yield from _texts(field, part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(name, part)
    elif _reads(value):
        text = clean(str(value))
        yield f"“{text}”" if name in _QUOTATIONS else text


def _fact(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        return figure(value)
    if isinstance(value, int):
        return str(value)
    if not isinstance(value, str) or _reads(value):
        return ""
    return clean(value)


def _grid(columns: int) -> Table:
    grid = Table.grid(padding=(0, 1, 0, 0))
    for _ in range(columns):
        grid.add_column(overflow="fold")  # a text without spaces goes on in the next line
    return grid


class Paragraphs(Lines):
    """Print every turn as it comes, and the question of a node before its turns."""

    def __init__(self, console: Console, record: RunRecord, rounds: Mapping[str, int]) -> None:
        super().__init__(console)
        self._record, self._rounds = record, rounds
        self._node = ""
        self._said: set[str] = set()

    def __exit__(self, *_: object) -> None:
        """Part the turns from what follows."""
        self._print()

    def watch(self, event: Event) -> None:
        """Print the turn of ``event``, unless it says nothing to people, or its failure."""
        super().watch(event)
        if event.kind != "spoke":
            return
        turn = event.turn()
        new = [one for one in passages(turn) if not self._said.issuperset(one.texts)]
        ruled = facts(turn)
        if not new and not ruled:
            return
        if event.node != self._node:
            self._node = event.node
            self._print_heading()
        self._print()  # what is typed meanwhile, such as ^C, stands on this empty line
        self._print(self._speaker(turn))
        body = _grid(1)
        for passage in new:
            self._add(body, passage)
        self._print(Padding(body, (0, 0, 0, 2)))
        if ruled:
            self._print(Padding(Text(" · ".join(ruled), SOFT), (0, 0, 0, 2)))
        self._said.update(text for passage in new for text in passage.texts)

    def _print_heading(self) -> None:
        """Print the text of the node, of at most two lines if somebody said it already."""
        node, several = self._record.tree.nodes[self._node], len(self._record.tree.nodes) > 1
        name = Text(f"{clean(node.id)}  " if several else "", ACCENT)
        marks = f"{words.stance(node.stance)}: " if node.stance else ""
        heading = Text.assemble(name, (f"{marks}{clean(node.text)}", "bold"))
        lines = [*heading.wrap(self._console, self._console.width - 2)]
        if len(lines) > _SAID_LINES and clean(node.text) in self._said:
            lines = lines[:_SAID_LINES]
            lines[-1].rstrip()
            lines[-1].append(" …")
        self._print()
        self._print(Text("\n").join(lines))
        if not self._said:
            own = words.own_view(self._record)
            for text in own.introduction(self._record) if own is not None else []:
                self._print(Text(clean(text)))

    def _speaker(self, turn: Turn) -> Text:
        """``Debater A · Cross-examination · defends plants``."""
        last = self._rounds.get(turn.phase)
        number = f", round {turn.round} of {last}" if last and turn.round else ""
        again = "second pass: " if turn.take > 1 else ""
        parts = [f"{again}{label(turn.phase)}{number}", words.task(turn, self._record)]
        style = _STYLES.get(turn.side or "") or _STYLES.get(turn.speaker.lower(), "")
        who = words.speaker(turn, self._record.tree.nodes[self._node], self._record)
        about = "".join(f" · {clean(part)}" for part in parts if part)
        return Text.assemble((clean(who), f"bold {style}"), (about, SOFT))

    def _add(self, body: Table, passage: Passage) -> None:
        """Add a passage to a grid of one column: a text, or a list with its numbers."""
        name = (f"{passage.label}: " if passage.label else "", SOFT)
        if len(passage.texts) == 1:
            body.add_row(Text.assemble(name, (passage.texts[0], passage.style)))
            return
        if passage.label:
            body.add_row(Text(f"{passage.label}:", SOFT))
        items = _grid(2)
        for number, text in enumerate(passage.texts, 1):
            items.add_row(f"{number}.", Text(text))
        body.add_row(items)

    def _print(self, part: RenderableType = "") -> None:
        self._console.print(part, highlight=False)
