"""``dialectree server-file``: a langgraph.json for the protocols that are installed."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from dialectree.packages import pip_line
from dialectree.protocol import installed, methods
from dialectree.streams import notice

Dependency = Annotated[
    list[str] | None,
    typer.Option(help="What the server installs (.): a folder or a package.", metavar="NAME"),
]


def server_file(dependency: Dependency = None) -> None:
    """Print a langgraph.json with a graph for each method of each installed protocol.

    Leaves out a protocol that lacks a package: the server would not start.
    """
    for one in installed().values():
        if one.missing():
            notice(f"{one.name} is left out: {pip_line(one.requires, one.install_advice)}")
    print(json.dumps(content(dependency or ["."]), indent=2, ensure_ascii=False))


def content(dependencies: list[str]) -> dict[str, Any]:
    """Return the file's content."""
    return {
        "dependencies": dependencies,
        "http": {"app": "dialectree.server:app", "cors": {"allow_origins": []}},
        "graphs": {
            name: {
                "path": method.variant.graph,
                "description": f"{method.protocol.title}: {method.variant.summary}",
            }
            for name, method in methods().items()
            if not method.protocol.missing()
        },
    }
