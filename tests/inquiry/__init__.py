"""A stranger's protocol for tests: parts of a question, each weighed and debated by another."""

from __future__ import annotations

from typing import Any

from dialectree import Phase, Protocol, ProtocolInput, ProtocolSettings, option


class Input(ProtocolInput):
    """A question and its parts."""

    question: str = option(positional=True)
    """What is asked."""
    parts: list[str] = option(alias="part", metavar="TEXT")
    """The questions that it consists of."""


class Settings(ProtocolSettings):
    """The settings of an inquiry."""

    by: str = option("tsd", group="Inquiry")
    """The protocol that debates a part; ``none``: nobody."""
    ask_first: bool = option(False, group="Inquiry")
    """Weigh a part in the step in which it is debated."""


def weight(value: float) -> dict[str, Any]:
    """Return the weigher's reply that gives a part this weight."""
    return {"weight": value}


protocol = Protocol(
    name="inquiry",
    title="Inquiry",
    summary="Let another protocol debate each part of a question.",
    source="a test",
    input=Input,
    settings=Settings,
    outcome="answer",
    view="tree",
    graph="tests.inquiry.graph:graph",
    roles={"weigher": ""},
    prompts=("tests.inquiry",),
    inner=lambda settings: () if settings.by == "none" else (settings.by,),
    phases=(
        Phase(
            role="weigher",
            name="weighing",
            reply=("tests.inquiry.graph:WeigherReply",),
            editable=("reason",),
            score=weight,
            scored="weight",
        ),
    ),
)
