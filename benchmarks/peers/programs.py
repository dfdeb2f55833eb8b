"""The programs that are compared, their environments, and the loop that asks them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.endpoint import ROOT


class Program(NamedTuple):
    """A program that gives verdicts."""

    title: str
    driver: str
    """The module of this package that runs in the program's environment."""
    packages: tuple[str, ...] = ()
    """The packages for pip; empty for ours, whose protocols are in ``examples``."""
    arguments: tuple[str, ...] = ()
    """The arguments of our driver: the protocol and its settings."""

    def install(self, venvs: Path) -> None:
        """Make the program's environment, unless it exists."""
        place = venvs / self.driver
        if place.exists():
            return
        print(f"installing {self.title} ...", file=sys.stderr, flush=True)
        pip = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        if self.packages:
            subprocess.run([sys.executable, "-m", "venv", place], check=True)
            subprocess.run([place / "bin" / "python", *pip, *self.packages], check=True)
        else:
            ours = sorted(path.parent for path in (ROOT / "examples").glob("*/pyproject.toml"))
            pip += ["--no-deps", "--no-build-isolation", "--target", str(place)]
            subprocess.run([sys.executable, *pip, *ours], check=True)

    @contextmanager
    def driven(self, venvs: Path, url: str, home: Path) -> Iterator[subprocess.Popen[str]]:
        """Run the program for a ``with`` block, with the endpoint at ``url``."""
        place = venvs / self.driver
        python = place / "bin" / "python" if self.packages else sys.executable
        paths = [str(ROOT)] if self.packages else [str(ROOT), str(place)]
        own = {"HOME": str(home), "PEER_URL": url, "PYTHONPATH": os.pathsep.join(paths)}
        home.mkdir(parents=True)
        with (home / "log").open("w") as log:
            process = subprocess.Popen(
                [python, "-m", f"benchmarks.peers.{self.driver}", *self.arguments],
                cwd=home,
                env={"PATH": os.environ.get("PATH", ""), **own},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        try:
            yield process
        finally:
            process.terminate()
            process.communicate()


def ask(process: subprocess.Popen[str], question: str) -> dict[str, Any]:
    """Return the answer, the error, and the wall and CPU seconds."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(f"{question}\n")
    process.stdin.flush()
    reply: dict[str, Any] = json.loads(process.stdout.readline())
    return reply


OPTIONS = "options=yes,no"
UNMODERATED = Program(
    "ours: mad, unmoderated", "ours", arguments=("mad", "method_name=unmoderated", "rounds=2")
)
PAIRS = (
    (
        "three answer and rank one another, a chair merges",
        Program("llm-council-core 0.53.0", "llm_council_core", ("llm-council-core==0.53.0",)),
        Program("ours: council", "ours", arguments=("council",)),
    ),
    (
        "an advocate for each of two answers, a judge who rules",
        Program("enbanc 0.1.0", "enbanc", ("enbanc==0.1.0",)),
        Program("ours: tribunal", "ours", arguments=("tribunal", "rounds=1", "questions=0", OPTIONS)),
    ),
    (
        "three answer, read one another and answer again",
        Program("lemmas 0.4.0", "lemmas", ("lemmas==0.4.0", "openai>=3,<4")),
        Program("ours: majority_debate", "ours", arguments=("majority_debate", OPTIONS)),
    ),
    (
        "two debate for two rounds, a third concludes",
        Program("duelyst-ai-core 0.8.0", "duelyst", ("duelyst-ai-core==0.8.0",)),
        Program("AutoGen 0.7.5", "autogen", ("autogen-agentchat==0.7.5", "autogen-ext[openai]==0.7.5")),
        UNMODERATED,
    ),
)
"""The course of a debate, the peers, and our nearest protocol."""
