"""Decide which addresses and model files a run may use, and which of them get a key.

An address or a file is *named* if the person, the host's program or the environment gives it. It is
*lent* if a recorded run or a client of a server gives it. The key of the environment goes only to
named addresses and to the address of the environment. A client's addresses are used only if the
operator allows them, and without a key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple, Self, get_args

from pydantic import BaseModel

from dialectree.errors import SettingsError
from dialectree.protocols import sources
from dialectree.protocols.plugins import load_declarations
from dialectree.system.addresses import (
    address_in,
    is_loopback,
    place_in,
    public,
    redact_passwords,
    require_address,
    require_spec,
    restore_credentials,
)
from dialectree.system.platform_internals import on_a_server
from dialectree.text import add_value

CLIENT = "the context, thread or assistant of a client of this server"
"""The name of the lender for values that a client of a server chose."""
MOST_JUDGES = 25
"""Most judges of a jury that a client of a server names."""
OPENAI = "https://api.openai.com/v1"
NAME_IT = "name it yourself: `base_url` URL, `roles` ROLE=openai:NAME@URL or OPENAI_BASE_URL"


class _Mark:
    """Mark the type of a setting."""


ADDRESS = _Mark()
"""Marks, in ``Annotated``, the type of a setting that may have an address or a model file."""


class Access(NamedTuple):
    """Say whether an address may be used, and whether it gets a key."""

    keyless: bool = False
    """True if the key of the environment is not sent."""
    refusal: str = ""
    """The reason why the address may not be used; "" if it may."""


WITH_KEY = Access()


@dataclass(frozen=True)
class Trust:
    """Record who chose the addresses, model files and operator's settings of one run."""

    trusted_places: frozenset[str] = frozenset()
    """Addresses and files that the person or the host's program named."""
    lent: frozenset[str] = frozenset()
    """Addresses and files in the settings of ``lender``."""
    lender: str = ""
    own_run: bool = False
    """True if ``lender`` is a run in the current folder of runs."""
    unnamed: tuple[str, ...] = ()
    """Settings that name code to run, and that only ``lender`` gave."""

    @classmethod
    def from_settings(
        cls,
        kind: type[BaseModel],
        trusted_settings: Mapping[str, Any],
        lent: Mapping[str, Any] | None = None,
        lender: str = "",
        own_run: bool = False,
    ) -> Self:
        """Return the trust in settings of ``kind``.

        Args:
            kind: a class of ``ProtocolSettings``.
            trusted_settings: the settings from the person or the host's program.
                ``DIALECTREE_...`` variables are the person's, too.
            lent: the settings from ``lender``.
            own_run: whether ``lender`` is a run in the current folder of runs.
        """
        lent, borrowed = lent or {}, places(kind, lent or {})
        if lender == CLIENT:  # entries of the server's own file are the operator's
            borrowed -= places(kind, sources.read_configuration(_protocol(kind), kind.model_fields))
        environment = sources.from_environment(_protocol(kind), kind.model_fields)
        strange = (n for n in lent if n not in trusted_settings and environment.get(n) != lent[n])
        coded = find_marked_fields(kind, strange, "code")
        return cls(find_named(kind, trusted_settings), borrowed, lender, own_run, coded)

    @classmethod
    def of_client(
        cls, kind: type[BaseModel], values: Mapping[str, Any], lent: Mapping[str, Any] | None = None
    ) -> Self:
        """Return the trust in ``values`` of a server's client, and in the settings ``lent`` by its thread.

        Raises SettingsError for settings that only the server's operator may choose. This
        check looks only at names, addresses and the number of judges, before values are validated.
        """
        everything = {**(lent or {}), **values}
        require_unreserved(find_reserved_settings(kind, values))
        require_few_judges(find_large_juries(kind, everything))
        trust = cls.from_settings(kind, {}, everything, CLIENT)
        for place in sorted(trust.lent - trust.trusted_places - _list_openai_addresses()):
            _require_allowed(place)
        return trust

    def stranger(self, place: str) -> str | None:
        """Return the origin of ``place``, or None if the person or the host's program named it.

        An address that is neither named nor lent comes from dialectree.toml.
        """
        if place.rstrip("/") in self.trusted_places:
            return None
        return self.lender if place.rstrip("/") in self.lent else sources.FILE

    def access(self, url: str) -> Access:
        """Return whether ``url`` is refused, and if not, whether it gets the key of the environment.

        Raises SettingsError for a client's address that the operator does not allow, and for a key
        that cannot be sent.
        """
        stranger, secret = self.stranger(url), key()
        if url.rstrip("/") in _list_openai_addresses() or stranger is None:
            return WITH_KEY
        if stranger == CLIENT:
            _require_allowed(url)
            return Access(keyless=True)
        if not secret:
            return WITH_KEY
        if self.own_run and is_loopback(url) and url.rstrip("/") in self.lent:
            return Access(keyless=True)
        return Access(refusal=self._refusal("OPENAI_API_KEY", url))

    def embeddings(self, name: str, base_url: str | None) -> Access:
        """Return the access to the endpoint of the embeddings; WITH_KEY for a local model."""
        name = restore_credentials(name)
        if not name.startswith("openai:"):
            self.require_file(place_in(name))
            return WITH_KEY
        return self.access(endpoint(require_spec(name)["url"], base_url))

    def require_file(self, file: str) -> None:
        """Raise SettingsError for a client's model ``file`` that the operator does not allow."""
        if file and self.stranger(file) == CLIENT:
            _require_allowed(file)

    def require_provider(self, provider: str, url: str) -> None:
        """Raise SettingsError if the key of ``provider`` would go to an untrusted ``url``."""
        if self.stranger(url) is not None:
            raise SettingsError(self._refusal(f"the key of {provider}", url))

    def _refusal(self, secret_name: str, url: str) -> str:
        return (
            f"{secret_name} is not sent to {public(url)}: that address comes from {self.stranger(url)}. "
            f"If it may have the key, {NAME_IT}"
        )


def _protocol(kind: type[BaseModel]) -> str:
    return getattr(kind, "protocol", "")


def find_named(kind: type[BaseModel], trusted_settings: Mapping[str, Any]) -> frozenset[str]:
    """Return the addresses and files that the person or the host's program named."""
    return places(kind, trusted_settings) | places(
        kind, sources.from_environment(_protocol(kind), kind.model_fields)
    )


@lru_cache(maxsize=256)
def list_address_settings(kind: type[BaseModel]) -> tuple[str, ...]:
    """Return the names of the settings that may have addresses, also in a list or a table."""
    return tuple(
        name
        for name, field in kind.model_fields.items()
        if _has_address_mark(field.annotation, field.metadata)
    )


def _has_address_mark(annotation: object, metadata: Iterable[object]) -> bool:
    inner = get_args(annotation)
    return ADDRESS in metadata or any(_has_address_mark(o, getattr(o, "__metadata__", ())) for o in inner)


def places(kind: type[BaseModel], values: Mapping[str, Any]) -> frozenset[str]:
    """Return the full addresses and the model files that ``values`` name."""
    addresses: set[str] = set()

    def take(text: object) -> object:
        if isinstance(text, str):
            addresses.add(place_in(restore_credentials(text)))
        return text

    for name in list_address_settings(kind):
        if name in values and name != "inner" and values[name] != kind.model_fields[name].default:
            map_entries(values[name], take)
    for _, inner_kind, inner_values in _list_inner_debates(values):
        addresses |= places(inner_kind, inner_values)
    return frozenset(addresses - {""})


def find_reserved_settings(kind: type[BaseModel], values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of ``values`` that only the operator of a server may choose.

    Includes the settings of debates inside. Looks only at names, and validates nothing.
    """
    names = find_marked_fields(
        kind, (name for name in values if name not in list_address_settings(kind)), "operator"
    )
    inside = (
        find_reserved_settings(inner_kind, inner_values)
        for _, inner_kind, inner_values in _list_inner_debates(values)
    )
    return tuple(dict.fromkeys(chain(names, *inside)))


def without_reserved(kind: type[BaseModel], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return recorded ``values`` without the settings that only a server's operator may choose."""
    names = find_reserved_settings(
        kind, {name: setting for name, setting in values.items() if name != "inner"}
    )
    remaining_settings = {name: setting for name, setting in values.items() if name not in names}
    if inside := {
        name: without_reserved(inner_kind, inner_values)
        for name, inner_kind, inner_values in _list_inner_debates(values)
    }:
        remaining_settings["inner"] = {**remaining_settings["inner"], **inside}
    return remaining_settings


def _list_inner_debates(
    values: Mapping[str, Any],
) -> Iterator[tuple[str, type[BaseModel], Mapping[str, Any]]]:
    """Yield for each debate inside its name, the class of its settings, and its settings in ``values``."""
    inner: object = None
    with suppress(ValueError):  # validation reports the fault later
        inner = sources.by_protocol(values.get("inner"))
    for name, inner_values in inner.items() if isinstance(inner, Mapping) else ():
        if (declaration := load_declarations()[0].get(name)) is not None:
            yield name, declaration.settings, inner_values


def find_large_juries(kind: type[BaseModel], values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the juries in ``values``, also of debates inside, that are too large for a client."""

    def size(jury: object) -> int:
        if isinstance(jury, str):
            return jury.count(",") + 1
        return len(jury) if isinstance(jury, Sized) else 0

    names = (n for n in find_marked_fields(kind, values, "jury_of") if size(values[n]) > MOST_JUDGES)
    inside = (
        find_large_juries(inner_kind, inner_values)
        for _, inner_kind, inner_values in _list_inner_debates(values)
    )
    return tuple(dict.fromkeys(chain(names, *inside)))


def require_few_judges(juries: Iterable[str]) -> None:
    """Raise SettingsError if there are any ``juries``, the names of juries that are too large."""
    for name in juries:
        raise SettingsError(f"{name}: clients of a server may name at most {MOST_JUDGES} judges")


def require_unreserved(names: Iterable[str]) -> None:
    """Raise SettingsError if there are any ``names``, which are operator's settings; show no value."""
    for name in names:
        variable = f"{sources.PREFIX}{name}".upper()
        raise SettingsError(f"{name}: the server's operator sets it, by {variable}; leave it out")


def find_marked_fields(kind: type[BaseModel], names: Iterable[str], mark: str) -> tuple[str, ...]:
    """Return the fields among ``names`` to which :func:`option` gave a ``mark``."""
    extras = {n: kind.model_fields[n].json_schema_extra for n in names if n in kind.model_fields}
    return tuple(name for name, extra in extras.items() if isinstance(extra, dict) and extra.get(mark))


def map_entries(value: object, change: Callable[[object], object]) -> object:
    """Return ``value`` with ``change`` applied to it, or to each entry of a table or a list."""
    if isinstance(value, Mapping):
        return {name: map_entries(entry, change) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map_entries(entry, change) for entry in value)
    return change(value)


def key() -> str | None:
    """Return the key of the environment; raise SettingsError for a key that cannot be sent."""
    secret = sources.endpoint_from_environment()[0]
    if secret and not (secret.isascii() and secret.isprintable()):
        raise SettingsError(
            "OPENAI_API_KEY holds a line break or another character that no key has: set it again"
        )
    return secret


def endpoint(url: str | None, base_url: str | None) -> str:
    """Return the full address to call: a spec's ``url``, ``base_url``, or the environment's."""
    if url or base_url:
        return url or restore_credentials(base_url or "")
    conventional = sources.endpoint_from_environment()[1] or OPENAI
    try:
        return require_address(conventional)
    except ValueError as error:
        fault = add_value(str(error), repr(redact_passwords(conventional)))
        raise SettingsError(f"OPENAI_BASE_URL: {fault}") from None


def opener(addresses: Iterable[str]) -> Callable[[object], object]:
    """Return a function that puts user, password and query back into a recorded setting.

    A record has an address without these parts. The function takes them from the matching address in
    ``addresses``, unless two addresses match.
    """
    addresses = [*addresses]
    count = Counter(map(public, addresses))
    opens = {public(address): address for address in addresses if count[public(address)] == 1}

    def restore_address(text: object) -> object:
        if not isinstance(text, str) or (short := address_in(text)) not in opens:
            return text
        return text.rstrip("/").removesuffix(short) + opens[short]

    return restore_address


def _list_openai_addresses() -> frozenset[str]:
    """Return the address of the OpenAI convention, in full and without secrets."""
    address = (sources.endpoint_from_environment()[1] or OPENAI).rstrip("/")
    return frozenset({address, public(address)})


def _require_allowed(place: str) -> None:
    """Raise SettingsError unless a server's operator lets clients name the address or file.

    Never checks whether the file exists: a client must not learn that.
    """
    url = place.startswith(("http://", "https://"))
    place_kind, variable = (
        ("address", sources.ALLOW_URLS) if url else ("file of a model", sources.ALLOW_MODELS)
    )
    may = sources.read_allow_list(variable)
    if place.rstrip("/").removeprefix("local:") in may:
        return
    allowed_places = f"only {', '.join(map(public, may))}" if may else f"no {place_kind}"
    hint = "" if on_a_server() else ", or name it yourself: `base_url` URL, `model` SPEC"
    raise SettingsError(
        f"{public(place)}: clients of a server may name {allowed_places} here; its operator allows more by "
        f"{variable}{hint}"
    )
