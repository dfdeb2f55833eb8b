"""Fields that a user sets in every request to a model, by one setting for all providers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dialectree.errors import CallError, RequestError, SettingsError
from dialectree.models.chat_models import with_options
from dialectree.protocols.settings import ProtocolSettings, build_settings
from tests.cli.commands import command
from tests.endpoint import LocalEndpoint
from tests.models.asking import GOOD, RULE, at, kept, lines, question
from tests.models.scripted_endpoint import Answer, ScriptedEndpoint, fails, says
from tests.models.test_providers import ToolModel

OPTIONS = {"reasoning_effort": "low", "max_tokens": 4000, "chat_template_kwargs": {"thinking": False}}


async def asked(path: Path, *script: Answer, **settings: Any) -> tuple[list[Any], list[str]]:
    """Ask one question; return the bodies that were sent, and the keys in the journal."""
    async with ScriptedEndpoint(*script) as served:
        context = at(served.url, **settings)
        with kept(path, context) as run:
            assert await question(context, run, max_tokens=50) == RULE
    return served.bodies, [call.key for call in lines(path)]


def test_they_are_sent_recorded_and_part_of_the_key(tmp_path: Path) -> None:
    (plain,), keys = asyncio.run(asked(tmp_path / "plain", says(GOOD)))
    (body,), others = asyncio.run(asked(tmp_path / "own", says(GOOD), model_options=OPTIONS))
    assert body == {**plain, **OPTIONS} and plain["max_tokens"] == 50
    assert keys != others
    (line,) = lines(tmp_path / "own")
    assert line.sent is not None
    assert line.sent.decoding["max_tokens"] == 4000
    own = {name: OPTIONS[name] for name in ("reasoning_effort", "chat_template_kwargs")}
    assert line.sent.options == own
    assert "options" not in (tmp_path / "plain").read_text()


def test_a_cut_reply_is_repaired_with_twice_the_tokens_of_the_user(tmp_path: Path) -> None:
    cut = says(GOOD[:20], "length")
    bodies, _ = asyncio.run(asked(tmp_path / "own", cut, says(GOOD), model_options=OPTIONS))
    assert [body["max_tokens"] for body in bodies] == [4000, 8000]


def test_what_the_user_set_is_not_left_out_without_a_word(tmp_path: Path) -> None:
    refused = fails(400, "Unsupported parameter: 'temperature'", param="temperature")
    with pytest.raises(RequestError, match=r"`model_options` temperature: .*Unsupported parameter"):
        asyncio.run(asked(tmp_path / "own", refused, model_options={"temperature": 0}))
    unknown = fails(400, "Unrecognized request argument supplied: mood")
    with pytest.raises((RequestError, CallError), match=r"mood"):
        asyncio.run(asked(tmp_path / "other", unknown, model_options={"mood": "good"}))


def test_flags_file_and_variable_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dialectree.toml").write_text("[model_options]\ntop_k = 5\n")
    monkeypatch.setenv("DIALECTREE_MODEL_OPTIONS", '{"min_p": 0.1}')
    with LocalEndpoint() as served:
        flags = ["--model-option", "reasoning_effort=low", "--model-option", 'stop=["END"]']
        asking = ["decide", "Which?", "--option", "a", "--option", "b", *flags, "--json", "--quiet"]
        done = command(*asking, "--model", f"openai:any@{served.url}")
    own = {"top_k": 5, "min_p": 0.1, "reasoning_effort": "low", "stop": ["END"]}
    assert done.record["settings"]["model_options"] == own


@pytest.mark.parametrize("name", ["messages", "seed", "a b", "", "9"])
def test_a_name_that_cannot_be_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="`model_options`"):
        build_settings(ProtocolSettings, model_options={name: 1})


def test_a_model_of_another_library_takes_them_as_fields_or_in_the_call() -> None:
    model = ToolModel(temperature=0.5)
    changed: Any = with_options(model, {"temperature": 0.1, "mood": "good"})
    assert changed.bound.temperature == 0.1 and changed.kwargs == {"mood": "good"}
    assert with_options(model, {}) is model
