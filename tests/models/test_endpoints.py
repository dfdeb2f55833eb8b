"""What an endpoint may do to a call, over real sockets: errors, silence, refusals, odd answers."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
import trustme
from langchain_core.messages import AIMessage

from dialectree import clock
from dialectree.errors import (
    CallError,
    DialectreeError,
    KeyRefused,
    ModelUnavailable,
    RequestError,
    Unreachable,
)
from dialectree.models import clients, endpoints
from dialectree.models.endpoints import ATTEMPTS, endpoint
from dialectree.models.specs import resolve
from tests.models.asking import GOOD, RULE, QuickClock, at, question
from tests.models.scripted_endpoint import (
    Answer,
    ScriptedEndpoint,
    after,
    breaks_off,
    fails,
    says,
    sends,
    writes,
)
from tests.nobody import nobody

pytestmark = pytest.mark.anyio


def asked(*script: Answer, **settings: Any) -> tuple[object, ScriptedEndpoint]:
    """One question to a scripted endpoint: the reply or the error, and the endpoint."""

    async def ask() -> tuple[object, ScriptedEndpoint]:
        async with ScriptedEndpoint(*script) as served:
            try:
                return await question(at(served.url, **settings)), served
            except DialectreeError as error:
                return error, served

    return asyncio.run(ask())


def learnt(url: str) -> endpoints.Endpoint:
    """What is remembered of the endpoint at ``url``."""
    context = at(url)
    return endpoint(resolve(context.model, context))


# What a request looks like


def test_the_schema_the_seed_and_the_limits_go_out_as_they_were_made() -> None:
    reply, served = asked(says(GOOD))
    (body,) = served.bodies
    assert reply == RULE
    assert served.paths == ["/v1/chat/completions"]
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert "Is it so?" in body["messages"][1]["content"]
    assert (body["model"], body["temperature"], type(body["seed"])) == ("any", 0.7, int)
    held = body["response_format"]["json_schema"]
    assert (held["name"], held["strict"]) == ("Rule", True)
    assert held["schema"]["properties"]["confidence"] == {
        "type": "number",
        "minimum": 0,
        "maximum": 1,
    }
    assert "max_tokens" not in body
    assert "extra_body" not in body


def test_no_proxy_stands_between_this_machine_and_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    with nobody() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy)
        reply, _ = asked(says(GOOD))
    assert reply == RULE


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_a_proxy_is_asked_for_what_lies_beyond_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedEndpoint(says(GOOD)) as proxy:
        monkeypatch.setenv("http_proxy", f"http://me:word@127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        assert await question(at("http://models.example:81/v1")) == RULE
        (headers,) = proxy.headers
        assert headers["Host"] == "models.example:81"
        assert headers["Proxy-Authorization"] == "Basic bWU6d29yZA=="


# The ladder


def chooses(takes: str) -> Callable[[Any], Answer]:
    """An endpoint that takes one way of asking and refuses those above it."""

    def choose(body: Any) -> Answer:
        wanted = body.get("response_format", {}).get("type", "text")
        if wanted != takes:
            return fails(400, f"response_format type {wanted} is not supported", param="x")
        return says(GOOD if takes != "text" else f"Here it is:\n```json\n{GOOD}\n```")

    return choose


@pytest.mark.parametrize(
    ("takes", "formats"),
    [
        ("json_schema", ["json_schema", "json_schema"]),
        ("json_object", ["json_schema", "json_object", "json_object"]),
        ("text", ["json_schema", "json_object", "text", "text"]),
    ],
)
async def test_the_ladder_goes_down_where_a_format_is_refused_and_remembers(
    takes: str, formats: list[str]
) -> None:
    async with ScriptedEndpoint(choose=chooses(takes)) as served:
        for node in ("0.0", "0.1"):
            assert await question(at(served.url), node=node) == RULE
        assert served.formats == formats
        shown = ["JSON Schema" in str(body["messages"][0]) for body in served.bodies]
        assert shown == [wanted != "json_schema" for wanted in formats]
        assert learnt(served.url).rung == takes


async def test_an_endpoint_that_answers_a_schema_with_prose_is_asked_otherwise() -> None:
    def choose(body: Any) -> Answer:
        return says(GOOD if "response_format" not in body else "I would say that it is so.")

    async with ScriptedEndpoint(choose=choose) as served:
        for node in ("0.0", "0.1"):
            assert await question(at(served.url), node=node) == RULE
        assert served.formats == ["json_schema", "json_object", "text", "text"]


def test_an_endpoint_that_refuses_every_format_is_an_error_of_the_request() -> None:
    error, served = asked(fails(400, "no schema or response_format please"))
    assert isinstance(error, RequestError)
    assert len(served.bodies) == 3


# Parameters that some endpoints refuse


@pytest.mark.parametrize("name", ["temperature", "seed", "max_tokens"])
async def test_a_parameter_that_is_refused_by_name_is_left_out_from_then_on(name: str) -> None:
    def choose(body: Any) -> Answer:
        refused = fails(400, f"Unsupported parameter: '{name}' is not supported.", param=name)
        return refused if name in body else says(GOOD)

    async with ScriptedEndpoint(choose=choose) as served:
        for node in ("0.0", "0.1"):
            assert await question(at(served.url), node=node, max_tokens=50) == RULE
        assert [name in body for body in served.bodies] == [True, False, False]
        if name == "max_tokens":
            assert served.bodies[-1]["max_completion_tokens"] == 50


# What passes


BREAKS = {
    "500": fails(500),
    "502 with a page": writes("<html>bad gateway</html>", "text/html", 502),
    "cut before the headers": breaks_off(),
    "cut within the body": breaks_off(b'{"id": "1", "choices": [{"mess'),
    "half a JSON": writes('{"id": "1", "choices": [{"mess'),
    "a page": writes("<!DOCTYPE html><html><body>Welcome</body></html>", "text/html"),
    "a list": sends([]),
    "no choices": sends({"id": "1", "choices": []}),
    "a choice without a message": sends({"id": "1", "choices": [{"index": 0}]}),
    "an error with status 200": sends({"error": {"message": "busy", "code": 502}}),
}


@pytest.mark.parametrize("broken", BREAKS.values(), ids=BREAKS.keys())
def test_what_may_pass_is_tried_again(broken: Answer, quick: QuickClock) -> None:
    reply, served = asked(broken, broken, says(GOOD))
    assert reply == RULE
    assert len(served.bodies) == 3
    assert len(quick.slept) == 2


@pytest.mark.parametrize("broken", BREAKS.values(), ids=BREAKS.keys())
def test_what_does_not_pass_is_given_up_with_one_line(broken: Answer, quick: QuickClock) -> None:
    error, served = asked(broken)
    assert isinstance(error, CallError | RequestError)
    assert len(served.bodies) == ATTEMPTS
    assert served.url in str(error)
    assert "\n" not in str(error)
    if isinstance(error, CallError):
        assert f"{ATTEMPTS} attempts" in str(error)


def test_a_call_that_hangs_is_given_up_at_its_deadline() -> None:
    began = time.monotonic()
    error, served = asked(after(60, says(GOOD)), call_deadline=2.1)
    assert isinstance(error, CallError)
    assert "2.1 s" in str(error)
    assert "timed out" in str(error)
    assert len(served.bodies) == 2  # a request that hangs leaves time for another
    assert time.monotonic() - began < 10


# Rate limits


def test_a_rate_limit_is_waited_for_as_long_as_it_asks(quick: QuickClock) -> None:
    reply, served = asked(fails(429, headers={"Retry-After": "7"}), says(GOOD))
    assert reply == RULE
    assert len(served.bodies) == 2
    assert 6.9 <= sum(quick.slept) < 8


def test_a_wait_may_be_a_date(quick: QuickClock) -> None:
    until = format_datetime(clock.now().replace(microsecond=0), usegmt=True)
    reply, _ = asked(fails(429, headers={"retry-after": until}), says(GOOD))
    assert reply == RULE
    assert sum(quick.slept) < 5


def test_a_rate_limit_without_a_wait_is_asked_less_and_less_often(quick: QuickClock) -> None:
    reply, _ = asked(*[fails(429)] * 4, says(GOOD))
    assert reply == RULE
    assert 15 <= sum(quick.slept) < 25


def test_waiting_is_no_failure_and_costs_no_time_of_the_call(quick: QuickClock) -> None:
    limited = fails(429, headers={"retry-after": "5"})
    reply, served = asked(*[limited] * 20, says(GOOD), call_deadline=10)
    assert reply == RULE
    assert len(served.bodies) == 21


async def test_one_question_that_is_told_to_wait_makes_the_others_wait_too() -> None:
    limited = fails(429, headers={"retry-after-ms": "300"})
    async with ScriptedEndpoint(limited, says(GOOD)) as served:
        first = asyncio.create_task(question(at(served.url), node="0.0"))
        while not served.bodies:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        began = time.monotonic()
        await question(at(served.url), node="0.1")
        assert time.monotonic() - began > 0.15
        await first


def test_a_rate_limit_without_end_is_given_up(quick: QuickClock) -> None:
    error, served = asked(fails(429, headers={"retry-after": "60"}))
    assert isinstance(error, CallError)
    assert "rate limit" in str(error)
    assert 10 < len(served.bodies) < 20


def test_a_quota_that_is_used_up_ends_the_run_at_once(quick: QuickClock) -> None:
    used_up = fails(429, "You exceeded your current quota", code="insufficient_quota")
    error, served = asked(used_up)
    assert isinstance(error, ModelUnavailable)
    assert "quota" in str(error)
    assert len(served.bodies) == 1
    assert not quick.slept


# What another try cannot mend


FINAL = {
    "400": (fails(400, "bad request"), RequestError, "bad request"),
    "401": (fails(401, "Incorrect API key"), KeyRefused, "OPENAI_API_KEY"),
    "402": (fails(402, "Insufficient Balance"), ModelUnavailable, "Insufficient Balance"),
    "404": (fails(404, "no model any"), RequestError, "--model"),
    "404 with a page": (
        writes("<html>not found</html>", "text/html", 404),
        RequestError,
        "--base-url",
    ),
    "422": (fails(422, "unprocessable"), RequestError, "unprocessable"),
}


@pytest.mark.parametrize(("answer", "kind", "says_"), FINAL.values(), ids=FINAL.keys())
def test_what_another_try_cannot_mend_is_one_clear_line_at_once(
    answer: Answer, kind: type[DialectreeError], says_: str, quick: QuickClock
) -> None:
    error, served = asked(answer)
    assert type(error) is kind
    assert says_ in str(error)
    assert served.url in str(error)
    assert "\n" not in str(error)
    assert len(served.bodies) == 1
    assert not quick.slept


def test_messages_that_are_too_long_fail_their_own_call_and_not_the_run() -> None:
    message = "This model's maximum context length is 4096 tokens."
    error, served = asked(fails(400, message, code="context_length_exceeded"))
    assert isinstance(error, CallError)
    assert "too long" in str(error)
    assert len(served.bodies) == 1


FILTERED = {
    "azure": fails(
        400,
        "The response was filtered due to the prompt triggering Azure OpenAI's content management "
        "policy. Please modify your prompt and retry.",
        code="content_filter",
        param="prompt",
        innererror={"code": "ResponsibleAIPolicyViolation"},
    ),
    "openai": fails(400, "Rejected by our safety system.", code="content_policy_violation"),
}


@pytest.mark.parametrize("answer", FILTERED.values(), ids=FILTERED.keys())
def test_a_content_filter_fails_its_own_call_and_not_the_run(answer: Answer) -> None:
    error, served = asked(answer)
    assert isinstance(error, CallError)
    assert "content filter" in str(error)
    assert len(served.bodies) == 1


# Nobody there


def test_an_address_where_nobody_listens_is_unreachable(quick: QuickClock) -> None:
    with nobody() as address:
        url = f"{address}/v1"
        with pytest.raises(Unreachable, match=f"nobody answers at {url}: Cannot connect to host"):
            asyncio.run(question(at(url)))
    assert sum(quick.slept) < 12


def test_an_address_that_swallows_connections_is_unreachable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(endpoints, "CONNECT_S", 0.3)
    monkeypatch.setattr(endpoints, "UNREACHABLE_AFTER_S", 0.5)
    with ExitStack() as held:
        full = held.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        port = full.getsockname()[1]
        with suppress(TimeoutError):  # its queue is full once a connection does not come
            while True:
                held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=0.5))
        began = time.monotonic()
        with pytest.raises(Unreachable, match="Connection timeout"):
            asyncio.run(question(at(f"http://127.0.0.1:{port}/v1")))
        assert time.monotonic() - began < 8


def self_signed(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """What a server on this machine shows, and the file of who signed it."""
    signer, tls = trustme.CA(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    signer.issue_cert("127.0.0.1").configure_cert(tls)
    signer.cert_pem.write_to_path(folder / "signer.pem")
    return tls, folder / "signer.pem"


def test_a_certificate_counts_once_its_signer_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls, signer = self_signed(tmp_path)

    async def ask() -> object:
        async with ScriptedEndpoint(says(GOOD), tls=tls) as served:
            return await question(at(served.url))

    with pytest.raises(ModelUnavailable, match=r"https://127.+ not trusted here: .+SSL_CERT_FILE"):
        asyncio.run(ask())
    monkeypatch.setenv("SSL_CERT_FILE", str(signer))
    clients._certificates.cache_clear()
    try:
        assert asyncio.run(ask()) == RULE
    finally:
        clients._certificates.cache_clear()


def test_an_endpoint_without_tls_is_lost_and_the_other_scheme_named(quick: QuickClock) -> None:
    async def ask() -> object:
        async with ScriptedEndpoint(says(GOOD)) as served:
            return await question(at(served.url.replace("http:", "https:")))

    with pytest.raises(Unreachable, match=r"no https there: is http:// meant\?"):
        asyncio.run(ask())
    assert sum(quick.slept) > 5  # a handshake may fail once


# What a completion says of itself


# Live models


@pytest.mark.parametrize(
    ("said", "finish"),
    [
        ({"finish_reason": "stop"}, "stop"),
        ({"stop_reason": "max_tokens"}, "length"),
        ({"finish_reason": "MAX_TOKENS"}, "length"),
        ({"done_reason": "length"}, "length"),
        ({}, None),
    ],
)
def test_other_providers_words_for_the_end_are_understood(
    said: dict[str, str], finish: str | None
) -> None:
    assert endpoints._completion(AIMessage("x", response_metadata=said)).finish == finish
