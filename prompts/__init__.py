"""Prompts are documents: Markdown files with a front matter, a system and a user part.

A missing value is an error, never an empty string. What is put in is data: it is never read as
template text, and it cannot close the tag (``<question> ... </question>``) that it stands in.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml
from jinja2 import Environment, StrictUndefined, Template

_FOLDER = Path(__file__).resolve().parent
_TAGS = (
    "question|path|children|transcript|candidates|opponent|integration|highlights|facts|unclear"
    "|background|options|answer|taken|ruling|claim|parent|argument|supporter|attacker|arguments"
    "|answers|draft|critique|topic|paper|paper_a|paper_b|evidence|claims|tree|before|after|summary|questions"
)
_PUT_IN = re.compile(r"\{[{%#]")
_TAG = re.compile(rf"<(?=\s*/?\s*(?:{_TAGS})\b)", re.IGNORECASE)


def _as_data(value: object) -> object:
    """Text in which our own tags have lost their bracket; everything else as it is."""
    return _TAG.sub("‹", value) if isinstance(value, str) and "<" in value else value


_TEMPLATES = Environment(
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,
    finalize=_as_data,
)


def _line(value: str) -> str:
    """Text on one line: an item of a list cannot pass for two, nor one debater for the other."""
    return " ".join(value.split())


_TEMPLATES.filters["line"] = _line


class Prompt(NamedTuple):
    """One prompt, read once: what it is called, how it is decoded, and its two parts."""

    name: str
    version: int
    reply: str
    """The class of the reply that it asks for."""
    temperature: float
    top_p: float | None
    source: str
    system: Template | str
    """A text where nothing is put in."""
    user: Template

    @property
    def label(self) -> str:
        """Name and version, as they stand in traces and records."""
        return f"{self.name}@{self.version}"

    def render(self, values: dict[str, object]) -> tuple[str, str]:
        """The system and the user message; a value that is missing raises UndefinedError."""
        system = self.system
        said = system if isinstance(system, str) else system.render(values).strip()
        return said, self.user.render(values).strip()


@cache
def load(name: str) -> Prompt:
    """The prompt of the file ``name`` + ``.md``, such as ``tree_structured_debate/leaf_judge``."""
    _, front, body = (_FOLDER / f"{name}.md").read_text(encoding="utf-8").split("---\n", 2)
    head = yaml.safe_load(front)
    _, _, parts = body.partition("# system\n")
    system, mark, user = parts.partition("\n# user\n")
    if not (system.strip() and mark and user.strip()):
        raise ValueError(f"the prompt {name} needs a '# system' and a '# user' part")
    return Prompt(
        name=name,
        version=int(head["version"]),
        reply=str(head["reply"]),
        temperature=float(head["temperature"]),
        top_p=float(head["top_p"]) if "top_p" in head else None,
        source=str(head["source"]),
        system=_TEMPLATES.from_string(system) if _PUT_IN.search(system) else system.strip(),
        user=_TEMPLATES.from_string(user),
    )


@cache
def names(protocol: str = "*") -> tuple[str, ...]:
    """The prompts of ``protocol``, or all there are, in alphabetical order."""
    found = _FOLDER.glob(f"{protocol}/*.md")
    return tuple(sorted(path.relative_to(_FOLDER).with_suffix("").as_posix() for path in found))
