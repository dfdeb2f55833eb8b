"""Read the file that says below which agreement of votes a debate pays.

``dialectree eval route --save`` writes it from an evaluation of votes and debates. It holds for the
models of that evaluation and for no others.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from dialectree.errors import InputError, fault_line
from dialectree.protocols.options import option
from dialectree.protocols.protocol import EarlyEnd, inner_settings, protocol
from dialectree.protocols.settings import ProtocolSettings

SCHEMA: Final = "dialectree.route/1"
NEVER, ALWAYS = 0.0, 1.01
"""A threshold that every share reaches, so that nothing is debated, and one that none reaches."""
Share = Annotated[float, Field(ge=0, le=1)]
LARGEST = 1_000_000
"""Bytes of a file at most."""


def read_small_file(path: str | Path) -> bytes:
    """Return the content of a regular file of at most :data:`LARGEST` bytes.

    Never waits for a pipe or a device. Raises OSError, with a text for a person, for anything else.
    """
    waits_for_nobody = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, os.O_RDONLY | waits_for_nobody)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it is no regular file")
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise OSError(f"it has more than {LARGEST:,} bytes")
    return content


def without_address(spec: str) -> str:
    """Return a model without its address: ``openai:NAME`` for ``openai:NAME@http://...``."""
    return spec.partition("@http")[0]


class _Stored(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)


class Interval(_Stored):
    """A figure and its 95 % interval; None where the answers do not tell."""

    value: float | None
    low: float | None
    high: float | None


class RouteFigures(_Stored):
    """What the rule came to on questions that it was not chosen by."""

    accuracy: Interval
    """Its share of right answers, 0 to 1."""
    difference: Interval
    """That less the share of debating every question, -1 to 1."""
    vote: Interval
    """The share of right answers of the vote alone, 0 to 1."""
    debate: Interval
    """The share of right answers of debating every question, 0 to 1."""
    tokens: Annotated[float, Field(ge=0)]
    """Its tokens by those of debating every question without a vote, 1 for as many."""
    debates: Share
    """The share of the questions that it debates."""


class Route(_Stored):
    """A threshold, what it was computed from, and the models that it holds for."""

    schema_: Literal["dialectree.route/1"] = Field(default=SCHEMA, alias="schema")
    protocol: str
    """The protocol that debates where the votes do not agree."""
    method: str
    """It or one of its variants."""
    settings: dict[str, JsonValue] = {}
    """Those of the debate that were set."""
    task: Literal["answer", "decide", "verify"]
    """What the questions asked for."""
    voters: Annotated[list[str], Field(min_length=1)]
    """The model of each vote, without its address."""
    models: dict[str, str]
    """The model of each role of the debate, without its address."""
    agree_at: Annotated[float, Field(ge=0, le=2)]
    """The least share of the largest answer at which no debate is held: 0 never debates, a value
    above 1 always does."""
    n: Annotated[int, Field(ge=1)]
    """The questions that it was computed from."""
    figures: RouteFigures
    sentence: str
    """What ``eval route`` said."""
    data: str = ""
    """The name of the data set."""

    def require(self, *, voters: Sequence[str], models: Mapping[str, str]) -> None:
        """Raise InputError, naming both, where a run has other voters or another role's model.

        Args:
            voters: the model of each vote; their order does not matter.
            models: the model of each role of the debate.
        """
        route_voters, run_voters = sorted(self.voters), sorted(map(without_address, voters))
        if route_voters != run_voters:
            raise InputError(
                f"--route: it holds for the voters {', '.join(route_voters)}, and these are "
                f"{', '.join(run_voters) or 'none'}: compute a route for them, or leave --route out"
            )
        for role in sorted({*self.models, *models}):
            ours, theirs = self.models.get(role, "none"), models.get(role, "none")
            if without_address(ours) != without_address(theirs):
                raise InputError(
                    f"--route: it holds for {role} {without_address(ours)}, and this is "
                    f"{without_address(theirs)}: compute a route for it, or leave --route out"
                )


def read_route(path: str | Path) -> Route:
    """Return the route in a file; InputError, in one line, for any other file."""
    again = "write it again with dialectree eval route DIR --save FILE"
    try:
        data = read_small_file(path)
    except OSError as error:
        why = error.strerror or error
        raise InputError(f"--route {path}: the file cannot be read: {why}") from None
    try:
        return Route.model_validate_json(data)
    except ValidationError as error:
        fault = fault_line(error)
        complaint = f"is not a file of {SCHEMA}" if fault.startswith("schema") else "cannot be read"
        raise InputError(f"--route {path}: it {complaint} ({fault}): {again}") from None


class RoutedSettings(ProtocolSettings):
    """Add the file that says below which agreement a debate pays; see ``Protocol.early``."""

    route: str | None = option(None, operator=True, group="Vote", metavar="FILE")
    """A file that ``eval route --save`` wrote: what it says of threshold and protocol counts, for
    the models that it was measured with."""

    def follow_route(self) -> Self:
        """Return the settings with the threshold of the route, and the debate that it is for.

        A threshold that was given counts, and so does that of a record. Reads the file; raises
        InputError for one that cannot be read or holds for other models.
        """
        early = self.declaration.early if self.declaration else None
        if not self.route or early is None or early.threshold in self.model_fields_set:
            return self
        route = read_route(self.route)
        read = {early.threshold: route.agree_at, "inner": {route.protocol: route.settings}}
        read |= {early.debate: route.protocol} if early.debate else {}
        updates = {name: setting for name, setting in read.items() if name not in self.model_fields_set}
        routed_settings = self.model_copy(update=updates)
        routed_settings._require_models(route, early)
        return routed_settings

    def _require_models(self, route: Route, early: EarlyEnd) -> None:
        """Raise InputError where ``route`` holds for another debate or for other models."""
        if [route.protocol] != self.declaration.holds(self) or route.method != route.protocol:
            raise InputError(f"--route: it is for debates by {route.method} alone")
        families = {phase.role for phase in self.declaration.phases if phase.name == early.phase}
        roles = self.declaration.methods()[self.protocol].models(self)
        voters = [str(roles[r]) for r, f in self.declaration.roles.items() if f in families and r in roles]
        debate = protocol(route.protocol).methods()[route.protocol]
        models = debate.models(inner_settings(self, debate))
        role_models = {role: str(models[role]) for role in route.models if role in models}
        route.require(voters=voters, models=role_models)
