"""Describe one question to a model: whom to ask, what, and where the reply belongs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal

from dialectree import prompts
from dialectree.models.endpoints import (
    Completion,
    Endpoint,
    Message,
    Request,
    Rung,
    wellformed,
)
from dialectree.models.forms import for_small_model
from dialectree.models.limits import price
from dialectree.models.replies import Fault
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import Call, Turn
from dialectree.system import chance, clock
from dialectree.trace.events import Pause

SMALL_TEMPERATURE = 0.3
"""The temperature of a small model. Each repair adds as much."""
_SHOWN = 4000
"""Characters of an invalid reply that a repair call shows to the model."""


@dataclass
class Asking:
    """One question to a model, with its repairs."""

    context: ProtocolSettings
    place: Turn
    """The turn that the reply becomes."""
    prompt: str
    """Name and version of the prompt."""
    endpoint: Endpoint
    request: Request
    repair: int = 0
    rung: Rung | None = None
    """A lower rung for this question alone; None: the one that serves the endpoint."""
    read: Callable[[Call], object] | None = None
    """Reads a reply, or raises a Fault; None: every reply can be used but a refusal."""
    pause: Pause | None = None
    """Pauses between its tries; None: the clock does."""
    small: bool = False
    """True where the model is asked in the form for small models."""
    repaired: list[tuple[str, Completion]] = field(init=False, default_factory=list)
    """Replies that cannot be used, by their keys in the reply cache."""
    key: str = field(init=False)
    """What names the request in the journal."""
    cache_key: str = field(init=False)
    """What names it in the reply cache."""

    def __post_init__(self) -> None:
        self._set_keys()

    def _set_keys(self) -> None:
        """Set the keys of the request, which are the same on every rung.

        The journal's key leaves the shown address out, so that a run can be resumed elsewhere. The
        mark of user and query is part of it: they choose among the models at one address.
        """
        spec = self.endpoint.spec
        self.key = self.key_for(spec.name, spec.mark, small=self.small)
        self.cache_key = _digest(f"{self.key}@{spec.address}")

    def key_for(self, model: str, mark: str = "", *, small: bool = False) -> str:
        """Return the journal's key of the request to ``model`` at an address with that ``mark``.

        ``small``: in the form for small models.
        """
        request = self.request
        name = [model, mark, "small"] if small else [model, mark] if mark else model
        return _digest(
            json.dumps((name, request.decoding.key(), request.messages, request.form.text))
        )

    def sent(self) -> Request:
        """Return the request as the model gets it: whole, or in the form for small models.

        There a repair names the fault behind the instructions. It does not show the bad reply,
        which a small model would copy. Another seed and a higher temperature lead it elsewhere.
        """
        if not self.small:
            return self.request
        request, seed = self.request, self.request.decoding.seed
        temperature = SMALL_TEMPERATURE * (1 + self.repair)
        (_, system), (_, user), *repairs = request.messages
        instructions, material = prompts.for_small_model(system, user)
        if repairs:
            instructions = f"{instructions}\n\n{repairs[-1][1]}"
        if self.repair:
            instructions = instructions.replace(request.form.words, "JSON.")
            seed = chance.seed(seed, self.repair)
        return request._replace(
            messages=messages(instructions, material),
            form=for_small_model(request.form),
            decoding=request.decoding._replace(seed=seed, temperature=temperature),
            shared=0,
            small=True,
        )

    @property
    def live(self) -> bool:
        """Return whether a live model is asked, which no cache can name."""
        return self.endpoint.spec.live is not None

    def model(self) -> dict[str, object]:
        """Return what LangSmith shows of the model, by its names."""
        spec, decoding = self.endpoint.spec, self.request.decoding
        return {
            "ls_provider": spec.provider,
            "ls_model_name": spec.model,
            "ls_model_type": "chat",
            "ls_temperature": decoding.temperature,
        }

    @property
    def at_once(self) -> int:
        """Return the limit of requests under way; a model on this machine answers two at once."""
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
        """Turn the question into its repair, which shows the reply and what is wrong with it."""
        self.repaired.append((self.cache_key, _completion(call)))
        wrong = (
            f"Your last reply cannot be used: {prompts.disarmed(fault.text)}. "
            f"Send the whole reply again as {self.request.form.words}"
        )
        *before, (role, content) = self.request.messages
        added: list[Message] = [(role, f"{content}\n\n{wrong}")]
        if call.finish != "refusal" and (call.reply or "").strip():
            shown = prompts.disarmed((call.reply or "")[:_SHOWN])
            added = [(role, content), ("assistant", shown), ("user", wrong)]
        decoding = self.request.decoding
        if fault.kind == "truncated" and decoding.max_tokens is not None:
            decoding = decoding._replace(max_tokens=2 * decoding.max_tokens)
        if fault.kind == "not_json" and not self.endpoint.rung_known:
            # An endpoint that sends prose may not know this way of asking.
            rung = self.rung or self.endpoint.rung
            self.rung = self.endpoint.below(rung) or rung
        self.repair += 1
        self.request = self.request._replace(messages=(*before, *added), decoding=decoding)
        self._set_keys()

    def learn_the_rung(self) -> None:
        """Remember that the endpoint knows the rung of a valid reply."""
        if self.rung is not None and not self.endpoint.rung_known:
            self.endpoint.rung = self.rung
        self.endpoint.rung_known = True

    async def send(self) -> Completion:
        """Return the endpoint's reply, or why there is none."""
        return await self.endpoint.complete(self.sent(), self.rung, self.pause)

    def call(
        self, done: Completion, started: str, source: Literal["model", "cache", "person"]
    ) -> Call:
        """Return the line of the journal on what was asked and what came back."""
        place, spec = self.place, self.endpoint.spec
        tokens = done.prompt_tokens, done.completion_tokens, done.cached_tokens
        failed = done.error is not None
        return Call(
            key=self.key,
            **place.place(),
            repair=self.repair,
            prompt=self.prompt,
            model=spec.name,
            mark=spec.mark,
            seed=self.sent().decoding.seed,
            prompt_form="small" if self.small else "full",
            attempts=done.attempts,
            started=started,
            ended=clock.stamp(),
            prompt_tokens=done.prompt_tokens,
            completion_tokens=done.completion_tokens,
            cached_tokens=done.cached_tokens,
            cost=0.0 if failed else price(self.context, spec.name, *tokens),
            finish="refusal" if done.refusal else done.finish,
            reply=None if failed else done.refusal or done.text,
            error=done.error,
            source=source,
        )


def _completion(call: Call) -> Completion:
    """Return the reply in ``call``, as the reply cache keeps it."""
    refused = call.finish == "refusal"
    return Completion(
        text="" if refused else call.reply or "",
        finish=call.finish,
        refusal=call.reply if refused else None,
        attempts=call.attempts,
        prompt_tokens=call.prompt_tokens,
        completion_tokens=call.completion_tokens,
        cached_tokens=call.cached_tokens,
    )


def messages(system: str, user: str) -> tuple[Message, ...]:
    """Return the messages that begin a question."""
    return ("system", wellformed(system)), ("user", wellformed(user))


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
