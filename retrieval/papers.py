"""Read a paper from a file of any format: title, abstract, introduction, blocks of its body.

A paper named by an arXiv id is downloaded.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import dropwhile
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from dialectree.errors import InputError
from dialectree.retrieval import arxiv, sections
from dialectree.retrieval.blocks import (
    Block,
    BlockKind,
    LeftOut,
    Reading,
    describe_left_out,
    flowing,
    reading,
    timely,
    words_of,
)
from dialectree.retrieval.builder import DocumentBuilder
from dialectree.retrieval.formats import (
    LARGEST_FILE,
    File,
    UnknownFormat,
    decode_file,
    find_format,
    require_size,
)
from dialectree.retrieval.kept_files import read_once
from dialectree.retrieval.reading_process import ReadingProcess, read_file
from dialectree.retrieval.text import blocks_of, read_titled_text, sound
from dialectree.system.addresses import describe_missing_file

_BETWEEN = "\n\n"
_OPENING = 3
"""Number of first paragraphs used as a missing introduction or abstract."""
_ABSTRACT = 2_000
"""Most characters used as a missing abstract."""
_ABSTRACT_WORDS: dict[str, int | None] = {"text": 0, "markdown": 0, "latex": None}
"""By format, the fewest words of a first paragraph that counts as the abstract; None if none counts."""
_OTHER_ABSTRACT_WORDS = 30
"""The fewest words in any other format, where a shorter paragraph may be an address."""
_LONGEST_TITLE = 200
"""Most characters of a first paragraph that is the title."""
_TITLE_PAGE, _REFERENCES = "title page", "references"
"""Reasons to leave text of a paper out of the evidence."""


class PartMissing(InputError):
    """Raised for a file without a title. The caller can name the flag that sets the title."""

    def __init__(self, name: str, missing: Literal["title"]) -> None:
        self.name, self.missing = name, missing
        super().__init__(f"{name}: no {missing} found in it; give its {missing}")


class Passage(BaseModel, frozen=True):
    """A block of a document or a paper, in reading order."""

    text: str
    page: int | None = None
    """The page on which the passage begins, from 1; None if the file has no pages."""
    offset: int
    """The start of the passage in the body, in characters."""
    heading: str | None = None
    """The heading above the passage."""
    breaks: tuple[tuple[int, int], ...] = ()
    """Page breaks inside the passage: (characters into the text, new page), in order."""
    kind: BlockKind = "paragraph"

    def page_at(self, position: int) -> int | None:
        """Return the page of the character at `position` of the text."""
        later = bisect_right([start for start, _ in self.breaks], position)
        return self.breaks[later - 1][1] if later else self.page


class Paper(BaseModel, frozen=True):
    """A paper as a persona knows it: title, abstract, introduction and evidence."""

    name: str
    """The file's name without its folder, or the arXiv id."""
    title: str
    abstract: str
    introduction: str
    """The section called introduction, or else the first paragraphs of the body."""
    passages: tuple[Passage, ...]
    notices: tuple[str, ...] = ()
    """Notes on parts that the file lacks, on their substitutes, and on text left out."""
    version: Literal[1, 2] = 1
    """The rules for cutting the paper into segments. 1: it is plain paragraphs, as in earlier versions
    and for a body given as text. 2: it is blocks of several kinds."""

    @property
    def body(self) -> str:
        """Return the passages joined by empty lines; a passage's offset is its place in this text."""
        return _BETWEEN.join(passage.text for passage in self.passages)

    @cached_property
    def digest(self) -> str:
        """Return a hash of title, abstract and passages, equal on every machine."""
        unhashed = {"kind"} if self.version == 1 else None
        passages = (passage.model_dump_json(exclude=unhashed) for passage in self.passages)
        parts = [self.title, self.abstract, *passages]
        digest = hashlib.blake2b(digest_size=16)
        for part in parts:
            digest.update(f"{len(part)}:{part}".encode())
        return digest.hexdigest()


class AmendedPaper(BaseModel, frozen=True):
    """A paper, and a person's changes to its segments."""

    paper: Paper
    amended: Mapping[int, str | None] = {}
    """New texts by the number of the segment; None drops the segment."""

    @property
    def digest(self) -> str:
        """Return the digest of the amended paper; without changes, the paper's own."""
        if not self.amended:
            return self.paper.digest
        changes = repr((self.paper.digest, sorted(self.amended.items())))
        return hashlib.blake2b(changes.encode(), digest_size=16).hexdigest()


def read(
    source: str | Path, *, title: str | None = None, abstract: str | None = None, reader: object = None
) -> Paper:
    """Return the paper in a file, or the paper with an arXiv id. The call blocks while it reads.

    ``title`` and ``abstract`` replace those of the file. ``reader`` replaces our reader, as in
    :func:`dialectree.retrieval.sources.read_sources`. Raises InputError, whose one line names the
    file and says what to do, and PartMissing if only the title is missing. A missing abstract is
    replaced by the opening paragraphs, and the paper's ``notices`` say so.
    """
    return _read(_open(source), title, abstract, reader=reader)


def read_attachment(
    name: str, content: str, *, title: str | None = None, abstract: str | None = None, reader: object = None
) -> Paper:
    """Return the paper in a file called ``name`` that a client sent; ``content`` is the file in Base64.

    No other file is read, even if the paper includes files. Raises InputError as :func:`read` does,
    but not for a missing title: the file's name replaces the title.
    """
    try:
        data = b64decode(content, validate=True)
    except ValueError:
        raise InputError(f"{name}: its content is not Base64; send it again") from None
    if not data.strip():
        raise InputError(f"{name}: an empty file; give the paper's text")
    return _read(File(name, data), title, abstract, untitled=Path(name).stem, reader=reader)


def from_fields(fields: Mapping[str, object]) -> Paper:
    """Return the paper in an object of ``title``, ``abstract`` and ``body`` (or ``introduction``).

    A field ``name`` gives the paper's name. Raises InputError as :func:`read` does.
    """
    name = str(fields.get("name") or "the paper")
    with reading(name):
        return _from_fields(fields, name, None, None)


def _open(source: str | Path) -> File:
    """Return a paper's file from disk or from arXiv."""
    identifier = None if _exists(source) else arxiv.find_id(str(source))
    if identifier is not None:
        return File(f"arXiv:{identifier}", arxiv.fetch_pdf(identifier))
    path = Path(source)
    name = path.name or str(source) or "the paper"
    data = bytes_of(path, str(source) or name)
    if not data.strip():
        raise InputError(f"{name}: an empty file; give the paper's text")
    return File(name, data, path.parent, path)


def _exists(source: str | Path) -> bool:
    try:
        return Path(source).exists()
    except (OSError, ValueError):
        return False


def bytes_of(path: Path, source: str) -> bytes:
    """Return the bytes of a file, at most one more than is allowed; errors name the file ``source``."""
    if not _exists(path):
        problem = "no such file; give a paper's file or an arXiv id"
        raise InputError(describe_missing_file(source, problem))
    try:
        if path.is_file():
            with path.open("rb") as file:
                return file.read(LARGEST_FILE + 1)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise InputError(f"{source}: cannot be read ({why}); check the file") from None
    raise InputError(f"{source}: a folder or special file; name the paper's own file")


def _read(
    file: File, title: str | None, abstract: str | None, untitled: str | None = None, reader: object = None
) -> Paper:
    """Return the paper in a file; ``untitled`` replaces a missing title."""
    parts_given = _strip(title), _strip(abstract), untitled
    with reading(file.name):
        if reader is not None:
            from dialectree.retrieval.readers import find_reader

            user_reader = find_reader(reader)
            if user_reader is not None and (document := user_reader.read(file)) is not None:
                return _from_reading(file.name, document, *parts_given, user_reader.name)
        try:
            format = find_format(file.name, file.data)
        except UnknownFormat as error:
            raise InputError(f"{error}, or the paper's arXiv id") from None
        if format.name == "json":
            require_size(file, format.largest)
            return _from_fields(_load_fields(file), file.name, *parts_given)
        if format.name == "text":
            require_size(file, format.largest)
            builder = DocumentBuilder()
            read_titled_text(decode_file(file, builder), builder, title)
            document = builder.finish()
        else:

            def read_now() -> Reading:
                with ReadingProcess() as process:
                    return read_file(file, format, process)

            content = f"paper {format.name}:".encode() + file.data
            # A LaTeX file includes others, so its content alone is no key for the cache.
            document = read_now() if format.name == "latex" else read_once(content, read_now)
        return _from_reading(file.name, document, *parts_given, format.name)


def _load_fields(file: File) -> Mapping[str, object]:
    text = decode_file(file, DocumentBuilder())
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        why = str(error).splitlines()[0][:100]
        raise InputError(f"{file.name}: not one JSON object ({why})") from None
    if not isinstance(fields, dict):
        raise InputError(f"{file.name}: not a JSON object; give title, abstract and body")
    return fields


def _from_fields(
    fields: Mapping[str, object],
    name: str,
    title: str | None,
    abstract: str | None,
    untitled: str | None = None,
) -> Paper:
    """Return the paper in an object; without a body, its introduction is the body.

    The paper is cut by the rules of version 1: old runs keep such objects and the ids of their segments.
    """
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
    title, abstract = title or _strip(parts["title"]), abstract or _strip(parts["abstract"])
    body_blocks, _ = sections.part_references(blocks_of(body))
    paper = _make_paper(name, title, abstract, body_blocks, untitled)
    return paper.model_copy(update={"introduction": sound(introduction)}) if introduction else paper


def _from_reading(
    name: str, document: Reading, title: str | None, abstract: str | None, untitled: str | None, format: str
) -> Paper:
    """Return the paper in a document. The paper's body has no title page and no references."""
    left_out = [*document.left_out]
    document_title, blocks = _take_title(document, left_out, titled=title is not None)
    notices = []
    if not (title or document_title) and document.stored_title:
        document_title = document.stored_title
        notices.append(f"no title found on page 1; the file's metadata names it {document_title!r}")
    if format == "pdf":
        blocks = _take_names_for_text(blocks)
    else:
        blocks = flowing(blocks, words_of(block.text for block in blocks))
    document_abstract, body = document.abstract, blocks
    if document_abstract:
        blocks = [block for block in body if block.text not in document_abstract.split(_BETWEEN)]
    else:
        document_abstract, blocks = sections.abstract_by_heading(body, summary=format == "pdf")
    words = _ABSTRACT_WORDS.get(format, _OTHER_ABSTRACT_WORDS)
    if not (document_abstract or abstract) and words is not None:
        document_abstract, blocks = sections.abstract_by_place(body, words)
        document_abstract = document_abstract or sections.find_summary(body)
    blocks = [*dropwhile(lambda block: block.kind == "note", blocks)]
    block_ids = {id(block) for block in blocks}
    title_page = (
        block for block in body if id(block) not in block_ids and block.text not in (document_abstract or "")
    )
    _leave_out(title_page, _TITLE_PAGE, left_out)
    blocks, references = sections.part_references(blocks)
    _leave_out(references, _REFERENCES, left_out)
    paper = _make_paper(
        name, title or _join_lines(document_title), abstract or document_abstract, blocks, untitled
    )
    notices = [*document.notices, *notices, *describe_left_out(left_out)]
    notices = [*(f"{name}: {notice}" for notice in notices), *paper.notices]
    return paper.model_copy(update={"notices": tuple(notices), "version": 2})


def _leave_out(blocks: Iterable[Block], reason: str, left_out: list[LeftOut]) -> None:
    left_out += [LeftOut(block.text, reason, block.page) for block in blocks]


def _take_title(
    document: Reading, left_out: list[LeftOut], *, titled: bool
) -> tuple[str | None, list[Block]]:
    """Return the title that a document shows, and the document's blocks without this title.

    If a person gave a title (``titled``), only a heading counts as the title shown.
    """
    blocks = [*document.blocks]
    if document.title and not sections.names_part(document.title):
        title = _join_lines(document.title)
        at = next((at for at, block in enumerate(blocks) if block.text == title), None)
        if at is not None:
            _leave_out(blocks[:at], _TITLE_PAGE, left_out)
            return document.title, blocks[at + 1 :]
        return document.title, blocks
    if not blocks or sections.names_part(blocks[0].text):
        return None, blocks
    first, *rest = blocks
    short = not titled and first.kind == "paragraph" and len(first.text) < _LONGEST_TITLE
    if first.heading or (short and not sections.ends_sentence(first.text)):
        return first.text, rest
    return None, blocks


def _take_names_for_text(blocks: Sequence[Block]) -> list[Block]:
    """Turn headings above the first section into paragraphs: these are authors in large type."""
    opens = (at for at, block in enumerate(blocks) if _opens_section(block))
    first = next(opens, 0)
    return [*(replace(block, kind="paragraph") for block in blocks[:first]), *blocks[first:]]


def _opens_section(block: Block) -> bool:
    has_section_name = sections.names_part(block.text) or sections.is_numbered(block.text)
    return block.heading and has_section_name


def _make_paper(
    name: str, title: str | None, abstract: str | None, blocks: Sequence[Block], untitled: str | None
) -> Paper:
    """Return a paper whose body is ``blocks``, without repeated title and abstract."""
    name, notices = sound(name), []
    body = dropwhile(lambda block: block.text in (title, abstract), blocks)
    passages = tuple(place_blocks(body, headings=False))
    if not passages and not (title or abstract):
        raise InputError(f"{name}: no text in it; give the paper's own file")
    if not title and untitled:
        title = untitled
        notices.append("no title found in it; the file's name is used as the title")
    if not title:
        raise PartMissing(name, "title")
    if not passages:
        raise InputError(f"{name}: no text besides title and abstract; add its introduction")
    introduction = _introduction(passages)
    if not abstract:
        abstract = _opening(introduction)
        notices.append("no abstract found in it; its opening paragraphs are used as the abstract")
    return Paper(
        name=name,
        title=title,
        abstract=abstract,
        introduction=introduction,
        passages=passages,
        notices=tuple(f"{name}: {notice}" for notice in notices),
    )


def _strip(text: str | None) -> str | None:
    return sound(text).strip() or None if text else None


def _join_lines(text: str | None) -> str | None:
    return " ".join(sound(text).split()) or None if text else None


def place_blocks(blocks: Iterable[Block], *, headings: bool) -> Iterator[Passage]:
    """Yield blocks as passages, each with its offset and with the heading above it.

    With ``headings``, a heading is a passage, too. It counts as its own heading, so that it is cut
    together with the text below it.
    """
    offset, heading = 0, None
    for block in timely(blocks):
        if block.heading:
            heading = block.text
            if not headings:
                continue
        yield Passage(
            text=block.text,
            page=block.page,
            offset=offset,
            heading=heading,
            breaks=block.breaks,
            kind=block.kind,
        )
        offset += len(block.text) + len(_BETWEEN)


def _introduction(passages: Sequence[Passage]) -> str:
    """Return the introduction with its subsections, or else the first paragraphs."""
    prose = [passage for passage in passages if passage.kind in ("paragraph", "item")]
    passages = prose or passages
    headings = [passage.heading for passage in passages if passage.heading]
    opening = next((heading for heading in headings if sections.part(heading) == "introduction"), None)
    if opening is None:
        return _BETWEEN.join(passage.text for passage in passages[:_OPENING])
    number = opening.split()[0].rstrip(".")
    texts: list[str] = []
    for passage in passages:
        is_opening = passage.heading == opening
        if is_opening or (texts and number.isdigit() and (passage.heading or "").startswith(f"{number}.")):
            texts.append(passage.text)
        elif texts:
            break
    return _BETWEEN.join(texts)


def _opening(introduction: str) -> str:
    """Return the first paragraphs, cut to the length of a long abstract."""
    opening = _BETWEEN.join(introduction.split(_BETWEEN)[:_OPENING])
    return opening if len(opening) <= _ABSTRACT else f"{opening[:_ABSTRACT].rsplit(None, 1)[0]} …"
