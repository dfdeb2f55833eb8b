"""What all tests have in common: no cache, no settings and no key of the person who runs them."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
os.environ.setdefault("HF_HUB_CACHE", "nowhere")  # models of the person decide nothing
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell's job in the background ignores Ctrl-C, and so would the commands under test.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def clean_room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty folder, an empty cache, and an environment that says nothing."""
    for name in list(os.environ):
        ours = name.startswith(("DIALECTREE_", "OPENAI_", "LANGSMITH_", "LANGCHAIN_"))
        if ours or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("DIALECTREE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    if (endpoints := sys.modules.get("dialectree.models.endpoints")) is not None:
        endpoints._endpoints.clear()  # a port may come again


@pytest.fixture
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that write many small files, none of which has to outlive a power cut."""
    monkeypatch.setattr("os.fsync", lambda file: None)
