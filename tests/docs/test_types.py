"""The Python of the documents passes ``mypy --strict``, as a reader's own would."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.docs.blocks import ROOT, blocks
from tests.docs.test_blocks import WRITTEN


def test_every_python_block_passes_the_strict_type_check(tmp_path: Path) -> None:
    """Each page is a module, for its blocks go on from one another."""
    for name, text in WRITTEN.items():
        lines = [""] * text.count("\n")
        for block in blocks(text):
            if block.kind == "python":
                end = block.line - 1 + block.text.count("\n")
                lines[block.line - 1 : end] = block.text.splitlines()
        if any(lines):
            module = name.removesuffix(".md").replace("/", "_").replace("-", "_").lower()
            (tmp_path / f"{module}.py").write_text("\n".join(lines).rstrip() + "\n")
    done = subprocess.run(
        # With the settings and the cache of our own check: what is imported is read once.
        [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode < 2, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith(str(tmp_path))] == []
