"""Offer the presets of the installed protocols as assistants of the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from langgraph_sdk import get_client

from dialectree.protocols.forms import plain
from dialectree.protocols.protocol import Protocol, load_protocols


def preset_id(protocol: Protocol, name: str) -> UUID:
    """Return the id of a preset's assistant, the same on every server."""
    return uuid5(NAMESPACE_URL, f"dialectree:{protocol.name}/{name}")


async def offer_presets() -> None:
    """Create an assistant for each preset of a served protocol; correct one of an earlier version."""
    client = get_client()
    graphs = {assistant["graph_id"] for assistant in await client.assistants.search(limit=1000)}
    for protocol in load_protocols().values():
        served = protocol.name in graphs  # the server makes an assistant of each of its graphs
        for name, settings in protocol.presets.items() if served else ():
            if not settings:
                continue  # the assistant that the server makes itself
            context = {**settings}
            new_assistant = await client.assistants.create(
                protocol.name,
                context=context,
                assistant_id=str(preset_id(protocol, name)),
                if_exists="do_nothing",
                name=f"{protocol.title}: {name.replace('_', ' ')}",
                description=_description(protocol, settings),
                metadata={"created_by": "system", "preset": f"{protocol.name}/{name}"},
            )
            if new_assistant["context"] != context:  # from an earlier version
                await client.assistants.update(new_assistant["assistant_id"], context=context)


def _description(protocol: Protocol, settings: Mapping[str, Any]) -> str:
    """Return the protocol's summary, and the meanings of the preset's settings."""
    fields = protocol.settings.model_fields
    meanings = (f"{name} = {setting}: {fields[name].description}" for name, setting in settings.items())
    return plain(" ".join([protocol.summary, *meanings]))
