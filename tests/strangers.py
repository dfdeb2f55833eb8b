"""Packages of strangers that take names, do not load, or do harm when they are imported."""

from __future__ import annotations

from pathlib import Path

_DECLARATION = '''
from dialectree import Phase, Protocol, ProtocolInput, ProtocolSettings, option

class Input(ProtocolInput):
    """A question."""

    question: str = option(positional=True)
    """What is asked."""

class Settings(ProtocolSettings):
    """Settings of its own."""

    speed: int = option(1, group="Own")
    """How fast."""

declared = dict(
    name="NAME", title="Stranger", summary="Do it.", source="nobody", input=Input,
    settings=Settings, outcome="answer", graph="NAME.graph:graph", roles={"speaker": ""},
    prompts=("NAME",),
)
'''
_PROTOCOL = f"{_DECLARATION}\nprotocol = Protocol(**{{**declared, **MORE}})\n"

STRANGERS = {
    "a_name": _PROTOCOL.replace("MORE", "dict(name='rsd')"),
    "a_chat": _PROTOCOL.replace("MORE", "dict(name='rsd_chat')"),
    "a_verb": _PROTOCOL.replace("MORE", "dict(command='answer')"),
    "a_command": _PROTOCOL.replace("MORE", "dict(command='show')"),
    "a_tool": _PROTOCOL.replace("MORE", "dict(name='submit')"),
    "a_function": _PROTOCOL.replace("MORE", "dict(command='estimate')"),
    "a_view": _PROTOCOL.replace("MORE", "dict(view='fancy')"),
    "an_outcome": _PROTOCOL.replace("MORE", "dict(outcome='opinion')"),
    "exits": "import sys; print('I print'); sys.exit(3)",
    "raises": "class Mine(BaseException): pass\nraise Mine('two\\nlines')",
    "their_settings": "from dialectree.nodes.role_switching_debate import state\n"
    + _PROTOCOL.replace("MORE", "dict(settings=state.Settings)"),
    "a_flag": _PROTOCOL.replace("speed:", "runs:").replace("MORE", "{}"),
    "no_graph": _PROTOCOL.replace("MORE", "{}"),
    "exiting_graph": _PROTOCOL.replace("MORE", "dict(demo='demo')"),
    "a_baseline": "from dialectree import Variant\n"
    + _PROTOCOL.replace(
        "MORE", "dict(variants=(Variant(name='direct', summary='Do it.', graph='json:loads'),))"
    ),
}
"""Code by package; each is its own distribution."""
REFUSED = {
    "a_name": "the protocol rsd has the name rsd",
    "a_chat": "the protocol rsd has the name rsd_chat",
    "a_verb": "the protocol tsd has the name answer",
    "a_command": "dialectree itself has the name show",
    "a_tool": "dialectree itself has the name submit",
    "a_function": "dialectree itself has the name estimate",
    "a_view": "view 'fancy' is not one of tree, rounds, two_sided, arguments, and",
    "an_outcome": "outcome 'opinion' is not one of answer, choice, probability, comparison",
    "exits": "SystemExit: 3",
    "raises": "Mine: two lines",
    "their_settings": "its settings are those of rsd",
    "a_flag": "duplicate parameter name: 'runs'",
}
"""What is said of those that cannot be used at all."""
DAMAGED = {
    "no_graph.graph:graph": "No module named 'no_graph.graph'",
    "exiting_graph.graph:graph": "SystemExit: 4",
    "exiting_graph, demo": "there is no recorded debate",
    "a_baseline.graph:graph": "No module named 'a_baseline.graph'",
    "json:loads": "'function' object has no attribute 'get_graph'",
}
"""What is said of parts of the others."""


def install(folder: Path) -> None:
    """Install the packages of strangers into ``folder``."""
    for name, code in STRANGERS.items():
        package = folder / name
        package.mkdir()
        (package / "__init__.py").write_text(code.replace("NAME", name))
        about = folder / f"{name}-1.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        entry = f"[dialectree.protocols]\n{name} = {name}:protocol\n"
        (about / "entry_points.txt").write_text(entry)
    (folder / "exiting_graph" / "graph.py").write_text("print('I print'); raise SystemExit(4)")
