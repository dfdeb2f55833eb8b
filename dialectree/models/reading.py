"""What a step reads of the user's sources, as the debate and its roles know it.

Who reads, cites and checks sentences is the part ``evidence``. It is loaded by the first step of a
debate that has sources.
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
"""How a role takes part: it points at sentences of the pool; it reads those that others pointed at,
or the whole pool, and says what its ruling rests on; it checks points; it reads points alone."""
NO_EVIDENCE = "no evidence: the verdict rests on nothing in the sources"
WITHOUT = "rests on no evidence of the sources"


# The evidence of a debate, as its state keeps it


class TextWithPoints(TypedDict):
    """A text of a speaker, and its points."""

    text: str
    points: list[dict[str, Any]]
    """Each a :class:`dialectree.records.Point` as plain data."""


class NodeEvidence(TypedDict, total=False):
    """The evidence at one node of a debate. Ids are lasting: ``s2:17``, ``s2:17.3``."""

    pool: list[str]
    """Segments in the order in which they came."""
    drawn: list[TextWithPoints]
    asked: list[str]
    """Queries that were looked for."""
    look_for: list[str]
    """Those that speakers asked for."""
    marks: dict[str, str]
    """By point, the checker's word: ``yes``, ``no`` or ``contradicts``."""
    grounds: dict[str, list[str]]
    """By pass over the tree, the sentences that its rulings rest on."""


Evidence = Mapping[str, NodeEvidence]
"""By node of the debate."""


def merge_evidence(old: Evidence | None, new: Evidence | None) -> dict[str, NodeEvidence]:
    """Return both: what was there first stays first, and nothing stands twice."""
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


# What one step reads


class Said(NamedTuple):
    """What a valid reply said of the sources."""

    points: Sequence[Point] = ()
    rests_on: Sequence[str] = ()
    """Ids of sentences."""
    ground: NodeEvidence | None = None
    """What the state keeps of it."""
    notes: Sequence[str] = ()
    """What is wrong with it and counts all the same."""
    false_quotations: Sequence[str] = ()

    def make_record_fields(self) -> dict[str, Any]:
        """Return what the record keeps of it beside the fields of the reply."""
        points = [point.model_dump() for point in self.points]
        fields = {"evidence": points, "rests_on": [*self.rests_on]}
        return {name: value for name, value in fields.items() if value}


NOTHING = Said()


class PosedQuestion(Protocol):
    """A question with the sentences of the sources in it, and how its reply is read."""

    system: str
    shared: str
    """What stands before the task; "" if the prompt has none."""
    user: str
    reply: type[BaseModel]
    """The class of the reply with what it says of the sources."""
    tokens: int
    """Tokens that the reply may take besides."""

    @property
    def shown(self) -> Mapping[str, Any]:
        """Return the sentences that may be named, by their names."""
        ...

    def take(
        self, full_reply: BaseModel, reply: type[Reply], spot: Spot, *, last: bool
    ) -> tuple[Reply, Said]:
        """Return the protocol's own reply, and what else was said; raise a Fault."""
        ...


class EvidenceReader(Protocol):
    """The evidence that a step reads, and what it leaves."""

    sources: Sequence[Mapping[str, Any]]
    evidence: Evidence
    updates: dict[str, NodeEvidence]
    """Updates by node."""

    @property
    def texts(self) -> list[str]:
        """Return the sentences that the step reads."""
        ...

    def pose(self, reply: type[BaseModel], system: str, shared: str, user: str) -> PosedQuestion | None:
        """Return a question with the sentences in it; None where nothing of them is read."""
        ...

    async def keep(self, spot: Spot, citations: Said) -> list[str]:
        """Keep what was said at a place; return what a reader should know of it, a line each."""
        ...

    def leave(self, node: str, ground: NodeEvidence) -> None:
        """Add to what the step leaves at ``node``."""
        ...

    def update(self) -> dict[str, NodeEvidence]:
        """Return what the step leaves."""
        ...

    def rests_on(self, node: str) -> list[str]:
        """Return what the ruling at ``node`` rests on, without what persons dropped."""
        ...

    def words_under(self, text: str) -> list[str]:
        """Return the sentences under the turns whose words stand in ``text``."""
        ...

    def is_unsupported(self, node: str, text: str) -> bool:
        """Return whether a speaker at ``node`` said ``text`` without evidence that is left."""
        ...

    def find_cited_sentences(self, node: str, text: str) -> list[str]:
        """Return the ids of the sentences that ``text``, said at ``node``, cites."""
        ...


reading: ContextVar[EvidenceReader | None] = ContextVar("reading", default=None)
"""What the step under way reads of the sources; None in a debate without them."""


# What roles ask of it


def is_grounded() -> bool:
    """Return whether the debate under way has sources."""
    return reading.get() is not None


def words_under(text: str) -> list[str]:
    """Return the sentences under the turns whose words stand in ``text``; none without sources."""
    here = reading.get()
    return [] if here is None else here.words_under(text)


def rest_on(*nodes: str) -> None:
    """Let the verdict of the debate rest on what the rulings at its parts ``nodes`` rest on."""
    if (here := reading.get()) is not None:
        ids = [id for node in nodes for id in here.rests_on(node)]
        here.leave(root(), {"grounds": {str(inside.get().take): [*dict.fromkeys(ids)]}})


def is_unsupported(node: str, text: str) -> bool:
    """Return whether a speaker at ``node`` said ``text`` without evidence that is left.

    It is False in a debate without sources, and for the text of a person.
    """
    here = reading.get()
    return here is not None and here.is_unsupported(node, text)


def find_cited_sentences(node: str, text: str) -> list[str]:
    """Return the ids of the sentences that ``text``, said at ``node``, cites and nobody dropped."""
    here = reading.get()
    return [] if here is None else here.find_cited_sentences(node, text)


def without_evidence(*nodes: str) -> list[str]:
    """Return those of ``nodes`` whose ruling rests on no evidence, in a debate with sources."""
    here = reading.get()
    return [] if here is None else [node for node in nodes if not here.rests_on(node)]
