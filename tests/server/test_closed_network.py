"""Without tracing, nothing but the requests to the model leaves the program."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.endpoint import LocalEndpoint
from tests.rules import children
from tests.trace.trace_recorder import KEY
from tests.waiting import PATIENCE_S

GUARD = """
import os, sys

def refuse(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        place = f"{address[0]}:{address[1]}" if isinstance(address, tuple) else str(address)
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        place = f"{arguments[0]}:{arguments[1] if len(arguments) > 1 else ''}"
    else:
        return
    if place != os.environ["ONLY"]:
        with open(os.environ["REFUSED"], "a") as file:
            file.write(f"{event} {place}\\n")
        if "END" in os.environ:
            os._exit(0)
        raise OSError(f"the network is closed: {place}")

sys.addaudithook(refuse)
"""
PYTHON = "import dialectree; dialectree.answer('Is it so?', max_depth=1, leaf_rounds=1)"
COMMANDS = [
    ["answer", "Is it so?", "--max-depth", "1"],
    ["decide", "What?", "--option", "a cow", "--option", "a tree"],
    ["verify", "Cows give milk."],
    ["show"],
]
ALL_COMMANDS = f"""
import sys
from dialectree.interfaces.cli import main

for words in {COMMANDS!r}:
    sys.argv = ["dialectree", *words]
    try:
        main()
    except SystemExit as ended:
        assert ended.code in (None, 0, 5), (words, ended.code)
"""


def run(folder: Path, program: str, url: str, **environment: str) -> list[str]:
    """Run Python with a network that reaches ``url`` only; return what was refused."""
    (folder / "sitecustomize.py").write_text(GUARD)
    refused = folder / "refused"
    own = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "PYTHONPATH": str(folder),
        "ONLY": url.removeprefix("http://").partition("/")[0],
        "REFUSED": str(refused),
        "DIALECTREE_MODEL": f"openai:any@{url}",
        "OPENAI_API_KEY": KEY,
        "LANGSMITH_API_KEY": KEY,
        "LANGSMITH_ENDPOINT": "http://127.0.0.1:9",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
    }
    subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**own, **environment},
        stdout=subprocess.DEVNULL,
        timeout=PATIENCE_S,
        check=True,
    )
    return refused.read_text().splitlines() if refused.exists() else []


@pytest.mark.parametrize("program", [ALL_COMMANDS, PYTHON], ids=["commands", "Python"])
def test_nothing_leaves_but_the_requests_to_the_model(tmp_path: Path, program: str) -> None:
    with LocalEndpoint(rules=children(2)) as endpoint:
        assert run(tmp_path, program, endpoint.url) == []
        assert endpoint.stats()["calls"] > 0


def test_the_closed_network_would_notice_a_trace(tmp_path: Path) -> None:
    with LocalEndpoint(rules=children(2)) as endpoint:
        refused = run(tmp_path, PYTHON, endpoint.url, LANGSMITH_TRACING="true", END="at once")
    assert any("127.0.0.1:9" in line for line in refused)
