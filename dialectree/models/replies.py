"""Read the reply of a model: a reply is valid only if it validates unchanged.

The reader never clamps a value, completes a text that was cut off, guesses an id, or takes blanks
for a text. It removes thoughts, code fences and prose around the one object, and extra fields. It
mends broken JSON only if nothing but commas and quotes was wrong.

Faults are in our own words. A reply may repeat orders from a paper, and the user message that asks
for a repair must not pass these orders on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Literal, NoReturn

import json_repair
from pydantic import JsonValue, ValidationError

from dialectree import prompts
from dialectree.models import small_models
from dialectree.models.asking import Fault, Ids, Reply, strip_thoughts
from dialectree.prompts import Prompt

_FENCED = re.compile(r"```[ \t]*(?:json\w*)?\s*(\{.*?\})\s*```", re.DOTALL | re.IGNORECASE)
_QUOTES = re.compile(r"""\\?["']|[“”„‘’`]""")
_LIST = "the reply is a list; one JSON object was asked for"
_FAULTS_SHOWN, _FAULT_LENGTH = 8, 300
_NAME = re.compile(r"\S{0,20}")
"""A name that a fault may quote: too short to contain an order."""


def read(
    reply: type[Reply],
    ids: Ids,
    text: str,
    finish: str | None,
    refusal: str | None,
    words: Prompt | None = None,
    prompt_form: Literal["full", "medium", "small"] = "full",
) -> Reply:
    """Return the reply in ``text``, or raise a Fault.

    ``finish`` is ``length`` if the token limit ended the text: then only a whole object is valid.
    ``words`` is the prompt. In the ``small`` and ``medium`` forms, texts must not repeat themselves
    or the prompt; in the ``small`` form they end with a whole sentence.
    """
    if refusal:
        raise Fault("refusal", "the model declined", refusal[:_FAULT_LENGTH])
    small = prompt_form == "small"
    try:
        parsed, mended = parse_reply(text.strip(), cut_off=finish == "length")
        extra: Literal["forbid", "ignore"] = "forbid" if mended else "ignore"
        value = _change_texts(parsed, _restore_marks)
        if small:
            value = _change_texts(value, _keep_whole_sentences)
        valid = reply.model_validate_json(json.dumps(value), strict=True, extra=extra)
    except ValidationError as error:
        raise Fault("invalid", _join_faults(_describe_errors(error))) from None
    except RecursionError:
        raise Fault("malformed", "the reply is nested too deeply") from None
    fields = valid.model_dump(mode="json")
    if faults := _join_faults(_find_wrong_ids(fields, ids)):
        raise Fault("ids", faults)
    if words is not None and prompt_form != "full":
        if faults := _join_faults(_find_repetitions(fields, words.body)):
            raise Fault("repetitive", faults)
        if small:
            valid = reply.model_validate(_change_texts(fields, small_models.until_it_repeats))
    return valid


def _change_texts(value: JsonValue, change: Callable[[str], str]) -> JsonValue:
    """Return ``value`` with ``change`` applied to its texts."""
    if isinstance(value, dict):
        return {name: _change_texts(item, change) for name, item in value.items()}
    if isinstance(value, list):
        return [_change_texts(item, change) for item in value]
    return change(value) if isinstance(value, str) else value


def _restore_marks(text: str) -> str:
    """Return ``text`` with the tags that the prompt escaped; "" if no character is visible."""
    text = prompts.unescape_tags(text)
    return "" if all(char.isspace() or prompts.unseen(char) for char in text) else text


def _keep_whole_sentences(text: str) -> str:
    """Return a small model's ``text`` without an unfinished sentence at its end."""
    sentences = small_models.whole_sentences(text)
    if sentences is None:
        raise Fault("invalid", "a sentence is too long; write several short ones")
    return sentences


def _find_repetitions(value: JsonValue, prompt: str, where: str = "") -> Iterator[str]:
    """Yield a fault of every text in ``value`` that repeats itself or the words of ``prompt``."""
    if isinstance(value, list):
        value = {str(number): item for number, item in enumerate(value)}
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _find_repetitions(item, prompt, f"{where}.{name}".removeprefix("."))
    elif isinstance(value, str) and small_models.is_repetitive(value, prompt):
        yield f"{where}: it repeats itself or the instructions; write it in other words"


def parse_reply(text: str, *, cut_off: bool) -> tuple[dict[str, JsonValue], bool]:
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
    """Read JSON; refuse repeated fields and NaN, accept line breaks in a text."""
    value: JsonValue = json.loads(
        text, strict=False, object_pairs_hook=_refuse_repeated_fields, parse_constant=_refuse_constant
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


def _refuse_repeated_fields(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise Fault("invalid", "a field stands there twice")
    return value


def _refuse_constant(constant: str) -> NoReturn:
    raise Fault("invalid", f"{constant} is not a number")


def _mend(body: str, wrong: str) -> dict[str, JsonValue]:
    """Return the object that json_repair reads, if it changes only commas and quotes."""
    # A long or deep text could take minutes.
    if len(body) <= 10_000 and body.count("{") + body.count("[") <= 100:
        with suppress(ValueError):
            value = json_repair.loads(body, skip_json_loads=True)
            if isinstance(value, dict):
                mended = json.dumps(value, ensure_ascii=False)
                if _strip_punctuation(mended) == _strip_punctuation(body):
                    return value
    raise Fault("malformed", f"the reply is not valid JSON: {wrong}")


def _strip_punctuation(text: str) -> str:
    """Return ``text`` without the parts that mending may change: blanks, commas, quotes, Python's names."""
    plain = _QUOTES.sub('"', re.sub(r"[\s,]+", "", text))
    return plain.lower().replace("none", "null")


def _join_faults(faults: Iterator[str]) -> str:
    """Return the first few faults, each cut to a length that can be shown."""
    return "; ".join(fault[:_FAULT_LENGTH] for fault in islice(faults, _FAULTS_SHOWN))


def _describe_errors(error: ValidationError) -> Iterator[str]:
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        *place, last = fault["loc"] or ("reply",)
        if fault["type"] == "extra_forbidden":
            last = _repeat_name(last, "a field")
        where = ".".join(map(str, [*place, last]))
        yield f"{where}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"


def _repeat_name(name: object, otherwise: str) -> str:
    """Return ``name`` if it is short enough to quote, else ``otherwise``."""
    return str(name) if _NAME.fullmatch(str(name)) else otherwise


def _find_wrong_ids(value: dict[str, JsonValue], ids: Ids) -> Iterator[str]:
    for path, offered in ids.items():
        name, _, inner = path.partition(".")
        if name.endswith("[]"):
            items = value[name.removesuffix("[]")]
            assert isinstance(items, list)
            ids_of_items = [item[inner] for item in items if isinstance(item, dict)]
            wrong_ids = [item_id for item_id in ids_of_items if item_id not in offered]
            yield from (f"{path}: {_describe_unknown(item_id, offered)}" for item_id in wrong_ids)
            continue
        reply_ids = [value[name]]
        if inner:
            items = value[name]
            assert isinstance(items, list)  # the reply's class requires it
            reply_ids = [item[inner] for item in items if isinstance(item, dict)]
        yield from (
            f"{path}: {_describe_unknown(reply_id, offered)}"
            for reply_id in reply_ids
            if reply_id not in offered
        )
        for offered_id in offered if inner else ():
            if (times := reply_ids.count(offered_id)) != 1:
                fault = "is missing" if not times else "is named more than once"
                yield f"{path}: {offered_id} {fault}; name each of {', '.join(offered)} exactly once"


def _describe_unknown(name: JsonValue, offered: Sequence[str]) -> str:
    return f"{_repeat_name(repr(name), 'what you named')} is not one of {', '.join(offered)}"
