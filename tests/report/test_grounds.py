"""What Markdown and terminal show of a grounded debate: its sources, its points, its grounds."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dialectree.records import RunRecord
from dialectree.report import markdown, result, transcript, tree, verdict_text
from dialectree.text import clean
from tests import grounding
from tests.report.recorded import HOSTILE, flat, read, seen, tokens
from tests.web import grounded

TRICKS = "\n".join(text for text in HOSTILE if len(text) < 1_000)


def test_the_report_shows_sources_points_marks_and_grounds() -> None:
    page = markdown(grounded.run()[0], [])
    for part in (
        "- **s1** traffic.pdf, Traffic in the old town: "
        "3 segments retrieved · cited in 2 points · 1 left out",
        "- **1** of the sources: nothing retrieved",
        "- Rests on “It came 2 minutes later.” (notes.md)",
        """\
    - 2: Most drivers only pass through.
        - s1:1.2, traffic.pdf, p. 1: “Half of them only pass.”
        - Not borne out: It is half of them, not most.
""",
        "- Borne out: 2 points",
        "    - Further 1: fire brigade Mill Lane (3 segments)",
    ):
        assert part in page
    assert "Did not speak" not in page and "digest" not in page


def test_a_contest_shows_which_source_was_dropped() -> None:
    page = markdown(grounded.contested()[0], [])
    assert "- **s2** notes.md, Notes of the hearing: dropped by a person\n" in page
    assert "baker" not in page


def test_what_a_retriever_found_is_a_source_too() -> None:
    page = markdown(grounded.retrieved()[0], [])
    assert "- **s2** notes.md: 2 segments retrieved · cited in 2 points" in page


def test_an_argument_shows_the_points_that_its_speaker_gave_for_it(tmp_path: Path) -> None:
    files, model = grounding.written(tmp_path / "files"), grounding.pointing()
    begun = grounding.begin("art", "Cows eat plants.", tmp_path / "runs", files, model=model)
    page = markdown(asyncio.run(begun.conduct()), [])
    argument = page.partition("### 0.0 ")[2].partition("### 0.1 ")[0]
    assert "- Evidence:\n    - 1: So says supporter." in argument
    assert "So says attacker." not in argument
    assert "    - 1 (of item 1): So says supporter." in page.partition("### 0.0 ")[0]


def test_the_terminal_shows_the_words_of_each_sentence() -> None:
    run = grounded.run()[0]
    said = seen(transcript(run.tree.nodes["0"], run))
    assert "s1:2.2, traffic.pdf, p. 3: “They want more.”" in said
    for part in (tree(run), result(run)):
        assert "“it came 2 minutes later.” (notes.md)" in flat(seen(part))


def test_every_door_can_print_the_grounds_of_a_verdict() -> None:
    run = grounded.run()[0]
    assert verdict_text(run, "ground") == (
        "Rests on “Shops took 6 % more while the lane was closed.” (traffic.pdf, p. 3)\n"
        "Rests on “It came 2 minutes later.” (notes.md)"
    )
    assert verdict_text(grounded.without_grounds()[0], "ground", "note") == (
        "Note: rests on no evidence of the sources"
    )


def spread(text: str) -> RunRecord:
    """Return a run with ``text`` wherever a source, a speaker or a checker can put one."""
    told = grounded.run()[1]
    for event in told:
        data: dict[str, Any] = event.data
        for one in data.get("segments", []):
            one |= {"text": text, "source": text, "heading": text, "sentences": [[0, len(text)]]}
        for one in data.get("evidence", []):
            one["point"] = text
        for one in data.get("fields", {}).get("marks", []):
            one |= {"reason": text, "verdict": text}
        data |= {"query": text} if "query" in data else {}
    given: Any = told[0].data["input"]
    named: Any = [{**one, "name": text, "title": text} for one in grounded.SOURCES]
    told[0].data["input"] = {**given, "sources": named}
    return grounded.record_of(told)


@pytest.mark.parametrize("hostile", [TRICKS, ""])
def test_no_text_of_a_source_is_markup(hostile: str) -> None:
    page = markdown(spread(hostile), [])
    shown, allowed = tokens(page), tokens(markdown(spread("x"), []))
    kinds = {token.type for token in allowed} | {"hardbreak", "softbreak"}
    assert {token.type for token in shown} <= kinds
    for kind in ("heading_open", "list_item_open", "link_open"):
        assert sum(t.type == kind for t in shown) <= sum(t.type == kind for t in allowed)
    said = " ".join(read(page)[1].split())
    assert said.count(" ".join(clean(hostile).split())) > 10
    for trigger in ("://", "www.", "@example", "\x1b", "\u202e"):
        assert trigger not in page
