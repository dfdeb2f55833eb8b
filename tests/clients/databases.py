"""PostgreSQL and Redis, started for a test on free ports of this machine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PASSWORD = "s3cret-word"


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(
    words: list[str], port: int, log: Path, **options: Any
) -> Iterator[subprocess.Popen[Any]]:
    """Run a program until the block ends; the block begins once the program takes connections."""
    with log.open("w") as output:
        process = subprocess.Popen(words, stdout=output, stderr=output, **options)
    try:
        give_up = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < give_up:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        else:
            pytest.fail(f"{words[0]} did not come up:\n{log.read_text()[-2000:]}")
        yield process
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def postgres() -> Iterator[str]:
    """Run a new PostgreSQL server and yield its address."""
    user: dict[str, Any] = {}
    if os.getuid() == 0:  # PostgreSQL refuses to run as root
        user = {"user": "postgres", "group": "postgres", "extra_groups": []}
    folder, port = Path(tempfile.mkdtemp(prefix="postgres-")), free_port()
    try:
        (folder / "password").write_text(PASSWORD)
        for path in (folder, folder / "password") if user else ():
            shutil.chown(path, "postgres", "postgres")
        data, options = str(folder / "data"), {"cwd": folder, **user}
        access = ["--username", "debates", "--auth", "scram-sha-256", "--pwfile", "password"]
        words = [_postgres_program("initdb"), "--pgdata", data, "--no-sync", *access]
        made = subprocess.run(words, capture_output=True, text=True, check=False, **options)
        assert made.returncode == 0, made.stderr
        words = [_postgres_program("postgres"), "-D", data, "-p", str(port), "-k", str(folder)]
        words += ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
        with running(words, port, folder / "log", **options):
            yield f"postgresql://debates:{PASSWORD}@127.0.0.1:{port}/postgres"
    finally:
        shutil.rmtree(folder)


@contextmanager
def redis() -> Iterator[str]:
    """Run a new Redis server and yield its address."""
    server = shutil.which("redis-server")
    if server is None:
        pytest.fail("redis-server is missing: apt-get install redis-server")
    port = free_port()
    words = [server, "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    with tempfile.TemporaryDirectory(prefix="redis-") as folder:
        words += ["--requirepass", PASSWORD]
        with running(words, port, Path(folder) / "log", cwd=folder):
            yield f"redis://:{PASSWORD}@127.0.0.1:{port}/0"


def _postgres_program(name: str) -> str:
    """Return the path of a program of PostgreSQL; Debian keeps them out of the path."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    path = os.pathsep.join([*map(str, folders), os.environ.get("PATH", "")])
    program = shutil.which(name, path=path)
    if program is None:
        pytest.fail(f"{name} is missing: apt-get install postgresql")
    return program
