"""Serve the list of the protocols, with the forms of their inputs and settings."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dialectree.interfaces.fields import arguments
from dialectree.interfaces.presets import list_presets
from dialectree.interfaces.server.form_words import SettingWords
from dialectree.interfaces.server.ways_in import find_way_in, list_examples
from dialectree.protocols.protocol import Protocol, load_protocols, unusable
from dialectree.protocols.settings import ProtocolSettings, build_settings
from dialectree.records.declared import declarations
from dialectree.running.recorded_settings import dump_settings
from dialectree.system.addresses import redact_passwords
from dialectree.system.packages import pip_line

ACTS = "dialectree.acts"
"""The key, in a request's scope, of how debates are started."""
THREADS, OWN, NONE = "threads", "own", "none"
"""In threads of a LangGraph server; by this server; not at all."""


async def list_protocols(request: Request) -> Response:
    """Answer with the installed protocols, and those that cannot be used."""
    content = await asyncio.to_thread(_make_protocol_list, request.scope.get(ACTS, THREADS))
    return Response(content, media_type="application/json")


@cache
def _make_protocol_list(acts: str) -> bytes:
    """Return the list as JSON; the installed protocols do not change while a server runs.

    ``acts`` says how debates are started, stopped and contested here: ``THREADS``, ``OWN`` or ``NONE``.
    """
    protocols = load_protocols().values()
    lacking = {
        protocol.name: pip_line(protocol.requires, protocol.install_advice)
        for protocol in protocols
        if protocol.missing()
    }
    broken = {**unusable(), **lacking}
    usable = [protocol for protocol in protocols if not {protocol.graph, protocol.name}.intersection(broken)]
    described = [*map(_make_protocol_entry, usable)]
    model = build_settings(ProtocolSettings).model
    return to_json(
        {
            "acts": acts != NONE,
            "own": acts == OWN,
            "model": redact_passwords(model) if isinstance(model, str) else "",
            "protocols": described,
            "broken": broken,
        }
    )


def _make_protocol_entry(protocol: Protocol) -> dict[str, Any]:
    """Return a protocol's declaration, and the forms of the graph that has the protocol's name."""
    chosen = protocol.methods()[protocol.name]
    graph, usual = chosen.graph(), dump_settings(build_settings(protocol.settings), chosen)
    methods = ("name", "title", "summary", "baseline")
    words, presets = SettingWords(protocol), list_presets(protocol)
    return {
        "name": protocol.name,
        "command": protocol.command,
        "kind": find_way_in(protocol),
        "examples": list_examples(protocol),
        **declarations(chosen, usual)[protocol.name].model_dump(mode="json"),
        "methods": [{name: getattr(variant, name) for name in methods} for variant in protocol.variants],
        "presets": presets,
        "preset_words": {name: words.describe_preset(settings) for name, settings in presets.items()},
        "forms": {
            "given": arguments(protocol.input).model_json_schema(),
            "input": graph.get_input_jsonschema(),
            "settings": words.describe_form(graph.get_context_jsonschema() or {}),
        },
    }


routes = [Route("/protocols", list_protocols)]
