"""Run every example against the tests' own endpoint: ``python -m tests.examples``.

No model is behind it: its replies are made up by chance, so the examples show how they work, and
their answers mean nothing. It calls no tools, so the agents answer without debating first.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.endpoint import LocalEndpoint

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MODEL = "openai:made-up"
FIRE = ["Is fire hot?", "--option", "yes", "--option", "no"]
DEBATE = [sys.executable, "-m", "dialectree", "run"]
ENDED = (0, 5)
"""A judge who rules by chance leaves a debate undecided now and then."""
COMMANDS = {
    "majority_debate": [*DEBATE, "majority_debate", *FIRE],
    "mad": [*DEBATE, "mad", "Why is the sky blue?"],
    "atomic_claims": [*DEBATE, "atomic_claims", "Bats are blind birds."],
    "reconcile": [*DEBATE, "reconcile", *FIRE],
    "tribunal": [*DEBATE, "tribunal", *FIRE],
    "council": [*DEBATE, "council", "Why is the sky blue?"],
    "verifying_agent": [MODEL, "Is the Nile longer than the Amazon?"],
    "literature_assistant": [MODEL, ".", "How do the two papers sample?"],
    "own_retriever": [MODEL, "archive.db", "Can large ships use the harbour of Aden?"],
    "supervisor": ["Which language do all people in Europe speak?"],
}


def main() -> int:
    """Run the examples one after another; return 0 if all of them ended well."""
    failed = []
    with TemporaryDirectory() as folder, LocalEndpoint() as endpoint:
        installed = Path(folder) / "installed"
        packages = sorted(path.parent for path in EXAMPLES.glob("*/pyproject.toml"))
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
        subprocess.run([*pip, "--target", installed, *packages], check=True)
        environment = {
            **os.environ,
            "PYTHONPATH": str(installed),
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": endpoint.url,
            "DIALECTREE_MODEL": MODEL,
        }
        for name in sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir()):
            print(f"\n== {name} (its replies are made up by chance)", flush=True)
            script = EXAMPLES / name / f"{name}.py"
            command = [sys.executable, str(script)] if script.is_file() else []
            done = subprocess.run([*command, *COMMANDS[name]], cwd=folder, env=environment)
            failed += [] if done.returncode in ENDED else [name]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
