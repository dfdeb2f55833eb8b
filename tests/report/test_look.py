"""What a protocol declares of its look: who faces whom, which phases alternate, the arithmetic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialectree import report
from dialectree.errors import InputError
from dialectree.protocols import plugins
from dialectree.protocols.look import Look, Score
from dialectree.protocols.protocol import Protocol, method, protocol
from dialectree.protocols.script import QuestionInput
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import Node, RunRecord, Tree, Turn, Verdict
from dialectree.records.declared import declarations
from dialectree.report import arguments, view


def declare(monkeypatch: pytest.MonkeyPatch, **fields: Any) -> None:
    """Install a stranger's protocol."""

    class Settings(ProtocolSettings):
        """Settings of its own."""

    of = protocol("tsd")
    told: dict[str, Any] = dict(name="stranger", title="S", summary="Do.", source="", roles={})
    made = Protocol(
        **{**told, "input": QuestionInput, "settings": Settings, "graph": of.graph, "prompts": ()}
        | {"outcome": "answer", **fields}
    )
    monkeypatch.setitem(plugins.load_declarations()[0], "stranger", made)


def turn(speaker: str, phase: str, number: int, step: int) -> Turn:
    place = dict(node="0", role=speaker, phase=phase, round=number, step=step)
    return Turn.model_validate({**place, "fields": {"text": f"{speaker} {number}"}})


def record(*nodes: Node, **settings: Any) -> RunRecord:
    return RunRecord(
        run_id="r",
        protocol="stranger",
        method="stranger",
        status="answered",
        input={"question": "Q?"},
        settings=settings,
        declared=declarations(method("stranger"), settings),
        verdict=Verdict(answer="yes", confidence=0.5),
        tree=Tree(nodes={one.id: one for one in nodes}),
        started="now",
    )


def test_a_moderator_stands_after_each_round_of_those_who_face_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    look = Look(facing=("pro", "con"), together=("debate", "moderation"))
    declare(monkeypatch, look=look)
    said = [turn(who, "debate", n, i) for n in (1, 2) for i, who in enumerate(("pro", "con"))]
    said += [turn("chair", "moderation", n, 0) for n in (1, 2)]
    node = Node(id="0", text="Q?", depth=0, transcript=[*said, turn("judge", "end", 0, 0)])
    debate, end = view.stages(record(node), node)
    assert [(one.speakers, [turn.speaker for turn in one.turns]) for one in debate.rounds] == [
        *[(["pro", "con"], ["pro", "con"]), ([], ["chair"])] * 2
    ]
    assert (debate.name, end.name) == ("debate", "end")
    text = report.markdown(record(node), [])
    assert text.index("chair 1") < text.index("Round 2") < text.index("con 2") < text.index("chair 2")


def test_scores_are_signed_and_reckoned_as_the_protocol_says(monkeypatch: pytest.MonkeyPatch) -> None:
    def look(settings: Any) -> Look:
        scores = {
            "own": Score(sign="w", meaning="its weight"),
            "strength": Score(sign="S", meaning="in all", reckoned=True),
        }
        return Look(scores=scores, weighing=(f"{settings['rule']} mean",), signs="w: a weight.")

    declare(monkeypatch, look=look)
    part = Node(id="0.0", text="A", parent="0", depth=1, kind="argument", stance="support")
    part.scores = {"own": 0.25, "odd": 1.0, "strength": 0.5}
    run = record(Node(id="0", text="Q?", depth=0, children=["0.0"]), part, rule="weighted")
    assert arguments.chain(run, part) == "w 0.25 → Odd 1.00 → S 0.50"
    assert arguments.reckoning(run) == ["weighted mean"]
    assert "weighted mean" in report.markdown(run, [])


@pytest.mark.parametrize("outcome", ["answer", "choice", "probability", "comparison"])
def test_no_outcome_means_a_protocol(outcome: str, monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, outcome=outcome)
    below = Node(id="0.0", text="A", parent="0", depth=1)
    run = record(Node(id="0", text="Q?", depth=0, children=["0.0"]), below)
    for page in (report.markdown(run, []), report.html(run, [])):
        for words in ("Claim and arguments", "either paper", "The topics", "θ", "--set", "No debate"):
            assert words not in page


FIFTH = '''
"""A view of a stranger: one file."""

def heading(record):
    return "The chain"

def shows(node):
    return node.id == "0"

MARKDOWN = """
{% macro line(node) %}{{ node.id | bold }} a link of {{ node.children | length }}{% endmacro %}
{% macro row(node) %}*in the chain*{% endmacro %}
{% macro node(node) %}### Link {{ node.text }}{% endmacro %}
"""
'''


def test_a_view_of_ones_own_is_one_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "chained").mkdir()
    (tmp_path / "chained" / "__init__.py").touch()
    (tmp_path / "chained" / "chain.py").write_text(FIFTH)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match=r"view 'ring' is not one of .* no module chained.ring"):
        declare(monkeypatch, view="ring", graph="chained.graph:graph")
    declare(monkeypatch, view="chain", graph="chained.graph:graph")
    below = Node(id="0.0", text="*A*", parent="0", depth=1)
    run = record(Node(id="0", text="_Q?_", depth=0, children=["0.0"]), below)
    text = report.markdown(run, [])
    for part in ("The chain", "a link of 1", "*in the chain*", "### Link \\_Q", "0.0 · \\*A"):
        assert part in text
    assert "<h2>The chain</h2>" in report.html(run, [])  # its nodes are drawn round by round
