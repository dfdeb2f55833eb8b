"""``dialectree gate``: verify the claims of a text, for scripts and continuous integration."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from pydantic import BaseModel

from dialectree.errors import DialectreeError, InputError
from dialectree.interfaces.cli import flags
from dialectree.interfaces.cli.debate import usable_protocols
from dialectree.interfaces.cli.flags import notice
from dialectree.protocols.forms import MAX_LENGTH
from dialectree.protocols.options import get_option_details
from dialectree.system.addresses import describe_missing_file

if TYPE_CHECKING:
    from dialectree.interfaces.agents.claims import ClaimVerifier, Finding

_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
_EXAMPLE = "This text makes a claim."


def _fields() -> dict[str, type[BaseModel]]:
    """Return the settings of the protocols that give a probability, each with its class."""
    fields: dict[str, type[BaseModel]] = {}
    for protocol in usable_protocols().values():
        if protocol.outcome == "probability":
            for kind, name in protocol.list_declared_settings():
                if not get_option_details(kind, name).get("person"):
                    fields.setdefault(name, kind)
    return fields


@flags.with_fields(*((kind, name) for name, kind in _fields().items()), heading="Settings of protocols")
def gate(
    file: Annotated[str, typer.Argument(help="A text; - reads it from standard input.", metavar="FILE")],
    settings: dict[str, Any],
    minimum: Annotated[
        float, typer.Option("--min", help="The least probability of a claim.", min=0, max=1, metavar="P")
    ] = 0.7,
    format: Annotated[
        Literal["text", "json", "junit", "sarif"], typer.Option(help="What is printed.")
    ] = "text",
    method: Annotated[
        str | None, typer.Option(help="The method that verifies a claim.", metavar="NAME")
    ] = None,
    sources: Annotated[
        list[str] | None, typer.Option(help="A document or a folder to verify the claims by.", metavar="PATH")
    ] = None,
    runs: flags.Runs = Path("runs"),
    quiet: flags.Quiet = False,
    dry_run: flags.DryRun = False,
    yes: flags.Yes = False,
) -> None:
    """Split a text into claims, verify each, and say which are not probable enough.

    Ends with status 0 if all claims pass, and with 5 if some do not.
    """
    from dialectree.evidence import documents
    from dialectree.interfaces.agents.claims import ClaimVerifier, verifying_method
    from dialectree.interfaces.cli.gate_formats import FORMATS, Findings
    from dialectree.interfaces.cli.process import collect_garbage_seldom
    from dialectree.interfaces.cli.progress import await_with_notice, demonstration, reading
    from dialectree.interfaces.cli.streams import print_file, program
    from dialectree.protocols.grounded import find_reader
    from dialectree.records.run import source_notices
    from dialectree.system import loop
    from dialectree.text import count

    chosen = verifying_method(method)
    verifier = ClaimVerifier(chosen, chosen.configure(settings, notice), minimum)
    if sources:
        chosen.require_grounded()
        with reading(quiet=quiet or format != "text") as watch_reading:
            verifier.sources = documents.read_given(sources, watch_reading, find_reader(verifier.context))
        for gap in source_notices(verifier.sources):
            notice(gap)
    text, name = _read(file), "stdin" if file == "-" else file
    collect_garbage_seldom()
    if dry_run:
        _print_estimate(verifier, text, runs, json=format == "json")
        return
    if verifier.demonstration:
        notice(demonstration())
    try:
        work = _findings(verifier, text, runs, quiet=quiet, yes=yes)
        claims = loop.run(await_with_notice(work))
    except (KeyboardInterrupt, asyncio.CancelledError):
        notice(f"interrupted; {_AGAIN}")
        raise typer.Exit(130) from None
    fault = verifier.fault
    findings = Findings(name, chosen.name, minimum, verifier.demonstration, claims, complete=fault is None)
    if claims or format != "text":
        print_file(FORMATS[format](findings))
    for remark in verifier.budget.overrun():
        notice(remark)
    if not claims:
        notice(f"{name} makes no claim: there is nothing to verify")
    else:
        passed = f"{len(claims) - len(findings.failed)} of {count(len(claims), 'claim')}"
        notice(f"{passed} reached {minimum:g}; {count(verifier.budget.calls, 'call')} made")
        notice(f"more on a claim: {program()} show {runs}/RUN")
    if fault is not None:
        notice(f"{fault}; broken off: {_AGAIN}")
    raise typer.Exit(_status(fault, findings.failed))


_AGAIN = "run the same command again; finished calls come from the reply cache"


def _status(fault: DialectreeError | None, failed: list[Finding]) -> int:
    return fault.status if fault is not None else 5 if failed else 0


async def _findings(
    verifier: ClaimVerifier, text: str, runs: Path, *, quiet: bool, yes: bool
) -> list[Finding]:
    """Return a finding for each claim of ``text``; ask before many calls."""
    from dialectree.interfaces.cli import consent
    from dialectree.report.progress import Several, show
    from dialectree.text import count

    claims = await verifier.split(text)
    if not claims:
        return []
    expected = await verifier.estimate(claims[0].claim, [len(claims)], runs)
    claim_count = count(len(claims), "claim")
    if not quiet:
        notice(f"{claim_count}: {expected}")
    if not yes:
        consent.require(expected.expected[1], verifier.context)

    progress = Several()

    def line() -> str:
        return f"{progress.over} of {claim_count} verified{progress.newest()}"

    async with show(line, not quiet and sys.stderr.isatty()):
        return await verifier.verify(claims, runs, progress.watch)


def _print_estimate(verifier: ClaimVerifier, text: str, runs: Path, *, json: bool) -> None:
    """Print the estimate for at most one claim in each sentence; make no call."""
    from dialectree.system import loop
    from dialectree.text import count

    lines = filter(str.strip, text.splitlines())
    max_claims = sum(max(1, len(_SENTENCE_END.findall(line))) for line in lines)
    expected = loop.run(verifier.estimate(_EXAMPLE, [min(1, max_claims), max_claims], runs))
    if json:
        print(expected.model_dump_json(indent=1))
    else:
        print(f"up to {count(max_claims, 'claim')}, one a sentence: {expected}; splitting not counted")


def _read(file: str) -> str:
    """Return the text; raise InputError if it cannot be read or is too long."""
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8-sig")
    except OSError as error:
        problem = (error.strerror or str(error)).lower()
        fault = f"{file}: {problem}" if os.path.exists(file) else describe_missing_file(file, problem)
        raise InputError(fault) from None
    except (UnicodeDecodeError, ValueError):
        raise InputError(f"{file}: not a text in UTF-8; convert it") from None
    if len(text) > MAX_LENGTH:
        raise InputError(f"{file}: longer than {MAX_LENGTH:,} characters; give it in parts")
    return text
