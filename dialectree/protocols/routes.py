"""Read the file with the threshold of a vote: if a smaller share of the votes agrees, a debate pays.

``dialectree eval route --save`` writes the file from an evaluation of votes and debates. The threshold
is valid only for the models of that evaluation.
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
"""Thresholds to debate nothing (every share reaches 0) and everything (no share reaches 1.01)."""
Share = Annotated[float, Field(ge=0, le=1)]
LARGEST = 1_000_000
"""Most bytes of a file."""


def read_small_file(path: str | Path) -> bytes:
    """Return the content of a regular file of at most :data:`LARGEST` bytes.

    Never waits for a pipe or a device. Raises OSError, with a readable text, for other files.
    """
    waits_for_nobody = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, os.O_RDONLY | waits_for_nobody)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it is not a regular file")
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
    """A figure and its 95 % interval; None where the answers are too few for an interval."""

    value: float | None
    low: float | None
    high: float | None


class RouteFigures(_Stored):
    """The results of the rule "debate below the threshold", on questions that did not help to choose it."""

    accuracy: Interval
    """The rule's share of right answers, 0 to 1."""
    difference: Interval
    """The rule's accuracy minus the accuracy of debating every question, -1 to 1."""
    vote: Interval
    """The accuracy of the vote alone, 0 to 1."""
    debate: Interval
    """The accuracy of debating every question, 0 to 1."""
    tokens: Annotated[float, Field(ge=0)]
    """The rule's tokens, divided by those of debating every question without a vote."""
    debates: Share
    """The share of the questions that the rule debates, 0 to 1."""


class Route(_Stored):
    """A threshold, the data that it was computed from, and the models that it is valid for."""

    schema_: Literal["dialectree.route/1"] = Field(default=SCHEMA, alias="schema")
    protocol: str
    """The protocol that debates if the votes do not agree."""
    method: str
    """The protocol or one of its variants."""
    settings: dict[str, JsonValue] = {}
    """The settings that the evaluation set for the debate."""
    task: Literal["answer", "decide", "verify"]
    """The task of the questions."""
    voters: Annotated[list[str], Field(min_length=1)]
    """The model of each vote, without its address."""
    models: dict[str, str]
    """The model of each role of the debate, without its address."""
    agree_at: Annotated[float, Field(ge=0, le=2)]
    """The least share of the most frequent answer that needs no debate: 0 never debates, a value above
    1 always does."""
    n: Annotated[int, Field(ge=1)]
    """Number of questions that the threshold was computed from."""
    figures: RouteFigures
    sentence: str
    """The summary that ``eval route`` printed."""
    data: str = ""
    """The name of the data set."""

    def require(self, *, voters: Sequence[str], models: Mapping[str, str]) -> None:
        """Raise InputError if a run has other voters, or another model in a role; the error names both.

        Args:
            voters: the model of each vote; their order does not matter.
            models: the model of each role of the debate.
        """
        route_voters, run_voters = sorted(self.voters), sorted(map(without_address, voters))
        if route_voters != run_voters:
            raise InputError(
                f"--route: it is for the voters {', '.join(route_voters)}, but this run has "
                f"{', '.join(run_voters) or 'none'}: compute a route for them, or leave --route out"
            )
        for role in sorted({*self.models, *models}):
            ours, theirs = self.models.get(role, "none"), models.get(role, "none")
            if without_address(ours) != without_address(theirs):
                raise InputError(
                    f"--route: it is for {role} {without_address(ours)}, but this run has "
                    f"{without_address(theirs)}: compute a route for it, or leave --route out"
                )


def read_route(path: str | Path) -> Route:
    """Return the route in a file; raise InputError, in one line, for any other file."""
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
    """Add the setting for a file with a threshold, below which a debate pays; see ``Protocol.early``."""

    route: str | None = option(None, operator=True, group="Vote", metavar="FILE")
    """A file from ``eval route --save``, for the models that it was measured with. It sets the
    threshold and the protocol that debates."""

    def follow_route(self) -> Self:
        """Return the settings with the threshold and the debate of the route.

        A threshold that is given or recorded goes before the threshold of the file. Reads the file;
        raises InputError for a file that cannot be read or is for other models.
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
        """Raise InputError if ``route`` is for another debate or for other models."""
        if [route.protocol] != self.declaration.holds(self) or route.method != route.protocol:
            raise InputError(f"--route: it is for debates by {route.method} alone")
        families = {phase.role for phase in self.declaration.phases if phase.name == early.phase}
        roles = self.declaration.methods()[self.protocol].models(self)
        voters = [str(roles[r]) for r, f in self.declaration.roles.items() if f in families and r in roles]
        debate = protocol(route.protocol).methods()[route.protocol]
        models = debate.models(inner_settings(self, debate))
        role_models = {role: str(models[role]) for role in route.models if role in models}
        route.require(voters=voters, models=role_models)
