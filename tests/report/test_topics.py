"""Comparisons of two papers in the page and the live tree, and what the views make of them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from pypdfium2 import PdfDocument

from dialectree.cli import progress
from dialectree.graphs.tree_of_debate import topics
from dialectree.records import (
    Claim,
    Failure,
    Letter,
    Node,
    RunRecord,
    Topic,
    Tree,
    Turn,
)
from dialectree.report import html, markdown
from dialectree.text import clean
from tests.graphs.tree_of_debate import comparing
from tests.report import sample, sample_tod
from tests.report.test_facts import Shown, both, flat
from tests.report.test_markdown import anchors
from tests.report.test_pages import Page

RUNS = sample_tod.RUNS


@pytest.mark.parametrize("make", RUNS)
def test_every_link_of_the_page_leads_to_a_place_on_it(make: Any) -> None:
    parsed = Page(html(make(), []))
    assert len(parsed.ids) == len(set(parsed.ids))
    assert {link[1:] for link in parsed.links} <= set(parsed.ids)
    assert parsed.open == []


def test_a_sentence_links_to_its_topic_and_to_its_evidence() -> None:
    shown = html(sample_tod.record(), [])
    said = shown[shown.index('id="sentence-2"') : shown.index('id="sentence-3"')]
    for link in ('href="#node-0.0"', 'href="#segment-a:6"', 'href="#segment-b:5"'):
        assert link in said
    segment = shown[shown.index('id="segment-a:6"') : shown.index('id="segment-a:9"')]
    assert 'href="#sentence-2"' in segment and 'href="#node-0.0"' in segment


def test_the_appendix_holds_what_is_cited_with_page_heading_score_and_citers() -> None:
    record = sample_tod.record()
    found = {entry.segment.id: entry for entry in topics.cited(record)}
    assert [*found] == ["a:1", "a:4", "a:6", "a:9", "b:3", "b:5", "b:8"]
    a4 = found["a:4"]
    assert (a4.sentences, a4.claims, a4.counters) == (
        [1],
        [("0", "a1"), ("0.0", "a1")],
        [("0", "b1")],
    )
    assert a4.topics == ["0.0.0", "0.0.1", "0.2"]
    assert a4.found == "0.74 for topic 0, 0.69 for topic 0.0"
    assert a4.reference.place == "ladder2024, p. 3"
    assert [one.id for one in topics.uncited(record)] == ["b:2", "b:11"]


def test_a_key_makes_a_reference_for_latex() -> None:
    record = sample_tod.record()
    segments = record.tree.segments
    assert topics.latex(record, segments["a:4"]) == r"\cite[p.~3]{ladder2024}"
    assert topics.latex(record, segments["b:3"]) == ""
    segments["a:4"].page = None
    assert topics.latex(record, segments["a:4"]) == r"\cite{ladder2024}"
    assert topics.segment(record, "a:4").place == "ladder2024"


def test_the_key_stands_once_for_each_paper() -> None:
    refs = topics.references(sample_tod.record(), ["b:3", "a:6", "a:4", "a:77"])
    assert [(ref.id, ref.place, ref.known) for ref in refs] == [
        ("a:4", "ladder2024, p. 3", True),
        ("a:6", "p. 5", True),
        ("a:77", "", False),
        ("b:3", "p. 4", True),
    ]


Countered = tuple[Claim, list[str] | None]


def claim(id: str, addressed: bool | None, *counter: str) -> Countered:
    paper: Letter = "a" if id[0] == "a" else "b"
    made = Claim(id=id, paper=paper, title=id, description="", evidence=[])
    return made, None if addressed is None else [*counter]


def split(*claims: Countered, relevant: list[str], said: dict[str, dict[str, str]]) -> Tree:
    """A root with claims, and one topic about some; ``said``: what segments do to a claim."""
    made: dict[Letter, list[Claim]] = {"a": [], "b": []}
    for one, _ in claims:
        made[one.paper].append(one)
    counter = {one.id: found for one, found in claims if found is not None}
    data = Topic(claims=made, counter=counter).model_dump(mode="json")
    root = Node(id="0", text="", depth=0, kind="topic", children=["0.0"], data=data)
    for of, done in said.items():
        segments = [{"id": name, verb: "yes"} for name, verb in done.items()]
        turn = {"node": "0", "role": "persona", "speaker": "b", "phase": "relevance"}
        fields = {"claim": of, "segments": segments}
        root.transcript.append(Turn.model_validate({**turn, "fields": fields}))
    about = Topic(relevant=relevant).model_dump(mode="json")
    topic = Node(id="0.0", parent="0", text="", depth=1, kind="topic", data=about)
    return Tree(nodes={"0": root, "0.0": topic})


@pytest.mark.parametrize(
    ("addressed", "does", "column", "remark"),
    [
        (False, {}, "a", "b does not address it"),
        (None, {}, "a", "not known whether b addresses it"),
        (True, {}, "shared", "b speaks to it"),
        (True, {"b:1": "supports"}, "shared", "b supports it"),
        (True, {"b:1": "refutes"}, "a", "b refutes it"),
        (True, {"b:1": "clarifies"}, "a", "b clarifies it"),
        (True, {"b:1": "clarifies", "b:2": "supports"}, "shared", "b supports and clarifies it"),
    ],
)
def test_a_claim_is_shared_where_the_other_paper_supports_it(
    addressed: bool | None, does: dict[str, str], column: str, remark: str
) -> None:
    counter = does or (["b:9"] if addressed else [])
    made = split(
        claim("a1", addressed, *counter), relevant=["a1"], said={"a1": does} if does else {}
    )
    [row] = topics.rows(made)
    assert [one.remark for one in row.column(column)] == [remark]
    assert sum(len(row.column(name)) for name in ("a", "b", "shared")) == 1


def test_a_claim_that_no_topic_is_about_has_a_row_of_its_own() -> None:
    rows = topics.rows(split(claim("a1", False), claim("b1", False), relevant=["b1"], said={}))
    assert [
        (row.topic.id if row.topic else None, len(row.column("a")), len(row.column("b")))
        for row in rows
    ] == [
        ("0.0", 0, 1),
        (None, 1, 0),
    ]


def test_the_table_says_who_conceded_and_keeps_deeper_topics_apart() -> None:
    made = topics.table(sample_tod.record())
    assert made is not None
    assert [row.topic.id for row in made.parts if row.topic] == ["0.0", "0.1"]
    assert [topics.gave_way(row) for row in made.parts] == ["–", "a", "–"]
    assert [row.topic.id for row in made.deeper if row.topic] == ["0.0.0", "0.0.1"]
    assert [c.home for row in made.deeper for c in row.column("a")] == ["0.0", "0.0"]


def test_without_claims_there_is_no_table() -> None:
    assert topics.table(sample_tod.bare()) is None
    assert topics.rows(Tree()) == []


@pytest.mark.parametrize(
    ("role", "who", "dropped", "failed"),
    [
        ("persona", "a", ("present", "revise"), False),
        ("persona", "a", ("revise",), True),
        ("persona", "b", (), False),
        ("moderator", "", (), False),
    ],
)
def test_an_argument_failed_only_where_its_persona_did(
    role: str, who: str, dropped: tuple[str, ...], failed: bool
) -> None:
    node = sample_tod.one_sided().tree.nodes["0.1"]
    node.failures = [Failure(role=role, speaker=who, fault="no reply came")]
    node.notes = [f"0.1/a1/{stage} dropped by a person" for stage in dropped]
    why = "Its argument failed for good." if failed else "A person dropped its argument."
    assert topics.silence(node, "a") == why


@pytest.mark.parametrize("said", sample.HOSTILE)
def test_no_text_becomes_an_element_of_the_page(said: str) -> None:
    shown = Page(html(sample_tod.everywhere(said), []))
    plain = Page(html(sample_tod.everywhere("x"), []))
    folded = {"details", "summary", "div", "p"}
    for element in set(shown.elements) - folded:
        assert shown.elements.count(element) <= plain.elements.count(element)
    assert shown.names <= plain.names | {"class"}
    assert shown.open == []
    assert {link[1:] for link in shown.links} <= set(shown.ids)
    assert " ".join(clean(said).split()) in " ".join(shown.text.split())


@pytest.fixture(scope="module")
def debated() -> RunRecord:
    """A run of the protocol itself, by a scripted model."""
    done = comparing.compare(comparing.personas(), max_depth=2)
    return sample_tod.run([]).model_copy(
        update={
            "tree": done.tree,
            "verdict": done.verdict,
            "status": "answered",
            "input": {
                "question": comparing.TOPIC,
                "papers": [comparing.PAPER_A, comparing.PAPER_B],
            },
        }
    )


@both
def test_what_the_protocol_makes_is_shown(shown: Shown, debated: RunRecord) -> None:
    said = shown(debated)
    for paper in (comparing.PAPER_A, comparing.PAPER_B):
        assert flat(str(paper["title"])) in said
    assert "part 0 of 0.0" in said and "they differ." in said
    assert "confidence" not in said and "conceded at" not in said


def test_a_real_run_has_no_dead_link(debated: RunRecord) -> None:
    parsed = Page(html(debated, []))
    assert {link[1:] for link in parsed.links} <= set(parsed.ids)
    places, links = anchors(markdown(debated, []))
    assert links <= places


def test_the_command_prints_sentences_with_their_references(
    capsys: pytest.CaptureFixture[str],
) -> None:
    progress._say(sample_tod.record(), json=False)
    said = capsys.readouterr().out
    paragraphs = said.split("\n\n")
    assert paragraphs[0] == f"{sample_tod.SHARED} [0.0, 0.1; a:4 (ladder2024, p. 3), b:3 (p. 4)]"
    assert f"{sample_tod.UNGROUNDED} [marked: rests on nothing]" in paragraphs[1]
    assert paragraphs[2] == f"{topics.PROPOSED}:\n- {sample_tod.HYBRID} [0.1]"
    assert paragraphs[3].startswith(f"a: {sample_tod.LADDER} (ladder.pdf")
    assert "Note: paper a conceded at 0.1" in said and "onfidence" not in said


@pytest.mark.parametrize("make", RUNS)
def test_the_command_prints_something_of_every_run(
    make: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    progress._say(make(), json=False)
    said = capsys.readouterr().out
    assert "onfidence" not in said
    assert bool(said) == (make().verdict is not None)


@pytest.mark.parametrize("width", [400, 1280])
def test_in_a_browser_links_jump_and_nothing_overflows(tmp_path: Path, width: int) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium on the path")
    from playwright.sync_api import sync_playwright

    hostile = sample_tod.everywhere("".join(sample.HOSTILE[:12]) + "x" * 400)
    pages = {"record": sample_tod.record(), "hostile": hostile, "short": sample_tod.two_stage()}
    for name, record in pages.items():
        (tmp_path / f"{name}.html").write_text(html(record, []), "utf-8", "replace")
    asked, complaints = list[str](), list[str]()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-quic"]
        )
        tab = browser.new_page(viewport={"width": width, "height": 800})
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("dialog", lambda dialog: complaints.append(dialog.message))
        for name in pages:
            tab.goto((tmp_path / f"{name}.html").as_uri())
            for opened in (False, True):
                if opened:
                    tab.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
                assert tab.evaluate("document.documentElement.scrollWidth") == width
        tab.goto((tmp_path / "record.html").as_uri())
        for start, target in (
            ("#sentence-2 a[href='#segment-a:6']", "segment-a:6"),
            ("#sentence-2 a[href='#node-0.0']", "node-0.0"),
            ("[id='segment-b:5'] a[href='#sentence-2']", "sentence-2"),
            ("#contributions a[href='#claim-0-a1']", "claim-0-a1"),
        ):
            tab.click(start)
            box = tab.evaluate(f"document.getElementById('{target}').getBoundingClientRect().top")
            assert tab.evaluate("document.querySelector(':target').id") == target
            assert -1 <= box < 800
        browser.close()
    assert {url.rpartition("/")[2].partition("#")[0] for url in asked} == {
        f"{name}.html" for name in pages
    }
    assert complaints == []


ABSTRACT = "Orbits are estimated by climbing rungs."


def with_long_abstracts(record: RunRecord) -> RunRecord:
    given: Any = record.input["papers"]
    papers = [{**paper, "abstract": f"{ABSTRACT} " * 80} for paper in given]
    return record.model_copy(update={"input": {**record.input, "papers": papers}})


def first_page(printed: bytes) -> str:
    """The text of the first page of a PDF file, on one line."""
    return " ".join(PdfDocument(printed)[0].get_textpage().get_text_range().split())


def test_on_paper_the_comparison_begins_on_the_first_page(tmp_path: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium on the path")
    from playwright.sync_api import sync_playwright

    record = with_long_abstracts(sample_tod.record())
    (tmp_path / "page.html").write_text(html(record, []), "utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-quic"]
        )
        tab = browser.new_page()
        tab.goto((tmp_path / "page.html").as_uri())
        folded = first_page(tab.pdf(format="A4"))
        tab.evaluate("document.querySelectorAll('.abstract').forEach(one => one.open = true)")
        opened = first_page(tab.pdf(format="A4"))
        browser.close()
    assert "What they share" in folded and ABSTRACT not in folded
    assert "printed if it is open" in folded and "printed if it is open" not in opened
    assert ABSTRACT in opened


def test_links_in_brackets_are_told_from_text_by_more_than_colour() -> None:
    said = html(sample_tod.record(), [])
    rules = said[said.index("<style>") : said.index("</style>")]
    removed = re.findall(r"([^{}]*)\{[^{}]*text-decoration: none", rules)
    assert "refs" in said and not any(" a" in rule and "refs" in rule for rule in removed)
