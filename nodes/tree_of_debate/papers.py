"""The two papers of a comparison, from what a caller gives to what a debate reads."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from dialectree.errors import InputError
from dialectree.nodes.tree_of_debate.state import PaperGiven
from dialectree.nodes.tree_of_debate.topics import LETTERS, Author, Letter
from dialectree.retrieval.library import Source
from dialectree.retrieval.papers import Paper, PartMissing, from_fields, read
from dialectree.retrieval.text import sound

_KEY = re.compile(r"[\w.:/+'-]+")


def sources(papers: Sequence[Mapping[str, Any]]) -> dict[Letter, Source]:
    """Both papers; InputError where they are not two papers that can be compared."""
    if not isinstance(papers, list | tuple) or len(papers) != 2:
        raise InputError("papers: give two of them")
    found: dict[Letter, Source] = {
        letter: _source(letter, p) for letter, p in zip(LETTERS, papers, strict=True)
    }
    a, b = (source.paper for source in found.values())
    if a.body.split() == b.body.split():
        names = a.name if a.name == b.name else f"{a.name} and {b.name}"
        raise InputError(f"{names}: both papers are the same text; there is nothing to compare")
    key_a, key_b = (paper.get("key") for paper in papers)
    if key_a and key_a == key_b:
        raise InputError(f"papers: both have the BibTeX key {key_a!r}; give each its own")
    return found


def encodable(given: Mapping[str, Any]) -> dict[str, Any]:
    """A paper as plain data in which half a character is a question mark, as in a file."""
    return {name: _sound(value) for name, value in given.items()}


def _sound(value: Any) -> Any:
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, Mapping):
        return encodable(value)
    return [*map(_sound, value)] if isinstance(value, list | tuple) else value


def _source(letter: Letter, given: Mapping[str, Any]) -> Source:
    if not isinstance(given, Mapping):
        raise InputError(f"paper {letter}: give a mapping with title, abstract and body")
    try:
        fields = encodable({name: value for name, value in given.items() if name != "key"})
        if (key := given.get("key")) and not _KEY.fullmatch(str(key)):
            shown = sound(str(key)[:80])
            raise InputError(
                f"paper {letter}: {shown!r} is no BibTeX key; give one like rahimi2007"
            )
        paper = Paper.model_validate(fields) if "passages" in fields else from_fields(fields)
        return Source(paper=paper)
    except PartMissing as error:
        raise InputError(f"paper {letter}: {error.missing}: give {error.name} one") from None
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(map(str, fault["loc"]))
        raise InputError(f"paper {letter}: {where}: {fault['msg']}") from None


def authors(found: Mapping[Letter, Source], *, introduced: bool) -> dict[Letter, Author]:
    """The papers as everybody knows them; ``introduced``: with their introductions."""
    return {
        letter: {
            "title": source.paper.title,
            "abstract": source.paper.abstract,
            "introduction": source.paper.introduction if introduced else "",
            "source": source.digest,
        }
        for letter, source in found.items()
    }


PARTS = ("paper", "title", "abstract", "key")
"""What a user gives of each paper."""


def read_paper(
    letter: Letter,
    paper: str | Path | Mapping[str, Any] | None,
    title: str | None,
    abstract: str | None,
    key: str | None,
) -> Mapping[str, Any]:
    """Return a paper as plain data, whatever way it was given; it blocks while it reads a file."""
    if isinstance(paper, Mapping):
        return encodable(paper)
    if paper is None:
        raise InputError(f"paper {letter}: give a file, an arXiv id or a mapping")
    try:
        return as_data(read(paper, title=title, abstract=abstract), key)
    except PartMissing as error:
        missing = error.missing
        raise InputError(
            f"{error.name}: no {missing} found in it; give it with --{missing}-{letter}"
        ) from None


def as_data(paper: Paper, key: str | None = None) -> PaperGiven:
    """Return a paper as plain data: what a graph takes and a record keeps."""
    plain = cast(PaperGiven, paper.model_dump(mode="json", exclude_defaults=True))
    return {**plain, "key": key} if key else plain
