"""A memo: it quotes what the record has, says the same in each format, and takes texts for texts."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest
from docx import Document
from hypothesis import given, settings
from hypothesis import strategies as st

from dialectree.errors import MissingPackage
from dialectree.records import Calibrated, RunRecord, Verdict
from dialectree.records.folder import RunFolder
from dialectree.records.run import RunStatus
from dialectree.report.citations import CitedNotes
from dialectree.report.excerpts import excerpt, first_sentences
from dialectree.report.figures import format_percent
from dialectree.report.memo import make_memo
from dialectree.report.memo_blocks import Memo
from dialectree.report.memo_files import MemoFormat, write_memo
from dialectree.text import clean
from tests.report.recorded import (
    DEMOS,
    FOLDERS,
    HOSTILE,
    ROOT,
    Page,
    everywhere,
    failed,
    prefix,
    read,
    record,
    tokens,
    unresolved,
)
from tests.report.test_grounds import spread
from tests.running.test_old_runs import OLD
from tests.web import grounded

steady = settings(derandomize=True, database=None, deadline=None, max_examples=40)
TRICKS = "\n".join(text for text in HOSTILE if len(text) < 1_000)
MOST_WORDS = 900
"""Words of two pages."""
MOST_CHARACTERS = 16_000
"""Characters of a memo of which every text is as long as it may be."""


def markdown(run: RunRecord) -> str:
    return write_memo(run).content.decode()


def page(run: RunRecord) -> str:
    return write_memo(run, "html").content.decode()


def document(run: RunRecord) -> str:
    """Return the text of the memo for Word, in reading order."""
    found = Document(io.BytesIO(write_memo(run, "docx").content))
    cells = (cell.text for table in found.tables for row in table.rows for cell in row.cells)
    return "\n".join([*(paragraph.text for paragraph in found.paragraphs), *cells])


def flat(text: str) -> str:
    return " ".join(clean(text).replace("\u2060", "").split())


def texts(memo: Memo) -> list[str]:
    """Return every text of a memo, on one line each."""
    lines = [span.text for block in memo.blocks for line in block.lines for span in line.spans]
    notes = [text for note in memo.notes for text in (note.place, note.quote, note.id)]
    facts = [text for fact in memo.facts for text in fact]
    return [*map(flat, [memo.title, memo.subtitle, *lines, *notes, *facts])]


def sentence(run: RunRecord, id: str) -> str:
    """Return the sentence or the segment called ``id``, straight from the record."""
    if id in run.tree.segments:
        return run.tree.segments[id].text
    segment, _, number = id.rpartition(".")
    start, end = run.tree.segments[segment].sentences[int(number) - 1]
    return run.tree.segments[segment].text[start:end]


def check_notes(run: RunRecord) -> int:
    """Assert that each note quotes the record and that each number leads to a note; return their number."""
    memo = make_memo(run)
    for number, note in enumerate(memo.notes, 1):
        held = sentence(run, note.id)
        whole = note.id not in run.tree.segments and not note.cut
        assert note.number == number and note.quote.strip()
        assert held == note.quote if whole else note.quote in held
        segment = run.tree.segments[note.id if note.id in run.tree.segments else note.id.rpartition(".")[0]]
        assert segment.page is None or f"p. {segment.page}" in note.place
        assert segment.source in note.place
    cited = {number for block in memo.blocks for line in block.lines for number in line.notes}
    assert cited == {note.number for note in memo.notes}
    return len(memo.notes)


@steady
@given(st.integers(0, 10_000))
def test_every_note_quotes_a_sentence_that_the_record_has(seed: int) -> None:
    check_notes(grounded.drawn(Random(seed))[0])


@pytest.mark.parametrize("name", DEMOS)
def test_the_notes_of_a_demonstration_quote_its_documents(name: str) -> None:
    run = record(name)
    assert check_notes(run) == 0 or run.tree.segments


def test_grounded_debates_and_papers_have_notes_with_document_and_page() -> None:
    assert check_notes(grounded.run()[0]) == 6 and check_notes(record("tod")) > 5
    assert "traffic.pdf, Shops, p. 3: “They want more.” (s1:2.2)" in markdown(grounded.run()[0])
    assert "falls only to 12 percent.” (a:4)" in markdown(record("tod"))


ids = st.sampled_from(
    ["s1:1.1", "s1:1.2", "s1:1.3", "s1:9.1", "s1:1", "a:1", "s1", "", ".", "s1:1.x", "s1:1.0"]
)


@steady
@given(
    st.lists(ids), st.text(), st.text(), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=3)
)
def test_a_citation_that_leads_nowhere_is_no_note(
    cited: list[str], text: str, citing: str, spans: list[tuple[int, int]]
) -> None:
    run = grounded.run()[0]
    segment: dict[str, Any] = {"id": "s1:1", "text": text, "sentences": spans, "source": "a.md"}
    run.tree.segments = {"s1:1": run.tree.segments["s1:1"].model_validate(segment)}
    citations = CitedNotes(run)
    numbers = citations.cite(cited, citing)
    assert [note.number for note in citations.notes] == [*range(1, len(citations.notes) + 1)] == [*numbers]
    for note in citations.notes:
        assert note.id in cited and note.quote.strip() and note.quote in sentence(run, note.id)


@steady
@given(st.text(), st.text(), st.integers(1, 80))
def test_an_excerpt_is_a_part_of_its_text(passage: str, citing: str, limit: int) -> None:
    part = excerpt(passage, citing, limit)
    assert part.text in passage and len(part.text) <= limit
    assert len(first_sentences(passage, 2, limit)) <= limit + 1


@pytest.mark.parametrize("name", DEMOS)
def test_all_formats_have_the_same_texts(name: str) -> None:
    run = record(name)
    shown = [flat(read(markdown(run))[1]), flat(Page(page(run)).text), flat(document(run))]
    for text in texts(make_memo(run)):
        assert all(text in one for one in shown), text


@pytest.mark.parametrize("name", DEMOS)
@pytest.mark.parametrize("hostile", [TRICKS, "", HOSTILE[-1]])
def test_no_text_of_a_record_is_markup_in_a_memo(name: str, hostile: str) -> None:
    check_inert(everywhere(name, hostile), everywhere(name, "x"))


@pytest.mark.parametrize("hostile", [TRICKS, ""])
def test_no_text_of_a_source_is_markup_in_a_memo(hostile: str) -> None:
    check_inert(spread(hostile), spread("x"))


def check_inert(hostile: RunRecord, harmless: RunRecord) -> None:
    """Assert that the texts of ``hostile`` are texts in all formats of its memo."""
    text = markdown(hostile)
    kinds = {"bullet_list_open", "list_item_open", "ordered_list_open", "blockquote_open", "strong_open"}
    kinds |= {"em_open", "heading_open", "paragraph_open", "hardbreak", "softbreak", "text", "inline"}
    kinds |= {kind.replace("_open", "_close") for kind in kinds}
    assert {token.type for token in tokens(text)} <= kinds | {"text_special"}
    headings = [
        sum(token.type == "heading_open" for token in tokens(one)) for one in (text, markdown(harmless))
    ]
    assert headings[0] <= headings[1]
    for trigger in ("://", "www.", "@example", "mailto:", "\x1b", "\x07", "\x9b", "\u202e"):
        assert trigger not in text
    shown = Page(page(hostile))
    assert {*shown.elements} <= {
        *("html", "head", "meta", "title", "style", "body", "main", "p", "h1", "h2", "h3", "ul", "ol"),
        *("li", "b", "sup", "a", "q", "span", "dl", "div", "dt", "dd", "blockquote"),
    }
    assert shown.elements.count("style") == shown.elements.count("main") == 1
    assert not [name for name in shown.names if name.startswith("on") or name == "style"]
    assert all(link.startswith("#note-") and link[1:] in shown.ids for link in shown.links)
    with zipfile.ZipFile(io.BytesIO(write_memo(hostile, "docx").content)) as file:
        parts = [name for name in file.namelist() if name.endswith((".xml", ".rels"))]
        assert all(ElementTree.fromstring(file.read(name)) is not None for name in parts)
        links = file.read("word/_rels/document.xml.rels").decode()
        assert "External" not in links
    assert document(hostile)


def test_the_page_lets_nothing_run_and_asks_nobody() -> None:
    text = page(record("art"))
    policy = text.partition('http-equiv="Content-Security-Policy" content="')[2].partition('"')[0]
    rules = [rule.replace("&#39;", "'") for rule in policy.split("; ")]
    assert rules[0] == "default-src 'none'" and rules[1].startswith("style-src 'sha256-")
    assert "unsafe" not in policy and "<script" not in text and "http:" not in text


PLACES = [
    *FOLDERS.values(),
    *sorted((ROOT / "graphs").glob("*/demo*")),
    *sorted((ROOT / "examples/recorded").glob("*/")),
]
PLACES += sorted(OLD.glob("*/*/"))


@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place.parent.name}-{place.name}")
def test_every_recorded_run_has_a_memo_of_two_pages_at_most(place: Path) -> None:
    text = markdown(RunFolder(place).record())
    assert "## How it was made" in text and len(text.split()) <= MOST_WORDS


@pytest.mark.parametrize("name", DEMOS)
def test_a_memo_stays_short_whatever_was_said(name: str) -> None:
    run = everywhere(name, "It is so, and so. " * 2_000)
    assert len(markdown(run)) <= MOST_CHARACTERS


# What it says


def test_the_answer_stands_with_its_figure() -> None:
    assert "**True** · 65 % probability\n" in markdown(record("art"))
    assert "**Option B: Random UUIDs** · confidence 0.78\n" in markdown(record("rsd"))
    run = record("art")
    assert run.verdict is not None
    run.verdict.answer, run.verdict.confidence = "False", 0.1
    run.verdict.calibrated = Calibrated(confidence=0.2, n=40, brier_before=0.25, brier_after=0.125)
    text = markdown(run)
    assert (
        "**False** · 10 % probability that the claim is true as stated; 0.20 calibrated (n &#61; 40)" in text
    )
    assert "Brier score 0.250 before, 0.125 after" in text and "nobody has measured" not in text


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.65, "65 %"), (0.5, "50 %"), (0.996, "99.6 %"), (1.0, "100 %"), (0.0, "0 %"), (0.000001, "0.0001 %")],
)
def test_a_percentage_does_not_round_to_certainty(value: float, shown: str) -> None:
    assert format_percent(value) == shown


def test_the_strongest_arguments_come_first_and_those_that_do_not_count_are_absent() -> None:
    run = record("art")
    run.tree.nodes["0.0"].dropped = True
    text = markdown(run)
    assert run.tree.nodes["0.0"].text not in text and run.tree.nodes["0.1"].text in text
    assert text.index("Strength 0.45") < text.index("Strength 0.30")


def test_parts_topics_and_sides_are_told_by_what_the_record_has() -> None:
    assert "— No, not in ordinary light" in markdown(record("tsd"))
    assert "(confidence 0.80)" in markdown(record("tsd"))
    papers = markdown(record("tod"))
    for part in ("## What both papers share", "## Where they differ", "## Topic by topic", "(concedes)"):
        assert part in papers
    sides = markdown(record("rsd"))
    assert "### Debater B: Random UUIDs (0.75 sure, won)" in sides and "**Unsure of:** I assumed" in sides
    run = record("rsd")
    run.declared = {}
    assert "Both agree that permission checks" in markdown(run)


@pytest.mark.parametrize(
    ("source", "meaning"),
    [
        ("judge", "the judge’s own statement"),
        ("jury", "the mean of what the judges"),
        ("agreement", "the share of the votes"),
        ("debater_a", "the debater a’s own statement"),
        ("tea leaves", "as the record names it: tea leaves"),
        (None, "as the record names it: unknown"),
    ],
)
def test_the_source_of_the_confidence_is_explained(source: str | None, meaning: str) -> None:
    run = record("rsd")
    assert run.verdict is not None
    run.verdict.confidence_source = source
    assert meaning in markdown(run) and "It is not calibrated" in markdown(run)
    run.verdict.confidence = None
    assert meaning not in markdown(run)


def test_replies_by_hand_and_models_at_chance_are_named_at_the_top_and_with_the_figure() -> None:
    run = record("rsd")
    text = markdown(run)
    assert (
        text.index("**An illustration.") < text.index("## Answer") < text.index("A person wrote the replies")
    )
    run.models, run.demonstration = {"judge": "local:smollm2"}, True
    text = markdown(run)
    assert text.index("**A demonstration.") < text.index("## Answer") < text.index("answers at chance, so")


def test_a_contest_is_told_with_what_was_before_and_after() -> None:
    text = markdown(grounded.contested()[0])
    assert "## What was contested" in text and "no longer rests on s2" in text
    assert "before" in text and "What was contested" not in markdown(grounded.run()[0])


@pytest.mark.parametrize("name", DEMOS)
@pytest.mark.parametrize("format", ["md", "html", "docx"])
def test_unfinished_and_failed_runs_have_a_memo_that_says_so(name: str, format: MemoFormat) -> None:
    states: list[tuple[RunRecord, RunStatus]] = [(prefix(name, 3), "partial"), (failed(name), "degraded")]
    states.append((unresolved(name, "nobody knows"), "unresolved"))
    for run, status in states:
        assert run.status == status and write_memo(run, format).content
    assert "Broken off" in markdown(prefix(name, 3)) and "nobody knows" in markdown(
        unresolved(name, "nobody knows")
    )
    run = record(name).model_copy(
        update={"verdict": Verdict(answer="", confidence=0.5), "tree": prefix(name, 0).tree}
    )
    assert write_memo(run, format).content


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "docx", None)
    with pytest.raises(MissingPackage, match=r"pip install 'dialectree\[memo\]'"):
        write_memo(record("art"), "docx")
