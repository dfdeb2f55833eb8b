"""A small run, whole: two parts, one of them debated twice, one reply that had to be mended."""

from __future__ import annotations

from dialectree.records import (
    Call,
    Failure,
    Node,
    Override,
    RunRecord,
    Tree,
    Turn,
    Usage,
    Verdict,
)
from dialectree.running import verdict_diff

QUESTION = "Which language do all people in Europe speak?"
FIRST, SECOND = "Is there one such language?", "Who speaks English?"


def debate(said: str, take: int = 1) -> list[Turn]:
    """Two rounds of A against B, B first, and a judge."""
    turns = []
    for step, who in enumerate("BABA"):
        fields = {"claim": f"{said} claim {who}{step}", "support": f"{said} support {who}{step}"}
        if step:
            fields["rebuttal"] = f"{said} rebuttal {who}{step}"
        turns.append(_turn("leaf_debater", who, "debate", step, step // 2 + 1, take, **fields))
    ruling = {"winner": "A", "answer": f"{said} answer", "rationale": "because", "confidence": 0.5}
    return [*turns, _turn("leaf_judge", "leaf_judge", "debate", 4, 0, take, **ruling)]


def _turn(
    role: str, who: str, stage: str, step: int, round_: int, take: int = 1, **fields: object
) -> Turn:
    return Turn.model_validate(
        {
            "node": "",
            "role": role,
            "speaker": who,
            "phase": stage,
            "step": step,
            "round": round_,
            "take": take,
            "fields": fields,
        }
    )


def _expansion() -> list[Turn]:
    children = [{"qid": "c1", "text": FIRST}, {"qid": "c2", "text": SECOND}]
    scores = [{"qid": "c1", "difficulty": 0.25}, {"qid": "c2", "difficulty": 0.8}]
    return [
        _turn("decomposer", "decomposer", "expansion", 0, 1, children=children, stop=False),
        _turn("complexity_evaluator", "complexity_evaluator", "expansion", 2, 1, scores=scores),
    ]


def _synthesis(said: str, take: int = 1) -> list[Turn]:
    turns = [
        _turn("synthesis_debater", style, "synthesis", 1, 1, take, integration=f"{said} by {style}")
        for style in ("concise", "full")
    ]
    ruling = {"winner": "B", "answer": said, "rationale": "whole", "confidence": 0.9}
    return [*turns, _turn("synthesis_judge", "synthesis_judge", "synthesis", 3, 0, take, **ruling)]


def record() -> RunRecord:
    """The run."""
    root = Node(
        id="0",
        children=["0.0", "0.1"],
        kind="branch",
        text=QUESTION,
        depth=0,
        status="answered",
        verdict=Verdict(
            answer="None.",
            rationale="whole",
            confidence=0.36,
            local_confidence=0.9,
            winner="B (full)",
            take=2,
        ),
        earlier=[Verdict(answer="Perhaps.", rationale="first", confidence=0.18)],
        transcript=[*_expansion(), *_synthesis("first"), *_synthesis("second", 2)],
        provenance=["0.0", "0.1"],
        notes=["0.1 asks the same as 0"],
    )
    leaf = Node(
        id="0.0",
        parent="0",
        kind="leaf",
        text=FIRST,
        depth=1,
        status="answered",
        stopped="max_depth",
        verdict=Verdict(answer="No.", rationale="because", confidence=0.4, winner="A", take=2),
        earlier=[Verdict(answer="Yes.", rationale="hm", confidence=0.2, winner="B")],
        transcript=[*debate("early"), *debate("late", 2)],
        provenance=["0.0"],
    )
    other = leaf.model_copy(
        update={
            "id": "0.1",
            "text": SECOND,
            "verdict": Verdict(answer="Half.", rationale="so", confidence=0.7, winner="A"),
            "earlier": [],
            "transcript": debate("only"),
            "provenance": ["0.1"],
        }
    )
    for node in (root, leaf, other):
        node.transcript = [turn.model_copy(update={"node": node.id}) for turn in node.transcript]
    return RunRecord(
        run_id="20260131-120000-abc123",
        protocol="tsd",
        method="tsd",
        status="answered",
        input={"question": QUESTION},
        settings={"seed": 0, "max_cost": None},
        models={"leaf_judge": "openai:any"},
        prompts={"tree_structured_debate/leaf_judge": 1},
        verdict=Verdict(
            answer="There is none.", confidence=0.36, confidence_source="judges", rationale="Why."
        ),
        tree=Tree(nodes={"0": root, "0.0": leaf, "0.1": other}),
        usage=Usage(calls=20, attempts=21, prompt_tokens=1234, completion_tokens=99, wall_s=65),
        started="2026-01-31T12:00:00.000000Z",
        ended="2026-01-31T12:01:05.000000Z",
        versions={"dialectree": "0.1.0"},
    )


def partial() -> RunRecord:
    """The same run, broken off by a budget."""
    run = record()
    run.status, run.verdict = "partial", None
    run.notices = ["the budget of 20 calls is used up"]
    for name in ("0", "0.1"):
        node = run.tree.nodes[name]
        node.status, node.verdict, node.earlier, node.kind = "open", None, [], "open"
    return run


def degraded() -> RunRecord:
    """The same run with a leaf that failed for good."""
    run = record()
    run.status = "degraded"
    node = run.tree.nodes["0.1"]
    node.status, node.verdict = "missing", None
    node.failures = [Failure(role="leaf_debater", fault="no reply came")]
    return run


def contested(words: str = "A person's own words.") -> RunRecord:
    """A run in which a person replaced a turn, set a verdict and dropped a part."""
    old, new = record(), record()
    leaf = new.tree.nodes["0.0"]
    turn = next(t for t in leaf.transcript if t.role == "leaf_debater")
    judge = next(t for t in leaf.transcript if t.role == "leaf_judge")
    held = [
        Override(
            id=f"0.0/{turn.speaker}1",
            what="replaced",
            spots=[turn],
            reply={},
            before="As it was.",
            after=words,
        ),
        Override(id="0.0", what="ruled", spots=[judge], reply={}, before="x", after=words),
        Override(
            id="0.1",
            what="dropped",
            spots=[Turn(node="0.1", phase="", role="")],
            before="What was found.",
        ),
    ]
    new.contest = verdict_diff.begun(old, [held[0].words(), "0.2/B1 restored"], held)
    gone = new.tree.nodes["0.1"]
    gone.verdict, gone.status, gone.transcript, gone.dropped = None, "missing", [], True
    assert new.verdict is not None and leaf.verdict is not None
    new.verdict.answer = leaf.verdict.answer = words
    new.contest = verdict_diff.compared(old, new)
    return new


def calls() -> list[Call]:
    """A call that was mended once, and one that came to nothing."""
    return [
        _call(repair=0, reply="I would say no."),
        _call(repair=1, reply="{}"),
        _call(node="0.1", error="no reply after 4 attempts", round=2),
    ]


def _call(**given: object) -> Call:
    line = {
        "key": "k",
        "node": "0.0",
        "role": "leaf_debater",
        "speaker": "B",
        "round": 1,
        "phase": "debate",
        "step": 0,
        "prompt": "tree_structured_debate/leaf_debater@1",
        "model": "openai:any",
        "seed": 1,
        "started": "2026-01-31T12:00:00.000000Z",
        "ended": "2026-01-31T12:00:01.000000Z",
        "finish": "stop",
    }
    return Call.model_validate({**line, **given})


def everywhere(text: str) -> RunRecord:
    """The run with ``text`` wherever a model or a person can put one."""
    run = record()
    run.input, run.notices = {"question": text, "options": [text, text]}, [text]
    run.started = run.ended = text
    run.settings, run.models = {"prices": {text: [1.0, 2.0]}}, {text: text}
    run.verdict = Verdict(
        answer=text, label=text, confidence=0.36, confidence_source=text, rationale=text
    )
    run.verdict.notes = [text]
    for node in run.tree.nodes.values():
        node.text, node.notes = text, [text]
        node.failures = [Failure(role=text, fault=text)]
        for ruled in [*node.earlier, *([node.verdict] if node.verdict else [])]:
            ruled.answer = ruled.rationale = ruled.winner = text
        for turn in node.transcript:
            turn.fields = {**dict.fromkeys(turn.fields, text), text: [{"qid": text, text: text}]}
    return run


HOSTILE = [
    "<script>alert(1)</script>",
    "</details></style></title></main><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "{{ 7 * 7 }} {% raw %} {# no #}",
    "[l](javascript:alert(1)) ![i](https://example.org/i.png) <https://example.org>",
    "https://example.org www.example.org me@example.org mailto:me@example.org",
    "# head\n---\n> quote\n- item\n1. one\n| a | b |\n| - | - |\n```\ncode\n```",
    "    indented\n\n\n\n\ttab\n***\n===\n+ plus\n:-\n* star",
    "\x1b[31mred\x1b[0m \x1b]8;;http://example.org\x07link\x1b]8;;\x07 \x00\x07\x9b1m\ud800",
    "مرحبا \u202eabc\u202c \u2066x\u2069",
    "[red]bold[/red] [link=https://example.org]l[/link]",
    "`" * 5 + "~" * 5 + "\\" * 5 + "$x$ $$y$$ &amp; &#60;",
    "",
    " \n ",
    "word " * 2_000,
]
"""Texts that must come out as nothing but text."""
