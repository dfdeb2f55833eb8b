"""Read the part of a run's record that a list shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from dialectree.errors import RunFolderError, fault_line
from dialectree.records.journal import files
from dialectree.records.run import SCHEMA, Evaluated, RunStatus, is_illustration
from dialectree.records.tree import Verdict

Shape = TypeVar("Shape", bound=BaseModel)
_OTHER_SCHEMA = (
    f"is of another version of dialectree than {SCHEMA}: its report.html and report.md stay "
    "readable; ask the question again"
)


def _from(part: str, name: str, summary_name: str = "") -> Any:
    """Return the accepted names of a field: its own, and its path in a record."""
    return AliasChoices(summary_name or name, AliasPath(part, name))


def _as_text(value: object) -> str:
    """Return a question as text, even if a damaged record has another type."""
    return value if isinstance(value, str) else "" if value is None else str(value)


class RunSummary(BaseModel):
    """The fields of a run that a list shows."""

    model_config = ConfigDict(extra="ignore", ser_json_inf_nan="strings")

    run_id: str
    """The name of the run's folder."""
    protocol: str
    method: str
    owner: str | None = None
    thread: str | None = None
    evaluated: Evaluated | None = None
    status: RunStatus
    demonstration: bool = False
    question: Annotated[str, BeforeValidator(_as_text)] = Field(validation_alias=_from("input", "question"))
    """The question, or its first 2,000 characters."""
    models: dict[str, str] = {}
    contests: str | None = Field(default=None, validation_alias=_from("contest", "run", "contests"))
    """The id of the run that this one contests."""
    waits: bool = False
    """Whether the run has asked a person and waits for the answer."""
    verdict: Verdict | None = None
    """The verdict, without rationale and notes."""
    calls: int = Field(default=0, validation_alias=_from("usage", "calls"))
    cost: float | None = Field(default=None, validation_alias=_from("usage", "cost"))
    wall_s: float = Field(default=0.0, validation_alias=_from("usage", "wall_s"))
    started: str
    ended: str | None = None

    @property
    def illustration(self) -> bool:
        """Return whether a person wrote the replies, not a model."""
        return is_illustration(self.models)

    def is_visible_to(self, owner: str | None) -> bool:
        """Return whether ``owner`` may see the run; None and "" may see all runs."""
        return not owner or self.owner == owner


class RecordedSummary(RunSummary):
    """Read a summary out of run.json."""

    schema_: str = Field(alias="schema", pattern=f"^{re.escape(SCHEMA)}$")


def read_run_file(path: Path, kind: type[Shape]) -> Shape:
    """Return the fields of ``kind`` from a run.json; raise RunFolderError for a broken file."""
    with files(path):
        text = path.read_bytes().decode(errors="replace")
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        if error.errors()[0]["loc"] == ("schema",):
            raise RunFolderError(f"{path} {_OTHER_SCHEMA}") from None
        raise RunFolderError(f"{path} is not a run's record: {fault_line(error)}") from None
