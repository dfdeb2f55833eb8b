"""One question to a model: whom to ask, what, and where in a debate the answer belongs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal, NamedTuple

from dialectree import chance, clock, prompts
from dialectree.context import ProtocolSettings
from dialectree.models.endpoints import (
    RUNGS,
    Completion,
    Course,
    Endpoint,
    Message,
    Request,
    Rung,
    Sleep,
    wellformed,
)
from dialectree.models.limits import price
from dialectree.models.replies import Fault
from dialectree.records import Call

_SHOWN = 4000
"""Characters of an invalid reply that a repair call shows to the model."""


class Place(NamedTuple):
    """Where in a debate a call belongs. Calls made side by side share stage and step."""

    node: str
    role: str
    stage: str
    step: int
    round: int = 0
    take: int = 1
    """1 for the first pass over the tree, 2 for a second one."""
    who: str = ""
    """The speaker's name where two play one role: ``A``, ``concise``."""
    side: str | None = None
    """What the speaker has to defend, where that is laid down: ``YES``."""
    label: str | None = None
    """The label of that, where it has one: ``B``."""
    called: str = ""
    """What traces and failures call the speaker, where that is not ``who``: a debater's label."""

    def spot(self) -> tuple[str, str, str, int, int, str]:
        """What tells this place from every other one of a run; as ``records.Call.spot``."""
        who = self.who or self.role
        return self.node, self.stage, self.role, self.round, self.take, who

    def seed(self, run_seed: int) -> int:
        """The seed of this call: made from the run's seed, node, role (and name), and sample."""
        return chance.seed(run_seed, self.node, self.role, self.who, self.take)


@dataclass
class Asking:
    """One question to a model, with its repairs."""

    context: ProtocolSettings
    place: Place
    prompt: str
    """Name and version of the prompt."""
    endpoint: Endpoint
    request: Request
    repair: int = 0
    rung: Rung | None = None
    """A lower rung for this question alone; None: the one that serves the endpoint."""
    read: Callable[[Call], object] | None = None
    """Reads a reply, or raises a Fault; None: every reply can be used but a refusal."""
    sleep: Sleep | None = None
    """Pauses between its tries; None: the clock does."""
    repaired: list[tuple[str, Completion]] = field(init=False, default_factory=list)
    """Replies that could not be used, by their keys in the reply cache."""
    course: Course = field(init=False, default_factory=Course)
    """How far the call has come that asks it."""
    key: str = field(init=False)
    """What names the request in the journal."""
    cache_key: str = field(init=False)
    """What names it in the reply cache."""

    def __post_init__(self) -> None:
        self._name_keys()

    def _name_keys(self) -> None:
        """As the request is meant, whatever rung carries it.

        The journal's key leaves the shown address out, so that a run can be resumed elsewhere. The
        mark of user and query is part of it: they choose among the models at one address.
        """
        spec = self.endpoint.spec
        self.key = self.key_for(spec.name, spec.mark)
        self.cache_key = _digest(f"{self.key}@{spec.address}")

    def key_for(self, model: str, mark: str = "") -> str:
        """The journal's key of the same request to ``model`` at an address with that ``mark``."""
        request = self.request
        whom = [model, mark] if mark else model
        return _digest(
            json.dumps((whom, request.decoding.given(), request.messages, request.form.text))
        )

    @property
    def live(self) -> bool:
        """Whether a caller's own model is asked: what it is made of cannot be told from outside."""
        return self.endpoint.spec.live is not None

    @property
    def at_once(self) -> int:
        """Requests under way at once. A machine's own model answers two; more would only queue."""
        most = self.context.concurrency
        return min(most, 2) if self.endpoint.spec.provider == "local" else most

    def usable(self, call: Call) -> bool:
        """Return whether the reply can be used as it is."""
        if self.read is None:
            return call.finish != "refusal"
        try:
            self.read(call)
        except Fault:
            return False
        return True

    def mend(self, call: Call, fault: Fault) -> None:
        """Ask again, showing what came and what was wrong with it."""
        done = _completion(call)
        self.repaired.append((self.cache_key, done))
        words = self.request.form.words
        wrong = (
            f"Your last reply cannot be used: {prompts.disarmed(fault.text)}. "
            f"Send the whole reply again as {words}"
        )
        *before, last = self.request.messages
        if done.text.strip():
            said = Message("assistant", prompts.disarmed(done.text[:_SHOWN]))
            asked = (*before, last, said, Message("user", wrong))
        else:
            asked = (*before, Message(last.role, f"{last.content}\n\n{wrong}"))
        decoding = self.request.decoding
        if fault.kind == "truncated" and decoding.max_tokens is not None:
            decoding = decoding._replace(max_tokens=2 * decoding.max_tokens)
        if fault.kind == "not_json":
            self._doubt_the_rung()
        self.repair += 1
        self.course = Course()
        self.request = self.request._replace(messages=asked, decoding=decoding)
        self._name_keys()

    def _doubt_the_rung(self) -> None:
        """Prose: the endpoint may not know this rung. Ask this question one lower."""
        rung = self.rung or self.endpoint.rung
        if rung != RUNGS[-1] and not self.endpoint.rung_held:
            self.rung = RUNGS[RUNGS.index(rung) + 1]

    def learn_the_rung(self) -> None:
        """A valid reply came: the endpoint knows the rung it was asked at."""
        if self.rung is not None and not self.endpoint.rung_held:
            self.endpoint.rung = self.rung
        self.endpoint.rung_held = True

    async def send(self) -> Completion:
        """What the endpoint says, or why it says nothing."""
        return await self.endpoint.complete(self.request, self.rung, self.course, self.sleep)

    def call(
        self, done: Completion, started: str, source: Literal["model", "cache", "person"]
    ) -> Call:
        """The line of the journal that says what was asked and what came back."""
        place, model = self.place, self.endpoint.spec.name
        tokens = done.prompt_tokens, done.completion_tokens, done.cached_tokens
        cost = price(self.context, model, *tokens)
        return Call(
            key=self.key,
            node=place.node,
            role=place.role,
            who=place.who,
            round=place.round,
            take=place.take,
            stage=place.stage,
            step=place.step,
            repair=self.repair,
            prompt=self.prompt,
            model=model,
            mark=self.endpoint.spec.mark,
            seed=self.request.decoding.seed,
            attempts=done.attempts,
            started=started,
            ended=clock.stamp(),
            prompt_tokens=done.prompt_tokens,
            completion_tokens=done.completion_tokens,
            cached_tokens=done.cached_tokens,
            cost=0.0 if done.error is not None else cost,
            finish="refusal" if done.refusal else done.finish,
            reply=None if done.error is not None else done.refusal or done.text,
            error=done.error,
            source=source,
        )


def _completion(call: Call) -> Completion:
    """Return what came back in ``call``."""
    refused = call.finish == "refusal"
    return Completion(
        "" if refused else call.reply or "",
        call.finish,
        call.reply if refused else None,
        call.attempts,
        call.prompt_tokens,
        call.completion_tokens,
        call.cached_tokens,
    )


def messages(system: str, user: str) -> tuple[Message, ...]:
    """The messages that begin a question."""
    return Message("system", wellformed(system)), Message("user", wellformed(user))


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
