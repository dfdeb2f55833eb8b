"""``dialectree mcp``: the protocols as tools of a client that speaks MCP."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from dialectree.interfaces.cli import flags
from dialectree.interfaces.cli.flags import notice


@flags.settings(*flags.MODELS_AND_LIMITS)
def mcp(
    settings: dict[str, Any],
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP instead of stdin and stdout.")
    ] = False,
    host: Annotated[str, typer.Option(help="Address of the HTTP server.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Its port; 0: a free one.", min=0, max=65535)] = 8000,
    papers: Annotated[
        list[Path] | None, typer.Option(help="Folder whose files clients may name (none).", metavar="DIR")
    ] = None,
    wait: Annotated[
        float, typer.Option(help="How long a call waits for a verdict.", metavar="SECONDS", min=0)
    ] = 45,
    runs: flags.Runs = Path("runs"),
) -> None:
    """Serve the installed protocols to a client that speaks MCP: an editor, an agent, a chat.

    Clients choose neither models nor addresses: these flags, the environment and dialectree.toml
    set them. DIALECTREE_MCP_KEY is the key of an HTTP server.
    """
    from dialectree.errors import InputError
    from dialectree.interfaces.cli.debate import usable_protocols
    from dialectree.interfaces.cli.process import collect_garbage_seldom
    from dialectree.interfaces.cli.progress import demonstration
    from dialectree.models.sizes import at_chance
    from dialectree.protocols.protocol import Protocol
    from dialectree.running.recorded_settings import speakers
    from dialectree.system import loop
    from dialectree.system.packages import pip_line, require

    require("dialectree mcp", "dialectree[mcp]")
    from dialectree.interfaces.background import BackgroundDebates
    from dialectree.interfaces.mcp import server, serving

    for folder in papers or []:
        if not folder.is_dir():
            raise InputError(f"--papers {folder}: there is no such folder")
    debates = BackgroundDebates(runs, owner="", files_from=papers or [], host=settings)
    served: list[Protocol] = []
    for protocol in usable_protocols().values():
        if protocol.missing():
            line = pip_line(protocol.requires, protocol.install_advice)
            notice(f"{protocol.name} is left out: {line}")
        else:
            served.append(protocol)
    methods = [protocol.methods()[protocol.name] for protocol in served]
    specs = [speakers(chosen, debates.configure(chosen, {}, notice)) for chosen in methods]
    if any(at_chance(spec) for roles in specs for spec in roles.values()):
        notice(demonstration())
    listening = serving.listen(host, port) if http else None

    async def serve() -> None:
        sdk = server.DebateServer(debates, served, wait).sdk
        try:
            if listening is None:
                await serving.serve_stdio(sdk)
            else:
                notice(f"MCP server: {serving.address(listening)} (Ctrl-C ends it)")
                await serving.serve_http(sdk, debates, listening, host)
        finally:
            await debates.break_off()

    collect_garbage_seldom()
    try:
        loop.run(serve())
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise typer.Exit(130) from None
