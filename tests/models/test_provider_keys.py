"""Keys of providers that are found in the environment."""

from __future__ import annotations

import importlib.util

import pytest

from dialectree.cli.progress import demonstration
from dialectree.errors import MissingPackage, SettingsError
from dialectree.models import embedded, provider_keys
from dialectree.models.specs import Spec, chat_model

SECRET = "sk-nobody-sees-this"
KEYS = [
    ("OPENAI_API_KEY", "openai"),
    ("ANTHROPIC_API_KEY", "anthropic"),
    ("GOOGLE_API_KEY", "google_genai"),
    ("GEMINI_API_KEY", "google_genai"),
    ("MISTRAL_API_KEY", "mistralai"),
    ("XAI_API_KEY", "xai"),
]


@pytest.mark.parametrize(("variable", "provider"), KEYS)
def test_a_key_that_is_set_is_named_with_the_spec_that_uses_it(
    variable: str, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, SECRET)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingPackage) as missing:
        embedded.require("smollm2")
    line = f"{variable} is set: --model {provider}:NAME"
    assert provider_keys.advice() == [line]
    for text in (demonstration(), str(missing.value)):
        assert line in text and SECRET not in text
    assert f"export DIALECTREE_MODEL={provider}:NAME" in demonstration()
    assert str(missing.value).count("\n") == 0


def test_without_a_key_a_model_of_ones_own_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert provider_keys.advice() == []
    assert "a model of your own: --model openai:NAME" in demonstration()
    with pytest.raises(MissingPackage, match="name another model: --model openai:NAME"):
        embedded.require("smollm2")


def test_several_keys_of_one_provider_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, _ in KEYS:
        monkeypatch.setenv(variable, SECRET)
    specs = [*provider_keys.specs().values()]
    assert len(specs) == len({*specs}) == len({provider for _, provider in KEYS})


def test_clients_of_a_server_do_not_learn_of_its_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setattr(provider_keys, "on_a_server", lambda: True)
    assert provider_keys.advice() == []


def test_each_provider_is_one_that_langchain_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError) as refused:
        chat_model(Spec("nobody", "x"))
    known = str(refused.value)
    for variable, provider in provider_keys._PROVIDERS.items():
        assert provider in known, variable
