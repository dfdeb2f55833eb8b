"""Argument trees, whole: one that is weighed, and one for each thing that can befall it."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import JsonValue

from dialectree.records import (
    Change,
    Comparison,
    Contest,
    Event,
    EventKind,
    Failure,
    RunRecord,
    Usage,
    Verdict,
)
from tests.folding import fold
from tests.report import sample

CLAIM = "Chameleons change colour mainly for camouflage"
FOR = "Many chameleons look like the leaves that they sit on."
AGAINST = "They change most when they meet a rival or a mate, not when they move to another plant."
MORE = "Young ones turn pale at night, when nobody sees them."
WHY = "The weight of 0.1 fell, so the attack on the claim is weaker."


def told(kind: EventKind, node: str = "0", /, **data: JsonValue) -> Event:
    return Event(t="t", run_id="r", node=node, kind=kind, data=data)


def spoke(node: str, role: str, stage: str, who: str = "", **fields: JsonValue) -> Event:
    side = {"supporter": "support", "attacker": "attack"}.get(role)
    return told(
        "spoke",
        node,
        role=role,
        speaker=who or role,
        phase=stage,
        step=0,
        round=int(stage == "generation"),
        side=side,
        fields={**fields},
    )


def argument(node: str, stance: str, text: str, tau: float) -> list[Event]:
    parent = node.rpartition(".")[0]
    opened = told(
        "opened",
        node,
        text=text,
        depth=node.count("."),
        parent=parent,
        kind="argument",
        stance=stance,
    )
    reply = spoke(node, "scorer", "strength", rationale=f"Why {node} weighs.", strength=tau)
    return [opened, reply, told("scored", node, scores={"tau": tau})]


def met(
    supporter: str, attacker: str, winner: str, order: str = "support_first", node: str = "0"
) -> list[Event]:
    names = [supporter, attacker] if order == "support_first" else [attacker, supporter]
    said = spoke(
        node,
        "pairwise_judge",
        "tournament",
        ":".join(names),
        rationale=f"Why {winner}.",
        winner=winner,
    )
    compared = told(
        "compared", node, supporter=supporter, attacker=attacker, winner=winner, order=order
    )
    return [said, compared]


def weighed(
    node: str, theta: float | None, blended: float | None, strength: float | None
) -> list[Event]:
    status = "missing" if strength is None else "answered"
    return [
        told("scored", node, scores={"theta": theta, "blended": blended, "strength": strength}),
        told("settled", node, verdict=None, status=status),
    ]


def claim(node: str = "0") -> list[Event]:
    """A claim before anything is said about it."""
    data: dict[str, JsonValue] = {"parent": node.rpartition(".")[0]} if "." in node else {}
    opened = told("opened", node, text=CLAIM, depth=node.count("."), kind="claim", **data)
    return [opened, told("scored", node, scores={"tau": 0.5})]


def ended(probability: float | None, notes: list[JsonValue] | None = None) -> list[Event]:
    label = None if probability is None else str(probability > 0.5)
    verdict: dict[str, JsonValue] = {
        "answer": label,
        "label": label,
        "confidence": probability,
        "confidence_source": "P(claim)" if label else None,
        "rationale": f"The strongest argument against the claim (0.59): {AGAINST}",
        "notes": notes or [],
    }
    ruled: JsonValue = None
    if label is not None:
        ruled = {"answer": label, "rationale": "", "confidence": probability}
    return [
        told("settled", verdict=ruled, provenance=["0"]),
        told("concluded", **verdict),
    ]


def events() -> list[Event]:
    """One supporter, two attackers, and an argument that one of them grew of its own."""
    return [
        *claim(),
        spoke("0", "supporter", "generation", arguments=[{"n": "1", "text": FOR}]),
        spoke(
            "0",
            "attacker",
            "generation",
            arguments=[{"n": "1", "text": AGAINST}, {"n": "2", "text": MORE}],
        ),
        *argument("0.0", "support", FOR, 0.68),
        *argument("0.1", "attack", AGAINST, 0.8),
        *argument("0.2", "attack", MORE, 0.25),
        told("branched", children=["0.0", "0.1", "0.2"], kind="claim"),
        *met("0.0", "0.1", "ATTACK"),
        *met("0.0", "0.2", "TIE"),
        told("noted", "0.1", data={"declined": {"attack": True}}),
        *argument("0.1.0", "support", "Rivals were filmed.", 0.7),
        told("branched", "0.1", children=["0.1.0"], kind="argument"),
        *weighed("0", None, 0.5, 0.41),
        *weighed("0.0", 0.0, 0.34, 0.34),
        *weighed("0.1", 1.0, 0.9, 0.97),
        *weighed("0.2", None, 0.25, 0.25),
        *weighed("0.1.0", None, 0.7, 0.7),
        told("noted", note="1 tie counts for nobody"),
        *ended(0.41),
    ]


def run(happened: Iterable[Event], **settings: JsonValue) -> RunRecord:
    tree, verdict = fold(happened)
    return RunRecord(
        run_id="20260131-120000-abc123",
        protocol="art",
        method="art",
        status="answered" if verdict and verdict.answer else "unresolved",
        input={"question": CLAIM},
        settings={
            "semantics": "dfquad",
            "blend": 0.5,
            "ties": "ignore",
            "root_strength": "neutral",
            "prune_below": None,
            **settings,
        },
        models={"supporter": "openai:any", "scorer": "openai:other"},
        verdict=verdict,
        tree=tree,
        usage=Usage(calls=12, attempts=12, wall_s=9, critical_path_calls=3),
        started="2026-01-31T12:00:00.000000Z",
        ended="2026-01-31T12:00:09.000000Z",
    )


def record() -> RunRecord:
    """The run."""
    return run(events())


def pruned() -> RunRecord:
    """0.1 is strong enough to stay, 0.2 is not; 0.1.0 has no strength."""
    happened = [
        *events(),
        *weighed("0.1.0", None, None, None),
        told("noted", note="0.2 is pruned: its weight is below 0.3"),
        told("noted", "0.1", note="0.1.0 is left out: it has no strength"),
    ]
    return run(happened, prune_below=0.3)


def both_orders() -> RunRecord:
    """Each pair is judged in both orders, and one ends otherwise."""
    return run([*events(), *met("0.0", "0.1", "SUPPORT", "attack_first")])


def undecided() -> RunRecord:
    """Exactly one half."""
    note = "undecided: P(claim) is exactly 0.5"
    return run([*events(), *weighed("0", None, 0.5, 0.5), *ended(0.5, [note])])


def unheard() -> RunRecord:
    """A side failed for good: no verdict."""
    note = "a side of the claim could not be heard or weighed; there is no verdict"
    failed = told("failed", role="supporter", fault="no reply came")
    return run([*events(), failed, *weighed("0", None, 0.5, None), *ended(None, [note])])


def unknown() -> RunRecord:
    """Nobody could estimate the claim's own strength: no verdict, but all arguments are weighed."""
    note = "the claim's own strength is not known; there is no verdict"
    kinds = ("scored", "settled")
    happened = [event for event in events() if event.node != "0" or event.kind not in kinds]
    failed = told("failed", role="claim_scorer", fault="no reply came")
    return run([*happened, failed, *weighed("0", None, None, None), *ended(None, [note])])


def ensemble() -> RunRecord:
    """Two trees of one claim."""
    happened = [told("opened", text=CLAIM, depth=0, kind="claim")]
    for name, strength in (("0.0", 0.62), ("0.1", 0.4)):
        happened += [
            *claim(name),
            *argument(f"{name}.0", "support", FOR, 0.5),
            told("branched", name, children=[f"{name}.0"], kind="claim"),
            *weighed(f"{name}.0", None, 0.5, 0.5),
            *weighed(name, None, 0.5, strength),
        ]
    happened += [
        told("branched", children=["0.0", "0.1"], kind="claim"),
        *weighed("0", None, None, 0.51),
        *ended(0.51),
    ]
    return run(happened)


def contested() -> RunRecord:
    """The run with 0.2 dropped, one comparison flipped and one voided."""
    changed = run(
        [
            *events(),
            told("contested", "0.2", change="0.2 dropped", dropped=True),
            told("contested", change="0.0 against 0.1: flipped"),
            *weighed("0.0", 1.0, 0.84, 0.84),
            *weighed("0.1", 0.0, 0.4, 0.82),
            *weighed("0.2", None, None, None),
            *weighed("0", None, 0.5, 0.51),
            *ended(0.51),
        ]
    )
    changed.tree.nodes["0"].comparisons = [
        Comparison(supporter="0.0", attacker="0.1", winner="SUPPORT", contested="flipped"),
        Comparison(supporter="0.0", attacker="0.2", winner="TIE", contested="voided"),
    ]
    changed.contest = Contest(
        run="20260130-090000-ffffff",
        changes=["0.2 dropped", "0.0 against 0.1: flipped", "0.0 against 0.2: voided"],
        before=0.41,
        after=0.51,
        path=[
            Change(node="0.0", before=0.34, after=0.84),
            Change(node="0.1", before=0.97, after=0.82),
            Change(node="0.2", before=0.25, after=None),
            Change(node="0", before=0.41, after=0.51),
        ],
        why=WHY,
    )
    return changed


def leaf_of_a_tree() -> RunRecord:
    """A tree-structured debate whose only open part is settled by an argument tree."""
    tree = sample.record()
    tree.settings |= {"leaf_protocol": "art", "leaf": {}}
    inner, _ = fold(
        event.model_copy(update={"node": f"0.1{event.node[1:]}", "data": _below(event)})
        for event in events()
        if event.kind not in ("settled", "concluded")
    )
    root = inner.nodes["0.1"]
    root.parent, root.text = "0", sample.SECOND
    root.verdict = Verdict(answer="Half.", rationale="so", confidence=0.59)
    tree.tree.nodes |= inner.nodes
    return tree


def _below(event: Event) -> dict[str, JsonValue]:
    """The data of an event of a tree whose root is 0, for one whose root is 0.1."""

    def moved(name: JsonValue) -> JsonValue:
        return f"0.1{name[1:]}" if isinstance(name, str) else name

    data = {**event.data}
    for name in ("parent", "supporter", "attacker"):
        if data.get(name):
            data[name] = moved(data[name])
    if isinstance(names := data.get("children"), list):
        data["children"] = [moved(name) for name in names]
    if isinstance(depth := data.get("depth"), int):
        data["depth"] = depth + 1
    return data


def everywhere(text: str) -> RunRecord:
    """The contested run with ``text`` wherever a model or a person can put one."""
    run = contested()
    run.input, run.notices = {"question": text}, [text]
    run.verdict = Verdict(
        answer=text, label=text, confidence=0.41, confidence_source="P(claim)", rationale=text
    )
    run.verdict.notes = [text]
    assert run.contest is not None
    run.contest.changes, run.contest.why, run.contest.run = [text], text, text
    for node in run.tree.nodes.values():
        node.text, node.notes = text, [text]
        node.failures = [Failure(role=text, fault=text)]
        for turn in node.transcript:
            turn.fields = {**dict.fromkeys(turn.fields, text), text: [{"qid": text, text: text}]}
    return run
