"""Put the turns of a debate into a table."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialectree.records.journal import ledger
from dialectree.records.tree import Node
from dialectree.system.packages import needed

if TYPE_CHECKING:
    from pandas import DataFrame

_OF_TURN = ("phase", "round", "take", "role", "speaker", "side", "label", "names")
_OF_CALL = ("model", "prompt_tokens", "completion_tokens", "cost", "source")


def table(nodes: Iterable[Node], protocol: str, folder: Path | None) -> DataFrame:
    """Return a row for each turn of ``nodes``; see :meth:`RunRecord.to_pandas`.

    ``protocol`` is that of the run. Its ``folder`` knows what each turn's call took.
    """
    with needed("RunRecord.to_pandas", "dialectree[eval]"):
        from pandas import DataFrame
    calls = {} if folder is None else {call.spot(): call for call in ledger(folder)}
    rows: list[dict[str, Any]] = []
    for node in nodes:
        for turn in node.transcript:
            row: dict[str, Any] = {"node": node.id, "text": node.text}
            row["protocol"] = turn.protocol or protocol
            row |= {name: getattr(turn, name) for name in _OF_TURN}
            if (call := calls.get(turn.spot())) is not None:
                row |= {name: getattr(call, name) for name in _OF_CALL}
                row["seconds"] = call.took_s()
            row |= {f"reply_{name}": _cell(value) for name, value in turn.fields.items()}
            rows.append(row)
    return DataFrame(rows)


def _cell(value: object) -> object:
    """Return a part of a reply as a cell: a list or an object is JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
