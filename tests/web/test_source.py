"""The page's source knows no protocol, and stays small."""

from __future__ import annotations

import re
from pathlib import Path

from dialectree.protocols.protocol import load_protocols

SOURCE = Path(__file__).parents[2] / "web"
FILES = [SOURCE / "index.html", SOURCE / "vite.config.ts", *sorted((SOURCE / "src").iterdir())]


def test_the_page_names_no_protocol() -> None:
    text = " ".join(path.read_text() for path in FILES)
    names = {name for one in load_protocols().values() for name in (one.name, one.graph, one.title)}
    assert {name for name in names if re.search(rf"[\"'`]{re.escape(name)}[\"'`]", text)} == set()


def test_the_page_is_small() -> None:
    code = [path.read_text() for path in FILES if path.suffix in (".ts", ".tsx")]
    assert sum(text.count("\n") for text in code) <= 3300
