"""Serve one model file over OpenAI's API until the standard input ends.

``dialectree.embedded.engine`` runs this file in a process of its own. It reads the API key from the
first line of the input and writes the port as its only line of output once the model is ready. If
the engine's process ends, even by kill -9, the input ends, and so does this process.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

HOST = "127.0.0.1"
NICE = 5
"""Niceness of the server towards other programs, of 19 at most."""
SLOTS = 2
"""Requests that are processed at once; the others wait."""


def load(model: Path, key: str, context: int, threads: int) -> Any:
    """Load ``model`` and listen on a free port; exit if the file cannot be loaded."""
    xllamacpp = import_module("xllamacpp")  # a compiled module without types

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_parallel = SLOTS
    params.n_ctx = context * SLOTS  # llama.cpp divides it among the slots
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads  # two slots that reply are a batch, too
    params.cache_ram_mib = 0  # the cache of old prompts grows by hundreds of megabytes
    params.verbosity = 1  # errors only
    params.n_threads_http = 64  # an idle connection keeps one
    params.hostnames = [HOST]
    params.port = 0
    params.api_keys = [key]  # other users of the machine reach the port, too
    params.cors_origins = ""  # and so do web pages
    params.ui = False
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        sys.exit(f"{model.name} cannot be loaded: {error}")


def await_health(port: int) -> None:
    """Return when the server says that it is healthy."""
    while True:
        connection = HTTPConnection(HOST, port, timeout=5)
        try:
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        except (OSError, HTTPException):
            pass
        finally:
            connection.close()
        threading.Event().wait(0.02)


def main() -> None:
    """Serve a model; the command line gives its file, the tokens of a slot, and the threads."""
    model, context, threads = sys.argv[1:]
    with suppress(AttributeError, OSError):
        os.nice(NICE)  # a person's programs on the machine go first
    key = sys.stdin.readline().strip()
    server = load(Path(model), key, int(context), int(threads))
    port = urlsplit(server.listening_address).port or 0
    await_health(port)
    print(port, flush=True)
    sys.stdin.read()
    os._exit(0)  # deleting the server would wait for its requests


if __name__ == "__main__":
    main()
