"""Put the turns of a debate into a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dialectree.records import RunRecord
from dialectree.records.journal import ledger
from dialectree.system.packages import explain_missing_package

if TYPE_CHECKING:
    from pandas import DataFrame

_OF_TURN = ("phase", "round", "take", "role", "speaker", "side", "label", "names")
_OF_CALL = ("model", "prompt_tokens", "completion_tokens", "cost", "source")


def make_table(record: RunRecord) -> DataFrame:
    """Return a row for each turn of ``record``; see :meth:`RunRecord.to_pandas`."""
    with explain_missing_package("RunRecord.to_pandas", "dialectree[eval]"):
        from pandas import DataFrame
    calls = {} if record.path is None else {call.spot(): call for call in ledger(record.path)}
    rows: list[dict[str, Any]] = []
    for node in record.tree.nodes.values():
        for turn in node.transcript:
            row: dict[str, Any] = {"node": node.id, "text": node.text}
            row["protocol"] = turn.protocol or record.protocol
            row |= {name: getattr(turn, name) for name in _OF_TURN}
            if (call := calls.get(turn.spot())) is not None:
                row |= {name: getattr(call, name) for name in _OF_CALL}
                row["seconds"] = call.took_s()
            row |= {f"reply_{name}": _cell(value) for name, value in turn.fields.items()}
            rows.append(row)
    return DataFrame(rows).assign(run_id=record.run_id)


def _cell(value: object) -> object:
    """Return a field of a reply as a cell; a list or an object becomes JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
