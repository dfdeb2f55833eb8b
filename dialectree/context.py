"""Who plays which role, and when to stop: one ``Context`` for command line, host and server.

A setting comes from, first found: the value given, the environment (``DIALECTREE_MAX_DEPTH=2``),
``dialectree.toml`` in the working folder, the default. Nothing else reads the environment.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections import Counter, OrderedDict
from collections.abc import Container, Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from langchain_core.language_models import BaseChatModel
from langgraph.runtime import Runtime
from platformdirs import user_cache_path
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from pydantic_settings import (
    SettingsError as UnreadableSettings,
)

from dialectree.addresses import (
    address_in,
    harmless,
    public,
    require_address,
    require_spec,
    shown,
    whole,
)
from dialectree.errors import SettingsError
from dialectree.roles import FAMILIES, require_role

_PREFIX = "DIALECTREE_"
_FILE = "dialectree.toml"
EMBEDDED = "local:smollm2"

OWN_SETTINGS = {
    "tsd": frozenset(
        [
            "depth_profile",
            "max_depth",
            "min_depth",
            "max_nodes",
            "max_children",
            "stop_threshold",
            "leaf_rounds",
            "synthesis_rounds",
            "second_pass_below",
            "second_pass_leaves",
            "leaf_protocol",
            "ask",
            "samples",
        ]
    ),
    "rsd": frozenset(
        [
            "candidates",
            "distractor",
            "cross_examination",
            "judge_orders",
            "gate",
            "allow_uncertain",
            "judge",
            "samples",
        ]
    ),
    "tod": frozenset(
        [
            "max_depth",
            "max_subtopics",
            "max_claims",
            "segments",
            "expansion_rule",
            "filter",
            "turns",
            "embeddings",
        ]
    ),
    "art": frozenset(
        [
            "breadth",
            "depth",
            "blend",
            "strength_rule",
            "semantics",
            "root_strength",
            "ties",
            "judge_orders",
            "prune_below",
            "trees",
        ]
    ),
}
"""The settings that mean something to some protocols only."""


def _text_or_live(speaker: object) -> object:
    """Refuse a table, of which pydantic would try to make a live model."""
    if not isinstance(speaker, str | BaseChatModel):
        raise ValueError("a model is a text such as openai:NAME, or a live model")
    return speaker


def _written(speaker: str | BaseChatModel) -> str | BaseChatModel:
    if isinstance(speaker, BaseChatModel):
        return speaker
    if speaker.startswith("live:"):
        raise ValueError("a live model is not kept with a run; give it again")
    return require_spec(speaker)[0]


def _embedder(name: str) -> str:
    return str(_written(name)) if name.startswith("openai:") else name


Speaker = Annotated[
    str | BaseChatModel,
    BeforeValidator(_text_or_live),
    AfterValidator(_written),
    WithJsonSchema({"type": "string"}),
]
"""A spec such as ``openai:NAME@URL``, or a live LangChain chat model (with its own decoding; switch
its own retries off, or they multiply)."""


Price = Annotated[tuple[float, ...], Field(min_length=2, max_length=3)]


def _by_model(prices: Mapping[str, Price]) -> dict[str, Price]:
    """Prices without addresses; ValueError where a model would have two."""
    found: dict[str, Price] = {}
    for name, price in prices.items():
        model = public(name.partition("@http")[0])
        if found.setdefault(model, price) != price:
            raise ValueError(f"{model} has two prices; a model has one, whatever its address")
    return found


def _unit(value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError("must lie in 0 to 1")
    return value


Unit = Annotated[float, AfterValidator(_unit)]


class _Offered(dict[str, Any]):
    """The schemas of the settings by name. It claims a misspelt name, too.

    ``langgraph dev`` drops from a context what is not in here without a word. What is misspelt it
    hands on, and it is refused; what is like no setting (``thread_id``) may be a host's own.
    """

    def __contains__(self, name: object) -> bool:
        return bool(get_close_matches(str(name), self, n=1))


class Context(BaseSettings):
    """The settings of a debate. Unknown names and values out of range are refused."""

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        toml_file=_FILE,
        extra="forbid",
        arbitrary_types_allowed=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        frozen=True,
        hide_input_in_errors=True,
    )

    model: Speaker = EMBEDDED
    """The model of every role that has none of its own."""
    roles: dict[Annotated[str, AfterValidator(require_role)], Speaker] = Field(default_factory=dict)
    """A model of its own for a role, by the role's name. Those of all methods may be named; a
    method reads its own."""
    base_url: Annotated[str, AfterValidator(require_address)] | None = None
    """Address of the OpenAI-compatible endpoint, for specs that name none. User, password and query
    of an address are used and never kept: a run that is resumed must be given them again. The key
    of the environment goes to an address that a flag, a variable or a host's program names."""
    seed: int = Field(default=0, ge=0, lt=2**53)
    """Fixes the debate's own draws, and is part of every request."""

    concurrency: int = Field(default=32, ge=1, le=1000)
    """Requests under way at once, in the whole process."""
    requests_per_minute: float | None = Field(default=None, gt=0)
    """Requests started per minute, in the whole process; none: no limit."""
    call_deadline: float = Field(default=300, gt=0, le=86400)
    """Seconds that one call may take, its retries included. Waiting because others are served
    first, or because the endpoint asks for it, does not count."""
    max_calls: int | None = Field(default=None, ge=1)
    """Budget of calls to models. What a cache or a journal answers costs nothing."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Budget of prompt and completion tokens together."""
    max_seconds: float | None = Field(default=None, gt=0)
    """Budget of wall-clock seconds."""
    max_cost: float | None = Field(default=None, gt=0)
    """Budget of money, in the unit of ``prices``."""
    prices: Annotated[dict[str, Price], AfterValidator(_by_model)] = Field(default_factory=dict)
    """Price of a million prompt and a million completion tokens, by spec. A third number is the
    price of a million prompt tokens that the provider read from its cache; without it they cost
    as much as the others."""
    cache: bool = True
    """Answer a request that was made before from the reply cache."""
    replay: bool = False
    """Answer from the reply cache alone; a request that it does not hold is an error."""

    depth_profile: Literal["adaptive", "fixed", "safety"] = "adaptive"
    """Stop where the questions are easy, split every branch to ``max_depth``, or stop where they
    are easy but never above ``min_depth``."""
    max_depth: int | None = Field(default=None, ge=0, le=8)
    """Depth at which every node is a leaf, and every topic of two papers; none: 3, or 2 if
    ``depth_profile`` is fixed."""
    min_depth: int = Field(default=1, ge=0, le=8)
    """Depth above which the safety profile does not stop; the other profiles have no such floor."""
    max_nodes: int = Field(default=85, ge=1, le=10_000)
    """Nodes of the tree, the root included."""
    max_children: int = Field(default=4, ge=2, le=8)
    """Children of one node."""
    stop_threshold: Unit = 0.75
    """A node whose children are all less difficult than this is a leaf."""
    leaf_rounds: int = Field(default=3, ge=1, le=20)
    """Rounds of a leaf debate."""
    synthesis_rounds: int = Field(default=2, ge=1, le=20)
    """Rounds of a synthesis debate."""
    second_pass_below: Unit | None = None
    """Visit the least certain leaves again when the final confidence is lower; none: never."""
    second_pass_leaves: int = Field(default=1, ge=1, le=100)
    """Leaves that a second pass visits."""
    leaf_protocol: Literal["debate", "rsd", "art"] = "debate"
    """How a leaf is settled: by TSD's own debate, by a role-switching debate, or, if it is a
    yes-or-no question, by an argument tree (any other leaf is debated)."""
    ask: bool = False
    """Ask the person when a question lacks something essential."""

    candidates: Literal["proposed", "knockout", "oracle", "balanced"] = "proposed"
    """Where the two candidates of a role-switching debate come from. ``oracle`` and ``balanced``
    put the gold answer against a distractor; both are for evaluations."""
    distractor: Literal["first", "random", "model"] = "first"
    """The wrong option that stands against the gold one: the first, one drawn from the seed, or the
    one that the debaters' model finds most plausible."""
    cross_examination: Literal["in_turn", "simultaneous"] = "in_turn"
    """Whether the second debater reads the first one's rebuttal before it writes its own."""
    judge_orders: Literal["one", "both"] = "one"
    """Ask a judge once, or with both sides in either order."""
    gate: int = Field(default=0, ge=0, le=25)
    """Direct answers that are asked for first; if all agree there is no debate. 0: none; the paper
    of no protocol gives a number, 3 is a good one."""
    allow_uncertain: bool = False
    """Let the judge rule that neither side convinced."""
    judge: Literal["model", "me"] = "model"
    """Who judges a role-switching debate: a model, or the person who asks."""

    breadth: int = Field(default=1, ge=1, le=100)
    """Supporters, and attackers, of one argument."""
    depth: int = Field(default=1, ge=1, le=50)
    """Levels of arguments below the claim."""
    blend: Unit = 0.5
    """Weight of the tournament against the intrinsic strengths (lambda): 1 is the tournament alone,
    0 has none."""
    strength_rule: Literal["win_rate", "bradley_terry"] = "win_rate"
    """What an argument's comparisons make of it: its mean win rate against the other side, or a
    Bradley-Terry fit of 100 steps, which is the paper's. ``win_rate`` counts a tie half for each
    side, whatever ``ties`` says."""
    semantics: Literal["dfquad", "quadratic_energy", "euler"] = "dfquad"
    """How strengths carry upward."""
    root_strength: Literal["neutral", "estimated"] = "neutral"
    """The claim's own strength: 0.5, or what the scorer says."""
    ties: Literal["ignore", "half"] = "ignore"
    """A tie counts for nobody, or half for each. Only ``strength_rule`` bradley_terry reads it."""
    prune_below: Unit | None = None
    """Arguments weaker than this take no part, nor does what hangs below them; none: all do."""
    trees: int = Field(default=1, ge=1, le=25)
    """Independent trees; the claim's strength is the mean of theirs."""

    max_subtopics: int = Field(default=3, ge=1, le=8)
    """Subtopics of one topic (k)."""
    max_claims: int = Field(default=3, ge=1, le=8)
    """Claims of one paper about one topic."""
    segments: int = Field(default=5, ge=1, le=50)
    """Segments of a paper that are retrieved at once (delta)."""
    expansion_rule: Literal["reference", "paper"] = "reference"
    """When a topic is split. ``reference``, as the authors' program: the arguments progressed or a
    question is open, and there is no clear winner. ``paper``: any of the three, nearly always."""
    filter: Literal["per_claim", "per_segment"] = "per_claim"
    """Whether one call weighs all the segments that may answer a claim, or one call each."""
    turns: Literal["parallel", "alternating"] = "parallel"
    """Whether paper b's persona sees what a's said in the same stage."""
    embeddings: Annotated[str, AfterValidator(_embedder)] = Field(
        default="BAAI/bge-small-en-v1.5", min_length=1
    )
    """What retrieves: a sentence-transformers model by name, path or installed package,
    ``openai:NAME@URL``, or ``bm25``."""

    samples: int | None = Field(default=None, ge=1, le=100)
    """Samples of ``self_consistency`` (none: 9, the calls of one role-switching debate) and of
    ``best_of_n`` (none: 5)."""

    @classmethod
    def model_json_schema(cls, *how: Any, **named: Any) -> dict[str, Any]:
        """The schema, by which ``langgraph dev`` tells what is a setting."""
        schema = super().model_json_schema(*how, **named)
        return {**schema, "properties": _Offered(schema["properties"])}

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What was given, then the environment, then dialectree.toml."""
        _require_known(os.environ)
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @model_validator(mode="wrap")
    @classmethod
    def _refuse_without_secrets(cls, given: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """A wrong value is printed, logged and traced: by then it holds no password."""
        try:
            return handler(given)
        except ValidationError as error:
            raise harmless(error) from None

    _named: frozenset[str] = PrivateAttr(default=frozenset())
    """Addresses that the person or the host's program named."""
    _lent: frozenset[str] = PrivateAttr(default=frozenset())
    """Addresses out of the settings of ``_lender``."""
    _lender: str = PrivateAttr(default="")

    def __init__(self, **given: Any) -> None:
        """Take the settings of a host's program, or of a mapping that LangGraph passes to a graph.

        On a server that mapping is a client's, and nothing here tells the two apart.
        """
        super().__init__(**given)
        self._trust(*_passed(given))

    def _trust(self, named: Mapping[str, Any], lent: Mapping[str, Any], lender: str) -> None:
        """Remember who named the addresses; ``DIALECTREE_...`` variables are the person's, too."""
        self._named = _addresses(named) | _from_environment()
        self._lent, self._lender = _addresses(lent), lender

    @model_validator(mode="after")
    def _keep_secrets_apart(self) -> Self:
        """Whoever prints, traces or records the settings from here on has no password to leak."""
        public_ones: dict[str, object] = {
            "model": shown(self.model),
            "base_url": shown(self.base_url),
            "embeddings": shown(self.embeddings),
            "roles": {role: shown(speaker) for role, speaker in self.roles.items()},
        }
        for name, value in public_ones.items():
            object.__setattr__(self, name, value)  # frozen for everybody else
        return self

    def stranger(self, address: str) -> str | None:
        """Return where ``address`` came from if neither the person nor the host's program named it.

        Such an address is sent no key of the environment.
        """
        if address.rstrip("/") in self._named:
            return None
        return self._lender if address.rstrip("/") in self._lent else _FILE

    def with_secrets(self) -> dict[str, Any]:
        """What ``build`` makes the same context of: for another process of ours, nobody else."""

        def opened(value: object) -> object:
            return whole(value) if isinstance(value, str) else value

        plain = self.model_dump(mode="json")
        plain |= {name: opened(getattr(self, name)) for name in _ADDRESSED}
        return {**plain, "roles": {role: opened(spec) for role, spec in self.roles.items()}}

    def speaker(self, role: str, who: str = "") -> str | BaseChatModel:
        """The model that plays ``role``; ``who`` is the speaker's name where two play one role.

        A model can be given to one speaker, to the role, or to its family (``roles.FAMILIES``).
        """
        for name in (f"{role}_{who}".lower(), role, FAMILIES.get(role, "")):
            if name in self.roles:
                return self.roles[name]
        return self.model

    def depth_limit(self) -> int:
        """Depth at which every node is a leaf."""
        if self.max_depth is not None:
            return self.max_depth
        return 2 if self.depth_profile == "fixed" else 3

    def topic_depth(self) -> int:
        """Depth at which no topic of two papers is split any more."""
        return 3 if self.max_depth is None else self.max_depth

    def tie_rule(self) -> Literal["ignore", "half"]:
        """Return how ties count under the strength rule."""
        return "half" if self.strength_rule == "win_rate" else self.ties

    def depth_floor(self) -> int:
        """Depth above which expansion does not stop by itself."""
        return max(1, self.min_depth) if self.depth_profile == "safety" else 0


def build(**given: Any) -> Context:
    """A context from what the person or the host's program gave.

    A wrong value is a SettingsError that names it in one line.
    """
    return _built(given, named=given)


def rebuilt(kept: Mapping[str, Any], given: Mapping[str, Any], lender: str) -> Context:
    """Make a context of the settings ``kept`` by ``lender``, but for those ``given`` now.

    An address is kept without user, password and query; the same address with them, given now,
    opens it.
    """
    named = _addresses(given) | _from_environment()
    count = Counter(map(public, named))
    opens = {public(address): address for address in named if count[public(address)] == 1}

    def opened(text: object) -> object:
        if not isinstance(text, str) or (short := address_in(text)) not in opens:
            return text
        return text.rstrip("/").removesuffix(short) + opens[short]

    again = {name: opened(value) for name, value in kept.items()}
    if isinstance(roles := kept.get("roles"), Mapping):
        again["roles"] = {role: opened(text) for role, text in roles.items()}
    return _built({**again, **given}, named=given, lent=kept, lender=lender)


def _built(
    given: Mapping[str, Any],
    *,
    named: Mapping[str, Any],
    lent: Mapping[str, Any] | None = None,
    lender: str = "",
) -> Context:
    for name in given:
        if name.startswith("_"):  # pydantic-settings has options there; one reads the command line
            raise SettingsError(f"{name}: {_no_such(name, Context.model_fields)}")
    try:
        made = Context(**given)
    except ValidationError as error:
        raise SettingsError("; ".join(_lines(error, given))) from None
    except UnreadableSettings as error:
        raise SettingsError(_unreadable(error)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, OSError) as error:
        raise SettingsError(f"dialectree.toml cannot be read: {error}") from None
    if made.replay and not made.cache:
        replay = _source("replay", [], given)
        no_cache = "--no-cache" if "cache" in given else f"{_source('cache', [], given)}=false"
        raise SettingsError(f"{replay} and {no_cache} exclude each other: a replay reads the cache")
    made._trust(named, lent or {}, lender)
    return made


_ADDRESSED = ("model", "base_url", "embeddings")
"""Settings that may hold an address; ``roles`` may hold several."""


def _addresses(settings: Mapping[str, Any]) -> frozenset[str]:
    """Return the addresses that ``settings`` name, whole."""
    texts = [*map(settings.get, _ADDRESSED)]
    if isinstance(roles := settings.get("roles"), Mapping):
        texts += roles.values()
    found = (address_in(whole(text)) for text in texts if isinstance(text, str))
    return frozenset(text for text in found if text.startswith("http"))


def _from_environment() -> frozenset[str]:
    """Return the addresses that ``DIALECTREE_...`` variables name."""
    try:
        return _addresses(EnvSettingsSource(Context)())
    except UnreadableSettings as error:
        raise SettingsError(_unreadable(error)) from None


_SERVERS = ("langgraph_api", "aegra_api")
"""Modules of the servers that run graphs for their clients."""
_CLIENT = "the context, thread or assistant of a client of this server"


def _passed(given: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any], str]:
    """Tell named settings from lent ones, and the lender, among those that came to a graph."""
    on_a_server = any(name in sys.modules for name in _SERVERS)
    return ({}, given, _CLIENT) if on_a_server else (given, {}, "")


def _require_known(variables: Iterable[str]) -> None:
    """SettingsError for a variable of ours that sets nothing: a limit would be off unnoticed."""
    known = ["CACHE_DIR", *(name.upper() for name in Context.model_fields)]
    for variable in variables:
        prefix, name = variable[: len(_PREFIX)].upper(), variable[len(_PREFIX) :].upper()
        if prefix == _PREFIX and name not in known:
            raise SettingsError(f"{variable}: {_no_such(name, known, _PREFIX)}")


def _no_such(name: str, known: Iterable[str], prefix: str = "") -> str:
    near = get_close_matches(name, [*known], n=1)
    return "there is no such setting" + (f"; is {prefix}{near[0]} meant?" if near else "")


def _lines(error: ValidationError, given: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with each setting, and where it was set; one line a setting."""
    seen: set[str] = set()
    for fault in error.errors(include_url=False, include_context=False):
        top, *rest = map(str, fault["loc"]) if fault["loc"] else ("settings",)
        if fault["type"] == "extra_forbidden":
            where = top if top in given else _source(top, rest, given)  # no flag: those are known
            yield f"{where}: {_no_such(top, Context.model_fields)}"
        elif top not in seen:
            what = fault["msg"].removeprefix("Value error, ")
            value = "" if "[key]" in rest else f", not {fault['input']!r:.80}"
            yield f"{_source(top, rest, given)}: {what[:1].lower()}{what[1:]}{value}"
        seen.add(top)


_FLAGS = {"roles": "role", "prices": "price"}


def _source(name: str, rest: list[str], given: Container[str]) -> str:
    """Where a setting came from, first found as they count."""
    entry = rest[0] if name in _FLAGS and rest else None
    if name in given:
        flag = _FLAGS.get(name, name).replace("_", "-")
        return f"--{flag}" if entry is None else f"--{flag} {entry}"
    variable = f"DIALECTREE_{name.upper()}"
    if variable in os.environ:
        return variable if entry is None else f"{variable}, {entry}"
    return f"dialectree.toml, {name}" if entry is None else f"dialectree.toml, {name}.{entry}"


def _unreadable(error: UnreadableSettings) -> str:
    """A variable that should hold JSON and does not."""
    field = re.search(r'field "(\w+)"', str(error))
    name = f"DIALECTREE_{field[1].upper()}" if field else "the environment"
    return f"{name} cannot be read: it must hold JSON"


def settings(runtime: Runtime[Context]) -> Context:
    """A whole context, whatever the caller passed."""
    given: object = runtime.context
    return given if isinstance(given, Context) else _among(given)


def _among(given: object) -> Context:
    """The settings in a host's own context: its ``dialectree``, or all of it, if a mapping."""
    if not given:
        return _made(_NOTHING)
    whole = given if isinstance(given, Mapping) else None
    own = getattr(given, "dialectree", None) if whole is None else whole.get("dialectree", whole)
    if isinstance(own, Context):
        return own
    if isinstance(own, Mapping):
        return _made(own)
    raise SettingsError(
        f"the graph's context ({type(given).__name__}) holds no settings: give it an attribute "
        "`dialectree` with a dialectree.Context or a mapping of settings, or invoke the debate "
        "with a context of its own"
    )


_NOTHING: Mapping[str, Any] = {}
_mapped: OrderedDict[int, tuple[Mapping[str, Any], object, Context]] = OrderedDict()
"""What mappings were made into, by their identity, and what they and the surroundings held then."""
_MAPPED = 4096


def _made(given: Mapping[str, Any]) -> Context:
    """The same context each time, for a debate's budget hangs on it."""
    known, held = _mapped.get(id(given)), (_held(given), _around())
    if known is not None and known[1] == held:
        return known[2]
    named, lent, lender = _passed(given)
    made = _built(given, named=named, lent=lent, lender=lender)
    _mapped[id(given)] = given, held, made
    if len(_mapped) > _MAPPED:
        _mapped.popitem(last=False)
    return made


def _around() -> object:
    """What else settings are made of, to tell whether it changed; cheap, for nodes ask often."""
    names = (name for name in os.environ if name[: len(_PREFIX)].upper() == _PREFIX)
    ours = {name: os.environ.get(name) for name in names}
    try:
        file = os.stat(_FILE)
    except OSError:
        return ours, None
    return ours, (file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns)


def _held(value: object) -> object:
    """A copy that does not change with what it is made of; a live model stays itself."""
    if isinstance(value, Mapping):
        return {name: _held(inner) for name, inner in value.items()}
    return [*map(_held, value)] if isinstance(value, list) else value


def cache_folder() -> Path:
    """Where the reply cache lies: DIALECTREE_CACHE_DIR, or the user's cache folder.

    No field of Context: whoever sends settings to a server has no say in its folders.
    """
    named = os.environ.get(f"{_PREFIX}CACHE_DIR")
    return Path(named) if named else user_cache_path("dialectree")


def endpoint_from_environment() -> tuple[str | None, str | None]:
    """The key and the address that the OpenAI convention keeps in the environment."""
    return os.environ.get("OPENAI_API_KEY"), os.environ.get("OPENAI_BASE_URL")
