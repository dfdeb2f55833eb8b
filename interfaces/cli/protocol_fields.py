"""The settings of all protocols, as flags of the commands of evaluations."""

from __future__ import annotations

from pydantic import BaseModel

from dialectree.interfaces.cli import flags
from dialectree.interfaces.cli.debate import usable_protocols
from dialectree.protocols.options import get_option_details


def _fields() -> dict[str, type[BaseModel]]:
    """Return the settings of all protocols, each with a class that declares it.

    Settings of a person and of a calibration are left out: an evaluation asks no person, and
    measures stated confidences.
    """
    fields: dict[str, type[BaseModel]] = {}
    for protocol in usable_protocols().values():
        for kind, name in protocol.list_declared_settings():
            if not get_option_details(kind, name).get("person") and name != "calibration":
                fields.setdefault(name, kind)
    return fields


def help_texts() -> dict[str, str]:
    """Return the help of settings that several protocols describe in different words."""
    declared: dict[str, dict[str, str]] = {}
    for protocol in usable_protocols().values():
        for name in protocol.own_settings():
            text = flags.help_of(protocol.settings, name)
            declared.setdefault(name, {})[protocol.name] = text
    return {
        name: " ".join(f"{protocol}: {text}" for protocol, text in texts.items())
        for name, texts in declared.items()
        if len({*texts.values()}) > 1
    }


FIELDS = _fields()
