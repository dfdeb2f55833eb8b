"""Rehearse a debate: run its graph, and make up each reply from the schema of the request.

A rehearsal calls no model, and uses no cache and no budget. It finds the calls that the graph
makes, and the lengths of their messages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Literal

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from pydantic import JsonValue

from dialectree.errors import CallError
from dialectree.flow.human_input import Payload, answer_requests
from dialectree.models.asking import Completion, ModelRequest, offering
from dialectree.models.endpoints import Endpoint
from dialectree.models.run import Run
from dialectree.models.specs import Spec
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import Call, Event, Override
from dialectree.records.journal import Journal, Retrievals
from dialectree.system import chance

Draw = Literal["chance", "least", "most"]
"""How to draw: by chance, always the first choice and the least number, or always the last choice and
the largest number."""
WORDS = 12
"""Words of a made-up text, if no run shows the length of the model's texts."""
_ITEMS = (2, 4)
"""Least and most items of a list without limits in the schema."""
_DRAWS = 20
"""Most draws for one call until a reply is valid."""
_SHOWN = 1500
"""Number of characters at the end of a prompt. Made-up texts consist of words from there."""


Past = tuple[Journal, Sequence[Override], Path]
"""The past of a contest before its first call: its calls, the persons' changes, and the folder with
the texts of its sources."""


def _make_documents(query: str) -> list[Document]:
    """Return made-up texts of the usual length, different for each query."""
    sentence = f"{query[:80]} and some more words of a sentence that was never written"
    return [Document(f"{n}: {sentence}. " * 3, metadata={"source": f"{n}"}) for n in range(8)]


class Rehearsal(Run):
    """A run with made-up replies, which depend only on the seed. ``calls`` is its ledger."""

    def __init__(
        self,
        context: ProtocolSettings,
        seed: int,
        draw: Draw = "chance",
        words: int = WORDS,
        past: Past | None = None,
    ) -> None:
        journal, overrides, texts = past or (None, (), None)
        super().__init__("", context, journal, overrides)
        self.cache = None
        self.sources_at = texts
        if journal is not None:
            self._retrievals = journal.retrievals.copy_in_memory()
        self.stand_in = RunnableLambda(_make_documents)
        self.calls: list[Call] = []
        self.events: list[Event] = []
        self.slots = context.concurrency
        """Number of requests that the models accept at once."""
        self.hear = self._hear
        self._seed, self._words = seed, words
        self._draw: Draw = draw

    async def call(self, asking: ModelRequest) -> Call:
        """Return a made-up call. If no draw gives a valid reply, the reply is repaired as in a real run.

        In a contest, use a person's change first, then the journal, as in a real run.
        """
        if (past := self._find_override_reply(asking) or self._find_journal_call(asking)) is not None:
            if past.error is not None:
                raise CallError(past.error)
            return past
        self.slots = min(self.slots, asking.at_once)
        calls = (self._draw_call(asking, attempt) for attempt in range(_DRAWS))
        call = next(filter(asking.usable, calls), None) or self._draw_call(asking, 0)
        self.calls.append(call)
        return call

    @property
    def retrievals(self) -> Retrievals:
        """Return the past retrievals of the run, with made-up ones added."""
        return self._retrievals

    def endpoint(self, spec: Spec) -> Endpoint:
        """Return a new endpoint: the real one must not learn from made-up replies."""
        return Endpoint(spec)

    def _draw_call(self, asking: ModelRequest, attempt: int) -> Call:
        """Return a call with one drawn reply; only the first attempt may draw ``least`` or ``most``."""
        request = asking.adapt_to_prompt_form()
        prompt = "\n".join(content for _, content in request.messages)
        random = chance.draws(self._seed, *asking.place.spot(), asking.repair, attempt)
        draw: Draw = "chance" if attempt else self._draw
        words = re.findall(r"\w{2,}", prompt[-_SHOWN:])
        maker = ReplyMaker(random, draw, words, self._words)
        schema = offering(request.form, asking.sentence_names).full
        reply = json.dumps(maker.value(schema), ensure_ascii=False)
        done = Completion(
            text=reply, finish="stop", prompt_tokens=tokens(len(prompt)), completion_tokens=tokens(len(reply))
        )
        return asking.call(done, "", "model")

    async def answers(self, requests: Mapping[str, Payload]) -> dict[str, str]:
        """Return a made-up answer of a person to each request, by the request's id."""
        if self.journal is not None:
            return await answer_requests(requests, self.journal, self._answer, self.changes)
        return {name: self._answer(request) for name, request in requests.items()}

    def _answer(self, payload: Payload) -> str:
        """Return a possible answer of a person: one of the labels, or a few words."""
        random = chance.draws(self._seed, "person", payload["node"], payload["kind"])
        return random.choice(payload.get("labels", "all of them").split(", "))

    def _hear(self, data: Mapping[str, object]) -> int:
        self.events.append(Event.model_validate(data))
        return len(self.events)


def tokens(characters: int) -> int:
    """Return the tokens of a text from its length: four characters a token."""
    return -(-characters // 4)


class ReplyMaker:
    """Makes up values that fit a schema."""

    def __init__(self, random: Random, draw: Draw, vocabulary: list[str], words: int) -> None:
        self._random = random
        self._draw: Draw = draw
        self._vocabulary, self._words = vocabulary or ["word"], words

    def value(self, schema: Mapping[str, Any]) -> JsonValue:
        """Return a value that fits ``schema``, a schema of ``models.asking``."""
        if "const" in schema:
            constant: JsonValue = schema["const"]
            return constant
        if "enum" in schema:
            choices: list[JsonValue] = schema["enum"]
            return choices[self._draw_integer(0, len(choices) - 1)]
        if "anyOf" in schema:  # a value or null: most models give a value
            return self.value(next(branch for branch in schema["anyOf"] if branch.get("type") != "null"))
        match schema.get("type"):
            case "object":
                return {name: self.value(part) for name, part in schema["properties"].items()}
            case "array":
                return self._list(schema)
            case "boolean":
                return self._draw_integer(0, 1) == 1
            case "integer":
                return self._draw_integer(schema.get("minimum", 0), schema.get("maximum", 10))
            case "number":
                return round(self._between(schema.get("minimum", 0), schema.get("maximum", 1)), 4)
            case _:
                return self._text(schema)

    def _between(self, low: float, high: float) -> float:
        if self._draw == "chance":
            return self._random.uniform(low, high)
        return low if self._draw == "least" else high

    def _draw_integer(self, low: int, high: int) -> int:
        return min(high, int(self._between(low, high + 1)))

    def _list(self, schema: Mapping[str, Any]) -> list[JsonValue]:
        if "prefixItems" in schema:
            return [self.value(part) for part in schema["prefixItems"]]
        min_length, max_length = _ITEMS
        low = schema.get("minItems", min(min_length, schema.get("maxItems", min_length)))
        high = max(low, min(max_length, schema.get("maxItems", max_length)))
        return [self.value(schema["items"]) for _ in range(self._draw_integer(low, high))]

    def _text(self, schema: Mapping[str, Any]) -> str:
        """Return random words, whatever ``draw`` is, because two texts must differ."""
        shortest: int = schema.get("minLength", 0)
        longest: int | None = schema.get("maxLength")
        count = self._random.randint(-(-self._words // 2), self._words * 3 // 2)
        text = " ".join(self._random.choices(self._vocabulary, k=count))
        return text.ljust(shortest, ".")[:longest].strip()
