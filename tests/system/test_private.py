"""What may be said of an address, and who may read what debates leave on disk."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialectree.errors import SettingsError
from dialectree.models.cache import SqliteCache
from dialectree.protocols.settings import ProtocolSettings, build_settings
from dialectree.system.addresses import public, redact_passwords, secrets
from tests.cli.commands import command
from tests.endpoint import LocalEndpoint


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
    assert redact_passwords(text) == shown


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
        with pytest.raises(SettingsError, match="must not contain a blank") as refused:
            build_settings(ProtocolSettings, **{name: text.format(f"http://me:pass{blank}word@host/v1")})
        assert "pass" not in str(refused.value)


# Files


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> str:
    return f"{path.stat().st_mode & 0o777:o}"


def test_records_reports_and_cache_are_their_owners(tmp_path: Path, open_umask: None) -> None:
    data = tmp_path / "data.csv"
    data.write_text("claim,label\nIt is so.,true\n")
    with LocalEndpoint() as endpoint:
        ask = ("--model", "openai:any", "--base-url", endpoint.url)
        done = command("answer", "Is it so?", "--method", "single_shot", *ask)
        assert done.status == 0, done.err
        done = command("eval", str(data), "--methods", "direct", *ask)
        assert done.status == 0, done.err
    left = [path for path in tmp_path.rglob("*") if path.is_file() and path != data]
    names = {path.name for path in left}
    assert {"run.json", "calls.jsonl", "events.jsonl", "report.md", "report.html"} <= names
    assert {"evaluation.json", "results.jsonl", "replies.sqlite3"} <= names
    assert {path: mode(path) for path in left} == dict.fromkeys(left, "600")
    folders = [path for path in tmp_path.rglob("*") if path.is_dir() and path.parent != tmp_path]
    folders.append(tmp_path / "runs")  # in evaluations/ are closed folders only
    assert {path: mode(path) for path in folders} == dict.fromkeys(folders, "700")


def test_a_cache_that_others_could_read_is_closed_with_its_side_files(
    tmp_path: Path, open_umask: None
) -> None:
    path = tmp_path / "replies.sqlite3"
    sqlite3.connect(path).execute("create table other (x)").connection.close()
    assert mode(path) == "644"
    cache = SqliteCache(path)
    cache.open()
    beside = sorted(tmp_path.glob("replies*"))
    assert [one.name[15:] for one in beside] == ["", "-shm", "-wal"]
    assert {mode(one) for one in beside} == {"600"}
    cache.close()
