"""The graphs behind a real ``langgraph dev``, asked through its own client."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client

from tests.endpoint import LocalEndpoint
from tests.graphs.tree_of_debate.comparing import PAPER_A, PAPER_B, TOPIC
from tests.servers import PORT, run_server
from tests.waiting import PATIENCE_S

JUDGE_SAYS_B = [{"match": "You judge a debate", "set": {"label": "B", "answer": "meat"}}]
COWS: dict[str, Any] = {"question": "What do cows eat?", "options": ["plants", "meat"]}
PAPERS: dict[str, Any] = {"question": TOPIC, "papers": [PAPER_A, PAPER_B]}
COMPARED = {"embeddings": "bm25", "max_depth": 1}
AT_ONCE = 20
"""Runs that the shared server takes at once."""
ROOT = Path(__file__).resolve().parent.parent.parent


@contextmanager
def serving(
    folder: Path,
    *flags: str,
    config: str | Path = "langgraph.all.json",
    kill: bool = False,
    **environment: str,
) -> Iterator[str]:
    """The address of a ``langgraph dev`` with all methods of the repository."""
    words = [str(Path(sys.executable).with_name("langgraph")), "dev", "--no-browser"]
    words += [*flags, "--no-reload", "--port", PORT, "--config", str(ROOT / config)]
    variables = {
        "DIALECTREE_CACHE": "false",
        "DIALECTREE_CACHE_DIR": str(folder / "cache"),
        # langgraph-api 0.16.7 cannot copy what it wraps around a checkpointer.
        "LANGGRAPH_STRICT_MSGPACK": "false",
        **environment,
    }
    with httpx.Client(verify=False, timeout=1) as client:  # each own client reads all certificates
        is_up = partial(answers, client)
        log = folder / "log"
        with run_server(words, log, is_up, variables, kill=kill, cwd=folder) as server:
            yield server.url


def answers(client: httpx.Client, port: int) -> bool:
    """Return whether a server of LangGraph takes requests at the port."""
    try:
        return client.get(f"http://127.0.0.1:{port}/ok").status_code == 200
    except httpx.TransportError:
        return False


def test_tsd_answers_and_tells_what_happens(server: str, splitting: LocalEndpoint) -> None:
    async def debate(url: str) -> tuple[list[Any], dict[str, Any]]:
        context: Any = {"model": "openai:any", "base_url": url, "max_depth": 1}
        async with get_client(url=server) as client:
            thread = (await client.threads.create())["thread_id"]
            stream = client.runs.stream(
                thread,
                "tsd",
                input={"question": "Which language do all people in Europe speak?"},
                context=context,
                stream_mode=["custom"],
                stream_subgraphs=True,
            )
            told = [part.data async for part in stream if part.event.startswith("custom")]
            state: Any = await client.threads.get_state(thread)
        return told, state["values"]

    told, values = asyncio.run(debate(splitting.url))
    assert splitting.stats()["calls"] == 37
    assert 0 <= values["verdict"]["confidence"] <= 1
    assert values["verdict"]["answer"]
    spoken = [event for event in told if event["kind"] == "spoke"]
    assert len(spoken) == 37
    assert {event["node"] for event in spoken} == {"0", "0.0", "0.1", "0.2", "0.3"}


@pytest.mark.parametrize("kind", ["context", "configurable"])
def test_a_misspelt_setting_is_refused_and_a_hosts_own_name_is_not(
    server: str, endpoint: LocalEndpoint, kind: str
) -> None:
    async def decided(**given: Any) -> str:
        context: Any = {"model": "openai:any", "base_url": endpoint.url, **given}
        named: Any = {"context": context, "config": None}
        if kind == "configurable":
            named = {"context": None, "config": {"configurable": context}}
        async with get_client(url=server) as client:
            return str(await client.runs.wait(None, "rsd", input=COWS, raise_error=False, **named))

    endpoint.reset()
    with pytest.raises(httpx.HTTPStatusError, match="422") as refused:
        asyncio.run(decided(max_cals=1))
    assert "did you mean max_calls?" in refused.value.response.text
    assert endpoint.stats()["calls"] == 0
    assert "meat" in asyncio.run(decided(thread_id="one", user_id="somebody"))


@pytest.mark.parametrize("kind", ["context", "configurable"])
@pytest.mark.parametrize("method", ["rsd", "art"])
def test_the_record_names_settings_of_other_protocols(
    server: str, endpoint: LocalEndpoint, method: str, kind: str
) -> None:
    context = {"model": "openai:any", "base_url": endpoint.url, "max_depth": 2}
    given = COWS if method == "rsd" else {"question": "Cows eat plants."}
    named = {"context": context} if kind == "context" else {"config": {"configurable": context}}
    run = {"assistant_id": method, "input": given, **named}
    answer = httpx.post(f"{server}/runs/wait", json=run, timeout=PATIENCE_S).json()
    record = httpx.get(f"{server}/debates/{answer['run_id']}").json()
    notice = f"max_depth: {method} has no such setting, so it changes nothing"
    assert (record["status"], record["notices"]) == ("answered", [notice])


def ask(server: str, method: str, url: str, given: Any, **context: Any) -> dict[str, Any]:
    """The last state of a run without a thread, or what went wrong with it."""

    async def asked() -> Any:
        async with get_client(url=server) as client:
            return await client.runs.wait(
                None,
                method,
                input=given,
                context={"model": "openai:any", "base_url": url, **context},
                raise_error=False,
            )

    result = asyncio.run(asked())
    assert isinstance(result, dict)
    return result


def test_rsd_decides_between_options(server: str, endpoint: LocalEndpoint) -> None:
    endpoint.reset()
    verdict = ask(server, "rsd", endpoint.url, COWS)["verdict"]
    assert (verdict["label"], verdict["answer"]) == ("B", "meat")
    assert endpoint.stats()["calls"] == 9


def test_art_gives_a_claim_its_probability(server: str, endpoint: LocalEndpoint) -> None:
    endpoint.reset()
    verdict = ask(server, "art", endpoint.url, {"question": "Cows eat plants."})["verdict"]
    assert verdict["label"] == str(verdict["confidence"] > 0.5)
    assert verdict["confidence_source"] == "P(claim)"
    assert endpoint.stats()["calls"] == 5


def test_tod_compares_two_papers_once_and_again(server: str, endpoint: LocalEndpoint) -> None:
    endpoint.reset()
    verdict = ask(server, "tod", endpoint.url, PAPERS, **COMPARED)["verdict"]
    assert verdict["answer"] and verdict["confidence"] is None
    assert ask(server, "tod", endpoint.url, PAPERS, **COMPARED)["verdict"] == verdict
    calls = endpoint.stats()["calls"]
    assert ask(server, "two_stage", endpoint.url, PAPERS)["verdict"]["answer"]
    assert endpoint.stats()["calls"] == calls + 3


def test_a_person_judges_what_the_run_stops_for(server: str, endpoint: LocalEndpoint) -> None:
    async def judged() -> tuple[Any, Any]:
        context: Any = {"model": "openai:any", "base_url": endpoint.url, "judge": "me"}
        async with get_client(url=server) as client:
            thread = (await client.threads.create())["thread_id"]
            stopped = await client.runs.wait(thread, "rsd", input=COWS, context=context)
            resume: Any = {"resume": "B"}
            ruled = await client.runs.wait(thread, "rsd", command=resume, context=context)
        return stopped, ruled

    endpoint.reset()
    stopped, ruled = asyncio.run(judged())
    (stop,) = stopped["__interrupt__"]
    (request,) = stop["value"]["action_requests"]
    assert (request["args"]["node"], request["name"]) == ("0", "judge")
    assert request["args"]["request"] == "Which answer is right? Reply with one of: A, B"
    for said in ("A: plants\n", "B: meat\n", "uncertainty", "  argument: "):
        assert said in request["args"]["transcript"]
    assert (ruled["verdict"]["label"], ruled["verdict"]["answer"]) == ("B", "meat")
    assert endpoint.stats()["calls"] == 8


@pytest.mark.parametrize("named", [None, {}, {"max_calls": 50}], ids=str)
def test_a_run_over_its_budget_goes_on_with_its_own_models_and_settings(
    server: str, endpoint: LocalEndpoint, named: Any
) -> None:
    async def twice() -> Any:
        context: Any = {"model": "openai:any", "base_url": endpoint.url, "judge_orders": "both"}
        async with get_client(url=server) as client:
            thread = (await client.threads.create())["thread_id"]
            await client.runs.wait(
                thread, "rsd", input=COWS, context={**context, "max_calls": 4}, raise_error=False
            )
            assert endpoint.stats()["calls"] == 4
            await client.runs.wait(thread, "rsd", input=None, context=named)
            state: Any = await client.threads.get_state(thread)
            return state["values"]["record"]

    endpoint.reset()
    record = asyncio.run(twice())
    assert endpoint.stats()["calls"] == 10 == record["usage"]["calls"]
    assert {*record["models"].values()} == {f"openai:any@{endpoint.url}"}
    assert record["status"] == "answered"


REFUSED = [
    ("art", {"question": "Do cows eat plants?"}, "this is a question"),
    ("tod", {**PAPERS, "papers": [PAPER_A, PAPER_A]}, "both papers are the same text"),
    ("single_stage", {**PAPERS, "papers": ["ladder.pdf", "mesh.pdf"]}, "give a mapping"),
]


@pytest.mark.parametrize(("method", "given", "why"), REFUSED)
def test_the_error_says_why_an_input_is_refused(
    server: str, endpoint: LocalEndpoint, method: str, given: dict[str, Any], why: str
) -> None:
    endpoint.reset()
    error = ask(server, method, endpoint.url, given)["__error__"]
    assert error["error"] == "InputError" and why in error["message"]
    assert endpoint.stats()["calls"] == 0


def test_a_person_rules_in_debates_inside_a_debate_in_any_order(
    server: str, splitting: LocalEndpoint
) -> None:
    splitting.reset()
    context: Any = {
        "model": "openai:any",
        "base_url": splitting.url,
        "max_depth": 1,
        "leaf_protocol": "rsd",
        "inner": {"rsd": {"judge": "me"}},
    }

    async def ruled() -> tuple[list[str], Any]:
        async with get_client(url=server) as client:
            thread = (await client.threads.create())["thread_id"]
            question = {"question": "Which language do all people in Europe speak?"}
            stopped: Any = await client.runs.wait(thread, "tsd", input=question, context=context)
            order: list[str] = []
            while stops := stopped.get("__interrupt__"):
                stop = stops[-1]  # the last one first
                order.append(stop["value"]["action_requests"][0]["args"]["node"])
                answer: Any = {"resume": {stop["id"]: "A"}}
                stopped = await client.runs.wait(thread, "tsd", command=answer)
            return order, (await client.threads.get_state(thread))["values"]

    order, values = asyncio.run(ruled())
    assert sorted(order) == ["0.0", "0.1", "0.2", "0.3"]
    nodes = values["record"]["tree"]["nodes"]
    for node in order:
        said = next(t for t in nodes[node]["transcript"] if t["label"] == "A")
        assert nodes[node]["verdict"]["answer"] == (said["side"] or said["fields"]["answer"])
    assert splitting.stats()["calls"] == len({call["digest"] for call in splitting.calls()})
