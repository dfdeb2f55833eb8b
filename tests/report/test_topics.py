"""Comparisons of two papers in the page, in Markdown and in the terminal."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue
from pypdfium2 import PdfDocument
from rich.cells import cell_len

from dialectree.cli import progress
from dialectree.records import (
    Claim,
    Event,
    Failure,
    Letter,
    Node,
    RunRecord,
    Topic,
    Tree,
    Turn,
    topic_of,
)
from dialectree.report import contributions, evidence, html, markdown, topics, transcript, tree
from dialectree.report.picture import remark
from dialectree.report.words import clean
from tests.graphs.tree_of_debate import comparing
from tests.report import sample, sample_tod
from tests.report.test_exchange import Shown, everywhere, flat, page, terminal, text
from tests.report.test_pages import GFM as MARKDOWN
from tests.report.test_pages import Page, count, flattened, read
from tests.report.test_terminal import frame, seen, told

RUNS = sample_tod.RUNS


def anchors(said: str) -> tuple[set[str], set[str]]:
    """The places of a Markdown page, and where its links lead."""
    tokens = flattened(MARKDOWN.parse(said))
    links = {str(t.attrs["href"])[1:] for t in tokens if t.type == "link_open"}
    return set(re.findall(r'<a id="([^"]*)"></a>', said)), links


@everywhere
def test_the_summary_is_two_paragraphs_and_proposals_stand_apart(shown: Shown) -> None:
    said = flat(shown(sample_tod.record()))
    order = ["What they share", sample_tod.SHARED, "What sets them apart", sample_tod.FASTER]
    order += [sample_tod.UNGROUNDED, topics.PROPOSED, sample_tod.HYBRID]
    first = said.index("What they share")
    places = [said.index(part, first) for part in order]
    assert places == sorted(places)


@everywhere
def test_a_comparison_has_no_confidence(shown: Shown) -> None:
    for make in RUNS:
        assert "onfidence" not in shown(make())
        assert "not determined" not in shown(make())


def test_references_stand_in_brackets_behind_their_sentence() -> None:
    made = topics.summary(sample_tod.record())
    assert made is not None
    refs = [one.references for _, part in made.paragraphs for one in part]
    assert refs[:2] == [
        "[0.0, 0.1; a:4 (ladder2024, p. 3), b:3 (p. 4)]",
        "[0.0; a:6 (ladder2024, p. 5), b:5 (p. 4)]",
    ]
    assert refs[2] == ""
    assert f"{sample_tod.FASTER} {refs[1]}" in terminal(sample_tod.record())


@everywhere
def test_a_sentence_with_faults_is_marked_and_says_why(shown: Shown) -> None:
    said = flat(shown(sample_tod.record()))
    for wrong, fault in (
        (sample_tod.UNGROUNDED, sample_tod.NO_GROUND),
        (sample_tod.MISQUOTED, sample_tod.MISQUOTE),
    ):
        assert fault in said[said.index(wrong) :]
    assert "2 of 5 sentences are marked" in said
    assert html(sample_tod.record(), []).count('class="sentence faulty"') == 2


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


@pytest.mark.parametrize("make", RUNS)
def test_every_link_of_the_markdown_leads_to_an_anchor(make: Any) -> None:
    places, links = anchors(markdown(make(), []))
    assert links <= places
    assert make is not sample_tod.record or {"segment-a-6", "node-0.0.1", "claim-0-a1"} <= links


@everywhere
def test_every_topic_shows_both_last_words_and_who_concedes(shown: Shown) -> None:
    said = flat(shown(sample_tod.record()))
    for part in ("Linear beats n log n", "The bound is worth the price", "No bound, admittedly"):
        assert part in said
    assert "a concedes" in said and "b concedes" in said and "neither concedes" in said
    assert "Linear beats n log n" in said[: said.index("The bound is worth the price")]


def test_arguments_stand_side_by_side_where_there_is_room() -> None:
    rows = seen(tree(sample_tod.record()), 100).splitlines()
    assert any("a Linear beats n log n" in row and "b The bound is worth" in row for row in rows)
    assert "| **Linear beats n log n** | **The bound is worth the price** |" in markdown(
        sample_tod.record(), []
    )
    narrow = seen(tree(sample_tod.record()), 40).splitlines()
    assert not any("a Linear" in row and "b The bound" in row for row in narrow)


@everywhere
def test_the_exchange_and_the_decision_are_there(shown: Shown) -> None:
    said = flat(shown(sample_tod.record()))
    for part in ("Present", "a presents at 0.0", "Is that the worst case?", "b responds at 0.1"):
        assert part in said
    assert "not split: one paper has clearly won" in said
    assert "ot split: the debate got no further" in said
    assert "ot split: the depth limit was reached" in said
    assert "The bound settles it." in said
    assert "yes, but nobody asked one: it counts as no" in said


@everywhere
def test_a_topic_names_the_open_questions_that_led_to_it(shown: Shown) -> None:
    made = sample_tod.record()
    sample_tod.change(made.tree.nodes["0.0.0"], raised_by=["What of the worst case then?"])
    assert flat(shown(made)).lower().count("raised by") == 1
    assert "What of the worst case then?" in flat(shown(made))


@everywhere
def test_claims_show_their_evidence_and_what_the_other_paper_does_to_them(shown: Shown) -> None:
    said = flat(shown(sample_tod.record()))
    assert "b does not address it" in said
    assert "ot known whether a addresses it" in said
    assert "refutes" in said and "clarifies" in said
    assert "eft out: b:2" in re.sub(r"[\[\]]|\(#[^)]*\)", "", said)


@everywhere
def test_papers_show_their_title_file_key_and_how_much_of_them_is_cited(shown: Shown) -> None:
    said = flat(shown(sample_tod.record()))
    assert sample_tod.LADDER in said and "ladder.pdf · ladder2024 · 4 segments cited" in said
    assert sample_tod.MESH in said and "mesh.tex · 3 segments cited" in said
    assert "the whole paper" not in said


def test_the_appendix_holds_what_is_cited_with_page_heading_score_and_citers() -> None:
    record = sample_tod.record()
    found = {entry.segment.id: entry for entry in evidence.cited(record)}
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
    assert [one.id for one in evidence.uncited(record)] == ["b:2", "b:11"]
    for shown in (page(record), text(record)):
        assert "The ladder" in shown and "Retrieved: 0.74" in shown.replace(
            "retrieved", "Retrieved"
        )


def test_a_key_makes_a_reference_for_latex() -> None:
    record = sample_tod.record()
    segments = record.tree.segments
    assert evidence.latex(record, segments["a:4"]) == r"\cite[p.~3]{ladder2024}"
    assert evidence.latex(record, segments["b:3"]) == ""
    segments["a:4"].page = None
    assert evidence.latex(record, segments["a:4"]) == r"\cite{ladder2024}"
    assert evidence.segment(record, "a:4").place == "ladder2024"


def test_the_key_stands_once_for_each_paper() -> None:
    refs = evidence.segments(sample_tod.record(), ["b:3", "a:6", "a:4", "a:77"])
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
        turn = {"role": "persona", "who": "b", "stage": "relevance", "step": 0}
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
    [row] = contributions.rows(made)
    assert [one.remark for one in row.column(column)] == [remark]
    assert sum(len(row.column(name)) for name in ("a", "b", "shared")) == 1


def test_a_claim_that_no_topic_is_about_has_a_row_of_its_own() -> None:
    rows = contributions.rows(
        split(claim("a1", False), claim("b1", False), relevant=["b1"], said={})
    )
    assert [(row.topic.id if row.topic else None, len(row.a), len(row.b)) for row in rows] == [
        ("0.0", 0, 1),
        (None, 1, 0),
    ]


def test_the_table_says_who_conceded_and_keeps_deeper_topics_apart() -> None:
    made = topics.table(sample_tod.record())
    assert made is not None
    assert [row.topic.id for row in made.parts if row.topic] == ["0.0", "0.1"]
    assert [topics.gave_way(row) for row in made.parts] == ["–", "a", "–"]
    assert [row.topic.id for row in made.deeper if row.topic] == ["0.0.0", "0.0.1"]
    assert [c.home for row in made.deeper for c in row.a] == ["0.0", "0.0"]


@everywhere
def test_the_table_names_segments_in_the_order_of_the_paper(shown: Shown) -> None:
    run = sample_tod.record()
    before = shown(run)
    root = run.tree.nodes["0"]
    turned = {name: found[::-1] for name, found in topic_of(root).counter.items()}
    sample_tod.change(root, counter=turned)
    assert shown(run) == before


def test_without_claims_there_is_no_table() -> None:
    assert topics.table(sample_tod.bare()) is None
    assert contributions.rows(Tree()) == []
    assert "Contributions" not in page(sample_tod.bare())


@everywhere
@pytest.mark.parametrize("make", RUNS)
def test_every_run_is_shown_however_it_ended(shown: Shown, make: Any) -> None:
    assert sample_tod.TOPIC in flat(shown(make()))


@everywhere
def test_a_run_without_a_summary_says_so(shown: Shown) -> None:
    assert "There is no comparison yet." in flat(shown(sample_tod.broken_off()))
    assert "The debate ended without a comparison" in flat(shown(sample_tod.unsummarised()))
    assert "no reply came" in flat(shown(sample_tod.unsplit()))


@everywhere
def test_a_missing_argument_leaves_the_other_one(shown: Shown) -> None:
    said = flat(shown(sample_tod.one_sided()))
    assert "Its argument failed for good." in said
    assert "Every orbit has a bound" in said and "only b argues" in said
    assert "Persona a failed: no reply came" in said
    assert "o argument" in said


@pytest.mark.parametrize(
    ("role", "who", "dropped", "failed"),
    [
        ("persona", "a", ("present", "revise"), False),
        ("persona", "a", ("revise",), True),
        ("persona", "b", (), False),
        ("moderator", "", (), False),
    ],
)
@everywhere
def test_an_argument_failed_only_where_its_persona_did(
    shown: Shown, role: str, who: str, dropped: tuple[str, ...], failed: bool
) -> None:
    made = sample_tod.one_sided()
    node = made.tree.nodes["0.1"]
    node.failures = [Failure(role=role, who=who, fault="no reply came")]
    node.notes = [f"0.1/a1/{stage} dropped by a person" for stage in dropped]
    said = flat(shown(made))
    assert ("Its argument failed for good." in said) is failed
    assert ("A person dropped its argument." in said) is not failed


@everywhere
def test_the_baselines_show_their_text_and_no_debate(shown: Shown) -> None:
    said = flat(shown(sample_tod.two_stage()))
    assert "Both are fast. Only b has bounds." in said
    assert "Paper a in short." in said and "Paper b in short." in said
    assert "A summary of each paper, then a comparison, without debate" in said
    assert "Both papers compared in one step" in flat(shown(sample_tod.single_stage()))


@everywhere
def test_a_verdict_of_a_person_stands_in_the_place_of_the_sentences(shown: Shown) -> None:
    said = flat(shown(sample_tod.ruled_by_a_person()))
    assert "A person says: they are much alike." in said
    assert "What sets them apart" not in said


@everywhere
def test_words_that_a_person_put_into_a_paper_are_called_so(shown: Shown) -> None:
    said = flat(shown(sample_tod.amended()))
    assert shown is terminal or "In a person’s words, not the paper’s." in said


@everywhere
@pytest.mark.parametrize("demonstration", [True, False])
def test_a_demonstration_is_called_one(shown: Shown, demonstration: bool) -> None:
    record = sample_tod.record()
    record.demonstration = demonstration
    assert ("not what is true" in flat(shown(record))) == demonstration


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


@pytest.mark.parametrize("said", sample.HOSTILE)
def test_no_text_becomes_markup_of_the_markdown(said: str) -> None:
    plain = markdown(sample_tod.everywhere("x"), [])
    shown = markdown(sample_tod.everywhere(said), [])
    assert read(shown)[0] <= read(plain)[0] | {"hardbreak", "softbreak"}
    for kind in ("heading_open", "list_item_open", "tr_open", "td_open", "hr"):
        assert count(shown, kind) <= count(plain, kind)
    assert {t.content for t in flattened(MARKDOWN.parse(shown)) if t.type == "html_inline"} <= {
        t.content for t in flattened(MARKDOWN.parse(plain)) if t.type == "html_inline"
    }
    for trigger in ("://", "www.", "@example", "mailto:"):
        assert trigger not in shown
    shown.encode()


@pytest.mark.parametrize("said", [*sample.HOSTILE, "漢字" * 300])
@pytest.mark.parametrize("width", [100, 60, 24])
def test_no_text_steers_the_terminal_or_leaves_its_column(said: str, width: int) -> None:
    record = sample_tod.everywhere(said)
    for part in (tree(record), *(transcript(n, record) for n in record.tree.nodes.values())):
        shown = seen(part, width)
        assert all(c == "\n" or c.isprintable() or c == "\u200d" for c in shown)
        assert max(map(cell_len, shown.splitlines())) <= width


@pytest.mark.parametrize("make", RUNS)
def test_a_topic_is_shown_without_its_record(make: Any) -> None:
    for node in make().tree.nodes.values():
        assert seen(transcript(node))


def test_a_record_of_odd_shapes_is_shown() -> None:
    record = sample_tod.record()
    record.input = {"question": "Q", "papers": ["no paper", {"title": 7}]}
    for node in record.tree.nodes.values():
        for turn in node.transcript:
            odd: dict[str, JsonValue] = {
                "description": None,
                "evidence": "a:1",
                "questions": [{"n": 1}],
                "concedes": 3,
            }
            turn.fields = {**odd, "claim": [], "segments": [None, {"id": []}], "clear_winner": "?"}
    for shown in (page, text, terminal):
        assert "Q" in shown(record)


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


@everywhere
def test_what_the_protocol_makes_is_shown(shown: Shown, debated: RunRecord) -> None:
    said = flat(shown(debated))
    assert comparing.PAPER_A["title"] in said and comparing.PAPER_B["title"] in said
    assert "part 0 of 0.0" in said and "They differ." in said
    assert "onfidence" not in said and "conceded at" not in said


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


def grown(*events: Event) -> list[Event]:
    start = sample_tod.opened("0", sample_tod.TOPIC)
    return [start, *events]


def doing(events: list[Event], node: str) -> str:
    """What the live tree says of a node."""
    rows = frame(events, height=40, width=100).splitlines()
    row = next(row for row in rows if row.split()[:1] == [node])
    return " ".join(row.split()[-3:])


def test_the_live_tree_follows_a_comparison() -> None:
    claims = [e for e in sample_tod.deliberated() if e.kind != "branched"]
    assert doing(grown(*claims), "0").endswith("deliberating")
    opened = [sample_tod.opened(f"0.{n}", f"part {n}") for n in range(3)]
    branched = told("branched", children=["0.0", "0.1", "0.2"], kind="topic")
    begun = grown(*claims, *opened, branched)
    assert doing(begun, "0") == "of 3 topics"
    said = sample_tod.spoke("0.1", "a", "respond", description="hm")
    assert doing([*begun, said], "0.1").endswith("responding, a")


def test_the_live_tree_ends_with_who_concedes() -> None:
    debates = sample_tod.debates()
    events = grown(*sample_tod.deliberated(), *debates)
    assert doing(events, "0.1").endswith("a concedes")
    assert doing(events, "0.0").endswith("neither concedes")
    assert doing(events, "0").endswith("summary")
    ended = [*events, *sample_tod.summarised()]
    assert doing(ended, "0").endswith("compared")
    assert "6 of 6 settled" in frame(ended, width=100)


def test_the_live_tree_settles_a_debate_that_is_not_split() -> None:
    merged = [
        e for e in sample_tod.debates() if e.node == "0.2" and e.kind in ("opened", "settled")
    ]
    branched = told("branched", children=["0.2"], kind="topic")
    events = grown(branched, *merged)
    assert doing(events, "0.2").endswith("with the moderator")
    assert "2 of 2 settled" in frame([*events, *sample_tod.summarised()], width=100)


def test_the_live_tree_shows_a_topic_without_an_argument() -> None:
    events = grown(
        sample_tod.opened("0.0", "part"),
        told("branched", children=["0.0"], kind="topic"),
        told("settled", "0.0", verdict=None, status="missing", data={"positions": []}),
        told("branched", "0.0", children=[], why="failed"),
    )
    assert doing(events, "0.0").endswith("no answer")


def test_a_failed_persona_is_named() -> None:
    failed = told("failed", "0.1", role="persona", who="b", fault="no reply came")
    assert remark(failed) == "0.1: Persona b failed: no reply came"


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
    return flat(PdfDocument(printed)[0].get_textpage().get_text_range())


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
