"""Majority debate: three agents answer side by side, round by round; then they are counted."""

import operator
from collections import Counter
from string import ascii_uppercase
from typing import Annotated, Any, Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from pydantic import BaseModel

from dialectree import Debate, Flow, Place, Question, Ruling, ask, settle, unresolved
from dialectree.system import chance
from majority_debate import Settings

AGENTS = ("a", "b", "c")


class AgentReply(BaseModel):
    """An answer after the reasons for it."""

    reasoning: str
    label: str


class Choice(Question):
    """What the graph takes: the fields of the declared input."""

    options: list[str]


class MajorityDebate(Choice, Debate):
    """The debate; what agents leave side by side is added up."""

    round: Annotated[int, operator.add]
    answers: Annotated[list[dict[str, Any]], operator.add]


def lettered(options: list[str]) -> dict[str, str]:
    """Return the options by their letters."""
    return dict(zip(ascii_uppercase, options, strict=False))


def last_answers(state: MajorityDebate) -> list[dict[str, Any]]:
    """Return what the agents said in the round before this one."""
    return [answer for answer in state["answers"] if answer["round"] == state["round"] - 1]


def agent(name: str) -> Any:
    """Return one agent: it reads what was said in the last round, and answers."""

    async def agent(state: MajorityDebate, runtime: Runtime[Settings]) -> dict[str, Any]:
        options, n, last = lettered(state["options"]), state["round"], last_answers(state)
        place = Place(node="0", phase="debate", role="agent", speaker=name.upper(), round=n, step=n)
        reply = await ask(
            runtime,
            place,
            "majority_debate/agent",
            AgentReply,
            ids={"label": [*options]},
            question=state["question"],
            options=options,
            own=[answer for answer in last if answer["agent"] == name],
            others=[answer for answer in last if answer["agent"] != name],
        )
        return {"answers": [{"agent": name, "round": n, **reply.model_dump()}]}

    return agent


async def next_round(state: MajorityDebate) -> dict[str, int]:
    """Count the rounds."""
    return {"round": 1}


def after_round(
    state: MajorityDebate, settings: Settings
) -> list[Literal["agent_a", "agent_b", "agent_c"]] | Literal["vote", "unresolved"]:
    """Let all agents answer until the rounds are spent; then count what they said last."""
    if state["round"] <= settings.rounds:
        return ["agent_a", "agent_b", "agent_c"]
    return "vote" if last_answers(state) else "unresolved"


async def vote(state: MajorityDebate, runtime: Runtime[Settings]) -> Ruling:
    """Rule what most agents say; of answers with as many votes the seed draws one."""
    last = last_answers(state)
    votes = Counter(sorted(answer["label"] for answer in last))
    most = max(votes.values())
    tied = [label for label, count in votes.items() if count == most]
    won = tied[chance.seed(runtime.context.seed, state["question"]) % len(tied)]
    return settle(
        runtime,
        lettered(state["options"])[won],
        label=won,
        rationale=next(answer["reasoning"] for answer in last if answer["label"] == won),
        confidence=most / len(AGENTS),
        confidence_source="share of agents",
        notes=["votes: " + ", ".join(f"{label} {count}" for label, count in votes.items())],
    )


flow = Flow(MajorityDebate, settings=Settings, input=Choice)
flow.step("next_round", next_round)
for name in AGENTS:
    flow.role(f"agent_{name}", agent(name))
flow.step("vote", vote)
flow.step("unresolved", unresolved)
flow.then(START, "next_round")
flow.route("next_round", after_round)
flow.then(("agent_a", "agent_b", "agent_c"), "next_round")
flow.then("vote", END)
flow.then("unresolved", END)
graph = flow.compile("majority_debate")
