"""Put sentences of the sources into a question to a model, and read the points of its reply.

A speaker cites sentences by names from a closed list, and the program adds the words, so that no
citation is false. Names (``e1``, ``e2`` ...) follow the order in which sentences came into the pool.
If a person drops a sentence, its name stays without a text, and the other names do not change.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, Field, create_model

from dialectree import prompts
from dialectree.models.asking import MORE_SENTENCES, SENTENCES, Fault
from dialectree.models.reading import Citations, Evidence, Mode, NodeEvidence, TextWithPoints, merge_evidence
from dialectree.prompts import escape_tags
from dialectree.quantities import find_missing_quantities
from dialectree.quotations import QuotationSearch, quotations, remove_false_quotations
from dialectree.records.place import Spot
from dialectree.records.tree import Point
from dialectree.retrieval.pool import MOST

Reply = TypeVar("Reply", bound=BaseModel)
POINT_TOKENS, NAME_TOKENS = 110, 60
"""Tokens that a point, and a list of names, may take in a reply."""
LONG = 40
"""A turn's text of at least so many characters is recognised even if other words follow on its line."""
WITHDRAWN = "[withdrawn: it rests on no evidence]"

_Point = Annotated[str, Field(min_length=1, max_length=400)]
_Query = Annotated[str, Field(min_length=1, max_length=200)]


_Name = Annotated[str, Field(json_schema_extra={"enum": [*SENTENCES]})]
_OneOfMany = Annotated[str, Field(json_schema_extra={"enum": [*MORE_SENTENCES]})]


class CitedPoint(BaseModel):
    """A point, and the sentences that bear it out."""

    point: _Point
    sentences: Annotated[list[_Name], Field(min_length=1, max_length=4)]


class Citing(BaseModel):
    """The points that a speaker draws from the sources, and its queries."""

    evidence: Annotated[list[CitedPoint], Field(max_length=4)]
    look_for: Annotated[list[_Query], Field(max_length=2)]


class CitingItem(BaseModel):
    """The points that a speaker draws from the sources for one entry of its reply."""

    evidence: Annotated[list[CitedPoint], Field(max_length=4)]


class Resting(BaseModel):
    """The sentences that a ruling rests on."""

    rests_on: Annotated[list[_Name], Field(max_length=8)]


def _derive(base: type[Reply], **fields: Any) -> type[Reply]:
    """Return ``base`` with the annotations of ``fields`` replaced."""
    required: Any = {name: (annotation, ...) for name, annotation in fields.items()}
    return create_model(base.__name__, __base__=base, __doc__=base.__doc__, **required)


_CitedOfMany = _derive(CitedPoint, sentences=Annotated[list[_OneOfMany], Field(min_length=1, max_length=4)])
_POINTS_OF_MANY: Any = Annotated[list[_CitedOfMany], Field(max_length=4)]  # type: ignore[valid-type]
_OF_MANY = (
    _derive(Citing, evidence=_POINTS_OF_MANY),
    _derive(CitingItem, evidence=_POINTS_OF_MANY),
    _derive(Resting, rests_on=Annotated[list[_OneOfMany], Field(max_length=8)]),
)
"""Variants of Citing, CitingItem and Resting that can name more sentences than ``SENTENCES``."""


# The evidence of a debate


def pool_of(evidence: Evidence, node: str) -> str:
    """Return the node at or above ``node`` that has a pool; ``node`` itself if none has."""
    above = node
    while above and "pool" not in evidence.get(above, {}):
        above = above.rpartition(".")[0]
    return above or node


def resting(ground: NodeEvidence) -> list[str]:
    """Return the sentences that the rulings of the last pass rest on.

    Without a ruling, return the sentences that speakers cited.
    """
    if rulings := ground.get("grounds"):
        return rulings[max(rulings, key=int)]
    points = [point for statement in ground.get("drawn", []) for point in statement["points"]]
    return [*dict.fromkeys(id for point in points for id in point["sentences"])]


# The evidence that one step reads, and its updates


class Slot(NamedTuple):
    """A sentence of the pool. A dropped sentence has no text."""

    name: str
    id: str
    text: str | None
    where: str
    """Title and page of the sentence's source, for readers."""


@dataclass
class StepEvidence:
    """The evidence that a step reads, and its updates."""

    node: str
    """The node that the pool belongs to."""
    ground: NodeEvidence
    sources: Sequence[Mapping[str, Any]]
    evidence: Evidence
    dropped_ids: Collection[str] = ()
    """Ids of the sources and segments that persons dropped."""
    mode: Mode | None = None
    """None: the step asks no model, or the model's role does not read the sources."""
    of: str = ""
    """The list in the reply whose items have citations; "": the reply as a whole has them."""
    slots: Sequence[Slot] = ()
    whole_pool: bool = False
    """True if a judge reads all retrieved sentences."""
    complete: bool = False
    """True if the pool contains the whole sources, and nothing else can be retrieved."""
    forbidden: bool = False
    """True if a text without evidence is withdrawn."""
    updates: dict[str, NodeEvidence] = field(default_factory=dict[str, NodeEvidence])
    """Updates by node."""
    look_up: Callable[[str], Awaitable[str | None]] | None = None
    """Returns the name of the source that contains some words, or None."""
    evidence_by_spot: dict[Spot, NodeEvidence] = field(default_factory=dict[Spot, NodeEvidence])
    """The citations of parallel turns in this step, by place."""

    async def keep(self, spot: Spot, citations: Citations) -> list[str]:
        """Store the citations of the turn at ``spot``; return notes for readers, one line each."""
        if citations.ground:
            self.evidence_by_spot[spot] = citations.ground
        notes = [*citations.notes]
        for quotation in citations.false_quotations:
            source = await self.look_up(quotation) if self.look_up else None
            where = f"{source} says so, which it did not read" if source else "no source says so"
            notes.append(f"false quotation ({where}): “{quotation}”")
        return notes

    def leave(self, node: str, ground: NodeEvidence) -> None:
        """Add ``ground`` to the step's updates of ``node``."""
        self.updates = merge_evidence(self.updates, {node: ground})

    def update(self) -> dict[str, NodeEvidence]:
        """Return the step's updates, with parallel turns in the order of their places."""
        for _, ground in sorted(self.evidence_by_spot.items()):
            self.leave(self.node, ground)
        return self.updates

    def rests_on(self, node: str) -> list[str]:
        """Return the sentences that the ruling at ``node`` rests on, without dropped ones."""
        evidence = merge_evidence(self.evidence, self.update())
        return [id for id in resting(evidence.get(node, {})) if not self.is_dropped(id)]

    def is_dropped(self, sentence: str) -> bool:
        """Return whether a person dropped the segment of a sentence, or its source."""
        segment = sentence.rpartition(".")[0]
        return segment in self.dropped_ids or segment.partition(":")[0] in self.dropped_ids

    # Questions of the roles

    @property
    def texts(self) -> list[str]:
        """Return the sentences that the step reads."""
        return [slot.text for slot in self.slots if slot.text]

    def words_under(self, text: str) -> list[str]:
        """Return the sentences cited by the turns that ``text`` contains."""
        points = [point for statement in self.heard(text) for point in self.points(statement)]
        cited_ids = {id for point in points for id in point.sentences}
        return [slot.text for slot in self.slots if slot.id in cited_ids and slot.text is not None]

    def is_unsupported(self, node: str, text: str) -> bool:
        """Return whether a speaker said ``text`` at ``node``, and has no evidence left for it."""
        is_statement = any(statement["text"] == text for statement in self._find_texts(node))
        return is_statement and not self.find_cited_sentences(node, text)

    def find_cited_sentences(self, node: str, text: str) -> list[str]:
        """Return the ids of the sentences that ``text``, said at ``node``, cites.

        Dropped sentences are left out.
        """
        texts = (statement for statement in self._find_texts(node) if statement["text"] == text)
        points = (point for statement in texts for point in statement["points"])
        sentences = dict.fromkeys(sentence for point in points for sentence in point["sentences"])
        return [sentence for sentence in sentences if not self.is_dropped(sentence)]

    def _find_texts(self, node: str) -> Sequence[TextWithPoints]:
        """Return the texts that were said at ``node``, with their points."""
        return self.evidence.get(pool_of(self.evidence, node), {}).get("drawn", [])

    # Reading

    def pose(self, reply: type[BaseModel], system: str, shared: str, user: str) -> QuestionWithSources | None:
        """Return a question that shows the sentences; None if its role reads no evidence."""
        return None if self.mode is None else pose_question(self, reply, system, shared, user)

    def _list_remaining_sentences(self) -> dict[str, Slot]:
        """Return the sentences that are not dropped, by id."""
        return {slot.id: slot for slot in self.slots if slot.text is not None}

    def points(self, statement: TextWithPoints) -> list[Point]:
        """Return the points of a text that cite at least one remaining sentence."""
        slots_by_id = self._list_remaining_sentences()
        points = [Point.model_validate(fields) for fields in statement["points"]]
        return [point for point in points if slots_by_id.keys() & set(point.sentences)]

    def heard(self, text: str) -> list[TextWithPoints]:
        """Return the statements that ``text`` contains; for a checker, all of them."""
        statements = self.ground.get("drawn", [])
        return (
            statements
            if self.mode == "checks"
            else [statement for statement in statements if _place(text, statement, 0)]
        )

    def choose_shown_sentences(self, heard: Iterable[TextWithPoints]) -> list[Slot]:
        """Return the sentences that the question shows: the pool, or those that were cited."""
        slots_by_id = self._list_remaining_sentences()
        if self.mode == "hears":
            return []
        if self.mode == "cites" or self.whole_pool:
            return [*slots_by_id.values()]
        cited_ids = {id for statement in heard for point in self.points(statement) for id in point.sentences}
        return [slot for id, slot in slots_by_id.items() if id in cited_ids]

    def under(self, user: str) -> str:
        """Return ``user`` with the points of each statement added below that statement."""
        at = 0
        for statement in self.heard(user):
            if (span := _place(user, statement, at) or _place(user, statement, 0)) is None:
                continue
            start, end = span
            flat = " ".join(user[start:end].split())  # so that none of its lines looks like ours
            user, end = f"{user[:start]}{flat}{user[end:]}", start + len(flat)
            lines = self._lines(statement)
            if not lines and self.forbidden:
                user = f"{user[:start]}{WITHDRAWN}{user[end:]}"
                at = start + len(WITHDRAWN)
                continue
            close = user.find("\n", end)
            close = len(user) if close < 0 else close
            added = "\n".join(["", *(lines or ["  (it rests on no evidence)"])])
            user, at = f"{user[:close]}{added}{user[close:]}", close + len(added)
        return user

    def _lines(self, statement: TextWithPoints) -> list[str]:
        """Return a line for each point, with the names of its sentences if the sentences are shown."""
        slots_by_id, numbers = self._list_remaining_sentences(), self.numbers()
        lines: list[str] = []
        for point in self.points(statement):
            names = ", ".join(slots_by_id[id].name for id in point.sentences if id in slots_by_id)
            suffix = f" [{names}]" if self.mode != "hears" else ""
            text = escape_tags(" ".join(point.point.split()))
            lines.append(f"  point {numbers[point.id]}: {text}{suffix}")
        return lines

    def numbers(self) -> dict[str, int]:
        """Return the number of each point, from 1, in the order in which they were made."""
        point_ids = (
            point["id"] for statement in self.ground.get("drawn", []) for point in statement["points"]
        )
        return {id: number for number, id in enumerate(point_ids, 1)}

    def marks(self, heard: Iterable[TextWithPoints]) -> list[str]:
        """Return a line for each point that the checker marked."""
        numbers, marks = self.numbers(), self.ground.get("marks", {})
        if self.mode != "cited":
            return []
        points = [point for statement in heard for point in self.points(statement)]
        return [
            f"point {numbers[marked_point.id]}: {MARKS[marks[marked_point.id]]}"
            for marked_point in points
            if marked_point.id in marks
        ]


MARKS = {
    "yes": "its sentences bear it out",
    "no": "its sentences do not bear it out",
    "contradicts": "its sentences contradict it",
}
"""The meaning of the checker's words."""


def _place(text: str, statement: TextWithPoints, at: int) -> tuple[int, int] | None:
    """Return start and end of a statement in a rendered ``text``; only a long one may end within a line."""
    words = escape_tags(statement["text"])
    for form in dict.fromkeys((words, " ".join(words.split()))):
        start = text.find(form, at) if form else -1
        while start >= 0:
            end = start + len(form)
            closed = end == len(text) or text[end] == "\n"
            opened = start == 0 or not text[start - 1].isalnum()
            if opened and (closed or len(form) >= LONG):
                return start, end
            start = text.find(form, start + 1)
    return None


# The question and its reply


class QuestionWithSources(NamedTuple):
    """A question that shows sentences of the sources, and the reader of its reply."""

    here: StepEvidence
    system: str
    shared: str
    """The text before the task; "" if the prompt has none."""
    user: str
    reply: type[BaseModel]
    """The class of the reply, with its citations."""
    shown: dict[str, Slot]
    """The sentences that the reply may name."""
    dropped: dict[str, Slot]
    """Sentences that a person dropped; an earlier reply may name them."""
    tokens: int
    """Tokens that the citations may take."""
    read: Callable[[], QuotationSearch]
    """Returns a search over the question, and over its sentences without the names between them."""

    def take(
        self, full_reply: BaseModel, reply: type[Reply], spot: Spot, *, last: bool
    ) -> tuple[Reply, Citations]:
        """Return the protocol's own reply, without false quotations, and its citations.

        Raises Fault for a sentence that was not shown. In the ``last`` possible reply, such a name
        is removed and noted instead, because the debate needs its speakers.
        """
        here, false, notes = self.here, list[str](), list[str]()
        slots_by_name = {**self.dropped, **self.shown}
        if wrong := _unshown(full_reply, here, slots_by_name):
            if not last:
                fault = f"{wrong}: not shown; name sentences as they are named in brackets"
                raise Fault("ids", fault)
            notes.append(f"named sentences that it was not shown ({wrong}), which do not count")
        full_reply = type(full_reply).model_validate(self._clean(full_reply.model_dump(), false))
        valid = _extract_protocol_reply(reply, full_reply, here.of)
        citations = Citations(false_quotations=[*dict.fromkeys(false)])
        if here.mode == "cited":
            rests = [self.shown[name].id for name in _rests_on(full_reply) if name in self.shown]
            ground: NodeEvidence = {"grounds": {str(spot[4]): rests}}
            return valid, citations._replace(rests_on=rests, ground=ground, notes=notes)
        if here.mode != "cites":
            return valid, citations
        statements, points = _collect_points(full_reply, here.of, slots_by_name, spot)
        notes += [*_wrong(points, {slot.id: slot.text for slot in slots_by_name.values()})]
        ground = {"drawn": statements, "look_for": [*getattr(full_reply, "look_for", [])]}
        return valid, citations._replace(points=points, ground=ground, notes=notes)

    def _clean(self, value: Any, false: list[str]) -> Any:
        """Return ``value`` without long false quotations; add all false ones to ``false``."""
        if isinstance(value, dict):
            return {name: self._clean(member, false) for name, member in value.items()}
        if isinstance(value, list):
            return [self._clean(member, false) for member in value]
        if not isinstance(value, str) or not quotations(value):
            return value
        text, false_quotations = remove_false_quotations(value, self.read())
        false += false_quotations
        return text


def pose_question(
    here: StepEvidence, reply: type[BaseModel], system: str, shared: str, user: str
) -> QuestionWithSources:
    """Return the question with the sentences at its top, and the points under the texts."""
    heard = here.heard(user)
    slots, marks = here.choose_shown_sentences(heard), here.marks(heard)
    before, after = (shared, user.removeprefix(shared)) if shared else (user, "")
    before = here.under(before)
    if marks:
        before = "\n".join([before, "<checked>", *marks, "</checked>"])
    parts = _parts(slots)
    complete = here.complete and (here.mode == "cites" or here.whole_pool)
    about: dict[str, Any] = {"mode": here.mode, "items": here.of, "marks": marks, "parts": parts}
    about["complete"] = complete
    about["points"] = bool(heard)
    top, how = prompts.load("material").render(about)
    user = f"{before}{after}"
    if here.mode in ("cites", "cited"):
        user = f"{user}\n\n{how}"
    if slots or here.mode == "cites":
        system = f"{top}\n\n{system}"
    return QuestionWithSources(
        here,
        system,
        before if shared else "",
        user,
        form_of(reply, here.mode or "hears", here.of, many=len(here.slots) > MOST),
        {slot.name: slot for slot in slots},
        {slot.name: slot for slot in here.slots if slot.text is None},
        {"cites": 4 * POINT_TOKENS, "cited": NAME_TOKENS}.get(here.mode or "", 0),
        cache(lambda: QuotationSearch([system, user, *(slot.text or "" for slot in slots)])),
    )


def _parts(slots: Iterable[Slot]) -> list[dict[str, Any]]:
    """Return the sentences under their sources, in their order."""
    parts: list[dict[str, Any]] = []
    for slot in slots:
        if not parts or parts[-1]["where"] != slot.where:
            parts.append({"where": slot.where, "sentences": []})
        parts[-1]["sentences"].append((slot.name, slot.text))
    return parts


@cache
def form_of(reply: type[BaseModel], mode: Mode, of: str, *, many: bool = False) -> type[BaseModel]:
    """Return the class of a full reply: the fields for citations, then the fields of ``reply``.

    ``many`` offers more names of sentences than :data:`~dialectree.models.asking.SENTENCES`.
    """
    about: dict[str, Any] = {"__module__": reply.__module__, "__doc__": reply.__doc__}
    if mode in ("checks", "hears"):
        return reply
    citing, citing_item, resting = _OF_MANY if many else (Citing, CitingItem, Resting)
    if not of or mode == "cited":
        both: Any = (reply, resting if mode == "cited" else citing)
        return type(reply.__name__, both, about)
    item: Any = get_args(reply.model_fields[of].annotation)[0]
    within = {"__module__": item.__module__, "__doc__": item.__doc__}
    citing_entry = type(item.__name__, (item, citing_item), within)
    limits = reply.model_fields[of].metadata
    annotations = {of: Annotated[list[citing_entry], Field(), *limits]}  # type: ignore[valid-type]
    return type(reply.__name__, (reply,), {**about, "__annotations__": annotations})


_OURS = frozenset(("evidence", "look_for", "rests_on"))


def _extract_protocol_reply(reply: type[Reply], full_reply: BaseModel, of: str) -> Reply:
    """Return the protocol's own reply, without its citations."""
    fields = full_reply.model_dump()
    if of:
        fields[of] = [{n: v for n, v in entry.items() if n != "evidence"} for entry in fields[of]]
    return reply.model_validate({n: v for n, v in fields.items() if n in reply.model_fields})


def _items(full_reply: BaseModel, of: str) -> Iterator[tuple[int, str, list[CitedPoint]]]:
    """Yield number (0: the whole reply), text and points of each entry with citations."""
    items: list[Any] = getattr(full_reply, of) if of else [full_reply]
    numbered_entries = enumerate(items, 1 if of else 0)
    for number, entry in numbered_entries:
        fields: dict[str, Any] = entry.model_dump(exclude={*_OURS})
        texts = [value for value in fields.values() if isinstance(value, str)]
        yield number, max(texts, key=len, default="").strip(), entry.evidence


def _rests_on(full_reply: Any) -> list[str]:
    """Return the names of the sentences that a ruling rests on, each once."""
    return [*dict.fromkeys(full_reply.rests_on)]


def _unshown(full_reply: BaseModel, here: StepEvidence, slots_by_name: Mapping[str, Slot]) -> str:
    """Return the names in a reply that were not shown, for a message; "" if all were shown."""
    cited_names: list[str] = []
    if here.mode == "cited":
        cited_names = _rests_on(full_reply)
    elif here.mode == "cites":
        cited = (citation for _, _, citations in _items(full_reply, here.of) for citation in citations)
        cited_names = [name for citation in cited for name in citation.sentences]
    wrong = {*cited_names} - {*slots_by_name}
    name_list = ", ".join(name for name in MORE_SENTENCES if name in wrong)
    return name_list or ("a name of its own" if wrong else "")


def _wrong(points: Iterable[Point], words: Mapping[str, str | None]) -> Iterator[str]:
    """Yield notes on points that their sentences cannot support; this needs no model."""
    for point in points:
        texts = [text for id in point.sentences if (text := words[id]) is not None]
        if not texts:
            yield f"a point rests on nothing but what was dropped: “{point.point}”"
        elif lacking := find_missing_quantities(point.point, texts):
            yield f"its sentences lack the figure {', '.join(lacking)}: “{point.point}”"


def _collect_points(
    full_reply: BaseModel, of: str, slots_by_name: Mapping[str, Slot], spot: Spot
) -> tuple[list[TextWithPoints], list[Point]]:
    """Return the texts of a reply, each with its points, and all points; points have permanent ids."""
    statements: list[TextWithPoints] = []
    all_points: list[Point] = []
    place = "|".join(map(str, spot))
    for item, text, cited in _items(full_reply, of):
        points = [
            Point(id=f"{place}#{item}.{number}", point=citation.point, sentences=ids, item=item)
            for number, citation in enumerate(cited, 1)
            if (
                ids := [
                    slots_by_name[name].id
                    for name in dict.fromkeys(citation.sentences)
                    if name in slots_by_name
                ]
            )
        ]
        all_points += points
        statements.append({"text": text, "points": [point.model_dump() for point in points]})
    return statements, all_points
