"""Settings: where they come from, what they may be, and what is said of a wrong one."""

from __future__ import annotations

import asyncio
import pickle
import traceback
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from dialectree.errors import SettingsError
from dialectree.graphs.tree_structured_debate.baselines import single_shot
from dialectree.interfaces.cli.flags import _price
from dialectree.models.specs import resolve
from dialectree.nodes.tree_of_debate.state import Settings as TopicSettings
from dialectree.nodes.tree_structured_debate.state import Settings
from dialectree.protocols.plugins import list_roles
from dialectree.protocols.settings import build_settings, read_settings
from tests.scripted import ScriptedModel


def toml(text: str | bytes) -> None:
    Path("dialectree.toml").write_bytes(text if isinstance(text, bytes) else text.encode())


def fault(**given: Any) -> str:
    """The one line that is said of a wrong setting."""
    with pytest.raises(SettingsError) as error:
        build_settings(Settings, **given)
    line = str(error.value)
    assert "\n" not in line
    assert len(line) < 500
    return line


def test_a_setting_comes_from_the_caller_the_environment_the_file_or_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert build_settings(Settings).max_nodes == 85
    toml("max_nodes = 30\nmax_children = 3")
    assert build_settings(Settings).max_nodes == 30
    monkeypatch.setenv("DIALECTREE_MAX_NODES", "20")
    assert build_settings(Settings).max_nodes == 20
    assert build_settings(Settings, max_nodes=10).max_nodes == 10
    assert build_settings(Settings, max_nodes=10).max_children == 3


def test_tables_and_lists_come_from_file_and_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    toml('[roles]\nleaf_judge = "openai:judge"\n[prices]\n"openai:judge" = [1, 2.5]')
    assert build_settings(Settings).roles == {"leaf_judge": "openai:judge"}
    assert build_settings(Settings).prices == {"openai:judge": (1, 2.5)}
    monkeypatch.setenv("DIALECTREE_ROLES", '{"leaf_debater": "openai:debater"}')
    assert build_settings(Settings).speaker("leaf_debater") == "openai:debater"


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"max_depth": -1}, "`max_depth`: ", "not -1"),
    ({"stop_threshold": 123}, "`stop_threshold`: ", "123"),
    ({"call_deadline": float("nan")}, "`call_deadline`: ", "nan"),
    (
        {"prices": {"openai:m@http://one/v1": (1, 1), "openai:m@http://two/v1": (0, 0)}},
        "`prices`: ",
        "openai:m",
    ),
    ({"seed": "many"}, "`seed`: ", "'many'"),
    ({"max_dept": 1}, "max_dept: ", "did you mean max_depth?"),
    ({"model": "gpt"}, "`model`: ", "'gpt'"),
    ({"roles": {"judge": "gpt"}}, "`roles` judge: ", "'gpt'"),
    ({"base_url": "http://h:port"}, "`base_url`: ", "h:port"),
    ({"model": "openai:x@localhost:80"}, "`model`: ", "localhost:80"),
    ({"model": "live:Fake"}, "`model`: ", ""),
]


@pytest.mark.parametrize(("given", "begins", "names"), WRONG)
def test_a_wrong_value_is_one_line_that_names_the_flag_and_the_value(
    given: dict[str, Any], begins: str, names: str
) -> None:
    line = fault(**given)
    assert line.startswith(begins)
    assert names in line


def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIALECTREE_MAX_DEPTH", "-1")
    assert fault().startswith("DIALECTREE_MAX_DEPTH: ")
    assert build_settings(Settings, max_depth=1).max_depth == 1
    monkeypatch.setenv("DIALECTREE_ROLES", "judge=openai:x")
    assert fault(max_depth=1).startswith("DIALECTREE_ROLES cannot be read")
    with pytest.raises(SettingsError, match="DIALECTREE_ROLES cannot be read"):
        read_settings(Settings, {}, "a run")
    monkeypatch.setenv("DIALECTREE_ROLES", '{"judge": "gpt"}')
    assert fault(max_depth=1).startswith("DIALECTREE_ROLES, judge: ")


def test_a_replay_without_the_cache_is_refused_wherever_they_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "`replay` and `cache=False` exclude each other"
    assert said in fault(replay=True, cache=False)
    toml("cache = false")
    assert said in fault(replay=True)
    assert build_settings(Settings, replay=True, cache=True).replay
    monkeypatch.setenv("DIALECTREE_REPLAY", "1")
    monkeypatch.setenv("DIALECTREE_CACHE", "0")
    assert said in fault()


@pytest.mark.parametrize(
    ("variable", "meant"),
    [("dialectree_max_call", "DIALECTREE_MAX_CALLS"), ("DIALECTREE_CACHEDIR", "DIALECTREE_CACHE_DIR")],
)
def test_a_variable_that_would_set_nothing_is_refused(
    variable: str, meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "1")
    line = fault()
    assert line.startswith(f"{variable.upper()}: ") and meant in line
    with pytest.raises(SettingsError, match=variable.upper()):
        Settings(max_depth=1)  # as a host makes it, or a server of what it is sent


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("max_depth = -1", "dialectree.toml, max_depth: "),
        ("depht = 1", "dialectree.toml, depht: "),
        ("max_depth =", "dialectree.toml cannot be read: "),
        (b"\xff\xfe", "dialectree.toml cannot be read: "),
        ("deep = " + "[" * 100_000, "dialectree.toml cannot be read: "),
        ('[model]\nname = "gpt"', "dialectree.toml, model: "),
        ("[roles.judge]\nx = 1", "dialectree.toml, roles.judge: "),
        ('[roles]\nleaf_juge = "openai:x"', "dialectree.toml, roles.leaf_juge: "),
        ('[prices]\n"openai:x" = [1]', "dialectree.toml, prices.openai:x: "),
    ],
)
def test_a_wrong_line_of_the_file_is_named(text: str | bytes, begins: str) -> None:
    toml(text)
    assert fault().startswith(begins)


def test_a_name_may_serve_one_protocol_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    toml("max_depth = 1\n[tsd]\nmax_depth = 2\n[tod]\nmax_depth = 4\nsegments = 7")
    assert build_settings(Settings).max_depth == 2
    assert (build_settings(TopicSettings).max_depth, build_settings(TopicSettings).segments) == (4, 7)
    monkeypatch.setenv("DIALECTREE_MAX_DEPTH", "5")
    assert (build_settings(Settings).max_depth, build_settings(TopicSettings).max_depth) == (5, 5)
    monkeypatch.setenv("DIALECTREE_TSD_MAX_DEPTH", "6")
    assert (build_settings(Settings).max_depth, build_settings(TopicSettings).max_depth) == (6, 5)
    monkeypatch.setenv("DIALECTREE_TSD_MAX_DEPTH", "-1")
    assert fault().startswith("DIALECTREE_TSD_MAX_DEPTH: ")
    toml("[tsd]\nhorizon = 7")
    assert fault() == "dialectree.toml, tsd.horizon: there is no such setting"


def test_a_live_model_is_a_speaker() -> None:
    model = ScriptedModel()
    context = Settings(model=model, roles={"leaf_judge": "openai:x"})
    assert context.speaker("leaf_debater") is model
    assert context.speaker("leaf_judge") == "openai:x"


# Roles


@pytest.mark.parametrize(
    ("name", "first"),
    [("leaf_jugde", "leaf_judge"), ("debator", "debater"), ("personas_a", "persona_a"), ("", "")],
)
def test_a_role_that_no_method_has_is_refused_with_those_that_there_are(name: str, first: str) -> None:
    given: Any = {"roles": {name: "openai:x"}}
    with pytest.raises(SettingsError) as refused:
        build_settings(Settings, **given)
    line = str(refused.value)
    suggestion = f" did you mean {first}?" if first else ""
    assert line.startswith(f"`roles` {name}: no method has such a role;{suggestion} known: {first}")
    listed = line.partition("known: ")[2].partition(" and ")[0].split(", ")
    assert len(listed) == 20 and {*list_roles()}.issuperset(listed)
    with pytest.raises(ValidationError, match="no method has such a role"):
        asyncio.run(single_shot.ainvoke({"question": "Why?"}, context=given))


# Secrets in addresses


def test_settings_hold_no_secret_that_could_be_printed_or_recorded() -> None:
    context = build_settings(
        Settings,
        model="openai:a@http://user:sesame@one/v1",
        base_url="http://two/v1?key=sesame",
        roles={"judge": "openai:b@http://sesame@three/v1"},
        prices={"openai:a@http://user:sesame@one/v1": (1, 2)},
    )
    assert "sesame" not in repr(context) + str(context) + context.model_dump_json()
    for one in (context, context.model_copy(), pickle.loads(pickle.dumps(context))):
        assert resolve(one.model, one).whole_url == "http://user:sesame@one/v1"
        assert resolve("openai:c", one).whole_url == "http://two/v1?key=sesame"
        assert resolve(one.speaker("judge"), one).whole_url == "http://sesame@three/v1"
        assert resolve("openai:d@http://four/v1", one).whole_url == "http://four/v1"
    assert context.prices == {"openai:a": (1, 2)}


@pytest.mark.parametrize("how", ["given", "environment"])
def test_an_address_that_is_given_again_opens_those_that_were_recorded(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "http://user:sesame@one/v1"
    recorded = build_settings(Settings, model=f"openai:a@{url}", roles={"judge": f"openai:b@{url}"})
    kept = recorded.model_dump(mode="json", include={"model", "roles"})
    given = {"base_url": url} if how == "given" else {}
    if how == "environment":
        monkeypatch.setenv("DIALECTREE_BASE_URL", url)
    again = read_settings(Settings, kept, "a run", given)
    assert resolve(again.speaker("judge"), again).whole_url == url
    assert resolve(again.model, again).whole_url == url
    for others in ({"base_url": "http://one/v1"}, {"base_url": url, "model": "openai:c@http://one/v1?x=y"}):
        shut = read_settings(Settings, kept, "a run", others)
        assert resolve(shut.speaker("judge"), shut).whole_url == "http://one/v1"


AT = "u:sesame@h"
LEAKS: list[dict[str, Any]] = [
    {"base_url": f"http://{AT}:99999/v1"},
    {"base_url": f"http://{AT}:port"},
    {"base_url": f"htp://{AT}"},
    {"base_url": f"{AT}:80/v1?key=sesame"},
    {"base_url": "http://u:sesame/1@h/v1"},
    {"base_url": "http://u:sesame?1@h/v1"},
    {"base_url": "http://u:[sesame]@h/v1"},
    {"base_url": "http://u:sesame\u2100@h/v1"},
    {"base_url": "http://h:port/v1?key=open@sesame"},
    {"model": f"openai:x@http://{AT}:port/v1"},
    {"model": f"openai:x@{AT}/v1"},
    {"roles": {f"http://{AT}": 5}},
    {"prices": {f"openai:x@http://{AT}/v1": "dear"}},
    {"max_depth": f"http://{AT}"},
    {"endpoint": f"http://{AT}"},
]


@pytest.mark.parametrize("given", LEAKS)
def test_a_wrong_address_is_refused_without_its_password(given: dict[str, Any]) -> None:
    assert "sesame" not in fault(**given)
    with pytest.raises(ValidationError) as error:
        Settings(**given)
    shown = "".join(traceback.format_exception(error.value))
    assert "sesame" not in shown + repr(error.value) + str(error.value.errors())
    assert "sesame" not in error.value.json()


def test_cached_tokens_may_have_a_price_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    priced = {"openai:x": (1, 2.5, 0.1)}
    assert dict([_price("--price", "openai:x=1,2.5,0.1")]) == priced
    toml('[prices]\n"openai:x" = [1, 2.5, 0.1]')
    assert build_settings(Settings).prices == build_settings(Settings, prices=priced).prices == priced
    monkeypatch.setenv("DIALECTREE_PRICES", '{"openai:x": [2, 5, 0.2]}')
    assert build_settings(Settings).prices["openai:x"] == (2, 5, 0.2)
    for wrong in ("1", "1,2,3,4", "1,2,-3", "1,2,"):
        with pytest.raises(SettingsError, match="--price"):
            _price("--price", f"openai:x={wrong}")
