"""Write a debate as a script of speakers; its declaration and its graphs are made from it.

A script does not import LangGraph. The module of the declared graph calls :meth:`Script.compile`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from pydantic import BaseModel

from dialectree.errors import InputError
from dialectree.protocols.grounded import GroundedInput, GroundedSettings
from dialectree.protocols.look import PLAIN, Look
from dialectree.protocols.options import option
from dialectree.protocols.phases import SET_BY_PERSON
from dialectree.protocols.plugins import load
from dialectree.protocols.protocol import CHECKER, Phase, Protocol, ProtocolInput, Variant
from dialectree.protocols.settings import ProtocolSettings

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

NEXT, UNRESOLVED = "next_round", "unresolved"
DEBATED = "debated"
"""The phase of a turn with the ``verdict`` of a debate by another protocol."""
Station = str | tuple[str, ...]
"""A speaker, a rule or an evidence step; a tuple is several speakers side by side."""


class QuestionInput(ProtocolInput):
    """A question."""

    question: str = option(positional=True)
    """One question, in full; - reads it from standard input."""


class GroundedQuestion(QuestionInput, GroundedInput):
    """A question, and the documents to argue from."""


class SaidTurn(dict[str, Any]):
    """One turn of a debate, as rules and prompts read it.

    Python writes ``turn["label"]``, and a prompt ``turn.label``. Every turn has these keys:

    - ``name``: the name of its speaker, such as ``"A"``;
    - ``role`` and ``phase``, as :meth:`Script.speaks` declares them;
    - ``round``: the number of the round from 1, or 0 outside of the rounds.

    The other keys are the fields of its reply. The turn of a
    debate by another protocol has only the field ``verdict``.
    """

    if TYPE_CHECKING:  # an editor offers these keys

        @overload
        def __getitem__(self, key: Literal["name", "role", "phase"]) -> str: ...
        @overload
        def __getitem__(self, key: Literal["round"]) -> int: ...
        @overload
        def __getitem__(self, key: str) -> Any: ...
        def __getitem__(self, key: str) -> Any: ...

    def __missing__(self, key: str) -> Any:
        """Raise KeyError that names the keys of the turn."""
        speaker = f" of {self['name']!r}" if "name" in self else ""
        raise KeyError(f"the turn{speaker} has no {key!r}; it has {', '.join(self) or 'nothing'}")


@dataclass(frozen=True, kw_only=True)
class Talk:
    """A debate up to now, as prompts and rules read it."""

    input: Mapping[str, Any]
    settings: Any
    name: str = ""
    """The name of the speaker whose turn it is."""
    round: int = 0
    """The round under way, or the last one, from 1."""
    said: Sequence[SaidTurn] = ()
    """Every turn so far, in order."""
    dropped: int = 0
    """Number of turns of optional speakers that a person dropped."""

    def __post_init__(self) -> None:
        """Convert the turns, so that the error for a wrong key of a turn names the right keys."""
        object.__setattr__(self, "said", [SaidTurn(turn) for turn in self.said])

    @property
    def last(self) -> SaidTurn:
        """Return the last turn; empty before the first one."""
        return self.said[-1] if self.said else SaidTurn()

    def in_round(self, number: int) -> list[SaidTurn]:
        """Return the turns of one round."""
        return [turn for turn in self.said if turn["round"] == number]


Rule = Callable[[Talk], Mapping[str, Any] | None]
"""Returns the verdict as arguments of ``settle``, or None to leave the question open."""
Ids = Callable[[Talk], Mapping[str, Sequence[str]]]
Reads = Callable[[Talk], Mapping[str, object]]
When = Callable[[Talk], bool]
Queries = Callable[[Talk], Iterable[str]]
"""Returns the queries for the sources."""
Held = Callable[[Talk], tuple[str, Mapping[str, Any]]]
"""Returns the name of another protocol, and the input for that protocol."""
Scores = Callable[[Talk], Mapping[str, float]]
Evidence = Literal["", "cites", "cited", "pool"]


def stop_when_agreed(talk: Talk, field: str = "label") -> bool:
    """Return whether at least two speakers gave a ``field`` in the last round, and all gave the same.

    A rule for ``until`` of :meth:`Script.rounds`. A setting called ``stop_when_agreed``, if the
    protocol has it, turns the rule on or off.
    """
    answers = [turn[field] for turn in talk.in_round(talk.round) if field in turn]
    alike = len(answers) > 1 and answers.count(answers[0]) == len(answers)
    return alike and bool(getattr(talk.settings, "stop_when_agreed", True))


class Speaker(NamedTuple):
    """A speaker of a script; :meth:`Script.speaks` describes the fields."""

    name: str
    reply: type[BaseModel]
    role: str
    speaker: str
    phase: str
    prompt: str
    required: bool
    ids: Ids | None
    reads: Reads | None
    when: When | None
    rules: Rule | None
    ruled: Mapping[str, Any]
    evidence: Evidence
    of: str
    edits: Sequence[str]

    def make_phase(self) -> Phase:
        """Return the declaration of its turns, and of what a person may change in them."""
        fields = {name: field.annotation for name, field in self.reply.model_fields.items()}
        rules = self.rules is not None and fields.get("answer") is str
        by_label = self.rules is not None and "answer" not in fields and fields.get("label") is str
        set_by_person = {"rationale": SET_BY_PERSON} if "rationale" in fields else {}
        return Phase(
            role=self.role,
            name=self.phase,
            reply=(f"{self.reply.__module__}:{self.reply.__qualname__}",),
            editable=tuple(self.edits or (n for n, kind in fields.items() if kind is str)),
            switches=tuple(name for name, kind in fields.items() if kind is bool),
            optional=not self.required,
            ruling=(lambda text: {**self.ruled, **set_by_person, "answer": text}) if rules else None,
            labels=(lambda settings: ()) if by_label else None,
        )


class Inner(NamedTuple):
    """A debate by another protocol; see :meth:`Script.debates`."""

    debate: Held
    unless: When | None
    scores: Scores | None


class Rounds(NamedTuple):
    """The rounds of a script; see :meth:`Script.rounds`."""

    speakers: tuple[Station, ...]
    moderator: str
    times: str | int
    until: When | None


class Script:
    """The speakers of a debate and the order in which they speak."""

    def __init__(
        self, settings: type[ProtocolSettings], input: type[ProtocolInput] | None = None, *, prompts: str = ""
    ) -> None:
        """Begin a script; its default ``input`` is a question.

        If the settings derive from ``GroundedSettings``, the input also takes documents to argue from.
        ``prompts`` names the package of its prompts, if that is not its own package.
        """
        grounded = issubclass(settings, GroundedSettings)
        self.settings = settings
        self.input = input or (GroundedQuestion if grounded else QuestionInput)
        self.package = str(sys.modules[settings.__module__].__package__)
        self.prompts = prompts or self.package
        self.speakers: dict[str, Speaker] = {}
        """The speakers, by the names of their steps."""
        self.rules: dict[str, Rule] = {}
        self.retrievals: dict[str, Queries] = {}
        self.checkers: list[str] = []
        self.inner: dict[str, Inner] = {}
        self.before: Rounds | None = None
        """The rounds, which run before the other stations."""
        self.stations: tuple[Station, ...] = ()
        self._groups: dict[str, list[str]] = {}

    def speaks(
        self,
        name: str,
        reply: type[BaseModel],
        *,
        role: str = "",
        speakers: Sequence[str] = ("",),
        phase: str = "debate",
        prompt: str = "",
        required: bool = False,
        ids: Ids | None = None,
        reads: Reads | None = None,
        when: When | None = None,
        rules: Rule | bool = False,
        ruled: Mapping[str, Any] | None = None,
        evidence: Evidence = "",
        of: str = "",
        edits: Sequence[str] = (),
    ) -> None:
        """Add a speaker, or several speakers with one task.

        The prompt sees the input, the settings, ``said``, ``round`` and the speaker's ``name``.

        Args:
            name: the name of the step.
            reply: the class of the reply.
            role: the speaker's role in the debate; by default ``name``.
            speakers: the names of several speakers side by side, such as ``("A", "B")``. The user can
                set the model of ``role_a``, or of the whole role.
            phase: the phase of the debate.
            prompt: the name of the prompt; by default ``name``.
            required: whether the debate ends unresolved without the turn.
            ids: the closed sets of ids that a reply may name, by field.
            reads: returns further values for the prompt.
            when: returns whether the speaker speaks; by default always.
            rules: makes the verdict from the last turn (``Talk.last``). ``True`` takes the fields
                ``answer``, ``label``, ``rationale`` and ``confidence`` of the reply.
            ruled: further fields that the reply gets when a person changes the verdict.
            evidence: how the speaker uses sources: ``cites`` reads the retrieved segments and points at
                sentences. ``cited`` reads only the sentences that others cited, and ``pool`` all
                segments; both name the sentences behind the ruling. By default, a speaker that
                ``rules`` reads what was cited.
            of: the list in the reply whose items cite; "" for the reply as a whole.
            edits: the texts of the reply that a person may replace, the main text first; by default
                all texts, in the order of the fields.
        """
        if reserved_fields := {"name", "role", "phase", "round"}.intersection(reply.model_fields):
            raise InputError(
                f"{reply.__name__}: {', '.join(sorted(reserved_fields))}: every turn has this field"
            )
        role, prompt = role or name, f"{self.prompts}/{prompt or name}"
        rule, more = _ruling(role) if rules is True else rules or None, ruled or {}
        if not evidence and rule and issubclass(self.settings, GroundedSettings):
            evidence = "cited"
        self._groups[name] = [f"{name}_{who}".lower() if who else name for who in speakers]
        for step, who in zip(self._groups[name], speakers, strict=True):
            self.speakers[step] = Speaker(
                *(who or name, reply, role, who, phase, prompt, required),
                *(ids, reads, when, rule, more),
                *(evidence, of, edits),
            )

    def decides(self, name: str, rule: Rule) -> None:
        """Add a step that makes the verdict from the turns by a rule, without a model."""
        self.rules[name] = rule

    def debates(
        self, name: str, debate: Held, *, unless: When | None = None, scores: Scores | None = None
    ) -> None:
        """Add a debate by another protocol, at a part of the question.

        The debate is a station of its own, outside the rounds. It adds a turn of the phase ``DEBATED``,
        whose field ``verdict`` has the form that a rule returns. ``Protocol.inner`` has to name the
        other protocol.

        Args:
            name: the name of the step.
            debate: returns the other protocol's name and its input, as ``question_for`` makes it.
            unless: a pure rule that skips the debate.
            scores: returns scores of the question, each 0 to 1, for the record and for ``unless``;
                only together with ``unless``.
        """
        self.inner[name] = Inner(debate, unless, scores)

    def retrieves(self, name: str, queries: Queries = lambda talk: ()) -> None:
        """Add a step that retrieves from the sources, without a model.

        It searches for each of ``queries`` once, and for what speakers asked for.
        """
        self.retrievals[name] = queries

    def checks(self, name: str = CHECKER) -> None:
        """Add a step that checks every new point against the sentences behind it, by one call of a model."""
        self.checkers.append(name)

    def rounds(
        self,
        speakers: Sequence[Station],
        moderator: str = "",
        *,
        times: str | int,
        until: When | None = None,
        then: Station | Sequence[Station] = (),
    ) -> None:
        """Let ``speakers`` speak in turn, round by round, and the ``moderator`` after each round.

        Args:
            speakers: the stations of a round, one after another. Speakers in a tuple, or of one name,
                speak side by side, and do not hear each other in the round.
            times: the number of rounds, or the name of its setting.
            until: a pure rule that ends the rounds early. Then the moderator rules, if it is a
                speaker with ``rules``; otherwise the debate goes on with ``then``.
            then: the stations after the rounds; see :meth:`turns`.
        """
        self.before = Rounds(tuple(speakers), moderator, times, until)
        self.turns(*((then,) if isinstance(then, str) else then))

    def turns(self, *stations: Station) -> None:
        """Let speakers speak once, one after another; speakers in a tuple speak side by side.

        The last station rules: a speaker with ``rules``, or a step of :meth:`decides`.
        """
        self.stations = stations
        before = (*self.before.speakers, self.before.moderator) if self.before else ()
        names = Counter(name for station in (*before, *stations) for name in _several(station) if name)
        if repeated := [name for name, times in names.items() if times > 1]:
            name = repeated[0]
            raise InputError(
                f"{name!r} stands twice in the script, and a graph has each step once: give the second turn "
                f"its own name, speaks('second_{name}', ..., role={name!r}, prompt={name!r})"
            )

    def without(self, name: str) -> Script:
        """Return the script without ``name``, for an ablation; this has to be a speaker who speaks alone."""
        new_script = copy(self)
        new_script.speakers = {step: speaker for step, speaker in self.speakers.items() if step != name}
        new_script.stations = tuple(station for station in self.stations if station != name)
        if (rounds := self.before) is not None:
            speakers = tuple(station for station in rounds.speakers if station != name)
            new_script.before = rounds._replace(speakers=speakers)
            if rounds.moderator == name:
                new_script.before = new_script.before._replace(moderator="", until=None)
        return new_script

    def roles(self) -> dict[str, str]:
        """Return the roles that can have their own model, each with its family."""
        speakers = self.speakers.values()
        group_roles = {
            f"{speaker.role}_{speaker.speaker}".lower(): speaker.role
            for speaker in speakers
            if speaker.speaker
        }
        alone = [
            *(speaker.role for speaker in speakers if not speaker.speaker),
            *[CHECKER][: len(self.checkers)],
        ]
        return {**group_roles, **dict.fromkeys(alone, "")}

    def phases(self) -> tuple[Phase, ...]:
        """Return the phases of the roles, with what a person may change in them."""
        phases_by_role = {
            (speaker.role, speaker.phase): speaker.make_phase() for speaker in self.speakers.values()
        }
        return tuple(phases_by_role.values())

    def protocol(self, **declared: Any) -> Protocol:
        """Return the declaration, made from the script and the fields ``declared``."""
        fields: dict[str, Any] = {
            "input": self.input,
            "settings": self.settings,
            "graph": f"{self.package}.graph:graph",
            "roles": self.roles(),
            "prompts": (self.prompts,),
            "phases": self.phases(),
            "unit": "debate",
            "look": self._look(),
            "script": None if "graph" in declared else self,
        }
        return Protocol(**{**fields, **declared})

    def _look(self) -> Look:
        """Return the look: the speakers of the rounds face each other, and a moderator follows each round."""
        if self.before is None:
            return PLAIN
        spoke = [
            self.speakers[step]
            for station in self.before.speakers
            for step in _several(self.steps(station))
            if step in self.speakers
        ]
        moderator = [self.speakers[self.before.moderator]] if self.before.moderator else []
        phases = dict.fromkeys(speaker.phase for speaker in [*spoke, *moderator])
        facing = tuple(speaker.speaker or speaker.role for speaker in spoke)
        return Look(facing=facing, together=tuple(phases) if len(phases) > 1 else ())

    def variant(self, name: str, **declared: Any) -> Variant:
        """Return a variant that follows this script; its graph is called ``name``."""
        graph = {"graph": f"{self.package}.graph:{name}", "script": None if "graph" in declared else self}
        fields: dict[str, Any] = {**graph, "roles": self.roles()}
        return Variant(name=name, **{**fields, **declared})

    def compile(self, name: str) -> CompiledStateGraph[Any, Any, Any, Any]:
        """Return the graph, called ``name`` in traces and drawings."""
        return load("dialectree.flow.script:compile_script")(self, name)  # type: ignore[no-any-return]

    # The ways

    def steps(self, station: Station) -> Station:
        """Return the step of a station, or the several steps that it takes side by side."""
        steps = [step for name in _several(station) for step in self._groups.get(name, [name])]
        return steps[0] if len(steps) == 1 else tuple(steps)

    def ruling(self, name: Station) -> str:
        """Return the step that makes the verdict after the station ``name``; "" if it makes no verdict."""
        speaking = {step: f"{step}_rules" for step, speaker in self.speakers.items() if speaker.rules}
        return {**speaking, **{rule_name: rule_name for rule_name in self.rules}}.get(str(name), "")

    def gates(self) -> dict[str, str]:
        """Return the debates that a rule may skip, each under the name of the step before it."""
        return {f"{name}_due": name for name, inner in self.inner.items() if inner.unless}

    def closing(self) -> list[Station]:
        """Return the steps after the rounds, down to the one that makes the verdict."""
        gates = {debate: gate for gate, debate in self.gates().items()}
        stations: list[Station] = []
        for station in self.stations:
            stations += [gates[str(station)]] if station in gates else []
            stations.append(self.steps(station))
        last = stations[-1] if stations else self.before.moderator if self.before else ""
        if not (end := self.ruling(last)):
            raise InputError(f"the script ends with {last!r}, which makes no verdict")
        return stations if end == last else [*stations, end]

    def verdicts(self) -> dict[str, Rule]:
        """Return the rule of each step that makes a verdict, under the step's name."""
        rules_by_step = {
            f"{step}_rules": speaker.rules for step, speaker in self.speakers.items() if speaker.rules
        }
        stopping = self.before.moderator if self.before and self.before.until else ""
        used = {self.closing()[-1], self.ruling(stopping)}
        return {step: rule for step, rule in {**rules_by_step, **self.rules}.items() if step in used}

    def after_round(self, talk: Talk) -> str | list[str]:
        """Return the step, or the steps side by side, that follow a round. The rule is pure."""
        assert self.before is not None
        _, moderator, times, until = self.before
        over = until is not None and until(talk)
        if over and self.ruling(moderator) and talk.last.get("name") == moderator:
            return self.ruling(moderator)
        round_limit = times if isinstance(times, int) else getattr(talk.settings, times)
        if not over and talk.round < round_limit:
            return NEXT
        first = self.closing()[0] if talk.said else UNRESOLVED
        return first if isinstance(first, str) else [*first]


def _several(station: Station) -> tuple[str, ...]:
    return (station,) if isinstance(station, str) else station


def _ruling(role: str) -> Rule:
    """Return the rule that takes the verdict from the last turn."""

    def rule(talk: Talk) -> Mapping[str, Any]:
        fields = ("answer", "label", "rationale", "confidence")
        ruled = {name: talk.last[name] for name in fields if name in talk.last}
        sure = ruled.get("confidence") is not None
        return {**ruled, "confidence_source": role if sure else None}

    return rule
