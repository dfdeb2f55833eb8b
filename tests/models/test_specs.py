"""Who plays a role, where, and whose key is in the environment."""

from __future__ import annotations

import importlib.util

import pytest

from dialectree.cli.progress import demonstration
from dialectree.errors import MissingPackage, SettingsError
from dialectree.models import embedded, provider_keys
from dialectree.models.specs import Spec, chat_model, resolve
from dialectree.protocols.settings import ProtocolSettings, build
from dialectree.protocols.trust import OPENAI

SECRET = "http://user:sesame@host:8000/v1/?api_key=open-sesame#part"


def spec(model: str, **settings: str) -> str:
    """The address that a spec comes to."""
    context = build(ProtocolSettings, model=model, **settings)
    return resolve(context.model, context).address


@pytest.mark.parametrize(
    ("model", "address"),
    [
        ("openai:gpt-x", f"openai:gpt-x@{OPENAI}"),
        ("openai:x@http://host/v1/", "openai:x@http://host/v1"),
        ("openai:x@https://[::1]:8000/v1", "openai:x@https://[::1]:8000/v1"),
        ("openai:@cf/meta/llama", f"openai:@cf/meta/llama@{OPENAI}"),
        ("openai:org/name:free@http://host", "openai:org/name:free@http://host"),
        ("local:/models/a.gguf", "local:/models/a.gguf"),
    ],
)
def test_a_spec_names_provider_model_and_address(model: str, address: str) -> None:
    assert spec(model) == address


def test_the_address_comes_from_the_spec_the_setting_the_environment_or_openai(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert spec("openai:x") == f"openai:x@{OPENAI}"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://environment/v1")
    assert spec("openai:x") == "openai:x@http://environment/v1"
    assert spec("openai:x", base_url="http://setting/v1") == "openai:x@http://setting/v1"
    assert spec("openai:x@http://spec/v1", base_url="http://s") == "openai:x@http://spec/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost:8000")
    with pytest.raises(SettingsError, match="OPENAI_BASE_URL: an address begins with http"):
        spec("openai:x")


def test_what_opens_an_address_is_used_and_not_shown() -> None:
    context = build(ProtocolSettings, model="openai:x", base_url=SECRET)
    found = resolve(context.model, context)
    assert found.whole_url == SECRET
    assert found.address == "openai:x@http://host:8000/v1"
    assert "sesame" not in repr(found) + repr(context) + context.model_dump_json()
    assert {"sesame", "open-sesame"} <= set(found.secrets())


# Keys of providers in the environment


KEY = "sk-nobody-sees-this"
KEYS = {
    "OPENAI_API_KEY": "openai",
    "ANTHROPIC_API_KEY": "anthropic",
    "GEMINI_API_KEY": "google_genai",
    "": "openai",
}


@pytest.mark.parametrize(("variable", "provider"), KEYS.items())
def test_a_key_that_is_set_is_named_with_the_spec_that_uses_it(
    variable: str, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable or "OPENAI_API_KEY", KEY if variable else "")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingPackage) as missing:
        embedded.require("smollm2")
    assert (
        provider_keys.advice() == [f"{variable} is set: --model {provider}:NAME"][: bool(variable)]
    )
    for text in (demonstration(), str(missing.value)):
        assert f"--model {provider}:NAME" in text and KEY not in text
        assert (f"{variable} is set" in text) is bool(variable)
    assert f"export DIALECTREE_MODEL={provider}:NAME" in demonstration()
    assert "\n" not in str(missing.value)
    monkeypatch.setattr(provider_keys, "on_a_server", lambda: True)  # its clients do not learn it
    assert provider_keys.advice() == []


def test_each_provider_is_one_that_langchain_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError) as refused:
        chat_model(Spec("nobody", "x"))
    known = str(refused.value)
    for variable, provider in provider_keys._PROVIDERS.items():
        assert provider in known, variable
