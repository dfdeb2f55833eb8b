"""Run ``dialectree`` in forks of one process that has imported it, for pages of many commands.

A command takes a second or two of CPU to import what it needs and some tenths for its work. The
server imports all of it once; each command is a fork with the folder, variables and streams of
its caller.
"""

from __future__ import annotations

import gc
import json
import os
import pkgutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

import dialectree
from tests.docs.files import main

ADDRESS = "FORKS_OF_DIALECTREE"
PRELOADED = (
    "bm25s",
    "ftfy",
    "httpcore2",
    "langchain_openai",
    "langgraph.checkpoint.sqlite.aio",
    "langgraph.prebuilt",
    "matplotlib.backends.backend_svg",
    "nupunkt",
    "openai.resources.chat.completions",
    "pandas",
    "pylatexenc.latexwalker",
    "pypdfium2",
    "rich.markdown",
    "statsmodels.api",
    "uvloop",
)
"""What commands import when they first need it, besides our own modules."""
CLIENT = f"""#!{sys.executable} -IS
import json, os, socket, sys

with socket.socket(socket.AF_UNIX) as server:
    server.connect(os.environ["{ADDRESS}"])
    asked = json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(asked).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(asked)
    status = server.recv(4)
sys.exit(int.from_bytes(status, "big") if status else 1)
"""
"""The program that a page calls in the place of ``dialectree``."""


def serve(path: str) -> None:
    """Fork for each command that a client sends, until this process is ended."""
    ours = (one.name for one in pkgutil.walk_packages(dialectree.__path__, "dialectree."))
    for name in (*PRELOADED, *ours):
        if not name.endswith("__main__"):
            import_module(name)
    gc.freeze()  # or each fork would walk through all that was imported
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        while True:
            client, _ = server.accept()
            if os.fork() == 0:
                server.close()
                os._exit(_attend(client))
            client.close()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _attend(client: socket.socket) -> int:
    """Run one command in a child of this process, which ends by itself, and send its status."""
    size, streams, _, _ = socket.recv_fds(client, 4, 3)
    content = b""
    while len(content) < int.from_bytes(size, "big"):
        content += client.recv(1 << 16)
    argv, folder, environ = json.loads(content)
    child = os.fork()
    if child == 0:
        client.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environ)
        sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
        sys.stderr = os.fdopen(2, "w", buffering=1)
        sys.argv = argv
        main()
        sys.exit()
    _, ended = os.waitpid(child, 0)
    with suppress(OSError):  # the caller has gone
        client.sendall(max(os.waitstatus_to_exitcode(ended), 0).to_bytes(4, "big"))
    return 0


@contextmanager
def forks(**environ: str) -> Iterator[str]:
    """Run the server; yield its address."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "socket")
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.docs.forking", path], env={**os.environ, **environ}
        )
        try:
            while not Path(path).exists():
                assert server.poll() is None
                with suppress(subprocess.TimeoutExpired):
                    server.wait(0.05)
            yield path
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    serve(sys.argv[1])
