"""Role-switching debates in the page, and what the views make of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from dialectree.protocols import plugins, protocol
from dialectree.protocols.protocol import Phase
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import Call, Node, RunRecord
from dialectree.report import exchange, html, markdown, words
from dialectree.text import clean
from tests.report import sample, sample_art, sample_rsd
from tests.report.test_pages import Page

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


def test_the_sides_face_each_other_with_their_candidates() -> None:
    page = html(sample_rsd.won(), [])
    sides = page[page.index('class="facing sides"') : page.index("Proposals</summary>")]
    held = re.sub(r"<[^>]*>", " ", sides.partition(">")[2]).split()
    assert " ".join(held[:4]) == "Debater B plant materials"
    assert sides.index("Debater C") < sides.index("won</span>") < sides.index("oil products")
    assert sides.index("0.62") < sides.index("Debater C") < sides.index("0.91")
    assert page.count('class="facing"') == 4


def test_a_long_answer_is_found_whole() -> None:
    whole = "Oil " * 80
    record = sample_rsd.open_question()
    node = record.tree.nodes["0"]
    for turn in node.transcript:
        if turn.speaker == "b" and turn.phase not in ("proposals", "role_switch"):
            turn.side = f"{whole[:200]}…"
        if turn.speaker == "b" and turn.phase == "proposals":
            turn.fields["answer"] = whole
    (held,) = exchange.exchanges(record, node)
    assert held.sides[1].answer == whole


def test_the_letters_are_those_of_the_turns() -> None:
    record = sample_rsd.won()
    assert (
        exchange.opposed(record, record.tree.nodes["0"])
        == "B: plant materials, against C: oil products"
    )


@pytest.mark.parametrize("make", RUNS)
def test_each_kind_of_run_makes_a_whole_page(make: Callable[[], RunRecord]) -> None:
    record = make()
    parsed = Page(html(record, []))
    assert parsed.open == []
    assert len(parsed.ids) == len(set(parsed.ids))
    assert {link[1:] for link in parsed.links} <= set(parsed.ids)
    assert html(record, []) == html(make(), [])


@pytest.mark.parametrize("hostile", sample.HOSTILE)
def test_no_text_of_a_debate_is_more_than_text(hostile: str) -> None:
    record, plain = sample_rsd.everywhere(hostile), sample_rsd.everywhere("x")
    parsed, ordinary = Page(html(record, [])), Page(html(plain, []))
    assert set(parsed.elements) <= {*ordinary.elements, "details", "summary"}
    assert parsed.names <= {*ordinary.names, "class", "open"}
    assert parsed.open == []
    assert " ".join(clean(hostile).split()) in " ".join(parsed.text.split())
    assert not any(c in html(record, []) for c in "\x00\x07\x1b\x9b\ud800\u202e\u2066")


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
            "speaker": "a",
            "round": 1,
            "phase": "role_switch",
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
    node.transcript = [turn for turn in node.transcript if turn.phase != "role_switch"]
    assert "Replies that never entered" in html(record, [call])


def test_a_node_without_a_transcript_is_no_exchange() -> None:
    assert exchange.exchanges(sample_rsd.won(), Node(id="0", text="", depth=0)) == []


def test_a_debate_is_drawn_by_the_phases_of_its_own_protocols(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A package whose phases have the same names changes no report of another protocol."""
    records = [sample.record(), sample.partial(), sample_rsd.leaf_of_a_tree(), sample_art.record()]
    before = [(html(one, []), markdown(one, [])) for one in records]
    tsd = protocol.installed()["tsd"]
    stranger = replace(
        tsd,
        name="stranger",
        settings=type("Settings", (ProtocolSettings,), {}),
        view="two_sided",
        order=replace(tsd.order, beside_all=("debate",)),
        phases=(Phase(role="decomposer", reply=(), editable=("reason",)),),
        leaf=tsd.methods()["tsd"].variant,
    )
    everything = {**protocol.installed(), "stranger": stranger}
    monkeypatch.setattr(plugins, "declared", lambda: (everything, {}))
    assert [(html(one, []), markdown(one, [])) for one in records] == before
    assert protocol.phase_order("tsd", records[0].settings).beside_all == ()
