"""A paper out of a file of any format: title, abstract, introduction, paragraphs of its body.

An arXiv id is fetched where there is a network.
"""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64decode
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import dropwhile
from pathlib import Path
from typing import Literal

import httpx
from pydantic import BaseModel

from dialectree.errors import InputError
from dialectree.retrieval import sections
from dialectree.retrieval.blocks import Block, Draft, reading, timely
from dialectree.retrieval.text import blocks_of, decoded, sound
from dialectree.retrieval.text import draft as draft_of_text
from dialectree.system import clock

LARGEST_TEXT = 20_000_000
"""Bytes of a text or JSON file."""
LARGEST_MARKUP = 2_000_000
"""Bytes of a LaTeX or Markdown file, which takes longer to read."""
LARGEST_PDF = 100_000_000
"""Bytes of a PDF."""

Kind = Literal["pdf", "text", "markdown", "latex", "json"]

ENDINGS: dict[str, Kind] = {
    ".pdf": "pdf",
    **dict.fromkeys((".txt", ".text"), "text"),
    **dict.fromkeys((".md", ".markdown"), "markdown"),
    **dict.fromkeys((".tex", ".latex", ".ltx"), "latex"),
    ".json": "json",
}
_ENDING = re.compile(r"\.[A-Za-z]\w{0,9}")
_LATEX = re.compile(rb"\\documentclass|\\documentstyle|\\begin\s*\{document\}")
_BETWEEN = "\n\n"
_OPENING = 3
"""Paragraphs that stand for an introduction which no heading names, or for an abstract."""
_ABSTRACT = 2_000
"""Characters that stand for an abstract, at most."""
ADDRESS = "https://arxiv.org"
DEADLINE = 15.0
"""Seconds for the whole download of a paper from arXiv."""
_ARCHIVE = r"(?:[a-z]{2,5}-[a-z]{2,4}|math|cs|nlin|physics|stat)(?:\.[A-Z]{2})?"
_ID = rf"([0-9]{{4}}\.[0-9]{{4,5}}|{_ARCHIVE}/[0-9]{{7}})(v[0-9]{{1,3}})?"
_PLAIN = re.compile(rf"(?:arxiv:\s*)?{_ID}", re.IGNORECASE)
_LINK = re.compile(
    rf"(?:https?://)?(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/{_ID}(?:\.pdf)?/?(?:[?#].*)?",
    re.IGNORECASE,
)


class PartMissing(InputError):
    """Raised for a file without a title; the caller can name the flag that sets it."""

    def __init__(self, name: str, missing: Literal["title"]) -> None:
        self.name, self.missing = name, missing
        super().__init__(f"{name}: no {missing} found in it; give its {missing}")


class Passage(BaseModel, frozen=True):
    """One paragraph of the body, in reading order."""

    text: str
    page: int | None = None
    """The page on which it begins, from 1; only a PDF has pages."""
    offset: int
    """Characters into the body."""
    heading: str | None = None
    """The heading that it stands under."""
    breaks: tuple[tuple[int, int], ...] = ()
    """Where it runs on to another page: (characters into the text, page), in order."""

    def page_at(self, position: int) -> int | None:
        """Return the page of the character at `position` of the text."""
        later = bisect_right([start for start, _ in self.breaks], position)
        return self.breaks[later - 1][1] if later else self.page


class Paper(BaseModel, frozen=True):
    """A paper as a persona knows it: what it says of itself, and its evidence."""

    name: str
    """The file's name without its folder, or the arXiv id."""
    title: str
    abstract: str
    introduction: str
    """The section of that name; without one, the first paragraphs of the body."""
    passages: tuple[Passage, ...]
    notices: tuple[str, ...] = ()
    """What is missing in the file, and what stands in its place."""

    @property
    def body(self) -> str:
        """Join the paragraphs with empty lines; a passage's offset counts into this text."""
        return _BETWEEN.join(passage.text for passage in self.passages)

    @cached_property
    def digest(self) -> str:
        """Hash title, abstract and passages, alike on every machine."""
        parts = [self.title, self.abstract, *(p.model_dump_json() for p in self.passages)]
        digest = hashlib.blake2b(digest_size=16)
        for part in parts:
            digest.update(f"{len(part)}:{part}".encode())
        return digest.hexdigest()


def read(source: str | Path, *, title: str | None = None, abstract: str | None = None) -> Paper:
    """Return the paper in a file, or the one that an arXiv id names; blocks while it reads.

    ``title`` and ``abstract`` go before what the file shows. Raises InputError, one line that
    names the file and says what to do; PartMissing where only the title is wanted. A paper without
    an abstract goes in with its opening paragraphs in its place, and ``notices`` say so.
    """
    return _read(*_fetched(source), title, abstract)


def read_attachment(
    name: str, content: str, *, title: str | None = None, abstract: str | None = None
) -> Paper:
    """Return the paper in a file that a client sent: its ``content`` in Base64, read as ``name``.

    Read no other file, even if this one includes some. Raises InputError as :func:`read` does, but
    not for a missing title: the file's name stands in its place.
    """
    try:
        data = b64decode(content, validate=True)
    except ValueError:
        raise InputError(f"{name}: its content is not Base64; send it again") from None
    if not data.strip():
        raise InputError(f"{name}: an empty file; give the paper's text")
    return _read(name, data, None, title, abstract, untitled=Path(name).stem)


def _read(
    name: str,
    data: bytes,
    folder: Path | None,
    title: str | None,
    abstract: str | None,
    untitled: str | None = None,
) -> Paper:
    """Return the paper in a file; ``untitled`` stands in for a title that is missing."""
    title, abstract = _stripped(title), _stripped(abstract)
    with reading(name):
        draft = draft_of(name, data, folder, title, abstracted=bool(abstract))
        if not title and not _on_one_line(draft.title) and untitled:
            notice = "no title found in it; the file's name stands in the title's place"
            draft = replace(draft, title=untitled, notices=[*draft.notices, notice])
        return _paper(name, draft, title, abstract)


def from_fields(fields: Mapping[str, object]) -> Paper:
    """Return the paper in an object of ``title``, ``abstract`` and ``body`` (or ``introduction``).

    ``name`` says what to call it. Raises InputError as :func:`read` does.
    """
    name = str(fields.get("name") or "the paper")
    with reading(name):
        return _paper(name, _draft_of_fields(fields, name))


def _paper(name: str, draft: Draft, title: str | None = None, abstract: str | None = None) -> Paper:
    """Make a paper of a draft; title and abstract of the caller go before its own."""
    name, title = sound(name), title or _on_one_line(draft.title)
    abstract = abstract or _stripped(draft.abstract)
    passages = tuple(passages_of(_own(draft.blocks, title, abstract)))
    if not passages and not (draft.title or draft.abstract):
        raise InputError(f"{name}: no text in it; give the paper's own file")
    if not title:
        raise PartMissing(name, "title")
    if not passages:
        raise InputError(f"{name}: no text besides title and abstract; add its introduction")
    introduction = _stripped(draft.introduction) or _introduction(passages)
    notices = [f"{name}: {notice}" for notice in draft.notices]
    if not abstract:
        abstract = _opening(introduction)
        notices.append(
            f"{name}: no abstract found in it; its opening paragraphs stand in the abstract's place"
        )
    return Paper(
        name=name,
        title=title,
        abstract=abstract,
        introduction=introduction,
        passages=passages,
        notices=tuple(notices),
    )


def _fetched(source: str | Path) -> tuple[str, bytes, Path | None]:
    """Return the paper's name, its bytes, and its folder."""
    identifier = None if _exists(source) else id_in(str(source))
    if identifier is not None:
        return f"arXiv:{identifier}", fetch(identifier), None
    path = Path(source)
    name = path.name or str(source) or "the paper"
    data = bytes_of(path, str(source) or name)
    if not data.strip():
        raise InputError(f"{name}: an empty file; give the paper's text")
    return name, data, path.parent


def _exists(source: str | Path) -> bool:
    try:
        return Path(source).exists()
    except (OSError, ValueError):
        return False


def bytes_of(path: Path, source: str) -> bytes:
    """Return at most one byte more than the largest file has; errors call it ``source``."""
    if not _exists(path):
        raise InputError(f"{source}: no such file; give a paper's file or an arXiv id")
    try:
        if path.is_file():
            with path.open("rb") as file:
                return file.read(LARGEST_PDF + 1)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise InputError(f"{source}: cannot be read ({why}); check the file") from None
    raise InputError(f"{source}: a folder or no plain file; name the paper's own file")


def id_in(source: str) -> str | None:
    """Return the id that ``source`` is, by itself or in an address of arXiv; None for others.

    Raises InputError for an address of another site.
    """
    text = source.strip()
    if match := _PLAIN.fullmatch(text) or _LINK.fullmatch(text):
        return match[1] + (match[2] or "").lower()
    if re.match(r"https?://", text, re.IGNORECASE):
        raise InputError(
            f"{text[:200]}: only arXiv's papers are fetched; download it and give the file"
        )
    return None


def fetch(identifier: str) -> bytes:
    """Download the paper's PDF; InputError says how to get it by hand where that fails."""
    until, data = clock.seconds() + DEADLINE, bytearray()
    # Without compression, so that a few bytes cannot unpack to gigabytes.
    headers = {"Accept-Encoding": "identity"}
    client = httpx.Client(timeout=DEADLINE, follow_redirects=True, headers=headers)
    try:
        with client, client.stream("GET", f"{ADDRESS}/pdf/{identifier}") as reply:
            if reply.status_code == 404:
                raise InputError(f"arXiv:{identifier}: arXiv has no such paper; check the id")
            if reply.status_code != 200:
                raise _failure(identifier, f"arXiv answers {reply.status_code}")
            for piece in reply.iter_raw():
                data += piece
                if len(data) > LARGEST_PDF:
                    raise _failure(identifier, f"over {LARGEST_PDF // 1_000_000} MB")
                if clock.seconds() > until:
                    raise _failure(identifier, f"not whole within {DEADLINE:g} s")
    except httpx.TimeoutException:
        raise _failure(identifier, f"no reply within {DEADLINE:g} s") from None
    except (httpx.HTTPError, httpx.InvalidURL):
        raise _failure(identifier, "no connection to arXiv") from None
    if b"%PDF-" not in data[:1024]:
        raise _failure(identifier, "arXiv answers with something else than a PDF")
    return bytes(data)


def _failure(identifier: str, why: str) -> InputError:
    return InputError(
        f"arXiv:{identifier}: {why}; download the PDF from {ADDRESS}/pdf/{identifier} by hand "
        "and give the file"
    )


def draft_of(
    name: str,
    data: bytes,
    folder: Path | None,
    title: str | None = None,
    *,
    abstracted: bool = False,
) -> Draft:
    """Return the draft of a file's ``data``.

    Raises InputError for an ending that is not read, and for a file that is too large.
    """
    kind = kind_of(name, data)
    largest = {"pdf": LARGEST_PDF, "latex": LARGEST_MARKUP, "markdown": LARGEST_MARKUP}.get(
        kind, LARGEST_TEXT
    )
    if len(data) > largest:
        raise InputError(
            f"{name}: over {largest // 1_000_000} MB, too large for a paper; cut it down"
        )
    if kind == "pdf":
        from dialectree.retrieval import pdf

        return pdf.draft(data, name=name)
    text = decoded(data, name)
    if kind == "latex":
        from dialectree.retrieval import latex

        return latex.draft(text, name=name, folder=folder)
    if kind == "markdown":
        from dialectree.retrieval import markdown

        return markdown.draft(text, titled=bool(title), abstracted=abstracted)
    if kind == "json":
        return _draft_of_json(text, name)
    return draft_of_text(text, title=title, abstracted=abstracted)


def _draft_of_json(text: str, name: str) -> Draft:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        why = str(error).splitlines()[0][:100]
        raise InputError(f"{name}: not one JSON object ({why})") from None
    if not isinstance(fields, dict):
        raise InputError(f"{name}: not a JSON object; give title, abstract and body")
    return _draft_of_fields(fields, name)


def _draft_of_fields(fields: Mapping[str, object], name: str) -> Draft:
    """Return the draft in a JSON object; without a body, its introduction is the body."""
    parts: dict[str, str] = {}
    for part in ("title", "abstract", "introduction", "body", "text"):
        value = fields.get(part) or ""
        if not isinstance(value, str):
            raise InputError(f'{name}: "{part}" is not text')
        parts[part] = value.strip()
    introduction = parts["introduction"]
    body = parts["body"] or parts["text"] or introduction
    if not body:
        raise InputError(f"{name}: no text in it; give a body or an introduction")
    return Draft(
        parts["title"] or None,
        parts["abstract"] or None,
        blocks_of(body),
        introduction or None,
    )


def kind_of(name: str, data: bytes) -> Kind:
    """Tell the kind of a file by its ending or, without one, by how it begins.

    Raises InputError for an ending of another kind: markup would be read as if it were prose.
    """
    if data.startswith(b"%PDF-"):
        return "pdf"
    ending = Path(name).suffix
    known = ENDINGS.get(ending.lower())
    if known is not None:
        return known
    if _ENDING.fullmatch(ending):
        raise InputError(
            f"{name}: files that end in {ending} are not read; give the paper as "
            f"{', '.join(ENDINGS)}, or by its arXiv id"
        )
    start = data[:20_000].lstrip(b"\xef\xbb\xbf \t\r\n")
    if b"%PDF-" in start[:1024]:
        return "pdf"
    if start.startswith(b"{"):
        return "json"
    return "latex" if _LATEX.search(start) else "text"


def _stripped(text: str | None) -> str | None:
    return sound(text).strip() or None if text else None


def _on_one_line(text: str | None) -> str | None:
    return " ".join(sound(text).split()) or None if text else None


def _own(blocks: Sequence[Block], title: str | None, abstract: str | None) -> list[Block]:
    """Return the body without references, and without title and abstract again."""
    own = sections.without_references(blocks)
    return list(dropwhile(lambda block: block.text in (title, abstract), own))


def passages_of(blocks: Sequence[Block]) -> Iterator[Passage]:
    """Return the paragraphs among ``blocks``, each with its place and its heading."""
    offset, heading = 0, None
    for block in timely(blocks):
        if block.heading:
            heading = block.text
            continue
        yield Passage(
            text=block.text, page=block.page, offset=offset, heading=heading, breaks=block.breaks
        )
        offset += len(block.text) + len(_BETWEEN)


def _introduction(passages: Sequence[Passage]) -> str:
    """Return the introduction with its subsections; without one, the first paragraphs."""
    headings = [passage.heading for passage in passages if passage.heading]
    opening = next((one for one in headings if sections.part(one) == "introduction"), None)
    if opening is None:
        return _BETWEEN.join(passage.text for passage in passages[:_OPENING])
    number = opening.split()[0].rstrip(".")
    texts: list[str] = []
    for passage in passages:
        own = passage.heading == opening
        if own or (texts and number.isdigit() and (passage.heading or "").startswith(f"{number}.")):
            texts.append(passage.text)
        elif texts:
            break
    return _BETWEEN.join(texts)


def _opening(introduction: str) -> str:
    """Return the first paragraphs, cut to the length of a long abstract."""
    opening = _BETWEEN.join(introduction.split(_BETWEEN)[:_OPENING])
    return opening if len(opening) <= _ABSTRACT else f"{opening[:_ABSTRACT].rsplit(None, 1)[0]} …"
