"""Majority debate: its declaration, of which dialectree makes everything else."""

from dialectree import Evaluation, Phase, Protocol, ProtocolInput, ProtocolSettings, option


class Input(ProtocolInput):
    """A question and the answers to choose from."""

    question: str = option(positional=True)
    """One question, in full; - reads it from standard input."""
    options: list[str] = option(alias="option", metavar="TEXT", min_length=2, max_length=26)
    """The answers to choose from, 2 to 26."""


class Settings(ProtocolSettings):
    """The settings of a majority debate."""

    rounds: int = option(2, ge=1, le=5, group="Debate", common=True)
    """How often each agent answers."""


reply = "majority_debate.graph:AgentReply"
protocol = Protocol(
    name="majority_debate",
    title="Majority Debate",
    summary="Let three agents answer, read one another and answer again; the majority decides.",
    source="Improving Factuality and Reasoning through Multiagent Debate (Du et al.)",
    examples=(
        '"Which gas do plants take in?" --option O2 --option CO2',
        '"Is it so?" --option yes --option no --rounds 3',
    ),
    input=Input,
    settings=Settings,
    outcome="choice",
    view="rounds",
    unit="debate",
    graph="majority_debate.graph:graph",
    roles={"agent_a": "agent", "agent_b": "agent", "agent_c": "agent"},
    prompts=("majority_debate",),
    phases=(Phase(role="agent", reply=(reply,), editable=("reasoning", "label"), optional=True),),
    evaluation=Evaluation(task="decide"),
    demo="demo",
)
