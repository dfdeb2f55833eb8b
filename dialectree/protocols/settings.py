"""Define the settings that every protocol has, and find a run's settings in a step of its graph.

A protocol declares its own settings in a subclass of :class:`ProtocolSettings`. That class is the
context of the protocol's graphs. It has the shared settings, too.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar, overload

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    model_validator,
)

from dialectree.errors import ArgumentError, InputError, SettingsError
from dialectree.protocols import sources
from dialectree.protocols.forms import settings_form
from dialectree.protocols.options import (
    ModelOptions,
    Price,
    PromptForm,
    Speaker,
    get_option_details,
    juries,
    option,
    prices_by_model,
    require_role,
)
from dialectree.protocols.reader_names import FileReader
from dialectree.protocols.trust import (
    ADDRESS,
    Access,
    Trust,
    find_marked_fields,
    find_named,
    list_address_settings,
    map_entries,
    opener,
    without_reserved,
)
from dialectree.system.addresses import (
    harmless,
    hide_credentials,
    redact_passwords,
    require_address,
    require_spec,
    restore_credentials,
)
from dialectree.system.platform_internals import on_a_server

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable
    from langgraph.runtime import RunControl, Runtime

EMBEDDED = "local:smollm2"
FIRST_AT_ONCE = 8
"""Number of requests at once with which a run begins at an address whose limit is unknown."""
Inner = Annotated[dict[str, dict[str, Any]], BeforeValidator(sources.by_protocol), ADDRESS]
Own = TypeVar("Own", bound="ProtocolSettings")
_NOTHING: Mapping[str, Any] = {}


class ProtocolSettings(BaseModel):
    """Keep the settings of a debate; refuse unknown names and values out of range.

    Settings that are not given come from the environment or dialectree.toml; see ``sources``.
    """

    model_config = ConfigDict(
        extra="forbid",
        arbitrary_types_allowed=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        frozen=True,
        hide_input_in_errors=True,
        defer_build=True,
    )
    protocol: ClassVar[str] = ""
    """The protocol's name."""
    declaration: ClassVar[Any] = None
    """The :class:`Protocol` with these settings. The protocol itself sets this field."""

    model: Speaker = option(EMBEDDED, group="Models", common=True, metavar="SPEC")
    """The model of every role without its own model."""
    roles: dict[Annotated[str, AfterValidator(require_role)], Speaker] = option(
        default_factory=dict, group="Models", common=True, alias="role", metavar="ROLE=SPEC"
    )
    """The model of a role, by the role's name. You may name roles of any method; a method reads only
    its own."""
    base_url: Annotated[str, AfterValidator(require_address), ADDRESS] | None = option(
        None, operator=True, group="Models", common=True, metavar="URL"
    )
    """Address of the OpenAI-compatible endpoint, for specs without an address. User, password and
    query of an address are used but never stored: give them again to resume a run. The key of the
    environment goes only to addresses that a flag, a variable or a host's program names."""
    seed: int = option(0, ge=0, lt=2**53, group="Draws and replays")
    """Fixes the debate's own random draws, and is part of every request."""

    concurrency: int = option(32, ge=1, le=1000, operator=True, group="Requests")
    """Most requests at once at one address. If not set, a run starts with 8, and sends more while
    replies come as fast as before."""
    requests_per_minute: float | None = option(None, gt=0, operator=True, group="Requests")
    """Requests started per minute, in the whole process; by default no limit."""
    call_deadline: float = option(300, gt=0, le=86400, operator=True, group="Requests")
    """Seconds that one call may take, its retries included. Time spent waiting for other calls, or
    because the endpoint asks to wait, does not count."""
    prompt_form: PromptForm = option("auto", group="Models")
    """The form of the prompts: the whole prompt (``full``), the same with its task repeated at the end
    (``medium``), or a brief form (``small``). ``auto``: ``small`` below 0.5 billion parameters,
    ``medium`` below 8.5 billion, if a .gguf file or a server at a loopback address tells their number."""
    language: str = option(
        "auto", max_length=40, pattern=r"^(\p{L}+([ -]\p{L}+)*)?$", group="Models", before=""
    )
    """The language in which speakers write: that of the question (auto), or a named language, such
    as German; empty: prompts do not name a language."""
    model_options: ModelOptions = option(
        default_factory=dict, operator=True, group="Models", alias="model-option", metavar="NAME=VALUE"
    )
    """A field of every request to a model, by the provider's name for it: ``reasoning_effort=low``,
    ``max_tokens=4000``. The value is JSON, or else a text. It replaces a role's own value."""
    inner: Inner = option(
        default_factory=dict, group="Debates inside", alias="set", metavar="PROTOCOL.SETTING=VALUE"
    )
    """Settings of the protocols that debate inside this one, by protocol:
    ``rsd.judge_orders=both``. Shared settings are those of the whole debate."""
    max_calls: int | None = option(None, ge=1, group="Budgets", common=True)
    """Budget of calls to models. Replies from a cache or a journal cost nothing."""
    max_tokens: int | None = option(None, ge=1, group="Budgets")
    """Budget of prompt and completion tokens together."""
    max_seconds: float | None = option(None, gt=0, group="Budgets")
    """Budget of wall-clock seconds."""
    max_cost: float | None = option(None, gt=0, group="Budgets")
    """Budget of money, in the unit of ``prices``."""
    prices: Annotated[dict[str, Price], AfterValidator(prices_by_model)] = option(
        default_factory=dict,
        operator=True,
        group="Budgets",
        alias="price",
        metavar="SPEC=PROMPT,COMPLETION[,CACHED]",
    )
    """Price of a million prompt and a million completion tokens, by spec. A third number is the
    price of a million prompt tokens that the provider read from its cache; without it they cost
    as much as other prompt tokens."""
    cache: bool = option(True, operator=True, group="Requests")
    """Answer repeated requests from the reply cache."""
    prompts: bool = option(True, group="Requests")
    """Keep the messages of every call in the run's folder."""
    replay: bool = option(False, operator=True, group="Draws and replays")
    """Answer only from the reply cache; a request that is not in it is an error."""
    calibration: Path | None = option(None, operator=True, group="Calibration", metavar="FILE")
    """Show the verdict's confidence also calibrated, by a file of ``eval calibrate``. A file for
    another protocol or other models is refused. The run keeps the calibrations that it needs."""

    _trust: Trust = PrivateAttr(default=Trust())
    _explicit_settings: Mapping[str, Any] = PrivateAttr(default_factory=dict)
    """The settings that were given explicitly, as they were given. All others are defaults, or come
    from the environment or the file."""

    @classmethod
    def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:
        """Return the form for a server's clients; the server also uses it to recognise settings."""
        return settings_form(cls.declaration, super().model_json_schema(*args, **options))

    @property
    def trust(self) -> Trust:
        """Return the record of who chose the addresses and model files: it says which a run may use."""
        return self._trust

    def __init__(self, **values: Any) -> None:
        """Take settings from a host's program, or from a mapping that LangGraph passes to a graph.

        On a server that mapping is a client's, and this code cannot tell the two apart. On a
        server, settings of other protocols have no effect, and the record names these settings.
        """
        settings_of_kind = _without_others(values, type(self)) if on_a_server() else values
        self._fill(settings_of_kind, _trust_host(type(self), settings_of_kind))
        self._explicit_settings = values

    def _fill(self, values: Mapping[str, Any], trust: Trust) -> None:
        """Validate ``values``, completed from environment and file."""
        configured = sources.read_configuration(type(self).protocol, type(self).model_fields)
        super().__init__(**sources.over(values, configured))
        self._explicit_settings, self._trust = values, trust

    @model_validator(mode="wrap")
    @classmethod
    def _hide_secrets(cls, values: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Validate ``values``; an error shows a wrong value without its passwords."""
        try:
            return handler(values)
        except ValidationError as error:
            raise harmless(error) from None

    @model_validator(mode="after")
    def _keep_secrets_apart(self) -> Self:
        """Remove passwords from the values that are later printed, traced or recorded."""
        for name in list_address_settings(type(self)):
            public_one = map_entries(getattr(self, name), hide_credentials)
            object.__setattr__(self, name, public_one)  # frozen otherwise
        return self

    @model_validator(mode="after")
    def _check_inner(self) -> Self:
        """Refuse an impossible debate inside, and settings that a debate inside does not read."""
        if self.declaration is not None and (self.inner or self.declaration.inner):
            try:
                self.declaration.methods()[self.protocol].list_inner_methods(self)
            except InputError as error:
                raise ValueError(str(error)) from None
        return self

    @model_validator(mode="after")
    def _check_replay(self) -> Self:
        if self.replay and not self.cache:
            raise ValueError("`replay` and `cache=False` exclude each other: replay reads the cache")
        return self

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy; values in ``update`` count as given explicitly."""
        copy = super().model_copy(update=update, deep=deep)
        copy._explicit_settings = {**self._explicit_settings, **(update or {})}
        return copy

    def choose_first_window(self) -> int | None:
        """Return how many requests an address gets at first; None: the user's number."""
        usual = type(self).model_fields["concurrency"].default
        is_explicit = "concurrency" in self._explicit_settings or self.concurrency != usual
        return None if is_explicit else FIRST_AT_ONCE

    def speaker(self, role: str, who: str = "") -> str | Runnable[Any, Any]:
        """Return the model that plays ``role``; ``who`` names the speaker if two play the role.

        A model can be set for one speaker, for the role, or for its family. If a jury plays the role,
        a question to a single judge goes to the first judge.
        """
        if jury := self.jury_of(role):
            return jury[0]
        family = self.declaration.roles.get(role, "") if self.declaration else ""
        for name in (f"{role}_{who}".lower(), role, family):
            if name in self.roles:
                return self.roles[name]  # type: ignore[no-any-return]
        return self.model  # type: ignore[no-any-return]

    def follow_route(self) -> Self:
        """Return the settings of a new run, completed from the files that they name."""
        return self

    def jury_of(self, role: str) -> list[str | Runnable[Any, Any]]:
        """Return the models that play ``role`` side by side; empty if one model plays the role."""
        name = juries(type(self)).get(role)
        return [] if name is None else getattr(self, name)

    def models(self) -> list[Any]:
        """Return every model that the settings name."""
        jurors = [juror for role in juries(type(self)) for juror in self.jury_of(role)]
        return [self.model, *self.roles.values(), *jurors]

    def asks(self) -> list[str]:
        """Return the names of the settings that let a person take part now, also in debates inside."""
        fields = type(self).model_fields
        persons = find_marked_fields(type(self), fields, "person")
        setting_names = [name for name in persons if getattr(self, name) != fields[name].default]
        if self.declaration is None or self.declaration.inner is None:
            return setting_names
        inside = self.declaration.methods()[self.protocol].list_inner_methods(self)
        return [*setting_names, *(name for _, inner in inside for name in inner.asks())]

    def find_unused_settings(self) -> Mapping[str, str]:
        """Return the settings that have no effect because of others, each with the reason."""
        return {}

    def shared(self) -> dict[str, Any]:
        """Return the settings that a debate inside shares with this one; addresses have their passwords."""
        values = {name: getattr(self, name) for name in SHARED}
        opened = {
            n: map_entries(values[n], restore_credentials)
            for n in list_address_settings(ProtocolSettings)
            if n in SHARED
        }
        return {**values, **opened}

    def make_inner_defaults(self, kind: type[ProtocolSettings]) -> Mapping[str, Any]:
        """Return further defaults for a debate inside, whose settings are of ``kind``."""
        return {}


SHARED = tuple(name for name in ProtocolSettings.model_fields if name != "inner")
"""The settings that every protocol has. Only protocols with debates inside also have ``inner``."""


def embeddings_name(name: str) -> str:
    """Return the name of an embedding model, without blanks; raise ValueError if its address is wrong."""
    return require_spec(name)[0] if name.startswith("openai:") else name


class RetrievalSettings(ProtocolSettings):
    """Keep the settings of a protocol that retrieves evidence from texts."""

    embeddings: Annotated[str, AfterValidator(embeddings_name), ADDRESS] = option(
        "BAAI/bge-small-en-v1.5", min_length=1, operator=True, group="Evidence", metavar="NAME"
    )
    """The retriever: a sentence-transformers model by name, path or installed package,
    ``openai:NAME@URL``, or ``bm25``."""
    reader: FileReader = option(
        None, operator=True, code=True, group="Evidence", metavar="[.END=]MODULE:NAME"
    )
    """Your own reader of files: a function of a path, or the class of a LangChain document loader.
    ``.pdf,.png=MODULE:NAME`` uses it for files with these endings. It runs code: only a flag, a
    variable or a program can set it."""

    def find_reader(self) -> Any:
        """Return the reader that the person, the operator or the program named, or None."""
        return None if "reader" in self.trust.unnamed else self.reader

    def embeddings_access(self) -> Access:
        """Return whether the endpoint of the embeddings, if they have one, may be used and gets a key."""
        return self.trust.embeddings(self.embeddings, self.base_url)

    def require_embeddings(self) -> None:
        """Raise SettingsError if the endpoint or the file of the embeddings may not be used."""
        if refusal := self.embeddings_access().refusal:
            raise SettingsError(refusal)


def build_settings(kind: type[Own], **values: Any) -> Own:
    """Return settings from the values that the person or the host's program gave.

    Raises ArgumentError for an unknown name, and SettingsError, with one line for each setting, for
    wrong values.
    """
    return _make(kind, values, Trust.from_settings(kind, values))


def accept_settings(
    kind: type[Own], values: Mapping[str, Any], recorded: Mapping[str, Any] | None = None
) -> Own:
    """Return settings from the values that a client of a server sent.

    Raises SettingsError for settings that only the server's operator may choose, before it reads
    any value, and the errors of :func:`build_settings`.

    Args:
        recorded: settings from the state of the client's thread, which the client may have changed.
            They are the defaults of ``values``, except the operator's settings.
    """
    lent = {} if recorded is None else _reopen(kind, without_reserved(kind, recorded), values)
    settings = _make(kind, {**lent, **values}, Trust.of_client(kind, values, lent))
    settings._explicit_settings = values
    return settings


def read_settings(
    kind: type[Own],
    recorded: Mapping[str, Any],
    lender: str,
    changes: Mapping[str, Any] = _NOTHING,
    *,
    own_run: bool = False,
) -> Own:
    """Return the settings that ``lender`` recorded, with the ``changes`` given now.

    An address is recorded without user, password and query. If the same address is given now with
    these parts, the recorded address gets them back.

    Args:
        own_run: whether ``lender`` is a run in the current folder of runs.
    """
    trust = Trust.from_settings(kind, changes, recorded, lender, own_run)
    settings = _make(kind, {**_reopen(kind, recorded, changes), **changes}, trust)
    settings._explicit_settings = changes
    return settings


def inherit_settings(outer: ProtocolSettings, kind: type[Own], values: Mapping[str, Any]) -> Own:
    """Return settings of another protocol, which takes part in a run with settings ``outer``.

    The other protocol takes models, limits and trust from ``outer``, and its own settings from
    ``values``, environment and file.
    """
    return _make(kind, {**outer.shared(), **outer.make_inner_defaults(kind), **values}, outer.trust)


def _reopen(kind: type[Own], recorded: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``recorded`` settings, with the passwords of the addresses given now."""
    addresses, opened = list_address_settings(kind), opener(find_named(kind, changes))
    recorded = {**_older_values(kind, recorded), **recorded}
    return {n: map_entries(value, opened) if n in addresses else value for n, value in recorded.items()}


def _older_values(kind: type[Own], recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Return values for settings that did not exist when the run was recorded."""
    fields = {name: get_option_details(kind, name) for name in kind.model_fields if name not in recorded}
    return {name: extra["before"] for name, extra in fields.items() if "before" in extra}


def _make(kind: type[Own], values: Mapping[str, Any], trust: Trust) -> Own:
    if unknown := sorted(values.keys() - kind.model_fields.keys()):
        faults = (f"{redact_passwords(name)}: {sources.no_such(name, kind.model_fields)}" for name in unknown)
        raise ArgumentError("; ".join(faults))
    settings = kind.__new__(kind)
    try:
        settings._fill(values, trust)
    except ValidationError as error:
        raise SettingsError("; ".join(sources.lines(error, values, kind.protocol))) from None
    return settings


def _trust_host(kind: type[Own], values: Mapping[str, Any]) -> Trust:
    """Return the trust in ``values`` that were passed to a graph, on a server by a client."""
    return Trust.of_client(kind, values) if on_a_server() else Trust.from_settings(kind, values)


host_run: ContextVar[RunControl | None] = ContextVar("host_run", default=None)
"""The run of the current step, if a host drives the graph."""
of_the_run: ContextVar[tuple[object, ProtocolSettings | None]] = ContextVar(
    "of_the_run", default=(None, None)
)
"""The context that a host passed to the graph of the current run, and the run's settings. The settings
replace the context, because the context of a resumed run names only changed settings."""


@overload
def settings(runtime: Runtime[Any]) -> ProtocolSettings: ...
@overload
def settings(runtime: Runtime[Any], kind: type[Own]) -> Own: ...
def settings(runtime: Runtime[Any], kind: type[ProtocolSettings] = ProtocolSettings) -> Any:
    """Return the settings of ``kind`` for this run, from what the caller passed to the graph."""
    context: object = runtime.context
    passed, run_settings = of_the_run.get()
    if isinstance(run_settings, kind) and (context is passed or not isinstance(context, kind)):
        return run_settings
    if isinstance(context, kind):
        return context
    return _among(context if run_settings is None else run_settings, kind)


def _among(context: object, kind: type[Own]) -> Own:
    """Return the settings in a host's own context: its part ``dialectree``, or the whole mapping."""
    if not context:
        return _build_cached_settings(_NOTHING, kind)
    part = _extract_own_part(context)
    if isinstance(part, kind):
        return part
    if isinstance(part, ProtocolSettings | Mapping):
        return _build_cached_settings(part, kind)
    raise SettingsError(
        f"the graph's context ({type(context).__name__}) holds no settings: give it an attribute "
        f"`dialectree` with a {kind.__module__}.{kind.__qualname__} or a mapping of settings, or "
        "invoke the debate with a context of its own"
    )


def _extract_own_part(context: object) -> object:
    """Return the part of a host's context that has settings of dialectree."""
    if isinstance(context, Mapping):
        return context.get("dialectree", context)
    if isinstance(context, ProtocolSettings):
        return context
    return getattr(context, "dialectree", None)


def find_changes(context: object, kind: type[ProtocolSettings]) -> Mapping[str, Any] | None:
    """Return the settings that a host's context names; None if these are in a class of the host's own.

    LangGraph makes settings from any mapping. Nobody chose their default values, so these are omitted.
    """
    part = _extract_own_part(context) or _NOTHING
    named_settings = part._explicit_settings if isinstance(part, ProtocolSettings) else part
    return _without_others(named_settings, kind) if isinstance(named_settings, Mapping) else None


def find_ignored(context: object, kind: type[ProtocolSettings]) -> list[str]:
    """Return the names of settings in a host's context that only other protocols have."""
    part = _extract_own_part(context)
    named_settings = part._explicit_settings if isinstance(part, kind) else part
    return [*_find_other_settings(named_settings, kind)] if isinstance(named_settings, Mapping) else []


def _find_other_settings(values: Mapping[str, Any], kind: type[ProtocolSettings]) -> set[str]:
    strange = values.keys() - kind.model_fields.keys()
    return strange & sources.list_all_setting_names() if strange else strange


def _without_others(values: Mapping[str, Any], kind: type[ProtocolSettings]) -> dict[str, Any]:
    """Return ``values`` without the settings that only other protocols have."""
    foreign_settings = _find_other_settings(values, kind)
    return {name: value for name, value in values.items() if name not in foreign_settings}


_cached: OrderedDict[tuple[int, type], tuple[object, object, Any]] = OrderedDict()
"""Settings by the identity of the object that they were made from. An entry also has this object, a copy
of its value, and the stamp of environment and file."""
_CACHED = 4096


def _build_cached_settings(origin: Mapping[str, Any] | ProtocolSettings, kind: type[Own]) -> Own:
    """Return one settings object for each origin, because a debate's budget belongs to the object."""
    key, state = (id(origin), kind), (_copy_value(origin), sources.stamp())
    cache_entry = _cached.get(key)
    if cache_entry is not None and cache_entry[1] == state:
        return cache_entry[2]  # type: ignore[no-any-return]
    if isinstance(origin, ProtocolSettings):
        new_settings = inherit_settings(origin, kind, {})
    else:
        values = _without_others(origin, kind)
        new_settings = _make(kind, values, _trust_host(kind, values))
    _cached[key] = origin, state, new_settings
    if len(_cached) > _CACHED:
        _cached.popitem(last=False)
    return new_settings


def _copy_value(value: object) -> object:
    """Return a copy that is independent of ``value``; a live model is not copied."""
    if isinstance(value, Mapping):
        return {name: _copy_value(inner) for name, inner in value.items()}
    return [*map(_copy_value, value)] if isinstance(value, list) else value
