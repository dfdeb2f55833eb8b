"""The names of rows and folders in a report: no two of them are alike."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from itertools import chain, compress, count
from pathlib import Path

from dialectree.evals.matrix import labels
from dialectree.evals.results import Evaluation, Row, bare


def models(row: Row) -> str:
    """Return a row's models in a few words: one name where all roles have the same."""
    distinct = sorted(set(row.models.values()))
    if len(distinct) <= 1:
        return "".join(distinct)
    roles = {spec: [r for r, s in row.models.items() if s == spec] for spec in distinct}
    most = max(distinct, key=lambda spec: len(roles[spec]))
    others = (f"{role} {spec}" for spec in distinct if spec != most for role in roles[spec])
    return ", ".join([most, *others])


def without_addresses(row: Row) -> Row:
    """Return a row whose models have no address: at another one it is the same model."""
    return row.model_copy(update={"models": {role: bare(s) for role, s in row.models.items()}})


def tails(folders: Sequence[Path]) -> list[str]:
    """Return a short name for each folder: as much of its path's end as no other one shares."""
    paths = [Path(os.path.abspath(folder)).parts for folder in folders]

    def tail(own: tuple[str, ...]) -> str:
        ends = (own[-n:] for n in range(1, len(own)))
        alone = (end for end in ends if sum(path[-len(end) :] == end for path in paths) == 1)
        return Path(*next(alone, own)).as_posix()

    return [tail(own) for own in paths]


def names(folders: Sequence[Path], evaluations: Sequence[Evaluation]) -> dict[tuple[int, str], str]:
    """Return the name of each row in the report, by its folder's place and its name there.

    Rows of one name that differ are told apart, by a number where nothing else is left.
    """
    kinds: dict[str, dict[str, tuple[Row, str]]] = {}
    for tail, evaluation in zip(tails(folders), evaluations, strict=True):
        for row in evaluation.rows:
            same = kinds.setdefault(row.name, {})
            same.setdefault(_identity(row), (without_addresses(row), tail))
    unique = {(name, kind): name for name, same in kinds.items() for kind in same if len(same) == 1}
    for name, same in kinds.items():
        if len(same) == 1:
            continue
        for kind, difference in zip(same, _differences([*same.values()]), strict=True):
            own = f"{name} · {difference}"
            wanted = chain([own], (f"{own} ({n})" for n in count(2)))
            unique[name, kind] = next(one for one in wanted if one not in unique.values())
    return {
        (place, row.name): unique[row.name, _identity(row)]
        for place, evaluation in enumerate(evaluations)
        for row in evaluation.rows
    }


def _identity(row: Row) -> str:
    return json.dumps([row.method, row.settings, without_addresses(row).models], sort_keys=True)


def _differences(same: Sequence[tuple[Row, str]]) -> list[str]:
    """Return what sets each row apart: its models, its settings, both, or else its folder."""
    rows = [row for row, _ in same]
    by_model, by_setting = [models(row) for row in rows], _settings(rows)
    both = [f"{model}, {setting}" for model, setting in zip(by_model, by_setting, strict=True)]
    ways = [by_model, by_setting, both] if max(map(len, by_setting)) <= 60 else [by_model]
    distinct = (one for one in ways if all(one) and len({*one}) == len(one))
    return next(distinct, [tail for _, tail in same])


def _settings(rows: Sequence[Row]) -> list[str]:
    """Return of each row the method and the settings in which they are not all alike."""
    written = [dict(zip(row.settings, labels(row.settings), strict=True)) for row in rows]
    known = sorted({name for one in written for name in one})
    values = [
        [row.method, *(one.get(name, f"{name}=default") for name in known)]
        for row, one in zip(rows, written, strict=True)
    ]
    differs = [len({*column}) > 1 for column in zip(*values, strict=True)]
    return [", ".join(compress(one, differs)) for one in values]
