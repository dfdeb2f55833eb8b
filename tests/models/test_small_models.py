"""Asking small models: their form of request, what its replies may be, and which models get it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from dialectree import prompts
from dialectree.embedded import engine as embedded
from dialectree.models.asking import Fault, PromptForm, for_small_model, form
from dialectree.models.door import Run
from dialectree.models.replies import read
from dialectree.models.specs import Spec
from dialectree.records import Call
from tests.models.asking import GOOD, PROMPT, RULE, Rule, at, kept, lines, question
from tests.models.scripted_endpoint import ScriptedEndpoint, says

pytestmark = pytest.mark.anyio
BILLION = 10**9


# The request


async def test_a_small_model_reads_instructions_then_material_and_is_held_to_short_texts() -> None:
    async with ScriptedEndpoint(says(GOOD)) as served:
        assert await question(at(served.url, prompt_form="small")) == RULE
        (body,) = served.bodies
    system, user = (message["content"] for message in body["messages"])
    assert system.endswith("Answer as JSON with `explanation`, `answer` and `confidence`.")
    assert "<question>" not in system + user and user == "Question:\nIs it so?"
    assert body["response_format"]["json_schema"]["schema"] == for_small_model(form(Rule, {})).full


async def test_each_repair_of_a_small_model_has_another_seed_and_shows_the_fault() -> None:
    bad = says(GOOD.replace("0.7", '"0.7"'))
    for name, seeds in (("small", 3), ("full", 1)):
        async with ScriptedEndpoint(bad, bad, says(GOOD)) as served:
            assert await question(at(served.url, prompt_form=name)) == RULE
        assert len({body["seed"] for body in served.bodies}) == seeds
        last = served.bodies[-1]["messages"][0 if name == "small" else -1]["content"]
        assert "confidence: input should be a valid number" in last
        assert ("JSON Schema" in last) is (name == "full")
        roles = [message["role"] for message in served.bodies[-1]["messages"]]
        assert ("assistant" in roles) is (name == "full")


async def test_the_form_stands_in_the_journal_and_in_the_keys(tmp_path: Path) -> None:
    calls: dict[str, Call] = {}
    for name in ("full", "small"):
        path = tmp_path / f"{name}.jsonl"
        async with ScriptedEndpoint(says(GOOD)) as served:
            with kept(path, context := at(served.url, prompt_form=name)) as run:
                await question(context, run)
            (calls[name],) = lines(path)
            assert calls[name].seed == served.bodies[0]["seed"]
    assert calls["full"].key != calls["small"].key
    assert "prompt_form" not in (tmp_path / "full.jsonl").read_text()
    assert calls["small"].prompt_form == "small"


class Argued(BaseModel):
    """Texts of every kind."""

    claim: Annotated[str, Field(min_length=1, max_length=1600)]
    reason: Annotated[str, Field(max_length=2000)]
    title: Annotated[str, Field(min_length=1, max_length=120)]
    id: str
    lines: list[Annotated[str, Field(min_length=30, max_length=600)]]
    share: Annotated[float, Field(ge=0, le=1)]


TEXT = r'[^"\\\[\]{}\x00-\x1f]'
LIMITS: dict[str, tuple[dict[str, int], str]] = {
    "claim": ({"minLength": 20, "maxLength": 300}, f"^{TEXT}{{20,300}}$"),
    "reason": ({"minLength": 0, "maxLength": 300}, f"^({TEXT}{{20,300}})?$"),
    "title": ({"minLength": 1, "maxLength": 120}, f"^{TEXT}{{1,120}}$"),
    "id": ({"minLength": 0, "maxLength": 300}, f"^({TEXT}{{0,300}})?$"),
}


def test_a_small_model_is_held_to_20_to_300_characters_where_a_text_is_free() -> None:
    limited: Any = for_small_model(form(Argued, {}))
    full, grammar = limited.full["properties"], limited.grammar["properties"]
    for name, (limits, pattern) in LIMITS.items():
        assert full[name] == {"type": "string", **limits}
        assert grammar[name] == {"type": "string", "pattern": pattern}
    assert full["lines"]["maxItems"] == 3 and full["lines"]["items"]["minLength"] == 30
    assert grammar["share"]["multipleOf"] == 0.01 and "multipleOf" not in full["share"]


def test_ids_and_places_stay_as_they_are() -> None:
    ids = {"id": ["a", "b"], "lines[]": [f"line {n}" for n in range(9)]}
    limited: Any = for_small_model(form(Argued, ids)).full["properties"]
    assert limited["id"] == {"type": "string", "enum": ["a", "b"]}
    assert len(limited["lines"]["items"]["enum"]) == 9


@pytest.mark.parametrize("small", [True, False])
async def test_a_model_of_this_machine_is_decoded_by_its_form_and_not_by_its_name(
    small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def serve(model: str) -> tuple[str, str]:
        return served.url, "key"

    monkeypatch.setattr(embedded, "serve", serve)
    async with ScriptedEndpoint(says(GOOD)) as served:
        context = at(served.url, model="local:smollm2", prompt_form="small" if small else "full")
        await question(context)
        (body,) = served.bodies
    assert ("dry_multiplier" in body) is small
    assert ('"key_separator": ": "' in body["grammar"]) is small
    assert ('"pattern"' in body["grammar"]) is small


async def test_the_server_of_a_model_of_this_machine_is_ready_before_a_call_counts_as_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = list[str]()

    async def serve(model: str) -> tuple[str, str]:
        steps.append("served")
        return served.url, "key"

    def hear(event: Mapping[str, Any]) -> int:
        steps.append(event["data"].get("why", event["kind"]))
        return len(steps)

    monkeypatch.setattr(embedded, "serve", serve)
    monkeypatch.setattr(embedded, "waits_for", lambda model: f"{model} (0.1 GB)")
    async with ScriptedEndpoint(says(GOOD)) as served:
        run = Run("run", context := at(served.url, model="local:smollm2"))
        run.hear = hear
        await question(context, run)
    assert steps == ["starting", "served", "asked", "served", "called", "spoke"]


# The reply


class Said(BaseModel):
    """Two texts."""

    text: Annotated[str, Field(max_length=2000)]
    list: list[str]


def said(text: str, *more: str, small: bool = True) -> Said:
    """Read the reply of a small model to the prompt of the answerer."""
    reply = Said(text=text, list=[*more]).model_dump_json()
    prompt_form: PromptForm = "small" if small else "full"
    return read(Said, {}, reply, "stop", None, prompts.load(PROMPT), prompt_form)


LONG = "Walking is healthy, and it costs nothing at all, as every doctor and every banker knows. "
VARIED = " ".join(f"word{n}" for n in range(60))
CUT = {
    "a text that was cut off ends with its last whole sentence": (
        f"{VARIED[:250]}. It is 1.5 km to the shop? A car is lou",
        f"{VARIED[:250]}. It is 1.5 km to the shop?",
    ),
    "a text ends where a sentence mostly repeats": (
        f"{VARIED[:150]}. {VARIED[:40]}. So it is.",
        f"{VARIED[:150]}.",
    ),
    "a text that ended by itself stays whole": ("Walk. It is", "Walk. It is"),
    "a long text that ends with a sentence does, too": (f"{VARIED}.", f"{VARIED}."),
}


@pytest.mark.parametrize(("text", "shown"), CUT.values(), ids=CUT.keys())
def test_no_text_of_a_small_model_ends_in_the_middle_of_a_word(text: str, shown: str) -> None:
    assert said(text).text == shown
    assert said(text, small=False).text == text


def test_a_sentence_that_fills_a_text_is_a_fault() -> None:
    with pytest.raises(Fault, match="a sentence is too long"):
        said(VARIED[:290])
    assert said(VARIED[:290], small=False).text == VARIED[:290]


GROUPS = " ".join(f"word{n}" for n in range(12))
INSTRUCTIONS = "Say what is true, and answer what was asked. Use what is well known."
REPETITIVE = {
    "ten of twenty-two groups come again": (f"{GROUPS} {GROUPS}", "text"),
    "the prompt's own words": (f"{INSTRUCTIONS} It is so.", "text"),
    "in a list": ("", "list.0"),
}


@pytest.mark.parametrize(("text", "where"), REPETITIVE.values(), ids=REPETITIVE.keys())
def test_a_text_that_mostly_repeats_itself_or_its_prompt_is_a_fault(text: str, where: str) -> None:
    more = [] if text else [f"{GROUPS} {GROUPS}"]
    with pytest.raises(Fault, match=rf"\A{where}: it repeats itself or the instructions") as fault:
        said(text, *more)
    assert fault.value.kind == "repetitive"
    assert said(text, *more, small=False).text == text


@pytest.mark.parametrize(
    "text",
    [
        "Walk, walk, walk, walk, walk, walk, walk, walk.",  # too short to be sure
        f"{VARIED[:190]} {VARIED[:80]}",
        "Question: Is it better to walk or to drive to a shop one kilometre away, all in all?",
    ],
)
def test_a_text_may_repeat_a_little_and_what_was_put_in(text: str) -> None:
    assert said(text).text == text


# Which models


SIZES = {
    "a very small model": (BILLION // 2 - 1, "small"),
    "a model that runs at home": (BILLION // 2, "medium"),
    "a model that is sold as 8B": (8_200_000_000, "medium"),
    "a server whose model is large enough": (9 * BILLION, "full"),
    "a server that tells nothing": (None, "full"),
}


@pytest.mark.parametrize(("size", "expected"), SIZES.values(), ids=SIZES.keys())
async def test_the_size_that_a_local_server_tells_chooses_the_form(
    size: int | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def parameters(spec: Spec) -> int | None:
        return size

    monkeypatch.setattr("dialectree.models.sizes.parameters", parameters)
    async with ScriptedEndpoint(says(GOOD)) as served:
        await question(at(served.url))
        (body,) = served.bodies
    system, user = (message["content"] for message in body["messages"])
    assert ("<question>" in user) is (expected != "small")
    assert user.endswith(system.splitlines()[-1]) is (expected == "medium")


async def test_a_run_that_goes_on_keeps_the_form_whatever_the_server_tells_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = [BILLION // 4, 7 * BILLION]

    async def parameters(spec: Spec) -> int | None:
        return told.pop(0)

    monkeypatch.setattr("dialectree.models.sizes.parameters", parameters)
    path = tmp_path / "calls.jsonl"
    async with ScriptedEndpoint(says(GOOD)) as served:
        context = at(served.url)
        for node in ("0", "0.1"):
            with kept(path, context) as run:
                await question(context, run, node=node)
        assert [call.prompt_form for call in lines(path)] == ["small", "small"]
        assert (len(served.bodies), told) == (2, [7 * BILLION])
        context = at(served.url, prompt_form="full")  # unless a person says otherwise
        with kept(path, context) as run:
            await question(context, run)
        assert lines(path)[-1].prompt_form == "full"


async def test_a_run_that_had_ended_keeps_replies_of_a_small_model_when_a_large_one_is_asked(
    tmp_path: Path,
) -> None:
    path = tmp_path / "calls.jsonl"
    bad = says(json.dumps({**json.loads(GOOD), "winner": "B"}))
    async with ScriptedEndpoint(bad, says(GOOD)) as served:
        with kept(path, context := at(served.url, prompt_form="small")) as run:
            await question(context, run, ids={"winner": ["A"]})
        context = at(served.url, model="openai:large")
        with kept(path, context, ended_before=True) as run:
            assert await question(context, run, ids={"winner": ["A"]}) == RULE
        assert len(served.bodies) == 2
