"""Give the debate and its roles the evidence that a step reads from the user's sources.

The part ``evidence`` reads, cites and checks sentences. The first step of a debate with sources
loads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel
from typing_extensions import TypedDict

from dialectree.protocols.inside import inside, root
from dialectree.records.place import Spot
from dialectree.records.tree import Point

Reply = TypeVar("Reply", bound=BaseModel)
Mode = Literal["cites", "cited", "pool", "checks", "hears"]
"""The task of a role. ``cites``: it cites sentences of the pool. ``cited`` and ``pool``: it reads the
cited sentences, or the whole pool, and names the grounds of its ruling. ``checks``: it checks points.
``hears``: it reads only points."""
NO_EVIDENCE = "no evidence: the verdict rests on nothing in the sources"
WITHOUT = "rests on no evidence of the sources"


# The evidence in the state of a debate


class TextWithPoints(TypedDict):
    """A text of a speaker, and its points."""

    text: str
    points: list[dict[str, Any]]
    """Each a :class:`dialectree.records.Point` as plain data."""


class NodeEvidence(TypedDict, total=False):
    """The evidence at one node of a debate. Ids are permanent: ``s2:17``, ``s2:17.3``."""

    pool: list[str]
    """Segments, in the order in which they were retrieved."""
    drawn: list[TextWithPoints]
    asked: list[str]
    """Queries that were searched."""
    look_for: list[str]
    """Queries that speakers asked for."""
    marks: dict[str, str]
    """The checker's word on each point: ``yes``, ``no`` or ``contradicts``."""
    grounds: dict[str, list[str]]
    """The sentences that the rulings of each pass over the tree rest on, by the number of the pass."""


Evidence = Mapping[str, NodeEvidence]
"""The evidence of each node of the debate."""


def merge_evidence(old: Evidence | None, new: Evidence | None) -> dict[str, NodeEvidence]:
    """Return ``old`` merged with ``new``: old entries first, and each entry once."""
    evidence_by_node = dict(old or {})
    for node, ground in (new or {}).items():
        both: Any = {**evidence_by_node.get(node, {})}
        for name, value in ground.items():
            both[name] = _both(both.get(name), value)
        evidence_by_node[node] = both
    return evidence_by_node


def _both(old: Any, new: Any) -> Any:
    if isinstance(new, Mapping):
        old_content = old or {}
        return {
            **old_content,
            **{name: _both(old_content.get(name), new_content) for name, new_content in new.items()},
        }
    if isinstance(new, str):
        return new
    old_content = old or []
    return [*old_content, *(entry for entry in new if entry not in old_content)]


# The evidence of one step


class Citations(NamedTuple):
    """The statements of a valid reply about the sources."""

    points: Sequence[Point] = ()
    rests_on: Sequence[str] = ()
    """Ids of the sentences that a ruling rests on."""
    ground: NodeEvidence | None = None
    """The evidence that the state of the graph keeps."""
    notes: Sequence[str] = ()
    """Notes on faults that leave the reply valid."""
    false_quotations: Sequence[str] = ()

    def make_record_fields(self) -> dict[str, Any]:
        """Return the fields that the record adds to those of the reply."""
        points = [point.model_dump() for point in self.points]
        fields = {"evidence": points, "rests_on": [*self.rests_on]}
        return {name: value for name, value in fields.items() if value}


NOTHING = Citations()


class PosedQuestion(Protocol):
    """A question that shows sentences of the sources, and the reader of its reply."""

    system: str
    shared: str
    """The text before the task; "" if the prompt has none."""
    user: str
    reply: type[BaseModel]
    """The class of the reply, with its citations."""
    tokens: int
    """Tokens that the citations may take."""

    @property
    def shown(self) -> Mapping[str, Any]:
        """Return the sentences that the reply may name, by their names."""
        ...

    def take(
        self, full_reply: BaseModel, reply: type[Reply], spot: Spot, *, last: bool
    ) -> tuple[Reply, Citations]:
        """Return the protocol's own reply and its citations; raise Fault if they are invalid."""
        ...


class EvidenceReader(Protocol):
    """The evidence that a step reads, and its updates."""

    sources: Sequence[Mapping[str, Any]]
    evidence: Evidence
    updates: dict[str, NodeEvidence]
    """Updates by node."""

    @property
    def texts(self) -> list[str]:
        """Return the sentences that the step reads."""
        ...

    def pose(self, reply: type[BaseModel], system: str, shared: str, user: str) -> PosedQuestion | None:
        """Return a question that shows the sentences; None if its role reads no evidence."""
        ...

    async def keep(self, spot: Spot, citations: Citations) -> list[str]:
        """Store the citations of the turn at ``spot``; return notes for readers, one line each."""
        ...

    def leave(self, node: str, ground: NodeEvidence) -> None:
        """Add ``ground`` to the step's updates of ``node``."""
        ...

    def update(self) -> dict[str, NodeEvidence]:
        """Return the step's updates."""
        ...

    def rests_on(self, node: str) -> list[str]:
        """Return the sentences that the ruling at ``node`` rests on, without dropped ones."""
        ...

    def words_under(self, text: str) -> list[str]:
        """Return the sentences cited by the turns that ``text`` contains."""
        ...

    def is_unsupported(self, node: str, text: str) -> bool:
        """Return whether a speaker said ``text`` at ``node``, and all its evidence was dropped."""
        ...

    def find_cited_sentences(self, node: str, text: str) -> list[str]:
        """Return the ids of the sentences that ``text``, said at ``node``, cites."""
        ...


reading: ContextVar[EvidenceReader | None] = ContextVar("reading", default=None)
"""The evidence of the current step; None in a debate without sources."""


# Questions of the roles


def is_grounded() -> bool:
    """Return whether the debate under way has sources."""
    return reading.get() is not None


def words_under(text: str) -> list[str]:
    """Return the sentences cited by the turns that ``text`` contains; none without sources."""
    here = reading.get()
    return [] if here is None else here.words_under(text)


def rest_on(*nodes: str) -> None:
    """Rest the verdict of the debate on the same sentences as the rulings at ``nodes``, its parts."""
    if (here := reading.get()) is not None:
        ids = [id for node in nodes for id in here.rests_on(node)]
        here.leave(root(), {"grounds": {str(inside.get().take): [*dict.fromkeys(ids)]}})


def is_unsupported(node: str, text: str) -> bool:
    """Return whether a speaker said ``text`` at ``node``, and has no evidence left for it.

    Return False in a debate without sources, and for the text of a person.
    """
    here = reading.get()
    return here is not None and here.is_unsupported(node, text)


def find_cited_sentences(node: str, text: str) -> list[str]:
    """Return the ids of the sentences that ``text``, said at ``node``, cites, without dropped ones."""
    here = reading.get()
    return [] if here is None else here.find_cited_sentences(node, text)


def without_evidence(*nodes: str) -> list[str]:
    """Return the ``nodes`` whose ruling lacks evidence; empty in a debate without sources."""
    here = reading.get()
    return [] if here is None else [node for node in nodes if not here.rests_on(node)]
