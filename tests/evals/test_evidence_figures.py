"""What a report says of the sources that debates argued from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dialectree.evals.dataset_items import Inputs, Item, Reference
from dialectree.evals.grounding import grounding
from dialectree.evals.reporting.analysis import analyse_study
from dialectree.evals.reporting.formatting import format_table_rows
from dialectree.evals.reporting.study import study
from dialectree.evals.reporting.tables import tables
from dialectree.evals.reporting.writing import report
from dialectree.evals.results import Grounding
from dialectree.models.reading import NO_EVIDENCE
from dialectree.records import RunRecord, Verdict
from dialectree.records.place import Place
from dialectree.records.tree import Ground, Node, Point, Segment, Turn
from tests.evals import evaluating, sample
from tests.evals.evaluating import evaluate, plan, results, row, write
from tests.grounding import point, pointing, written

GOLD = "No cow eats animal products."
TEXT = f"Cows eat grass. {GOLD} They chew."


def turn(role: str, phase: str, *points: list[str], **more: Any) -> Turn:
    speaker = more.pop("speaker", "")
    items = more.pop("items", [0] * len(points))
    made = [
        Point(id=f"{role}{phase}{speaker}{n}", point="So.", sentences=ids, item=item)
        for n, (ids, item) in enumerate(zip(points, items, strict=True))
    ]
    place = Place(node="0", phase=phase, role=role, speaker=speaker)
    return Turn(**place.place(), evidence=made, **more)


def counted(*turns: Turn, gold: tuple[str, ...] = (), **more: Any) -> Grounding:
    """What is counted of a record with these turns."""
    spans = [(0, 15), (16, 16 + len(GOLD)), (17 + len(GOLD), len(TEXT))]
    notes = more.pop("notes", [])
    about: Any = {"run_id": "r", "protocol": "rsd", "method": "rsd", "started": sample.STAMP}
    sources: Any = {"sources": [{"id": "s1"}]}
    record = RunRecord(**about, input=sources, verdict=more.pop("verdict", None))
    record.tree.nodes["0"] = Node(id="0", text="?", depth=0, transcript=[*turns], notes=notes)
    record.tree.segments["s1:1"] = Segment(id="s1:1", text=TEXT, source="a.md", sentences=spans)
    item = Item(id="q", inputs=Inputs(question="?"), reference=Reference(evidence=gold))
    made = grounding(record, item)
    assert made is not None
    return made


def test_texts_points_marks_and_quotations_are_counted() -> None:
    marks = [
        {"point": "p1", "verdict": "yes"},
        {"point": "p2", "verdict": "no"},
        {"point": "p3", "verdict": "contradicts"},
    ]
    one = counted(
        turn("debater", "proposals", ["s1:1.1"], ["s1:1.2"], speaker="a"),
        turn("debater", "proposals", speaker="b"),
        turn("arguer", "growth", ["s1:1.1"], items=[2], fields={"arguments": [{}, {}, {}]}),
        turn("judge", "judgment", rests_on=["s1:1.1"]),
        turn("checker", "check", fields={"marks": marks}),
        notes=[
            "debater a: false quotation (no source says so): “x”",
            "debater b: false quotation (a.md says so, which it did not read): “y”",
            "something else",
        ],
    )
    assert one.texts["debater proposals"] == (1, 2)
    assert one.texts["arguer growth"] == (1, 3)
    assert one.texts["judge judgment"] == (0, 1) and "checker check" not in one.texts
    assert (one.marked, one.borne_out, one.contradicted) == (3, 1, 1)
    assert (one.invented, one.misattributed, one.without) == (1, 1, False)


@pytest.mark.parametrize(
    ("gold", "retrieved", "cited"),
    [
        ("no cow eats ANIMAL products", 1, 1),  # marks and case do not matter
        (f"Before. {GOLD} After it.", 1, 1),  # a passage holds the sentence
        ("eats animal", 1, 1),
        ("Cows eat grass.", 1, 0),
        ("They chew!", 1, 0),
        ("ows eat gras", 0, 0),
        ("Nobody says that they chew so.", 0, 0),
    ],
)
def test_gold_evidence_is_found_by_its_words(gold: str, retrieved: int, cited: int) -> None:
    one = counted(turn("debater", "proposals", ["s1:1.2"]), gold=(gold,))
    assert (one.gold, one.retrieved, one.cited) == (1, retrieved, cited)


def test_what_a_verdict_rests_on_is_cited_and_its_lack_is_counted() -> None:
    grounds = [Ground(id="s1:1.2", source="a.md")]
    assert counted(gold=(GOLD,), verdict=Verdict(answer="x", grounds=grounds)).cited == 1
    assert counted(turn("judge", "judgment", rests_on=["s1:1.2"]), gold=(GOLD,)).cited == 1
    assert counted(verdict=Verdict(notes=[NO_EVIDENCE])).without


def asked(*rows: Mapping[str, Any]) -> Path:
    common = {"options": ["animal products", "plant materials"], "gold": "B", "sources": "docs"}
    made = [{"id": f"q{n}", "question": "What do cows eat?", **common, **r} for n, r in enumerate(rows)]
    return write(made)


def told(key: str = "evidence") -> dict[str, str]:
    one = {one.key: one for one in tables(analyse_study(study([Path("out")])))}[key]
    return dict(zip(one.frame, [text for text, _ in next(iter(format_table_rows(one)))], strict=True))


def test_a_report_shows_the_figures_also_of_results_that_lack_them() -> None:
    written(Path("docs"))
    data = asked({"evidence": GOLD}, {"question": "Do cows eat clay?", "evidence": ["Nobody says."]})
    model = pointing()
    model.will_point(
        lambda call, sentences: (
            point(call, sentences)
            if "clay" not in call.prompt.partition("<question>")[2][:80]
            else {"evidence": [], "look_for": [], "rests_on": []}
        )
    )
    evaluate(plan(data, model, row("rsd"), embeddings="bm25"))
    report([Path("out")])
    figures = told()
    assert figures["texts with a point"] == "50.0%" and figures["points borne out"] == "100.0%"
    assert figures["gold evidence retrieved"] == "50.0%" and figures["questions"] == "2"
    table, questions = (Path("out/report", f"{n}.csv").read_text() for n in ("evidence", "questions"))
    assert "texts,with_a_point,marked" in questions
    bare = [one.model_copy(update={"grounding": None}) for one in results()]
    Path("out/results.jsonl").write_text("".join(one.model_dump_json() + "\n" for one in bare))
    report([Path("out")])
    assert Path("out/report/evidence.csv").read_text() == table
    assert Path("out/report/questions.csv").read_text() == questions


def test_without_sources_nothing_of_evidence_is_asked_kept_or_shown() -> None:
    speaker = evaluating.model()
    evaluate(plan(evaluating.choices(2), speaker, row("rsd")))
    report([Path("out")])
    assert not Path("out/report/evidence.csv").exists()
    assert "with_a_point" not in Path("out/report/questions.csv").read_text()
    begun = json.loads(Path("out/evaluation.json").read_text())
    assert {*begun["rows"][0]["models"]} == {"debater_a", "debater_b", "judge"}
    with pytest.raises(Exception, match="--memory: that is no setting of rsd"):
        plan(evaluating.choices(2), speaker, row("rsd"), memory="forbidden")
