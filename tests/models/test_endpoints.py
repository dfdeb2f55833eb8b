"""What an endpoint may do to a call, over real sockets: errors, silence, refusals, odd answers."""

from __future__ import annotations

import asyncio
import gc
import ssl
from collections.abc import Callable, Iterator
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
import trustme

from dialectree.errors import (
    CallError,
    DialectreeError,
    KeyRefused,
    ModelUnavailable,
    RequestError,
    Unreachable,
)
from dialectree.models import clients
from dialectree.models.endpoints import ATTEMPTS, UNREACHABLE_AFTER_S, endpoint
from dialectree.models.run import Run
from dialectree.models.specs import resolve
from dialectree.system import clock
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


# What a request looks like


def test_the_schema_the_seed_and_the_limits_go_out_as_they_were_made() -> None:
    reply, served = asked(says(GOOD))
    (body,) = served.bodies
    assert reply == RULE
    assert served.paths == ["/v1/chat/completions"]
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert "Is it so?" in body["messages"][1]["content"]
    assert (body["model"], body["temperature"], type(body["seed"])) == ("any", 0.7, int)
    wanted = body["response_format"]["json_schema"]
    assert (wanted["name"], wanted["strict"]) == ("Rule", True)
    confidence = {"type": "number", "minimum": 0, "maximum": 1}
    assert wanted["schema"]["properties"]["confidence"] == confidence
    assert not {"max_tokens", "extra_body"} & body.keys()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_a_proxy_is_asked_for_what_lies_beyond_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedEndpoint(says(GOOD)) as proxy:
        monkeypatch.setenv("http_proxy", f"http://me:word@127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        assert await question(at("http://models.example:81/v1")) == RULE
        (headers,) = proxy.headers
        assert headers["Host"] == "models.example:81"
        assert headers["Proxy-Authorization"] == "Basic bWU6d29yZA=="


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "ftp://127.0.0.1", "127.0.0.1:9x"])
async def test_a_proxy_that_cannot_be_used_is_one_line(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(RequestError, match=r"proxied\.example cannot be used: set an http:// one"):
        await question(at("http://proxied.example/v1"))


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
        context = at(served.url)
        assert endpoint(resolve(context.model, context)).rung == takes


# Parameters that some endpoints refuse


@pytest.mark.parametrize("name", ["seed", "max_tokens"])
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
    "502 with a page": writes("<html>bad gateway</html>", "text/html", 502),
    "cut before the headers": breaks_off(),
    "cut within the body": breaks_off(b'{"id": "1", "choices": [{"mess'),
    "no choices": sends({"id": "1", "choices": []}),
    "an error with status 200": sends({"error": {"message": "busy", "code": 502}}),
}


@pytest.mark.parametrize("broken", BREAKS.values(), ids=BREAKS.keys())
def test_what_may_pass_is_tried_again(broken: Answer, quick: QuickClock) -> None:
    reply, served = asked(broken, broken, says(GOOD))
    assert reply == RULE
    assert len(served.bodies) == 3
    assert len(quick.slept) == 2


def test_a_call_that_hangs_is_given_up_at_its_deadline() -> None:
    error, served = asked(after(60, says(GOOD)), call_deadline=2.1)
    assert isinstance(error, Unreachable)
    assert "2.1 s" in str(error) and "timed out" in str(error)
    assert len(served.bodies) == 2  # a request that hangs leaves time for another


# What is down for a while


@pytest.mark.parametrize("wait", [{}, {"retry-after": "300"}])
def test_a_server_that_fails_is_waited_for_within_the_deadline(
    wait: dict[str, str], quick: QuickClock
) -> None:
    down = [fails(503, headers=wait)] * (3 if wait else ATTEMPTS + 3)
    reply, served = asked(*down, says(GOOD), call_deadline=70)
    assert (reply, len(served.bodies)) == (RULE, len(down) + 1)
    assert sum(quick.slept) < 70


def test_an_address_that_answers_no_call_for_a_whole_deadline_ends_the_run(quick: QuickClock) -> None:
    error, served = asked(fails(503, "busy"), call_deadline=70)
    assert isinstance(error, Unreachable) and error.status == 3
    assert f"{served.url} answered no call for 70 s" in str(error) and "busy" in str(error)
    assert 60 < sum(quick.slept) <= 70


async def test_a_call_that_fails_alone_leaves_the_run_to_the_others(quick: QuickClock) -> None:
    def choose(body: Any) -> Answer:
        return fails(503) if "unlucky" in str(body["messages"]) else says(GOOD)

    async with ScriptedEndpoint(choose=choose) as served:
        context = at(served.url)
        asking = [question(context, question=f"Is it {luck}?") for luck in ("unlucky", "lucky")]
        failed, reply = await asyncio.gather(*asking, return_exceptions=True)
    assert isinstance(failed, CallError) and "gave no reply" in str(failed)
    assert reply == RULE


@pytest.mark.parametrize("returns", [True, False])
async def test_an_address_that_answered_before_is_waited_for(returns: bool, quick: QuickClock) -> None:
    async with ScriptedEndpoint(says(GOOD)) as served:
        assert await question(at(served.url)) == RULE
    context = at(served.url, call_deadline=3000)
    asking = asyncio.create_task(question(context, node="0.1"))
    while sum(quick.slept) < 5 * UNREACHABLE_AFTER_S and not asking.done():
        await asyncio.sleep(0)
    if returns:
        async with ScriptedEndpoint(says(GOOD), port=served.port):
            assert await asking == RULE
    else:
        with pytest.raises(Unreachable, match="answered no call for 3000 s"):
            await asking


async def test_a_connection_that_breaks_is_tried_anew_where_somebody_answered_before(
    quick: QuickClock,
) -> None:
    breaks = [breaks_off()] * (2 * ATTEMPTS)
    async with ScriptedEndpoint(says(GOOD), *breaks, says(GOOD)) as served:
        for node in ("0.0", "0.1"):
            assert await question(at(served.url), node=node) == RULE


# Rate limits


async def test_a_server_with_one_slot_loses_no_call_that_waits_behind_others() -> None:
    """The last calls would wait for twice the time after which a request is abandoned."""
    slot = asyncio.Semaphore(1)

    def choose(body: Any) -> Answer:
        async def answer(request: Any) -> Any:
            async with slot:
                return await after(0.08, says(GOOD))(request)

        return answer

    async with ScriptedEndpoint(choose=choose) as served:
        context = at(served.url, call_deadline=2, concurrency=16)
        run = Run("run", context)
        asked = [question(context, run, node=f"0.{n}", question=f"{n}?") for n in range(16)]
        assert await asyncio.gather(*asked) == [RULE] * 16
        assert served.peak == 16
        assert resolve(context.model, context).limiter().window < 16


def test_a_rate_limit_is_waited_for_and_is_no_failure_of_the_call(quick: QuickClock) -> None:
    until = format_datetime(clock.read_utc_time().replace(microsecond=0), usegmt=True)
    limits = [fails(429, headers={"Retry-After": wait}) for wait in ["7", until, *["5"] * 20]]
    reply, served = asked(*limits, says(GOOD), call_deadline=10)
    assert (reply, len(served.bodies)) == (RULE, 23)
    assert 106 < sum(quick.slept) < 250


def test_a_rate_limit_without_end_is_given_up(quick: QuickClock) -> None:
    error, served = asked(fails(429, headers={"retry-after": "60"}))
    assert isinstance(error, CallError) and "rate limit" in str(error)
    assert 10 < len(served.bodies) < 20


# What ends a call, and after how many requests


NO_PAGE = writes("<html>not found</html>", "text/html", 404)
PAGE = writes("<!DOCTYPE html><html><body>Welcome</body></html>", "text/html")
TOO_LONG = "This model's maximum context length is 4096 tokens."
NO_FORMAT = fails(400, "no schema or response_format please")
BUSY = sends({"error": {"message": "busy", "code": 502}})
ENDS = {
    "400": (fails(400, "bad request"), RequestError, "bad request", 1),
    "401": (fails(401, "Incorrect API key"), KeyRefused, "OPENAI_API_KEY", 1),
    "404": (fails(404, "no model any"), RequestError, "`model`", 1),
    "404 with a page": (NO_PAGE, RequestError, "`base_url`", 1),
    "quota": (fails(429, "no", code="insufficient_quota"), ModelUnavailable, "paid first", 1),
    "too long": (fails(400, TOO_LONG, code="context_length_exceeded"), CallError, "too long", 1),
    "filter": (fails(400, "Rejected.", code="content_filter"), CallError, "content filter", 1),
    "policy": (fails(400, "No.", code="content_policy_violation"), CallError, "content filter", 1),
    "every format refused": (NO_FORMAT, RequestError, "response_format", 3),
    "a web page": (PAGE, RequestError, "`base_url`, which usually ends in /v1", ATTEMPTS),
    "a lasting error": (BUSY, CallError, f"{ATTEMPTS} attempts", ATTEMPTS),
}


@pytest.mark.parametrize(("answer", "kind", "words", "requests"), ENDS.values(), ids=ENDS.keys())
def test_a_call_ends_with_one_clear_line_as_soon_as_nothing_can_mend_it(
    answer: Answer, kind: type[DialectreeError], words: str, requests: int, quick: QuickClock
) -> None:
    error, served = asked(answer)
    assert type(error) is kind
    assert words in str(error) and served.url in str(error) and "\n" not in str(error)
    assert len(served.bodies) == requests
    assert requests == ATTEMPTS or quick.slept == []


# Nobody there


def test_an_address_where_nobody_listens_is_unreachable(quick: QuickClock) -> None:
    with nobody() as address:
        url = f"{address}/v1"
        with pytest.raises(Unreachable, match=f"nobody answers at {url}: Cannot connect to host"):
            asyncio.run(question(at(url)))
    assert sum(quick.slept) < 12


# A loop that ends does not wait for what TLS says last: the garbage collector closes its socket.
left_to_garbage = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def collected() -> Iterator[None]:
    """Collect what a test leaves while its marks count, not those of a test after it."""
    yield
    gc.collect()


@left_to_garbage
def test_a_certificate_counts_once_its_signer_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, collected: None
) -> None:
    signer, tls = trustme.CA(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    signer.issue_cert("127.0.0.1").configure_cert(tls)
    signer.cert_pem.write_to_path(tmp_path / "signer.pem")

    async def ask() -> object:
        async with ScriptedEndpoint(says(GOOD), tls=tls) as served:
            return await question(at(served.url))

    with pytest.raises(ModelUnavailable, match=r"https://127.+ not trusted here: .+SSL_CERT_FILE"):
        asyncio.run(ask())
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "signer.pem"))
    clients._certificates.cache_clear()
    try:
        assert asyncio.run(ask()) == RULE
    finally:
        clients._certificates.cache_clear()


@left_to_garbage
def test_an_endpoint_without_tls_is_lost_and_the_other_scheme_named(
    quick: QuickClock, collected: None
) -> None:
    async def ask() -> object:
        async with ScriptedEndpoint(says(GOOD)) as served:
            return await question(at(served.url.replace("http:", "https:")))

    with pytest.raises(Unreachable, match=r"no https there: is http:// meant\?"):
        asyncio.run(ask())
    assert sum(quick.slept) > 5  # a handshake may fail once
