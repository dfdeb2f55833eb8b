"""Read prompts: Markdown files with a front matter, a system and a user part.

The user part may end in a ``# task``. Several calls of a debate share the text before the task.

A missing value is an error, never an empty string. Values are data: they are never read as template
text, and cannot close their tag (``<question> ... </question>``) or the message. A ``~`` after
the bracket breaks up each of our tags, and each mark of a chat template, in a value: ``<~question>``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import yaml
from jinja2 import Environment, StrictUndefined, Template

_FOLDER = Path(__file__).resolve().parent
_TAGS = (
    "question|path|children|transcript|candidates|opponent|integration|highlights|facts|unclear"
    "|background|options|answer|taken|ruling|claim|parent|argument|supporter|attacker|arguments"
    "|answers|draft|critique|topic|paper|paper_a|paper_b|evidence|claims|tree|before|after|summary"
    "|questions|material|points|checked"
)
_OURS = frozenset(_TAGS.split("|"))
"""The tags of our own prompts."""
_CLOSING_TAG = re.compile(r"</([a-z0-9_]+)>")
_PUT_IN = re.compile(r"\{[{%#]")
_CHAT = "s|bos|eos|sys|think|thinking|start_of_turn|end_of_turn|tool_call|tool_response"
_SQUARE = "inst|system_prompt|available_tools|tool_calls|tool_results"
"""Marks of chat templates without a bar: in angle brackets (``<s>``) and in square ones (``[INST]``)."""
_EVIDENCE = re.compile(r"[ep]\d{1,4}")
"""Ids of sentences and points, which only the program puts between square brackets."""
_CLOSING = frozenset(">˃›〉❭❯❱⟩⧽〉﹥＞]］")
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Fillers of Hangul, and Braille without dots: invisible, but letters or symbols in Unicode."""
_OPENING = r"[<˂‹〈❬❮❰⟨⧼〈﹤＜\[［]"
_INSIDE = r"(?:(?P<bar>[|｜│∣])|[\s/／∕⁄]*+(?P<name>\w+)(?P<next>\W?))"
_BRACKET = re.compile(f"{_OPENING}(?=(?P<sign>~?){_INSIDE}|)")
_BRACKET_ALONE = re.compile(f"{_OPENING}(~?)")


_BLOCK = re.compile(
    r"^<(?P<tag>\w+)>\n(?P<text>.*?)^</(?P=tag)>(?:\n(?P<behind>[^<\n][^\n]*))?", re.DOTALL | re.MULTILINE
)
"""A block of a rendered prompt, and the line right after it. No value can look like the block's tags."""
_CAPTION = re.compile(r"Th(?:at|ose|is|ese) (?:is|are|was|were) ([^.]+)\. ?")
WORDING: Mapping[str, bool] = {"medium": False, "by_text": False}
"""The flags that prompts test by ``{% if %}``; a strong model has both off. ``medium``: the wording is
for a model of medium size. ``by_text``: the reply names a candidate by the candidate's text."""
_LINE_OF_TURN = re.compile(r"[a-z_]+: (?P<text>.+)")
_POINT = "  "
"""The start of a line that gives one point of the turn above it."""
_FORM_OF_REPLY = re.compile(r"^Answer as JSON with [^\n]+$", re.MULTILINE)
_TRANSCRIPTS = ("transcript", "before", "after")
"""The blocks with the debaters' turns."""
_SUBJECTS = ("question", "topic", "claim", "parent")
"""The blocks that may be the subject of a debate. For a small model, the subject goes last: the first of
these blocks that the prompt has."""


def unseen(char: str) -> bool:
    """Return whether ``char`` is invisible by itself; white space does not count.

    Control, format and combining characters are invisible, including variation selectors.
    """
    kind = unicodedata.category(char)
    return (kind[0] in "CM" and not char.isspace()) or char in _BLANK_LETTERS


def escape_tags(text: str, tags: Collection[str] = _OURS) -> str:
    """Break up ``tags`` and the marks of chat templates by a ``~`` after the bracket: ``<~s>``.

    The bracket may be of any script. :func:`unescape_tags` removes each ``~``, so that a quotation is
    found in its source.
    """
    marks = iter([not bracket["sign"] and _is_mark(bracket, tags) for bracket in _brackets(text)])
    return _BRACKET_ALONE.sub(lambda bracket: bracket[0] + "~" * next(marks), text)


def unescape_tags(text: str) -> str:
    """Restore the tags and marks that :func:`escape_tags` broke up in a quotation."""
    marks = iter([_is_mark(bracket) for bracket in _brackets(text)])
    return _BRACKET_ALONE.sub(lambda bracket: bracket[0][: 1 if next(marks) else None], text)


def _brackets(text: str) -> Iterator[re.Match[str]]:
    """Yield every opening bracket of ``text`` with the visible text after it."""
    if not _BRACKET_ALONE.search(text):  # most texts have none
        return iter(())
    hidden = {ord(char) for char in set(text) if unseen(char)}
    return _BRACKET.finditer(text.translate(dict.fromkeys(hidden)) if hidden else text)


def _is_mark(bracket: re.Match[str], tags: Collection[str] = _OURS) -> bool:
    """Return whether a bracket and the text after it look like a tag, a mark of a chat template or an id."""
    letters = unicodedata.normalize("NFKD", bracket["name"] or "")
    name = "".join(char for char in letters if char.isascii()).casefold()
    closed = bracket["next"] in _CLOSING
    if bracket[0] in "[［":
        listed = closed or bracket["next"] == ","
        return (closed and name in _SQUARE.split("|")) or bool(listed and _EVIDENCE.fullmatch(name))
    if bracket["bar"] or name in tags:
        return True
    mixed = not letters.isascii() and re.search("[a-z]", name)  # е, of another script, looks like e
    return closed and (name in _CHAT.split("|") or bool(mixed))


def _as_data(value: object, tags: Collection[str] = _OURS) -> object:
    """Return a text with its tags and marks broken up, or any other value unchanged."""
    return escape_tags(value, tags) if isinstance(value, str) else value


_TEMPLATES = Environment(
    undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False, finalize=_as_data
)


def _line(value: str) -> str:
    """Put a text on one line, so that a list item cannot look like two."""
    return " ".join(value.split())


_TEMPLATES.filters["line"] = _line


def _templates(source: str) -> Environment:
    """Return the environment that renders a prompt; in values, it also breaks up the prompt's own tags."""
    tags = _OURS.union(_CLOSING_TAG.findall(source))
    if tags == _OURS:
        return _TEMPLATES
    return _TEMPLATES.overlay(finalize=partial(_as_data, tags=tags))


class Prompt(NamedTuple):
    """A prompt: its name, its decoding settings, and its two parts."""

    name: str
    version: int
    reply: str
    """The name of the reply's class."""
    temperature: float
    top_p: float | None
    source: str
    system: Template | str
    """The system message; plain text if it takes no values."""
    user: Template
    """The user message, or its part before the task."""
    task: Template | None
    body: str
    """All parts, as in the file."""

    @property
    def label(self) -> str:
        """Return name and version, as traces and records show them."""
        return f"{self.name}@{self.version}"

    def render(self, values: Mapping[str, object], **wording: bool) -> tuple[str, str]:
        """Return the system and the user message; a missing value raises UndefinedError.

        ``wording`` sets flags of :data:`WORDING`.
        """
        values = {**WORDING, **wording, **values}
        system = self.system
        system_message = system if isinstance(system, str) else system.render(values).strip()
        user = self.user.render(values).strip()
        if self.task is not None:
            user = f"{user}\n\n{self.task.render(values).strip()}"
        return system_message, user

    def shared(self, values: Mapping[str, object], **wording: bool) -> str:
        """Return the part of the user message before the task; "" if the prompt has no task."""
        if self.task is None:
            return ""
        return self.user.render({**WORDING, **wording, **values}).strip()


def for_small_model(system: str, user: str) -> tuple[str, str]:
    """Return a rendered prompt in the form for small models: instructions, material, question.

    Each block between tags becomes a paragraph of the user message, and all other words become part
    of the system message. The line right after a block moves with it: "That is the debate so far."
    becomes the heading "The debate so far:".
    """
    blocks = [*_BLOCK.finditer(user)]
    if not blocks:
        return system, user
    by_tag = {block["tag"]: block for block in blocks}
    last = next((by_tag[tag] for tag in _SUBJECTS if tag in by_tag), blocks[-1])
    instructions = [system.replace("Text between tags", "The text below"), _BLOCK.sub("", user)]
    material = []
    for block in sorted(blocks, key=lambda block: block is last):
        heading, behind = block["tag"].replace("_", " "), block["behind"] or ""
        if caption := _CAPTION.match(behind):
            heading, behind = caption[1], behind[caption.end() :]
        empty = not block["text"].strip()
        if empty or block is last:
            instructions.append(behind)
            behind = ""
        if not empty:
            material.append(f"{heading[:1].upper()}{heading[1:]}:\n{block['text']}{behind}")
    return _paragraphs(instructions), _paragraphs(material)


def for_medium_model(system: str, user: str) -> tuple[str, str]:
    """Return a rendered prompt in the form for models of medium size.

    The prompt stays whole. In the transcript, the fields of each turn become one quotation in prose,
    because a model would take fields for the reply to write. The transcript is equal for all roles,
    so that a server reads it once. The end repeats the line that names the fields of the reply.
    """
    user = _BLOCK.sub(_quote_turns, user)
    reply_forms = _FORM_OF_REPLY.findall(system)
    if reply_forms and not user.endswith(reply_forms[-1]):
        user = f"{user}\n\n{reply_forms[-1]}"
    return system, user


def _quote_turns(block: re.Match[str]) -> str:
    """Return a block with the fields of each turn as one quotation, and the turn's points below it."""
    if block["tag"] not in _TRANSCRIPTS:
        return block[0]
    lines: list[str] = []
    spoken_texts: list[str] = []
    points: list[str] = []

    def quote() -> None:
        if spoken_texts:
            lines.append(f"“{' '.join(spoken_texts)}”")
        lines.extend(points)
        spoken_texts.clear()
        points.clear()

    for line in block["text"].splitlines():
        part = _LINE_OF_TURN.fullmatch(line)
        if part is not None:
            spoken_texts.append(part["text"])
        elif spoken_texts and line.startswith(_POINT):
            points.append(line)
        else:
            quote()
            lines.append(line)
    quote()
    text = "".join(f"{line}\n" for line in lines)
    return block[0].replace(block["text"], text, 1) if block["text"] else block[0]


def _paragraphs(texts: Iterable[str]) -> str:
    """Join texts with an empty line between them."""
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(text.strip() for text in texts)).strip()


def load(name: str, version: int | None = None) -> Prompt:
    """Return the prompt in the file ``name`` + ``.md``, such as ``tree_of_debate/present``.

    The folder in the name is beside this module, or is a package with a folder ``prompts``. A name
    without a folder is a part of other prompts. An earlier ``version``, which an old run used, is
    read from ``earlier/NAME@VERSION.md`` beside today's prompt. If that file is missing, today's
    prompt is used.
    """
    newest = _load(name, "")
    if version is None or version == newest.version:
        return newest
    folder, _, file = name.rpartition("/")
    earlier = f"earlier/{file}@{version}"
    has_earlier_file = ((_folder(folder) if folder else _FOLDER) / f"{earlier}.md").is_file()
    return _load(name, earlier) if has_earlier_file else newest


@cache
def _load(name: str, earlier: str) -> Prompt:
    folder, _, file = name.rpartition("/")
    path = (_folder(folder) if folder else _FOLDER) / f"{earlier or file}.md"
    _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    head = yaml.safe_load(front)
    _, _, parts = body.partition("# system\n")
    system, mark, user = parts.partition("\n# user\n")
    user, _, task = user.partition("\n# task\n")
    if not (system.strip() and mark and user.strip()):
        raise ValueError(f"the prompt {name} needs a '# system' and a '# user' part")
    templates = _templates(body)
    return Prompt(
        name=name,
        version=int(head["version"]),
        reply=str(head["reply"]),
        temperature=float(head["temperature"]),
        top_p=float(head["top_p"]) if "top_p" in head else None,
        source=str(head["source"]),
        system=templates.from_string(system) if _PUT_IN.search(system) else system.strip(),
        user=templates.from_string(user),
        task=templates.from_string(task) if task else None,
        body=body,
    )


@cache
def names(folder: str) -> tuple[str, ...]:
    """Return the names of the prompts in ``folder``, in alphabetical order."""
    return tuple(sorted(f"{folder}/{path.stem}" for path in _folder(folder).glob("*.md")))


@cache
def _folder(name: str) -> Path:
    if (subfolder := _FOLDER / name).is_dir():
        return subfolder
    package = find_spec(name)
    if package is None or not package.submodule_search_locations:
        raise ValueError(f"there is no folder of prompts and no package {name}")
    return Path(package.submodule_search_locations[0]) / "prompts"
