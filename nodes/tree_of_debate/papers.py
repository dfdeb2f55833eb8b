"""The two papers of a comparison, from the user's input to the form for a debate."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import ValidationError

from dialectree.errors import InputError, fault_line
from dialectree.flow.steps import require_question
from dialectree.nodes.tree_of_debate.state import LETTERS, Author, Letter, PaperGiven, Settings
from dialectree.retrieval.papers import AmendedPaper, Paper, PartMissing, from_fields, read, read_attachment
from dialectree.retrieval.text import sound

_KEY = re.compile(r"[\w.:/+'-]+")


def prepare(debate_input: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Read both papers; return them and the topic in the form for the graphs."""
    reader = settings.find_reader()
    papers = [_read(letter, debate_input, reader) for letter in LETTERS]
    require_question({"question": debate_input["topic"]}, "topic")
    return {
        "question": debate_input["topic"],
        "papers": [
            as_data(source.paper, debate_input.get(f"key_{letter}"))
            for letter, source in sources(papers).items()
        ],
    }


def _read(letter: Letter, debate_input: Mapping[str, Any], reader: object) -> Mapping[str, Any]:
    """Return one paper of the input as plain data; blocks while it reads a file."""
    paper = debate_input.get(f"paper_{letter}")
    if paper is None:
        raise InputError(f"paper {letter}: give a file, an arXiv id or a mapping")
    parts = {part: debate_input.get(f"{part}_{letter}") for part in ("title", "abstract")}
    try:
        if not isinstance(paper, Mapping):
            return as_data(read(paper, **parts, reader=reader), debate_input.get(f"key_{letter}"))
        if "base64" in paper:
            name, content = str(paper.get("name") or f"paper {letter}"), str(paper["base64"])
            attached = read_attachment(name, content, **parts, reader=reader)
            return as_data(attached, debate_input.get(f"key_{letter}"))
        return cast(Mapping[str, Any], encodable(paper))
    except PartMissing as error:
        missing = error.missing
        raise InputError(
            f"{error.name}: no {missing} found in it; give it with `{missing}_{letter}`"
        ) from None


def require(debate_input: Mapping[str, Any]) -> dict[Letter, AmendedPaper]:
    """Return both papers; raise InputError if the topic or one of them is missing."""
    require_question(debate_input, "topic")
    return sources(debate_input.get("papers") or [])


def sources(papers: Sequence[Mapping[str, Any]]) -> dict[Letter, AmendedPaper]:
    """Return both papers; raise InputError unless there are two comparable papers."""
    if not isinstance(papers, list | tuple) or len(papers) != 2:
        raise InputError("papers: give exactly two papers")
    pair: dict[Letter, AmendedPaper] = {
        letter: _source(letter, paper) for letter, paper in zip(LETTERS, papers, strict=True)
    }
    a, b = pair["a"].paper, pair["b"].paper
    if a.body.split() == b.body.split():
        names = a.name if a.name == b.name else f"{a.name} and {b.name}"
        raise InputError(f"{names}: both papers are the same text; there is nothing to compare")
    key_a, key_b = (paper.get("key") for paper in papers)
    if key_a and key_a == key_b:
        raise InputError(f"papers: both have the BibTeX key {key_a!r}; give each its own")
    return pair


def _source(letter: Letter, raw_paper: Mapping[str, Any]) -> AmendedPaper:
    if not isinstance(raw_paper, Mapping):
        raise InputError(f"paper {letter}: give a mapping with title, abstract and body")
    fields = {name: encodable(value) for name, value in raw_paper.items() if name != "key"}
    if (key := raw_paper.get("key")) and not _KEY.fullmatch(str(key)):
        printable_key = sound(str(key)[:80])
        raise InputError(f"paper {letter}: {printable_key!r} is no BibTeX key; give one like rahimi2007")
    try:
        paper = Paper.model_validate(fields) if "passages" in fields else from_fields(fields)
    except PartMissing as error:
        raise InputError(f"paper {letter}: {error.missing}: give {error.name} one") from None
    except ValidationError as error:
        raise InputError(f"paper {letter}: {fault_line(error)}") from None
    return AmendedPaper(paper=paper)


def encodable(value: object) -> object:
    """Replace lone surrogates in all texts of plain data by question marks, as in a file."""
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, Mapping):
        return {name: encodable(part) for name, part in value.items()}
    return [*map(encodable, value)] if isinstance(value, list | tuple) else value


def authors(papers: Mapping[Letter, AmendedPaper], *, introduced: bool) -> dict[Letter, Author]:
    """Return the papers for the roles: with their introductions, or else with the names to search by."""
    return {
        letter: {
            "title": source.paper.title,
            "abstract": source.paper.abstract,
            "introduction": source.paper.introduction if introduced else "",
            "source": "" if introduced else source.digest,
        }
        for letter, source in papers.items()
    }


def as_data(paper: Paper, key: str | None = None) -> PaperGiven:
    """Return a paper as plain data, for a graph's input and a record."""
    plain = cast(PaperGiven, paper.model_dump(mode="json", exclude_defaults=True))
    return {**plain, "key": key} if key else plain
