"""Models of medium size: the whole prompt with its task last, and replies that are in doubt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree import prompts
from dialectree.errors import ReplyError
from dialectree.models.asking import form
from dialectree.models.door import ByText, CopyCheck, Run, ask
from dialectree.models.small_models import (
    COPIED_SHARE,
    Trim,
    limit_schema,
    longest_text,
    measure_copied_share,
    split_sentences,
    trim_texts,
)
from dialectree.records import Event, Place
from tests.models.asking import PROMPT, at, kept, lines
from tests.models.asking import kept as journal
from tests.models.scripted_endpoint import Answer, ScriptedEndpoint, says, sends

pytestmark = pytest.mark.anyio
THEIRS = "A tram carries more people than a bus and lasts for thirty years at the least."
OWN = "Buses need no rails, so a town can change their way within a week whenever it likes."


class Speech(BaseModel):
    """A turn."""

    claim: Annotated[str, Field(min_length=1, max_length=1600)]


def speech(claim: str) -> Answer:
    return says(json.dumps({"claim": claim}))


async def speak(context: Any, run: Run | None = None, told: list[Event] | None = None) -> str:
    """Ask for a turn after the opponent said THEIRS."""
    control = run or Run("run", context)
    if told is not None:

        def hear(event: Mapping[str, object]) -> int:
            told.append(Event.model_validate(event))
            return len(told)

        control.hear = hear
    reply = await ask(
        Runtime(context=context, control=control),
        Place(node="0", phase="debate", role="debater"),
        PROMPT,
        Speech,
        copy_check=CopyCheck([(True, THEIRS)]),
        question="A tram or a bus?",
    )
    return reply.claim


# The request


async def test_a_medium_model_reads_the_whole_prompt_and_the_fields_of_its_reply_last() -> None:
    async with ScriptedEndpoint(speech(OWN), speech(OWN)) as served:
        for name in ("full", "medium"):
            assert await speak(at(served.url, prompt_form=name)) == OWN
        full, medium = served.bodies
    (system, user), (same, longer) = (
        [message["content"] for message in body["messages"]] for body in (full, medium)
    )
    assert same == system
    assert longer == f"{user}\n\n{system.splitlines()[-1]}"


def test_what_stands_under_the_name_of_a_field_becomes_a_quotation() -> None:
    user = (
        "<question>\nWhich?\n</question>\n<transcript>\nA, round 1\nclaim: One: two.\n"
        "  point 1: So it is. [e1]\nsupport: Three.\nunsure of: Four?\nB, round 1\nclaim: Five.\n"
        "</transcript>\nclaim: that is your task."
    )
    _, quoted = prompts.for_medium_model("Be fair.", user)
    assert quoted == (
        "<question>\nWhich?\n</question>\n<transcript>\nA, round 1\n“One: two. Three.”\n"
        "  point 1: So it is. [e1]\nunsure of: Four?\nB, round 1\n“Five.”\n"
        "</transcript>\nclaim: that is your task."
    )


@given(st.integers(1, 400))
def test_a_text_may_have_twice_the_words_that_its_prompt_allows(words: int) -> None:
    longest = longest_text(f"Each field has at most {words} words. Use at most 1 words here.")
    assert longest >= 2 * words * len("a word ".strip())
    limits: Any = limit_schema(form(Speech, {}).full, longest)["properties"]["claim"]
    assert limits == {"type": "string", "minLength": 1, "maxLength": min(1600, longest)}


class Ruling(BaseModel):
    """A ruling by a letter."""

    label: str
    answer: str


class Named(BaseModel):
    """A ruling by a text."""

    answer: str


TEXTS = {"A": "carbon dioxide", "B": "nitrogen"}


@pytest.mark.parametrize("name", ["full", "medium"])
async def test_a_medium_model_names_a_text_and_the_program_derives_the_letter(name: str) -> None:
    labels = {text: label for label, text in TEXTS.items()}
    by_text = ByText(
        Named, {"answer": [*labels]}, lambda named: Ruling(label=labels[named.answer], answer=named.answer)
    )
    full, medium = {"label": "B", "answer": "nitrogen"}, {"answer": "nitrogen"}
    reply = says(json.dumps(full if name == "full" else medium))
    async with ScriptedEndpoint(reply) as served:
        context = at(served.url, prompt_form=name)
        ruling = await ask(
            Runtime(context=context, control=Run("run", context)),
            Place(node="0", phase="judgment", role="judge"),
            PROMPT,
            Ruling,
            ids={"label": [*TEXTS]},
            by_text=by_text,
            question="What do plants take from the air?",
        )
        (body,) = served.bodies
    assert ruling == Ruling(label="B", answer="nitrogen")
    fields = body["response_format"]["json_schema"]["schema"]["properties"]
    expected = {"label": ["A", "B"]} if name == "full" else {"answer": [*labels]}
    assert {field: fields[field].get("enum") for field in expected} == expected
    assert ("label" in fields) is (name == "full")


# Copies and texts that break off


WORDS = [f"word{n}" for n in range(40)]


@pytest.mark.parametrize(
    ("own", "common", "copied"),
    [
        (WORDS[:12], [], True),
        (WORDS[:11], [], False),  # too short to be sure
        ([*WORDS[:12], *(f"own{n}" for n in range(30))], [], False),
        ([*WORDS[:20], *(f"own{n}" for n in range(30))], [], True),
        (WORDS[:20], [WORDS[:25]], False),  # both have read it
    ],
)
@pytest.mark.parametrize("own_first", [[], [(False, "What was said of something else.")]])
def test_a_turn_copies_where_a_third_of_it_repeats_twelve_words_in_a_row(
    own: list[str], common: list[list[str]], copied: bool, own_first: list[tuple[bool, str]]
) -> None:
    said = [*own_first, (True, " ".join(WORDS))]
    share = measure_copied_share(", ".join(own), said, [" ".join(one) for one in common])
    assert (share > COPIED_SHARE) is copied


def test_words_belong_to_the_side_that_said_them_first() -> None:
    turn, words = ", ".join(WORDS[:20]), " ".join(WORDS)
    assert measure_copied_share(turn, [(False, words), (True, words)]) == 0
    assert measure_copied_share(turn, [(True, words), (False, words)]) == 1  # copied once before


def test_a_text_breaks_off_where_its_limit_ends_a_sentence() -> None:
    schema: Any = limit_schema(form(Speech, {}).full, 50)
    whole, broken = "It is so. " * 4 + "It is it.", "It is so. " * 4 + "It is itss"
    kept = ("It is so. " * 4).rstrip()
    assert trim_texts(schema, {"claim": whole}, small=False) == ({"claim": whole}, [])
    cut = Trim("claim", " It is itss", at_limit=True)
    assert trim_texts(schema, {"claim": broken}, small=False) == ({"claim": kept}, [cut])
    own_end = {"claim": "It is surely so in summer. It"}
    assert trim_texts(schema, own_end, small=False) == (own_end, [])
    trimmed = {"claim": "It is surely so in summer."}
    assert trim_texts(schema, own_end, small=True) == (trimmed, [Trim("claim", " It", False)])


class Argued(BaseModel):
    """Texts in a list."""

    errors: list[Speech]
    words: list[str]


def test_each_text_of_a_list_is_trimmed_by_itself() -> None:
    schema: Any = limit_schema(form(Argued, {}).full, 34)
    long, short = "It is so in the summer. And it is", "It is so."
    reply = {"errors": [{"claim": short}, {"claim": long}], "words": [long, short]}
    kept = {"errors": [{"claim": short}, {"claim": "It is so in the summer."}]}
    trimmed, trims = trim_texts(schema, reply, small=False)
    assert trimmed == {**kept, "words": ["It is so in the summer.", short]}
    assert [(trim.field, trim.left_out) for trim in trims] == [
        ("errors.claim", " And it is"),
        ("words", " And it is"),
    ]


def test_sentences_are_split_at_their_ends() -> None:
    assert split_sentences("One is 1.5. Is it? “Yes.” No") == ["One is 1.5.", "Is it?", "“Yes.”", "No"]


@pytest.mark.parametrize("name", ["full", "medium", "small"])
async def test_a_copy_is_asked_for_again_once_and_then_marked(name: str) -> None:
    for replies, said, marks in (([THEIRS, OWN], OWN, []), ([THEIRS, THEIRS, OWN], THEIRS, ["copied"])):
        told: list[Event] = []
        async with ScriptedEndpoint(*map(speech, replies)) as served:
            assert await speak(at(served.url, prompt_form=name), told=told) == said
            assert len(served.bodies) == 2
            again = json.dumps(served.bodies[1]["messages"])
        assert "it repeats your opponent's words" in again
        (spoke,) = (event for event in told if event.kind == "spoke")
        assert spoke.data.get("marks", []) == marks
        notes = [str(event.data["note"]) for event in told if event.kind == "noted"]
        assert [note.endswith("(100% of the turn)") for note in notes] == [True] * len(marks)


async def test_a_text_that_the_limit_cut_is_asked_for_shorter_and_never_trimmed_silently() -> None:
    long = f"{OWN} {' '.join(f'word{n}' for n in range(300))}"
    told: list[Event] = []
    async with ScriptedEndpoint(speech(long), speech(long)) as served:
        assert await speak(at(served.url, prompt_form="medium"), told=told) == OWN
        assert "write fewer and shorter sentences" in served.bodies[1]["messages"][1]["content"]
    (spoke,) = (event for event in told if event.kind == "spoke")
    (note,) = (event.data["note"] for event in told if event.kind == "noted")
    assert spoke.data["marks"] == ["cut"] and "the unfinished end of a text is left out" in str(note)


async def test_a_small_model_that_breaks_off_itself_is_marked_and_not_asked_again() -> None:
    told: list[Event] = []
    async with ScriptedEndpoint(speech(f"{OWN} And so")) as served:
        assert await speak(at(served.url, prompt_form="small"), told=told) == OWN
        assert len(served.bodies) == 1
    assert [event.data["marks"] for event in told if event.kind == "spoke"] == [["cut"]]


async def test_a_reply_in_doubt_stands_where_what_comes_after_it_cannot_be_used() -> None:
    bad = says("{}")
    async with ScriptedEndpoint(speech(THEIRS), bad, bad) as served:
        assert await speak(at(served.url)) == THEIRS
        assert len(served.bodies) == 3
    async with ScriptedEndpoint(bad, bad, bad) as served:
        with pytest.raises(ReplyError):
            await speak(at(served.url))


@pytest.mark.parametrize("name", ["full", "medium", "small"])
async def test_a_copy_out_of_a_journal_is_marked_and_nobody_is_asked(name: str, tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    async with ScriptedEndpoint(speech(THEIRS), speech(OWN)) as served:
        context = at(served.url, prompt_form=name)
        with kept(path, context) as run:
            assert await speak(context, run) == OWN
        told: list[Event] = []
        with kept(path, context) as run:  # a run that is resumed takes the same steps
            assert await speak(context, run, told) == OWN
        first, _ = path.read_text().splitlines()
        path.write_text(f"{first}\n")  # one of before knew no doubts
        with kept(path, context) as run:
            assert await speak(context, run, told) == THEIRS
        assert len(served.bodies) == 2 and len(lines(path)) == 1
    marks = [event.data.get("marks") for event in told if event.kind == "spoke"]
    assert marks == [None, ["copied"]]


async def test_a_copy_out_of_the_cache_costs_nothing_again(tmp_path: Path) -> None:
    async with ScriptedEndpoint(speech(THEIRS), speech(OWN)) as served:
        for _ in range(2):
            assert await speak(at(served.url, cache=True)) == OWN
        assert await speak(at(served.url, cache=True, replay=True)) == OWN
        assert len(served.bodies) == 2


@pytest.mark.parametrize(
    ("named", "kept"),
    [
        ("/home/me/models/small.gguf", "small.gguf"),
        ("C:\\models\\small.gguf", "small.gguf"),
        ("Qwen/Qwen2.5-1.5B-Instruct", "Qwen/Qwen2.5-1.5B-Instruct"),
        ("llama3.1:8b", "llama3.1:8b"),
    ],
)
async def test_no_path_of_a_machine_stands_in_the_journal(named: str, kept: str, tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    message = {"role": "assistant", "content": json.dumps({"claim": OWN})}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    reply = {"id": "1", "object": "chat.completion", "model": named, "choices": [choice]}
    async with ScriptedEndpoint(sends(reply)) as served:
        with journal(path, context := at(served.url)) as run:
            await speak(context, run)
    (call,) = lines(path)
    assert call.sent is not None and call.sent.served == kept
