"""The key of the environment goes where the person or the host's program says, and nowhere else."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BeforeValidator

import dialectree
from dialectree.errors import KeyRefused, SettingsError
from dialectree.evals import ray_engine
from dialectree.graphs.tree_of_debate import graph as tree_of_debate
from dialectree.graphs.tree_structured_debate.baselines import single_shot
from dialectree.interfaces.mcp.arguments import of_protocol
from dialectree.models.specs import resolve
from dialectree.nodes.role_switching_debate.state import Settings as Debate
from dialectree.nodes.tree_of_debate.state import Settings as Comparison
from dialectree.nodes.tree_structured_debate.state import Settings
from dialectree.protocols.options import Speaker, option
from dialectree.protocols.settings import accept_settings, build_settings, read_settings
from dialectree.protocols.trust import CLIENT
from dialectree.running.hosted import keeping
from tests import running
from tests.cli.commands import command, refused
from tests.contesting import debate, speakers
from tests.graphs.tree_of_debate.comparing import PAPER_A, PAPER_B, TOPIC
from tests.protocols.test_protocol import declared
from tests.recorder import KEY, Recorder, recorder

QUESTION: Any = {"question": "Is it so?"}
ANSWER = ("answer", "Is it so?", "--method", "single_shot")


@pytest.fixture
def thief(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    """An endpoint that must never see the key."""
    with recorder() as started:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield started
        assert KEY not in started.sent


@pytest.fixture
def friend(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    """An endpoint that has to be asked, with the key and nothing else."""
    with recorder() as started:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield started
        assert set(started.keys) == {f"Bearer {KEY}"}


def toml(text: str) -> None:
    Path("dialectree.toml").write_text(text)


def written(**settings: Any) -> str:
    """The id of a run that was broken off, in whose folder these settings stand."""
    begun = running.begin("single_shot", "Is it so?", Path("runs"))
    return changed(begun.record.run_id, **settings)


def moved(run: str) -> str:
    """The path of a run that was moved out of the folder of runs, as a stranger's may lie."""
    Path("theirs").mkdir()
    return str(Path("runs", run).rename(Path("theirs", run)))


def changed(run: str, **settings: Any) -> str:
    path = Path("runs") / run / "run.json"
    record = json.loads(path.read_text())
    record["settings"] |= settings
    path.write_text(json.dumps(record))
    return run


# Whose word an address is not


WAYS: dict[str, Callable[[str], dict[str, Any]]] = {
    "an address for all": lambda url: {"model": "openai:any", "base_url": url},
    "a model's own": lambda url: {"model": f"openai:any@{url}"},
    "a role's own": lambda url: {"roles": {"answerer": f"openai:any@{url}"}},
    "with a query": lambda url: {"model": f"openai:any@{url}?to=me"},
}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())


@ways
def test_an_address_in_the_file_of_the_working_folder_gets_no_key(
    thief: Recorder, way: Callable[[str], dict[str, Any]]
) -> None:
    given = way(thief.url)
    roles = given.pop("roles", {})
    lines = [f"{name} = {json.dumps(value)}" for name, value in given.items()]
    tables = [f"[roles]\n{role} = {json.dumps(spec)}" for role, spec in roles.items()]
    toml("\n".join(["cache = false", *lines, *tables]))
    done = command(*ANSWER)
    refused(done, f"{thief.url}: that address comes from dialectree.toml")
    assert "--base-url" in done.err
    with pytest.raises(SettingsError, match=r"dialectree\.toml"):
        asyncio.run(single_shot.ainvoke(QUESTION, context=Settings()))


@ways
def test_an_address_in_the_folder_of_a_strangers_run_is_not_asked(
    thief: Recorder, way: Callable[[str], dict[str, Any]]
) -> None:
    run = written(**way(thief.url))
    path = moved(run)
    refused(command("resume", path), f"{thief.url}: that address comes from {run}/run.json")
    with pytest.raises(SettingsError, match="name it yourself: `base_url` URL"):
        dialectree.resume(path)
    assert not thief.keys


@ways
def test_an_address_in_the_folder_of_a_strangers_contested_run_is_not_asked(
    thief: Recorder, way: Callable[[str], dict[str, Any]]
) -> None:
    run = contestable(way(thief.url))
    done = command("contest", moved(run), *WISH)
    refused(done, f"{thief.url}: that address comes from {run}/run.json")
    assert not thief.keys and not [*Path("runs").iterdir()]


WISH = ("--replace", "0.1/B2", "Something else.")


def contestable(given: dict[str, Any]) -> str:
    """The id of a finished run in whose folder these settings stand."""
    given["roles"] = dict(zip(["leaf_judge"], given.get("roles", {}).values(), strict=False))
    return changed(debate(speakers()).run_id, **{"model": "openai:any", **given})


@ways
def test_a_loopback_address_of_ones_own_run_is_asked_without_the_key(
    thief: Recorder, way: Callable[[str], dict[str, Any]]
) -> None:
    for words in (["resume", written(**way(thief.url))], ["contest", contestable(way(thief.url)), *WISH]):
        thief.keys.clear()
        done = command(*words)
        assert (done.status, {*thief.keys}) == (3, {"Bearer none"})
        assert "OPENAI_API_KEY was not sent" in done.err
        assert "name it yourself: --base-url URL" in done.err


@ways
def test_another_address_of_ones_own_run_is_not_asked(
    way: Callable[[str], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    url = "https://192.0.2.1/v1"
    run = written(**way(url))
    refused(command("resume", run), f"{url}: that address comes from {run}/run.json")
    run = contestable(way(url))
    refused(command("contest", run, *WISH), f"{url}: that address comes from {run}/run.json")


def test_a_loopback_address_of_ones_own_run_embeds_without_the_key(thief: Recorder) -> None:
    begun = running.begin("tod", TOPIC, Path("runs"), paper_a=PAPER_A, paper_b=PAPER_B, embeddings="bm25")
    run = changed(begun.record.run_id, embeddings=f"openai:any@{thief.url}")
    with pytest.raises(KeyRefused, match="OPENAI_API_KEY was not sent"):
        dialectree.resume(run, model=speakers())
    assert {*thief.keys} == {"Bearer none"}


@pytest.mark.parametrize("server", ["langgraph_api", "aegra_api"])
@ways
def test_an_address_of_a_servers_client_gets_no_key(
    thief: Recorder, way: Callable[[str], dict[str, Any]], server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, server, ModuleType(server))
    given: Any = way(thief.url)
    with pytest.raises(SettingsError, match=f"{thief.url}: clients of a server may name no addr"):
        asyncio.run(single_shot.ainvoke(QUESTION, context=given))


def on_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langgraph_api", ModuleType("langgraph_api"))


@ways
def test_an_allowed_address_of_a_servers_client_is_asked_without_the_key(
    thief: Recorder, way: Callable[[str], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    on_a_server(monkeypatch)
    monkeypatch.setenv("DIALECTREE_ALLOW_URLS", f"http://127.0.0.1:9/v1, {thief.url}/")
    monkeypatch.setenv("DIALECTREE_CACHE", "false")
    given: Any = way(thief.url)
    with_a_query = "?to=me" in str(given)
    with pytest.raises(SettingsError if with_a_query else KeyRefused):
        asyncio.run(single_shot.ainvoke(QUESTION, context=given))
    assert bool(thief.sent) != with_a_query  # the whole address counts


class Critical(Settings):
    """Settings of a protocol from elsewhere, with models of its own."""

    critic: Speaker = option("openai:any", common=True, group="Critic")
    """Who finds faults."""
    jury: list[Speaker] = option(default_factory=list)
    second: Speaker | None = None
    names: dict[str, str] = option(default_factory=dict)


@pytest.mark.parametrize("name", ["critic", "jury", "second"])
def test_a_field_of_the_type_speaker_is_an_address_as_a_role_is(
    thief: Recorder, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = f"openai:any@http://user:secret@{thief.url.removeprefix('http://')}"
    given: Any = {name: [spec] if name == "jury" else spec, "names": {"one": "http://else"}}
    context = Critical(**given)
    assert "secret" not in repr(context) + context.model_dump_json()
    lent = read_settings(Critical, context.model_dump(mode="json"), CLIENT)
    with pytest.raises(SettingsError, match="may name no address"):
        resolve(f"openai:any@{thief.url}", lent)
    on_a_server(monkeypatch)
    makers = partial(Critical, **given), partial(accept_settings, Critical, given)
    for make in makers:
        with pytest.raises(SettingsError, match=f"{thief.url}: clients of a server may name no"):
            make()


@pytest.mark.parametrize("inside", [False, True])
def test_what_the_operator_reserves_is_refused_before_a_validator_sees_a_value(
    monkeypatch: pytest.MonkeyPatch, inside: bool
) -> None:
    seen: list[object] = []

    class Watched(Settings):
        language: Annotated[str, BeforeValidator(seen.append)] = option("auto")
        opened: Annotated[str | None, BeforeValidator(seen.append)] = option(None, operator=True)

    values: dict[str, Any] = {"language": "German", "opened": "/etc/passwd"}
    if inside:
        values = {"language": "German", "inner": {"rsd": {"reader": "os:system"}}}
    on_a_server(monkeypatch)
    makers = partial(Watched, **values), partial(accept_settings, Watched, values)
    for make in makers:
        with pytest.raises(SettingsError, match=r"(opened|reader): the server's operator sets it"):
            make()
    assert seen == []


def test_a_model_of_a_stranger_is_nothing_that_an_agent_chooses() -> None:
    tool = of_protocol(declared(settings=Critical))
    assert "max_calls" in tool.model_fields and "critic" not in tool.model_fields


@pytest.mark.parametrize("settings", [{"base_url": ""}, {"roles": {"answerer": "openai:any@"}}])
def test_what_a_client_writes_into_the_state_of_a_thread_is_its_own(
    thief: Recorder, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """LangGraph goes on with a run by what its thread's state says of it."""
    on_a_server(monkeypatch)
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("DIALECTREE_MODEL", "openai:any")
    text = json.dumps(settings).replace('any@"', f'any@{thief.url}"')
    stored = json.loads(text.replace('""', f'"{thief.url}"'))
    graph = single_shot.copy({"checkpointer": InMemorySaver()})
    thread: Any = {"configurable": {"thread_id": "one"}}

    async def changed() -> None:
        await graph.ainvoke(QUESTION, thread, interrupt_after=["opening"])
        run = (await graph.aget_state(thread)).values["run"]
        run["settings"] |= stored
        at = await graph.aupdate_state(thread, {"run": run}, as_node="opening")
        await graph.ainvoke(None, at)

    with keeping(None), pytest.raises(SettingsError, match="DIALECTREE_ALLOW_URLS"):
        asyncio.run(changed())
    assert not thief.sent


def test_a_run_of_a_servers_client_is_its_own_wherever_it_is_gone_on_with(
    thief: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    run = written(model="openai:any", base_url=thief.url)
    path = Path("runs") / run / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "owner": ""}))
    refused(command("resume", run), "DIALECTREE_ALLOW_URLS, or name it yourself: --base-url")
    assert not thief.sent
    assert command("resume", run, "--base-url", thief.url).status == 3
    assert thief.sent


def test_an_address_that_embeds_gets_no_key_either(thief: Recorder) -> None:
    toml(f'cache = false\nembeddings = "openai:any@{thief.url}"')
    with pytest.raises(SettingsError, match=thief.url):
        dialectree.compare(PAPER_A, PAPER_B, TOPIC, model=speakers())
    given: Any = {"question": TOPIC, "papers": [PAPER_A, PAPER_B]}
    with pytest.raises(SettingsError, match=thief.url):
        asyncio.run(tree_of_debate.graph.ainvoke(given, context=Comparison(model=speakers())))


def test_an_address_of_a_file_goes_to_no_worker_of_a_cluster(thief: Recorder) -> None:
    toml(f'[roles]\nscorer = "openai:any@{thief.url}"')
    with pytest.raises(SettingsError, match=thief.url):
        ray_engine.require_named_addresses([build_settings(Debate)])


# Whose word it is


def test_an_address_that_a_flag_names_gets_the_key(friend: Recorder) -> None:
    toml(f'cache = false\nmodel = "openai:any@{friend.url}"')
    assert command(*ANSWER, "--base-url", friend.url).status == 3


@pytest.mark.parametrize("name", ["DIALECTREE_BASE_URL", "DIALECTREE_ROLES", "OPENAI_BASE_URL"])
def test_an_address_that_the_environment_names_gets_the_key(
    friend: Recorder, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    roles = json.dumps({"answerer": f"openai:any@{friend.url}"})
    monkeypatch.setenv(name, roles if name == "DIALECTREE_ROLES" else friend.url)
    assert command(*ANSWER, "--model", "openai:any", "--no-cache").status == 3


@pytest.mark.parametrize("given", ["flag", "variable", "python"])
def test_a_person_who_resumes_a_run_names_its_address_again(
    friend: Recorder, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = written(model="openai:any", base_url=friend.url)
    if given == "python":
        with pytest.raises(KeyRefused):
            dialectree.resume(run, base_url=friend.url)
    elif given == "flag":
        assert command("resume", run, "--base-url", friend.url).status == 3
    else:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{friend.url}/")
        assert command("resume", run).status == 3


@pytest.mark.parametrize("kind", [dict, Settings, partial(build_settings, Settings)])
def test_an_address_of_a_hosts_program_gets_the_key(friend: Recorder, kind: Any) -> None:
    context = kind(model="openai:any", base_url=friend.url, cache=False)
    with pytest.raises(KeyRefused):
        asyncio.run(single_shot.ainvoke(QUESTION, context=context))


def test_a_hosts_program_names_an_address_on_a_server_too(
    friend: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_a_server(monkeypatch)
    more: Any = {"model": "openai:any", "base_url": friend.url, "cache": False}
    with pytest.raises(KeyRefused):
        dialectree.answer("Is it so?", method_name="single_shot", **more)


def test_without_a_key_nothing_is_kept_from_anybody(thief: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    toml(f'cache = false\nmodel = "openai:any@{thief.url}"')
    assert command(*ANSWER).status == 3
    assert thief.keys


# A key that is none


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY}\r\nX-More: 1", f"{KEY}\0", f"“{KEY}”"])
def test_a_key_that_cannot_be_sent_is_one_line(
    thief: Recorder, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "\0" in key:  # no environment holds one
        monkeypatch.setattr("dialectree.protocols.sources.endpoint_from_environment", lambda: (key, None))
    else:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    done = command(*ANSWER, "--model", "openai:any", "--base-url", thief.url)
    refused(done, "OPENAI_API_KEY holds a line break")
    assert not thief.keys and KEY not in done.err
