"""Reopens a run that lost a part, so that ``--retry-failed`` asks for that part alone.

The calls that failed stay in the ledger, since they may have been paid, under a key that no request
has. The events are removed: the graph runs from its start and emits them all again.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from pathlib import Path

from dialectree.evals.results import JUDGING
from dialectree.records import Call
from dialectree.runs import RunFolder

_VOID = "void:"
Part = tuple[str, str, str]
"""Node, role and speaker of a part that failed."""


def voided(call: Call) -> bool:
    """Return whether the call was asked for again since."""
    return call.key.startswith(_VOID)


def reopen(path: Path) -> None:
    """Let the run in ``path`` and the calls of its judge be made again where a part failed."""
    run = RunFolder(path)
    if (path / "run.json").is_file():
        record = run.record()
        parts = {(node, failure.role, failure.who) for node, failure in record.degraded()}
        if _void(run, parts):
            run.write("events.jsonl", "")
            record.status = "partial"
            run.write_record(record)
    for part in JUDGING:
        _void(RunFolder(path / part), frozenset())


def _void(folder: RunFolder, parts: AbstractSet[Part]) -> bool:
    """Void the calls that failed and those of ``parts``; return whether there are any."""
    ledger = folder.ledger()
    failed = [
        not voided(call) and (call.error is not None or (call.node, call.role, call.who) in parts)
        for call in ledger
    ]
    if any(failed):
        kept = (
            call.model_copy(update={"key": f"{_VOID}{call.key}"}) if void else call
            for call, void in zip(ledger, failed, strict=True)
        )
        folder.write("calls.jsonl", "".join(call.model_dump_json() + "\n" for call in kept))
    return bool(parts) or any(failed)
