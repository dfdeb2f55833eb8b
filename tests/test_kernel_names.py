"""The kernel names no protocol but in examples: what it knows of one is declared."""

from __future__ import annotations

import re
from pathlib import Path

from dialectree.protocols.protocol import installed

ROOT = Path(__file__).resolve().parent.parent
KERNEL = ("dialectree", "evals", "retrieval")
GENERATED = "dialectree/service/functions.pyi"


def test_no_line_names_a_protocol() -> None:
    ours = [one for one in installed().values() if one.graph.startswith("dialectree.")]
    folders = [one.graph.split(".")[2] for one in ours]
    short = "|".join(one.name for one in ours)
    naming = re.compile(rf"""(["'])({short})\1|\b({"|".join(folders)})\b""")
    found: list[str] = []
    for room in KERNEL:
        for path in sorted((ROOT / room).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            linked = any(part.is_symlink() for part in (path, *path.parents))
            if linked or not path.is_file() or "__pycache__" in path.parts or name == GENERATED:
                continue
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            code = [(n, line) for n, line in enumerate(lines, 1) if ">>>" not in line]
            found += [f"{name}:{n}" for n, line in code if naming.search(line)]
    assert found == []
