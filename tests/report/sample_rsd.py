"""Role-switching debates, whole: one that is won, and one for each way that it can go wrong."""

from __future__ import annotations

from pydantic import JsonValue

from dialectree.records import Node, RunRecord, Tree, Turn, Usage, Verdict
from tests.report import sample

QUESTION = "What does a car engine usually convert into motion and heat by combustion?"
OPTIONS = ["animal products", "plant materials", "oil products", "solar energy"]
UNWRITTEN = "Engines run on pressed flowers."
QUOTE = "Petrol is a plant material, for oil was once plants."
DISCLOSED = "disclosed confidence: B 0.62, C 0.91"
BIAS = "position bias: the judge ruled otherwise when the sides were swapped"
MISMATCH = "the judge's label and answer do not name the same candidate"


def turn(
    speaker: str,
    phase: str,
    fields: dict[str, JsonValue],
    *,
    role: str = "debater",
    step: int = 0,
    round_: int = 1,
    side: str | None = None,
    label: str | None = None,
) -> Turn:
    return Turn(
        node="0",
        role=role,
        speaker=speaker,
        phase=phase,
        step=step,
        round=round_,
        side=side,
        label=label,
        fields=fields,
    )


def phases(a: str, b: str) -> list[Turn]:
    """All that a and b say until the judge speaks; b's first quotation is made up."""
    made_up: list[JsonValue] = [
        {"quote": UNWRITTEN, "fault": "Flowers have far too little energy.", "occurs": False},
        {"quote": QUOTE, "fault": "What it once was is not what it is.", "occurs": True},
    ]
    found: list[JsonValue] = [
        {"quote": "Petrol stations sell oil.", "fault": "They sell petrol.", "occurs": True}
    ]
    turns = [
        turn("a", "proposals", {"answer": a, "argument": f"{QUOTE} So it counts."}, side=a),
        turn("b", "proposals", {"answer": b, "argument": "Petrol stations sell oil."}, side=b),
        turn("a", "cross_examination", {"errors": found, "defence": "Biofuel."}, side=a),
        turn(
            "b",
            "cross_examination",
            {"errors": made_up, "defence": "Petrol and diesel are made from crude oil."},
            step=1,
            side=b,
        ),
        turn("a", "role_switch", {"argument": "Nearly every car burns petrol or diesel."}, side=b),
        turn("b", "role_switch", {"argument": "Ethanol from maize drives some cars."}, side=a),
        turn(
            "a",
            "uncertainty",
            {
                "percent": 62,
                "unsure_of": "Whether fossil plants are plants.",
                "would_settle": "A count of cars by fuel.",
            },
            side=a,
        ),
        turn(
            "b",
            "uncertainty",
            {"percent": 91, "unsure_of": "Electric cars.", "would_settle": "Sales figures."},
            side=b,
        ),
    ]
    for said in turns:
        said.label = letter(str(said.side), "A" if said.side == a else "B")
    return turns


def letter(answer: str, otherwise: str) -> str:
    """The letter of an option; ``otherwise`` for an answer that is none."""
    return "ABCD"[OPTIONS.index(answer)] if answer in OPTIONS else otherwise


def ruling(
    label: str,
    answer: str,
    speaker: str = "judge",
    round_: int = 1,
    confidence: float | None = 0.8,
    *,
    names: str | None = None,
) -> Turn:
    fields: dict[str, JsonValue] = {
        "rationale": f"The case for {label} is sounder, and B admits its doubt.",
        "label": label,
        "answer": answer,
        "confidence": confidence,
    }
    ruled = turn(speaker, "judgment", fields, role="judge", step=round_ - 1, round_=round_)
    ruled.names = label if names is None else names
    return ruled


def debate(id: str, text: str, a: str, b: str, rulings: list[Turn], winner: str | None) -> Node:
    """One debate, by the answers of its sides; without a winner it is unresolved."""
    held = {"a": a, "b": b}
    ruled = None
    if winner is not None:
        ruled = Verdict(
            answer=held[winner],
            rationale="It is sounder.",
            confidence=0.8,
            local_confidence=0.8,
            winner=letter(held[winner], winner.upper()),
        )
    return Node(
        id=id,
        parent="0" if id != "0" else None,
        kind="leaf",
        text=text,
        depth=id.count("."),
        status="answered" if ruled else "missing",
        verdict=ruled,
        transcript=[*phases(a, b), *rulings],
        provenance=[id] if ruled else [],
    )


def run(nodes: list[Node], verdict: Verdict | None, options: list[str] | None) -> RunRecord:
    given: dict[str, JsonValue] = {"question": QUESTION}
    if options:
        given["options"] = [*options]
    settled = verdict is not None and verdict.answer is not None
    return RunRecord(
        run_id="20260131-120000-abc123",
        protocol="rsd",
        method="rsd",
        status="answered" if settled else "unresolved",
        input=given,
        settings={"candidates": "proposed", "judge_orders": "one"},
        models={"debater_a": "openai:any", "debater_b": "openai:any", "judge": "openai:small"},
        verdict=verdict,
        tree=Tree(nodes={node.id: node for node in nodes}),
        usage=Usage(calls=9, attempts=9, wall_s=12, critical_path_calls=6),
        started="2026-01-31T12:00:00.000000Z",
        ended="2026-01-31T12:00:12.000000Z",
    )


def won() -> RunRecord:
    """Four options; a holds B, b holds C, and b wins."""
    node = debate("0", QUESTION, OPTIONS[1], OPTIONS[2], [ruling("C", OPTIONS[2])], "b")
    node.notes = [DISCLOSED]
    verdict = Verdict(
        answer=OPTIONS[2],
        label="C",
        confidence=0.8,
        confidence_source="judge",
        rationale="It is sounder.",
        notes=[DISCLOSED],
    )
    return run([node], verdict, OPTIONS)


def mended() -> RunRecord:
    """The judge's first ruling names two candidates."""
    record = won()
    node = record.tree.nodes["0"]
    rulings = [ruling("B", OPTIONS[2], names=""), ruling("C", OPTIONS[2], round_=2)]
    node.transcript = [*phases(OPTIONS[1], OPTIONS[2]), *rulings]
    return record


def biased() -> RunRecord:
    """The judge rules otherwise when the sides are swapped."""
    rulings = [ruling("B", OPTIONS[1]), ruling("C", OPTIONS[2], speaker="swapped")]
    node = debate("0", QUESTION, OPTIONS[1], OPTIONS[2], rulings, None)
    node.notes = [BIAS, DISCLOSED]
    return run([node], Verdict(rationale="Both.", notes=[BIAS, DISCLOSED]), OPTIONS)


def mismatched() -> RunRecord:
    """The judge names two candidates twice."""
    rulings = [ruling("B", OPTIONS[2], round_=n, names="") for n in (1, 2)]
    node = debate("0", QUESTION, OPTIONS[1], OPTIONS[2], rulings, None)
    node.notes = [MISMATCH]
    return run([node], Verdict(notes=[MISMATCH]), OPTIONS)


def proposed(turns: list[Turn]) -> list[Turn]:
    """The same turns where the debaters proposed their answers."""
    for turn in turns:
        if turn.phase == "proposals":
            turn.side = None
    return turns


def open_question() -> RunRecord:
    """No options: the proposals differ, which a model had to say."""
    node = debate("0", QUESTION, "Plants.", "Oil.", [ruling("B", "Oil.")], "b")
    proposed(node.transcript)
    same = turn("same_answer", "proposals", {"same": False}, role="judge", step=1, round_=0)
    node.transcript.insert(2, same)
    verdict = Verdict(answer="Oil.", confidence=0.8, confidence_source="judge")
    return run([node], verdict, None)


def again() -> RunRecord:
    """Both proposed the same, so b proposed again."""
    record = won()
    node = record.tree.nodes["0"]
    argued: dict[str, JsonValue] = {"answer": OPTIONS[1], "argument": "Wood gas drives cars."}
    first = turn("b", "proposals", argued)
    first.names = "B"
    node.transcript.insert(1, first)
    node.transcript[2].round = 2
    return record


def knockout() -> RunRecord:
    """Three options, two rounds of one debate."""
    first = debate(
        "0.0", f"C or B: {QUESTION}", OPTIONS[2], OPTIONS[1], [ruling("C", OPTIONS[2])], "a"
    )
    second = debate(
        "0.1", f"C or A: {QUESTION}", OPTIONS[0], OPTIONS[2], [ruling("C", OPTIONS[2])], "b"
    )
    first.round, second.round = 1, 2
    root = Node(
        id="0",
        kind="knockout",
        text=QUESTION,
        depth=0,
        status="answered",
        children=["0.0", "0.1"],
        verdict=Verdict(answer=OPTIONS[2], rationale="Sound.", confidence=0.8, winner="C"),
        provenance=["0.0", "0.1"],
    )
    verdict = Verdict(answer=OPTIONS[2], label="C", confidence=0.8, confidence_source="judge")
    return run([root, first, second], verdict, OPTIONS[:3])


def gated() -> RunRecord:
    """Three direct answers agree, so nobody debates."""
    note = "no debate: 3 direct answers agreed"
    samples = [
        turn(
            str(n),
            "direct",
            {"reasoning": f"Reason {n}.", "answer": OPTIONS[2]},
            role="debater_a",
            round_=0,
        )
        for n in (1, 2, 3)
    ]
    node = Node(
        id="0",
        kind="leaf",
        text=QUESTION,
        depth=0,
        status="answered",
        verdict=Verdict(answer=OPTIONS[2], rationale="Reason 1."),
        transcript=samples,
        notes=[note],
        provenance=["0"],
    )
    return run([node], Verdict(answer=OPTIONS[2], label="C", notes=[note]), OPTIONS)


def oracle() -> RunRecord:
    """An evaluation: the gold answer takes part."""
    record = won()
    record.input["gold"] = "C"
    assert record.verdict is not None
    record.verdict.notes.append("a debate with the gold answer in it is binary: chance is 50%")
    return record


def everywhere(text: str) -> RunRecord:
    """A debate with ``text`` wherever a model or a person can put one."""
    record = biased()
    record.input, record.notices = {"question": text, "options": [text, text]}, [text]
    record.verdict = Verdict(label=text, rationale=text, notes=[text, text])
    node = record.tree.nodes["0"]
    node.text, node.notes = text, [text]
    error: JsonValue = {"quote": text, "fault": text, "occurs": False, text: text}
    for said in node.transcript:
        if said.phase != "uncertainty":
            fields = {n: text if isinstance(v, str) else v for n, v in said.fields.items()}
            said.fields = {**fields, text: [{"qid": text, text: text}]}
        if said.phase == "cross_examination":
            said.fields["errors"] = [error]
        said.side = text
    return record


def leaf_of_a_tree() -> RunRecord:
    """A tree-structured debate one of whose leaves was settled by five phases."""
    tree = sample.record()
    tree.settings |= {"leaf_protocol": "rsd", "leaf": {}}
    leaf = tree.tree.nodes["0.1"]
    leaf.transcript = proposed([*phases("Half.", "All."), ruling("A", "Half.")])
    leaf.verdict = Verdict(answer="Half.", rationale="so", confidence=0.7, winner="A")
    return tree
