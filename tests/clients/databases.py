"""PostgreSQL and Redis, started for a test on free ports of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.servers import PORT, run_server

PASSWORD = "s3cret-word"


@contextmanager
def postgres() -> Iterator[str]:
    """Run a new PostgreSQL server and yield its address."""
    user: dict[str, Any] = {}
    if os.getuid() == 0:  # PostgreSQL refuses to run as root
        user = {"user": "postgres", "group": "postgres", "extra_groups": []}
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    try:
        (folder / "password").write_text(PASSWORD)
        for path in (folder, folder / "password") if user else ():
            shutil.chown(path, "postgres", "postgres")
        data, options = str(folder / "data"), {"cwd": folder, **user}
        access = ["--username", "debates", "--auth", "scram-sha-256", "--pwfile", "password"]
        words = [_postgres_program("initdb"), "--pgdata", data, "--no-sync", *access]
        made = subprocess.run(words, capture_output=True, text=True, check=False, **options)
        assert made.returncode == 0, made.stderr
        words = [_postgres_program("postgres"), "-D", data, "-p", PORT, "-k", str(folder)]
        words += ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
        with run_server(words, folder / "log", **options) as server:
            yield f"postgresql://debates:{PASSWORD}@127.0.0.1:{server.port}/postgres"
    finally:
        shutil.rmtree(folder)


@contextmanager
def redis() -> Iterator[str]:
    """Run a new Redis server and yield its address."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.fail("redis-server is missing: apt-get install redis-server")
    words = [program, "--port", PORT, "--bind", "127.0.0.1", "--save", ""]
    with tempfile.TemporaryDirectory(prefix="redis-") as folder:
        words += ["--requirepass", PASSWORD]
        with run_server(words, Path(folder) / "log", cwd=folder) as server:
            yield f"redis://:{PASSWORD}@127.0.0.1:{server.port}/0"


def _postgres_program(name: str) -> str:
    """Return the path of a program of PostgreSQL; Debian keeps them out of the path."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    path = os.pathsep.join([*map(str, folders), os.environ.get("PATH", "")])
    program = shutil.which(name, path=path)
    if program is None:
        pytest.fail(f"{name} is missing: apt-get install postgresql")
    return program
