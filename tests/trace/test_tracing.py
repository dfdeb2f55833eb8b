"""Traces, as a LangSmith-compatible place receives them."""

import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dialectree.records.folder import RunFolder
from tests.endpoint import LocalEndpoint
from tests.forking import ADDRESS
from tests.rules import FOUR_CHILDREN, children
from tests.trace.trace_recorder import KEY, Recorder, recorder, run_program, tracing_to

QUESTION = "Which language do all people in Europe speak?"
PROGRAM = """
import dialectree, sys
from langchain_core.tracers.langchain import wait_for_all_tracers
settings = dict(max_depth=1, leaf_rounds=1, synthesis_rounds=1)
record = dialectree.answer({question!r}, **{{**settings, **{settings}}})
assert record.status == "answered", record
wait_for_all_tracers()
print(record.run_id)
"""


def debate(folder: Path, endpoint: str, url: str, question: str = QUESTION, **options: Any) -> str:
    environment = {key: options.pop(key) for key in [*options] if key.isupper()}
    program = PROGRAM.format(question=question, settings=options)
    return run_program(program, folder, endpoint, **tracing_to(url), **environment).strip()


def nodes(kept: Recorder) -> dict[str, dict[str, Any]]:
    """Return the runs of the tree's nodes, by node."""
    chains = [run for run in kept.runs.values() if run["run_type"] == "chain"]
    return {run["extra"]["metadata"]["tree_node"]: run for run in chains}


def calls(kept: Recorder) -> list[dict[str, Any]]:
    return [run for run in kept.runs.values() if run["run_type"] == "llm"]


SECRET = "Zweisimmen"
TOLD = "Obersimmental"
ASKED = f"Is {SECRET} a town?"


class Full(NamedTuple):
    """A debate that was traced whole, and its endpoint, which goes on."""

    folder: Path
    endpoint: LocalEndpoint
    run_id: str
    trace: Recorder


@pytest.fixture(scope="module", autouse=True)
def in_forks(forked: str) -> Iterator[None]:
    """Let the programs of these tests run in forks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ADDRESS, forked)
        yield


@pytest.fixture(scope="module")
def full(in_forks: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Full]:
    folder = tmp_path_factory.mktemp("full")
    told = {"match": "", "set": {"claim": TOLD, "answer": TOLD, "rationale": TOLD}}
    with LocalEndpoint(rules=[*FOUR_CHILDREN, told]) as endpoint:
        with recorder() as (url, kept):
            run_id = debate(folder, endpoint.url, url, ASKED, leaf_rounds=2)
        yield Full(folder, endpoint, run_id, kept)


def test_the_trace_of_a_debate_is_its_tree_with_a_run_for_each_call(full: Full) -> None:
    kept = full.trace
    record = RunFolder(full.folder / "runs" / full.run_id).record()
    shown = nodes(kept)
    assert {name: run["parent_run_id"] for name, run in shown.items() if name != "0"} == {
        name: shown[node.parent]["id"] for name, node in record.tree.nodes.items() if node.parent
    }
    assert kept.root() is shown["0"]
    assert kept.root()["name"] == f"TSD: {ASKED}"
    assert shown["0.1"]["name"] == "leaf 0.1: Which languages are most widely used in Europe?"
    verdict = record.tree.nodes["0.1"].verdict
    assert verdict is not None
    assert shown["0.1"]["outputs"]["answer"] == verdict.answer
    debaters = [f"leaf debater {who}, round {n}" for n in (1, 2) for who in ("A", "B")]
    under = [run["name"] for run in kept.under(shown["0.1"])]
    assert (sorted(under[:4]), under[4]) == (sorted(debaters), "leaf judge")
    assert len(calls(kept)) == record.usage.calls
    assert len(kept.runs) == record.usage.calls + len(record.tree.nodes)
    assert KEY.encode() not in kept.sent
    require_details(kept)


def test_a_debate_inside_a_debate_goes_on_in_its_trace(tmp_path: Path) -> None:
    with LocalEndpoint() as endpoint, recorder() as (url, kept):
        program = PROGRAM.replace('== "answered"', '!= "partial"')
        text = program.format(question="Is it so?", settings={"max_depth": 0, "leaf_protocol": "art"})
        name = run_program(text, tmp_path, endpoint.url, **tracing_to(url)).strip()
    record = RunFolder(tmp_path / "runs" / name).record()
    shown = nodes(kept)
    assert {*shown} == {*record.tree.nodes} == {"0", "0.0", "0.1"}
    assert len(kept.runs) == record.usage.calls + len(shown)
    assert {shown[name]["parent_run_id"] for name in ("0.0", "0.1")} == {kept.root()["id"]}
    assert kept.root()["name"] == "TSD: Is it so?"


def require_details(kept: Recorder) -> None:
    """A call shows model, temperature, schema and tokens."""
    judge = next(run for run in kept.under(nodes(kept)["0.3"]) if run["name"] == "leaf judge")
    assert [message["role"] for message in judge["inputs"]["messages"]] == ["system", "user"]
    metadata, parameters = judge["extra"]["metadata"], judge["extra"]["invocation_params"]
    names = ("tree_node", "role", "prompt", "ls_provider", "ls_model_name", "ls_temperature")
    assert [metadata[name] for name in names] == [
        "0.3",
        "leaf_judge",
        "tree_structured_debate/leaf_judge@2",
        "openai",
        "any",
        parameters["temperature"],
    ]
    assert parameters["response_format"]["json_schema"]["name"] == "LeafJudgeReply"
    used = judge["outputs"]["usage_metadata"]
    assert used == metadata["usage_metadata"]
    assert used["total_tokens"] == used["input_tokens"] + used["output_tokens"] > 0


@pytest.mark.parametrize("again", ["from the cache", "from the journal"])
def test_a_reply_that_nobody_is_paid_for_is_shown_and_marked(full: Full, again: str) -> None:
    paid_for = full.endpoint.stats()["calls"]
    with recorder() as (url, kept):
        if again == "from the cache":
            debate(full.folder, full.endpoint.url, url, ASKED, leaf_rounds=2)
        else:
            path = full.folder / "runs" / full.run_id / "run.json"
            path.write_text(json.dumps({**json.loads(path.read_text()), "status": "partial"}))
            program = (
                f"import dialectree; dialectree.resume({full.run_id!r}); "
                "from langchain_core.tracers.langchain import wait_for_all_tracers as wait; wait()"
            )
            run_program(program, full.folder, full.endpoint.url, **tracing_to(url))
    assert full.endpoint.stats()["calls"] == paid_for
    replayed, paid = calls(kept), calls(full.trace)
    assert len(replayed) == len(paid)
    assert {tuple(run["tags"]) for run in replayed} == {("cached",)}
    assert {run["outputs"]["usage_metadata"]["total_tokens"] for run in replayed} == {0}
    for part in ("name", "inputs"):
        assert sorted(str(r[part]) for r in replayed) == sorted(str(r[part]) for r in paid)


def test_a_redacted_trace_has_structure_and_usage_and_no_text(full: Full) -> None:
    def again(url: str, **environment: str) -> None:
        given: Any = {"leaf_rounds": 2, **environment}
        debate(full.folder, full.endpoint.url, url, ASKED, **given)

    with recorder() as (url, kept):
        again(url, DIALECTREE_TRACE="redacted", DIALECTREE_CACHE="false")
    with recorder() as (url, hidden):
        again(url, LANGSMITH_HIDE_INPUTS="true", LANGSMITH_HIDE_OUTPUTS="true")
    assert SECRET.encode() in full.trace.sent and TOLD.encode() in full.trace.sent
    assert SECRET.encode() not in hidden.sent
    for text in (SECRET, TOLD, "debaters", "Europe", "claim"):
        assert text.encode() not in kept.sent.replace(b'"claim"', b""), text
    assert nodes(kept).keys() == nodes(full.trace).keys()
    assert nodes(kept)["0.1"]["name"] == "leaf 0.1"
    assert tokens(kept) == tokens(full.trace) > 0


def tokens(kept: Recorder) -> int:
    usage = [run["outputs"]["usage_metadata"] for run in calls(kept)]
    return sum(one["total_tokens"] for one in usage)


CHAT = """
import asyncio
from base64 import b64encode
from langchain_core.tracers.langchain import wait_for_all_tracers
from langgraph.checkpoint.memory import InMemorySaver
from dialectree.interfaces.server.chat import tod_chat

named = {{"filename": "{told}"}}
file = {{"type": "file", "data": b64encode(b"{told}").decode(), "metadata": named}}
config = {{"run_name": "{told}", "tags": ["{told}"], "metadata": {{"source": "{told}"}}}}
config["configurable"] = {{"thread_id": "{told}"}}

async def main():
    chat = tod_chat.copy({{"checkpointer": InMemorySaver()}})
    for content in ("help", "{told}", [file], "{told}"):
        sent = {{"messages": [{{"role": "user", "content": content}}]}}
        await chat.ainvoke(sent, config)
    await chat.ainvoke(sent, config, context={{"max_depth": "{told}"}})

try: asyncio.run(main())
except ValueError: pass
wait_for_all_tracers()
"""


def test_a_redacted_trace_of_a_chat_has_its_steps_and_no_text(tmp_path: Path) -> None:
    once = {"DIALECTREE_CACHE": "false", "DIALECTREE_TRACE": "redacted"}
    with recorder() as (url, kept):
        run_program(CHAT.format(told=TOLD), tmp_path, url, **tracing_to(url), **once)
    assert {"tod_chat", "reading"} <= {run["name"] for run in kept.runs.values()}
    for text in (TOLD, b64encode(TOLD.encode()).decode(), "question begins"):
        assert text.encode() not in kept.sent, text


def test_a_misspelt_switch_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    with LocalEndpoint(rules=children(2)) as endpoint, recorder() as (url, kept):
        program = (
            "import dialectree\n"
            "try: dialectree.answer('Is it?', max_depth=0)\n"
            "except dialectree.errors.SettingsError as error: print(error)"
        )
        wrong = {**tracing_to(url), "DIALECTREE_TRACE": "redact"}
        told = run_program(program, tmp_path, endpoint.url, **wrong)
    assert told == "DIALECTREE_TRACE must be full or redacted, not redact\n"
    assert not kept.runs


def test_a_trace_of_fifty_nodes_is_small(tmp_path: Path) -> None:
    with LocalEndpoint(rules=FOUR_CHILDREN) as endpoint, recorder() as (url, kept):
        debate(tmp_path, endpoint.url, url, max_depth=3, max_nodes=53, leaf_rounds=3)
    assert len(nodes(kept)) >= 45
    others = [run for run in kept.runs.values() if run["run_type"] != "llm"]
    assert len(others) <= 6 * len(nodes(kept))
    assert kept.transferred <= 1_000_000


HOST = """
import asyncio, operator
from typing import Annotated
from typing_extensions import TypedDict
from langchain_core.tracers.langchain import wait_for_all_tracers
from langgraph.graph import END, START, StateGraph
from dialectree.graphs.role_switching_debate.graph import graph as debate

class State(TypedDict):
    question: str
    options: list[str]
    verdict: dict

async def greet(state: State): return {}

host = StateGraph(State)
host.add_node("greet", greet)
host.add_node("debate", debate)
host.add_edge(START, "greet")
host.add_edge("greet", "debate")
host.add_edge("debate", END)
graph = host.compile(name="host")
kinds = []

async def main():
    asked = {"question": "What gives milk?", "options": ["a cow", "a tree"]}
    async for namespace, mode, data in graph.astream(
        asked, {"run_name": "the host's"}, stream_mode=["tasks", "custom"], subgraphs=True
    ):
        kinds.append(data["name"] if mode == "tasks" else data["kind"])

asyncio.run(main())
wait_for_all_tracers()
print(" ".join(sorted(kinds)))
"""


def test_a_hosts_graph_is_the_root_and_its_stream_stays_as_it_is(tmp_path: Path) -> None:
    with LocalEndpoint(seed=3) as endpoint, recorder() as (url, kept):
        plain = run_program(HOST, tmp_path, endpoint.url)
        assert not kept.requests
        once = {"DIALECTREE_CACHE": "false"}
        assert run_program(HOST, tmp_path, endpoint.url, **tracing_to(url), **once) == plain
    assert kept.root()["name"] == "the host's"
    steps = {run["name"]: run for run in kept.under(kept.root())}
    assert steps.keys() == {"greet", "debate"}
    [ours] = kept.under(steps["debate"])
    assert ours["name"] == "RSD: What gives milk?"
    assert {"answer", "confidence"} <= ours["outputs"].keys()
    assert {run["run_type"] for run in kept.under(ours)} == {"llm"}


COMPARING = """
import dialectree
from langchain_core.tracers.langchain import wait_for_all_tracers
papers = [
    {"title": name, "abstract": f"{name} bound the error.", "body": f"{name} treat noise well."}
    for name in ("Ladders", "Meshes")
]
dialectree.compare(*papers, topic="noise", embeddings="bm25", max_depth=1)
wait_for_all_tracers()
"""


def test_a_retrieval_is_a_retriever_run_with_ids_and_scores(tmp_path: Path) -> None:
    with LocalEndpoint(seed=3) as endpoint, recorder() as (url, kept):
        run_program(COMPARING, tmp_path, endpoint.url, **tracing_to(url))
    retrievals = [run for run in kept.under(kept.root()) if run["run_type"] == "retriever"]
    names = {f"evidence of paper {letter}, topic" for letter in "ab"}
    assert {run["name"] for run in retrievals} >= names
    found = [document for run in retrievals for document in run["outputs"]["documents"]]
    assert found
    assert all(one["metadata"]["id"] and one["metadata"]["score"] > 0 for one in found)
