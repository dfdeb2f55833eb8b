"""Make the graph of a :class:`dialectree.Script`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, NotRequired, get_type_hints

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict

from dialectree.flow.debate import debate, open_part, set_score
from dialectree.flow.flow import UNRESOLVED, Flow, Graph, Step
from dialectree.flow.grounding import checker
from dialectree.flow.state import Debate, Ruling
from dialectree.flow.steps import end_unresolved, settle
from dialectree.models.door import ask
from dialectree.protocols.forms import subject
from dialectree.protocols.grounded import GroundedSettings
from dialectree.protocols.inside import root
from dialectree.protocols.script import (
    DEBATED,
    NEXT,
    Inner,
    Queries,
    Rounds,
    Rule,
    Script,
    Speaker,
    Station,
    Talk,
)
from dialectree.protocols.settings import ProtocolSettings, settings
from dialectree.records import Place

_OVER = "round_over"
_RULED = (
    *("answer", "label", "rationale", "confidence", "confidence_source", "notes"),
    *("agreement", "dissent"),
)
"""The fields of a verdict that ``settle`` takes."""
_typed_dict: Any = TypedDict


def compile_script(script: Script, name: str) -> Graph:
    """Return the graph of ``script``, called ``name``."""
    input_channels = {
        _channel(script, name): field.annotation if field.is_required() else NotRequired[field.annotation]
        for name, field in _fields(script).items()
    }
    turns_type = Annotated[list[dict[str, Any]], operator.add]
    number = Annotated[int, operator.add]
    talk_channels = {"round": number, "dropped": number, "said": turns_type, "failed": bool}
    shared = get_type_hints(Debate, include_extras=True)
    flow = Flow(
        _typed_dict("Talk", {**shared, **input_channels, **talk_channels}),
        input=_typed_dict("Input", input_channels),
        settings=script.settings,
    )
    stations = [] if script.before is None else [*script.before.speakers, script.before.moderator]
    repeated = {*_names(map(script.steps, stations))}
    for step, speaker in script.speakers.items():
        speaking = _speaking(script, speaker, in_rounds=step in repeated)
        mode = speaker.evidence or "hears"
        drop_update = None if speaker.required else {"dropped": 1}
        flow.role(
            step, speaking, required=speaker.required, on_drop=drop_update, evidence=mode, of=speaker.of
        )
    for step, queries in script.retrievals.items():
        flow.evidence(step, _looking(script, queries))
    for step in script.checkers:
        flow.role(step, _checking(in_rounds=step in repeated), evidence="checks")
    for step, inner in script.inner.items():
        flow.step(step, _debating(script, step, inner))
    for gate, step in script.gates().items():
        flow.step(gate, _scoring(script, script.inner[step]))
    flow.step(UNRESOLVED, end_unresolved)
    flow.then(UNRESOLVED, END)
    if script.before is None:
        _lead(flow, script, [START, *script.closing()])
    else:
        _add_rounds(flow, script, script.before)
        _lead(flow, script, script.closing())
    for ruling, rule in script.verdicts().items():
        flow.step(ruling, _ruling(script, ruling.removesuffix("_rules"), rule))
        flow.then(ruling, END)
    return flow.compile(name)


def _add_rounds(flow: Flow, script: Script, rounds: Rounds) -> None:
    """Add the steps that count the rounds, and the rule after each round."""

    async def next_round(state: Any) -> dict[str, int]:
        return {"round": 1}

    def after_round(state: Any, settings: Any) -> str | list[str]:
        return script.after_round(_talk(script, state, settings))

    *speakers, last = [script.steps(station) for station in (*rounds.speakers, rounds.moderator) if station]
    if isinstance(last, tuple):
        flow.step(_OVER)
        speakers, last = [*speakers, last], _OVER
    flow.step(NEXT, next_round)
    flow.then(START, NEXT, *speakers, last)
    exits = script.closing()[0], script.ruling(rounds.moderator) if rounds.until else ""
    flow.route(last, after_round, NEXT, *_names(filter(None, exits)), UNRESOLVED)


def _lead(flow: Flow, script: Script, stations: Sequence[Station]) -> None:
    """Lead from each station to the next; add rules that skip needless debates."""
    gates, chain = script.gates(), list[Station]()
    for place, station in enumerate(stations):
        chain.append(station)
        if station in gates:
            due, past = map(str, stations[place + 1 : place + 3])
            flow.then(*chain)
            flow.route(station, _due(script, script.inner[due], due, past), due, past)
            chain = []
    flow.then(*chain)


def _due(script: Script, inner: Inner, due: str, past: str) -> Callable[..., str]:
    """Return the rule that leads to a debate, or skips it."""

    def debate_due(state: Any, settings: Any) -> str:
        spared = inner.unless is not None and inner.unless(_talk(script, state, settings))
        return past if spared else due

    return debate_due


def _names(stations: Iterable[Station]) -> list[str]:
    """Return the steps of all ``stations``."""
    return [step for station in stations for step in ((station,) if isinstance(station, str) else station)]


def _fields(script: Script) -> dict[str, FieldInfo]:
    """Return the fields of the input, except the sources: the flow itself takes these."""
    fields = script.input.model_fields
    return {name: field for name, field in fields.items() if not script.input.grounded or name != "sources"}


def _channel(script: Script, field: str) -> str:
    """Return the name of an input field in the graph's state."""
    return "question" if field == subject(script.input) else field


def _talk(script: Script, state: Mapping[str, Any], settings: ProtocolSettings, name: str = "") -> Talk:
    """Return the debate so far, for the functions of a script."""
    inputs = {name: state.get(_channel(script, name)) for name in _fields(script)}
    turns, number = state.get("said") or [], state.get("round") or 0
    dropped = state.get("dropped") or 0
    return Talk(input=inputs, settings=settings, name=name, round=number, said=turns, dropped=dropped)


def _speaking(script: Script, speaker: Speaker, *, in_rounds: bool) -> Step:
    """Return the step in which ``speaker`` speaks."""
    grounded = issubclass(script.settings, GroundedSettings)
    shared = GroundedSettings if grounded else ProtocolSettings
    setting_names = frozenset(script.settings.model_fields) - frozenset(shared.model_fields)

    async def speak(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        context = settings(runtime, script.settings)
        talk = _talk(script, state, context, speaker.name)
        if speaker.when is not None and not speaker.when(talk):
            return {}
        place = Place(
            node=root(),
            phase=speaker.phase,
            role=speaker.role,
            speaker=speaker.speaker,
            round=talk.round if in_rounds else 0,
        )
        values: dict[str, Any] = {
            **{name: getattr(context, name) for name in setting_names},
            **talk.input,
            "said": talk.said,
            "round": talk.round,
            "name": speaker.name,
            **(speaker.reads(talk) if speaker.reads else {}),
        }
        ids = speaker.ids(talk) if speaker.ids else None
        reply = await ask(runtime, place, speaker.prompt, speaker.reply, ids=ids, **values)
        turn = {"name": speaker.name, **place.model_dump(include={"role", "phase", "round"})}
        return {"said": [{**turn, **reply.model_dump(mode="json")}]}

    return speak


def _debating(script: Script, name: str, inner: Inner) -> Step:
    """Return the step in which another protocol debates, at a part of the question."""
    part = [*script.inner].index(name)

    async def hold(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        protocol_name, inputs = inner.debate(_talk(script, state, settings(runtime, script.settings)))
        node, text = f"{root()}.{part}", state["question"]
        await open_part(runtime, node, text)
        verdict = await debate(runtime, protocol_name, node=node, text=text, **inputs)
        ruled = {field: getattr(verdict, field) for field in _RULED}
        turn = {"name": name, "role": name, "phase": DEBATED, "round": 0}
        return {"said": [{**turn, "verdict": ruled}]}

    return hold


def _scoring(script: Script, inner: Inner) -> Step:
    """Return the step that gives the question its scores, by which a rule decides whether to debate."""

    async def score(state: Any, runtime: Runtime[Any]) -> None:
        if inner.scores is not None:
            talk = _talk(script, state, settings(runtime, script.settings))
            await set_score(runtime, root(), **inner.scores(talk))

    return score


def _looking(script: Script, queries: Queries) -> Callable[..., Iterable[str]]:
    """Return the function that gives a retrieving step its queries."""

    def looking(state: Any, settings: Any) -> Iterable[str]:
        return queries(_talk(script, state, settings))

    return looking


def _checking(*, in_rounds: bool) -> Step:
    """Return the step that checks points."""

    async def check(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        return await checker(state if in_rounds else {**state, "round": 0}, runtime)

    return check


def _ruling(script: Script, name: str, rule: Rule) -> Step:
    """Return the step that makes the verdict; it has no answer if the ruling speaker did not speak."""

    async def decide(state: Any, runtime: Runtime[Any]) -> Ruling:
        talk = _talk(script, state, settings(runtime, script.settings))
        silent = name in script.speakers and talk.last.get("name") != name
        return await settle(runtime, **({} if silent else rule(talk)) or {"answer": None})

    return decide
