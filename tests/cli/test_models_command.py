"""``dialectree models``: what stands on stdout, and what on stderr."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dialectree.cli.models import app
from dialectree.errors import InputError
from dialectree.models import catalogue

runner = CliRunner()


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of the test's own, with a space in it, as some systems have."""
    home = tmp_path / "user data"
    monkeypatch.setattr(catalogue, "user_data_dir", lambda name: str(home / name))
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    return home / "dialectree" / "models"


def put_in_place(folder: Path, entry: catalogue.Entry) -> Path:
    """A model as if it had been fetched."""
    folder.mkdir(parents=True)
    path = folder / entry.file
    path.write_bytes(b"GGUF")
    facts = {
        "schema": catalogue.SCHEMA,
        "name": entry.name,
        "repository": entry.repository,
        "file": entry.file,
        "revision": "a" * 40,
        "sha256": "b" * 64,
        "licence": entry.licence,
        "size_bytes": 4,
        "fetched_at": "2026-01-31T12:00:00.000000Z",
    }
    (folder / f"{entry.file}.json").write_text(json.dumps(facts), encoding="utf-8")
    return path


def test_the_list_shows_every_model_with_its_licence_and_remark() -> None:
    result = runner.invoke(app, ["list"])
    assert result.exit_code == 0
    for entry in catalogue.listed():
        line = next(line for line in result.stdout.splitlines() if entry.file in line)
        assert entry.repository in line and entry.licence in line and " no " in line
        assert f"{entry.name}: {entry.remark}" in result.stdout


def test_the_list_says_which_models_are_here(own_data: Path) -> None:
    entry = catalogue.listed()[0]
    put_in_place(own_data, entry)
    lines = runner.invoke(app, ["list"]).stdout.splitlines()
    assert " yes " in next(line for line in lines if entry.file in line)


def test_the_list_as_json_is_one_document(own_data: Path) -> None:
    first, *others = catalogue.listed()
    path = put_in_place(own_data, first)
    models = json.loads(runner.invoke(app, ["list", "--json"]).stdout)

    assert [model["name"] for model in models] == [first.name, *(entry.name for entry in others)]
    assert models[0]["source"] == first.source
    assert models[0]["installed"]["path"] == str(path)
    assert models[0]["installed"]["sha256"] == "b" * 64
    assert all(model["installed"] is None for model in models[1:])


@pytest.fixture
def fetching(monkeypatch: pytest.MonkeyPatch, own_data: Path) -> list[tuple[str, str | None]]:
    """What was asked of the hub, by name and address; everything is fetched."""
    asked: list[tuple[str, str | None]] = []

    def get(
        name: str,
        folder: Path | None = None,
        *,
        endpoint: str | None = None,
        progress: catalogue.Progress | None = None,
    ) -> catalogue.Fetched:
        asked.append((name, endpoint))
        assert progress is not None
        progress(2, 4)
        progress(4, 4)
        path = own_data / "model.gguf"
        return catalogue.Fetched(path, "some/repository", "a" * 40, "b" * 64, 4, False)

    monkeypatch.setattr(catalogue, "get", get)
    return asked


def test_get_says_what_it_fetched_and_how_to_use_it(
    fetching: list[tuple[str, str | None]], own_data: Path
) -> None:
    result = runner.invoke(app, ["get", "phi-4"])
    assert result.exit_code == 0
    assert result.stderr == ""
    path = own_data / "model.gguf"
    assert result.stdout.splitlines() == [
        f"path: {path}",
        f"revision: {'a' * 40}",
        f"sha256: {'b' * 64}",
        f"use it with: --model 'local:{path}'",
    ]
    assert fetching == [("phi-4", None)]


def test_get_as_json_is_one_document(
    fetching: list[tuple[str, str | None]], own_data: Path
) -> None:
    facts = json.loads(runner.invoke(app, ["get", "phi-4", "--json"]).stdout)
    assert facts["revision"] == "a" * 40
    assert shlex.split(facts["flags"]) == ["--model", f"local:{own_data / 'model.gguf'}"]


def test_the_address_of_the_hub_is_a_flag_or_a_variable(
    fetching: list[tuple[str, str | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    runner.invoke(app, ["get", "phi-4", "--endpoint", "http://flag"])
    monkeypatch.setenv("HF_ENDPOINT", "http://variable")
    runner.invoke(app, ["get", "phi-4"])
    assert fetching == [("phi-4", "http://flag"), ("phi-4", "http://variable")]


def test_an_unknown_name_is_left_to_the_front_door_to_tell() -> None:
    result = runner.invoke(app, ["get", "gpt"])
    assert isinstance(result.exception, InputError)
    assert result.stdout == ""
