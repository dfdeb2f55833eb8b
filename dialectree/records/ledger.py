"""Define the calls that are paid, and compute their sums and their longest chain."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, SerializerFunctionWrapHandler, model_serializer

from dialectree.protocols.phases import UNORDERED, PhaseOrder
from dialectree.records.place import Place, Strict
from dialectree.records.tree import Tree


class Usage(Strict):
    """The ledger's sums. A reply from the cache counts like the call that it replaces."""

    calls: int = 0
    calls_from_cache: int = 0
    """The number of calls that the reply cache answered. The other calls were paid."""
    attempts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Prompt tokens that the provider read from its own cache."""
    tokens_from_cache: int = 0
    """The prompt and completion tokens of calls that the reply cache answered."""
    cost: float | None = None
    """The cost, in the unit of the given prices; null if a price, or the tokens of a call, are unknown."""
    cost_from_cache: float | None = None
    """The cost of the calls that the reply cache answered."""
    wall_s: float = 0.0
    embedding_s: float = 0.0
    """The part of ``wall_s`` for retrieval when papers are compared: loading the model, cutting and
    embedding the papers, embedding queries."""
    critical_path_calls: int = 0
    """The longest chain of calls in which each call needs the one before."""


class Called(Place):
    """The data of a ``called`` event: a call that has ended, failed or not."""

    repair: int = 0
    attempts: int = 1
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0
    """The seconds from the call's start to its end."""
    source: Literal["model", "cache"] = "model"
    failed: bool = False
    """True if no reply came."""


VOID = "void:"
"""The beginning of the key of a failed call that is made again. The call's line stays, because the call
may have been paid."""


class Sent(Strict):
    """The request of a call. Texts are given by their hashes, under which prompts.jsonl has them."""

    messages: list[tuple[Literal["system", "user", "assistant"], str]]
    """Role and text of each message."""
    reply_schema: str
    """The hash of the JSON Schema that a reply has to fit."""
    response_format: Literal["json_schema", "json_object", "text"]
    """How the request asked for JSON; if not by json_schema, the system message has the schema, too."""
    schema_shape: Literal["full", "strict", "plain"] = "full"
    """The form of the schema in the request: strict is without lengths, plain without limits. Replies
    are checked against the full schema."""
    decoding: dict[str, int | float] = {}
    """The sampling without the seed: temperature, max_tokens, top_p; refused fields are left out."""
    options: dict[str, JsonValue] = {}
    """The user's own fields of the request."""
    address: str = ""
    """The model with its address, if it has one."""
    served: str = ""
    """The model that the endpoint reports."""


class Call(Place):
    """One line of calls.jsonl: a call to a model, a reply from the cache, or a person's answer.

    A person's answer has no prompt and no model, and does not count in the sums.
    """

    key: str
    """The digest of the request, by which ``resume`` finds the reply."""
    repair: int = 0
    """0 for the call itself, 1 and 2 for its repairs."""
    prompt: Annotated[str, Field(pattern=r"^$|@[0-9]+$")]
    """Name and version of the prompt: ``my_debate/judge@1``."""
    model: str
    mark: str = ""
    """Distinguishes two endpoints at one address; see ``addresses.mark``."""
    seed: int
    attempts: int = 1
    started: str
    ended: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    finish: str | None = None
    reply: str | None = None
    error: str | None = None
    source: Literal["model", "cache", "person"] = "model"
    prompt_form: Literal["full", "medium", "small"] = "full"
    """The form of the prompt: the whole prompt, or its form for medium or small models."""
    sent: Sent | None = None
    """The request; None for a person's answer."""
    run: str | None = None
    """The id of the contested run, if the call was made in that run."""

    @model_serializer(mode="wrap")
    def _of_which_run(self, handler: SerializerFunctionWrapHandler) -> dict[str, JsonValue]:
        """Omit fields that few calls have: another run, a mark, a form for smaller models."""
        fields: dict[str, Any] = handler(self)
        if self.run is None:
            fields.pop("run")
        if not self.mark:
            fields.pop("mark")
        if self.prompt_form == "full":
            fields.pop("prompt_form")
        if self.sent is None:
            fields.pop("sent")
        else:
            usual = {"schema_shape": "full"}
            fields["sent"] = {
                name: value for name, value in fields["sent"].items() if value and value != usual.get(name)
            }
        return fields

    @property
    def void(self) -> bool:
        """Return whether the call failed and is made again."""
        return self.key.startswith(VOID)

    @property
    def own(self) -> bool:
        """Return whether the run itself made the call, not a person or a contested run."""
        return self.run is None and self.source != "person"

    def took_s(self) -> float:
        """Return the seconds from the call's start to its end, to the millisecond."""
        return round(max(0.0, moment(self.ended) - moment(self.started)), 3)

    def make_event_data(self) -> dict[str, JsonValue]:
        """Return the data of the call's event, without default values."""
        fields = {**self.__dict__, "seconds": self.took_s(), "failed": self.error is not None}
        more = {n: v for n, usual in _USUAL.items() if (v := fields[n]) != usual}
        return {**make_place_fields(self), **more}


_USUAL = {
    name: field.get_default() for name, field in Called.model_fields.items() if name not in Place.model_fields
}


def make_place_fields(place: Place) -> dict[str, JsonValue]:
    """Return the fields of ``place``, except the node, for the event of a call."""
    fields: dict[str, JsonValue] = {"phase": place.phase, "role": place.role}
    for name, usual in (("speaker", place.role), ("round", 0), ("step", 0), ("take", 1)):
        if (value := getattr(place, name)) != usual:
            fields[name] = value
    return fields


def own_calls(ledger: Iterable[Call]) -> list[Call]:
    """Return a run's own calls to models, without the calls of contested runs.

    Omits calls that had no reply and are made again: they cost nothing.
    """
    return [call for call in ledger if call.own and not (call.void and call.error)]


def usage(calls: Iterable[Call | Called]) -> Usage:
    """Return the sums of a ledger. ``cost`` is null if the cost of any call is unknown."""
    calls = list(calls)
    cached = [call for call in calls if call.source == "cache"]
    return Usage(
        calls=len(calls),
        calls_from_cache=len(cached),
        attempts=sum(call.attempts for call in calls),
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
        cached_tokens=sum(call.cached_tokens for call in calls),
        tokens_from_cache=sum(call.prompt_tokens + call.completion_tokens for call in cached),
        cost=_cost(calls) if calls else None,
        cost_from_cache=_cost(cached) if calls and _cost(calls) is not None else None,
    )


def _cost(calls: Iterable[Call | Called]) -> float | None:
    """Return the cost of all calls; None if the cost of one is unknown."""
    costs = [call.cost for call in calls]
    reported_costs = [cost for cost in costs if cost is not None]
    return round(sum(reported_costs), 9) if len(reported_costs) == len(costs) else None


def seconds(calls: Iterable[Call]) -> float:
    """Return the seconds in which at least one call was active; calls without times count 0."""
    return sum_covered_seconds((moment(call.started), moment(call.ended)) for call in calls)


def sum_covered_seconds(spans: Iterable[tuple[float, float]]) -> float:
    """Return the seconds covered by ``spans``; a span that begins at 0 does not count."""
    total = until = 0.0
    for began, ended in sorted(spans):
        if began:
            total += max(0.0, ended - max(began, until))
            until = max(until, ended)
    return round(total, 6)


def moment(stamp: str) -> float:
    """Return a time stamp in seconds since 1970; 0 if it cannot be read."""
    try:
        return datetime.fromisoformat(stamp).timestamp()
    except ValueError:
        return 0.0


def from_cache(calls: Iterable[Call]) -> Usage:
    """Return the sums of the calls that the reply cache answered."""
    return usage(call for call in calls if call.source == "cache")


def models(calls: Iterable[Call], roles: Collection[str]) -> dict[str, str]:
    """Return the models that spoke, by role; several models of a role are listed in one text.

    ``roles`` are the roles that can have their own model, such as one debater of two.
    """
    spoke: dict[str, dict[str, None]] = {}
    for call in calls:
        if call.sent is not None:
            speaker_role = f"{call.role}_{call.speaker}".lower()
            address = call.sent.address or call.model
            spoke.setdefault(speaker_role if speaker_role in roles else call.role, {})[address] = None
    names = [*(role for role in roles if role in spoke), *(role for role in spoke if role not in roles)]
    return {role: ", ".join(spoke[role]) for role in names}


def prompts(calls: Iterable[Call]) -> dict[str, int]:
    """Return the version of every prompt used; the newest if several versions were used."""
    labels = (call.prompt.rpartition("@") for call in calls if call.prompt)
    return dict(sorted((name, int(number)) for name, _, number in labels))


def chains(calls: Iterable[Call | Called]) -> dict[tuple[str, int, str], int]:
    """Count for each node, pass and stage the calls that had to follow one another.

    Calls side by side share stage and step; repairs follow the call that they repair.
    """
    steps: dict[tuple[str, int, str, int], dict[tuple[str, str, int], int]] = {}
    for call in calls:
        step = steps.setdefault((call.node, call.take, call.phase, call.step), {})
        speaker = (call.role, call.speaker, call.round)
        step[speaker] = step.get(speaker, 0) + 1
    chain: dict[tuple[str, int, str], int] = {}
    for (node, take, stage, _), speakers in steps.items():
        before = chain.get((node, take, stage), 0)
        chain[node, take, stage] = before + max(speakers.values())
    return chain


def critical_path(tree: Tree, calls: Iterable[Call | Called], order: PhaseOrder = UNORDERED) -> int:
    """Return the longest chain of calls from the root down and back up, repairs included.

    The children of a node are debated side by side, unless they are debated in turn or in rounds.
    For each protocol, ``order`` names the phases that run at the same time as the children, or as
    everything else. A second pass follows the first, so their chains add up.
    """
    chain = chains(calls)
    stages = {(node, take): set[str]() for node, take, _ in chain}
    for node, take, stage in chain:
        stages[node, take].add(stage)

    def below(node_id: str, take: int) -> int:
        node = tree.nodes.get(node_id)
        rounds: dict[int, int] = {}
        for place, child in enumerate(node.children if node else ()):
            child_node = tree.nodes.get(child)
            number = place if node and node.in_turn else child_node.round if child_node else 0
            rounds[number] = max(rounds.get(number, 0), below(child, take))
        lengths = {stage: chain[node_id, take, stage] for stage in stages.get((node_id, take), ())}
        protocol_order = order.get_protocol_order(node.protocol if node else "")
        beside_all = [lengths.pop(stage, 0) for stage in protocol_order.beside_all]
        beside_children = [lengths.pop(stage, 0) for stage in protocol_order.beside_children]
        for stage, main_stage in protocol_order.beside.items():
            if main_stage in lengths:
                lengths[main_stage] = max(lengths[main_stage], lengths.pop(stage, 0))
        longest = max([sum(rounds.values()), *beside_children])
        return max([sum(lengths.values()) + longest, *beside_all])

    return sum(below(tree.root, take) for take in {take for _, take, _ in chain})
