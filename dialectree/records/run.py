"""The record of a run, from the question to the verdict."""

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
"""The spec of the model that speaks what a person wrote: ``dialectree.testing.Illustration``."""

RunStatus = Literal["running", "answered", "partial", "degraded", "unresolved"]
UNFINISHED: tuple[RunStatus, ...] = ("running", "partial")
"""The statuses of a run that has not ended."""


def is_illustration(models: Mapping[str, str]) -> bool:
    """Return whether replies were written by hand, which no model gave; ``models`` by role."""
    return any(ILLUSTRATION in spoke.split(", ") for spoke in models.values())


def source_notices(sources: Iterable[Any]) -> list[str]:
    """Return what could not be read of papers or sources, a line each."""
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
    """What the part ``reports`` gives a record, which shows itself by it."""

    def summarize(self, record: RunRecord) -> str:
        """Return what was asked and what came of it, in two lines."""
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
    """Who asked for it, as the server that ran it authenticated them."""
    thread: str | None = None
    """The thread of a host, such as a LangGraph server, in which the question was asked."""
    evaluated: Evaluated | None = None
    """The question of an evaluation that it answers, where it does."""
    status: RunStatus = "running"
    demonstration: bool = False
    """True when a local model took part whose answers are no better than chance."""
    input: dict[str, JsonValue]
    settings: dict[str, JsonValue] = {}
    models: dict[str, str] = {}
    """By role; all that spoke in it, where the run was resumed or contested with another one."""
    calibration: list[Calibration] = []
    """What the verdict's confidence is worth, by its source; empty unless a file was named."""
    prompts: dict[str, int] = {}
    declared: dict[str, Declared] = {}
    """By protocol, its own first, what was declared of those that take part."""
    small_form: list[str] = []
    """The models that were asked in the form for small models."""
    medium_form: list[str] = []
    """Those that were asked in the form for models of medium size; all others got whole prompts."""
    contest: Contest | None = None
    """Of a run that contests another one."""
    verdict: Verdict | None = None
    earlier: list[Verdict] = []
    """Verdicts that the run ended with before its failed calls were made again."""
    tree: Tree = Tree()
    usage: Usage = Usage()
    notices: list[str] = []
    """What the program had to change or stop on the way, such as a budget that was reached."""
    started: str
    ended: str | None = None
    versions: dict[str, str] = {}
    _path: Path | None = PrivateAttr(default=None)

    model_config = ConfigDict(
        extra="forbid", populate_by_name=True, serialize_by_alias=True, ser_json_inf_nan="strings"
    )

    def __repr__(self) -> str:
        """Return what was asked and what came of it, where the reports are installed."""
        reports = SUMMARIES.find()
        return super().__repr__() if reports is None else f"<RunRecord {reports.summarize(self)}>"

    def __str__(self) -> str:
        """Return the same."""
        return repr(self)

    def _repr_html_(self) -> str:
        """Return the card of a notebook, where the reports are installed."""
        reports = SUMMARIES.find()
        return escape(repr(self)) if reports is None else reports.draw_card(self)

    def to_pandas(self) -> DataFrame:
        """Return a row for each turn: its node, its place, who spoke, and its reply.

        The fields of a reply stand in columns ``reply_...``. A record that lies in a folder has the
        model, tokens, cost and seconds of each turn's call, too. Raises MissingPackage without
        pandas.

        Example:
            >>> record = dialectree.load("last")
            >>> record.to_pandas().groupby("role")["completion_tokens"].sum()
        """
        return SUMMARIES.require().make_table(self)

    @classmethod
    def read(cls, text: str) -> Self:
        """A record from the text of a run.json."""
        return cls.model_validate_json(text)

    @property
    def illustration(self) -> bool:
        """Return whether replies in it were written by hand, which no model gave."""
        return is_illustration(self.models)

    @property
    def path(self) -> Path | None:
        """The run's folder; None for a record that was not made or read there."""
        return self._path

    def set_folder(self, folder: Path) -> None:
        """Note the folder of the run, which is no part of the record."""
        self._path = folder.absolute()

    @property
    def sources(self) -> list[dict[str, Any]]:
        """Return the documents that it argues from, as its graph takes them; empty without any."""
        listed: Any = self.input.get("sources") or []
        return [*listed]

    def get_declaration(self, protocol: str = "") -> Declared:
        """Return what was declared of ``protocol``; "" is the run's own."""
        name = protocol or self.protocol
        return self.declared.get(name) or Declared(title=name)

    def order(self) -> PhaseOrder:
        """Return the order of its phases, for each protocol that takes part."""
        inside = {
            name: declaration.order.order({})
            for name, declaration in self.declared.items()
            if name != self.protocol
        }
        return self.get_declaration().order.order(inside)

    def __eq__(self, other: object) -> bool:
        """Compare what was recorded, wherever it lies."""
        return isinstance(other, RunRecord) and self.__dict__ == other.__dict__

    def list_failures(self) -> list[tuple[str, Failure]]:
        """Every part that failed for good, with the id of its node."""
        return [(n.id, failure) for n in self.tree.nodes.values() for failure in n.failures]


EventKind = Literal[
    "began",  # the run began: protocol, method, input, models, settings, estimate
    "resumed",  # it goes on after a break: models, usage; void: the calls that are made again
    "opened",  # a node came into being: text, parent, depth, kind, stance, data
    "spoke",  # a role replied: Turn, without its node
    "scored",  # numbers of a node: scores by name, None for one that it has not
    "compared",  # a supporter met an attacker: Comparison
    "retrieved",  # segments were found in a paper: Retrieval, and the segments
    "branched",  # the node was split into children, or was not and why: children, kind, why
    "settled",  # the node has its verdict, or none: Verdict or null, provenance, status, data
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
    """Its number in the run: from 1 without gaps, in the file and on every stream alike. 0 for an
    event that nobody keeps."""
    t: str
    run_id: str
    node: str
    kind: EventKind
    data: dict[str, JsonValue] = {}

    def turn(self) -> Turn:
        """Return the turn that a ``spoke`` event tells of."""
        return Turn.model_validate({**self.data, "node": self.node})

    def has_same_content(self, other_event: Event) -> bool:
        """Return whether both say the same of the same node, at whatever time."""
        return (self.node, self.kind, self.data) == (other_event.node, other_event.kind, other_event.data)
