"""The process that runs a model file for every process of this user that wants it.

Started by ``dialectree.models.embedded``. It lives in a private folder, one for each model file and
settings:

    join.lock     held while a client starts or joins the server, and while the server goes
    server.lock   held by the server while it lives; the system frees it, even after kill -9
    server.json   where the server is and the key to it; written once it is healthy
    server.log    what the server had to complain about
    users/        one empty file for each process that uses the server
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPException
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import psutil
from filelock import FileLock, Timeout

from dialectree import chance, clock

HOST = "127.0.0.1"
CLOCK_DRIFT_S = 5.0  # start times are read off the system's clock, which may be put right meanwhile


class Settings(NamedTuple):
    """How a model file is run."""

    context: int
    """Tokens of prompt and reply together, for each slot."""
    threads: int
    """Cores that the model may keep busy."""
    slots: int = 2
    """Requests that are worked on at once; the others wait their turn."""


class Address(NamedTuple):
    """What ``server.json`` says: where the server is, and the key that opens it."""

    pid: int
    port: int
    key: str


def read_address(folder: Path) -> Address | None:
    """Where the server of ``folder`` says that it is; None when no server has said so."""
    try:
        fields = json.loads((folder / "server.json").read_text(encoding="utf-8"))
        return Address(int(fields["pid"]), int(fields["port"]), str(fields["key"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def write_address(folder: Path, address: Address) -> None:
    """Say where the server is, whole or not at all, to this user alone."""
    draft = folder / f"server.json.{address.pid}"
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(address._asdict()), encoding="utf-8")
    draft.replace(folder / "server.json")


def get(address: Address, path: str, patience_s: float) -> object | None:
    """The JSON at ``path`` of the server; None without a good reply in ``patience_s`` seconds."""
    connection = HTTPConnection(HOST, address.port, timeout=patience_s)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {address.key}"})
        response = connection.getresponse()
        body = response.read()
        return json.loads(body) if response.status == 200 else None
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()


def take(lock: FileLock, patience_s: float = 0.0) -> bool:
    """Whether the lock could be had within ``patience_s`` seconds; it is then held."""
    try:
        lock.acquire(timeout=patience_s)
    except Timeout:
        return False
    return True


def lease(folder: Path) -> Path:
    """The file that says that this very process uses the server."""
    return folder / "users" / f"{os.getpid()}-{psutil.Process().create_time():.2f}"


def in_use(folder: Path) -> bool:
    """Whether a living process uses the server; the leases of dead ones are removed."""
    alive = False
    for file in list((folder / "users").glob("*-*")):
        if _is_alive(file.name):
            alive = True
        else:
            file.unlink(missing_ok=True)
    return alive


def _is_alive(name: str) -> bool:
    """Whether the process that a lease is named after still runs.

    The start time tells it from a later process that was given the same number.
    """
    pid, _, started = name.partition("-")
    try:
        process = psutil.Process(int(pid))
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return abs(process.create_time() - float(started)) < CLOCK_DRIFT_S
    except (ValueError, psutil.NoSuchProcess):
        return False


def _is_busy(address: Address) -> bool:
    """Whether a request is in progress."""
    slots = get(address, "/slots", patience_s=5)
    return isinstance(slots, list) and any(
        isinstance(slot, Mapping) and slot.get("is_processing") for slot in slots
    )


def _load(model: Path, settings: Settings, key: str) -> Any:
    """Load the model and listen on a free port; ends the process when the file cannot be loaded."""
    xllamacpp = import_module("xllamacpp")  # compiled: it says nothing of its types

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_parallel = settings.slots
    params.n_ctx = settings.context * settings.slots  # llama.cpp shares it out among the slots
    params.cpuparams.n_threads = settings.threads
    params.cpuparams_batch.n_threads = settings.threads  # two slots that reply are a batch too
    params.cache_ram_mib = 0  # the cache of old prompts grows by hundreds of megabytes
    params.verbosity = 1  # errors only: they go to server.log
    params.n_threads_http = 64  # an open connection keeps one, even when nothing is asked
    params.hostnames = [HOST]
    params.port = 0
    params.api_keys = [key]  # other users of the machine reach the port too
    params.cors_origins = ""  # and so do web pages
    params.ui = False
    params.endpoint_slots = True
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        sys.exit(f"{model.name} cannot be loaded: {error}")


def _await_health(address: Address) -> None:
    """Return once the server says that it is healthy."""
    while get(address, "/health", patience_s=5) is None:
        _pause(0.02)


def _watch(folder: Path, join: FileLock, address: Address, idle_s: float) -> None:
    """Return when nobody has used the server for ``idle_s`` seconds and its address is taken down.

    The last look is taken under ``join``, the lock that joining needs, so that nobody can join a
    server that goes. It stays held.
    """
    used = clock.seconds()
    while folder.is_dir():
        _pause(min(1.0, idle_s / 4))
        if in_use(folder) or _is_busy(address):
            used = clock.seconds()
        elif clock.seconds() - used >= idle_s and take(join):
            if not in_use(folder):
                (folder / "server.json").unlink(missing_ok=True)
                return
            join.release()


def _pause(duration_s: float) -> None:
    """Wait in this thread; the model's threads go on."""
    threading.Event().wait(duration_s)


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m dialectree.models.embedded_server")
    parser.add_argument("folder", type=Path, help="the server's private folder")
    parser.add_argument("model", type=Path, help="a .gguf file")
    parser.add_argument("--context", type=int, required=True, help="tokens for each slot")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--slots", type=int, required=True)
    parser.add_argument("--idle", type=float, required=True, help="seconds to live without a user")
    parser.add_argument(
        "--patience", type=float, required=True, help="seconds to become healthy in"
    )
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> None:
    """Serve one model file until nobody uses it any more."""
    given = _arguments(words)
    # Ends the process from outside Python: a load that hangs may never give a Python thread a turn.
    faulthandler.dump_traceback_later(given.patience, exit=True)
    alive = FileLock(given.folder / "server.lock")
    if not take(alive, patience_s=2):
        sys.exit("another server of this model is up")
    key = chance.secret()
    server = _load(given.model, Settings(given.context, given.threads, given.slots), key)
    port = urlsplit(server.listening_address).port
    address = Address(os.getpid(), int(port or 0), key)
    _await_health(address)
    faulthandler.cancel_dump_traceback_later()
    write_address(given.folder, address)
    join = FileLock(given.folder / "join.lock")
    _watch(given.folder, join, address, given.idle)
    # Both locks are held to the very end: whoever takes them next finds the process gone.
    os._exit(0)


if __name__ == "__main__":
    main()
