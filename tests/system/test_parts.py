"""Parts plug in by name, off an event loop, and one that is missing is named."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from importlib.metadata import entry_points
from typing import Any

import pytest

from dialectree.errors import MissingPackage
from dialectree.system.parts import GROUP, PlugPoint, load_off_loop


def test_a_missing_part_is_none_and_named_by_what_needs_it() -> None:
    point: PlugPoint[Any] = PlugPoint("no-such-part", "drawing a debate")
    assert point.find() is None
    with pytest.raises(MissingPackage, match="drawing a debate needs the part `no-such-part`"):
        point.require()


@pytest.mark.parametrize("name", sorted(entry_points(group=GROUP).names))
def test_every_part_that_registers_can_be_loaded(name: str) -> None:
    point: PlugPoint[Any] = PlugPoint(name, "this test")
    assert point.require() is point.find()


def test_a_part_is_loaded_in_a_thread_where_an_event_loop_runs() -> None:
    async def load() -> int:
        return load_off_loop(threading.get_ident)

    assert load_off_loop(threading.get_ident) == threading.get_ident()
    assert asyncio.run(load()) != threading.get_ident()


LOADED = """
import json, sys
from dialectree.protocols.protocol import methods
for one in methods().values():
    one.graph()
print(json.dumps([name for name in sys.modules if name.startswith("dialectree.evidence")]))
"""


def test_graphs_without_sources_load_no_evidence() -> None:
    printed = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert json.loads(printed.stdout) == []
