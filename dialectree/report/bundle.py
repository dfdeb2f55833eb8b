"""Write runs as a static site that any web server can show: an index, and a page for each run.

The site asks no server for data, and all of its links are relative.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from dialectree.errors import InputError
from dialectree.records import RunSummary
from dialectree.records.folder import RunFolder
from dialectree.report import figures, verdicts
from dialectree.report.memo_files import write_memo
from dialectree.report.player import html
from dialectree.report.published import FolderNames, publish_run
from dialectree.text import clean, count, line

FORMAT = "dialectree.bundle/1"
_LIST = "bundle.json"
"""The file with the names of a bundle's files, by which a later bundle takes its place."""
INDEX, RUNS = "index.html", "debates"


class BundledEvaluation(NamedTuple):
    """An evaluation as the index shows it."""

    entry: Mapping[str, Any]
    """The title, the data and the rows, as the list of evaluations has them."""
    pages: Mapping[str, str]
    """Its pages by title: the addresses, relative to the index."""


class Bundle:
    """A folder for a static site. It takes the place of an earlier bundle."""

    def __init__(self, folder: Path) -> None:
        """Open ``folder``; raise InputError if it holds anything but an earlier bundle."""
        self.folder = folder
        self._earlier = _read_file_list(folder)
        self._written: set[str] = set()

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file; ``name`` is its path in the bundle, with slashes."""
        path = self.folder.joinpath(*PurePosixPath(name).parts)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        except OSError as error:
            raise InputError(f"{path}: {error.strerror or error}") from None
        self._written.add(name)

    def write_run(self, place: str, folder: RunFolder, folders: FolderNames) -> None:
        """Write the page, the memo and the record of a run into ``place``."""
        record, calls, events, texts = publish_run(folder, folders)
        self.write(f"{place}/report.html", html(record, calls, events, texts))
        self.write(f"{place}/memo.html", write_memo(record, "html").content)
        self.write(f"{place}/run.json", record.model_dump_json(indent=1))

    def write_index(
        self,
        name: str,
        title: str,
        summaries: Sequence[RunSummary],
        evaluations: Sequence[BundledEvaluation] = (),
        above: str = "",
    ) -> None:
        """Write a list of runs whose files stand in the folder ``debates`` or ``runs`` beside it."""
        runs = RUNS if not above else "runs"
        page = _render(title=title, summaries=summaries, evaluations=evaluations, above=above, runs=runs)
        self.write(name, page)

    def finish(self) -> None:
        """Write the list of files, and remove the files of an earlier bundle that this one lacks."""
        names = sorted({*self._written, _LIST})
        self.write(_LIST, json.dumps({"format": FORMAT, "files": names}, indent=1))
        for name in self._earlier - self._written:
            path = self.folder.joinpath(*PurePosixPath(name).parts)
            if path.is_file() and path.resolve().is_relative_to(self.folder.resolve()):
                path.unlink()
                with suppress(OSError):  # a folder that holds other files stays
                    path.parent.rmdir()


def _read_file_list(folder: Path) -> set[str]:
    """Return the names of the files of the bundle in ``folder``; raise InputError for a folder of others."""
    try:
        if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
            return set()
        listed = json.loads((folder / _LIST).read_bytes())
        if listed["format"] == FORMAT:
            return {name for name in listed["files"] if isinstance(name, str)}
    except (OSError, ValueError, LookupError, TypeError):
        pass
    raise InputError(f"{folder}: it holds other files and no bundle; name a new or an empty folder")


def _render(**values: Any) -> str:
    style, script, template = _page()
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return template.render(style=style, script=script, policy=policy, **values)


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def _page() -> tuple[str, str, Template]:
    """Return the style, the script and the template of an index."""
    environment = Environment(
        loader=PackageLoader("dialectree", "report"),
        autoescape=True,
        finalize=_clean,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"verdicts": verdicts, "formats": figures, "say": {"line": line, "count": count}}
    environment.filters |= {"address": lambda name: quote(str(name), safe="")}
    parts = ("page_style.jinja", "shared_style.jinja", "bundle_style.jinja")
    style = "\n".join(environment.get_template(name).render() for name in parts)
    script = environment.get_template("bundle_script.jinja").render()
    return style, script, environment.get_template("bundle.html.jinja")


def _clean(value: object) -> object:
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value
