"""Declare a protocol: everything else is made from this one declaration.

A package registers the declaration in the entry-point group ``dialectree.protocols``. Command, Python
function, agent tool, server form, record, report, contest, resume and evaluation read it. No other code of
dialectree knows a protocol by name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import BaseModel

from dialectree.errors import ArgumentError, InputError, SettingsError
from dialectree.protocols import plugins
from dialectree.protocols.evaluation import Dataset as Dataset
from dialectree.protocols.evaluation import Evaluation as Evaluation
from dialectree.protocols.evaluation import Task as Task
from dialectree.protocols.grounded import EVIDENCE, GroundedSettings
from dialectree.protocols.look import PLAIN, Look
from dialectree.protocols.options import ProtocolInput as ProtocolInput
from dialectree.protocols.options import get_option_details, juries
from dialectree.protocols.phases import UNORDERED, PhaseOrder
from dialectree.protocols.phases import Phase as Phase
from dialectree.protocols.plugins import Declaration
from dialectree.protocols.plugins import families as families
from dialectree.protocols.plugins import load as load
from dialectree.protocols.plugins import refuse as refuse
from dialectree.protocols.settings import SHARED, Own, ProtocolSettings, build_settings, inherit_settings
from dialectree.protocols.trust import find_marked_fields, map_entries
from dialectree.system.addresses import restore_credentials
from dialectree.system.packages import explain_missing_package, missing, require
from dialectree.text import suggest_nearest

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

DEEPEST = 8
"""Most levels of debates inside one another."""
WITHDRAWN = "[withdrawn: this turn counts for nobody]"
"""The text that speakers read in place of a turn that a person dropped."""
Outcome = Literal["answer", "choice", "probability", "comparison"]
VIEWS = ("tree", "rounds", "two_sided", "arguments")
"""A tree of questions; speakers round by round; two speakers facing each other by phase; arguments
for and against. A protocol may bring another view: a module of that name next to its graph."""
Roles = Mapping[str, str]
"""The roles that can have their own model, each with its family. A role without a family
is a family of its own."""
CHECKER, CHECK = "checker", "check"
"""The role that says whether sentences support a point, and its phase."""
CHECK_REPLY = "dialectree.evidence.steps:CheckReply"


@dataclass(frozen=True, kw_only=True)
class Variant:
    """Declare a baseline or an ablation of a protocol: another method for its task.

    ``graph`` is written ``module:attribute``. ``reads`` names the settings of the protocol that the
    variant reads. Fields that are not given are taken from the protocol.
    """

    name: str
    title: str = ""
    """The variant's name in reports; for an ablation the missing part: ``without the role switch``."""
    summary: str
    graph: str
    reads: Collection[str] | None = None
    roles: Roles | None = None
    prompts: tuple[str, ...] | None = None
    prepare: str = ""
    baseline: bool = False
    """True if reports compare debates with the variant; False if they call the variant a debate."""
    grounded: bool | None = None
    """Whether the variant argues from sources if its protocol does. None: a baseline does not, an
    ablation does."""
    calls: Callable[[Any], int] | None = None
    """Returns how many calls the variant takes with the given settings, whatever the replies are. An
    estimate then needs no rehearsal."""
    script: Any = None
    """The :class:`Script` that the graph is compiled from. ``graph`` need not exist then."""


@dataclass(frozen=True, kw_only=True)
class EarlyEnd:
    """Declare that speakers answer first, and that they debate only if too few of them agree."""

    phase: str
    """The phase of the first answers."""
    score: str
    """The name of the root's score with the share of the most frequent answer, 0 to 1."""
    threshold: str
    """The setting with the least share that needs no debate. If it is above 1, a debate is always held."""
    source: str
    """The ``confidence_source`` of a verdict without a debate."""
    debate: str = ""
    """The setting that names the protocol of the debate; "" if there is none."""


@dataclass(frozen=True, kw_only=True)
class Protocol(Declaration):
    """Declare a way in which models debate. Code to load later is named ``module:attribute``."""

    name: str
    """A short name for the command line and for records: ``rsd``."""
    title: str
    summary: str
    """The protocol's task, in one sentence without a subject, for help, forms and agents."""
    source: str
    """The paper."""
    command: str = ""
    """The verb of the protocol's command; without a verb, users type ``dialectree run NAME``."""
    examples: tuple[str, ...] = ()
    """Two calls for the help, without the name of the command: ``"Is it so?" --option yes``."""
    input: type[ProtocolInput]
    settings: type[ProtocolSettings]
    outcome: Outcome
    view: str = "rounds"
    """The view of its debates: one of ``VIEWS``, or a view of its own."""
    look: Look | Callable[[Mapping[str, Any]], Look] = PLAIN
    """Further details of how reports show the protocol's debates, or a function that returns these
    details from a run's settings."""
    unit: str = "part"
    """The noun for a node of a debate's tree."""
    graph: str
    script: Any = None
    """The :class:`Script` that the graph is compiled from. ``graph`` need not exist then."""
    roles: Roles
    speaking: Callable[[Any], Collection[str]] | None = None
    """Returns the roles that speak with these settings; None: all roles."""
    prompts: tuple[str, ...]
    """The packages with the protocol's prompts, each of them in a folder ``prompts``."""
    requires: str = ""
    """What pip has to install to run the protocol, if listing it needs less: ``dialectree[compare]``."""
    install_advice: str = ""
    """A note for the user before ``requires`` is installed, such as the size of the packages."""
    phases: tuple[Phase, ...] = ()
    """The phases of its roles and of its baselines' roles."""
    order: PhaseOrder = UNORDERED
    """The order of the phases within one node, including the phases of the protocol's baselines."""
    variants: tuple[Variant, ...] = ()
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """Named groups of settings; servers offer each as an assistant."""
    only_variants: Collection[str] = ()
    """Settings that only variants read."""
    prepare: str = "dialectree.flow.steps:prepare"
    """Names the function that turns the user's input (a mapping) and the settings into the input of
    the graph. It raises InputError for unusable input. The default keeps the input as it is."""
    evaluation: Evaluation | None = None
    demo: str = ""
    """The folder of a recorded debate, next to the graph; ``dialectree demo`` plays it."""
    early: EarlyEnd | None = None
    """How the protocol can end without a debate, if it can. Estimates and ``eval route`` then distinguish
    both ends."""
    inner: Callable[[Any], Collection[str]] | None = None
    """Returns the names of the protocols that, with the given settings, may debate inside this one. See
    :func:`dialectree.debate`."""

    def __post_init__(self) -> None:
        """Name the protocol in its settings; raise InputError for a wrong declaration."""
        if self.outcome not in (outcomes := get_args(Outcome)):
            listed = ", ".join(outcomes)
            raise InputError(f"protocol {self.name}: outcome {self.outcome!r} is not one of {listed}")
        package = self.graph.partition(":")[0].rpartition(".")[0]
        if self.view not in VIEWS and not (package and find_spec(f"{package}.{self.view}")):
            raise InputError(
                f"protocol {self.name}: view {self.view!r} is not one of {', '.join(VIEWS)}, and "
                f"there is no module {package}.{self.view}"
            )
        for name in ("examples", "prompts", "phases", "variants"):
            if not isinstance(getattr(self, name), tuple):
                raise InputError(f"protocol {self.name}: {name}: write a tuple, (one,) for one")
        earlier_protocol = vars(self.settings).get("declaration")
        if self.settings is ProtocolSettings or (earlier_protocol and earlier_protocol.name != self.name):
            owner = f"those of {earlier_protocol.name}" if earlier_protocol else "those of every protocol"
            raise InputError(f"protocol {self.name}: its settings are {owner}; derive a class")
        shared = ProtocolSettings.model_fields
        for kind in self.settings.__mro__[: self.settings.__mro__.index(ProtocolSettings)]:
            if redefined := sorted(set(kind.__annotations__).intersection(shared)):
                raise InputError(
                    f"protocol {self.name}: {', '.join(redefined)}: every protocol has that setting"
                )
        self.settings.protocol = self.name
        self.settings.declaration = self
        if self.grounded:
            self._add_checker()

    def _add_checker(self) -> None:
        """Add the checker, which every grounded protocol has, and its phase."""
        if not self.evidence_settings():
            raise InputError(
                f"protocol {self.name}: its input takes sources; derive its settings from GroundedSettings"
            )
        added: dict[str, Any] = {"roles": {**self.roles, CHECKER: ""}}
        if not any(phase.role == CHECKER for phase in self.phases):
            check_phase = Phase(role=CHECKER, name=CHECK, reply=(CHECK_REPLY,), optional=True)
            added["phases"] = (*self.phases, check_phase)
        if (order := self.order.phases) and CHECK not in order:
            added["order"] = replace(self.order, phases=(*order[:-1], CHECK, order[-1]))
        for name, value in added.items():  # the declaration is frozen otherwise
            object.__setattr__(self, name, value)

    @property
    def grounded(self) -> bool:
        """Return whether the protocol's debaters can argue from sources."""
        return self.input.grounded

    def evidence_settings(self) -> frozenset[str]:
        """Return the names of the settings on retrieval from sources and on the use of evidence.

        They include a protocol's own settings under the same heading of the help.
        """
        kind = self.settings
        if not (self.grounded and issubclass(kind, GroundedSettings)):
            return frozenset()
        group_names = {
            name for name in kind.model_fields if get_option_details(kind, name).get("group") == EVIDENCE
        }
        setting_names = frozenset(group_names).union(GroundedSettings.model_fields)
        return setting_names.difference(ProtocolSettings.model_fields)

    @property
    def ours(self) -> bool:
        """Return whether the protocol comes with dialectree."""
        return self.graph.startswith("dialectree.")

    def holds(self, settings: ProtocolSettings) -> list[str]:
        """Return the names of the protocols that debate directly inside it with these settings."""
        return [] if self.inner is None else [*dict.fromkeys(self.inner(settings))]

    def missing(self) -> list[str]:
        """Return the packages that the protocol's code needs, and that are not installed."""
        return missing(self.requires) if self.requires else []

    def own_settings(self) -> frozenset[str]:
        """Return the names of the protocol's own settings, which others need not have."""
        setting_names = frozenset(self.settings.model_fields) - frozenset(SHARED)
        return setting_names if self.inner is not None else setting_names - {"inner"}

    def list_declared_settings(self) -> Iterator[tuple[type[BaseModel], str]]:
        """Yield each setting with the class that declares it, the protocol's own settings first."""
        setting_names, evidence = self.own_settings(), self.evidence_settings()
        names = [name for name in self.settings.model_fields if name in setting_names]
        for name in sorted(names, key=evidence.__contains__):  # in their order, but evidence last
            yield self.settings, name
        yield from ((ProtocolSettings, name) for name in SHARED)

    def folder(self) -> Path:
        """Return the folder of the protocol's declaration and graphs."""
        package = self.graph.partition(":")[0].rpartition(".")[0]
        with suppress(ImportError):
            for folder in getattr(package and plugins.import_safely(package), "__path__", ()):
                return Path(folder)
        raise InputError(f"protocol {self.name}: {self.graph} is not in a package")

    def file(self, name: str) -> Path | None:
        """Return the file or folder ``name`` next to the protocol's graphs, or None."""
        with suppress(InputError):
            if (path := self.folder() / name).exists():
                return path
        return None

    def recording(self) -> Path:
        """Return the folder of the protocol's recorded debate."""
        return self.folder() / self.demo

    def faults(self) -> Iterator[tuple[str, str]]:
        """Yield the parts that do not load, each with the reason; imports the code of all parts."""
        for method in () if self.missing() else self.methods().values():
            try:
                method.graph().get_graph()
            except Exception as error:  # another package's module may raise anything
                yield method.variant.graph, plugins.fault(error)
        if self.demo and self.file(f"{self.demo}/run.json") is None:
            yield f"{self.name}, {self.demo}", "there is no recorded debate"

    def look_of(self, settings: Mapping[str, Any]) -> Look:
        """Return the look of a run with these recorded ``settings``."""
        return self.look if isinstance(self.look, Look) else self.look(settings)

    def phase(self, role: str, name: str) -> Phase | None:
        """Return the phase ``name`` of ``role``, or else the declaration for all phases of ``role``."""
        of_role = {phase.name: phase for phase in reversed(self.phases) if phase.role == role}
        return of_role.get(name) or of_role.get("")

    def methods(self) -> dict[str, Method]:
        """Return the protocol itself and its variants, by name."""
        itself = Variant(name=self.name, summary=self.summary, graph=self.graph, script=self.script)
        return {variant.name: Method(self, variant) for variant in (itself, *self.variants)}


_compiled: dict[tuple[Any, str], CompiledStateGraph[Any, Any, Any, Any]] = {}
"""The graphs of scripts, by script and method."""


@dataclass(frozen=True)
class Method:
    """A way to answer: a protocol itself, or one of its variants."""

    protocol: Protocol
    variant: Variant

    @property
    def name(self) -> str:
        """Return the method's name in commands and records."""
        return self.variant.name

    @property
    def grounded(self) -> bool:
        """Return whether the method can argue from sources."""
        override = self.variant.grounded
        return self.protocol.grounded and (not self.variant.baseline if override is None else override)

    def require_grounded(self) -> None:
        """Raise InputError unless the method can argue from sources; the error names methods that can."""
        if not self.grounded:
            able = [name for name, method in self.protocol.methods().items() if method.grounded]
            hint = f"; {', '.join(able)} can" if able else ""
            raise InputError(f"`sources`: {self.name} does not argue from sources{hint}")

    def on(self, debate_input: Mapping[str, Any]) -> Method:
        """Return the method for ``debate_input``: an ungrounded one if the input has no sources.

        An ungrounded debate has no checker, and reads and records no setting on evidence. An empty
        list of sources is for a debate in which a retriever alone finds them.
        """
        if debate_input.get("sources") is not None or not self.grounded:
            return self
        return replace(self, variant=replace(self.variant, grounded=False))

    def count_calls(self, settings: ProtocolSettings) -> tuple[int, int] | None:
        """Return the least and the most calls that the method takes; None if the replies decide this."""
        if self.variant.calls is None or self.grounded:
            return None
        return (calls := self.variant.calls(settings)), calls

    def graph(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        """Return the compiled graph; the graph of a script is compiled only once."""
        script = self.variant.script
        with self.packages():
            if script is None:
                return load(self.variant.graph)  # type: ignore[no-any-return]
            if (graph := _compiled.get((script, self.name))) is None:
                graph = _compiled.setdefault((script, self.name), script.compile(self.name))
            return graph

    def list_loaded_graphs(self) -> list[Any]:
        """Return the graphs of the method that this process has imported or compiled."""
        module, _, attribute = self.variant.graph.partition(":")
        imported = getattr(sys.modules.get(module), attribute, None)
        return [imported, _compiled.get((self.variant.script, self.name))]

    def packages(self) -> AbstractContextManager[None]:
        """Return a context that turns a missing package into an error with the pip line."""
        declared = self.protocol
        if not declared.requires:
            return nullcontext()
        require(declared.title, declared.requires, declared.install_advice)
        return explain_missing_package(declared.title, declared.requires, declared.install_advice)

    def prepare(self, debate_input: Mapping[str, Any], settings: ProtocolSettings) -> dict[str, Any]:
        """Return the input of the graph; raise InputError for input that cannot be debated."""
        path = self.variant.prepare or self.protocol.prepare
        with self.packages():
            return load(path)(debate_input, settings)  # type: ignore[no-any-return]

    def configure(self, user_settings: Mapping[str, Any], warn: Callable[[str], None]) -> ProtocolSettings:
        """Return the settings of one run; warn about given settings that have no effect.

        Raises InputError for a setting that the method does not read, and for an unknown role.
        """
        for name in sorted(self.protocol.own_settings() - self.reads()):
            if name in user_settings:
                raise ArgumentError(f"`{name}`: {self.name} has no such setting")
        settings = build_settings(self.protocol.settings, **user_settings)
        self.require_roles(settings, user_settings)
        for name, why in sorted(settings.find_unused_settings().items()):
            if name in user_settings and name in settings.asks():
                raise InputError(f"`{name}`: {why}")  # no person would be asked
            if name in user_settings:
                warn(f"`{name}`: {why}, so it changes nothing")
        return settings

    def require_roles(self, settings: ProtocolSettings, user_settings: Mapping[str, Any]) -> None:
        """Raise InputError for a role in ``user_settings`` that the method does not have."""
        role_names = self.role_names(settings)
        for role in sorted(set(user_settings.get("roles", {})).difference(role_names)):
            suggestion, names = suggest_nearest(role, role_names) or ";", ", ".join(role_names)
            raise InputError(f"`roles` {role}: {self.name} has no such role{suggestion} known: {names}")

    def role_names(self, settings: ProtocolSettings) -> list[str]:
        """Return the roles that speak with these settings, and their families."""
        roles = self.roles(settings)
        return [*dict.fromkeys([*roles, *filter(None, roles.values())])]

    def persons(self) -> frozenset[str]:
        """Return the names of the settings by which a person can take part."""
        return frozenset(find_marked_fields(self.protocol.settings, self.reads(), "person"))

    def reads(self) -> frozenset[str]:
        """Return the names of the method's own settings, without settings of protocols that debate inside."""
        evidence = self.protocol.evidence_settings()
        if self.variant.reads is not None:
            setting_fields = self.protocol.settings.model_fields
            setting_names = frozenset(self.variant.reads) | {"reader"}.intersection(setting_fields)
        else:
            setting_names = self.protocol.own_settings() - frozenset(self.protocol.only_variants)
        return setting_names | evidence if self.grounded else setting_names - evidence

    def list_inner_methods(
        self, settings: ProtocolSettings, around: tuple[str, ...] = ()
    ) -> list[tuple[Method, ProtocolSettings]]:
        """Return the protocols that debate inside this method, at any depth, each with its settings.

        Raises SettingsError for a protocol that would debate inside itself, and for settings that
        an inner protocol does not read.

        Args:
            around: the protocols around this one, the outermost first.
        """
        inner_methods: list[tuple[Method, ProtocolSettings]] = []
        if self.variant.baseline:
            return []
        around, inner_names = (*around, self.protocol.name), self.protocol.holds(settings)
        for name in settings.inner:
            if name not in inner_names:
                why = f"with these settings {self.name} holds no debate by {name}"
                raise SettingsError(f"`inner` {name}: {why}")
        for name in inner_names:
            if name in around:
                raise SettingsError(f"{' > '.join((*around, name))}: {name} debates inside itself")
            if len(around) >= DEEPEST:
                raise SettingsError(f"{' > '.join((*around, name))}: debates nest too deeply")
            inner_method = protocol(name).methods()[name]
            method_settings = inner_settings(settings, inner_method)
            inner_method = inner_method if self.grounded else inner_method.on({})
            inner_methods += [
                (inner_method, method_settings),
                *inner_method.list_inner_methods(method_settings, around),
            ]
        return inner_methods

    def own_roles(self) -> Roles:
        """Return the method's roles, without the roles of protocols that debate inside."""
        return self.protocol.roles if self.variant.roles is None else self.variant.roles

    def roles(self, settings: ProtocolSettings) -> dict[str, str]:
        """Return the roles that speak with these settings, each with its family."""
        inside = [inner_method._speaking(inner) for inner_method, inner in self.list_inner_methods(settings)]
        family_by_role: dict[str, str] = {}
        for roles in (self._speaking(settings), *inside):
            family_by_role |= {role: family for role, family in roles.items() if role not in family_by_role}
        return family_by_role

    def _speaking(self, settings: ProtocolSettings) -> dict[str, str]:
        """Return the method's own roles that speak with these settings."""
        roles = dict(self.own_roles())
        if self.protocol.speaking is not None and self.variant.roles is None:
            roles = {role: roles[role] for role in roles if role in self.protocol.speaking(settings)}
        checked = getattr(settings, "check", "none") != "none"
        if self.protocol.grounded and not (self.grounded and checked):
            roles.pop(CHECKER, None)
        return roles

    def models(self, settings: ProtocolSettings) -> dict[str, Any]:
        """Return the model of every role that speaks with these settings, and of every judge of a jury.

        The judges of a jury are called ``judge_1``, ``judge_2`` ...
        """
        models_by_name: dict[str, Any] = {}
        for method, method_settings in [(self, settings), *self.list_inner_methods(settings)]:
            reads = method.reads()
            for role in method._speaking(method_settings):
                jury = (
                    method_settings.jury_of(role) if juries(type(method_settings)).get(role) in reads else []
                )
                names = [f"{role}_{n}" for n in range(1, len(jury) + 1)]
                names = names if len(jury) > 1 else [role]
                for name, model in zip(names, jury or [method_settings.speaker(role)], strict=True):
                    models_by_name.setdefault(name, model)
        return models_by_name

    def prompts(self, settings: ProtocolSettings) -> tuple[str, ...]:
        """Return the folders of the prompts that the method uses with these settings."""
        folders = self.protocol.prompts if self.variant.prompts is None else self.variant.prompts
        inner = (
            folder
            for inner_method, _ in self.list_inner_methods(settings)
            for folder in inner_method.protocol.prompts
        )
        return tuple(dict.fromkeys((*folders, *inner)))

    def order(self, settings: ProtocolSettings) -> PhaseOrder:
        """Return the order of the method's phases, with the orders of protocols that debate inside."""
        inside = {
            inner_method.name: inner_method.protocol.order
            for inner_method, _ in self.list_inner_methods(settings)
        }
        return replace(self.protocol.order, inside=inside)


def inner_settings(outer: ProtocolSettings, inner: Method) -> ProtocolSettings:
    """Return the settings of a protocol that debates inside another one with settings ``outer``.

    The inner protocol takes models, limits and prices from ``outer``, and its own settings from
    ``outer.inner``. Raises SettingsError for a setting that the inner protocol does not read.
    """
    values: Any = map_entries(outer.inner.get(inner.name, {}), restore_credentials)
    for name in values:
        if name not in inner.reads() and name != "inner":
            suggestion = suggest_nearest(name, inner.reads(), f"{inner.name}.")
            raise SettingsError(
                f"`inner` {inner.name}.{name}: {inner.name} reads no such setting{suggestion}"
            )
    try:
        return inherit_settings(outer, inner.protocol.settings, values)
    except SettingsError as error:
        raise SettingsError(f"`inner` {inner.name}: {error}") from None


def follow_routes(settings: Own) -> Own:
    """Return the settings of a new run, completed from the route files that they name.

    A debate inside may have a route, too. Reads files, and raises InputError for a file that cannot
    be read or is for other models: see :meth:`ProtocolSettings.follow_route`.
    """
    inside = dict[str, Any]()
    for name, inner_values in settings.inner.items():
        chosen = protocol(name).methods()[name]
        if (
            chosen.protocol.settings.follow_route is ProtocolSettings.follow_route
            and "inner" not in inner_values
        ):
            continue
        before = inner_settings(settings, chosen)
        after = follow_routes(before)
        if after is not before:
            read = after.model_fields_set - before.model_fields_set | {"inner"}
            inside[name] = {**inner_values, **{field: getattr(after, field) for field in read}}
    if inside:
        settings = settings.model_copy(update={"inner": {**settings.inner, **inside}})
    return settings.follow_route()


def load_protocols() -> dict[str, Protocol]:
    """Return the installed protocols by name, ours first."""
    return plugins.load_declarations()[0]


def broken() -> dict[str, str]:
    """Return the unusable declarations, each with the reason."""
    return plugins.load_declarations()[1]


def unusable() -> dict[str, str]:
    """Return the unusable declarations and parts of declarations, each with the reason.

    Imports the graphs of the protocols that are not ours, and so LangGraph.
    """
    foreign_protocols = [declaration for declaration in load_protocols().values() if not declaration.ours]
    return {**broken(), **dict(pair for declaration in foreign_protocols for pair in declaration.faults())}


def protocol(name: str) -> Protocol:
    """Return the protocol called ``name``; raise InputError with the known names if it is unknown."""
    protocols = load_protocols()
    if name not in protocols:
        why = next((f" ({fault})" for path, fault in broken().items() if name in path), "")
        suggestion = suggest_nearest(name, protocols) or ";"
        raise InputError(
            f"{name}: no such protocol is installed{why}{suggestion} installed: {', '.join(protocols)}"
        )
    return protocols[name]


def methods() -> dict[str, Method]:
    """Return the methods of all protocols by name.

    If two protocols use one name, the first keeps it; the other's method is ``protocol.method``.
    """
    methods_by_name: dict[str, Method] = {}
    for declared in load_protocols().values():
        for name, method in declared.methods().items():
            methods_by_name[f"{declared.name}.{name}" if name in methods_by_name else name] = method
    return methods_by_name


def method(name: str, of: str | None = None) -> Method:
    """Return the method called ``name``; raise InputError with the known names if it is unknown."""
    methods_by_name = methods() if of is None else protocol(of).methods()
    if name not in methods_by_name:
        suggestion, names = suggest_nearest(name, methods_by_name) or ";", ", ".join(methods_by_name)
        raise InputError(f"`method` {name}: there is no such method{suggestion} known: {names}")
    return methods_by_name[name]


def taking_part(protocol_name: str, settings: Mapping[str, Any]) -> list[Protocol]:
    """Return the installed protocols that took part in a recorded run, the outer ones first."""
    protocols: dict[str, Protocol] = {}

    def take(name: str, raw_settings: Mapping[str, Any]) -> None:
        if (declaration := load_protocols().get(name)) is not None:
            protocols.setdefault(name, declaration)
        for inner, values in raw_settings.get("inner", {}).items():
            take(inner, values)

    take(protocol_name, settings)
    return [*protocols.values()]
