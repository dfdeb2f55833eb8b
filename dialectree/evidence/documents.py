"""The sources of a run: read before it begins, stored in its folder, compared before a resume.

A graph takes a list of sources. The texts of the sources are in the cache, by digest, and in the
folder of the run. This folder is enough to resume the run.
"""

from __future__ import annotations

import os
import re
import shutil
from base64 import b64decode
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import accumulate
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from dialectree.errors import InputError, RunNotFound
from dialectree.models.run import Run
from dialectree.records import RunRecord
from dialectree.records.folder import SOURCES, RunFolder
from dialectree.records.journal import files
from dialectree.records.run import source_notices
from dialectree.running.plug_points import WatchReading
from dialectree.system.packages import require

if TYPE_CHECKING:
    from dialectree.retrieval.segments import Piece
    from dialectree.retrieval.sources import Document

_SENT = ".documents"
"""The folder, among those of the runs, for documents that a server's clients sent."""
_PLAIN = (".txt", ".text", ".md", ".markdown", ".tex", ".latex", ".ltx", ".json", ".html", ".htm")
"""File endings of a text; a text with another ending is read as plain text."""
_DIGEST = re.compile(r"[0-9a-f]{32}")
_LONGEST = 100
"""Characters of a name that a program or a client gives to a text."""


def read_given(
    raw_sources: Any, reading: WatchReading | None = None, reader: object = None
) -> list[JsonValue]:
    """Return ``raw_sources`` in a graph's form, and put their texts into the cache. This call blocks.

    Reads files, folders and texts: ``{"name": "notes.md", "text": "..."}``, or a file's content in
    ``base64``. Sources in a graph's form stay unchanged. The ``notices`` of the first source name
    the files that cannot be read. ``reader`` replaces our reader, as in
    :func:`dialectree.retrieval.sources.read_sources`.

    Raises InputError if a path is missing or no document can be read; MissingPackage without the
    extra ``sources``.
    """
    entries = [raw_sources] if isinstance(raw_sources, str | Path | Mapping) else [*raw_sources]
    graph_sources = [entry for entry in entries if isinstance(entry, Mapping) and "digest" in entry]
    if len(graph_sources) == len(entries):
        return [_as_taken(number, graph_source) for number, graph_source in enumerate(graph_sources, 1)]
    require("reading sources", "dialectree[sources]")
    from dialectree.retrieval.blocks import count_left_out
    from dialectree.retrieval.sources import read_sources

    def report_progress(done: int, of: int) -> None:
        if reading is not None:
            reading("reading", done, of)

    with TemporaryDirectory(prefix="dialectree-") as folder:
        names: dict[Path, str] = {}
        for number, entry in enumerate(entries, 1):
            if isinstance(entry, Mapping):
                path = Path(folder, str(number))
                path.mkdir()
                names[_write_text(entry, number, path)] = _make_file_name(entry, number)
        texts = iter(names)
        paths = [next(texts) if isinstance(entry, Mapping) else entry for entry in entries]
        try:
            batch = read_sources(paths, reader=reader, progress=report_progress)
        except InputError as error:
            raise InputError(_without(folder, str(error))) from None
    sources: list[JsonValue] = []
    for number, document in enumerate(batch.documents, 1):
        given_name = None if document.path is None else names.get(document.path)
        source: dict[str, Any] = {"id": f"s{number}", "name": given_name or document.name}
        source |= {"title": document.title, "digest": document.digest}
        if document.path is not None and given_name is None:
            source["path"] = os.fsencode(os.path.abspath(document.path)).decode("utf-8", "replace")
        if document.left_out:
            source["left_out"] = count_left_out(document.left_out)
        sources.append({**source})
    if batch.notices and isinstance(first := sources[0], dict):
        first["notices"] = [_without(folder, notice) for notice in batch.notices]
    _remember(batch.documents)
    if reading is not None:
        _index(batch.documents, reading)
    return sources


def _as_taken(number: int, source: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return the fields of a source that was read before; raise InputError for a wrong field."""
    fields = {name: source[name] for name in ("id", "name", "title", "digest") if name in source}
    texts = all(isinstance(text, str) for text in fields.values())
    if len(fields) < 4 or not texts or fields["id"] != f"s{number}":
        raise InputError(f"sources: number {number} needs `id` s{number}, `name`, `title`, `digest`")
    if not _DIGEST.fullmatch(fields["digest"]):
        raise InputError(f"sources: {fields['name']!r:.100}: `digest` needs 32 hex digits")
    if isinstance(path := source.get("path"), str):
        fields["path"] = path
    if left_out := [*map(_check_left_out_row, source.get("left_out") or [])]:
        fields["left_out"] = left_out
    if isinstance(missing := source.get("notices"), list):
        fields["notices"] = [str(notice) for notice in missing]
    return fields


def _check_left_out_row(row: Any) -> JsonValue:
    """Return the valid row of ``left_out``: reason, words, pages; raise InputError otherwise."""
    try:
        pages: list[JsonValue] = [int(page) for page in row["pages"]]
        return {"reason": str(row["reason"])[:_LONGEST], "words": int(row["words"]), "pages": pages}
    except (TypeError, LookupError, ValueError):
        raise InputError("sources: `left_out` needs `reason`, `words` and `pages`") from None


def _make_file_name(text: Mapping[str, Any], number: int) -> str:
    name = PurePath(str(text.get("name") or "").replace("\\", "/")).name
    name = "".join(char for char in name if char.isprintable()).strip(" .")
    return name[-_LONGEST:] or f"text {number}"


def _write_text(text: Mapping[str, Any], number: int, folder: Path) -> Path:
    """Write a text that a program or a client gives into ``folder``, and return the file."""
    name, words, content = _make_file_name(text, number), text.get("text"), text.get("base64")
    if isinstance(words, str):
        data = words.encode("utf-8", "replace")
        if PurePath(name).suffix.lower() not in _PLAIN:
            name += ".txt"
    elif isinstance(content, str):
        try:
            data = b64decode(content, validate=True)
        except ValueError:
            raise InputError(f"{name}: its content is not Base64; send it again") from None
    else:
        raise InputError(f'sources: {name}: give its text: {{"name": "{name}", "text": "..."}}')
    path = folder / name
    path.write_bytes(data)
    return path


def _without(folder: str, line: str) -> str:
    """Return ``line`` without the paths of texts in the temporary ``folder``."""
    return re.sub(rf"{re.escape(folder)}/\d+/", "", line)


def _remember(documents: Iterable[Document]) -> None:
    """Keep in memory those documents that the cache could not store."""
    from dialectree.retrieval.sources import documents_folder, find_document_file

    uncached_documents = (
        document
        for document in documents
        if find_document_file(document.digest, [documents_folder()]) is None
    )
    Run.documents.update((document.digest, document) for document in uncached_documents)


def _index(documents: Sequence[Document], reading: WatchReading) -> None:
    """Index the documents now: the first debate about them finds the index in the cache."""
    from dialectree.retrieval.corpus import Corpus

    Corpus(documents, progress=lambda done, of: reading("indexing", done, of))


def find_segment(source: Mapping[str, Any], number: int, texts: Path) -> str:
    """Return the text of a segment of a source; raise InputError for a wrong number."""
    from dialectree.retrieval.sources import read_document

    [text] = locate_texts([source], texts)
    document = read_document(text, source["name"]) if isinstance(text, Path) else text
    pieces = [piece.text for piece, _ in _cut(document)]
    if not 0 < number <= len(pieces):
        id, name = source["id"], source["name"]
        hint = f"it has {id}:1 to {id}:{len(pieces)}"
        raise InputError(f"{id}:{number}: {name} has no such segment; {hint}")
    return pieces[number - 1]


def _cut(document: Document) -> Iterator[tuple[Piece, tuple[tuple[int, int], ...]]]:
    """Return the segments of a document, as the index has them."""
    from dialectree.retrieval.segments import cut

    return cut(document.passages, version=document.version)


def describe_blocks(document: Document) -> list[dict[str, Any]]:
    """Return the blocks of a document as ``dialectree sources --json`` and the page show them."""
    starts = accumulate((len(block.text) + 2 for block in document.passages), initial=0)
    return [
        {"kind": block.kind, "text": block.text, "page": block.page, "start": start, "heading": block.heading}
        for block, start in zip(document.passages, starts, strict=False)
    ]


def notices_about(name: str, notices: Iterable[str]) -> list[str]:
    """Return the ``notices`` about the document ``name``, without its name."""
    start = f"{name}: "
    return [line.removeprefix(start) for line in notices if line.startswith(start)]


def describe_source(run: RunFolder, digest: str) -> dict[str, Any]:
    """Return all blocks of a source of a run, its left-out words, and its notices.

    Each block has its sentences: their ``ids``, and the start and end of each in the text. The text
    comes from the run's own folder. Raises RunNotFound if the run lacks the source; InputError if
    its text is missing or was changed.
    """
    sources = run.read_stored_record().sources
    source = next((source for source in sources if source.get("digest") == digest), None)
    if source is None:
        raise RunNotFound(f"{run.run_id} has no source {digest!r:.100}")
    from dialectree.retrieval.sources import find_document_file, read_document

    name = source["name"]
    text = find_document_file(digest, [run.path / SOURCES])
    if text is None:
        raise InputError(f"{source['id']} ({name}): its text is not in the folder of the run")
    document = read_document(text, name)
    blocks = describe_blocks(document)
    for block in blocks:
        block |= {"ids": [], "sentences": []}
    for id, start, end in _place_sentences(source["id"], document):
        block = blocks[bisect(blocks, start, key=lambda block: block["start"]) - 1]
        block["ids"].append(id)
        block["sentences"].append((start - block["start"], end - block["start"]))
    return {
        "name": name,
        "title": source["title"],
        "digest": digest,
        "blocks": blocks,
        "left_out": source.get("left_out", []),
        "notices": notices_about(name, source_notices(sources)),
    }


def _place_sentences(source: str, document: Document) -> Iterator[tuple[str, int, int]]:
    """Yield the ids of all sentences, with the start and end of each in the document."""
    for number, (piece, sentences) in enumerate(_cut(document), 1):
        for sentence, (start, end) in enumerate(sentences, 1):
            yield f"{source}:{number}.{sentence}", piece.offset + start, piece.offset + end


# Documents that a client of a server sent


def locate_sent(owner: str, runs: Path) -> Path:
    """Return the folder of the documents that a client sent, which all workers share."""
    return runs / _SENT / sha256(owner.encode()).hexdigest()[:32]


def keep_sent(owner: str, sources: Iterable[Any], runs: Path) -> None:
    """Store the documents of the client ``owner``, who can then name their digests on any worker."""
    folder = locate_sent(owner, runs)
    _link_texts(locate_texts(sources, folder), folder)


def require_own(owner: str, sources: Any, runs: Path, at: Path | None = None) -> None:
    """Raise InputError for the digest of a document that the client ``owner`` never sent.

    Documents of the client's own runs in the folder ``runs`` are allowed, too; ``at`` has the documents
    of the current run. The error hides whether another client has the document.
    """
    entries = sources if isinstance(sources, list | tuple) else [sources]
    for source in entries:
        if not isinstance(source, Mapping) or "digest" not in source:
            continue
        digest = str(source["digest"])
        is_digest = _DIGEST.fullmatch(digest) is not None
        of_run = is_digest and at is not None and (at / f"{digest}.json").is_file()
        if not of_run and not (is_digest and _has_given(owner, digest, runs)):
            raise InputError(
                f"sources: {source.get('name')!r:.100}: no document of yours has such a digest; "
                "attach the file"
            )


def _has_given(owner: str, digest: str, runs: Path) -> bool:
    file = f"{digest}.json"
    if (locate_sent(owner, runs) / file).is_file():
        return True
    for text in runs.glob(f"*/{SOURCES}/{file}"):
        if RunFolder(text.parent.parent).is_seen(owner):
            _link_texts([text], locate_sent(owner, runs))  # saves the next search
            return True
    return False


# In the folder of a run


def locate_texts(sources: Iterable[Mapping[str, Any]], *folders: Path) -> list[Path | Document]:
    """Return the text of each source: a file in one of ``folders`` or the cache, or in memory.

    Raises InputError for a source whose text is missing.
    """
    if not (sources := [*sources]):
        return []
    from dialectree.retrieval.sources import documents_folder, find_document_file

    texts: list[Path | Document] = []
    for source in sources:
        digest = source["digest"]
        text = find_document_file(digest, [*folders, documents_folder()]) or Run.documents.get(digest)
        if text is None:
            raise InputError(f"{source['id']} ({source['name']}): its text is gone; give it again")
        texts.append(text)
    return texts


def keep_texts(texts: Iterable[Path | Document], folder: RunFolder) -> None:
    """Put the texts of a run's sources into its folder, as links where possible."""
    _link_texts(texts, folder.path / SOURCES)


def share_texts(folder: RunFolder) -> list[JsonValue]:
    """Return the sources of a run for another debate, and put their texts into the cache."""
    from dialectree.retrieval.sources import documents_folder

    sources: Any = folder.record().input.get("sources") or []
    _link_texts(locate_texts(sources, folder.path / SOURCES), documents_folder())
    return [{**source} for source in sources]


def _link_texts(texts: Iterable[Path | Document], folder: Path) -> None:
    for text in texts:
        with files(folder):
            folder.mkdir(0o700, parents=True, exist_ok=True)
            if not isinstance(text, Path):
                from dialectree.retrieval.sources import write_document

                write_document(text, folder)
                continue
            try:
                os.link(text, folder / text.name)
            except FileExistsError:
                pass  # two files of one content
            except OSError:  # another disk
                draft = folder / f".{text.name}.draft"
                shutil.copyfile(text, draft)
                os.replace(draft, folder / text.name)


def require_unchanged(record: RunRecord, reader: object = None) -> None:
    """Raise InputError, with the names of the files, if files have changed since the run began.

    A missing file is no error, because the run's folder has its text. A contest is not checked.
    """
    if record.contest is not None:
        return
    sources = record.sources
    changed = [source for source in sources if _has_changed(source, record.started, reader)]
    if changed:
        names = ", ".join(
            f"{changed_source['id']} ({changed_source['path']})" for changed_source in changed[:3]
        )
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        raise InputError(
            f"sources have changed since the run began: {names}{more}. Put them back, or move them "
            "away: the run has the texts that it read; or begin a new run with the new texts"
        )


def _has_changed(source: Mapping[str, Any], since: str, reader: object) -> bool:
    path = str(source.get("path") or "")
    if not path or not os.path.isfile(path):
        return False
    about = os.stat(path)
    if max(about.st_mtime, about.st_ctime) < datetime.fromisoformat(since).timestamp():
        return False  # another version of dialectree may read it differently
    from dialectree.retrieval.sources import read_sources

    try:
        documents = read_sources(path, reader=reader).documents
        return [document.digest for document in documents] != [source["digest"]]
    except InputError:
        return True
