"""What may be said of an address, right or wrong."""

from __future__ import annotations

import pytest

from dialectree.errors import SettingsError
from dialectree.protocols.settings import ProtocolSettings, build
from dialectree.system.addresses import public, secrets, veiled


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://user:pass@host:1/v1?key=x#y", "http://host:1/v1"),
        ("http://key@host/v1/", "http://host/v1"),
        ("http://a@b:c@d@host", "http://host"),
        ("https://host/v1?api_key=x/y@z", "https://host/v1"),
        ("http://host/a@b", "http://host/a@b"),
        ("openai:x@http://user:pass@host/v1", "openai:x@http://host/v1"),
        ("ftp://user:pass@host", "ftp://host"),
        ("openai:name@20250101", "openai:name@20250101"),
        ("local:/models/a.gguf", "local:/models/a.gguf"),
    ],
)
def test_an_address_is_shown_without_what_opens_it(text: str, shown: str) -> None:
    assert public(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("opena:org/x@http://u:sesame@h/v1", "opena:org/x@http://…h/v1"),
        ("opena:x@http://h/v1", "opena:x@http://h/v1"),
        ("openai:x@localhost:80", "openai:x@localhost:80"),
        ("htp://u:sesame@h/v1?key=sesame", "htp://…h/v1…"),
        ("http://u:sesame?1@h", "http://…"),
        ("gpt", "gpt"),
    ],
)
def test_of_a_refused_address_all_is_shown_that_cannot_be_secret(text: str, shown: str) -> None:
    assert veiled(text) == shown


def test_what_opens_an_address_is_known_in_every_spelling() -> None:
    found = secrets("https://bob:hunter%202@host/v1?code=a%2Fb%2Bc%3D&v=1", "sk-key")
    assert set(found) == {
        *("sk-key", "hunter%202", "hunter 2", "hunter+2"),
        *("a/b+c=", "a%2Fb%2Bc%3D", "Ym9iOmh1bnRlciAy"),
    }
    assert found == sorted(found, key=len, reverse=True)  # none is left over in a longer one
    assert secrets("https://sesame@host/v1", "") == ["c2VzYW1lOg", "sesame"]
    assert secrets("https://host/v1?v=1", "") == []


@pytest.mark.parametrize("blank", ["\n", "\r\n", "\t", " ", "\u2028"])
def test_an_address_with_a_blank_is_refused_before_its_password_is_shown(blank: str) -> None:
    for name, text in (("base_url", "{}"), ("model", "openai:any@{}")):
        with pytest.raises(SettingsError, match="no blank") as refused:
            build(ProtocolSettings, **{name: text.format(f"http://me:pass{blank}word@host/v1")})
        assert "pass" not in str(refused.value)
