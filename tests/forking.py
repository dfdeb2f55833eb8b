"""Run ``dialectree`` and Python in forks of one process that has imported both.

A program takes a second or two of CPU to import what it needs and some tenths for its work. The
server imports all of it once; each program is a fork with the folder, variables and streams of
its caller. It ends without tearing down what was imported, which would take longer than its work.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import runpy
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from pathlib import Path

import langsmith.utils

import dialectree
from dialectree.running import estimates
from tests.docs import files
from tests.endpoint import LocalEndpoint
from tests.rules import children
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[1]
ADDRESS = "FORKS_OF_DIALECTREE"
REHEARSALS = "REHEARSALS_OF_A_DEBATE"
"""The variable that says by how many rehearsals a debate is estimated."""
FEW_REHEARSALS = 4
PRELOADED = (
    "bm25s",
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
"""What programs import when they first need it, besides our own modules."""
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
"""A program that runs in a fork. Its name says what: ``dialectree``; or ``python`` with ``-W``,
``-c`` and ``-m``."""


def write_programs(folder: Path) -> None:
    """Write ``dialectree`` and ``python`` as programs of the forks."""
    for name in ("dialectree", "python"):
        (folder / name).write_text(CLIENT)
        (folder / name).chmod(0o755)


def python() -> str:
    """Return the program that runs Python: in a fork where the environment names a server."""
    address = os.environ.get(ADDRESS)
    return str(Path(address).with_name("python")) if address else sys.executable


@contextmanager
def run_fork_server(**environ: str) -> Iterator[str]:
    """Run the server; yield what clients need as ``ADDRESS`` in their environment."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "socket")
        write_programs(Path(folder))
        words = [sys.executable, "-m", "tests.forking", path]
        server = subprocess.Popen(words, env={**os.environ, **environ}, cwd=ROOT)
        try:
            wait_until(Path(path).exists, process=server)
            yield path
        finally:
            server.kill()
            server.wait()


def serve(path: str) -> None:
    """Fork for each program that a client sends, until this process is ended."""
    ours = (one.name for one in pkgutil.walk_packages(dialectree.__path__, "dialectree."))
    for name in (*PRELOADED, *ours):
        if not name.endswith("__main__"):
            import_module(name)
    estimates.MOST = FEW_REHEARSALS
    os.fsync = lambda fd: None  # no power fails here
    _debate_once()
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


DEBATES = (
    ("answer", "Is fire hot?"),
    ("decide", "Is fire hot?", "--option", "yes", "--option", "no"),
    ("verify", "Fire is hot."),
    ("compare", "ladder.txt", "mesh.md", "--topic", "ladders", "--embeddings", "bm25"),
)


def _debate_once() -> None:
    """Make what a first debate makes of clients, graphs, prompts, schemas and templates."""
    demos = [("demo", name, "--fast") for name in ("tsd", "rsd", "art", "tod")]
    before, environ = Path.cwd(), dict(os.environ)
    with (
        LocalEndpoint(rules=children(2, difficulty=0.1)) as endpoint,
        tempfile.TemporaryDirectory() as folder,
        open(os.devnull, "w") as nowhere,
    ):
        model = ("--model", "openai:any", "--base-url", endpoint.url)
        os.chdir(folder)
        os.environ["DIALECTREE_CACHE_DIR"] = folder
        files.write_files(Path(folder))
        for words in (*demos, *((*debate, *model) for debate in DEBATES)):
            sys.argv = ["dialectree", *words]
            with redirect_stdout(nowhere), redirect_stderr(nowhere), suppress(SystemExit):
                files.main()
    os.chdir(before)
    os.environ.clear()
    os.environ.update(environ)


def _attend(client: socket.socket) -> int:
    """Run one program in a child of this process, which ends by itself, and send its status."""
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
        # It remembers the variables of the server.
        langsmith.utils.get_env_var.cache_clear()  # type: ignore[attr-defined]
        estimates.MOST = int(environ.get(REHEARSALS, FEW_REHEARSALS))
        sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
        sys.stderr = os.fdopen(2, "w", buffering=1)
        os._exit(_run_to_its_end(argv))
    _, ended = os.waitpid(child, 0)
    with suppress(OSError):  # the caller has gone
        client.sendall(max(os.waitstatus_to_exitcode(ended), 0).to_bytes(4, "big"))
    return 0


def _run_to_its_end(argv: list[str]) -> int:
    """Run a program; return its status."""
    status = 0
    try:
        if Path(argv[0]).name == "python":
            _run_python(argv)
        else:
            sys.argv = argv
            files.main()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(bool(ended.code))
    except BaseException:
        traceback.print_exc()
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    return status


def _run_python(argv: list[str]) -> None:
    """Do what ``python [-W FILTER]... (-c CODE | -m MODULE) [ARGUMENT]...`` does."""
    words = argv[1:]
    while words[0] == "-W":
        action, _, message = words[1].partition(":")
        warnings.filterwarnings(action, message)  # type: ignore[arg-type]
        words = words[2:]
    kind, what, *arguments = words
    sys.argv = [kind, *arguments]
    sys.path.insert(0, "")
    if kind == "-m":
        runpy.run_module(what, run_name="__main__")
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})


if __name__ == "__main__":
    serve(sys.argv[1])
