"""What is compared with what: rows from the command line or from a small YAML or TOML file.

A file lists rows, and blocks of axes whose product is taken::

    title: Tree-Structured Debate, table 1
    settings: {depth_profile: adaptive}       # of every row
    models: {leaf_judge: "openai:small"}      # of every row, by role; `model` is for all roles
    # "openai:small", or the name of a role that lends its model where none is given: debater_a
    rows:
      - {name: short trees, method: tsd, settings: {max_depth: 1}}
    axes:
      - methods: [tsd, single_shot, {name: five, method: best_of_n, settings: {samples: 5}}]
        models: {maverick: "openai:llama-4-maverick", scout: {model: "openai:llama-4-scout"}}
        settings: {max_nodes: [12, 85]}

A row of a product is named by what sets it apart: ``tsd, max_nodes=12, scout``.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    ValidationError,
    field_validator,
)

from dialectree.errors import InputError
from dialectree.evals.tables import decoded, read
from dialectree.graphs import METHODS
from dialectree.own_settings import LEAVES, PERSONS, own_settings
from dialectree.roles import FAMILIES

PACKAGED = Path(__file__).resolve().parent / "matrices"
_SUFFIXES = (".yaml", ".yml", ".toml")

Settings = dict[str, JsonValue]
Models = dict[str, str]


class Written(NamedTuple):
    """A row as it was written down."""

    name: str
    method: str
    settings: Settings
    models: Models
    """Spec by role or family of roles; ``model`` is for every role without one of its own."""


class Matrix(NamedTuple):
    """The rows of a file."""

    where: str
    """The file, for messages."""
    title: str
    missing: list[str]
    """What a paper's table has and this one has not, and what the paper leaves open."""
    rows: list[Written]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Row(_Part):
    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)] | None = None
    method: str
    settings: Settings = {}
    models: Models = {}

    @field_validator("models", mode="before")
    @classmethod
    def _one_for_all(cls, value: object) -> object:
        return {"model": value} if isinstance(value, str) else value

    @field_validator("method")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in METHODS:
            raise ValueError(f"there is no method {value!r}; known: {', '.join(METHODS)}")
        return value


class _Axes(_Part):
    methods: list[_Row] = Field(min_length=1)
    models: dict[str, Models] = {}
    settings: dict[str, JsonValue | list[JsonValue]] = {}

    @field_validator("methods", mode="before")
    @classmethod
    def _by_name(cls, value: object) -> object:
        if not isinstance(value, list):
            return value
        return [{"method": one} if isinstance(one, str) else one for one in _list(value)]

    @field_validator("settings")
    @classmethod
    def _some_value(cls, value: dict[str, object]) -> dict[str, object]:
        if empty := [name for name, one in value.items() if one == []]:
            raise ValueError(f"{empty[0]} has no value in its list")
        return value

    @field_validator("models", mode="before")
    @classmethod
    def _specs(cls, value: object) -> object:
        if isinstance(value, list):
            value = {str(spec): spec for spec in _list(value)}
        if not isinstance(value, dict):
            return value
        named = cast("dict[str, object]", value)
        return {n: {"model": one} if isinstance(one, str) else one for n, one in named.items()}


class _File(_Part):
    title: str = ""
    missing: list[str] = []
    settings: Settings = {}
    models: Models = {}
    rows: list[_Row] = []
    axes: list[_Axes] = []

    _one_for_all = field_validator("models", mode="before")(_Row._one_for_all.__func__)  # type: ignore[attr-defined]

    @field_validator("axes", mode="before")
    @classmethod
    def _one_block(cls, value: object) -> object:
        return [value] if isinstance(value, dict) else value


def _list(value: list[Any]) -> list[object]:
    return [*value]


def packaged() -> list[str]:
    """The names of the matrices that come with the program."""
    return sorted(path.stem for path in PACKAGED.glob("*.yaml"))


def matrix(name_or_path: str | Path) -> Matrix:
    """The rows of a file, or of a matrix that comes with the program.

    InputError, a line for each thing that is wrong in the file.
    """
    path = Path(name_or_path)
    if not os.path.exists(path) and str(name_or_path) in packaged():
        path = PACKAGED / f"{name_or_path}.yaml"
    if path.suffix.lower() not in _SUFFIXES:
        forms, known = ", ".join(_SUFFIXES), ", ".join(packaged())
        raise InputError(f"--matrix {name_or_path}: a file that ends in {forms}, or one of {known}")
    text = decoded(path, read(path)[0])
    try:
        toml = path.suffix.lower() == ".toml"
        data = tomllib.loads(text) if toml else yaml.load(text, Loader=_Once)
        json.dumps(data, allow_nan=False)
    except (
        tomllib.TOMLDecodeError,
        yaml.YAMLError,
        ValueError,
        TypeError,
        RecursionError,
    ) as error:
        raise InputError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    try:
        file = _File.model_validate(data if data is not None else {})
    except ValidationError as error:
        raise InputError("\n".join(_faults(path, error))) from None
    rows = list(_rows(file))
    if not rows:
        raise InputError(f"{path} names no method: it needs 'rows' or 'axes'")
    if unused := sorted(n for n in file.settings if not any(n in row.settings for row in rows)):
        raise InputError(f"{path}: settings: no row has a setting {unused[0]!r}")
    _require_names(path, rows)
    return Matrix(str(path), file.title, file.missing, rows)


_MOST_VALUES = 100_000
"""Values of a file with every alias written out; a matrix has a few hundred."""


class _Once(yaml.SafeLoader):
    """Reads YAML in which no key stands twice in one place; the last would win in silence.

    Aliases of aliases would fill the memory, so values are counted before they are written out.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._count = 0
        self._counts: dict[int, int] = {}
        """Values in each node, by the node's identity."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        before, alias = self._count, self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        self._count += self._counts.get(id(node), 0) if alias else 1
        self._counts.setdefault(id(node), self._count - before)
        if self._count > _MOST_VALUES:
            raise yaml.YAMLError(f"it has more than {_MOST_VALUES:,} values, aliases written out")
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        for key in keys:
            if key != "<<" and keys.count(key) > 1:
                place = f"line {node.start_mark.line + 1}"
                raise yaml.YAMLError(f"the key {key!r} stands twice in the block of {place}")
        return super().construct_mapping(node, deep)


def _faults(path: Path, error: ValidationError) -> Iterator[str]:
    for fault in error.errors(include_url=False, include_context=False):
        place = ""
        for part in fault["loc"]:
            number = isinstance(part, int)
            place += f"[{int(part) + 1}]" if number else f".{part}" if place else str(part)
        said = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            said = "there is no such key"
        yield f"{path}: {place or 'the file'}: {said[:1].lower()}{said[1:]}"


def _rows(file: _File) -> Iterator[Written]:
    for row in file.rows:
        yield _row(file, row, [row.name or _named(row)])
    for axes in file.axes:
        yield from _product(file, axes)


def _product(file: _File, axes: _Axes) -> Iterator[Written]:
    """Every method with every value of every setting and all the models."""
    varied = {name: one for name, one in axes.settings.items() if isinstance(one, list)}
    fixed = {name: one for name, one in axes.settings.items() if not isinstance(one, list)}
    models = axes.models or {"": {}}
    for row in axes.methods:
        for values in product(*varied.values()):
            chosen = dict(zip(varied, values, strict=True))
            for spoken, specs in models.items():
                names = [row.name or _named(row), *labels(chosen), *([spoken] if spoken else [])]
                settings = {**fixed, **chosen, **row.settings}
                more = {"settings": settings, "models": over(row.models, specs)}
                yield _row(file, row.model_copy(update=more), names)


def _named(row: _Row) -> str:
    return ", ".join([row.method, *labels(row.settings)])


def labels(settings: Mapping[str, JsonValue]) -> list[str]:
    """Settings as names of rows tell them."""
    return [f"{name}={_shown(value)}" for name, value in settings.items()]


def _shown(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _row(file: _File, row: _Row, names: Sequence[str]) -> Written:
    shared = _of(row.method, file.settings)
    settings, models = {**shared, **row.settings}, over(row.models, file.models)
    return Written(", ".join(names), row.method, settings, models)


def over(nearer: Models, farther: Models) -> Models:
    """Both, and the nearer goes first: a family also before its roles named farther off."""
    left = {role: spec for role, spec in farther.items() if FAMILIES.get(role) not in nearer}
    return {**left, **nearer}


def _of(method: str, settings: Settings) -> Settings:
    """Those of ``settings`` that mean something to ``method``; a baseline has few."""
    own = own_settings(METHODS[method]) - PERSONS
    leaves = own & {"leaf_protocol"} and LEAVES["rsd"] | LEAVES["art"]
    return {name: value for name, value in settings.items() if name in own | leaves}


def of_methods(names: Sequence[str], settings: Settings) -> list[Written]:
    """A row for each method; its name tells the settings, so that others are other rows."""
    found: list[Written] = []
    for name in names:
        if name not in METHODS:
            known = ", ".join(METHODS)
            raise InputError(f"--methods {name}: there is no such method; known: {known}")
        own = _of(name, settings)
        found.append(Written(", ".join([name, *labels(own)]), name, own, {}))
    _require_names("--methods", found)
    return found


def _require_names(where: object, rows: Iterable[Written]) -> None:
    seen: set[str] = set()
    for row in rows:
        if row.name in seen:
            raise InputError(f"{where}: two rows are called {row.name!r}")
        seen.add(row.name)
