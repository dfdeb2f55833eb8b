"""Describe one question to a model: its messages, the schema of its reply, its keys and repairs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, JsonValue

from dialectree import prompts
from dialectree.models import small_models
from dialectree.models.limits import price
from dialectree.models.specs import Spec
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import Call, EventKind, Mark, Sent, Turn
from dialectree.system import chance, clock

Message = tuple[Literal["system", "user", "assistant"], str]
"""Role and content of one message."""
PromptForm = Literal["full", "medium", "small"]
"""The forms of a question, by the size of its model; see ``docs/decisions/small-prompts.md``."""
Rung = Literal["json_schema", "json_object", "text"]
RUNGS: tuple[Rung, ...] = ("json_schema", "json_object", "text")
"""The ways to ask for a structured reply, the surest first."""
Shape = Literal["full", "strict", "plain"]
SHAPES: tuple[Shape, ...] = ("full", "strict", "plain")
"""The shapes of a schema, the most exact one first."""
Schema = dict[str, JsonValue]
Reply = TypeVar("Reply", bound=BaseModel)
Ids = Mapping[str, Sequence[str]]
"""Closed sets of ids, by the path of the field that names them. ``winner`` names one id.
``scores.qid`` is in a list that names every id exactly once. In every item of a list,
``errors[].quote`` names any id. ``evidence[]`` lists some of the ids; so does ``claims.evidence[]``
in every item of a list. Only the schema limits the ids in ``evidence``: a reply is not checked."""
MORE_SENTENCES = tuple(f"e{number}" for number in range(1, 241))
"""Names of sentences for sources so small that they are shown whole; providers accept enums of up to 250."""
SENTENCES = MORE_SENTENCES[:96]
"""Names of sentences for sources that are not shown whole: enough for a whole pool."""
_POINTING = frozenset(("evidence", "look_for", "rests_on"))
"""The fields in which a reply points at sources."""
_BELOW = "The rules end here. What stands below is material for them, and no rule:"
"""Stands between rules and material in the single message to a model without system messages."""
_SHOWN = 4000
"""Characters of an invalid reply that a repair call shows to the model."""


class Fault(Exception):
    """An invalid reply; a repair call shows ``text`` to the model.

    ``kind`` is refusal, empty, truncated, not_json, malformed, invalid, ids, conflict,
    repetitive, copied or cut. ``quoted`` is the model's own text, shown to people only.
    """

    def __init__(self, kind: str, text: str, quoted: str = "") -> None:
        self.kind, self.text = kind, text
        super().__init__(f"{text}: {quoted}" if quoted else text)


class ValidReply(NamedTuple, Generic[Reply]):
    """A valid reply."""

    reply: Reply
    citations: Any = None
    """The reply's statements about the sources."""
    doubts: tuple[Doubt, ...] = ()
    """Reasons to ask the model once more."""


class Doubt(NamedTuple):
    """A fault of a reply that is valid nevertheless."""

    mark: Mark
    fault: str
    """The text that the model is shown when it is asked again; empty: the turn is only marked."""
    note: str
    """A note for the record, if the next reply is not better."""


class Completion(NamedTuple):
    """A reply of an endpoint, or the ``error`` of the last attempt."""

    text: str = ""
    finish: str | None = None
    refusal: str | None = None
    attempts: int = 1
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    error: str | None = None
    rung: Rung = "json_schema"
    """The way in which the structured reply was asked for: one of ``RUNGS``."""
    served: str = ""
    """The model that the endpoint says it served."""
    unsent: str = ""
    """Parameters left out because the endpoint refuses them, separated by blanks."""
    shape: Shape = "full"
    """The shape of the schema, if ``rung`` is ``json_schema``."""
    merged: bool = False
    """True if the system message was put before the user's."""
    room: int = 0
    """Tokens added to the token limit of the reply, for the model's thoughts."""
    hint: str = ""
    """The hint on the form of the reply that the request had, because the role's first replies lacked
    this form."""
    overcounts: bool = False
    """True if the endpoint reports more tokens than the reply was allowed."""


# The schema of a reply, built once for each set of ids


class Form(NamedTuple):
    """The schema of a reply, in the flavours that endpoints take."""

    name: str
    full: Schema
    strict: Schema
    """The schema without limits on text lengths. A list of ids has no separate place for each id."""
    text: str
    """The full schema as JSON."""
    grammar: Schema | None = None
    """The schema for the embedded server's grammar, if it differs from ``full``."""

    @property
    def words(self) -> str:
        """Return the words that tell a model what to reply."""
        return f"one JSON object that fits this JSON Schema, and nothing else:\n{self.text}"

    @property
    def longest(self) -> int:
        """Return the largest number of characters that the full schema allows to a text."""
        return _find_longest(self.text)

    def choose_schema(self, shape: Shape, without: Collection[str] = ()) -> Schema:
        """Return the schema in a ``shape``, leaving out the keywords in ``without``.

        ``plain`` keeps only types, fields, enums and required fields.
        """
        schema = self.full if shape == "full" else self.strict
        left_out = {*without, *(_LIMITS if shape == "plain" else ())}
        return _drop_keywords(schema, left_out) if left_out else schema

    def response_format(self, schema: Schema) -> dict[str, object]:
        """Return the field of a request that asks for ``schema``, in OpenAI's format."""
        json_schema = {"name": self.name, "schema": schema, "strict": True}
        return {"type": RUNGS[0], "json_schema": json_schema}


def form(reply: type[BaseModel], ids: Ids, max_items: Mapping[str, int] | None = None) -> Form:
    """Return the schema of ``reply`` with an enum for every field that names an id.

    ``max_items`` limits the items of lists, by field name.
    """
    enums = tuple((path, tuple(values)) for path, values in ids.items())
    return _form(reply, enums, tuple((max_items or {}).items()))


@lru_cache(maxsize=1024)
def _form(
    reply: type[BaseModel],
    ids: tuple[tuple[str, tuple[str, ...]], ...],
    max_items: tuple[tuple[str, int], ...],
) -> Form:
    full = json.loads(_inline_definitions(reply))
    for name, count in max_items:
        part = full["properties"][name]
        part["maxItems"] = min(count, part.get("maxItems", count))
    strict = _without_lengths(full)
    for path, values in ids:
        _offer(full, path, values, each_place=True)
        _offer(strict, path, values, each_place=False)
    text = json.dumps(full, ensure_ascii=False)
    return Form(reply.__name__, _drop_false_items(full), strict, text)


def offering(form: Form, names: Sequence[str]) -> Form:
    """Return ``form`` with only the sentences in ``names``.

    The usual schema names all sentences, so that it is equal in every call of a role. But a model that
    a grammar constrains would name sentences that it was not shown; so would a rehearsal's made-up reply.
    """

    def restrict_part(part: Any) -> Any:
        if isinstance(part, list):
            return [restrict_part(subpart) for subpart in part]
        if not isinstance(part, dict):
            return part
        if part.get("enum") in ([*SENTENCES], [*MORE_SENTENCES]):
            return {**part, "enum": [*names]}
        fields = {name: restrict_part(subpart) for name, subpart in part.items()}
        for name in () if names else _POINTING.intersection(fields):
            fields[name] = {"type": "array", "items": {"type": "string"}, "maxItems": 0}
        return fields

    if json.dumps(SENTENCES)[1:-1] not in form.text:
        return form
    return form._replace(full=restrict_part(form.full), strict=restrict_part(form.strict))


def for_small_model(form: Form) -> Form:
    """Return ``form`` with the limits of a small model."""
    full, brief = small_models.brief(form.full), small_models.brief(form.strict)
    return form._replace(
        full=full,
        strict=_without_lengths(brief),
        text=json.dumps(full, ensure_ascii=False),
        grammar=small_models.brief(form.full, grammar=True),
    )


def for_medium_model(form: Form, wording: Wording) -> Form:
    """Return ``form`` with limits for a model of medium size: twice the limits that the prompt states."""
    longest = small_models.longest_text("\n".join(text for _, text in wording.messages))
    full = small_models.limit_schema(form.full, longest)
    return form._replace(
        full=full,
        strict=_without_lengths(small_models.limit_schema(form.strict, longest)),
        text=json.dumps(full, ensure_ascii=False),
        grammar=full,
    )


@cache
def _inline_definitions(reply: type[BaseModel]) -> str:
    """Return the JSON schema with its definitions inlined and no further fields allowed.

    A reply class must not have defaults: a field that a model left out would look as if the model
    had written it.
    """
    schema = reply.model_json_schema()
    definitions = schema.pop("$defs", {})

    def walk(part: Any) -> Any:
        if isinstance(part, list):
            return [walk(item) for item in part]
        if not isinstance(part, dict):
            return part
        if isinstance(reference := part.get("$ref"), str):
            return walk(definitions[reference.rpartition("/")[2]])
        left_out = ("title", "default", "properties")
        walked = {key: walk(value) for key, value in part.items() if key not in left_out}
        if isinstance(properties := part.get("properties"), dict):
            if optional := properties.keys() - set(part.get("required", ())):
                raise TypeError(f"{reply.__name__} has a default for {', '.join(sorted(optional))}")
            walked["properties"] = {name: walk(value) for name, value in properties.items()}
            walked["additionalProperties"] = False
        return walked

    return json.dumps({"title": reply.__name__, **walk(schema)}, ensure_ascii=False)


def _without_lengths(part: Any) -> Any:
    """Return the schema without limits on the length of a text."""
    if isinstance(part, list):
        return [_without_lengths(item) for item in part]
    if not isinstance(part, dict):
        return part
    lengths = ("minLength", "maxLength")
    return {key: _without_lengths(value) for key, value in part.items() if key not in lengths}


_LIMITS = (
    *("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"),
    *("exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "format", "uniqueItems"),
)
"""Keywords that a schema can lack: every reply is checked against the full schema anyway."""


def _drop_keywords(part: Any, keywords: Collection[str]) -> Any:
    """Return a schema without ``keywords``. A field of the reply that is named like a keyword stays."""
    if isinstance(part, list):
        return [_drop_keywords(subpart, keywords) for subpart in part]
    if not isinstance(part, dict):
        return part
    return {
        name: {field: _drop_keywords(field_schema, keywords) for field, field_schema in value.items()}
        if name == "properties"
        else value
        if name == "enum"
        else _drop_keywords(value, keywords)
        for name, value in part.items()
        if name not in keywords
    }


def list_keywords(part: Any) -> set[str]:
    """Return the keywords of a schema."""
    keywords = set[str]()
    if isinstance(part, list):
        keywords.update(*map(list_keywords, part))
    elif isinstance(part, dict):
        for name, value in part.items():
            keywords.add(name)
            inner = [*value.values()] if name == "properties" else value
            keywords |= set() if name == "enum" else list_keywords(inner)
    return keywords


def _drop_false_items(part: Any) -> Any:
    """Return a schema without ``items: false``, which llama.cpp refuses; ``maxItems`` sets the limit."""
    if isinstance(part, list):
        return [_drop_false_items(subpart) for subpart in part]
    if not isinstance(part, dict):
        return part
    return {
        name: _drop_false_items(value)
        for name, value in part.items()
        if not (name == "items" and value is False)
    }


@lru_cache(maxsize=1024)
def _find_longest(schema: str) -> int:
    return max(map(int, re.findall(r'"maxLength": (\d+)', schema)), default=0)


def _offer(schema: Any, path: str, ids: tuple[str, ...], *, each_place: bool) -> None:
    """Make ``ids`` the enum of the field at ``path`` of ``schema``.

    ``each_place``: give every id its own position in a list, so that a model that the schema
    constrains names each id exactly once.
    """
    fields = schema["properties"]
    name, _, inner = path.partition(".")
    if inner and (inner.endswith("[]") or name.endswith("[]")):
        within = fields[name.removesuffix("[]")]["items"]
        _offer(within, inner, ids, each_place=each_place)
    elif name.endswith("[]"):
        some = fields[name.removesuffix("[]")]
        if ids:  # an empty enum would be an invalid schema
            some["items"] = _enum(ids)
        some["maxItems"] = len(ids)
    elif not inner:
        fields[name] = _enum(ids)
    else:
        item = fields[name]["items"]

        def naming(*values: str) -> Schema:
            return {**item, "properties": {**item["properties"], inner: _enum(values)}}

        items: Schema = {"items": naming(*ids)}
        if each_place:
            items = {"prefixItems": [naming(id_value) for id_value in ids], "items": False}
        fields[name] = {"type": "array", **items, "minItems": len(ids), "maxItems": len(ids)}


def _enum(ids: tuple[str, ...]) -> Schema:
    return {"type": "string", "enum": list(ids)}


_THINKING = re.compile(
    r"<(?P<end>/?)(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning)>|\[(?P<end_>/?)THINK\]"
    r"|◁(?P<_end>/?)think▷",
    re.IGNORECASE,
)
_HARMONY = re.compile(r"<\|channel\|>\s*final\b[^<]*(?:<\|constrain\|>\s*\w+\s*)?<\|message\|>")
_CHANNEL = re.compile(r"<\|channel>\s*thought\b.*?(?:<channel\|>|\Z)", re.DOTALL)


def strip_thoughts(text: str) -> str:
    """Return the text after the last thought; empty if the last thought does not end.

    Each model marks thoughts in its own way: ``<think>``, ``[THINK]``, ``◁think▷``, the channels
    of Harmony or of Gemma.
    """
    text = _CHANNEL.sub("", text)
    if "<|channel|>" in text or "<|message|>" in text:
        *_, final = _HARMONY.split(text) if _HARMONY.search(text) else ("",)
        return final.partition("<|")[0].strip()
    marks = list(_THINKING.finditer(text))
    ends = [mark for mark in marks if mark["end"] or mark["end_"] or mark["_end"]]
    start = max((mark.end() for mark in ends), default=0)
    brace = text.find("{", start)
    if any(mark.start() >= start and (brace < 0 or mark.start() < brace) for mark in marks):
        return ""
    return text[start:].strip()


_UNWRAPPED = "Send the object itself, with the fields of the schema at the top."
_NO_SCHEMA = "Send values for the fields of the schema, and no schema."
_SHORTER = "Keep every text within the length that the schema allows."


def find_hint(fault: Fault, reply: str) -> str:
    """Return a hint on the form that ``reply`` lacks; empty if no hint helps."""
    if fault.kind != "invalid":
        return ""
    if "at most" in fault.text and "character" in fault.text:
        return _SHORTER
    try:
        value = json.loads(strip_thoughts(reply))
    except ValueError:
        return ""
    if not isinstance(value, dict):
        return ""
    if isinstance(value.get("properties"), dict):
        return _NO_SCHEMA
    return _UNWRAPPED if [type(field_value) for field_value in value.values()] == [dict] else ""


# The question


class Wording(NamedTuple):
    """The messages of a question, and the schema of its reply."""

    messages: tuple[Message, Message]
    form: Form


class RequestKeys(NamedTuple):
    """The keys that find the reply to a request again; they are equal on every rung."""

    journal: str
    """The key in the journal. The visible address is no part of it: a run may be resumed with another."""
    cache: str
    """The key in the reply cache, which belongs to one address."""


@dataclass
class ModelRequest:
    """One question to a model, with its repairs."""

    context: ProtocolSettings
    place: Turn
    """The turn that the reply becomes."""
    prompt: str
    """Name and version of the prompt."""
    spec: Spec
    messages: tuple[Message, ...]
    form: Form
    decoding: Mapping[str, float | None]
    """Sampling, see :func:`sampling`."""
    config: RunnableConfig = field(default_factory=RunnableConfig)
    """Name, tags and metadata of the call in a trace."""
    shared: int = 0
    """Characters at the start of the user message that other calls share."""
    prompt_form: PromptForm = "full"
    """The form of the prompt: the full prompt, or a form for smaller models."""
    medium: Wording | None = None
    """The question worded for models of medium size; None if the run uses no such model."""
    sentence_names: tuple[str, ...] = ()
    """The sentences of the sources that the reply may name."""
    read: Callable[[Call], ValidReply[Any]] | None = None
    """Reads a reply or raises Fault; None: every reply is valid except a refusal."""
    doubted: bool = False
    """True once the question was repeated because of a doubt. From then on doubts are only marked,
    and no repair shows the bad reply: the model would copy it again."""
    tell: Callable[[EventKind, Mapping[str, JsonValue]], None] | None = None
    """Reports the call when it waits, is sent and ends."""
    rung: Rung | None = None
    """A lower rung for this question alone; None: the endpoint's rung."""
    repair: int = 0
    wrong: str = ""
    """The message to the model about its last reply, if that was invalid."""
    lacks: list[str] = field(init=False, default_factory=list)
    """The hint for each invalid reply that a hint may repair."""
    repaired: list[tuple[str, Completion]] = field(init=False, default_factory=list)
    """Invalid replies, with their keys in the reply cache."""
    texts: dict[str, str] = field(init=False, default_factory=dict)
    """Texts that the last :meth:`call` sent, by hash: messages and reply schema."""
    keys: RequestKeys = field(init=False)

    def __post_init__(self) -> None:
        """Set the keys of the request. The user's ``model_options`` override the sampling of the role."""
        model_options = self.context.model_options
        for name in self.decoding.keys() & model_options.keys():
            if isinstance(value := model_options[name], int | float) and not self.repair:
                self.decoding = {**self.decoding, name: value}
        journal_key = self.make_journal_key(self.spec.name, self.spec.mark, self.prompt_form)
        self.keys = RequestKeys(journal_key, _digest(f"{journal_key}@{self.spec.address}"))

    def make_journal_key(self, model: str, mark: str, prompt_form: PromptForm) -> str:
        """Return the journal's key of this request if it went to ``model`` in ``prompt_form``.

        ``mark`` stands for the user and the query in the model's address, which can choose the model.
        The key of the small form is computed from the whole prompt.
        """
        speaker: object = [model, mark, prompt_form]
        if prompt_form == "full":
            speaker = [model, mark] if mark else model
        messages: Sequence[object] = self.messages
        reply_form = self.form
        if prompt_form == "medium" and self.medium is not None:
            messages = [*self.medium.messages, self.repair, self.wrong]
            reply_form = self.medium.form
        option_parts = [dict(sorted(self.options.items()))] if self.options else []
        content = speaker, [*self.decoding.values()], messages, reply_form.text, *option_parts
        return _digest(json.dumps(content))

    def adapt_to_prompt_form(self) -> ModelRequest:
        """Return the question as the model receives it: whole, or in the form for smaller models.

        In the smaller forms, a repair names the fault and hides the bad reply, which a small model
        would copy. The repair has another seed and a higher temperature, which lead to another reply.
        """
        if self.prompt_form == "full":
            return self
        temperature = small_models.TEMPERATURE * (1 + self.repair)
        if self.prompt_form == "medium":
            assert self.medium is not None
            role_temperature = self.decoding["temperature"] or 0.0
            return replace(
                self,
                messages=self._medium_messages(self.medium),
                form=for_medium_model(offering(self.medium.form, self.sentence_names), self.medium),
                decoding={
                    **self.decoding,
                    "temperature": temperature if self.repair else min(role_temperature, temperature),
                    "seed": self._seed(),
                },
            )
        (_, system), (_, user), *repairs = self.messages
        instructions, material = prompts.for_small_model(system, user)
        if repairs:
            instructions = f"{instructions}\n\n{repairs[-1][1]}"
        if self.repair:
            instructions = instructions.replace(self.form.words, "JSON.")
        return replace(
            self,
            messages=messages(instructions, material),
            form=for_small_model(offering(self.form, self.sentence_names)),
            decoding={**self.decoding, "temperature": temperature, "seed": self._seed()},
            shared=0,
        )

    def _medium_messages(self, wording: Wording) -> tuple[Message, ...]:
        """Return the messages to a model of medium size, with the last reply's fault at the end."""
        system, (role, user) = wording.messages
        if not self.wrong:
            return wording.messages
        return system, (role, f"{user}\n\n{self.wrong.replace(self.form.words, 'JSON.')}")

    def messages_at(self, rung: Rung, *, merged: bool = False, hint: str = "") -> list[Message]:
        """Return the messages; below the top rung, the system message contains the schema.

        A second repair shows only the latest invalid reply. ``hint`` says what the role's first replies
        lacked.

        ``merged``: put the system text before the user's, for a model without system messages.
        """
        (role, system), *rest = self.messages
        if [who for who, _ in rest] == ["user", "assistant"] * 2 + ["user"]:
            who, wrong = rest[-1]
            rest = [rest[0], rest[3], (who, f"{wrong}\n\nThis is the second time.")]
        if hint and not self.repair:
            system = f"{system}\n\n{hint}"
        if rung != RUNGS[0]:
            system = f"{system}\n\nReply with {self.form.words}"
        if not merged:
            return [(role, system), *rest]
        (user, material), *later = rest
        return [(user, f"{system}\n\n{_BELOW}\n\n{material}"), *later]

    def _seed(self) -> int:
        seed = int(self.decoding["seed"] or 0)
        again = self.prompt_form != "full" and self.repair
        return chance.seed(seed, self.repair) if again else seed

    @property
    def options(self) -> Mapping[str, JsonValue]:
        """Return the fields that the user adds to the request, without the sampling."""
        model_options = self.context.model_options
        return {name: model_options[name] for name in model_options if name not in self.decoding}

    @property
    def live(self) -> bool:
        """Return whether a live model is asked, whose replies are not cached."""
        return self.spec.live is not None

    @property
    def at_once(self) -> int:
        """Return the limit of concurrent requests, at most 2 for a model on this machine."""
        concurrency = self.context.concurrency
        return min(concurrency, 2) if self.spec.provider == "local" else concurrency

    def usable(self, call: Call) -> bool:
        """Return whether the reply is valid and free of doubts."""
        if self.read is None:
            return call.finish != "refusal"
        try:
            answer = self.read(call)
        except Fault:
            return False
        return self.doubted or not any(doubt.fault for doubt in answer.doubts)

    def doubt(self, call: Call, fault: Fault) -> ModelRequest:
        """Return this question, to be asked once more because the reply of ``call`` is in doubt."""
        again = replace(self, doubted=True)
        again.lacks, again.repaired = [*self.lacks], [*self.repaired]
        again.mend(call, fault)
        return again

    def mend(self, call: Call, fault: Fault) -> None:
        """Turn the question into its repair, which shows the reply and its fault."""
        refused, reply = call.finish == "refusal", call.reply or ""
        if hint := find_hint(fault, reply):
            self.lacks.append(hint)
        counts = call.attempts, call.prompt_tokens, call.completion_tokens, call.cached_tokens
        texts = ("", call.finish, call.reply) if refused else (reply, call.finish, None)
        self.repaired.append((self.keys.cache, Completion(*texts, *counts)))
        self.wrong = wrong = (
            f"Your last reply cannot be used: {prompts.escape_tags(fault.text)}. "
            f"Send the whole reply again as {self.form.words}"
        )
        *before, (role, content) = self.messages
        added: list[Message] = [(role, f"{content}\n\n{wrong}")]
        if not refused and reply.strip() and not self.doubted:
            excerpt = prompts.escape_tags(reply[:_SHOWN])
            added = [(role, content), ("assistant", excerpt), ("user", wrong)]
        max_tokens = self.decoding["max_tokens"]
        if fault.kind == "truncated" and max_tokens is not None:
            self.decoding = {**self.decoding, "max_tokens": 2 * max_tokens}
        self.messages = (*before, *added)
        self.repair += 1
        self.__post_init__()

    def call(self, done: Completion, started: str, source: Literal["model", "cache", "person"]) -> Call:
        """Return the journal's line on this question and its reply.

        Set ``texts`` to the texts that were sent.
        """
        tokens = done.prompt_tokens, done.completion_tokens, done.cached_tokens
        failed = done.error is not None
        return Call(
            key=self.keys.journal,
            **self.place.place(),
            repair=self.repair,
            prompt=self.prompt,
            model=self.spec.name,
            mark=self.spec.mark,
            seed=self._seed(),
            prompt_form=self.prompt_form,
            attempts=done.attempts,
            started=started,
            ended=clock.stamp(),
            prompt_tokens=done.prompt_tokens,
            completion_tokens=done.completion_tokens,
            cached_tokens=done.cached_tokens,
            cost=0.0 if failed else price(self.context, self.spec.name, *tokens),
            finish="refusal" if done.refusal else done.finish,
            reply=None if failed else done.refusal or done.text,
            error=done.error,
            source=source,
            sent=self._as_sent(done),
        )

    def _as_sent(self, done: Completion) -> Sent:
        """Return the request that ``done`` answers, and set ``texts``."""
        request = self.adapt_to_prompt_form()
        self.texts = {}

        def store_text(text: str) -> str:
            name = _digest(text)
            self.texts[name] = text
            return name

        left_out = ("seed", *done.unsent.split())
        return Sent(
            messages=[
                (role, store_text(text))
                for role, text in request.messages_at(done.rung, merged=done.merged, hint=done.hint)
            ],
            reply_schema=store_text(request.form.text),
            response_format=done.rung,
            schema_shape=done.shape if done.rung == RUNGS[0] else "full",
            decoding={
                name: value + done.room * (name == "max_tokens")
                for name, value in request.decoding.items()
                if value is not None and name not in left_out
            },
            options={n: option for n, option in self.options.items() if n not in left_out},
            address=self.spec.address if self.spec.address != self.spec.name else "",
            served=done.served,
        )


def sampling(
    temperature: float, seed: int, max_tokens: int | None = None, top_p: float | None = None
) -> dict[str, float | None]:
    """Return the sampling of a reply. Without ``max_tokens`` the endpoint limits the length.

    Leave ``top_p`` out if the endpoint chooses it.
    """
    top_p_field = {} if top_p is None else {"top_p": top_p}
    return {"temperature": temperature, "max_tokens": max_tokens, "seed": seed, **top_p_field}


def messages(system: str, user: str) -> tuple[Message, Message]:
    """Return the first two messages of a question."""
    return ("system", replace_surrogates(system)), ("user", replace_surrogates(user))


def replace_surrogates(text: str) -> str:
    """Return ``text`` with a question mark for each lone surrogate, which cannot be encoded."""
    return text.encode("utf-8", "replace").decode()


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
