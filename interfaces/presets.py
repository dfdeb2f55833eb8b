"""List the presets of a protocol: named groups of settings, fast, usual and thorough first."""

from __future__ import annotations

from typing import Any

from dialectree.errors import ArgumentError
from dialectree.protocols.protocol import Protocol

LEVELS = ("fast", "usual", "thorough")
"""Names of the presets that people are offered before anything else. ``usual`` has the defaults."""


def list_presets(protocol: Protocol) -> dict[str, dict[str, Any]]:
    """Return the settings of each preset of a protocol: first fast, usual and thorough, then its others.

    Every protocol has the preset ``usual``, even if it declares none.
    """
    declared = {"usual": {}, **protocol.presets}
    names = dict.fromkeys([*(name for name in LEVELS if name in declared), *declared])
    return {name: {**declared[name]} for name in names}


def find_preset(protocol: Protocol, name: str) -> dict[str, Any]:
    """Return the settings of a preset; raise ArgumentError with the known names if it is unknown."""
    presets = list_presets(protocol)
    if name not in presets:
        raise ArgumentError(f"`preset` {name}: {protocol.name} has no such preset; use {', '.join(presets)}")
    return presets[name]
