"""What rows and folders are called in a report: never two of them alike."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from itertools import chain, compress, count
from pathlib import Path

from dialectree.evals.matrix import labels
from dialectree.evals.results import Evaluation, Row, bare

SHORT = 60
"""Settings of so many letters, at most, tell rows apart by name."""


def models(row: Row) -> str:
    """A row's models in a few words: one name where all roles have the same."""
    distinct = sorted(set(row.models.values()))
    if len(distinct) <= 1:
        return "".join(distinct)
    by_model = {spec: [r for r, s in row.models.items() if s == spec] for spec in distinct}
    most = max(distinct, key=lambda spec: len(by_model[spec]))
    others = (f"{role} {spec}" for spec in distinct if spec != most for role in by_model[spec])
    return ", ".join([most, *others])


def without_addresses(row: Row) -> Row:
    """A row as a report speaks of it: the same model at another address is the same model."""
    return row.model_copy(update={"models": {role: bare(s) for role, s in row.models.items()}})


def tails(folders: Sequence[Path]) -> list[str]:
    """A short name for each folder: as much of its path's end as no other one shares."""
    paths = [Path(os.path.abspath(folder)).parts for folder in folders]

    def tail(own: tuple[str, ...]) -> str:
        ends = (own[-n:] for n in range(1, len(own)))
        alone = (end for end in ends if sum(path[-len(end) :] == end for path in paths) == 1)
        return Path(*next(alone, own)).as_posix()

    return [tail(own) for own in paths]


def names(folders: Sequence[Path], evaluations: Sequence[Evaluation]) -> dict[tuple[int, str], str]:
    """The name of each row in the report, by its folder's place and its name there.

    Rows that bear one name and differ are told apart, by a number where nothing else is left.
    """
    kinds: dict[str, dict[str, tuple[Row, str]]] = {}
    for tail, evaluation in zip(tails(folders), evaluations, strict=True):
        for row in evaluation.rows:
            seen = kinds.setdefault(row.name, {})
            seen.setdefault(_identity(row), (without_addresses(row), tail))
    named = {(name, kind): name for name, same in kinds.items() for kind in same if len(same) == 1}
    for name, same in kinds.items():
        if len(same) == 1:
            continue
        for kind, apart in zip(same, _apart([*same.values()]), strict=True):
            own = f"{name} · {apart}"
            wanted = chain([own], (f"{own} ({n})" for n in count(2)))
            named[name, kind] = next(one for one in wanted if one not in named.values())
    return {
        (place, row.name): named[row.name, _identity(row)]
        for place, evaluation in enumerate(evaluations)
        for row in evaluation.rows
    }


def _identity(row: Row) -> str:
    kept = [row.method, row.settings, without_addresses(row).models]
    return json.dumps(kept, sort_keys=True)


def _apart(same: Sequence[tuple[Row, str]]) -> list[str]:
    """What sets each row apart from the others: models, a few settings, both, or its folder."""
    rows = [row for row, _ in same]
    by_model, by_setting = [models(row) for row in rows], _differing(rows)
    told = [by_model]
    if max(map(len, by_setting)) <= SHORT:
        both = zip(by_model, by_setting, strict=True)
        told += [by_setting, [f"{model}, {setting}" for model, setting in both]]
    whole = (one for one in told if all(one) and len({*one}) == len(one))
    return next(whole, [tail for _, tail in same])


def _differing(rows: Sequence[Row]) -> list[str]:
    """Of each row, the method and the settings in which they are not all alike."""
    written = [dict(zip(row.settings, labels(row.settings), strict=True)) for row in rows]
    known = sorted({name for one in written for name in one})
    said = [
        [row.method, *(one.get(name, f"{name}=default") for name in known)]
        for row, one in zip(rows, written, strict=True)
    ]
    differs = [len({*values}) > 1 for values in zip(*said, strict=True)]
    return [", ".join(compress(one, differs)) for one in said]
