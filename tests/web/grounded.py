"""Make a grounded debate event by event: three sources, points with their sentences, a checker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from random import Random
from typing import Any

from dialectree.protocols.protocol import method
from dialectree.records import Contest, Event, Override, RunRecord, fold_run
from dialectree.records.declared import declarations

T = "2026-01-31T12:00:00.000000Z"
RUN = "20260131-120000-ground"
QUESTION = "Should the town close Mill Lane to cars?"
OPTIONS = ["Close it", "Leave it open"]

Pages = list[tuple[int | None, str | None, list[str]]]
"""Segments of a source: the page, the heading, and the sentences."""
TEXTS: dict[str, tuple[str, Pages]] = {
    "traffic.pdf": (
        "Traffic in the old town",
        [
            (1, "Counts", ["In May 4,100 cars a day took Mill Lane.", "Half of them only pass."]),
            (3, "Shops", ["Shops took 6 % more while the lane was closed.", "They want more."]),
            (4, "Noise", ["At night it was 11 dB quieter."]),
        ],
    ),
    "notes.md": (
        "Notes of the hearing",
        [
            (None, "Open floor", ["😀 Ms. Roe spoke first.", "The baker lost customers in May."]),
            (None, None, ["The fire brigade needs the lane.", "It came 2 minutes later."]),
        ],
    ),
    "minutes.txt": ("minutes.txt", [(None, None, ["The council met on 3 June."])]),
}
SOURCES = [
    {"id": f"s{n}", "name": name, "title": title, "digest": f"{n:032x}"}
    for n, (name, (title, _)) in enumerate(TEXTS.items(), 1)
]


def segment(id: str, sentences: list[str], **more: Any) -> dict[str, Any]:
    """Return a segment whose sentences stand one after another."""
    spans, end = list[list[int]](), 0
    for one in sentences:
        spans.append([end, end + len(one)])
        end += len(one) + 1
    return {"id": id, "text": " ".join(sentences), "sentences": spans, **more}


def segments(texts: Mapping[str, tuple[str, Pages]] = TEXTS) -> dict[str, dict[str, Any]]:
    """Return all segments by their ids, as ``retrieved`` tells them."""
    return {
        f"s{s}:{n}": segment(f"s{s}:{n}", said, source=name, page=page, heading=heading)
        for s, (name, (_, pages)) in enumerate(texts.items(), 1)
        for n, (page, heading, said) in enumerate(pages, 1)
    }


def point(id: str, text: str, *sentences: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "point": text, "sentences": [*sentences], **more}


POINTS = {
    "A": [
        point("0/A.1", "Closing the lane helps its shops.", "s1:2.1", "s1:2.2"),
        point("0/A.2", "Most drivers only pass through.", "s1:1.2"),
    ],
    "B": [
        point("0/B.1", "A shop lost customers.", "s2:1.2"),
        point("0/B.2", "Help comes later in a fire.", "s2:2.1", "s2:2.2"),
    ],
}
MARKS = {
    "0/A.1": ("yes", "The report counts 6 % more."),
    "0/A.2": ("no", "It is half of them, not most."),
    "0/B.1": ("contradicts", "The report counts more for all shops."),
    "0/B.2": ("yes", "The notes say 2 minutes."),
}
FIRST = ["s1:2", "s1:1", "s2:1"]
LATER = ["s2:2", "s1:3", "s2:1"]


def events(
    own: Mapping[str, list[dict[str, Any]]] = POINTS,
    texts: Mapping[str, tuple[str, Pages]] = TEXTS,
    dropped: str = "none",
    grounds: tuple[str, ...] = ("s1:2.1", "s2:2.2"),
) -> list[Event]:
    """Return the events of a debate of two sides about ``QUESTION``, without source ``dropped``."""
    told, n, known = list[Event](), count(1), segments(texts)

    def tell(kind: Any, /, **data: Any) -> None:
        told.append(Event(n=next(n), t=T, run_id=RUN, node="0", kind=kind, data=data))

    def retrieve(of: str, query: str, ids: list[str]) -> None:
        found = [{"id": id} for id in ids]
        tell("retrieved", of=of, query=query, found=found, segments=[known[id] for id in ids])

    def speak(who: str, phase: str, evidence: list[dict[str, Any]], **fields: Any) -> None:
        label = OPTIONS["AB".index(who)]
        turn = 1 if phase == "proposals" else 2
        at = {"phase": phase, "role": "debater", "speaker": who.lower(), "round": turn}
        kept = [one for one in evidence if not one["sentences"][0].startswith(f"{dropped}:")]
        more = {"evidence": kept} if kept else {}
        tell("spoke", **at, side=label, label=who, names=who, fields=fields, **more)

    given = {"question": QUESTION, "options": OPTIONS, "sources": SOURCES}
    tell("began", protocol="rsd", method="rsd", input=given, settings={}, models={})
    tell("opened", text=QUESTION, depth=0)
    retrieve("opening 1", QUESTION, FIRST)
    for who, says in zip("AB", OPTIONS, strict=True):
        speak(who, "proposals", own[who], answer=says, argument=f"{says}: I have points for it.")
    retrieve("further 1", "fire brigade Mill Lane", LATER)
    retrieve("further 2", "noise at night", ["s1:3"])
    for who in "AB":
        speak(who, "cross_examination", [], errors=[])
    listed = {one["id"] for both in own.values() for one in both}
    marks = [
        {"point": id, "reason": reason, "verdict": mark}
        for id, (mark, reason) in MARKS.items()
        if id in listed
    ]
    at = {"phase": "check", "role": "checker", "speaker": "checker", "round": 1}
    tell("spoke", **at, fields={"marks": marks})
    left = [id for id in grounds if id.partition(":")[0] != dropped]
    resting = [
        {"id": id, "source": one["source"], "page": one["page"]}
        for id in left
        for one in [known[id.rpartition(".")[0]]]
    ]
    ruling = {"rationale": "The shops gain.", "label": "A", "confidence": 0.7}
    fields = {**ruling, "answer": OPTIONS[0]}
    at = {"phase": "judgment", "role": "judge", "speaker": "judge", "round": 1}
    tell("spoke", **at, fields=fields, rests_on=left)
    notes = [] if resting else ["rests on no evidence of the sources"]
    verdict = {**fields, "confidence_source": "judge", "notes": notes, "winner": "A"}
    tell("settled", verdict=verdict, provenance=["0"])
    tell("concluded", **verdict, grounds=resting)
    usage = {"wall_s": 1.0, "embedding_s": 0.0}
    tell("ended", status="answered", usage=usage, notices=[])
    return told


def record_of(told: list[Event], **more: Any) -> RunRecord:
    """Return the record of a run with these events."""
    declared = declarations(method("rsd"), {})
    order = declared["rsd"].order
    order.phases = [*dict.fromkeys([*order.phases[:-1], "check", *order.phases[-1:]])]
    data: dict[str, Any] = {
        "run_id": RUN, "protocol": "rsd", "method": "rsd", "status": "answered",
        "input": told[0].data["input"], "settings": {}, "models": {},
        "declared": declared, "started": T, "ended": T, **more,
    }  # fmt: skip
    record = RunRecord.model_validate(data)
    folded = fold_run(told, record.order())
    return record.model_copy(update={"tree": folded.tree, "verdict": folded.verdict})


def run() -> tuple[RunRecord, list[Event]]:
    told = events()
    return record_of(told), told


def contested(dropped: str = "s2") -> tuple[RunRecord, list[Event]]:
    """Return a contest of the run in which a person dropped a source."""
    told = events(dropped=dropped)
    override = Override(id=dropped, what="dropped", spots=[])
    contest = Contest(
        run="earlier",
        changes=[override.words()],
        before=0.7,
        after=0.7,
        why=f"0/A no longer rests on {dropped}.",
        overrides=[override],
    )
    return record_of(told, run_id=f"{RUN}2", contest=contest), told


def without_grounds() -> tuple[RunRecord, list[Event]]:
    """Return a run whose speakers and judge cite nothing."""
    told = events(own={"A": [], "B": []}, grounds=())
    return record_of(told), told


def retrieved() -> tuple[RunRecord, list[Event]]:
    """Return a run whose sources a retriever found: its input names none."""
    told = events()
    told[0].data["input"] = {"question": QUESTION, "options": [*OPTIONS]}
    return record_of(told), told


def drawn(random: Random) -> tuple[RunRecord, list[Event]]:
    """Return a run with events of any order, told again and told otherwise."""
    known, n = segments(), count(1)
    ids = [f"{id}.{s}" for id, one in known.items() for s, _ in enumerate(one["sentences"], 1)]

    def some(of: list[Any], most: int = 3) -> list[Any]:
        return random.choices(of, k=random.randint(0, most))

    def about(kind: str) -> dict[str, Any]:
        grounds = [{"id": id, "source": "notes.md"} for id in some(ids)]
        grounds += [{"id": id, "source": "a", "page": 2} for id in some(ids)]
        if kind == "retrieved":
            found = some([*known])
            data = {"of": f"opening {random.randint(1, 3)}", "query": random.choice("xyz")}
            hits = [{"id": id, **random.choice([{}, {"score": 0.5}])} for id in found]
            return {**data, "found": hits, "segments": [known[id] for id in found]}
        if kind == "spoke":
            item = random.choice([{}, {"item": 0}, {"item": 2}])
            points = [point(f"p{next(n)}", "It is so.", *some(ids), **item) for _ in some([1])]
            at = {"phase": random.choice(["proposals", "check"]), "role": random.choice("ab")}
            cites = random.choice([{}, {"evidence": points}, {"rests_on": some(ids)}])
            return {**at, "fields": {"text": "so"}, **cites}
        if kind == "settled":
            verdict = {"answer": "so", "take": random.randint(1, 2)}
            return {"verdict": {**verdict, **random.choice([{}, {"grounds": grounds}])}}
        return {"answer": "so", **random.choice([{}, {"grounds": grounds}])}

    def lines() -> Iterator[tuple[str, dict[str, Any]]]:
        yield "opened", {"text": QUESTION, "depth": 0}
        for _ in range(random.randint(5, 40)):
            kind = random.choice(["retrieved", "spoke", "spoke", "settled", "concluded"])
            yield kind, about(kind)

    head = events()[0]
    told = [head]
    for kind, data in lines():
        line = {"n": len(told) + 1, "node": "0", "kind": kind, "data": data}
        told.append(Event.model_validate({**head.model_dump(), **line}))
    return record_of(told), told
