"""Check the types of the Python in the documents: ``python -m tests.docs.types``.

``make check`` runs this after mypy has read our own code, from whose cache it takes what the
documents import.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.docs.blocks import ROOT, blocks
from tests.docs.test_blocks import WRITTEN


def write_modules(folder: Path) -> None:
    """Write the Python of each page as a module, since its blocks go on from one another."""
    for name, text in WRITTEN.items():
        lines = [""] * text.count("\n")
        for block in blocks(text):
            if block.kind == "python":
                end = block.line - 1 + block.text.count("\n")
                lines[block.line - 1 : end] = block.text.splitlines()
        if any(lines):
            module = name.removesuffix(".md").replace("/", "_").replace("-", "_").lower()
            (folder / f"{module}.py").write_text("\n".join(lines).rstrip() + "\n")


def main() -> int:
    """Print what ``mypy --strict`` finds in the documents; return 1 if there is something."""
    with tempfile.TemporaryDirectory() as folder:
        write_modules(Path(folder))
        command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", folder]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        found = [line for line in done.stdout.splitlines() if line.startswith(folder)]
    print("\n".join(found) or "The Python of the documents is well typed.")
    return 1 if found or done.returncode > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
