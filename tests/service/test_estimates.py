"""An estimate before the first call: what a debate will take, without asking anybody."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tracers.context import collect_runs

import dialectree
from dialectree.list_prices import TABLE
from dialectree.models.endpoints import endpoint as known_endpoint
from dialectree.models.specs import resolve
from dialectree.protocols.protocol import Method, method, methods
from dialectree.protocols.settings import build_settings
from dialectree.records.estimate import Estimate, Span
from dialectree.records.folder import RunFolder
from dialectree.running import estimates
from tests.endpoint import LocalEndpoint
from tests.models.gguf_file import gguf

NOBODY = "http://127.0.0.1:9/v1"
OPTIONS: dict[str, Any] = {"question": "Is fire hot?", "options": ["yes", "no"]}
CLAIM: dict[str, Any] = {"claim": "Bats are blind."}
QUESTION = {"question": "Do all people in Europe speak one language?"}
TEXT = "We count ladders. A ladder has rungs. " * 40
PAPERS: dict[str, Any] = {
    "topic": "ladders",
    "paper_a": {"title": "Rungs", "abstract": "On rungs.", "body": TEXT},
    "paper_b": {"title": "Rails", "abstract": "On rails.", "body": f"Rails hold rungs. {TEXT}"},
}


@pytest.fixture(autouse=True)
def few_rehearsals() -> None:
    """Rehearse as often as a person's debate is rehearsed."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with LocalEndpoint(seed=5) as endpoint:
        yield endpoint.url


def span(least: float, most: float) -> Span:
    return Span(least=least, median=most, most=most)


@pytest.mark.parametrize(
    ("protocol", "name", "given", "settings"),
    [
        ("art", "art", CLAIM, {}),
        ("art", "art", CLAIM, {"breadth": 2, "depth": 2}),
        ("art", "cot", CLAIM, {}),
        ("rsd", "self_consistency", OPTIONS, {"samples": 4}),
        ("rsd", "judge_alone", OPTIONS, {}),
        ("tsd", "tsd", QUESTION, {"max_depth": 0}),
        ("tsd", "best_of_n", QUESTION, {"samples": 3}),
    ],
)
def test_calls_that_the_settings_fix_are_known_exactly(
    url: str, protocol: str, name: str, given: Mapping[str, Any], settings: dict[str, Any]
) -> None:
    options: dict[str, Any] = {"method_name": name, "model": f"openai:any@{url}", **settings}
    expected = dialectree.estimate(protocol, **given, **options)
    used = dialectree.run(protocol, **given, cache=False, **options).usage
    assert expected.expected == (used.calls, used.calls)
    path = used.critical_path_calls
    assert (expected.in_a_row.least, expected.in_a_row.most) == (path, path)
    tokens = used.prompt_tokens + used.completion_tokens
    assert expected.tokens.median == pytest.approx(tokens, rel=0.3)


@pytest.mark.parametrize(
    ("protocol", "given", "settings"),
    [
        ("rsd", OPTIONS, {"gate": 2}),
        ("rsd", QUESTION, {}),
        ("tsd", QUESTION, {"depth_profile": "safety", "max_nodes": 9}),
        ("tsd", QUESTION, {"leaf_protocol": "rsd", "max_depth": 1, "ask": True}),
        ("tod", PAPERS, {"max_depth": 1, "embeddings": "bm25", "segments": 2, "max_claims": 1}),
    ],
)
def test_calls_that_the_replies_decide_lie_in_a_range(
    url: str, protocol: str, given: Mapping[str, Any], settings: dict[str, Any]
) -> None:
    options: dict[str, Any] = {"model": f"openai:any@{url}", **settings}
    expected = dialectree.estimate(protocol, **given, **options)
    used = dialectree.run(protocol, **given, cache=False, **options).usage
    least, most = expected.expected
    assert least < most
    assert least <= used.calls <= most


GIVEN = {"art": CLAIM, "rsd": OPTIONS, "tsd": QUESTION, "tod": PAPERS, "vote_first": OPTIONS}
COUNTED = [(name, one) for name, one in methods().items() if one.variant.calls is not None]


@pytest.mark.parametrize(("name", "chosen"), COUNTED, ids=[name for name, _ in COUNTED])
def test_calls_that_a_declaration_tells_are_those_of_a_rehearsal(name: str, chosen: Method) -> None:
    assert len(COUNTED) >= 9
    of, settings = chosen.protocol.name, [dict[str, Any]()]
    if "samples" in chosen.reads():
        settings.append({"samples": 5})
    for more in settings:
        given = {**GIVEN[of], **more, "model": "openai:any"}
        counted = chosen.on({}).count_calls(build_settings(chosen.protocol.settings, **more))
        assert counted == dialectree.estimate(of, method_name=name, **given).expected


def test_an_estimate_is_the_same_each_time() -> None:
    settings: dict[str, Any] = {**OPTIONS, "model": f"openai:any@{NOBODY}", "gate": 2}
    assert dialectree.estimate("rsd", **settings) == dialectree.estimate("rsd", **settings)


def test_a_way_out_that_is_seldom_taken_is_found_by_extreme_replies() -> None:
    model = f"openai:any@{NOBODY}"
    six = dialectree.estimate("rsd", **OPTIONS, model=model, gate=6)
    assert six.expected[0] == 6  # nobody debates where all six direct answers agree
    assert six.expected[1] >= 6 + 9


def test_a_person_who_judges_takes_a_call_from_the_model() -> None:
    assert dialectree.estimate("rsd", **OPTIONS, model=f"openai:any@{NOBODY}", judge="me").expected == (8, 8)


def test_an_estimate_leaves_no_trace() -> None:
    model = f"openai:any@{NOBODY}"
    with collect_runs() as traced:
        small: dict[str, Any] = {"max_depth": 1, "segments": 2, "max_claims": 1}
        absent = "a-model/that-is-not-here"
        dialectree.estimate("tod", **PAPERS, model=model, embeddings=absent, **small)
    assert not traced.traced_runs
    kept = {path.name for path in Path().glob("*")} | {path.name for path in Path("cache").glob("*")}
    assert kept <= {"cache", "segments", "corpora"}  # how papers were cut, which no run repeats
    settings = method("tod").protocol.settings(model=model)
    assert not known_endpoint(resolve(model, settings)).rung_known


def test_an_earlier_run_shows_how_long_calls_and_texts_are() -> None:
    with LocalEndpoint(latency_ms=40) as slow:
        model = f"openai:slow@{slow.url}"
        first = dialectree.estimate("art", **CLAIM, model=model)
        record = dialectree.run("art", **CLAIM, model=model, cache=False)
        dialectree.run("art", **CLAIM, model=f"openai:other@{slow.url}", cache=False)
    folder = RunFolder.find(record.run_id, Path("runs"))
    reply = json.dumps({"label": "A", "texts": ["so it is " * 30]})
    calls = [call.model_copy(update={"reply": reply}) for call in folder.ledger()]
    folder.write("calls.jsonl", "".join(f"{call.model_dump_json()}\n" for call in calls))
    second = dialectree.estimate("art", **CLAIM, model=model)
    assert (first.measured_in, first.seconds_per_call) == (None, 2)
    assert second.measured_in == record.run_id
    assert 0.04 <= second.seconds_per_call < 2
    assert second.seconds.median == pytest.approx(second.seconds_per_call * 2)
    assert second.tokens.median > 1.5 * first.tokens.median


def test_a_run_that_cannot_be_read_leaves_the_pace_to_another_one(url: str) -> None:
    settings: Any = {**CLAIM, "model": f"openai:any@{url}", "method_name": "direct"}
    runs = {dialectree.run("art", **settings, cache=False).run_id for _ in range(2)}
    last = dialectree.estimate("art", **settings).measured_in
    assert last in runs
    RunFolder.find(last, Path("runs")).write("calls.jsonl", "no call\n")
    assert {last, dialectree.estimate("art", **settings).measured_in} == runs


def test_a_token_takes_as_long_in_another_protocol_and_a_call_does_not() -> None:
    with LocalEndpoint(latency_ms=40) as slow:
        model: Any = {"model": f"openai:slow@{slow.url}"}
        record = dialectree.run("art", **CLAIM, **model, cache=False)
    folder = RunFolder.find(record.run_id, Path("runs"))
    calls = [
        call.model_copy(
            update={
                "started": "2026-01-01T00:00:00.000000Z",
                "ended": "2026-01-01T00:00:30.000000Z",
                "completion_tokens": 1000,
            }
        )
        for call in folder.ledger()
    ]
    folder.write("calls.jsonl", "".join(f"{call.model_dump_json()}\n" for call in calls))
    same = dialectree.estimate("art", **CLAIM, **model)
    assert same.seconds_per_call == 30 and not same.time_unknown
    other = dialectree.estimate("rsd", question="Which?", options=["a", "b"], **model)
    assert other.measured_in == record.run_id
    written = other.seconds_per_call / 30 * 1000
    assert 20 < written < 900  # the tokens of its own replies, at 0.03 s each


def test_a_server_of_this_machine_that_never_answered_has_no_pace() -> None:
    for model, unknown in ((f"openai:any@{NOBODY}", True), ("openai:any", False)):
        told = dialectree.estimate("art", **CLAIM, model=model)
        assert told.time_unknown is unknown
        assert ("not known before the first reply" in str(told)) is unknown


def test_a_model_that_answers_two_at_once_takes_longer_than_its_longest_chain(tmp_path: Path) -> None:
    file = gguf(tmp_path / "any.gguf", [(8, 8)])
    remote = dialectree.estimate("art", **CLAIM, model=f"openai:any@{NOBODY}", breadth=3)
    local = dialectree.estimate("art", **CLAIM, model=f"local:{file}", breadth=3)
    assert remote.seconds.most == 2 * 2
    assert local.seconds.most == 2 * local.calls.most / 2


def test_money_is_named_where_every_price_is_known() -> None:
    options: dict[str, Any] = {"model": f"openai:a@{NOBODY}", "roles": {"scorer": "openai:b"}}
    known = dialectree.estimate(
        "art", **CLAIM, **options, prices={"openai:a": (1e6, 1e6), "openai:b": (1e6, 1e6)}
    )
    assert known.cost is not None
    assert known.cost.most == pytest.approx(known.tokens.most)
    some = dialectree.estimate("art", **CLAIM, **options, prices={"openai:a": (1, 1)})
    assert some.cost is None


def test_money_comes_from_list_prices_where_nobody_gave_one() -> None:
    for model, prices, cost, line in (
        ("openai:gpt-4o", {}, (0.001, 0.1), f"less than $0.01 by list prices of {TABLE}"),
        ("openai:gpt-4o", {"openai:gpt-4o": (1e6, 1e6)}, (1000, 3000), "; cost about 1,"),
        ("openai:gpt-4o@https://api.openai.com/v1", {}, (0.001, 0.1), f"list prices of {TABLE}"),
        ("openai:deepseek-chat@https://api.deepseek.com", {}, (1e-5, 0.1), f"list prices of {TABLE}"),
        ("openai:a-model-that-nobody-knows", {}, None, "if a call takes 2 s"),
        (f"openai:gpt-4o@{NOBODY}", {}, None, "before the first reply"),
        ("openai:gpt-4o@https://gateway.example/v1", {}, None, "if a call takes 2 s"),
        ("local:smollm2", {}, (0, 0), "; no cost: it runs on this machine"),
    ):
        expected = dialectree.estimate("art", **CLAIM, model=model, prices=prices)
        if cost is None:
            assert expected.cost is None and str(expected).endswith(line), model
        else:
            assert expected.cost is not None and cost[0] <= expected.cost.median <= cost[1], model
            assert line in str(expected), model
        assert (expected.list_prices == TABLE) is ("list prices" in line), model
        assert expected.own_prices is bool(prices), model


def test_prices_of_several_models_sum_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_or_ten(provider: str, model: str, url: str | None, *tokens: int) -> float | None:
        return {"one": 1.0, "ten": 10.0}.get(model)

    monkeypatch.setattr(estimates, "list_price", one_or_ten)

    def cost(**settings: Any) -> float | None:
        span = dialectree.estimate("art", **CLAIM, model="openai:one", **settings).cost
        return None if span is None else span.median

    assert cost() == 5  # two arguments, their two scores, and one comparison
    assert cost(roles={"pairwise_judge": "openai:ten"}) == 14
    assert cost(jury=["openai:one", "openai:ten"]) == 1 + 1 + 1 + 2 * (1 + 10)
    assert cost(roles={"pairwise_judge": "local:smollm2"}) == 4
    assert cost(roles={"pairwise_judge": "openai:other"}) is None
    mixed: dict[str, Any] = {
        "roles": {"pairwise_judge": "openai:other"},
        "prices": {"openai:other": (1e6, 1e6)},
    }
    both = dialectree.estimate("art", **CLAIM, model="openai:one", **mixed)
    assert both.own_prices and str(both).endswith(f" by list prices of {TABLE} and your own")


def test_a_model_at_two_addresses_with_two_prices_has_none() -> None:
    two: dict[str, Any] = {"model": "openai:gpt-4o", "roles": {"scorer": f"openai:gpt-4o@{NOBODY}"}}
    assert dialectree.estimate("art", **CLAIM, **two).cost is None


def test_list_prices_reach_no_record(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "list_price", lambda *call: 1.0)
    model = f"openai:any@{url}"
    expected = dialectree.estimate("art", **CLAIM, model=model)
    assert expected.cost is not None and expected.cost.median == 5
    record = dialectree.run("art", **CLAIM, model=model, cache=False)
    assert record.usage.cost is None
    assert {call.cost for call in RunFolder.find(record.run_id, Path("runs")).ledger()} == {None}


def test_the_table_of_the_tested_version_has_a_date() -> None:
    pins = (Path(__file__).parents[2] / "constraints.txt").read_text()
    assert f"genai-prices=={version('genai-prices')}\n" in pins
    assert date.fromisoformat(TABLE) <= date.today()


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "9 calls, 6 in a row; about 14,000 tokens; about 12 s if a call takes 2 s"),
        (
            {"calls": span(9, 10), "in_a_row": span(6, 7), "cost": span(0.0121, 0.0123)},
            "9 to 10 calls, 6 to 7 in a row; about 14,000 tokens; about 12 s if a call takes 2 s; "
            "cost about 0.012",
        ),
        (
            {"calls": span(9, 1400), "tokens": span(900, 1234567), "seconds": span(12, 300)},
            "9 to 1,400 calls (median 1,400), 6 in a row; 900 to 1,200,000 tokens; 12 s to "
            "5 min 00 s if a call takes 2 s",
        ),
        (
            {"calls": span(1, 1), "measured_in": "20260131-120000-1a2b3c"},
            "1 call, 6 in a row; about 14,000 tokens; about 12 s at 2 s a call, as in 20260131-120000-1a2b3c",
        ),
        (
            {"seconds": span(960, 960), "seconds_per_call": 160.4},
            "9 calls, 6 in a row; about 14,000 tokens; about 16 min 00 s if a call takes 160 s",
        ),
        (
            {"cost": span(0.0121, 0.0123), "list_prices": "2026-11-10"},
            "9 calls, 6 in a row; about 14,000 tokens; about 12 s if a call takes 2 s; "
            "about $0.012 by list prices of 2026-11-10",
        ),
        (
            {"cost": span(0.004, 0.04), "list_prices": "genai-prices 9", "own_prices": True},
            "9 calls, 6 in a row; about 14,000 tokens; about 12 s if a call takes 2 s; "
            "up to $0.04 by list prices of genai-prices 9 and your own",
        ),
        (
            {"time_unknown": True},
            "9 calls, 6 in a row; about 14,000 tokens; how long is not known before the first reply",
        ),
    ],
)
def test_an_estimate_is_one_line(changes: dict[str, Any], line: str) -> None:
    usual = Estimate(
        calls=span(9, 9),
        in_a_row=span(6, 6),
        tokens=span(13_000, 14_321),
        seconds=span(12, 12),
        seconds_per_call=2,
        measured_in=None,
        cost=None,
        rehearsals=3,
    )
    assert str(usual.model_copy(update=changes)) == line
    assert Estimate.model_validate(json.loads(usual.model_dump_json())) == usual
