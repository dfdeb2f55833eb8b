"""Council: its declaration, of which dialectree makes everything else."""

from dialectree import Evaluation, Phase, Protocol, ProtocolInput, ProtocolSettings, option

MEMBERS = {f"member_{number}": "member" for number in range(1, 9)}
REPLY = ("council.graph:AnswerReply",)


class Input(ProtocolInput):
    """A question."""

    question: str = option(positional=True)
    """One question, in full; - reads it from standard input."""


class Settings(ProtocolSettings):
    """The settings of a council."""

    members: int = option(3, ge=2, le=len(MEMBERS), group="Council", common=True)
    """How many members answer; each can have a model of its own."""
    merged: int = option(2, ge=1, le=len(MEMBERS), group="Council")
    """How many of the best-ranked answers the chair merges."""


protocol = Protocol(
    name="council",
    title="Council",
    summary="Let several models answer and rank one another without names; a chair merges.",
    source="an example",
    examples=('"Why do cities grow?"', '"Why do cities grow?" --role chair=openai:NAME'),
    input=Input,
    settings=Settings,
    outcome="answer",
    unit="council",
    graph="council.graph:graph",
    roles={**MEMBERS, "chair": ""},
    speaking=lambda settings: [*[*MEMBERS][: settings.members], "chair"],
    prompts=("council",),
    phases=(
        Phase(role="member", name="answers", reply=REPLY, editable=("answer",), optional=True),
        Phase(role="chair", reply=REPLY, editable=("answer",), ruling=lambda t: {"answer": t}),
    ),
    evaluation=Evaluation(task="answer"),
)
