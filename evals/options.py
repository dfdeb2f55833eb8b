"""Declare the options of an evaluation, for the command and for Python alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator

from dialectree.errors import SettingsError
from dialectree.protocols.options import Speaker, option
from dialectree.protocols.sources import lines
from dialectree.system.addresses import harmless


def _names(methods: str | Sequence[str] | None) -> list[str] | None:
    """Return names of methods as a list; raise ValueError for an empty list."""
    if methods is None:
        return None
    names = methods.split(",") if isinstance(methods, str) else methods
    if not any(names):
        raise ValueError("it names no method")
    return [name.strip() for name in names]


def _part(shard: str) -> str:
    first, _, count = shard.partition("/")
    if not (first.isdecimal() and count.isdecimal() and 1 <= int(first) <= int(count)):
        raise ValueError("write i/n, from 1/n to n/n")
    return shard


class EvaluationOptions(BaseModel):
    """The options of one evaluation: its items, its rows, its judge, its folder."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, defer_build=True)

    methods: Annotated[str | Sequence[str] | None, AfterValidator(_names)] = option(None, metavar="A,B")
    """Methods, separated by commas. In Python also a list. Default: the protocol of the task."""
    matrix: str | Path | None = option(None, metavar="FILE")
    """Rows from a YAML or TOML file, or from a protocol's matrix."""
    data: str | Path | None = option(None, metavar="FILE")
    """Read this file instead of fetching the named data set."""
    columns: str | None = option(None, metavar="question=Q,options=a|b,gold=key")
    """Names of the file's columns."""
    cluster: str | None = option(None, metavar="COLUMN")
    """Items with equal values in this column belong together."""
    limit: int | None = option(None, ge=1)
    """The first N items."""
    sample: int | None = option(None, ge=1)
    """N items drawn by the seed, in proportion to the categories."""
    repeats: int = option(1, ge=1, le=1000)
    """Ask each item N times, each time with another seed."""
    shard: Annotated[str, AfterValidator(_part)] | None = option(None, metavar="I/N")
    """Only part I of N."""
    judge: Speaker | None = option(None, metavar="SPEC")
    """The model that scores, if scores need one. Default: the model of every role."""
    vote_first: int = option(0, ge=0, le=100)
    """Direct answers before each debate, counted separately."""
    out: str | Path | None = option(None, metavar="DIR")
    """The evaluation's folder. Default: ``evaluations/`` and the data set's name."""
    engine: Literal["local", "ray"] = option("local")
    """This machine, or a Ray cluster."""
    retry_failed: bool = option(False)
    """Ask failed questions once more."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        for name, other_name in (("limit", "sample"), ("methods", "matrix")):
            if getattr(self, name) is not None and getattr(self, other_name) is not None:
                raise ValueError(f"--{name} and --{other_name} exclude one another")
        return self


def read_options(options: Mapping[str, Any]) -> EvaluationOptions:
    """Return the options of a command or a Python call; SettingsError names wrong options."""
    try:
        return EvaluationOptions(**options)
    except ValidationError as error:
        wrong = lines(harmless(error), options, "")
        raise SettingsError("; ".join(wrong)) from None
