"""Load a user's own reader: a function, or any LangChain document loader.

A heavy reader (docling, unstructured, OCR) replaces ours. A reader runs code, so only the person who
runs the program may name one: files, clients and records may not.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from inspect import getsourcefile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from dialectree.errors import InputError, SettingsError
from dialectree.protocols.reader_names import split_reader
from dialectree.retrieval.blocks import Reading
from dialectree.retrieval.builder import DocumentBuilder
from dialectree.retrieval.formats import LARGEST_FILE, File, require_size
from dialectree.retrieval.text import is_markdown, read_text
from dialectree.text import line


def import_attribute(name: str, setting: str) -> Any:
    """Return the object ``module:attribute``; runs the code of the module.

    The module may be in the working folder. Raises SettingsError if the object cannot be loaded.
    """
    module, _, attribute = name.partition(":")
    sys.path.append(os.getcwd())
    try:
        with warnings.catch_warnings():  # langchain-community warns when it is imported
            warnings.simplefilter("ignore", DeprecationWarning)
            target: Any = importlib.import_module(module)
            for part in attribute.split("."):
                target = getattr(target, part)
    except Exception as error:
        why = f"{type(error).__name__}: {line(str(error), 300)}"
        raise SettingsError(f"`{setting}`: {name} cannot be loaded: {why}") from error
    finally:
        sys.path.pop()
    return target


class UserReader(NamedTuple):
    """A user's own reader."""

    name: str
    endings: tuple[str, ...]
    """The endings of the files that the reader reads, such as ``.pdf``; empty for all files."""
    read_path: Callable[[str], Any]
    """Returns a file's contents: a text, a LangChain document, or a list of these; None leaves the
    file to our reader."""
    key: bytes
    """A key for the cache, which changes with the reader's name and code."""

    def takes(self, name: str) -> bool:
        """Return whether the reader reads files with the ending of ``name``."""
        return not self.endings or Path(name).suffix.lower() in self.endings

    def read(self, file: File) -> Reading | None:
        """Return a file's contents; None if this reader leaves the file to ours.

        Raises InputError, with the file's name, if the file is too large or this reader fails.
        """
        if not self.takes(file.name):
            return None
        require_size(file, LARGEST_FILE)
        if file.path is not None:
            return self._read(file.path, file.name)
        with TemporaryDirectory(prefix="dialectree-") as folder:
            path = Path(folder, "document").with_suffix(Path(file.name).suffix)
            path.write_bytes(file.data)
            return self._read(path, file.name)

    def _read(self, path: Path, name: str) -> Reading | None:
        try:
            result = self.read_path(str(path))
        except Exception as error:
            why = f"{type(error).__name__}: {line(str(error), 300)}"
            raise InputError(f"{name}: the reader {self.name} failed: {why}") from error
        if result is None:
            return None
        document_builder = DocumentBuilder()
        for text, page, title in self._parts(result, name):
            builder = DocumentBuilder()
            if is_markdown(text):
                from dialectree.retrieval.markup import read_markdown

                read_markdown(text, builder)
            else:
                read_text(text, builder)
            part = builder.finish()
            document_builder.extend(
                replace(part, blocks=[replace(block, page=page) for block in part.blocks])
            )
            document_builder.title = document_builder.title or title or part.title
        return document_builder.finish()

    def _parts(self, result: Any, name: str) -> Iterator[tuple[str, int | None, str | None]]:
        """Yield the texts that a reader returned, each with its page and title."""
        for part in result if isinstance(result, list | tuple) else [result]:
            if isinstance(part, str):
                yield part, None, None
            elif isinstance(part, Document):
                about = part.metadata
                page, label = about.get("page"), str(about.get("page_label", ""))
                if label.isdecimal():  # a loader of PDFs counts pages from 0
                    page = int(label)
                has_page = isinstance(page, int) and page > 0
                title = about.get("title")
                yield part.page_content, page if has_page else None, str(title) if title else None
            else:
                problem = f"returned a {type(part).__name__}, not a text or a document"
                raise InputError(f"{name}: the reader {self.name} {problem}")


def find_reader(setting: object) -> UserReader | None:
    """Return the reader that a setting names or a program gives; None if ``setting`` is None.

    Raises SettingsError if ``setting`` cannot be loaded or is not a reader.
    """
    if setting is None or isinstance(setting, UserReader):
        return setting
    if isinstance(setting, str):
        return _load_reader(setting)
    return _make(f"live:{getattr(setting, '__name__', type(setting).__name__)}", (), setting)


@lru_cache(maxsize=8)
def _load_reader(reader_name: str) -> UserReader:
    endings, name = split_reader(reader_name)
    return _make(name, endings, import_attribute(name, "reader"))


def _make(name: str, endings: tuple[str, ...], reader: Any) -> UserReader:
    read_path: Callable[[str], Any] = reader
    if isinstance(reader, type) and issubclass(reader, BaseLoader):
        loader: Any = reader

        def load(path: str) -> Any:
            return loader(path).load()

        read_path = load
    elif not callable(reader):
        kind = type(reader).__name__
        raise SettingsError(
            f"`reader`: {name} is of type {kind}; give a function of a path, or the class of a "
            "LangChain document loader"
        )
    hashed = blake2b(f"{name} {endings}".encode(), digest_size=16)
    try:
        hashed.update(Path(getsourcefile(reader) or "").read_bytes())
    except (TypeError, OSError):
        hashed.update(repr(reader).encode())
    return UserReader(name, endings, read_path, hashed.digest())
