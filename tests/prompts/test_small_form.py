"""The form for small models: the same words and values, without tags, the question last."""

from __future__ import annotations

import re

import pytest

from dialectree import prompts
from tests.prompts.test_prompts import EVERY, HOSTILE, MARKS, _tags, values

WORDS = "words of somebody"
BLOCK = re.compile(r"^<(\w+)>\n(.*?)\n?^</\1>", re.DOTALL | re.MULTILINE)


def small(system: str, user: str) -> tuple[str, str]:
    """Return a rendered prompt in the form for small models."""
    return prompts.for_small_model(system, user)


@pytest.mark.parametrize("name", EVERY)
def test_every_value_stands_in_the_small_form_as_often_as_in_the_whole_prompt(name: str) -> None:
    prompt = prompts.load(name)
    for given in values(name, WORDS):
        whole = prompt.render(given)
        instructions, material = small(*whole)
        assert material.count(WORDS) == "\n".join(whole).count(WORDS)
        assert WORDS not in instructions
        assert not _tags(instructions + material) and "tags" not in instructions
        assert "\n\n\n" not in instructions + material
        if "" not in dict(BLOCK.findall(whole[1])).values():
            shown = re.sub(r"</?\w+>", "", whole[1]).lower()
            left_out = {*re.findall(r"\w+", shown)}
            left_out -= {*re.findall(r"\w+", f"{instructions} {material}".lower())}
            assert left_out <= {"that", "this", "those", "these", "is", "are", "was", "were"}


@pytest.mark.parametrize("name", EVERY)
def test_what_is_debated_stands_last(name: str) -> None:
    prompt = prompts.load(name)
    for given in values(name, WORDS):
        whole = prompt.render(given)
        blocks = dict(BLOCK.findall(whole[1]))
        subject = next((b for tag in prompts._SUBJECTS if (b := blocks.get(tag))), None)
        material = small(*whole)[1]
        assert subject is None or material.endswith(f":\n{subject.strip()}")


@pytest.mark.parametrize("name", EVERY)
def test_no_sentence_of_a_heading_is_left_where_its_block_is_gone(name: str) -> None:
    for given in values(name, WORDS):
        for text in small(*prompts.load(name).render(given)):
            assert not re.search(r"^Th(at|ose) (is|are|was|were)\b", text, re.MULTILINE)


@pytest.mark.parametrize("name", EVERY)
def test_what_is_put_in_reaches_no_instructions_and_keeps_no_mark(name: str) -> None:
    prompt = prompts.load(name)
    plain = [small(*prompt.render(given)) for given in values(name, "x")]
    for text in (*filter(str.strip, HOSTILE), " and ".join(MARKS)):
        for given, (instructions, harmless) in zip(values(name, text), plain, strict=True):
            seen_as_orders, material = small(*prompt.render(given))
            assert seen_as_orders == instructions
            assert _tags(material) == _tags(harmless)
            assert [mark for mark in MARKS if mark in material and mark not in harmless] == []


RULES = {
    "a line behind a block becomes its heading": (
        "<facts>\n- Ice is cold.\n</facts>\nThose are the facts.\nAnswer.\n"
        "<question>\nWhy?\n</question>",
        ("Rules.\n\nAnswer.", "The facts:\n- Ice is cold.\n\nQuestion:\nWhy?"),
    ),
    "what it says beyond that stays behind the block": (
        "<claim>\nSo.\n</claim>\nThat was your claim. Defend it.\n<topic>\nIce\n</topic>",
        ("Rules.", "Your claim:\nSo.\nDefend it.\n\nTopic:\nIce"),
    ),
    "another line moves with its block": (
        "<question>\nWhy?\n</question>\n<gap>\n- Where?\n</gap>\nThe question leaves this open.",
        ("Rules.", "Gap:\n- Where?\nThe question leaves this open.\n\nQuestion:\nWhy?"),
    ),
    "but the question ends the message": (
        "<question>\nWhy?\n</question>\nIt is your turn.",
        ("Rules.\n\nIt is your turn.", "Question:\nWhy?"),
    ),
    "blocks of one name keep their order": (
        "<question>\nWhy?\n</question>\n<other_agent>\nA\n</other_agent>\n"
        "<other_agent>\nB\n</other_agent>",
        ("Rules.", "Other agent:\nA\n\nOther agent:\nB\n\nQuestion:\nWhy?"),
    ),
    "without a question the last block stays last": (
        "<poem>\nO\n</poem>\n<line>\nI\n</line>",
        ("Rules.", "Poem:\nO\n\nLine:\nI"),
    ),
    "an empty block has no heading": (
        "<transcript>\n</transcript>\nThat is the debate. Go on.\n<question>\nWhy?\n</question>",
        ("Rules.\n\nGo on.", "Question:\nWhy?"),
    ),
    "a prompt without blocks stays as it is": ("Why?", ("Rules.", "Why?")),
}  # fmt: skip


@pytest.mark.parametrize(("user", "form"), RULES.values(), ids=RULES.keys())
def test_the_blocks_of_a_strangers_prompt_move_by_the_same_rules(user: str, form: tuple[str, str]) -> None:
    assert small("Rules.", user) == form
