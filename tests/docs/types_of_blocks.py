"""Check the Python of the documents as ``mypy --strict`` checks ours: ``make check`` runs this."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.docs.blocks import ROOT, blocks
from tests.docs.test_blocks import WRITTEN


def main() -> int:
    """Write each page as a module, since its blocks go on from one another, and check them all."""
    with TemporaryDirectory() as folder:
        for name, text in WRITTEN.items():
            lines = [""] * text.count("\n")
            for block in blocks(text):
                if block.kind == "python":
                    end = block.line - 1 + block.text.count("\n")
                    lines[block.line - 1 : end] = block.text.splitlines()
            if any(lines):
                module = name.removesuffix(".md").replace("/", "_").replace("-", "_").lower()
                Path(folder, f"{module}.py").write_text("\n".join(lines).rstrip() + "\n")
        # With the settings and the cache of our own check, so that imports are read once.
        mypy = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml"]
        return subprocess.run([*mypy, "--no-error-summary", folder], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
