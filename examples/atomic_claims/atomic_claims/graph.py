"""The graph of atomic claims: split, settle each part by another protocol, weigh together."""

import operator
from statistics import mean
from typing import Annotated

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

import dialectree as dt
from atomic_claims import Settings, Split, ruling
from atomic_claims import whole as script


class Part(TypedDict):
    """One atomic claim, and its support by its debate, 0 to 1; None if that stays open."""

    id: str
    text: str
    support: float | None


class AtomicClaims(dt.Debate):
    """A claim and its parts; the state collects parts that are settled side by side."""

    parts: list[Part]
    settled: Annotated[list[Part], operator.add]
    failed: bool


async def splitter(state: dt.Question, runtime: Runtime[Settings]) -> dict[str, list[Part]]:
    """Split the claim, and open a part of the tree for each atomic claim."""
    place, most = dt.Place(node=dt.root(), phase="split", role="splitter"), runtime.context.most
    limit = {"claims": most}
    split = await dt.ask(
        runtime, place, "atomic_claims/split", Split, at_most=limit, claim=state["question"], most=most
    )
    parts = [Part(id=f"{dt.root()}.{n}", text=text, support=None) for n, text in enumerate(split.claims)]
    for part in parts:
        await dt.open_part(runtime, part["id"], part["text"])
    return {"parts": parts}


def each_part(state: AtomicClaims) -> list[Part]:
    """Return the parts to settle, all at once."""
    return state["parts"]


async def settled(part: Part, runtime: Runtime[Settings]) -> dict[str, list[Part]]:
    """Let the other protocol debate a part. This step does nothing else, as a debate requires."""
    name, text = runtime.context.settled_by, part["text"]
    question = f"Is it true that {text.rstrip('.')}? Answer Yes or No."
    asked = dt.question_for(name, question, options=("Yes", "No"), claim=text)
    verdict = await dt.debate(runtime, name, node=part["id"], text=text, **asked)
    return {"settled": [{**part, "support": support(verdict)}]}


def support(verdict: dt.Verdict) -> float | None:
    """Return a verdict's support for its claim, 0 to 1, for the verdicts of any protocol."""
    if verdict.probability is not None or verdict.answer is None:
        return verdict.probability
    yes = 1.0 if verdict.confidence is None else verdict.confidence
    said = verdict.answer.lower().partition(" ")[0].strip(".,;:!")
    return {"yes": yes, "no": 1 - yes}.get(said)


async def weigh(state: AtomicClaims, runtime: Runtime[Settings]) -> dt.Ruling:
    """Rule by the mean support of the parts that were settled."""
    for part in state["settled"]:
        await dt.set_score(runtime, part["id"], support=part["support"])
    known = [part["support"] for part in state["settled"] if part["support"] is not None]
    held = [part["text"] for part in state["settled"] if (part["support"] or 0) > 0.5]
    if not known:
        return await dt.settle(runtime, None)
    why = f"{len(held)} of {len(known)} atomic claims hold. {' '.join(held)}".strip()
    return await dt.settle(runtime, **ruling(mean(known), why))


flow = dt.Flow(AtomicClaims, settings=Settings, input=dt.Question)
flow.role("splitter", splitter, required=True)
flow.step("settled", settled)
flow.step("weigh", weigh)
flow.then(START, "splitter")
flow.fan("splitter", "settled", each_part)
flow.then("settled", "weigh", END)
graph = flow.compile("atomic_claims")
whole = script.compile("whole")
