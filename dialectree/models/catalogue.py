"""Better local models than the embedded one: a short list, and a careful way to fetch them.

Licence and file name of every entry were read in a listing of its own repository, named in
``source``; nothing else about a model is claimed here. What is fetched, its commit and its SHA-256,
is what the hub says on the day, and is kept in a small JSON file beside the model.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from platformdirs import user_data_dir

from dialectree import clock
from dialectree.errors import NO_ROOM, DiskFull, InputError, ModelUnavailable
from dialectree.models import hub
from dialectree.models.hub import Progress as Progress
from dialectree.models.hub import Published, Remote

SCHEMA = "dialectree.model/1"


@dataclass(frozen=True)
class Entry:
    """One model of the list."""

    name: str
    """What it is called on the command line."""
    repository: str
    """Owner and name on the hub."""
    file: str
    """The GGUF file, exactly as the repository names it."""
    licence: str
    """SPDX identifier of the repository's licence."""
    remark: str
    """One plain line for whoever has to choose."""
    source: str
    """Where licence and file name were read."""


@dataclass(frozen=True)
class Fetched:
    """What ``get`` has put in place, or found there."""

    path: Path
    repository: str
    revision: str
    """The commit the file belongs to."""
    sha256: str
    size_bytes: int
    already_there: bool


@dataclass(frozen=True)
class Installed:
    """A model fetched before, as the note beside it says."""

    name: str
    path: Path
    repository: str
    file: str
    revision: str
    sha256: str
    licence: str
    size_bytes: int
    fetched_at: str


_ENTRIES = (
    Entry(
        name="smollm2-360m",
        repository="HuggingFaceTB/SmolLM2-360M-Instruct-GGUF",
        file="smollm2-360m-instruct-q8_0.gguf",
        licence="Apache-2.0",
        remark="The smallest of the list, by the makers of the embedded model; listed at 386 MB.",
        source="https://huggingface.co/HuggingFaceTB/SmolLM2-360M-Instruct-GGUF/tree/main",
    ),
    Entry(
        name="qwen2.5-1.5b",
        repository="lmstudio-community/Qwen2.5-1.5B-Instruct-GGUF",
        file="Qwen2.5-1.5B-Instruct-Q4_K_M.gguf",
        licence="Apache-2.0",
        remark="Small; Qwen's instruct model, by LM Studio's community; listed at 986 MB.",
        source="https://huggingface.co/lmstudio-community/Qwen2.5-1.5B-Instruct-GGUF/tree/main",
    ),
    Entry(
        name="smollm2-1.7b",
        repository="HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF",
        file="smollm2-1.7b-instruct-q4_k_m.gguf",
        licence="Apache-2.0",
        remark="Small, by the makers of the embedded model; listed at 1.06 GB.",
        source="https://huggingface.co/HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF/tree/main",
    ),
    Entry(
        name="phi-3-mini",
        repository="microsoft/Phi-3-mini-4k-instruct-gguf",
        file="Phi-3-mini-4k-instruct-q4.gguf",
        licence="MIT",
        remark="In between, from Microsoft itself, for short contexts (4k); listed at 2.39 GB.",
        source="https://huggingface.co/microsoft/Phi-3-mini-4k-instruct-gguf/tree/main",
    ),
    Entry(
        name="mistral-7b",
        repository="lmstudio-community/Mistral-7B-Instruct-v0.3-GGUF",
        file="Mistral-7B-Instruct-v0.3-Q4_K_M.gguf",
        licence="Apache-2.0",
        remark="Medium; Mistral's instruct model, by LM Studio's community; listed at 4.37 GB.",
        source="https://huggingface.co/lmstudio-community/Mistral-7B-Instruct-v0.3-GGUF/tree/main",
    ),
    Entry(
        name="qwen2.5-7b",
        repository="lmstudio-community/Qwen2.5-7B-Instruct-GGUF",
        file="Qwen2.5-7B-Instruct-Q4_K_M.gguf",
        licence="Apache-2.0",
        remark="Medium; Qwen's instruct model, by LM Studio's community; listed at 4.68 GB.",
        source=(
            "https://huggingface.co/lmstudio-community/Qwen2.5-7B-Instruct-GGUF"
            "/tree/2eecdd3e024eff71025f7c5766a4e3d15041bd6e"
        ),
    ),
    Entry(
        name="phi-4",
        repository="microsoft/phi-4-gguf",
        file="phi-4-q4.gguf",
        licence="MIT",
        remark="The largest of the list, from Microsoft itself; listed at 9.05 GB.",
        source="https://huggingface.co/microsoft/phi-4-gguf/tree/main",
    ),
)


def listed() -> tuple[Entry, ...]:
    """The models one can fetch by name, the smallest first."""
    return _ENTRIES


def default_folder() -> Path:
    """Where fetched models lie unless one says otherwise."""
    return Path(user_data_dir("dialectree")) / "models"


def installed(folder: Path | None = None) -> tuple[Installed, ...]:
    """The models fetched before whose file is still there, by name."""
    notes = (folder or default_folder()).glob("*.gguf.json")
    found = [model for note in notes if (model := _noted(note)) is not None]
    return tuple(sorted(found, key=lambda model: model.name))


def path_of(name: str, folder: Path | None = None) -> Path | None:
    """The file of a model fetched before under this name, so that ``local:NAME`` can find it."""
    return next((model.path for model in installed(folder) if model.name == name), None)


def get(
    name: str,
    folder: Path | None = None,
    *,
    endpoint: str | None = None,
    progress: Progress | None = None,
) -> Fetched:
    """Fetch one model of the list, or find it in place; what lies there afterwards is verified.

    The hub is asked for the newest commit and the file's SHA-256, the download is pinned to that
    commit, and the bytes are hashed before they get their name. A file that somebody else put
    there is adopted if it is the right one, and never overwritten if it is not.
    """
    entry = _named(name)
    home = (folder or default_folder()).absolute()
    file = Remote(entry.repository, entry.file)
    with _writing(home), _alone(home, entry) as workshop, hub.asked(file, endpoint) as address:
        published = hub.published(file, address)
        target = home / entry.file
        already_there = _in_place(target, published)
        if not already_there:
            _check_room(home, published.size_bytes)
            staged = hub.download(file, published, address, workshop, progress)
            _install(staged, target, published)
        _note(entry, target, published)
    return Fetched(target, entry.repository, *published, already_there=already_there)


def _named(name: str) -> Entry:
    for entry in _ENTRIES:
        if entry.name == name:
            return entry
    known = ", ".join(entry.name for entry in _ENTRIES)
    raise InputError(f"there is no model {name!r} in the list; it has {known}")


# What is on the disk


@contextmanager
def _writing(home: Path) -> Iterator[None]:
    """Say plainly what the disk refuses."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise DiskFull(f"there is no room left in {home}") from error
        raise InputError(f"cannot write in {home}: {error.strerror or error}") from error


@contextmanager
def _alone(home: Path, entry: Entry) -> Iterator[Path]:
    """An empty folder to work in, on the same disk, while nobody else fetches the same model."""
    from filelock import FileLock, Timeout

    workshop = home / ".fetching" / entry.name
    workshop.parent.mkdir(exist_ok=True)
    lock = FileLock(workshop.with_name(f"{entry.name}.lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(f"{entry.name} is being fetched into {home} already") from None
    try:
        shutil.rmtree(workshop, ignore_errors=True)  # what a killed run left behind
        workshop.mkdir()
        yield workshop
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
        lock.release()


def _in_place(target: Path, published: Published) -> bool:
    """Whether the published bytes lie there; anything but a former fetch of ours is not touched."""
    if not target.exists():
        return False
    digest = _sha256(target)
    if digest == published.sha256:
        return True
    before = _noted(_note_of(target))
    if before is None or before.sha256 != digest:
        raise InputError(f"{target} is not the file as published; move it away and try again")
    return False


def _check_room(home: Path, size_bytes: int) -> None:
    free_bytes = shutil.disk_usage(home).free
    if free_bytes < size_bytes:
        raise DiskFull(f"{home} has {_mb(free_bytes)} free, and the model has {_mb(size_bytes)}")


def _install(staged: Path, target: Path, published: Published) -> None:
    """Give the downloaded file its name, if it is what the hub said it would be."""
    digest = _sha256(staged)
    if digest != published.sha256:
        raise ModelUnavailable(
            f"{target.name} came with SHA-256 {digest} and should have {published.sha256}; "
            "it was not installed"
        )
    os.replace(staged, target)


def _note(entry: Entry, target: Path, published: Published) -> None:
    """Write down beside the model what it is, unless that is written there already."""
    before = _noted(_note_of(target))
    if before is not None and (before.name, before.revision) == (entry.name, published.revision):
        return
    model = Installed(
        path=target,
        name=entry.name,
        repository=entry.repository,
        file=entry.file,
        licence=entry.licence,
        fetched_at=clock.stamp(),
        **published._asdict(),
    )
    facts = {key: value for key, value in asdict(model).items() if key != "path"}
    unfinished = target.with_name(f".{target.name}.json.tmp")
    text = json.dumps({"schema": SCHEMA, **facts}, indent=2, ensure_ascii=False)
    unfinished.write_text(text + "\n", encoding="utf-8")
    os.replace(unfinished, _note_of(target))


def _noted(note: Path) -> Installed | None:
    """What a note says, if it is one of ours and the file beside it is the one it speaks of."""
    path = note.with_name(note.name.removesuffix(".json"))
    try:
        facts = json.loads(note.read_text(encoding="utf-8"))
        size_bytes = path.stat().st_size
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(facts, dict) or facts.pop("schema", None) != SCHEMA:
        return None
    if facts.get("size_bytes") != size_bytes or facts.get("file") != path.name:
        return None
    texts = set(Installed.__dataclass_fields__) - {"path", "size_bytes"}
    if set(facts) != texts | {"size_bytes"} or not all(isinstance(facts[t], str) for t in texts):
        return None
    return Installed(path=path, **facts)


def _note_of(target: Path) -> Path:
    return target.with_name(f"{target.name}.json")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _mb(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:.0f} MB"
