"""The door: repairs, journal, budgets, cache, and what never leaves it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dialectree import aanswer, prompts
from dialectree.errors import (
    BudgetReached,
    DialectreeError,
    InputError,
    KeyRefused,
    ReplayMiss,
    ReplyError,
    RequestError,
)
from dialectree.models import door, replies
from dialectree.models.door import Run
from dialectree.protocols.protocol import method
from dialectree.protocols.settings import ProtocolSettings, build_settings
from dialectree.protocols.sources import cache_folder
from dialectree.records import Call, RunRecord
from dialectree.running.runner import begin, prepare_graph_input
from tests.models.asking import GOOD, PROMPT, RULE, QuickClock, Rule, at, kept, lines, question
from tests.models.scripted_endpoint import Answer, ScriptedEndpoint, after, fails, says, sends

pytestmark = pytest.mark.anyio


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    return tmp_path / "calls.jsonl"


# What a call waits for


async def test_events_say_why_a_call_waits_and_what_it_took(quick: QuickClock) -> None:
    limited, broken = fails(429, headers={"retry-after": "7"}), fails(500, "overloaded")
    told: list[Mapping[str, Any]] = []

    def hear(event: Mapping[str, Any]) -> int:
        if event["kind"] != "spoke":
            told.append(event["data"])
        return len(told)

    async with ScriptedEndpoint(limited, broken, says("I'd say A."), says(GOOD)) as served:
        run = Run("run", context := at(served.url))
        run.hear = hear
        await question(context, run)
    states = [(one.get("why"), one.get("repair", 0), one.get("attempt")) for one in told]
    assert states == [
        *[("asked", 0, 1), ("rate_limit", 0, 2), ("asked", 0, 2), ("retry", 0, 3), ("asked", 0, 3)],
        *[(None, 0, None), ("asked", 1, 1), (None, 1, None)],
    ]
    assert "overloaded" in told[3]["fault"] and told[1]["wait"] > 6
    called = [one for one in told if "why" not in one]
    assert [one["completion_tokens"] for one in called] == [5, 5]
    assert (called[0]["attempts"], "attempts" in called[1]) == (3, False)


# Repairs


BAD = {
    "prose": ("I'd say A.", "not a JSON object"),
    "only thinking": ("<think>A?", "thinking and no reply"),
    "a wrong type": (GOOD.replace("0.7", '"0.7"'), "confidence: input should be a valid number"),
    "cut off": (GOOD[:30], "not one whole JSON object"),
    "an id that was not offered": (GOOD.replace('"A"', '"B"'), "winner: 'B' is not one of A"),
}


@pytest.mark.parametrize(("text", "fault"), BAD.values(), ids=BAD.keys())
async def test_an_invalid_reply_is_asked_for_again_with_what_was_wrong(text: str, fault: str) -> None:
    async with ScriptedEndpoint(says(text), says(text), says(GOOD)) as served:
        assert await question(at(served.url), ids={"winner": ["A"]}) == RULE
        first, second, third = (body["messages"] for body in served.bodies)
        for mended in (second, third):
            assert fault in mended[-1]["content"]
            assert "JSON Schema" in mended[-1]["content"]
        assert "Is it so?" in json.dumps(third)
        assert len({json.dumps(messages) for messages in (first, second, third)}) == 3
        if text:
            assert second[-2] == {"role": "assistant", "content": prompts.escape_tags(text)}


async def test_a_reply_that_stays_invalid_is_an_error_that_names_prompt_node_and_fault() -> None:
    async with ScriptedEndpoint(says("I'd say A.")) as served:
        with pytest.raises(ReplyError, match=rf"\A{PROMPT}@2 at node 0\.2: .*not a JSON") as error:
            await question(at(served.url), node="0.2")
    assert (error.value.role, len(served.bodies)) == ("judge", 3)


async def test_a_reply_says_what_stands_there_and_a_repair_shows_no_mark() -> None:
    bad = GOOD.replace('"A"', '"<|eot_id|>"')
    good = json.dumps({**json.loads(GOOD), "answer": "It quotes <~|im_end|> and [~/INST]."})

    async with ScriptedEndpoint(says(bad), says(good)) as served:
        reply = await question(at(served.url), ids={"winner": ["A"]})
        assert reply.answer == "It quotes <|im_end|> and [/INST]."
        shown = json.dumps(served.bodies[1]["messages"])
        assert "<~|eot_id|>" in shown and "<|" not in shown


async def test_a_reply_that_was_cut_off_gets_twice_the_tokens() -> None:
    cut = says(GOOD[:20], "length")
    async with ScriptedEndpoint(cut, cut, says(GOOD)) as served:
        assert await question(at(served.url), max_tokens=100) == RULE
        assert [body["max_tokens"] for body in served.bodies] == [100, 200, 400]


# The journal


async def test_every_call_is_in_its_file_before_anybody_reads_its_reply(
    calls: Path, monkeypatch: pytest.MonkeyPatch, quick: QuickClock
) -> None:
    read = replies.read
    on_disk: list[list[Call]] = []

    def look(*given: Any) -> Any:
        on_disk.append(lines(calls))
        return read(*given)

    monkeypatch.setattr(door, "read", look)

    script = (fails(500), says("no", tokens=(3, 4)), says(GOOD, tokens=(5, 6)))
    async with ScriptedEndpoint(*script) as served:
        with kept(calls, at(served.url)) as run:
            await question(at(served.url), run, node="0.1")
    first, second = on_disk[-1]
    assert [len(seen) for seen in on_disk] == [1, 2]
    assert (first.reply, first.attempts, first.repair) == ("no", 2, 0)
    assert (second.reply, second.attempts, second.repair) == (GOOD, 1, 1)
    assert (second.node, second.role, second.prompt_tokens) == ("0.1", "judge", 5)
    assert (second.prompt, second.model, second.source) == (f"{PROMPT}@2", "openai:any", "model")
    assert first.key != second.key
    assert first.started <= first.ended <= second.started <= second.ended


async def test_finished_calls_are_answered_from_the_journal_failures_too(
    calls: Path, quick: QuickClock
) -> None:
    def choose(body: Any) -> Answer:
        return [fails(500), says("no"), says(GOOD), says(GOOD)][int(body["seed"]) % 4]

    outcomes, made = list[list[str]](), list[int]()
    async with ScriptedEndpoint(choose=choose) as served:
        for _ in range(2):
            with kept(calls, at(served.url)) as run:
                nodes = [question(at(served.url), run, node=f"0.{n}") for n in range(4)]
                found = await asyncio.gather(*nodes, return_exceptions=True)
            outcomes.append([str(each) for each in found])
            made.append(len(served.bodies))
    assert outcomes[0] == outcomes[1] and "no reply" in str(outcomes)
    assert made[0] == made[1]


async def test_a_question_that_is_given_up_does_not_lose_its_reply(calls: Path) -> None:
    async with ScriptedEndpoint(after(0.1, says(GOOD))) as served:
        with kept(calls, at(served.url)) as run:
            asking = asyncio.create_task(question(at(served.url), run))
            while not served.bodies:
                await asyncio.sleep(0.01)
            asking.cancel()
            await asyncio.wait([asking])
            await run.land()
    assert [call.reply for call in lines(calls)] == [GOOD]


# What ends a run ends it for everybody


@pytest.mark.parametrize(("answer", "kind"), [(fails(401), KeyRefused), (fails(404), RequestError)])
async def test_a_final_error_stops_the_questions_that_wait(
    answer: Answer, kind: type[DialectreeError]
) -> None:
    async with ScriptedEndpoint(answer) as served:
        context = at(served.url, concurrency=1)
        run = Run("run", context)
        nodes = [question(context, run, node=f"0.{n}") for n in range(20)]
        found = await asyncio.gather(*nodes, return_exceptions=True)
        assert {type(error) for error in found} == {kind}
        assert len(served.bodies) == 1


# Budgets


async def test_a_budget_of_calls_is_never_overshot_and_what_is_under_way_is_kept(calls: Path) -> None:
    async with ScriptedEndpoint(after(0.01, says(GOOD))) as served:
        context = at(served.url, concurrency=3, max_calls=5)
        with kept(calls, context) as run:
            nodes = [question(context, run, node=f"0.{n}") for n in range(20)]
            found = await asyncio.gather(*nodes, return_exceptions=True)
        assert len(served.bodies) == 5
    assert sum(each == RULE for each in found) == 5
    assert sum(isinstance(each, BudgetReached) for each in found) == 15
    assert len(lines(calls)) == 5


async def test_cached_tokens_count_at_their_price_in_the_journal_and_in_a_budget(calls: Path) -> None:
    usage = {"prompt_tokens": 400_000, "completion_tokens": 100_000}

    def reply(cached: object) -> Answer:
        message = {"role": "assistant", "content": GOOD}
        told = {**usage, "prompt_tokens_details": {"cached_tokens": cached}}
        return sends({"choices": [{"message": message}], "usage": told})

    script = (reply(n) for n in (300_000, 0, 10**9, 0))
    async with ScriptedEndpoint(*script) as served:
        context = at(served.url, max_cost=2, prices={"openai:any": (1, 4, 0.5)})
        with kept(calls, context) as run:
            for node in ("0.0", "0.1", "0.2"):
                await question(context, run, node=node)
            with pytest.raises(BudgetReached, match="`max_cost` 2 "):
                await question(context, run, node="0.3")
    assert [call.cached_tokens for call in lines(calls)] == [300_000, 0, 400_000]
    assert [call.cost for call in lines(calls)] == [0.65, 0.8, 0.6]


def test_a_budget_of_seconds_holds_while_an_endpoint_asks_to_wait(quick: QuickClock, tmp_path: Path) -> None:
    async def ask() -> RunRecord:
        async with ScriptedEndpoint(fails(429, headers={"retry-after": "inf"})) as served:
            model = f"openai:any@{served.url}"
            with pytest.raises(BudgetReached, match="`max_seconds` 30") as ended:
                await aanswer("Is it so?", model=model, max_seconds=30, runs=tmp_path)
        return RunRecord.read((tmp_path / str(ended.value.run_id) / "run.json").read_text())

    assert asyncio.run(ask()).status == "partial"
    assert sum(quick.slept) <= 30


@pytest.mark.parametrize("waits_for", ["an endpoint that hangs", "a slot", "another's reply"])
async def test_a_budget_of_seconds_ends_a_call_that_waits(waits_for: str) -> None:
    async with ScriptedEndpoint(after(60, says(GOOD))) as served:
        patient = at(served.url, concurrency=1, cache=waits_for == "another's reply")
        other = asyncio.create_task(question(patient))
        if waits_for == "an endpoint that hangs":
            other.cancel()
        else:
            while not served.bodies:
                await asyncio.sleep(0.01)
        hurried = patient.model_copy(update={"max_seconds": 0.2})
        node = "0" if patient.cache else "0.1"
        with pytest.raises(BudgetReached, match="`max_seconds`"):
            await asyncio.wait_for(question(hurried, node=node), 30)
        other.cancel()


# The cache


async def test_a_cache_that_cannot_be_opened_is_a_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("DIALECTREE_CACHE_DIR", str(tmp_path / "file"))
    reply = '{"answer": "Yes.", "explanation": "So.", "confidence": 1}'
    async with ScriptedEndpoint(says(reply)) as served:
        chosen, asked = method("single_shot"), {"question": "Is it so?"}
        context = cached(served.url)
        begun = begin(chosen, prepare_graph_input(chosen, asked, context), context, tmp_path / "runs")
        record = await begun.conduct()
        assert record.status == "answered"
        (notice,) = record.notices
        assert str(tmp_path / "file") in notice and "went on without it" in notice
        with pytest.raises(InputError, match="the reply cache"):
            await question(cached(served.url, replay=True))


def cached(url: str, **settings: Any) -> ProtocolSettings:
    return at(url, cache=True, **settings)


async def test_a_request_that_was_made_before_is_answered_from_the_cache(calls: Path) -> None:
    async with ScriptedEndpoint(says(GOOD, tokens=(5, 6))) as served:
        context = cached(served.url, prices={"openai:any": (1e6, 0)})
        assert await question(context) == RULE
        with kept(calls, context) as again:
            assert await question(context, again) == RULE
        assert len(served.bodies) == 1
    (call,) = lines(calls)
    assert (call.source, call.reply, call.prompt_tokens, call.cost) == ("cache", GOOD, 5, 5.0)


async def test_who_asks_the_same_at_the_same_time_waits_for_the_one_reply() -> None:
    async with ScriptedEndpoint(after(0.05, says(GOOD))) as served:
        context = cached(served.url)
        assert await asyncio.gather(*(question(context) for _ in range(5))) == [RULE] * 5
        await asyncio.gather(*(question(context, node=f"0.{n}") for n in range(2)))
        assert len(served.bodies) == 3


UNUSABLE = {
    "cut off": says(GOOD[:20], "length"),
    "a refusal": says(None, refusal="I will not."),
    "a content filter": says("", "content_filter"),
    "out of range": says(GOOD.replace("0.7", "7")),
    "what the check refuses": says(GOOD.replace("So it is.", "Never.")),
}


@pytest.mark.parametrize("bad", UNUSABLE.values(), ids=UNUSABLE.keys())
async def test_the_cache_keeps_no_reply_that_came_to_nothing(bad: Answer, calls: Path) -> None:
    def wrong(reply: Rule) -> str | None:
        return "answer: never say never" if "Never" in reply.answer else None

    async def ask(context: ProtocolSettings, run: Run | None = None) -> Rule:
        return await question(context, run, ids={"winner": ["A"]}, check=wrong)

    def rows() -> list[object]:
        with closing(sqlite3.connect(cache_folder() / "replies.sqlite3")) as file:
            return file.execute("select * from completions").fetchall()

    async with ScriptedEndpoint(*[bad] * 4, says(GOOD)) as served:
        context = cached(served.url)
        with kept(calls, context) as run:
            for _ in range(2):  # nothing is paid twice within a run
                with pytest.raises(ReplyError):
                    await ask(context, run)
            await run.land()
        assert (len(served.bodies), rows()) == (3, [])
        assert await ask(context) == RULE  # after a repair
        assert (len(served.bodies), len(rows())) == (5, 2)
        assert await ask(cached(served.url, replay=True)) == RULE
    assert [call.repair for call in lines(calls)] == [0, 1, 2] * 2


async def test_replay_needs_no_endpoint_and_a_miss_is_an_error() -> None:
    async with ScriptedEndpoint(says(GOOD)) as served:
        await question(cached(served.url))
    replay = cached(served.url, replay=True)
    assert await question(replay) == RULE
    with pytest.raises(ReplayMiss, match=r"single_shot/answerer@2 at node 0\.1"):
        await question(replay, node="0.1")


# Secrets


KEY, PASSWORD, TOKEN = "sk-very-secret-key", "open%20sesame", "token-in-a-query"
BASIC = "dXNlcjpvcGVuIHNlc2FtZQ"
"""The user and the password, as they are sent; an endpoint may leave out the padding."""


def stored(folder: Path) -> str:
    """All that lies in a folder, as one text."""
    return "".join(path.read_bytes().decode(errors="replace") for path in folder.rglob("*") if path.is_file())


TELLTALES = {
    "an answer": says('{"answer": "Yes.", "explanation": "So.", "confidence": 1}'),
    "a refused key": fails(401, f"Incorrect key {KEY} for user:{PASSWORD}, ?api_key={TOKEN}"),
    "a failure": fails(500, f"no: {KEY} {PASSWORD} {TOKEN}"),
    "an error with status 200": sends({"error": {"message": f"{KEY} {TOKEN}"}}),
}


@pytest.mark.parametrize(
    ("answer", "way"),
    [*zip(TELLTALES.values(), ("base_url", "model", "role", "environment"), strict=True)],
    ids=TELLTALES.keys(),
)
def test_neither_key_nor_password_is_told_or_kept(
    answer: Answer,
    way: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    quick: QuickClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    async def answered() -> str:
        async with ScriptedEndpoint(answer) as served:
            whole = f"http://user:{PASSWORD}@127.0.0.1:{served.port}/v1?api_key={TOKEN}"
            spec = f"openai:any@{whole}"
            ways: dict[str, dict[str, Any]] = {
                "base_url": {"model": "openai:any", "base_url": whole},
                "model": {"model": spec, "prices": {spec: (1, 1)}},
                "role": {"model": "openai:none@http://127.0.0.1:1", "roles": {"answerer": spec}},
                "environment": {"model": "openai:any"},
            }
            if way == "environment":
                monkeypatch.setenv("OPENAI_BASE_URL", whole)
            context = build_settings(ProtocolSettings, **ways[way])
            chosen = method("single_shot")
            given = prepare_graph_input(chosen, {"question": "Is it so?"}, context)
            begun = begin(chosen, given, context, tmp_path / "runs")
            said = ""
            try:
                await begun.conduct()
            except DialectreeError as error:
                said = f"{error} {error!r}"
            assert served.headers[0]["Authorization"] == f"Basic {BASIC}=="
            assert served.paths[0] == f"/v1/chat/completions?api_key={TOKEN}"
            return said + repr(begun.context) + repr(begun.record)

    told = asyncio.run(answered()) + stored(tmp_path)
    assert "127.0.0.1" in told
    ours = (r for r in caplog.records if not r.name.startswith("aiohttp"))  # the endpoint's own
    logged = " ".join(record.getMessage() for record in ours)
    assert "POST" in logged
    for secret in (KEY, KEY[:9], PASSWORD, "open sesame", TOKEN, BASIC):
        assert secret not in told
        assert secret not in logged


def test_openai_without_a_key_says_what_to_set() -> None:
    with pytest.raises(KeyRefused, match="set OPENAI_API_KEY"):
        asyncio.run(question(build_settings(ProtocolSettings, model="openai:any", cache=False)))
