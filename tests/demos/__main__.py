"""Make the recordings of the protocols' demonstrations again: ``python -m tests.demos``."""

from __future__ import annotations

from pathlib import Path

from dialectree.testing import illustrate

SCRIPTS = sorted(Path(__file__).parent.glob("*.yaml"))

if __name__ == "__main__":
    for script in SCRIPTS:
        print(illustrate(script).path)
