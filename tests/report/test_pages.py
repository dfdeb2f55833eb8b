"""The page and its Markdown twin: all of the record, and nothing that a text could smuggle in."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pydantic import JsonValue

from dialectree.records import Call, Failure, Node, RunRecord, Tree, Turn, Verdict
from dialectree.report import html, markdown, view
from dialectree.report.markdown_text import escaped, lines
from dialectree.report.words import clean, duration
from tests.report import sample

Render = Callable[[RunRecord, Sequence[Call]], str]

steady = settings(derandomize=True, database=None, deadline=None, max_examples=60)


class Page(HTMLParser):
    """What a browser would make of a page: its elements, its attributes, its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.names: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []
        self.said: list[str] = []
        self.feed(text)
        self.close()
        self.text = "".join(self.said)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.names |= {name for name, _ in attrs}
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.said.append(data)


ORDINARY = Page(html(sample.degraded(), sample.calls()))
"""Its elements and attributes are all that any page may hold, besides long texts folded away."""


def test_a_page_is_one_file_that_asks_for_nothing() -> None:
    page = html(sample.record(), sample.calls())
    parsed = Page(page)
    assert page.startswith("<!DOCTYPE html>")
    assert "default-src 'none'; style-src 'unsafe-inline'" in page
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(parsed.elements)
    assert "url(" not in page and "@import" not in page
    assert parsed.open == []


def test_every_link_leads_to_a_place_on_the_page() -> None:
    parsed = Page(html(sample.record(), sample.calls()))
    assert len(parsed.ids) == len(set(parsed.ids))
    assert {"node-0", "node-0.0", "node-0.1"} <= set(parsed.ids)
    assert {link[1:] for link in parsed.links} <= set(parsed.ids)


@pytest.mark.parametrize("render", [html, markdown])
def test_every_turn_is_shown_whoever_won(render: Render) -> None:
    page = render(sample.record(), sample.calls())
    for who, step in zip("BABA", range(4), strict=True):
        for said in ("early", "late", "only"):
            assert f"{said} claim {who}{step}" in page
            assert f"{said} support {who}{step}" in page
    assert "first by concise" in page and "second by full" in page


@pytest.mark.parametrize("render", [html, markdown])
def test_a_second_pass_stands_beside_the_first(render: Render) -> None:
    page = render(sample.record(), sample.calls())
    assert "Second pass: debate" in page and "Second pass: synthesis" in page
    assert page.index("early claim") < page.index("Second pass: debate") < page.index("late claim")
    assert "Yes." in page and "20%" in page


def test_debaters_face_each_other_round_by_round() -> None:
    page = html(sample.record(), [])
    leaf = page[page.index('id="node-0.1"') :]
    assert leaf.index("only claim A1") < leaf.index("only claim B0")
    assert leaf.count('class="facing"') == 2
    assert leaf.index("won</span>") < leaf.index("only claim A1")
    assert leaf.index("only claim A1") < leaf.index("spoke first") < leaf.index("only claim B0")


def test_scores_stand_beside_the_parts_that_they_rate() -> None:
    page = html(sample.record(), [])
    rated = page[page.index("Difficulty") :]
    assert rated.index(sample.FIRST) < rated.index("25%") < rated.index(sample.SECOND)
    assert 'href="#node-0.1">→ 0.1</a>' in rated


def test_parts_that_ask_the_same_each_lead_to_their_own_question() -> None:
    twins = sample.record().model_dump_json().replace(sample.SECOND, sample.FIRST)
    page = html(RunRecord.model_validate_json(twins), [])
    rated = page[page.index("Difficulty") : page.index("Synthesis")]
    assert rated.index("→ 0.0</a>") < rated.index("→ 0.1</a>")


def test_the_verdict_says_how_sure_and_whose_figure_that_is() -> None:
    parsed = Page(html(sample.record(), []))
    assert "36%confidence · source: judges" in parsed.text
    assert "90% by the judge of this question × 40% of its weakest part, 0.0." in parsed.text
    assert "source: judges" in markdown(sample.record(), [])


@pytest.mark.parametrize("render", [html, markdown])
def test_a_degraded_run_says_what_failed_and_where(render: Render) -> None:
    page = render(sample.degraded(), [])
    assert "1 part of the debate failed for good" in page
    assert "Leaf debater failed: no reply came" in page


@pytest.mark.parametrize("render", [html, markdown])
def test_a_partial_run_shows_what_there_is_and_how_to_go_on(render: Render) -> None:
    page = render(sample.partial(), sample.calls())
    assert (
        "dialectree resume RUN, where RUN is the path of the folder 20260131-120000-abc123." in page
    )
    assert "the budget of 20 calls is used up" in page
    assert "There is no verdict yet." in page
    assert "only claim B0" in page


@pytest.mark.parametrize("render", [html, markdown])
@pytest.mark.parametrize(
    "tree", [Tree(), Tree(nodes={"0": Node(id="0", text="", depth=0, children=["0.7"])})]
)
def test_a_run_that_hardly_began_is_shown_too(render: Render, tree: Tree) -> None:
    run = sample.record().model_copy(
        update={"status": "running", "tree": tree, "verdict": None, "ended": None}
    )
    assert sample.QUESTION in render(run, [])


@pytest.mark.parametrize("render", [html, markdown])
def test_an_unresolved_run_says_so_and_names_no_confidence(render: Render) -> None:
    run = sample.record()
    run.status, run.verdict = "unresolved", Verdict()
    page = render(run, [])
    assert "The debate ended without an answer." in page


@pytest.mark.parametrize("render", [html, markdown])
@pytest.mark.parametrize("broken", [0, 1, 2])
def test_what_the_question_leaves_open_is_not_why_there_is_no_answer(
    render: Render, broken: int
) -> None:
    gap = "The question leaves something open: which age is meant?"
    run = sample.record()
    run.status, run.verdict = "unresolved", Verdict(notes=[gap])
    for node in run.tree.nodes.values():
        node.failures = []
    leaves = [node for node in run.tree.nodes.values() if not node.children]
    for leaf in leaves[:broken]:
        leaf.failures = [Failure(role="leaf_judge", fault="no reply")]
    page = " ".join(render(run, []).split())
    why = {
        0: "",
        1: ": Leaf judge failed: no reply",
        2: ": 2 parts failed for good; of the first, Leaf judge failed: no reply",
    }
    assert f"The debate ended without an answer{why[broken]}." in page
    assert page.count(gap) == 1


@pytest.mark.parametrize("render", [html, markdown])
@pytest.mark.parametrize("several", [True, False])
def test_a_leaf_whose_debate_came_to_nothing_says_why_there_is_no_answer(
    render: Render, several: bool
) -> None:
    run = sample.record()
    run.status, run.verdict = "unresolved", Verdict()
    for node in run.tree.nodes.values():
        node.failures, node.notes = [], []
    leaves = [node for node in run.tree.nodes.values() if not node.children]
    for leaf in leaves[: 1 + several]:
        leaf.status, leaf.verdict, leaf.notes = "missing", None, ["position bias", "sure: 5%"]
    page = " ".join(render(run, []).split())
    why = "2 parts had none; of the first, " if several else ""
    assert f"The debate ended without an answer: {why}position bias; sure: 5%." in page


@pytest.mark.parametrize("render", [html, markdown])
@pytest.mark.parametrize("shown", [True, False])
def test_a_demonstration_is_called_one(render: Render, shown: bool) -> None:
    run = sample.record()
    run.demonstration = shown
    assert ("not what is true" in render(run, [])) == shown


@pytest.mark.parametrize("render", [html, markdown])
def test_a_protocol_unknown_here_is_shown_by_the_names_of_its_fields(render: Render) -> None:
    fields = {
        "inner_voice": "hm",
        "strength": 0.125,
        "evidence": [{"id": "s1", "quote": "so it is written", "page": 7}],
        "weights": {"left": 1, "right": [True, None]},
    }
    turn = Turn.model_validate(
        {"role": "oracle", "who": "x", "stage": "dreaming", "step": 0, "fields": fields}
    )
    run = sample.record()
    run.protocol = run.method = "future"
    run.tree.nodes["0.1"].transcript = [turn]
    page = render(run, [])
    for word in ("Dreaming", "Oracle x", "Inner voice", "Strength", "12%", "s1", "Left", "Weights"):
        assert word in page
    assert "so it is written" in page


def test_an_unused_reply_is_kept_for_who_looks_for_it() -> None:
    for page in (html(sample.record(), sample.calls()), markdown(sample.record(), sample.calls())):
        assert "Replies that never entered the debate" in page
        assert "I would say no." in page
        assert "no reply after 4 attempts" in page


def test_a_huge_question_is_short_in_the_heading_and_whole_below() -> None:
    question = "Is it so, " + "and so, " * 6000 + "and so on?"
    run = sample.record()
    run.input, run.tree.nodes["0"].text = {"question": question}, question
    page = html(run, [])
    heading = page[page.index("<h1") : page.index("</h1>")]
    assert len(heading) < 400 and "…" in heading
    assert question in page
    assert len(markdown(run, []).splitlines()[0]) < 400


def test_the_same_record_makes_the_same_page() -> None:
    assert html(sample.record(), sample.calls()) == html(sample.record(), sample.calls())


def hostile(text: str) -> tuple[RunRecord, str]:
    return sample.everywhere(text), " ".join(clean(text).split())


@steady
@given(st.text() | st.sampled_from(sample.HOSTILE).flatmap(lambda t: st.text().map(t.__add__)))
@example(sample.HOSTILE[0])
@example(sample.HOSTILE[1])
@example(sample.HOSTILE[2])
def test_no_text_becomes_an_element_of_the_page(text: str) -> None:
    run, flat = hostile(text)
    page = Page(html(run, sample.calls()))
    assert set(page.elements) <= set(ORDINARY.elements)
    assert page.names <= ORDINARY.names
    assert page.open == []
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert flat in " ".join(page.text.split())


@pytest.mark.parametrize("text", sample.HOSTILE)
def test_the_known_tricks_come_out_as_text(text: str) -> None:
    run, flat = hostile(text)
    page = html(run, sample.calls())
    assert set(Page(page).elements) <= set(ORDINARY.elements)
    assert flat in " ".join(Page(page).text.split())
    plain = Page(html(sample.everywhere("x"), sample.calls()))
    for element in ("h1", "h2", "h3", "article", "section", "li", "tr", "b"):
        assert Page(page).elements.count(element) <= plain.elements.count(element)
    assert not any(c in page for c in "\x00\x07\x1b\x9b\ud800\u202e\u2066")
    page.encode()


GFM = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PLAIN = {"inline", "paragraph_open", "paragraph_close", "text", "hardbreak", "softbreak"}


def flattened(tokens: list[Token]) -> list[Token]:
    return [t for token in tokens for t in (token, *flattened(token.children or []))]


def read(page: str) -> tuple[set[str], str]:
    """The kinds of markup in ``page``, and the text that a reader sees."""
    tokens = flattened(GFM.parse(page))
    gaps = {"hardbreak", "softbreak", "paragraph_close"}
    words = [" " if t.type in gaps else t.content for t in tokens if not t.children]
    return {token.type for token in tokens}, "".join(words).replace("\u2060", "")


def count(page: str, kind: str) -> int:
    return sum(token.type == kind for token in flattened(GFM.parse(page)))


lively = st.text(st.sampled_from("ab1 \n\t#*_-+=~`|<>[]()!&:;.\\/{}$^%@\"'w"), max_size=40)


@steady
@given(st.text() | lively | st.sampled_from(sample.HOSTILE))
def test_escaped_text_is_one_paragraph_that_says_the_same(text: str) -> None:
    flat = " ".join(clean(text).split())
    kinds, said = read(escaped(text))
    assert kinds <= PLAIN
    assert " ".join(said.split()) == flat
    kinds, said = read("\n".join(lines(text)))
    assert kinds <= PLAIN
    assert said.split() == (flat.split() or ["–"])


@steady
@given(lively)
def test_escaped_text_stays_text_within_what_is_around_it(text: str) -> None:
    around = f"before\n{escaped(text)}\n\n- {escaped(text)}\n\n| h |\n| - |\n| {escaped(text)} |"
    structure = {"bullet_list_open", "list_item_open", "table_open", "thead_open", "tr_open"}
    structure |= {"th_open", "td_open", "tbody_open"}
    assert {k for k in read(around)[0] if not k.endswith("_close")} <= PLAIN | structure


@pytest.mark.parametrize("text", sample.HOSTILE)
def test_no_text_becomes_markup_of_the_markdown_page(text: str) -> None:
    kinds, _ = read(markdown(sample.degraded(), sample.calls()))
    run, flat = hostile(text)
    page = markdown(run, sample.calls())
    assert read(page)[0] <= kinds | {"hardbreak"}
    plain = markdown(sample.everywhere("x"), sample.calls())
    for kind in ("heading_open", "list_item_open", "tr_open", "strong_open", "hr"):
        assert count(page, kind) <= count(plain, kind)
    assert flat in " ".join(read(page)[1].split())
    for trigger in ("://", "www.", "@example", "mailto:"):
        assert trigger not in page
    page.encode()


def test_a_browser_runs_nothing_and_asks_for_nothing(tmp_path: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium on the path")
    from playwright.sync_api import sync_playwright

    page = tmp_path / "report.html"
    page.write_text(html(sample.everywhere("".join(sample.HOSTILE[:12])), []), "utf-8", "replace")
    asked, complaints = list[str](), list[str]()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-quic"]
        )
        tab = browser.new_page(viewport={"width": 390, "height": 800})
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("dialog", lambda dialog: complaints.append(dialog.message))
        tab.goto(page.as_uri())
        width = tab.evaluate("document.documentElement.scrollWidth")
        tab.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        opened = tab.evaluate("document.documentElement.scrollWidth")
        browser.close()
    assert asked == [page.as_uri()]
    assert complaints == []
    assert (width, opened) == (390, 390)


@pytest.mark.parametrize(
    ("method", "unset", "shown"),
    [
        ("tsd", {"max_depth": None, "depth_profile": "adaptive"}, {"max_depth": "3"}),
        ("tsd", {"max_depth": None, "depth_profile": "fixed"}, {"max_depth": "2"}),
        ("tsd", {"max_depth": 0, "samples": None}, {"max_depth": "0"}),
        ("best_of_n", {"samples": None}, {"samples": "5"}),
        ("self_consistency", {"samples": 3}, {"samples": "3"}),
        ("rsd", {"max_calls": None, "prices": {}}, {"max_calls": "no limit", "prices": "none"}),
        ("art", {"prune_below": None}, {"prune_below": "nothing is pruned"}),
    ],
)
def test_a_setting_that_nobody_gave_is_shown_as_what_holds_without(
    method: str, unset: dict[str, JsonValue], shown: dict[str, str]
) -> None:
    run = sample.record().model_copy(update={"method": method, "settings": unset})
    found = view.settings(run)
    assert {name: found[name] for name in shown} == shown
    assert "–" not in found.values() and "" not in found.values()


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.6, "1 min 00 s"),
        (245, "4 min 05 s"),
        (3599.6, "1 h 00 min"),
    ],
)
def test_a_duration_is_rounded_before_its_unit_is_chosen(seconds: float, said: str) -> None:
    assert duration(seconds) == said
