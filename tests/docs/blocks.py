"""Read the blocks of a document, and run them one after another as its reader would.

A page is run in a folder that looks like a clone. Its commands are run by bash and share what they
export; its Python shares one interpreter. Models, papers and data sets from elsewhere are replaced
by :mod:`tests.docs.files` and by an endpoint on this machine, and ``pip`` only says what it would
install.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

from tests.forking import ADDRESS, write_programs
from tests.programs import find_program
from tests.servers import accepts_connections, free_port
from tests.waiting import PATIENCE_S, wait_until

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^\n]+) -->\n)?"
    r"^```(?P<kind>\w*)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
MODEL_ADDRESS = re.compile(r"http://(?:127\.0\.0\.1|localhost):\d+/v1")
PORT = re.compile(r"((?:127\.0\.0\.1|localhost):|--port )(\d{4,5})\b")
SERVER = re.compile(r"langgraph dev |dialectree mcp --http ")
ENDED = (0, 5)
"""A judge who rules by chance contradicts itself now and then, which leaves a debate unresolved."""
PROGRAM = f"#!{sys.executable}\nfrom tests.docs.files import main\n\nmain()\n"
TOOLS = {
    # CI runs the other targets itself: they install, or run these tests.
    "make": f'#!/bin/sh\ncase $1 in debate|demo) set -- -o .venv/.run "$@";; *) set -- -n "$@"'
    f';; esac\nexec {shutil.which("make")} "$@"\n'
}


WARNINGS = ["-W", "error", "-W", "ignore:create_react_agent has been moved"]
"""langgraph-supervisor builds on an agent that LangGraph has moved."""


class Block(NamedTuple):
    """A fenced block of a page."""

    kind: str
    text: str
    title: str | None
    """The name of the file that the reader is to make of it."""
    reason: str | None
    """Why the block is not run."""
    line: int


def blocks(markdown: str) -> list[Block]:
    """Return the fenced blocks of a page in their order."""
    return [
        Block(
            kind=found["kind"],
            text=found["text"],
            title=found["title"],
            reason=found["reason"],
            line=markdown.count("\n", 0, found.start("text")) + 1,
        )
        for found in FENCE.finditer(markdown)
    ]


def commands(console: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a console block, with the output that the page shows below it."""
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, shown = re.sub(r"\\\n", "\0", part).partition("\n")
        yield command.replace("\0", "\\\n"), [line for line in shown.splitlines() if line.strip()]


def shows(printed: str, shown: list[str]) -> bool:
    """Return whether a command printed the lines that the page shows."""
    return all(line.strip() in printed for line in shown)


def with_local_addresses(markdown: str, models: str) -> str:
    """Return a page whose models are at ``models``, and whose servers take free ports."""
    ports: dict[str, str] = {}

    def moved(found: re.Match[str]) -> str:
        return found[1] + ports.setdefault(found[2], str(free_port()))

    *pieces, last = MODEL_ADDRESS.split(markdown)
    return "".join(PORT.sub(moved, piece) + models for piece in pieces) + PORT.sub(moved, last)


def clone(folder: Path) -> None:
    """Make ``folder`` look like a clone in which dialectree is installed."""
    folder.mkdir()
    (folder / ".venv").symlink_to(sys.prefix)
    ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text().split()]
    for path in ROOT.iterdir():
        if path.name == ".git" or any(fnmatch(path.name, pattern) for pattern in ignored):
            continue
        if path.is_dir():
            (folder / path.name).symlink_to(path)
        else:
            shutil.copy(path, folder)


class Reader:
    """Somebody who copies the blocks of a page, one after another."""

    def __init__(self, home: Path, environ: dict[str, str]) -> None:
        self.folder = home / "clone"
        self._state = home / "state"
        tools = home / "tools"
        tools.mkdir(parents=True)
        for name, script in {**TOOLS, "dialectree": PROGRAM}.items():
            (tools / name).write_text(script)
            (tools / name).chmod(0o755)
        self._interpreter = sys.executable
        if ADDRESS in environ:
            write_programs(tools)
            self._interpreter = str(tools / "python")
        packages = [os.environ.get("PYTHONPATH", ""), environ.pop("PYTHONPATH", ""), str(ROOT)]
        outside = {k: v for k, v in os.environ.items() if k != "LANGGRAPH_STRICT_MSGPACK"}
        self.environ = {
            **outside,
            "HOME": str(home),
            "PATH": os.pathsep.join([str(tools), f"{sys.prefix}/bin", os.environ["PATH"], os.defpath]),
            "PYTHONPATH": os.pathsep.join(filter(None, packages)),
            "PIP_DRY_RUN": "1",
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "0",
            **environ,
        }
        clone(self.folder)
        self._servers: list[subprocess.Popen[bytes]] = []
        self._python: subprocess.Popen[str] | None = None

    def read(self, page: Sequence[Block]) -> None:
        """Do what the blocks of a page say; fail where one does not do what it shows."""
        for block, after in zip(page, [*page[1:], None], strict=True):
            if block.reason is not None:
                continue
            if block.title is not None:
                (self.folder / block.title).write_text(block.text)
            elif block.kind == "console":
                for command, shown in commands(block.text):
                    if SERVER.match(command):
                        self._serve(command, shown)
                        continue
                    printed = self.run(command)
                    assert shows(printed, shown), f"$ {command}\n{printed}\nlacks some of {shown}"
            elif block.kind == "python":
                printed = self.run_python(block)
                if after is not None and after.kind == "text":
                    assert printed == after.text

    def run(self, command: str) -> str:
        """Run a command, and return what it prints."""
        script = f"trap 'env -0 > {self._state}; pwd >> {self._state}' EXIT\n{command}\n"
        done = subprocess.run(
            [find_program("bash"), "-eo", "pipefail", "-c", script],
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
        )
        assert done.returncode in ENDED, f"status {done.returncode}: $ {command}\n{done.stdout}"
        *variables, folder = self._state.read_text().split("\0")
        self.environ = dict(line.split("=", 1) for line in variables)
        self.folder = Path(folder.strip())
        return done.stdout

    def _serve(self, command: str, shown: list[str]) -> None:
        """Start a server, which goes on until the page ends."""
        log = self._state.with_name("server.log")
        with log.open("w") as out:
            server = subprocess.Popen(
                [find_program("bash"), "-c", f"exec {command}"],
                cwd=self.folder,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )
        self._servers.append(server)
        (port,) = re.findall(r"--port (\d+)", command)
        try:
            wait_until(
                lambda: accepts_connections(int(port)) and shows(log.read_text(), shown), process=server
            )
        except AssertionError as error:
            error.add_note(f"$ {command}\n{log.read_text()}")
            raise

    def run_python(self, block: Block) -> str:
        """Run a Python block after those before it, and return what it prints."""
        if self._python is None:
            self._python = subprocess.Popen(
                [self._interpreter, *WARNINGS, "-m", "tests.docs.interpreter"],
                cwd=self.folder,
                env=self.environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._python.stdin is not None and self._python.stdout is not None
        asked = {"text": "\n" * (block.line - 1) + block.text, "environ": self.environ}
        print(json.dumps(asked), file=self._python.stdin, flush=True)
        reply: dict[str, Any] = json.loads(self._python.stdout.readline() or '{"error": "it ended"}')
        assert "error" not in reply, f"{block.text}\n{reply['error']}"
        return str(reply["printed"])

    def close(self) -> None:
        """End the servers and the interpreter."""
        if self._python is not None:
            self._python.communicate()
        for server in self._servers:
            server.terminate()
            server.wait(PATIENCE_S)


@contextmanager
def reader(home: Path, **environ: str) -> Iterator[Reader]:
    """Give a reader whose programs end with the block."""
    reading = Reader(home, environ)
    try:
        yield reading
    finally:
        reading.close()
