"""Endpoints as people report them: each is understood, keeps its schema, and costs few requests.

Two questions are asked side by side and three more after each other. What an endpoint refuses is
learnt from the first refusals, and a fault of one call ends no other one.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pytest
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.errors import CallError, DialectreeError, KeyRefused, ModelUnavailable, RequestError
from dialectree.models.door import Run, ask
from dialectree.models.endpoints import MOST_REFUSALS, MOST_ROOM, ROOM
from dialectree.models.refusals import find_wait, read_meaning, read_refusal, seconds
from dialectree.records import Place
from tests.endpoint.quirks import QUIRKS, Request
from tests.models.asking import QuickClock, at, kept, lines, question
from tests.models.scripted_endpoint import Answer, ScriptedEndpoint, fails

pytestmark = pytest.mark.anyio
QUESTIONS = 5


class Weight(BaseModel):
    """One of a list."""

    qid: str
    weight: Annotated[float, Field(ge=0, le=1)]


class Weighed(BaseModel):
    """A reply with a long text, and a list in which each id has a place."""

    title: Annotated[str, Field(min_length=1, max_length=3000)]
    weights: list[Weight]


IDS = {"weights.qid": ("a", "b")}
WEIGHED = Weighed(title="So it is.", weights=[Weight(qid="a", weight=0.2), Weight(qid="b", weight=1)])


class Come(NamedTuple):
    """What becomes of the questions."""

    requests: int = QUESTIONS
    """Requests at most."""
    failed: int = 0
    """Questions that fail; the others are answered."""
    way: str = "json_schema"
    """How the last reply is asked for."""
    ends: type[DialectreeError] | None = None
    """What ends the run at the first question."""
    words: str = ""
    """Stand in the error."""


REFUSED_ONCE = Come(QUESTIONS + 2)
"""Both questions that are under way are refused, and no other one is."""
COME: dict[str, Come] = {
    "an object in an object": Come(QUESTIONS + 2),
    "nothing optional": Come(QUESTIONS + 3),
    "no grammar, no mode": Come(QUESTIONS + 3, way="text"),
    "no schema, in a text": Come(QUESTIONS + 2, way="json_object"),
    **dict.fromkeys(
        [
            *("no temperature", "no extra fields", "strict mode", "unknown keywords, in a list"),
            *("no long texts", "no system role", "roles must alternate", "thoughts count"),
            *("no system in the first place", "a valid role"),
        ],
        REFUSED_ONCE,
    ),
    **dict.fromkeys(["the endpoint's own check", "a crash", "an error in a 200", "cut"], Come(QUESTIONS + 1)),
    "flagged": Come(failed=1, words="Content Exists Risk"),
    "flagged by a moderator": Come(failed=1, words="moderation"),
    "flagged by an inspection": Come(failed=1, words="Input text data may be bad"),
    "too large for a minute": Come(failed=1, words="on `on_demand` on tokens per minute"),
    "too many tokens": Come(failed=1, words="too long for the model"),
    "too many tokens, in a text": Come(failed=1, words="too long for the model"),
    "unpaid in a 200": Come(1, ends=ModelUnavailable, words="No credits"),
    "a key that is none": Come(1, ends=KeyRefused, words="API key not valid"),
    "a block page": Come(1, ends=RequestError, words="a web page: You have been blocked"),
}


async def weigh(run: Run, number: int) -> Weighed | DialectreeError:
    """Ask one question; return its reply, or why there is none."""
    place = Place(node=f"0.{number}", phase="debate", role="judge")
    try:
        return await ask(
            Runtime(context=run.budget.context, control=run),
            place,
            "single_shot/answerer",
            Weighed,
            ids=IDS,
            max_tokens=600,
            question=f"Is it so? ({number})",
        )
    except DialectreeError as error:
        return error


async def asked(name: str, path: Path) -> tuple[list[Any], ScriptedEndpoint, list[str]]:
    """Ask an endpoint that behaves so; return what came of each question, and the notices."""

    def behave(body: Any) -> Answer:
        request = Request(body, len(served.bodies), WEIGHED.model_dump_json())
        return QUIRKS[name].behave(request)

    async with ScriptedEndpoint(choose=behave) as served:
        with kept(path, at(served.url)) as run:
            first = weigh(run, 0)
            if name in COME and COME[name].ends is not None:
                return [await first], served, run.notices
            found = [*await asyncio.gather(first, weigh(run, 1))]
            found += [await weigh(run, number) for number in range(2, QUESTIONS)]
    return found, served, run.notices


@pytest.mark.parametrize("name", QUIRKS)
async def test_an_endpoint_is_understood(name: str, quick: QuickClock, tmp_path: Path) -> None:
    come = COME.get(name, Come())
    found, served, _ = await asked(name, tmp_path / "calls.jsonl")
    errors = [one for one in found if isinstance(one, DialectreeError)]
    assert len(served.bodies) <= come.requests, [str(one) for one in errors]
    if come.ends is not None:
        assert type(errors[0]) is come.ends and come.words in str(errors[0])
        return
    assert len(errors) == come.failed, [str(one) for one in errors]
    assert all(isinstance(one, CallError) and come.words in str(one) for one in errors)
    assert [one for one in found if isinstance(one, Weighed)] == [WEIGHED] * (5 - come.failed)
    assert served.formats[-1] == come.way


async def test_what_was_sent_is_in_the_record_and_said_once(quick: QuickClock, tmp_path: Path) -> None:
    said: dict[str, tuple[str, str]] = {
        "strict mode": ("schema_shape", "it is sent without lengths"),
        "no schema, in a text": ("response_format", "replies are asked for as json_object"),
        "no system role": ("messages", "takes no system message"),
        "thoughts count": ("decoding", f"it is raised by {ROOM} tokens"),
        "nothing optional": ("decoding", ""),
    }
    kept_as: dict[str, Any] = {
        "strict mode": "strict",
        "no schema, in a text": "json_object",
        "thoughts count": {"temperature": 0.7, "max_tokens": 600 + ROOM},
        "nothing optional": {},
    }
    for name, (field, note) in said.items():
        path = tmp_path / f"{name}.jsonl"
        found, served, notices = await asked(name, path)
        assert found[-1] == WEIGHED
        sent = lines(path)[-1].sent  # it can be read again
        assert sent is not None
        if name == "no system role":
            assert [role for role, _ in sent.messages] == ["user"]
            (message,) = served.bodies[-1]["messages"]
            assert message["content"].index("rules end here") < message["content"].index("(4)")
        else:
            assert getattr(sent, field) == kept_as[name]
        assert [note in one for one in notices] == [True] * bool(note)


async def test_room_for_thoughts_grows_and_ends(quick: QuickClock, tmp_path: Path) -> None:
    found, served, _ = await asked("thoughts count", tmp_path / "calls.jsonl")
    assert found == [WEIGHED] * QUESTIONS
    limits = [body["max_tokens"] for body in served.bodies]
    assert limits[:2] == [600, 600] and set(limits[4:]) == {600 + ROOM}
    assert ROOM < MOST_ROOM


async def test_an_endpoint_that_contradicts_itself_is_given_up(quick: QuickClock) -> None:
    def choose(body: Any) -> Answer:
        if "max_tokens" in body or "max_completion_tokens" in body:
            return fails(400, "Unsupported parameter: 'max_tokens'", param="max_tokens")
        return fails(400, "max_tokens: Field required")

    async with ScriptedEndpoint(choose=choose) as served:
        with pytest.raises(RequestError, match="max_tokens"):
            await question(at(served.url), max_tokens=50)
        assert len(served.bodies) <= MOST_REFUSALS + 1


# Refusals by themselves


@pytest.mark.parametrize(
    ("status", "body", "meaning", "words"),
    [
        (400, '[{"error": {"message": "m"}}]', "other", "m"),
        (400, '{"message": {"detail": [{"loc": ["body", "seed"], "msg": "m"}]}}', "parameter", "m"),
        (400, '{"error": "m"}', "other", "m"),
        (422, '{"detail": "m"}', "other", "m"),
        (400, '{"error": {"metadata": {"raw": "{\\"error\\": {\\"message\\": \\"m\\"}}"}}}', "other", "m"),
        (400, "m", "other", "m"),
        (503, "<html><head><title>m</title></head></html>", "again", "a web page: m"),
        (400, "", "other", ""),
        (403, '{"error": {"message": "flagged <html>"}}', "flagged", "flagged"),
        (400, '{"error": {"message": null}}', "other", '{"error": {"message": null}}'),
        (400, "[" * 5000, "other", "["),
        (404, '{"error": {"message": "No endpoints found that support tool use"}}', "format", "No"),
        (404, '{"error": {"message": "The model m does not exist"}}', "model", "The"),
        (400, '{"error": {"message": "max_tokens is too large: 9. It supports 4"}}', "parameter", "m"),
        (400, '{"error": {"message": "max_tokens: Field required"}}', "needs", "max_tokens"),
        (429, '{"error": {"message": "m", "code": "insufficient_quota"}}', "unpaid", "m"),
        (429, '{"error": {"message": "Rate limit reached"}}', "wait", "Rate"),
        (500, '{"error": {"message": "failed to parse grammar"}}', "schema", "failed"),
        (500, '{"error": {"message": "CUDA error"}}', "again", "CUDA"),
        (400, '{"message": "JSON schema conversion failed: Unrecognized schema"}', "schema", "JSON"),
        (400, '{"error": {"message": "Only user and assistant roles"}}', "system", "Only"),
        (400, '{"error": {"message": "Your credit balance is too low"}}', "unpaid", "Your"),
        (400, '{"error": {"message": "model is overloaded, try again"}}', "again", "model"),
    ],
)
async def test_a_refusal_of_any_shape_is_read(status: int, body: str, meaning: str, words: str) -> None:
    refusal = read_refusal(status, body)
    assert refusal.words.startswith(words) and refusal.status == status
    assert read_meaning(refusal).meaning == meaning


@pytest.mark.parametrize(
    ("told", "wait_s"),
    [("6s", 6.0), ("9m38.016s", 578.016), ("500ms", 0.5), (7, 7.0), ("soon", None), (None, None)],
)
async def test_a_duration_is_read(told: object, wait_s: float | None) -> None:
    assert seconds(told) == (wait_s and pytest.approx(wait_s))
    words = f"Please try again in {told}."
    refusal = read_refusal(429, json.dumps({"error": {"message": words}}))
    if isinstance(told, str):
        assert find_wait(refusal) == (wait_s and pytest.approx(wait_s))
    delayed = {"error": {"details": [{"retryDelay": told}]}}
    assert find_wait(read_refusal(429, json.dumps(delayed))) == (wait_s and pytest.approx(wait_s))


def test_the_reply_that_failed_a_servers_check_is_kept() -> None:
    said = {"message": "the reply is no JSON", "failed_generation": "{half"}
    assert read_refusal(400, json.dumps({"error": said})).failed == "{half"
    assert read_refusal(400, json.dumps({"error": {"failed_generation": 3}})).failed == ""
