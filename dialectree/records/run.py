"""Define the record of a run, from the question to the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, Self

from pydantic import ConfigDict, Field, JsonValue, PrivateAttr

from dialectree.protocols.calibrated_figure import Calibration
from dialectree.protocols.phases import PhaseOrder
from dialectree.records.contest import Contest
from dialectree.records.declared import Declared
from dialectree.records.ledger import Usage
from dialectree.records.place import Strict
from dialectree.records.tree import Failure, Sparse, Tree, Turn, Verdict
from dialectree.system.parts import PlugPoint

if TYPE_CHECKING:
    from pandas import DataFrame

SCHEMA: Final = "dialectree.run/3"

ILLUSTRATION: Final = "live:Illustration/written by hand"
"""The spec of ``dialectree.testing.Illustration``, a model whose replies a person wrote."""

RunStatus = Literal["running", "answered", "partial", "degraded", "unresolved"]
UNFINISHED: tuple[RunStatus, ...] = ("running", "partial")
"""The statuses of an unfinished run."""


def is_illustration(models: Mapping[str, str]) -> bool:
    """Return whether a person wrote the replies, not a model; ``models`` by role."""
    return any(ILLUSTRATION in spoke.split(", ") for spoke in models.values())


def source_notices(sources: Iterable[Any]) -> list[str]:
    """Return a line on each part of papers or sources that could not be read."""
    return [notice for source in sources for notice in source.get("notices", [])]


class Evaluated(Strict):
    """The place of a run in an evaluation."""

    evaluation: str
    """The name of the evaluation's folder."""
    row: str
    """The method with its settings and models, as the evaluation calls it."""
    item: str
    """The id of the question in the data set."""


class Summaries(Protocol):
    """The part ``reports``, by which a record shows itself."""

    def summarize(self, record: RunRecord) -> str:
        """Return the question and the result, in two lines."""
        ...

    def draw_card(self, record: RunRecord) -> str:
        """Return the run as a card of a notebook, in HTML."""
        ...

    def make_table(self, record: RunRecord) -> DataFrame:
        """Return a row for each turn; see :meth:`RunRecord.to_pandas`."""
        ...


SUMMARIES: PlugPoint[Summaries] = PlugPoint("reports", "showing a run")


class RunRecord(Sparse):
    """run.json: a run from the question to the verdict."""

    few = {"calibration": [], "medium_form": []}
    schema_: Literal["dialectree.run/3"] = Field(default=SCHEMA, alias="schema")
    run_id: str
    protocol: str
    method: str
    owner: str | None = None
    """The client who asked for the run, as the server authenticated it."""
    thread: str | None = None
    """The host's thread in which the question was asked, for example of a LangGraph server."""
    evaluated: Evaluated | None = None
    """The run's place in an evaluation, if it belongs to one."""
    status: RunStatus = "running"
    demonstration: bool = False
    """True if a local model took part whose answers are no better than chance."""
    input: dict[str, JsonValue]
    settings: dict[str, JsonValue] = {}
    models: dict[str, str] = {}
    """The models by role. A role has several if the run was resumed or contested with another model."""
    calibration: list[Calibration] = []
    """The calibrations of the verdict's confidence, one for each source of a confidence; empty unless a
    file was named."""
    prompts: dict[str, int] = {}
    declared: dict[str, Declared] = {}
    """The declarations of the protocols that take part, by name, the run's own protocol first."""
    small_form: list[str] = []
    """The models that were asked in the form for small models."""
    medium_form: list[str] = []
    """The models that were asked in the form for medium models; all others got whole prompts."""
    contest: Contest | None = None
    """The contest, if this run contests another one."""
    verdict: Verdict | None = None
    earlier: list[Verdict] = []
    """Final verdicts of the run before its failed calls were repeated."""
    tree: Tree = Tree()
    usage: Usage = Usage()
    notices: list[str] = []
    """Lines on what the program had to change or stop, such as a budget that was reached."""
    started: str
    ended: str | None = None
    versions: dict[str, str] = {}
    _path: Path | None = PrivateAttr(default=None)

    model_config = ConfigDict(
        extra="forbid", populate_by_name=True, serialize_by_alias=True, ser_json_inf_nan="strings"
    )

    def __repr__(self) -> str:
        """Return the question and the result, if the reports are installed."""
        reports = SUMMARIES.find()
        return super().__repr__() if reports is None else f"<RunRecord {reports.summarize(self)}>"

    def __str__(self) -> str:
        """Return the question and the result."""
        return repr(self)

    def _repr_html_(self) -> str:
        """Return the card of a notebook, if the reports are installed."""
        reports = SUMMARIES.find()
        return escape(repr(self)) if reports is None else reports.draw_card(self)

    def to_pandas(self) -> DataFrame:
        """Return a row for each turn: its node, its place, who spoke, and its reply.

        The fields of a reply are in columns ``reply_...``. If the record has a folder, the table
        also has the model, tokens, cost and seconds of each turn's call. Raises MissingPackage without
        pandas.

        Example:
            >>> record = dialectree.load("last")
            >>> record.to_pandas().groupby("role")["completion_tokens"].sum()
        """
        return SUMMARIES.require().make_table(self)

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the record in the text of a run.json."""
        return cls.model_validate_json(text)

    @property
    def illustration(self) -> bool:
        """Return whether a person wrote the replies, not a model."""
        return is_illustration(self.models)

    @property
    def path(self) -> Path | None:
        """Return the run's folder; None if the record was not made or read in one."""
        return self._path

    def set_folder(self, folder: Path) -> None:
        """Remember the folder of the run, which is not stored in the record."""
        self._path = folder.absolute()

    @property
    def sources(self) -> list[dict[str, Any]]:
        """Return the documents that the debate argues from, as its graph takes them; empty if none."""
        listed: Any = self.input.get("sources") or []
        return [*listed]

    def get_declaration(self, protocol: str = "") -> Declared:
        """Return the declaration of ``protocol``; "" is the run's own."""
        name = protocol or self.protocol
        return self.declared.get(name) or Declared(title=name)

    def order(self) -> PhaseOrder:
        """Return the order of the run's phases, with the orders of all protocols that take part."""
        inside = {
            name: declaration.order.order({})
            for name, declaration in self.declared.items()
            if name != self.protocol
        }
        return self.get_declaration().order.order(inside)

    def __eq__(self, other: object) -> bool:
        """Compare the recorded fields, but not the folders."""
        return isinstance(other, RunRecord) and self.__dict__ == other.__dict__

    def list_failures(self) -> list[tuple[str, Failure]]:
        """Return every part that failed for good, with the id of its node."""
        return [(n.id, failure) for n in self.tree.nodes.values() for failure in n.failures]


EventKind = Literal[
    "began",  # the run began: protocol, method, input, models, settings, estimate
    "resumed",  # it goes on after a break: models, usage; void: the calls that are made again
    "opened",  # a node came into being: text, parent, depth, kind, stance, data
    "spoke",  # a role replied: Turn, without its node
    "scored",  # numbers of a node: scores by name, None removes one
    "compared",  # a supporter met an attacker: Comparison
    "retrieved",  # segments were found in a paper: Retrieval, and the segments
    "branched",  # the node was split, or not, and why: children, kind, why
    "settled",  # the node is settled: Verdict or null, provenance, status, data
    "noted",  # the program remarks on a node: note, data
    "failed",  # one part failed for good: role, speaker, fault
    "asked",  # a person is asked: note
    "answered",  # the person answered: note, answer
    "contested",  # a person changed something here: change, dropped, added
    "calling",  # a call waits or is sent: its place, attempt, why, wait, fault, repair
    "called",  # a call has ended: Called
    "concluded",  # the run has its verdict: Verdict
    "ended",  # the run has ended: status, usage, notices; the last one counts
]


class Event(Strict):
    """One line of events.jsonl."""

    n: int = 0
    """The event's number in the run, from 1 without gaps, in the file and on every stream. 0 for an event
    that is not kept."""
    t: str
    run_id: str
    node: str
    kind: EventKind
    data: dict[str, JsonValue] = {}

    def turn(self) -> Turn:
        """Return the turn of a ``spoke`` event."""
        return Turn.model_validate({**self.data, "node": self.node})

    def has_same_content(self, other_event: Event) -> bool:
        """Return whether both events are equal except for number and time."""
        return (self.node, self.kind, self.data) == (other_event.node, other_event.kind, other_event.data)
