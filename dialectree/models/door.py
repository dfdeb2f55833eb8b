"""Ask a model for a reply, and read it: every question to a model goes through :func:`ask`.

A reply counts only if it validates as it stands: a value out of range is not clamped, a text that
was cut off is not completed, an id that was not offered is not guessed, and blanks are no text.
Thinking, code fences and prose around the one object are taken off, and so are extra fields.
Broken JSON is mended only if its commas and quotes alone were wrong.

The words of a fault are ours: a model may repeat what a paper orders, and a user message must not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, Literal, NoReturn, TypeVar

import json_repair
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from pydantic import BaseModel, JsonValue, ValidationError

from dialectree import prompts
from dialectree.errors import Contradiction, PartFailed, ReplyError
from dialectree.models import evidence, small_models
from dialectree.models.asking import (
    Asking,
    Fault,
    Ids,
    form,
    messages,
    sampling,
    strip_thoughts,
    wellformed,
)
from dialectree.models.evidence import NOTHING, Said
from dialectree.models.run import Run, run_of
from dialectree.models.specs import resolve
from dialectree.prompts import Prompt
from dialectree.protocols.inside import inside
from dialectree.protocols.settings import settings
from dialectree.records import Call, Place, Turn
from dialectree.system.platform_internals import graph_step
from dialectree.text import listed
from dialectree.trace.events import tell

__all__ = ["Fault", "Place", "Reply", "Run", "ask", "read"]

Reply = TypeVar("Reply", bound=BaseModel)
Valid = TypeVar("Valid")
REPAIRS = 2

_FENCED = re.compile(r"```[ \t]*(?:json\w*)?\s*(\{.*?\})\s*```", re.DOTALL | re.IGNORECASE)
_QUOTES = re.compile(r"""\\?["']|[“”„‘’`]""")
_LIST = "the reply is a list; one JSON object was asked for"
_FAULTS_SHOWN, _FAULT_LENGTH = 8, 300
_NAME = re.compile(r"\S{0,20}")
"""A name that may be repeated: too short to order anything."""


async def ask(
    runtime: Runtime[Any],
    place: Place,
    prompt: str,
    reply: type[Reply],
    *,
    ids: Ids | None = None,
    suggested: Ids | None = None,
    at_most: Mapping[str, int] | None = None,
    check: Callable[[Reply], str | None] | None = None,
    conflict: Callable[[Reply], str | None] | None = None,
    told: Callable[[Reply], Mapping[str, JsonValue]] | None = None,
    names: Callable[[Reply], str | None] | None = None,
    max_tokens: int | None = None,
    model: Any = None,
    **values: object,
) -> Reply:
    """Ask the model that plays ``place.role`` and return its valid reply.

    ``prompt`` names a file of prompts/, rendered with ``values``. ``ids`` are the closed sets that
    the reply may point into. Those ``suggested`` stand in the schema only, and ``at_most`` limits
    the items of a list there. ``check`` returns what is wrong with a reply that fits the schema. An
    invalid reply is asked for again up to two times, with its fault. Raises ReplyError if it stays
    invalid and CallError if none comes. ``conflict`` returns how a model's reply contradicts
    itself, which is asked for again once before Contradiction is raised. ``told`` returns what the
    record keeps in place of the reply, and ``names`` the label that the reply names. ``model``
    takes the place of the role's own.
    """
    context, run = settings(runtime), run_of(runtime)
    words = prompts.load(prompt, run.prompt_version(prompt))
    turn = Turn.at(place).model_copy()
    turn.take = max(turn.take, inside.get().take)
    turn.protocol = "" if context.protocol == run.protocol else context.protocol
    if not turn.step and not (context.declaration and context.declaration.order.phases):
        turn.step = graph_step()  # no phases order the transcript, so the steps of the graph do
    own = context.speaker(place.role, place.name) if model is None else model
    spec = resolve(own, context)
    system, user = _asked_for(words, values, reply)
    system = _with_language(system, context.language)
    shared, here, posed = words.shared(values), evidence.reading.get(), None
    if here is not None and here.mode is not None:
        posed = evidence.posed(here, reply, system, shared, user)
        system, user, shared = posed.system, posed.user, posed.shared
        max_tokens = max_tokens and max_tokens + posed.tokens

    def read_call(call: Call) -> tuple[Reply, Said]:
        refusal = call.reply if call.finish == "refusal" else None
        small = words if call.prompt_form == "small" else None
        text = "" if refusal else call.reply or ""
        said = NOTHING
        if posed is None or call.source == "person":  # a person writes the protocol's own fields
            valid = read(reply, ids or {}, text, call.finish, refusal, small)
        else:
            whole = read(posed.reply, ids or {}, text, call.finish, refusal, small)
            last = asking.repair == REPAIRS
            valid, said = posed.take(whole, reply, turn.spot(), last=last)
        if check is not None and (wrong := check(valid)):
            raise Fault("invalid", wrong)
        if conflict is not None and call.source != "person" and (wrong := conflict(valid)):
            raise Fault("conflict", wrong)
        return valid, said

    asking = Asking(
        context,
        turn,
        words.label,
        spec,
        messages(system, user),
        form(posed.reply if posed else reply, {**(ids or {}), **(suggested or {})}, at_most),
        sampling(words.temperature, turn.random_seed(context.seed), max_tokens, words.top_p),
        _trace(turn, words.label, reply.__name__),
        # OpenAI's API caches prompts by itself.
        0 if spec.openai_compatible else len(wellformed(shared)),
        await run.asks_small(context, spec),
        tuple(posed.shown) if posed else (),
        read_call,
        partial(tell, runtime, turn.node),
    )
    try:
        valid, said = await _valid_reply(run, asking, read_call)
    except PartFailed as error:
        error.role, error.speaker = turn.role, turn.called or turn.name
        raise
    if here is not None:
        for note in await here.keep(turn.spot(), said):
            tell(runtime, turn.node, "noted", {"note": f"{turn.speaking()}: {note}"})
    fields = dict(told(valid)) if told else valid.model_dump(mode="json")
    named = None if names is None else names(valid) or ""
    spoke = {**turn.model_dump(exclude={"node"}), "fields": fields, "names": named, **said.told()}
    tell(runtime, turn.node, "spoke", spoke)
    return valid


def _with_language(system: str, language: str) -> str:
    """Return what a system message says, and in which language to write.

    The sentence stands before the one on JSON, which is the last thing that a model reads.
    """
    if not language:
        return system
    named = "the language of the question or claim" if language == "auto" else language
    rules, mark, form = system.rpartition("\n\nAnswer as JSON")
    return f"{rules or form}\n\nWrite in {named}.{mark}{form if mark else ''}"


def _asked_for(words: Prompt, values: dict[str, object], reply: type[BaseModel]) -> tuple[str, str]:
    """Return the rendered prompt; one that does not say so itself asks for the fields as JSON."""
    system, user = words.render(values)
    if "JSON" not in words.body:
        fields = listed([f"`{name}`" for name in reply.model_fields])
        system = f"{system}\n\nAnswer as JSON with {fields}."
    return system, user


async def _valid_reply(run: Run, asking: Asking, read_call: Callable[[Call], Valid]) -> Valid:
    """Ask until a reply can be used; raise ReplyError or Contradiction after the last repair."""
    conflicts = 0
    while True:
        call = await run.call(asking)
        try:
            valid = read_call(call)
        except Fault as fault:
            if call.source == "person":
                run.overrides.disregard(asking.place)
                continue
            conflicts += fault.kind == "conflict"
            if asking.repair == REPAIRS or conflicts > 1:
                failure = Contradiction if fault.kind == "conflict" else ReplyError
                raise failure(asking.prompt, asking.place.node, str(fault)) from None
            asking.mend(call, fault)
            if fault.kind == "not_json":
                run.endpoint(asking.spec).lower(asking)
        else:
            if call.source != "person":
                run.endpoint(asking.spec).confirm(asking)
            return valid


def _trace(turn: Turn, prompt: str, reply: str) -> RunnableConfig:
    """Return name and metadata of a call in a trace; no chat of a host shows its words."""
    name = turn.speaking()
    if turn.name and turn.phase not in turn.role:  # else its role says it
        name = f"{name}, {turn.phase.replace('_', ' ')}"
    if (turn.name and turn.round) or turn.round > 1:
        name = f"{name}, round {turn.round}"
    return {
        "run_name": name if turn.take == 1 else f"{name}, second pass",
        "tags": ["nostream"],
        "metadata": {
            "tree_node": turn.node,
            "role": turn.role,
            "speaker": turn.called or turn.speaker,
            "phase": turn.phase,
            "round": turn.round,
            "take": turn.take,
            "prompt": prompt,
            "reply": reply,
        },
    }


# Reading a reply


def read(
    reply: type[Reply],
    ids: Ids,
    text: str,
    finish: str | None,
    refusal: str | None,
    small: Prompt | None = None,
) -> Reply:
    """Return the reply in ``text``, or raise a Fault.

    ``finish`` is ``length`` if the token limit ended the text: then only a whole object counts.
    ``small`` is the prompt of a small model. Its texts end with their last whole sentence, and none
    may repeat itself or the prompt's own words.
    """
    if refusal:
        raise Fault("refusal", "the model declined", refusal[:_FAULT_LENGTH])
    try:
        parsed, mended = _parse(text.strip(), cut_off=finish == "length")
        extra: Literal["forbid", "ignore"] = "forbid" if mended else "ignore"
        value = _mapped(parsed, _restored)
        if small:
            value = _mapped(value, _whole)
        valid = reply.model_validate_json(json.dumps(value), strict=True, extra=extra)
    except ValidationError as error:
        raise Fault("invalid", _joined(_invalid(error))) from None
    except RecursionError:
        raise Fault("malformed", "the reply is nested too deeply") from None
    fields = valid.model_dump(mode="json")
    if faults := _joined(_wrong_ids(fields, ids)):
        raise Fault("ids", faults)
    if small:
        if faults := _joined(_repetitive(fields, small.body)):
            raise Fault("repetitive", faults)
        valid = reply.model_validate(_mapped(fields, small_models.until_it_repeats))
    return valid


def _mapped(value: JsonValue, change: Callable[[str], str]) -> JsonValue:
    """Return ``value`` with ``change`` applied to its texts."""
    if isinstance(value, dict):
        return {name: _mapped(item, change) for name, item in value.items()}
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    return change(value) if isinstance(value, str) else value


def _restored(text: str) -> str:
    """Return ``text`` with the marks that the prompt showed broken up; "" if nothing is seen."""
    text = prompts.rearmed(text)
    return "" if all(char.isspace() or prompts.unseen(char) for char in text) else text


def _whole(text: str) -> str:
    """Return a small model's ``text`` without an unfinished sentence at its end."""
    whole = small_models.whole_sentences(text)
    if whole is None:
        raise Fault("invalid", "a sentence is too long; write several short ones")
    return whole


def _repetitive(value: JsonValue, prompt: str, where: str = "") -> Iterator[str]:
    """Yield a fault of every text in ``value`` that repeats itself or the words of ``prompt``."""
    if isinstance(value, list):
        value = {str(number): item for number, item in enumerate(value)}
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _repetitive(item, prompt, f"{where}.{name}".removeprefix("."))
    elif isinstance(value, str) and small_models.is_repetitive(value, prompt):
        yield f"{where}: it repeats itself or the instructions; write it in other words"


def _parse(text: str, *, cut_off: bool) -> tuple[dict[str, JsonValue], bool]:
    """Return the one object in ``text``, and whether it had to be mended."""
    with suppress(ValueError):
        return _object(_loads(text)), False
    try:
        body = _body(text)
        try:
            return _object(_loads(body)), False
        except ValueError as error:
            if not cut_off:
                return _mend(body, str(error)), True
            raise Fault("malformed", "") from None
    except Fault as fault:
        if cut_off and fault.kind in ("empty", "not_json", "malformed"):
            only = "" if strip_thoughts(text) else "all of it was thinking"
            raise Fault("truncated", "the reply was cut off at the token limit", only) from None
        raise


def _body(text: str) -> str:
    """Return the part of ``text`` from the first opening to the last closing brace.

    A second object, or a brace that is left over, is a fault: choosing one would be a guess.
    """
    answer = strip_thoughts(text)
    if not answer:
        raise Fault("empty", "the reply is empty" if not text else "there is thinking and no reply")
    if not answer.startswith("{") and len(fenced := _FENCED.findall(answer)) == 1:
        answer = fenced[0]  # the words around it may have braces, too
    start, end = answer.find("{"), answer.rfind("}") + 1
    if start < 0:
        raise Fault("not_json", "the reply is not a JSON object")
    if end <= start or "{" in answer[end:] or "}" in answer[:start]:
        raise Fault("malformed", "the reply is not one whole JSON object")
    if answer[:start].rstrip().endswith("["):
        raise Fault("invalid", _LIST)
    return answer[start:end]


def _loads(text: str) -> JsonValue:
    """Read JSON without repeated fields and NaN; line breaks in a text are let pass."""
    value: JsonValue = json.loads(
        text, strict=False, object_pairs_hook=_unrepeated, parse_constant=_no_number
    )
    return value


def _object(value: JsonValue) -> dict[str, JsonValue]:
    """Return the object ``value``, also if it was written as a text."""
    if isinstance(value, str):
        value = _loads(value)
    if isinstance(value, list):
        raise Fault("invalid", _LIST)
    if not isinstance(value, dict):
        raise Fault("not_json", "the reply is not a JSON object")
    return value


def _unrepeated(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise Fault("invalid", "a field stands there twice")
    return value


def _no_number(constant: str) -> NoReturn:
    raise Fault("invalid", f"{constant} is not a number")


def _mend(body: str, wrong: str) -> dict[str, JsonValue]:
    """Return the object that json_repair reads, if it changes only commas and quotes."""
    # A long or deep text could take minutes.
    if len(body) <= 10_000 and body.count("{") + body.count("[") <= 100:
        with suppress(ValueError):
            value = json_repair.loads(body, skip_json_loads=True)
            if isinstance(value, dict):
                mended = json.dumps(value, ensure_ascii=False)
                if _unpunctuated(mended) == _unpunctuated(body):
                    return value
    raise Fault("malformed", f"the reply is not valid JSON: {wrong}")


def _unpunctuated(text: str) -> str:
    """Return ``text`` without what mending may change: blanks, commas, quotes, Python's names."""
    plain = _QUOTES.sub('"', re.sub(r"[\s,]+", "", text))
    return plain.lower().replace("none", "null")


def _joined(faults: Iterator[str]) -> str:
    """Return the first few faults, each cut to a length that can be shown."""
    return "; ".join(fault[:_FAULT_LENGTH] for fault in islice(faults, _FAULTS_SHOWN))


def _invalid(error: ValidationError) -> Iterator[str]:
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        *place, last = fault["loc"] or ("reply",)
        if fault["type"] == "extra_forbidden":
            last = _repeated(last, "a field")
        where = ".".join(map(str, [*place, last]))
        yield f"{where}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"


def _repeated(name: object, otherwise: str) -> str:
    """Return the name that a model wrote, if it is too short to be more than a name."""
    return str(name) if _NAME.fullmatch(str(name)) else otherwise


def _wrong_ids(value: dict[str, JsonValue], ids: Ids) -> Iterator[str]:
    for path, offered in ids.items():
        name, _, inner = path.partition(".")
        named = [value[name]]
        if inner:
            items = value[name]
            assert isinstance(items, list)  # the reply's model says so
            named = [item[inner] for item in items if isinstance(item, dict)]
        yield from (f"{path}: {_unknown(each, offered)}" for each in named if each not in offered)
        for each in offered if inner else ():
            if (times := named.count(each)) != 1:
                fault = "is missing" if not times else "is named more than once"
                yield f"{path}: {each} {fault}; name each of {', '.join(offered)} exactly once"


def _unknown(name: JsonValue, offered: Sequence[str]) -> str:
    return f"{_repeated(repr(name), 'what you named')} is not one of {', '.join(offered)}"
