"""The names of rows and folders in a report: no two of them are alike."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from dialectree.evals.matrix import labels
from dialectree.evals.results import Evaluation, Row, bare


def models(row: Row) -> str:
    """Return a row's models in a few words: one name where all roles have the same."""
    distinct = sorted(set(row.models.values()))
    if len(distinct) <= 1:
        return "".join(distinct)
    most = Counter(row.models.values()).most_common(1)[0][0]
    others = sorted(f"{role} {spec}" for role, spec in row.models.items() if spec != most)
    return ", ".join([most, *others])


def without_addresses(row: Row) -> Row:
    """Return a row whose models have no address: at another one it is the same model."""
    return row.model_copy(update={"models": {role: bare(s) for role, s in row.models.items()}})


def tails(folders: Sequence[Path]) -> list[str]:
    """Return a short name for each folder: as much of its path's end as no other one shares."""
    paths = [Path(os.path.abspath(folder)).parts for folder in folders]
    most = max(map(len, paths))
    short = (["/".join(path[-n:]) for path in paths] for n in range(1, most))
    distinct = (names for names in short if len(set(names)) == len(names))
    return next(distinct, [str(folder) for folder in folders])


def names(folders: Sequence[Path], evaluations: Sequence[Evaluation]) -> dict[tuple[int, str], str]:
    """Return the name of each row in the report, by its folder's place and its name there.

    Rows of one name that differ are told apart by their models, else their settings, else by the
    folder of the first.
    """
    kinds: dict[str, dict[str, tuple[Row, str]]] = {}
    for tail, evaluation in zip(tails(folders), evaluations, strict=True):
        for row in evaluation.rows:
            kinds.setdefault(row.name, {}).setdefault(
                _identity(row), (without_addresses(row), tail)
            )
    unique: dict[tuple[str, str], str] = {}
    for name, same in kinds.items():
        ends = [f" · {end}" for end in _differences([*same.values()])] if len(same) > 1 else [""]
        unique |= {(name, kind): f"{name}{end}" for kind, end in zip(same, ends, strict=True)}
    return {
        (place, row.name): unique[row.name, _identity(row)]
        for place, evaluation in enumerate(evaluations)
        for row in evaluation.rows
    }


def _identity(row: Row) -> str:
    return json.dumps([row.method, row.settings, without_addresses(row).models], sort_keys=True)


def _differences(same: Sequence[tuple[Row, str]]) -> list[str]:
    """Return what sets each row apart: its models, its settings, or else its folder."""
    parts = [[row.method, *labels(row.settings)] for row, _ in same]
    common = set.intersection(*map(set, parts))
    own = [[part for part in one if part not in common] for one in parts]
    by_setting = [", ".join(one) or "default" for one in own]
    for names in ([models(row) for row, _ in same], by_setting):
        if len(set(names)) == len(names) and max(map(len, names)) <= 60:
            return names
    return [tail for _, tail in same]
