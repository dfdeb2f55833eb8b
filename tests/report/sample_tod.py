"""Comparisons of two papers, whole: one that came to an end, and what can befall one."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import JsonValue

from dialectree.records import (
    Claim,
    Event,
    EventKind,
    Failure,
    Node,
    Position,
    RunRecord,
    Segment,
    Turn,
    Usage,
    Verdict,
    topic_of,
)
from tests.folding import fold

TOPIC = "Fast estimation of orbits in large surveys"
LADDER, MESH = "Ladder: orbits in linear time", "Mesh: orbits with guaranteed error"
SPEED, TRUST = "Speed: how the cost grows with the catalogue", "Trust: how far an orbit can be off"
KERNELS = "Which catalogues can be handled at all"
CHEAPER, EARLY = "Cost for a single object", "Cost before the first orbit is known"
SHARED = "Both papers replace the dense normal equations by a structured solver."
FASTER = "The ladder reaches linear time, whereas the mesh stays at n log n."
UNGROUNDED = "Ladder is used by most observatories."
MISQUOTED = "Mesh promises “an error of exactly zero”."
HYBRID = "The mesh could bound the error of each rung of the ladder."
NO_GROUND = "rests on nothing"
MISQUOTE = "quotes what its evidence does not say: “an error of exactly zero”"

_TEXTS = {
    "a:1": (2, "Introduction", "We estimate the orbit of every object of a survey in linear time."),
    "a:4": (
        3,
        "The ladder",
        "Each rung solves a small linear problem. The rungs are climbed once.",
    ),
    "a:6": (5, "Experiments", "One million objects took 41 seconds on one core of a laptop."),
    "a:9": (7, "Limits", "We give no bound on the error where the sampling is very uneven."),
    "b:2": (1, "Introduction", "An orbit without an error bar is of little use to a follow-up."),
    "b:3": (4, "The mesh", "The adaptive mesh bounds the error of every orbit by its cell size."),
    "b:5": (4, "The mesh", "Refining the mesh costs n log n operations in the worst case."),
    "b:8": (9, "Outlook", "Nothing in our proof needs the observations to be evenly spaced."),
    "b:11": (10, "Thanks", "We thank the staff of the observatory for eleven clear nights."),
}


def told(kind: EventKind, node: str = "0", /, **data: JsonValue) -> Event:
    return Event(t="t", run_id="r", node=node, kind=kind, data=data)


def spoke(
    node: str, who: str, stage: str, number: int = 1, /, role: str = "persona", **fields: JsonValue
) -> Event:
    data: dict[str, JsonValue] = {"role": role, "speaker": who, "phase": stage, "round": number}
    return told("spoke", node, **data, step=0, fields={**fields})


def opened(node: str, text: str, description: str = "", *relevant: str) -> Event:
    parent = node.rpartition(".")[0] or None
    return told(
        "opened",
        node,
        text=text,
        depth=node.count("."),
        parent=parent,
        kind="topic",
        data={"description": description, "relevant": [*relevant]},
    )


def retrieved(node: str, of: str, paper: str, **scores: float) -> Event:
    """What was found in a paper, by number of the segment: ``_4=0.8``."""
    ids = {f"{paper}:{number[1:]}": score for number, score in scores.items()}
    found: list[JsonValue] = [{"id": name, "score": score} for name, score in ids.items()]
    segments: list[JsonValue] = [
        {"id": name, "page": _TEXTS[name][0], "heading": _TEXTS[name][1], "text": _TEXTS[name][2]}
        for name in ids
    ]
    return told("retrieved", node, paper=paper, of=of, query="q", found=found, segments=segments)


def claim(id: str, title: str, description: str, *evidence: str) -> JsonValue:
    return {
        "id": id,
        "paper": id[0],
        "title": title,
        "description": description,
        "evidence": [*evidence],
    }


def weighed(node: str, of: str, number: int, **segments: str) -> list[Event]:
    """What segments do to a claim: ``a_4="supports"``; an empty word: nothing."""
    verbs = ("supports", "refutes", "clarifies")
    ids = {name.replace("_", ":"): does for name, does in segments.items()}
    said: list[JsonValue] = [
        {"id": name, **{v: "yes" if v == does else "no" for v in verbs}, "irrelevant": "no"}
        for name, does in ids.items()
    ]
    other = "b" if of[0] == "a" else "a"
    kept: list[JsonValue] = [name for name, does in ids.items() if does]
    reply = spoke(node, other, "relevance", number, claim=of, segments=said)
    return [reply, told("noted", node, data={"counter": {of: kept}})]


def deliberated() -> list[Event]:
    """All that was claimed of the whole topic, and met by the other paper."""
    own = [
        claim("a1", "Orbits in linear time", "“In linear time”, it says.", "a:1", "a:4"),
        claim("a2", "A million objects on a laptop", "It took 41 seconds.", "a:6"),
    ]
    other = [
        claim("b1", "A bound on the error of every orbit", "The cell size bounds it.", "b:3"),
        claim("b2", "Uneven sampling is no obstacle", "The proof does not need it.", "b:8"),
    ]
    return [
        retrieved("0", "topic", "a", _1=0.81, _4=0.74, _6=0.7),
        retrieved("0", "topic", "b", _2=0.66, _3=0.79, _8=0.61, _11=0.2),
        spoke("0", "a", "claims", claims=own),
        spoke("0", "b", "claims", claims=other),
        told("noted", data={"claims": {"a": own}}),
        told("noted", data={"claims": {"b": other}}),
        retrieved("0", "a1", "b", _5=0.58, _2=0.31),
        retrieved("0", "b2", "a", _9=0.52),
        *weighed("0", "a1", 1, b_5="refutes", b_2=""),
        *weighed("0", "a2", 2, b_2=""),
        *weighed("0", "b1", 1, a_4="supports", a_9="clarifies"),
        told("branched", children=["0.0", "0.1", "0.2"], kind="topic"),
    ]


def argued(who: str, title: str, description: str, *evidence: str, **more: JsonValue) -> JsonValue:
    said: dict[str, JsonValue] = {"title": title, "description": description}
    said["evidence"] = [*evidence]
    return {**said, "proposals": [], "concedes": False, **more}


def exchanged(node: str, a: JsonValue, b: JsonValue, asks: str = "") -> list[Event]:
    """Three stages, side by side; what is given are the last words."""
    last = {"a": a, "b": b}
    events: list[Event] = []
    for who in "ab":
        first = argued(who, f"{who} presents at {node}", f"{who} speaks first.", f"{who}:3")
        answer: JsonValue = {
            "description": f"{who} responds at {node}.",
            "questions": [asks] if asks and who == "b" else [],
            "evidence": [],
            "concedes": False,
        }
        for stage, fields in (("present", first), ("respond", answer), ("revise", last[who])):
            assert isinstance(fields, dict)
            events.append(_turned(node, who, stage, fields))
    positions: list[JsonValue] = []
    for who, fields in last.items():
        assert isinstance(fields, dict)
        positions.append({"paper": who, **fields})
    return [
        *events,
        told("settled", node, verdict=None, status="answered", data={"positions": positions}),
    ]


def _turned(node: str, who: str, stage: str, fields: dict[str, JsonValue]) -> Event:
    data: dict[str, JsonValue] = {"role": "persona", "speaker": who, "phase": stage, "round": 1}
    return told("spoke", node, **data, step=0, fields={**fields})


def moderated(node: str, moved: bool, open_: bool, won: bool, explanation: str) -> Event:
    return spoke(
        node,
        "moderator",
        "progress",
        role="moderator",
        explanation=explanation,
        progression_of_arguments=moved,
        meaningful_questions=open_,
        clear_winner=won,
    )


def debates() -> list[Event]:
    """Every topic below the whole one."""
    fast = argued("a", "Linear beats n log n", "At a million objects it is 20 times less.", "a:6")
    slower = argued("b", "The bound is worth the price", "It costs a factor of log n.", "b:5")
    loses = argued(
        "a", "No bound, admittedly", "The paper gives none.", "a:9", concedes=True,
        proposals=[HYBRID],
    )  # fmt: skip
    bounded = argued("b", "Every orbit has a bound", "It is the cell size.", "b:3")
    both = argued("a", "Once is enough", "The rungs are climbed once.", "a:4")
    never = argued("b", "Refinement is local", "Only few cells are refined.", "b:5")
    gives = argued("b", "The mesh has to be built first", "So it has.", "b:5", concedes=True)
    uneven = [claim("a1", "Rungs adapt to gaps", "Each rung is its own problem.", "a:4")]
    return [
        opened("0.0", SPEED, "What does one more object cost?", "a1", "a2"),
        opened("0.1", TRUST, "What is known of the error?", "b1"),
        opened("0.2", KERNELS, "Where does the sampling matter?"),
        *exchanged("0.0", fast, slower, asks="Is that the worst case?"),
        moderated("0.0", True, True, False, "Both went into the constants."),
        retrieved("0.0", "topic", "a", _4=0.69),
        told("noted", "0.0", data={"claims": {"a": uneven}}),
        told("noted", "0.0", data={"counter": {"a1": []}}),
        told("branched", "0.0", children=["0.0.0", "0.0.1"], kind="topic"),
        opened("0.0.0", CHEAPER, "Per object.", "a1"),
        *exchanged("0.0.0", both, never),
        told("branched", "0.0.0", children=[], why="max_depth"),
        opened("0.0.1", EARLY, "Before the first orbit.", "a1"),
        *exchanged("0.0.1", both, gives),
        told("branched", "0.0.1", children=[], why="max_depth"),
        *exchanged("0.1", loses, bounded),
        moderated("0.1", False, True, True, "The bound settles it."),
        told("branched", "0.1", children=[], why="clear_winner"),
        *exchanged("0.2", both, never),
        moderated("0.2", False, False, False, "They repeat themselves."),
        told("branched", "0.2", children=[], why="no_progress"),
    ]  # fmt: skip


def sentence(part: str, text: str, *ground: str, faults: Iterable[str] = ()) -> JsonValue:
    segments: list[JsonValue] = [name for name in ground if ":" in name]
    nodes: list[JsonValue] = [name for name in ground if ":" not in name]
    return {
        "part": part,
        "text": text,
        "nodes": nodes,
        "segments": segments,
        "faults": [*faults],
    }


def summarised() -> list[Event]:
    """The comparison, and the verdict that it makes."""
    sentences = [
        sentence("similarity", SHARED, "0.0", "0.1", "a:4", "b:3"),
        sentence("difference", FASTER, "0.0", "a:6", "b:5"),
        sentence("difference", UNGROUNDED, faults=[NO_GROUND]),
        sentence("difference", MISQUOTED, "0.1", "b:3", faults=[MISQUOTE]),
        sentence("proposal", HYBRID, "0.1"),
    ]
    answer = f"{SHARED} {FASTER} {UNGROUNDED} [rests on nothing] {MISQUOTED} [quotation not found]"
    notes = ["2 of 5 sentences are marked", "paper a conceded at 0.1", "paper b conceded at 0.0.1"]
    rationale = f"Proposed in the debate, and claimed by neither paper: {HYBRID}"
    return [
        told("settled", verdict=None, status="answered", data={"sentences": sentences}),
        told("concluded", answer=answer, rationale=rationale, notes=[*notes]),
    ]


def run(events: Iterable[Event], method: str = "tod") -> RunRecord:
    """The run that the events make."""
    tree, verdict = fold([opened("0", TOPIC), *events])
    settled = verdict is not None and verdict.answer is not None
    papers: list[JsonValue] = [
        {
            "title": LADDER,
            "abstract": "Orbits in linear time, by a ladder of linear problems.",
            "name": "ladder.pdf",
            "passages": [{"text": "the whole paper a"}],
            "key": "ladder2024",
        },
        {
            "title": MESH,
            "abstract": "A bound on the error of every orbit, by an adaptive mesh.",
            "name": "mesh.tex",
            "body": "the whole paper b",
        },
    ]
    return RunRecord(
        run_id="20260131-120000-abc123",
        protocol="tod",
        method=method,
        status="answered" if settled else "partial",
        input={"question": TOPIC, "papers": papers},
        settings={"expansion_rule": "reference", "max_depth": 2},
        models={"persona": "openai:any", "moderator": "openai:any"},
        verdict=verdict,
        tree=tree,
        usage=Usage(calls=40, attempts=40, wall_s=75, critical_path_calls=14),
        started="2026-01-31T12:00:00.000000Z",
        ended="2026-01-31T12:01:15.000000Z",
    )


def record() -> RunRecord:
    """Three parts, one of them split again; each paper concedes once."""
    return run([*deliberated(), *debates(), *summarised()])


def told_of(event: Event, *names: str) -> bool:
    """Return whether an event adds one of these data to its node."""
    data = event.data.get("data")
    return event.kind == "noted" and isinstance(data, dict) and not {*names}.isdisjoint(data)


def broken_off() -> RunRecord:
    """Broken off while two topics were debated and one was not."""
    events = [*deliberated(), *debates()]
    kept = [e for e in events if not e.node.startswith(("0.0.1", "0.2")) or e.kind == "opened"]
    return run([e for e in kept if not (e.node == "0.1" and "why" in e.data)])


def begun() -> RunRecord:
    """Broken off before anybody made a claim."""
    return run([])


def deliberating() -> RunRecord:
    """Broken off before the moderator split the topic; nobody has met the claims."""
    return run([e for e in deliberated() if e.kind == "retrieved" or told_of(e, "claims")])


def unsplit() -> RunRecord:
    """Claims were made and met, and the split failed for good: nothing can be compared."""
    failed = told("failed", role="moderator", fault="no reply came")
    events = [e for e in deliberated() if e.kind != "branched"]
    end = [
        told("branched", children=[], why="failed"),
        told("settled", verdict=None),
        told("concluded"),
    ]
    made = run([*events, failed, *end])
    made.status = "unresolved"
    return made


def one_sided() -> RunRecord:
    """A persona failed for good: the other has the only word, and one topic has none."""
    made = record()
    made.status = "degraded"
    nodes = made.tree.nodes
    own = [p for p in topic_of(nodes["0.1"]).positions if p.paper == "b"]
    change(nodes["0.1"], positions=own)
    nodes["0.1"].transcript = [t for t in nodes["0.1"].transcript if t.speaker != "a"]
    nodes["0.1"].failures = [Failure(role="persona", speaker="a", fault="no reply came")]
    change(nodes["0.2"], positions=[])
    nodes["0.2"].status = "missing"
    nodes["0.2"].transcript, nodes["0.2"].stopped = [], "failed"
    return made


def bare() -> RunRecord:
    """Without self-deliberation: nobody claims, nothing is retrieved."""
    kept = [e for e in [*debates(), *summarised()] if not told_of(e, "claims", "counter")]
    split = told("branched", children=["0.0", "0.1", "0.2"], kind="topic")
    made = run([split, *kept], "no_self_deliberation")
    made.tree.segments = {}
    return made


def two_stage() -> RunRecord:
    """A baseline: each paper summarised, then both compared."""
    text = "Both are fast. Only b has bounds."
    summaries = [
        spoke("0", who, "summary", role="summariser", summary=f"Paper {who} in short.")
        for who in "ab"
    ]
    events = [
        *summaries,
        spoke("0", "comparer", "summary", 0, role="comparer", summary=text),
        told("settled", take=1, verdict={"answer": text, "rationale": ""}, provenance=["0"]),
        told("concluded", answer=text),
    ]
    made = run(events, "two_stage")
    made.tree.nodes["0"].kind = "leaf"
    return made


def single_stage() -> RunRecord:
    """A baseline: both papers compared in one call."""
    made = two_stage()
    made.method = "single_stage"
    node = made.tree.nodes["0"]
    node.transcript = [turn for turn in node.transcript if turn.role == "comparer"]
    return made


def unsummarised() -> RunRecord:
    """Everything was debated, and the summary failed for good."""
    failed = told("failed", role="moderator", fault="no reply came")
    made = run([*deliberated(), *debates(), failed, told("settled", verdict=None)])
    made.verdict, made.status = Verdict(), "unresolved"
    return made


def amended() -> RunRecord:
    """A person put words into a paper."""
    made = record()
    made.tree.segments["b:5"] = Segment(id="b:5", text="It costs n operations.", contested=True)
    return made


RUNS = [
    record,
    broken_off,
    begun,
    deliberating,
    unsplit,
    one_sided,
    bare,
    two_stage,
    single_stage,
    unsummarised,
    amended,
]


def change(node: Node, **update: object) -> None:
    """Put other data in the place of those of a topic."""
    node.data = topic_of(node).model_copy(update=update).model_dump(mode="json")


def everywhere(text: str) -> RunRecord:
    """The run with ``text`` wherever a model, a paper or a person can put one."""
    made = record()
    made.notices = [text]
    paper: JsonValue = {"title": text, "abstract": text, "name": text, "key": text}
    made.input = {"question": text, "papers": [paper, paper]}
    made.verdict = Verdict(answer=text, rationale=text, notes=[text])
    for one in made.tree.segments.values():
        one.text = one.heading = text
    for node in made.tree.nodes.values():
        topic = topic_of(node)
        node.text = text
        for said in topic.sentences:
            said.text, said.faults = text, [text] if said.faults else []
        change(
            node,
            description=text,
            raised_by=[text],
            claims={who: [_claim(one, text) for one in own] for who, own in topic.claims.items()},
            positions=[_position(one, text) for one in topic.positions],
            sentences=topic.sentences,
        )
        node.notes, node.failures = [text], [Failure(role=text, speaker=text, fault=text)]
        node.transcript = [_turn(turn, text) for turn in node.transcript]
    made.verdict.answer = " ".join(s.text for s in topic_of(made.tree.nodes["0"]).sentences)
    return made


def _claim(one: Claim, text: str) -> Claim:
    return one.model_copy(update={"title": text, "description": text})


def _position(one: Position, text: str) -> Position:
    return one.model_copy(update={"title": text, "description": text, "proposals": [text]})


def _turn(turn: Turn, text: str) -> Turn:
    fields: dict[str, JsonValue] = {**turn.fields, text: [{"id": text, text: text}]}
    for name in ("title", "description", "explanation"):
        if name in fields:
            fields[name] = text
    for name in ("questions", "proposals", "evidence"):
        if name in fields:
            fields[name] = [text]
    return turn.model_copy(update={"fields": fields})


def ruled_by_a_person() -> RunRecord:
    """The verdict is another than the one that the sentences make."""
    made = record()
    made.verdict = Verdict(answer="A person says: they are much alike.")
    made.tree.nodes["0"].verdict = Verdict(answer="They are much alike.", rationale="")
    return made
