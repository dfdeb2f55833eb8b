"""Read the rows of an evaluation from the command line's methods, or a small YAML or TOML file.

A file lists rows, and blocks of axes; each block gives the product of its axes::

    title: Tree-Structured Debate, table 1
    settings: {depth_profile: adaptive}       # of every row
    models: {leaf_judge: "openai:small"}      # of every row, by role; `model` is for all roles
    # in place of "openai:small": a role, such as debater_a, that lends its model by default
    rows:
      - {name: short trees, method: tsd, settings: {max_depth: 1}}
    axes:
      - methods: [tsd, single_shot, {name: five, method: best_of_n, settings: {samples: 5}}]
        models: {maverick: "openai:llama-4-maverick", scout: {model: "openai:llama-4-scout"}}
        settings: {max_nodes: [12, 85]}

A row of axes is named after what distinguishes it from other rows: ``tsd, max_nodes=12, scout``.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    ValidationError,
)

from dialectree.errors import InputError
from dialectree.evals.dataset_items import read_text
from dialectree.evals.faults import fault_lines
from dialectree.protocols.protocol import families, load_protocols, method, methods

_SUFFIXES = (".yaml", ".yml", ".toml")

Settings = dict[str, JsonValue]


def _require_known_method(name: str) -> str:
    if name not in methods():
        raise ValueError(f"there is no method {name!r}; known: {', '.join(methods())}")
    return name


def _under(key: str) -> BeforeValidator:
    """Return a validator that turns a text into a mapping with this one key."""
    return BeforeValidator(lambda value: {key: value} if isinstance(value, str) else value)


def _by_name(models: object) -> object:
    return {str(spec): spec for spec in models} if isinstance(models, list) else models


def _as_list(blocks: object) -> object:
    return [blocks] if isinstance(blocks, dict) else blocks


Models = Annotated[dict[str, str], _under("model")]
"""Spec by role or family of roles; ``model`` is for every role without its own spec."""


class MatrixEntry(BaseModel):
    """A row as written in the file or on the command line."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, StringConstraints(strip_whitespace=True)] = ""
    method: Annotated[str, BeforeValidator(_require_known_method)]
    settings: Settings = {}
    models: Models = {}

    def make_name(self, *more: str) -> str:
        """Return the row's name, or else its method and settings, followed by ``more``."""
        parts = [self.name] if self.name else [self.method, *labels(self.settings)]
        return ", ".join([*parts, *more])


class Axes(BaseModel):
    """Methods, settings and models; the rows are their product."""

    model_config = ConfigDict(extra="forbid")

    methods: list[Annotated[MatrixEntry, _under("method")]] = Field(min_length=1)
    models: Annotated[dict[str, Models], BeforeValidator(_by_name)] = {}
    settings: Settings = {}

    def rows(self) -> Iterator[MatrixEntry]:
        """Yield a row for every combination of method, values of settings, and models."""
        varied = {name: setting for name, setting in self.settings.items() if isinstance(setting, list)}
        fixed = {name: setting for name, setting in self.settings.items() if name not in varied}
        for row in self.methods:
            for values in product(*varied.values()):
                chosen = dict(zip(varied, values, strict=True))
                for name, specs in (self.models or {"": {}}).items():
                    more = {
                        "name": row.make_name(*labels(chosen), *filter(None, [name])),
                        "settings": {**fixed, **chosen, **row.settings},
                        "models": over(row.models, specs),
                    }
                    yield row.model_copy(update=more)


class Matrix(BaseModel):
    """A file with the rows of an evaluation."""

    model_config = ConfigDict(extra="forbid")

    title: str = ""
    missing: list[str] = []
    """Parts of a paper's table that this matrix lacks, and details that the paper leaves open."""
    settings: Settings = {}
    models: Models = {}
    rows: list[MatrixEntry] = []
    axes: Annotated[list[Axes], BeforeValidator(_as_list)] = []

    def every_row(self) -> list[MatrixEntry]:
        """Return all rows, also those of axes, with the settings and models of the whole file."""
        named_rows = [(row.make_name(), row) for row in self.rows]
        named_rows += [(row.name, row) for axes in self.axes for row in axes.rows()]
        return [
            row.model_copy(
                update={
                    "name": name,
                    "settings": {**_select_usable_settings(row.method, self.settings), **row.settings},
                    "models": over(row.models, self.models),
                }
            )
            for name, row in named_rows
        ]


def list_packaged_matrices() -> dict[str, Path]:
    """Return the matrix files of protocols by name; each is the table of the protocol's paper."""
    files = {name: protocol.file("matrix.yaml") for name, protocol in load_protocols().items()}
    return {name: path for name, path in files.items() if path is not None}


def read_matrix(name_or_path: str | Path) -> Matrix:
    """Read a file, or the matrix of a protocol; ``rows`` of the result has all rows, also those of axes.

    Raises InputError with a line for each fault of the file.
    """
    path = Path(name_or_path)
    if not os.path.exists(path) and str(name_or_path) in list_packaged_matrices():
        path = list_packaged_matrices()[str(name_or_path)]
    if path.suffix.lower() not in _SUFFIXES:
        forms, matrix_names = ", ".join(_SUFFIXES), ", ".join(list_packaged_matrices())
        raise InputError(f"--matrix {name_or_path}: a file that ends in {forms}, or one of {matrix_names}")
    try:
        text = read_text(path)[0]
        toml = path.suffix.lower() == ".toml"
        matrix = Matrix.model_validate((tomllib.loads(text) if toml else yaml.safe_load(text)) or {})
    except (tomllib.TOMLDecodeError, yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        raise InputError("\n".join(f"{path}: {line}" for line in fault_lines(error))) from None
    rows = matrix.every_row()
    if not rows:
        raise InputError(f"{path} names no method: it needs 'rows' or 'axes'")
    if unused := sorted(n for n in matrix.settings if not any(n in row.settings for row in rows)):
        raise InputError(f"{path}: settings: no row has a setting {unused[0]!r}")
    _require_names(path, rows)
    return matrix.model_copy(update={"rows": rows})


def labels(settings: Mapping[str, JsonValue]) -> list[str]:
    """Return settings as texts for the names of rows."""
    texts = {n: v if isinstance(v, str) else json.dumps(v) for n, v in settings.items()}
    return [f"{name}={value}" for name, value in texts.items()]


def over(nearer: Mapping[str, str], farther: Mapping[str, str]) -> dict[str, str]:
    """Merge models by role; ``nearer`` wins, also if it names a family and ``farther`` a role of it."""
    remaining_specs = {role: spec for role, spec in farther.items() if families().get(role) not in nearer}
    return {**remaining_specs, **nearer}


def _select_usable_settings(name: str, settings: Mapping[str, JsonValue]) -> Settings:
    """Return those of ``settings`` that the method reads in an evaluation; a baseline reads few."""
    chosen = method(name)
    usable_names = chosen.reads() - chosen.persons()
    return {setting: value for setting, value in settings.items() if setting in usable_names}


def of_methods(names: Sequence[str], settings: Mapping[str, JsonValue]) -> Matrix:
    """Return a matrix with a row for each method; names of rows include the settings that were set."""
    if unknown := [name for name in names if name not in methods()]:
        method_names = ", ".join(methods())
        raise InputError(f"--methods {unknown[0]}: there is no such method; known: {method_names}")
    rows = [
        MatrixEntry.model_construct(method=name, settings=_select_usable_settings(name, settings))
        for name in names
    ]
    rows = [row.model_copy(update={"name": row.make_name()}) for row in rows]
    _require_names("--methods", rows)
    return Matrix(rows=rows)


def _require_names(where: object, rows: Sequence[MatrixEntry]) -> None:
    for name, count in Counter(row.name for row in rows).items():
        if count > 1:
            raise InputError(f"{where}: two rows are called {name!r}")
