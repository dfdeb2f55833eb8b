"""Role-switching debates in the page, in Markdown and in the terminal."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from rich.cells import cell_len

from dialectree.records import Call, Node, RunRecord
from dialectree.report import exchange, html, markdown, transcript, tree, words
from dialectree.report.words import clean
from tests.report import sample, sample_rsd
from tests.report.test_pages import Page, read
from tests.report.test_terminal import seen


def page(record: RunRecord) -> str:
    return " ".join(Page(html(record, [])).text.split())


def text(record: RunRecord) -> str:
    return re.sub(r"\*\*|&#\d+;|\n> ", " ", markdown(record, []))


def terminal(record: RunRecord) -> str:
    nodes = record.tree.nodes.values()
    shown = [tree(record), *(transcript(node, record) for node in nodes)]
    return " ".join(" ".join(seen(part, 120) for part in shown).split())


Shown = Callable[[RunRecord], str]
everywhere = pytest.mark.parametrize("shown", [page, text, terminal])

RUNS = [
    sample_rsd.won,
    sample_rsd.mended,
    sample_rsd.biased,
    sample_rsd.mismatched,
    sample_rsd.open_question,
    sample_rsd.again,
    sample_rsd.knockout,
    sample_rsd.gated,
    sample_rsd.oracle,
    sample_rsd.leaf_of_a_tree,
]


def flat(said: str) -> str:
    return " ".join(said.split())


@everywhere
def test_all_that_was_said_is_there_phase_by_phase(shown: Shown) -> None:
    said = flat(shown(sample_rsd.won()))
    last = said.rindex("Proposals")
    order = ["Proposals", "Cross-examination", "Role switch", "Uncertainty reports", "Judgment"]
    places = [said.index(title, last) for title in order]
    assert places == sorted(places)
    for turn in sample_rsd.phases("a", "b"):
        for name in ("argument", "defence", "unsure_of", "would_settle"):
            assert str(turn.fields.get(name, "")) in said
    assert "The case for C is sounder, and B admits its doubt." in said


def test_the_sides_face_each_other_with_their_candidates() -> None:
    page = html(sample_rsd.won(), [])
    sides = page[page.index('class="facing sides"') : page.index("Proposals</summary>")]
    held = re.sub(r"<[^>]*>", " ", sides.partition(">")[2]).split()
    assert " ".join(held[:4]) == "Debater B plant materials"
    assert sides.index("Debater C") < sides.index("won</span>") < sides.index("oil products")
    assert sides.index("62%") < sides.index("Debater C") < sides.index("91%")
    assert page.count('class="facing"') == 4


@everywhere
def test_options_show_their_letters_and_which_were_debated(shown: Shown) -> None:
    said = flat(shown(sample_rsd.oracle()))
    assert re.search(r"A animal products\W+B plant materials \(?debated\W", said)
    assert "debated; the answer; known to be right" in said
    assert "a debate with the gold answer in it is binary: chance is 50%" in said


@everywhere
def test_a_quotation_that_does_not_occur_is_called_one(shown: Shown) -> None:
    said = flat(shown(sample_rsd.won()))
    flag = "The opponent never wrote this:"
    assert said.count(flag) == 1
    made_up = said.index(sample_rsd.UNWRITTEN)
    assert 0 < made_up - said.index(flag) < len(flag) + 8
    assert made_up < said.index("Flowers have far too little energy.")


@everywhere
def test_the_role_switch_says_for_whose_answer_each_speaks(shown: Shown) -> None:
    said = flat(shown(sample_rsd.won()))
    switch = said[said.rindex("Role switch") :]
    first = switch.index("speaks for the answer of debater C")
    assert first < switch.index("oil products") < switch.index("Nearly every car")
    assert switch.index("speaks for the answer of debater B") < switch.index("Ethanol")


@everywhere
@pytest.mark.parametrize("make", RUNS)
def test_a_debater_is_called_by_the_label_that_it_defends(
    make: Callable[[], RunRecord], shown: Shown
) -> None:
    said = flat(shown(make()))
    assert not re.search(r"\b[Dd]ebater [ab]\b|\b0[.01]*/[ab][1-4]", said)


@everywhere
def test_a_mended_ruling_stands_beside_the_one_that_counts(shown: Shown) -> None:
    said = flat(shown(sample_rsd.mended()))
    first, second = said.rindex("The case for B is sounder"), said.rindex("The case for C is")
    assert "did not name the same candidate" in said[:first]
    assert "does not count" in said[:first]
    assert first < said.index("Ruling, asked again") < second


@everywhere
def test_two_orders_that_disagree_are_both_shown_and_nobody_won(shown: Shown) -> None:
    said = flat(shown(sample_rsd.biased()))
    assert "ended without an answer: position bias: the judge ruled otherwise" in said
    assert "The two readings come to different answers: position bias." in said
    assert said.index("The case for B is") < said.index("Ruling with the sides swapped")
    assert "80% · source" not in said and "won" not in said.split()


@everywhere
def test_an_unresolved_mapping_says_why(shown: Shown) -> None:
    said = flat(shown(sample_rsd.mismatched()))
    assert f"ended without an answer: {sample_rsd.MISMATCH}." in said
    assert "Letter and answer do not name the same candidate." in said


@everywhere
def test_a_proposal_that_was_set_aside_is_kept(shown: Shown) -> None:
    said = flat(shown(sample_rsd.again()))
    aside = said.index("Its first proposal, set aside: both had proposed the same.")
    assert aside < said.index("Wood gas drives cars.") < said.rindex("Petrol stations sell oil.")


@everywhere
def test_an_open_question_has_letters_for_its_sides(shown: Shown) -> None:
    said = flat(shown(sample_rsd.open_question()))
    assert re.search(r"A\W+Plants\.", said) and re.search(r"B\W+Oil\.", said)
    assert "Judge, whether both say the same" in said


@everywhere
def test_a_knockout_shows_its_debates_in_their_order(shown: Shown) -> None:
    said = flat(shown(sample_rsd.knockout()))
    assert re.search(
        "a knockout of 2 debates; the winner of each meets the next option", said, re.I
    )
    assert said.index("C or B:") < said.index("C or A:")
    assert "debated in 0.0, 0.1; the answer" in said
    assert "C: oil products" in said


@everywhere
def test_a_gate_that_agrees_shows_its_answers_and_no_debate(shown: Shown) -> None:
    said = flat(shown(sample_rsd.gated()))
    assert "no debate: 3 direct answers agreed" in said
    assert "3 × oil products" in said
    assert all(f"Direct answer {n}" in said and f"Reason {n}." in said for n in (1, 2, 3))
    assert "Proposals" not in said


@everywhere
def test_a_leaf_of_a_tree_is_debated_in_five_phases(shown: Shown) -> None:
    said = flat(shown(sample_rsd.leaf_of_a_tree()))
    assert "A: Half." in said
    assert "Cross-examination" in said and "Second pass: debate" in said


def test_a_debate_that_broke_off_shows_who_did_not_speak() -> None:
    record = sample_rsd.won()
    node = record.tree.nodes["0"]
    node.transcript = node.transcript[:3]
    record.verdict, record.status, node.verdict = None, "partial", None
    for shown in (page, text, terminal):
        assert "Did not speak in this phase." in flat(shown(record))
        assert "There is no verdict yet." in flat(shown(record))


def test_a_long_answer_is_found_whole() -> None:
    whole = "Oil " * 80
    record = sample_rsd.open_question()
    node = record.tree.nodes["0"]
    for turn in node.transcript:
        if turn.who == "b" and turn.stage not in ("proposals", "role_switch"):
            turn.side = f"{whole[:200]}…"
        if turn.who == "b" and turn.stage == "proposals":
            turn.fields["answer"] = whole
    (held,) = exchange.exchanges(record, node)
    assert held.sides[1].answer == whole


def test_the_letters_are_those_of_the_turns() -> None:
    node = sample_rsd.won().tree.nodes["0"]
    assert exchange.opposed(None, node) == "B: plant materials, against C: oil products"


def test_fields_of_an_odd_shape_are_shown_by_their_names() -> None:
    record = sample_rsd.won()
    cross, percent, judged = (record.tree.nodes["0"].transcript[n] for n in (2, 6, 8))
    cross.fields["errors"] = ["it is all wrong", 7]
    percent.fields["percent"] = "very"
    judged.fields |= {"confidence": 3, "label": ["C"], "mood": "good"}
    for shown in (page, text, terminal):
        said = flat(shown(record))
        assert "it is all wrong" in said and "very" in said and "good" in said
        assert "Percent sure" in said and "Mood" in said


@pytest.mark.parametrize("make", RUNS)
def test_each_kind_of_run_makes_a_whole_page(make: Callable[[], RunRecord]) -> None:
    record = make()
    parsed = Page(html(record, []))
    assert parsed.open == []
    assert len(parsed.ids) == len(set(parsed.ids))
    assert {link[1:] for link in parsed.links} <= set(parsed.ids)
    assert html(record, []) == html(make(), [])
    read(markdown(record, []))
    for width in (80, 40):
        for part in (tree(record), *(transcript(n, record) for n in record.tree.nodes.values())):
            assert max(map(cell_len, seen(part, width).splitlines())) <= width


@pytest.mark.parametrize("hostile", sample.HOSTILE)
def test_no_text_of_a_debate_is_more_than_text(hostile: str) -> None:
    record, plain = sample_rsd.everywhere(hostile), sample_rsd.everywhere("x")
    parsed, ordinary = Page(html(record, [])), Page(html(plain, []))
    assert set(parsed.elements) <= {*ordinary.elements, "details", "summary"}
    assert parsed.names <= {*ordinary.names, "class", "open"}
    assert parsed.open == []
    assert " ".join(clean(hostile).split()) in " ".join(parsed.text.split())
    assert not any(c in html(record, []) for c in "\x00\x07\x1b\x9b\ud800\u202e\u2066")
    assert read(markdown(record, []))[0] <= read(markdown(plain, []))[0] | {"hardbreak"}
    for part in (tree(record), *(transcript(n, record) for n in record.tree.nodes.values())):
        shown = seen(part, 60)
        assert all(c == "\n" or c.isprintable() for c in shown)
        assert max(map(cell_len, shown.splitlines())) <= 60


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("rsd", "Role-Switching Debate"),
        ("no_role_switch", "Role-Switching Debate without the role switch"),
        ("no_uncertainty", "Role-Switching Debate without the uncertainty reports"),
        ("basic", "Role-Switching Debate without role switch and uncertainty reports"),
        ("new_one", "New one (beside Role-Switching Debate)"),
    ],
)
def test_methods_are_named_in_plain_words(method: str, said: str) -> None:
    assert words.method(sample_rsd.won().model_copy(update={"method": method})) == said


def test_every_call_of_a_phase_is_told_from_the_next_phase() -> None:
    call = Call.model_validate(
        {
            "key": "k",
            "node": "0",
            "role": "debater",
            "who": "a",
            "round": 1,
            "stage": "role_switch",
            "step": 0,
            "prompt": "p@1",
            "model": "m",
            "seed": 1,
            "started": "",
            "ended": "",
            "reply": "lost",
        }
    )
    record = sample_rsd.won()
    assert "Replies that never entered" not in html(record, [call])
    node = record.tree.nodes["0"]
    node.transcript = [turn for turn in node.transcript if turn.stage != "role_switch"]
    assert "Replies that never entered" in html(record, [call])


def test_a_node_without_a_transcript_is_no_exchange() -> None:
    assert exchange.exchanges(None, Node(id="0", text="", depth=0)) == []
