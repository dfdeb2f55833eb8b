"""The supporter and the attacker of an argument tree: one generator, two personas.

ART, section 3.1. One call gives all the arguments of a side (the paper asks for one at a time);
each near-duplicate is asked for again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.answers import normal
from dialectree.flow import Step
from dialectree.models.door import ask
from dialectree.models.reading import is_grounded
from dialectree.models.run import run_of
from dialectree.models.specs import resolve
from dialectree.nodes.adaptive_reasoning_tree.state import STANCES, Argument, Growth, Settings, Stance
from dialectree.records import Turn


class ArgumentText(BaseModel):
    """One argument; an empty text is none."""

    n: str
    text: Annotated[str, Field(max_length=3000)]


class ArgumentsReply(BaseModel):
    """The arguments of one side."""

    arguments: list[ArgumentText]


class _TrueReply(BaseModel):
    statement_is: Literal["true"]


class _FalseReply(BaseModel):
    statement_is: Literal["false"]


class SupportReply(ArgumentsReply, _TrueReply):
    """The arguments for a statement, after what they show of it."""


class AttackReply(ArgumentsReply, _FalseReply):
    """The arguments against a statement, after what they show of it."""


async def checks_stance(runtime: Runtime[Settings]) -> bool:
    """Return whether the scorer finds arguments that point the wrong way, so that they are left out.

    ``auto``: check with sources, or if a model of medium size argues. Never check if a smaller model
    argues, because the scores that a smaller model gives to arguments say nothing about them.
    """
    context, run = runtime.context, run_of(runtime)
    if context.check_stance != "auto":
        return context.check_stance == "on"
    specs = [resolve(context.speaker(role, ""), context) for role in ("supporter", "attacker")]
    forms = {await run.prompt_form(context, spec) for spec in specs}
    return "small" not in forms and ("medium" in forms or is_grounded())


def arguer(stance: Stance, *, again: bool = False) -> Step:
    """Return the role that gives all the arguments of one side.

    With ``again`` it replaces near-duplicates, or arguments that point the wrong way.
    """
    role = "supporter" if stance == "support" else "attacker"
    stating: type[ArgumentsReply] = SupportReply if stance == "support" else AttackReply

    async def arguer(state: Growth, runtime: Runtime[Settings]) -> dict[str, list[Argument]]:
        if not state["argued"]:
            return {"drafts": []}
        breadth = runtime.context.breadth
        misfiled = state.get("misfiled")
        places = [*range(breadth)]
        if again:
            places = (state["again"] if misfiled is None else misfiled)[stance]
        stated = await checks_stance(runtime)
        draft_texts = [draft["text"] for draft in state["drafts"] if draft["stance"] == stance]
        reply = await ask(
            runtime,
            Turn(
                node=state["id"],
                phase="generation",
                role=role,
                round=1 + again + (misfiled is not None),
                step=int(again) + (misfiled is not None),
                side=stance,
            ),
            f"adaptive_reasoning_tree/{role}",
            stating if stated else ArgumentsReply,
            ids={"arguments.n": [str(n) for n, _ in enumerate(places, 1)]},
            max_tokens=512 * len(places),
            parent=state["text"],
            path=state["path"],
            count=len(places),
            stated=stated,
            arguments=[text for text in draft_texts if text],
        )
        texts = {argument.n: argument.text.strip() for argument in reply.arguments}
        shift = STANCES.index(stance) * breadth
        drafts: list[Argument] = []
        for n, place in enumerate(places, 1):
            worded = any(character.isalnum() for character in texts[str(n)])  # no mere dash
            text = texts[str(n)] if worded else ""
            name = f"{state['id']}.{shift + place}"
            drafts.append({"id": name, "parent": state["id"], "stance": stance, "text": text})
        return {"drafts": drafts}

    return arguer


ALIKE = 0.8
"""The smallest share of common words in two near-duplicates. Ours; no paper gives a figure."""


def near_duplicates(texts: Sequence[str]) -> list[int]:
    """Return the places of the texts that are near-duplicates of an earlier, distinct one.

    Compare sets of words by Jaccard similarity: case, order and punctuation do not count. A text
    without words has no near-duplicate. The meaning does not count, nor does an added "not".
    """
    distinct: list[set[str]] = []
    duplicates: list[int] = []
    for place, text in enumerate(texts):
        words = set(re.findall(r"\w+", normal(text).replace("'", "")))
        if any(len(words & earlier) >= ALIKE * len(words | earlier) for earlier in distinct):
            duplicates.append(place)
        elif words:
            distinct.append(words)
    return duplicates
