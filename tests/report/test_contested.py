"""What terminal, text and page show of a contested debate: every name, and before and after."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest

from dialectree.records import Contest, Override, RunRecord, Spot, Turn, verdict_diff
from dialectree.report import html, markdown, transcript, tree
from tests.report import sample, sample_art, sample_rsd
from tests.report.test_terminal import seen

Shown = Callable[[RunRecord], str]


def terminal(record: RunRecord) -> str:
    """The tree, and every node from close by."""
    nodes = (seen(transcript(node, record), 400) for node in record.tree.nodes.values())
    return seen(tree(record), 400) + "".join(nodes)


def page(record: RunRecord) -> str:
    """The words of the page."""
    return unescape(re.sub(r"<[^>]+>", " ", html(record, [])))


def text(record: RunRecord) -> str:
    return markdown(record, []).replace("\\_", "_").replace("\\@", "@").replace("&#64;", "@")


@pytest.fixture(params=[terminal, page, text], ids=["terminal", "page", "text"])
def shown(request: pytest.FixtureRequest) -> Shown:
    show: Shown = request.param
    return lambda record: " ".join(show(record).replace("\u2060", "").split())


def spot(node: str, turn: Turn) -> Spot:
    include = {"stage", "role", "round", "take", "who", "side"}
    return Spot(node=node, **turn.model_dump(include=include))


def contested(words: str = "A person's own words.") -> RunRecord:
    """A run in which a person replaced a turn, set a verdict and dropped a part."""
    old, new = sample.record(), sample.record()
    leaf = new.tree.nodes["0.0"]
    turn = next(t for t in leaf.transcript if t.role == "leaf_debater")
    judge = next(t for t in leaf.transcript if t.role == "leaf_judge")
    held = [
        Override(
            id=f"0.0/{turn.who}1",
            what="replaced",
            spots=[spot("0.0", turn)],
            reply={},
            before="As it was.",
            after=words,
        ),
        Override(
            id="0.0", what="ruled", spots=[spot("0.0", judge)], reply={}, before="x", after=words
        ),
        Override(id="0.1", what="dropped", spots=[Spot(node="0.1")], before="What was found."),
    ]
    new.contest = verdict_diff.begun(old, [held[0].words(), "0.2/B1 restored"], held)
    gone = new.tree.nodes["0.1"]
    gone.verdict, gone.status, gone.transcript, gone.dropped = None, "missing", [], True
    assert new.verdict is not None and leaf.verdict is not None
    new.verdict.answer = leaf.verdict.answer = words
    new.contest = verdict_diff.compared(old, new)
    return new


def test_every_turn_that_can_be_contested_bears_its_name(shown: Shown) -> None:
    said = shown(sample.record())
    for name in ("0.0/A1", "0.0/B1", "0.0/leaf_judge", "0/concise1", "0/synthesis_judge"):
        assert name in said
    assert "0/decomposer" not in said
    said = shown(sample_rsd.won())
    for name in ("0/B1", "0/C1", "0/judge1"):
        assert name in said


def test_of_an_argument_tree_arguments_have_names_and_turns_have_none(shown: Shown) -> None:
    assert "/scorer" not in shown(sample_art.contested())


def test_a_contested_debate_is_shown_before_and_after(shown: Shown) -> None:
    record = contested()
    said = shown(record)
    assert record.contest is not None and record.verdict is not None
    assert "This contests run" in said or "what a person changed in run" in said
    assert "0.2/B1 restored" in said
    assert re.search(r"0\.0/[AB]1 replaced\W+before\W+As it was\.\W+after\W+A person", said)
    assert "0.0 given another verdict in an earlier contest" in said
    assert "0.1 dropped in an earlier contest" in said
    assert re.search(r"before\W+What was found\.\W+after\W+nothing", said)
    assert re.search(r"verdict\W+before\W+.*\W+after\W+A person's own words\. \(\d+%\)", said)
    assert re.search(r"0\.1\W.{0,200}before.{0,200}after\W+dropped by a person", said)
    assert record.contest.why in said
    assert "1/" not in record.contest.why
    assert re.search(r"0\.0/[AB]1, in a person’s words", said)
    assert "0.0/leaf_judge, set by a person" in said
    assert "made anew; all else is as it was said" in said
    assert "P(claim)" not in said


def test_a_dropped_part_is_no_missing_answer(shown: Shown) -> None:
    record = contested()
    assert "no answer" not in shown(record) and "Given up" not in shown(record)


def test_a_contest_that_is_broken_off_says_how_it_goes_on(shown: Shown) -> None:
    record = contested()
    assert record.contest is not None
    record.status = "partial"
    record.contest = record.contest.model_copy(update={"verdict_after": None, "moved": []})
    said = shown(record)
    assert (
        f"goes on with: dialectree resume RUN, where RUN is the path of the folder {record.run_id}"
        in (" ".join(said.split()))
    )
    assert re.search(r"after\W+not reached yet", said)


def test_a_persons_words_are_data_like_a_models() -> None:
    record = contested("<script>x</script> [a](http://b) \x1b[2J # title")
    assert "<script>" not in html(record, []) and "\x1b" not in html(record, [])
    assert "<script>" not in markdown(record, []) and "](http" not in markdown(record, [])
    assert "\x1b" not in seen(tree(record))


def test_records_of_older_contests_load_and_arguments_have_no_new_fields() -> None:
    old: dict[str, object] = {
        "run": "r",
        "changes": ["0.1 dropped"],
        "before": 0.4,
        "after": 0.5,
        "path": [{"node": "0", "before": 0.4, "after": 0.5}],
        "why": "because",
    }
    assert Contest.model_validate(old).model_dump() == {**old, "overrides": []}
    made = contested().contest
    assert made is not None and Contest.model_validate(made.model_dump()) == made
