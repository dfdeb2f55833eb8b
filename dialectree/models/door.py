"""Ask a model for a reply: every question to a model goes through :func:`ask`.

``replies`` decides which replies are valid. A valid reply is in doubt if it repeats its opponent or
if one of its texts was cut off at a limit: the model is then asked once more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Generic, Literal, NamedTuple, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from pydantic import BaseModel, JsonValue

from dialectree import prompts
from dialectree.errors import Contradiction, PartFailed, ReplyError
from dialectree.models import small_models
from dialectree.models.asking import (
    Doubt,
    Fault,
    Form,
    Ids,
    Message,
    ModelRequest,
    PromptForm,
    Schema,
    ValidReply,
    Wording,
    form,
    messages,
    replace_surrogates,
    sampling,
)
from dialectree.models.reading import NOTHING, Citations, PosedQuestion, reading
from dialectree.models.replies import parse_reply, read
from dialectree.models.run import Run, run_of
from dialectree.models.specs import resolve
from dialectree.prompts import Prompt
from dialectree.protocols.inside import inside
from dialectree.protocols.settings import ProtocolSettings, settings
from dialectree.records import Call, Place, Turn
from dialectree.system.platform_internals import graph_step
from dialectree.text import format_list
from dialectree.trace.events import tell

__all__ = ["ByText", "CopyCheck", "Fault", "Place", "Reply", "Run", "ask"]

Reply = TypeVar("Reply", bound=BaseModel)
REPAIRS = 2


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
    by_text: ByText[Reply] | None = None,
    copy_check: CopyCheck | None = None,
    max_tokens: int | None = None,
    model: Any = None,
    **values: object,
) -> Reply:
    """Ask the model that plays ``place.role`` and return its valid reply.

    ``prompt`` names a file of prompts/, rendered with ``values``. ``ids`` are closed sets that the
    reply must choose from. ``suggested`` sets are in the schema only, and ``at_most`` limits the
    items of a list there. ``check`` returns the fault of a reply that fits the schema. After an
    invalid reply the model is asked again with the fault, up to two times. Raises ReplyError if the
    reply stays invalid and CallError if none comes. ``conflict`` returns how a reply contradicts
    itself; Contradiction is raised if the model contradicts itself twice. ``told`` returns the fields
    that the record keeps instead of the reply, and ``names`` the label that the reply names.
    ``by_text`` replaces the question for models of medium size. ``copy_check`` finds words that the
    reply repeats from its opponent. ``model`` replaces the role's model.
    """
    context, run = settings(runtime), run_of(runtime)
    words = prompts.load(prompt, run.prompt_version(prompt))
    turn = _make_turn(place, context, run)
    spec = resolve(context.speaker(place.role, place.name) if model is None else model, context)
    prompt_form = await run.prompt_form(context, spec)
    pose = partial(_question, words, values, context.language, at_most)
    full = pose(reply, ids or {}, suggested or {})
    medium: _Question | None = None
    if prompt_form == "medium" or run.has_medium_form:
        if by_text is None:
            medium = pose(reply, ids or {}, suggested or {}, medium=True)
        else:
            medium = pose(by_text.reply, by_text.ids, by_text.suggested, medium=True, by_text=True)

    def find_schema(prompt_form: PromptForm) -> Schema:
        return replace(asking, prompt_form=prompt_form).adapt_to_prompt_form().form.full

    rules = _ReplyRules(check, conflict, by_text, copy_check)
    reader = _ReplyReader(reply, ids or {}, words, turn, full, medium, rules, find_schema)
    if full.posed is not None:
        max_tokens = max_tokens and max_tokens + full.posed.tokens
    asking = ModelRequest(
        context,
        turn,
        words.label,
        spec,
        full.messages,
        full.form,
        sampling(words.temperature, turn.random_seed(context.seed), max_tokens, words.top_p),
        _trace(turn, words.label, reply.__name__),
        # OpenAI's API caches prompts by itself.
        0 if spec.openai_compatible else len(replace_surrogates(full.shared)),
        prompt_form,
        medium.wording() if medium else None,
        tuple(full.posed.shown) if full.posed else (),
        reader.read_call,
        tell=partial(tell, runtime, turn.node),
    )
    try:
        answer = await _valid_reply(run, asking, reader.read_call)
    except PartFailed as error:
        error.role, error.speaker = turn.role, turn.called or turn.name
        raise
    fields = dict(told(answer.reply)) if told else answer.reply.model_dump(mode="json")
    label = None if names is None else names(answer.reply) or ""
    await _tell_turn(runtime, turn, answer, {"fields": fields, "names": label})
    return answer.reply


def _make_turn(place: Place, context: ProtocolSettings, run: Run) -> Turn:
    """Return the turn that is spoken at ``place``, in the pass and the protocol under way."""
    turn = Turn.at(place).model_copy()
    turn.take = max(turn.take, inside.get().take)
    turn.protocol = "" if context.protocol == run.protocol else context.protocol
    if not turn.step and not (context.declaration and context.declaration.order.phases):
        turn.step = graph_step()  # no phases order the transcript, so the steps of the graph do
    return turn


async def _tell_turn(
    runtime: Runtime[Any], turn: Turn, answer: ValidReply[Any], content: Mapping[str, JsonValue]
) -> None:
    """Tell what was said: notes on the reply, then the turn with its evidence and marks."""
    notes, evidence = [doubt.note for doubt in answer.doubts], dict[str, Any]()
    if (here := reading.get()) is not None:
        notes += await here.keep(turn.spot(), answer.citations)
        evidence = answer.citations.make_record_fields()
    for note in notes:
        tell(runtime, turn.node, "noted", {"note": f"{turn.speaking()}: {note}"})
    marks = [*dict.fromkeys(doubt.mark for doubt in answer.doubts)]
    spoke = {**turn.model_dump(exclude={"node"}), **content, **evidence}
    tell(runtime, turn.node, "spoke", {**spoke, "marks": marks} if marks else spoke)


class _ReplyRules(NamedTuple, Generic[Reply]):
    """What a protocol demands of a reply; :func:`ask` describes the fields."""

    check: Callable[[Reply], str | None] | None
    conflict: Callable[[Reply], str | None] | None
    by_text: ByText[Reply] | None
    copy_check: CopyCheck | None


class _ReplyReader(NamedTuple, Generic[Reply]):
    """Reads the calls that answer one question."""

    reply: type[Reply]
    ids: Ids
    words: Prompt
    turn: Turn
    full: _Question
    medium: _Question | None
    rules: _ReplyRules[Reply]
    find_schema: Callable[[PromptForm], Schema]
    """Returns the schema that a model was sent in a prompt form."""

    def read_call(self, call: Call) -> ValidReply[Reply]:
        """Return the valid reply of a call and the doubts about it; raise a Fault."""
        if call.source == "person":  # a person writes the protocol's own fields
            valid = _read(self.reply, self.ids, call, self.words)
            self._require(self.rules.check, "invalid", valid)
            return ValidReply(valid, NOTHING)
        valid, citations, doubts = self._read_answer(call)
        self._require(self.rules.check, "invalid", valid)
        self._require(self.rules.conflict, "conflict", valid)
        if self.rules.copy_check is not None:
            doubts += self.rules.copy_check.find_copies(valid)
        return ValidReply(valid, citations, tuple(doubts))

    def _read_answer(self, call: Call) -> tuple[Reply, Citations, list[Doubt]]:
        """Return a model's reply, what it says of the sources, and doubts about texts cut short."""
        by_medium = call.prompt_form == "medium" and self.medium is not None
        question = self.medium if by_medium and self.medium is not None else self.full
        doubts: list[Doubt] = []
        if by_medium or call.prompt_form == "small":
            call, doubts = _trim_reply(self.find_schema(call.prompt_form), call)
        answer, citations = question.read(call, self.words, self.turn)
        if by_medium and self.rules.by_text is not None:
            return self.rules.by_text.read(answer), citations, doubts
        return cast("Reply", answer), citations, doubts

    @staticmethod
    def _require(
        rule: Callable[[Reply], str | None] | None, kind: Literal["invalid", "conflict"], reply: Reply
    ) -> None:
        """Raise a Fault of ``kind`` if the ``rule`` finds something wrong with ``reply``."""
        if rule is not None and (wrong := rule(reply)):
            raise Fault(kind, wrong)


class ByText(NamedTuple, Generic[Reply]):
    """A question that a model of medium size answers with the text of its choice, not with a letter.

    Asked for a letter, such a model chooses the first one, regardless of its meaning.
    """

    reply: type[BaseModel]
    """The class of the model's reply."""
    ids: Ids
    """The texts to choose from, by the field of the reply that copies one."""
    read: Callable[[Any], Reply]
    """Converts the model's reply to a reply of the protocol's own class."""
    suggested: Ids = MappingProxyType({})
    """Closed sets of texts that only the schema enforces; a reply is not checked against them."""


class CopyCheck(NamedTuple):
    """A check whether a turn repeats its opponent's words."""

    statements: Sequence[tuple[bool, str]]
    """Statements of both sides, in order; True: by the opponent. Words belong to the side that said
    them first: a speaker may repeat its own words, even after the opponent repeated them."""
    common: Sequence[str] = ()
    """Texts that both sides have read and may repeat."""
    own_words: Callable[[Any], str] | None = None
    """Returns the text of a reply that must be in its speaker's own words; None: all texts."""

    def find_copies(self, reply: BaseModel) -> list[Doubt]:
        """Return a doubt if ``reply`` repeats too many of the other side's words."""
        evidence = here.texts if (here := reading.get()) else []
        own_words = self.own_words or (lambda reply: " ¶ ".join(_texts(reply.model_dump())))
        text, common = own_words(reply), [*self.common, *evidence]
        share = small_models.measure_copied_share(text, self.statements, common)
        note = f"repeats its opponent's words ({share:.0%} of the turn)"
        return [Doubt("copied", _COPIED, note)] if share > small_models.COPIED_SHARE else []


_COPIED = "it repeats your opponent's words; say in your own words what you think instead"
_CUT = "it is too long and was cut off; write fewer and shorter sentences"


class _Question(NamedTuple):
    """A prompt for models of one size, and the way to read its reply."""

    reply: type[BaseModel]
    ids: Ids
    messages: tuple[Message, Message]
    form: Form
    shared: str
    posed: PosedQuestion | None

    def wording(self) -> Wording:
        """Return messages and schema for a model of medium size."""
        (_, system), (_, user) = self.messages
        return Wording(messages(*prompts.for_medium_model(system, user)), self.form)

    def read(self, call: Call, words: Prompt, turn: Turn) -> tuple[BaseModel, Citations]:
        """Return the reply of ``call`` and its citations; raise Fault if it is invalid."""
        if self.posed is None:
            return _read(self.reply, self.ids, call, words), NOTHING
        answer = _read(self.posed.reply, self.ids, call, words)
        return self.posed.take(answer, self.reply, turn.spot(), last=call.repair == REPAIRS)


def _question(
    words: Prompt,
    values: Mapping[str, object],
    language: str,
    at_most: Mapping[str, int] | None,
    reply: type[BaseModel],
    ids: Ids,
    suggested: Ids,
    **wording: bool,
) -> _Question:
    """Return the question of the prompt ``words``, with the sources that the step reads."""
    system, user = _render_question(words, values, reply, **wording)
    system = _with_language(system, language)
    shared, here, kind = words.shared(values, **wording), reading.get(), reply
    posed = None if here is None else here.pose(reply, system, shared, user)
    if posed is not None:
        system, user, shared, kind = posed.system, posed.user, posed.shared, posed.reply
    offered = form(kind, {**ids, **suggested}, at_most)
    return _Question(reply, ids, messages(system, user), offered, shared, posed)


def _read(reply: type[Reply], ids: Ids, call: Call, words: Prompt) -> Reply:
    """Return the reply of ``call``, read by the rules of its prompt form."""
    refusal = call.reply if call.finish == "refusal" else None
    text = "" if refusal else call.reply or ""
    prompt_form = "full" if call.source == "person" else call.prompt_form
    return read(reply, ids, text, call.finish, refusal, words, prompt_form)


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield the texts of a reply."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value


def _trim_reply(schema: Schema, call: Call) -> tuple[Call, list[Doubt]]:
    """Return a call whose texts end with a whole sentence, and a doubt about lost text."""
    if call.finish == "refusal":
        return call, []
    try:
        value, _ = parse_reply((call.reply or "").strip(), cut_off=False)
    except (Fault, RecursionError):  # the reader reports it
        return call, []
    trimmed, trims = small_models.trim_texts(schema, value, small=call.prompt_form == "small")
    if not trims:
        return call, []
    ends = ", ".join(f"“… {' '.join(trim.left_out.split())[-80:]}”" for trim in trims if trim.left_out)
    note = f"the unfinished end of a text is left out: {ends}" if ends else "a text breaks off"
    cut = dict.fromkeys(trim.field for trim in trims if trim.at_limit)
    fault = f"{', '.join(cut)}: {_CUT}" if cut else ""
    reply = json.dumps(trimmed, ensure_ascii=False)
    return call.model_copy(update={"reply": reply}), [Doubt("cut", fault, note)]


def _with_language(system: str, language: str) -> str:
    """Return a system message that also names the language to write in.

    The sentence on JSON stays at the end, because a model has to read it last.
    """
    if not language:
        return system
    language_name = "the language of the question or claim" if language == "auto" else language
    rules, mark, form = system.rpartition("\n\nAnswer as JSON")
    return f"{rules or form}\n\nWrite in {language_name}.{mark}{form if mark else ''}"


def _render_question(
    words: Prompt, values: Mapping[str, object], reply: type[BaseModel], **wording: bool
) -> tuple[str, str]:
    """Return the rendered prompt; add a request for the fields as JSON if the prompt has none."""
    system, user = words.render(values, **wording)
    if "JSON" not in words.body:
        fields = format_list([f"`{name}`" for name in reply.model_fields])
        system = f"{system}\n\nAnswer as JSON with {fields}."
    return system, user


async def _valid_reply(
    run: Run, asking: ModelRequest, read_call: Callable[[Call], ValidReply[Reply]]
) -> ValidReply[Reply]:
    """Ask until a reply is valid; raise ReplyError or Contradiction after the last repair.

    If a new reply is in doubt, ask once more. If a reply from journal or cache is in doubt, ask
    only if they hold the next reply, too: no finished question costs money again.
    """
    conflicts, doubtful = 0, None
    while True:
        call = await run.call(asking)
        try:
            answer = read_call(call)
        except Fault as fault:
            if call.source == "person":
                run.overrides.disregard(asking.place)
                continue
            conflicts += fault.kind == "conflict"
            if asking.repair == REPAIRS or conflicts > 1:
                if doubtful is not None:
                    return doubtful
                failure = Contradiction if fault.kind == "conflict" else ReplyError
                raise failure(asking.prompt, asking.place.node, str(fault)) from None
            asking.mend(call, fault)
            if fault.kind == "not_json":
                run.endpoint(asking.spec).lower(asking)
        else:
            faults = [Fault(doubt.mark, doubt.fault) for doubt in answer.doubts if doubt.fault]
            if faults and not asking.doubted and asking.repair < REPAIRS:
                again = asking.doubt(call, faults[0])
                if run.was_asked(asking) or await run.knows(again):
                    asking, doubtful = again, answer
                    continue
            if call.source != "person":
                run.endpoint(asking.spec).confirm(asking)
            return answer


def _trace(turn: Turn, prompt: str, reply: str) -> RunnableConfig:
    """Return name and metadata of a call in a trace; ``nostream`` hides the call from a host's chat."""
    name = turn.speaking()
    if turn.name and turn.phase not in turn.role:  # else its role names the phase
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
