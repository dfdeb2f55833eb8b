"""Declare a protocol: everything else is made of this one declaration.

A declaration stands in the entry-point group ``dialectree.protocols``. Command, Python function,
agent tool, server form, record, report, contest, resume and evaluation read it. Nothing else in
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

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

DEEPEST = 8
"""Debates inside one another."""
WITHDRAWN = "[withdrawn: this turn counts for nobody]"
"""What the others read in the place of a turn that a person dropped."""
Outcome = Literal["answer", "choice", "probability", "comparison"]
VIEWS = ("tree", "rounds", "two_sided", "arguments")
"""A tree of questions; speakers round by round; two speakers facing each other by phase; arguments
for and against. A protocol may bring another view: a module of that name beside its graph."""
Roles = Mapping[str, str]
"""The roles that can be given a model of their own, each with the family that it belongs to. A role
without a family names itself."""
CHECKER, CHECK = "checker", "check"
"""The role that says whether sentences bear a point out, and its phase."""
CHECK_REPLY = "dialectree.evidence.steps:CheckReply"


@dataclass(frozen=True, kw_only=True)
class Variant:
    """Declare a baseline or an ablation of a protocol: the same task, done another way.

    ``graph`` is written ``module:attribute``. ``reads`` names those of the protocol's settings that
    mean something to the variant. What is not given is the protocol's.
    """

    name: str
    title: str = ""
    """What reports call it; of an ablation what it is without: ``without the role switch``."""
    summary: str
    graph: str
    reads: Collection[str] | None = None
    roles: Roles | None = None
    prompts: tuple[str, ...] | None = None
    prepare: str = ""
    baseline: bool = False
    """True where reports measure debates against it, instead of calling it a debate."""
    grounded: bool | None = None
    """Whether it argues from sources where its protocol does. Without a word, a baseline does
    not."""
    calls: Callable[[Any], int] | None = None
    """Returns how many calls it takes with these settings, whatever is replied, so that nobody has
    to rehearse it."""
    script: Any = None
    """The :class:`Script` that the graph is compiled from. ``graph`` need not exist then."""


@dataclass(frozen=True, kw_only=True)
class EarlyEnd:
    """Declare that speakers answer first, and that no debate is held where enough of them agree."""

    phase: str
    """The phase in which they answer."""
    score: str
    """The root's score: the share of the answers that are the most frequent one, 0 to 1."""
    threshold: str
    """The setting with the least score at which no debate is held; above 1 there always is one."""
    source: str
    """The ``confidence_source`` of a verdict without a debate."""
    debate: str = ""
    """The setting that names the protocol that debates, if one does."""


@dataclass(frozen=True, kw_only=True)
class Protocol(Declaration):
    """Declare a way in which models debate. Code that is loaded later is ``module:attribute``."""

    name: str
    """Short, for the command line and for records: ``rsd``."""
    title: str
    summary: str
    """What it does, in one sentence without its subject, for help, forms and agents."""
    source: str
    """The paper."""
    command: str = ""
    """The user's verb; without one: ``dialectree run NAME``."""
    examples: tuple[str, ...] = ()
    """Two calls for the help, without the name of the command: ``"Is it so?" --option yes``."""
    input: type[ProtocolInput]
    settings: type[ProtocolSettings]
    outcome: Outcome
    view: str = "rounds"
    """How its debates are shown: one of ``VIEWS``, or a view of its own."""
    look: Look | Callable[[Mapping[str, Any]], Look] = PLAIN
    """What reports say of them, beside the view; or returns that by the settings of a run."""
    unit: str = "part"
    """What one place of its tree is called."""
    graph: str
    script: Any = None
    """The :class:`Script` that the graph is compiled from. ``graph`` need not exist then."""
    roles: Roles
    speaking: Callable[[Any], Collection[str]] | None = None
    """Returns which of the roles speak with these settings; without it all do."""
    prompts: tuple[str, ...]
    """The folders of its prompts: each a package with a folder ``prompts``."""
    requires: str = ""
    """What pip installs for its code, where that is more than its package needs to be listed:
    ``dialectree[compare]``."""
    install_advice: str = ""
    """What the user should know before installing that, such as how large it is."""
    phases: tuple[Phase, ...] = ()
    """What its roles say, its baselines' included."""
    order: PhaseOrder = UNORDERED
    """The order of the phases within one node, its baselines' included."""
    variants: tuple[Variant, ...] = ()
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """Settings that servers offer by a name, each as an assistant."""
    only_variants: Collection[str] = ()
    """Settings that mean something to variants, and nothing to the protocol itself."""
    prepare: str = "dialectree.flow.steps:prepare"
    """Makes of the user's input (a mapping) and the settings what the graph takes, and raises
    InputError where that cannot be. The usual one leaves the input as it is."""
    evaluation: Evaluation | None = None
    demo: str = ""
    """The folder of a recorded debate, beside the graph; ``dialectree demo`` plays it."""
    early: EarlyEnd | None = None
    """How it can end without a debate; estimates and ``eval route`` tell the two ends apart."""
    inner: Callable[[Any], Collection[str]] | None = None
    """Returns the names of the protocols that :func:`dialectree.debate` may hold inside this one
    with these settings."""

    def __post_init__(self) -> None:
        """Name the protocol in its settings; refuse what no protocol can be declared with."""
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
        """Add the role that the kernel brings to every grounded protocol, and its phase."""
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
        for name, value in added.items():  # the declaration is frozen for everybody else
            object.__setattr__(self, name, value)

    @property
    def grounded(self) -> bool:
        """Whether its debaters can argue from sources."""
        return self.input.grounded

    def evidence_settings(self) -> frozenset[str]:
        """Return the settings that say what is retrieved from sources, and what comes of it.

        A protocol's own stand in the group of the others.
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
        """Whether the protocol comes with dialectree."""
        return self.graph.startswith("dialectree.")

    def holds(self, settings: ProtocolSettings) -> list[str]:
        """Return the names of the protocols that debate right inside it with these settings."""
        return [] if self.inner is None else [*dict.fromkeys(self.inner(settings))]

    def missing(self) -> list[str]:
        """Return the packages that its code needs and that are not installed."""
        return missing(self.requires) if self.requires else []

    def own_settings(self) -> frozenset[str]:
        """Return the names of the settings that not every protocol has."""
        setting_names = frozenset(self.settings.model_fields) - frozenset(SHARED)
        return setting_names if self.inner is not None else setting_names - {"inner"}

    def list_declared_settings(self) -> Iterator[tuple[type[BaseModel], str]]:
        """Yield the settings, its own first, each with the class that declares it."""
        setting_names, evidence = self.own_settings(), self.evidence_settings()
        names = [name for name in self.settings.model_fields if name in setting_names]
        for name in sorted(names, key=evidence.__contains__):  # as they stand, but evidence last
            yield self.settings, name
        yield from ((ProtocolSettings, name) for name in SHARED)

    def folder(self) -> Path:
        """Return the folder of its declaration and its graphs."""
        package = self.graph.partition(":")[0].rpartition(".")[0]
        with suppress(ImportError):
            for folder in getattr(package and plugins.import_safely(package), "__path__", ()):
                return Path(folder)
        raise InputError(f"protocol {self.name}: {self.graph} is not in a package")

    def file(self, name: str) -> Path | None:
        """Return the file or folder ``name`` beside its graphs, or None."""
        with suppress(InputError):
            if (path := self.folder() / name).exists():
                return path
        return None

    def recording(self) -> Path:
        """Return the folder of its recorded debate."""
        return self.folder() / self.demo

    def faults(self) -> Iterator[tuple[str, str]]:
        """Yield what does not load, each with the reason; the code that it needs is imported."""
        for method in () if self.missing() else self.methods().values():
            try:
                method.graph().get_graph()
            except Exception as error:  # whatever a stranger's module raises
                yield method.variant.graph, plugins.fault(error)
        if self.demo and self.file(f"{self.demo}/run.json") is None:
            yield f"{self.name}, {self.demo}", "there is no recorded debate"

    def look_of(self, settings: Mapping[str, Any]) -> Look:
        """Return how a run with these ``settings``, as a record keeps them, is shown."""
        return self.look if isinstance(self.look, Look) else self.look(settings)

    def phase(self, role: str, name: str) -> Phase | None:
        """Return what ``role`` says in the phase ``name``; the phase's own declaration counts."""
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
    """Answer in one way: by a protocol, or by a variant of it."""

    protocol: Protocol
    variant: Variant

    @property
    def name(self) -> str:
        """Return the name by which commands and records know it."""
        return self.variant.name

    @property
    def grounded(self) -> bool:
        """Whether it can argue from sources."""
        override = self.variant.grounded
        return self.protocol.grounded and (not self.variant.baseline if override is None else override)

    def require_grounded(self) -> None:
        """Raise InputError, with the methods that can, unless it can argue from sources."""
        if not self.grounded:
            able = [name for name, method in self.protocol.methods().items() if method.grounded]
            hint = f"; {', '.join(able)} can" if able else ""
            raise InputError(f"`sources`: {self.name} does not argue from sources{hint}")

    def on(self, debate_input: Mapping[str, Any]) -> Method:
        """Return the method as it debates the input ``debate_input``: ungrounded without sources.

        Then nobody checks, and no setting on evidence is read or recorded. An empty list of sources
        stands where a retriever alone finds them.
        """
        if debate_input.get("sources") is not None or not self.grounded:
            return self
        return replace(self, variant=replace(self.variant, grounded=False))

    def count_calls(self, settings: ProtocolSettings) -> tuple[int, int] | None:
        """Return the least and the most calls that it takes; None where its replies decide."""
        if self.variant.calls is None or self.grounded:
            return None
        return (calls := self.variant.calls(settings)), calls

    def graph(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        """Return the compiled graph; that of a script is compiled once."""
        script = self.variant.script
        with self.packages():
            if script is None:
                return load(self.variant.graph)  # type: ignore[no-any-return]
            if (graph := _compiled.get((script, self.name))) is None:
                graph = _compiled.setdefault((script, self.name), script.compile(self.name))
            return graph

    def loaded_graphs(self) -> list[Any]:
        """Return the graphs of the method that this process has imported or compiled."""
        module, _, attribute = self.variant.graph.partition(":")
        imported = getattr(sys.modules.get(module), attribute, None)
        return [imported, _compiled.get((self.variant.script, self.name))]

    def packages(self) -> AbstractContextManager[None]:
        """Return a context in which a missing package is an error with the pip line."""
        declared = self.protocol
        if not declared.requires:
            return nullcontext()
        require(declared.title, declared.requires, declared.install_advice)
        return explain_missing_package(declared.title, declared.requires, declared.install_advice)

    def prepare(self, debate_input: Mapping[str, Any], settings: ProtocolSettings) -> dict[str, Any]:
        """Return what the graph takes; raise InputError for input that cannot be debated."""
        path = self.variant.prepare or self.protocol.prepare
        with self.packages():
            return load(path)(debate_input, settings)  # type: ignore[no-any-return]

    def configure(self, user_settings: Mapping[str, Any], warn: Callable[[str], None]) -> ProtocolSettings:
        """Return the settings of one run; warn of those given that change nothing beside others.

        Raises InputError for a setting that the method does not read, and for an unknown role.
        """
        for name in sorted(self.protocol.own_settings() - self.reads()):
            if name in user_settings:
                raise ArgumentError(f"`{name}`: that is no setting of {self.name}")
        settings = build_settings(self.protocol.settings, **user_settings)
        self.require_roles(settings, user_settings)
        for name, why in sorted(settings.find_unused_settings().items()):
            if name in user_settings and name in settings.asks():
                raise InputError(f"`{name}`: {why}")  # nobody would be asked
            if name in user_settings:
                warn(f"`{name}`: {why}, so it changes nothing")
        return settings

    def require_roles(self, settings: ProtocolSettings, user_settings: Mapping[str, Any]) -> None:
        """Raise InputError for a role among those ``user_settings`` that the method does not have."""
        role_names = self.role_names(settings)
        for role in sorted(set(user_settings.get("roles", {})).difference(role_names)):
            names = ", ".join(role_names)
            raise InputError(f"`roles` {role}: {self.name} has no such role; known: {names}")

    def role_names(self, settings: ProtocolSettings) -> list[str]:
        """Return the roles that speak with these settings, and their families."""
        roles = self.roles(settings)
        return [*dict.fromkeys([*roles, *filter(None, roles.values())])]

    def persons(self) -> frozenset[str]:
        """Return the names of the settings by which a person can take part."""
        return frozenset(find_marked_fields(self.protocol.settings, self.reads(), "person"))

    def reads(self) -> frozenset[str]:
        """Return its own settings, without those of the protocols that debate inside."""
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
        """Return the protocols that debate inside with these settings, however deep, with theirs.

        Raises SettingsError for a protocol that would debate inside itself, and for settings that
        an inner one does not read.

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
        """Return its roles, without those of the protocols that debate inside."""
        return self.protocol.roles if self.variant.roles is None else self.variant.roles

    def roles(self, settings: ProtocolSettings) -> dict[str, str]:
        """Return the roles that speak with these settings, each with its family."""
        inside = [inner_method._speaking(inner) for inner_method, inner in self.list_inner_methods(settings)]
        family_by_role: dict[str, str] = {}
        for roles in (self._speaking(settings), *inside):
            family_by_role |= {role: family for role, family in roles.items() if role not in family_by_role}
        return family_by_role

    def _speaking(self, settings: ProtocolSettings) -> dict[str, str]:
        """Return its own roles that speak with these settings."""
        roles = dict(self.own_roles())
        if self.protocol.speaking is not None and self.variant.roles is None:
            roles = {role: roles[role] for role in roles if role in self.protocol.speaking(settings)}
        checked = getattr(settings, "check", "none") != "none"
        if self.protocol.grounded and not (self.grounded and checked):
            roles.pop(CHECKER, None)
        return roles

    def models(self, settings: ProtocolSettings) -> dict[str, Any]:
        """Return the model of every role that speaks with these settings, of every judge of a jury.

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
        """Return the folders of prompts that it speaks from with these settings."""
        folders = self.protocol.prompts if self.variant.prompts is None else self.variant.prompts
        inner = (
            folder
            for inner_method, _ in self.list_inner_methods(settings)
            for folder in inner_method.protocol.prompts
        )
        return tuple(dict.fromkeys((*folders, *inner)))

    def order(self, settings: ProtocolSettings) -> PhaseOrder:
        """Return the order of its phases, with those of the protocols that debate inside."""
        inside = {
            inner_method.name: inner_method.protocol.order
            for inner_method, _ in self.list_inner_methods(settings)
        }
        return replace(self.protocol.order, inside=inside)


def inner_settings(outer: ProtocolSettings, inner: Method) -> ProtocolSettings:
    """Return the settings of a protocol that debates inside one with the settings ``outer``.

    It has the models, limits and prices of ``outer``, and its own settings from ``outer.inner``.
    Raises SettingsError for one that it does not read.
    """
    values: Any = map_entries(outer.inner.get(inner.name, {}), restore_credentials)
    for name in values:
        if name not in inner.reads() and name != "inner":
            raise SettingsError(f"`inner` {inner.name}.{name}: {inner.name} reads no such setting")
    try:
        return inherit_settings(outer, inner.protocol.settings, values)
    except SettingsError as error:
        raise SettingsError(f"`inner` {inner.name}: {error}") from None


def follow_routes(settings: Own) -> Own:
    """Return the settings of a run that begins, with what the files of their routes say.

    A debate inside may have a route, too. Reads files, and raises InputError for one that cannot be
    read or holds for other models: see :meth:`ProtocolSettings.follow_route`.
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
    """Return the protocols that are installed, by name, ours before others."""
    return plugins.load_declarations()[0]


def broken() -> dict[str, str]:
    """Return the declarations that cannot be used, each with the reason."""
    return plugins.load_declarations()[1]


def unusable() -> dict[str, str]:
    """Return what packages declare that cannot be used, each with the reason.

    The graphs of protocols that are not ours are imported for it, and LangGraph with them.
    """
    foreign_protocols = [declaration for declaration in load_protocols().values() if not declaration.ours]
    return {**broken(), **dict(pair for declaration in foreign_protocols for pair in declaration.faults())}


def protocol(name: str) -> Protocol:
    """Return the protocol called ``name``; else raise InputError with the known names."""
    protocols = load_protocols()
    if name not in protocols:
        why = next((f" ({fault})" for path, fault in broken().items() if name in path), "")
        raise InputError(f"{name}: no such protocol is installed{why}; {', '.join(protocols)} are")
    return protocols[name]


def methods() -> dict[str, Method]:
    """Return every method of every protocol by name.

    The protocol that was there first keeps a name; of another one it is ``protocol.method``.
    """
    methods_by_name: dict[str, Method] = {}
    for declared in load_protocols().values():
        for name, method in declared.methods().items():
            methods_by_name[f"{declared.name}.{name}" if name in methods_by_name else name] = method
    return methods_by_name


def method(name: str, of: str | None = None) -> Method:
    """Return the method called ``name``; else raise InputError with the known names."""
    methods_by_name = methods() if of is None else protocol(of).methods()
    if name not in methods_by_name:
        raise InputError(f"`method` {name}: there is no such method; known: {', '.join(methods_by_name)}")
    return methods_by_name[name]


def taking_part(protocol_name: str, settings: Mapping[str, Any]) -> list[Protocol]:
    """Return the installed protocols of a recorded run, the outer ones first, by its settings."""
    protocols: dict[str, Protocol] = {}

    def take(name: str, raw_settings: Mapping[str, Any]) -> None:
        if (declaration := load_protocols().get(name)) is not None:
            protocols.setdefault(name, declaration)
        for inner, values in raw_settings.get("inner", {}).items():
            take(inner, values)

    take(protocol_name, settings)
    return [*protocols.values()]
