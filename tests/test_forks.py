"""Debates of a process that was forked off one that had debated, as ``multiprocessing`` does."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from dialectree.system.threads import Threads
from tests.endpoint import LocalEndpoint

PAPER = {"title": "Heat", "abstract": "We study heat.", "body": "Heat is warm. " * 30}
OTHER = {"title": "Cold", "abstract": "We study cold.", "body": "Cold is not warm. " * 30}
PROGRAM = f"""
import multiprocessing
import sys
import dialectree

def debates(question):
    decided = dialectree.decide(question, ["hot", "cold"], model=sys.argv[1])
    compared = dialectree.compare(
        {PAPER!r}, {OTHER!r}, topic=question, model=sys.argv[1], embeddings="bm25", max_depth=1
    )
    print(decided.usage.calls, compared.status, flush=True)

debates("Is fire hot?")
forked = multiprocessing.get_context("fork").Process(target=debates, args=("Is ice hot?",))
forked.start()
forked.join(60)
print(forked.exitcode, flush=True)
if forked.exitcode is None:
    forked.kill()
debates("Is fire hot?")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_debates_and_its_parent_goes_on() -> None:
    with LocalEndpoint() as endpoint:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, f"openai:any@{endpoint.url}"],
            capture_output=True,
            text=True,
            timeout=150,
            check=True,
        )
    assert done.stdout.splitlines() == ["10 answered", "9 answered", "0", "10 answered"]


def test_threads_are_begun_once_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = Threads(1, "these")
    mine = threads.submit(lambda: 1)
    assert mine.result() == 1
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert [threads.submit(abs, n).result() for n in range(3)] == [0, 1, 2]
    assert len(threads._pools) == 2
