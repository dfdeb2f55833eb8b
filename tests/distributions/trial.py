"""Run commands of an installed dialectree in an empty folder, against the tests' endpoint."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.endpoint import LocalEndpoint
from tests.waiting import PATIENCE_S

PAPER = "{0} for orbits\n\nAbstract\n\n{0} narrow an orbit.\n\n1 Method\n\n{0} keep what they found.\n"
RECORDED = [
    ["dialectree", "--version"],
    ["dialectree", "--help"],
    ["dialectree", "demo", "art"],
    ["dialectree", "show", "last"],
    ["dialectree", "contest", "last", "--set", "0.1=0.2"],
]
"""What needs no model."""
DEBATES = [
    ["dialectree", "answer", "Is fire hot?", "--max-depth", "1"],
    ["dialectree", "decide", "Is fire hot?", "--option", "yes", "--option", "no"],
    ["dialectree", "verify", "Fire is hot.", "--breadth", "2"],
]
COMPARISON = ["dialectree", "compare", "ladders.txt", "meshes.txt", "--topic", "Orbits"]
COMPARISON += ["--embeddings", "bm25", "--max-depth", "1"]
ENDED = (0, 5)
"""A judge who rules by chance contradicts itself now and then, which leaves a debate unresolved."""
OURS = ("DIALECTREE_", "LANGCHAIN_", "LANGSMITH_", "OPENAI_", "PYTHON")


@contextmanager
def endpoint() -> Iterator[dict[str, str]]:
    """Serve the endpoint; yield the environment variables with which commands ask it."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    with LocalEndpoint() as served, TemporaryDirectory() as cache:
        yield variables | {
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": served.url,
            "DIALECTREE_MODEL": "openai:any",
            "DIALECTREE_CACHE_DIR": cache,
        }


def try_out(programs: Path, calls: Iterable[list[str]], variables: dict[str, str]) -> None:
    """Run each of ``calls`` by the programs of an environment; raise where one fails."""
    with TemporaryDirectory() as folder:
        for name in ("Ladders", "Meshes"):
            Path(folder, f"{name.lower()}.txt").write_text(PAPER.format(name))
        for program, *words in calls:
            begun = time.perf_counter()
            done = subprocess.run(
                [programs / program, *words],
                cwd=folder,
                env=variables,
                capture_output=True,
                text=True,
                timeout=PATIENCE_S,
            )
            shown = " ".join([program, *words])[:76].partition("\n")[0]
            print(f"  {time.perf_counter() - begun:4.1f} s  {shown}", flush=True)
            if done.returncode not in ENDED:
                raise SystemExit(f"status {done.returncode}\n{done.stdout}{done.stderr}")
