"""Did debating help: before and after, beside more samples, by side and place, at what price."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialectree.evals import debate_gain
from dialectree.evals.reporting.analysis import analysed
from dialectree.evals.reporting.findings import findings
from dialectree.evals.reporting.study import Study, study
from dialectree.evals.reporting.tables import tables
from dialectree.evals.results import Result, Score, Sides, Vote
from dialectree.records import Usage, Verdict
from tests.evals import sample

DEBATE, SAMPLES = sample.row("rsd"), sample.row("self_consistency")


def result(
    number: int,
    right: bool,
    row: str = "rsd",
    before: bool | None = None,
    tokens: int = 100,
    sides: Sides | None = None,
) -> Result:
    return Result(
        row=row,
        item=f"q{number}",
        status="answered",
        verdict=Verdict(answer="x", label="A"),
        scores=[Score(key="choice", score=float(right), value="scored")],
        usage=Usage(calls=1, prompt_tokens=tokens),
        vote=None if before is None else Vote(answers=["A"], right=before),
        sides=sides,
        ended=sample.STAMP,
    )


def kept(folder: Path, *results: Result) -> Study:
    asked = sample.items("decide", 10)
    rows = [DEBATE, SAMPLES]
    return study([sample.write(folder, "decide", rows, asked, results)])


def test_the_ledger_counts_who_turned(tmp_path: Path) -> None:
    turns = [(True, True)] * 3 + [(True, False)] + [(False, True)] * 4 + [(False, False)] * 2
    found = kept(tmp_path, *(result(n, a, before=b) for n, (b, a) in enumerate(turns, 1)))
    (one,) = debate_gain.turned(found)
    assert [(share.right, share.n) for share in one.shares] == [(4, 10), (7, 10)]
    assert one.ledger[:4] == (3, 1, 4, 2)
    assert one.ledger.p == pytest.approx(0.375)


def test_a_vote_in_which_nobody_said_anything_is_none(tmp_path: Path) -> None:
    silent = result(2, True).model_copy(update={"vote": Vote(answers=[None, None], right=False)})
    found = kept(tmp_path, result(1, True, before=True), silent, result(3, True, before=False))
    (one,) = debate_gain.turned(found)
    assert (one.shares[0][:2], one.without, one.unread) == ((1, 2), 1, 0)
    assert one.ledger.second_only == 1


def test_sides_and_places_are_counted_apart(tmp_path: Path) -> None:
    told = [
        Sides(gold_side="a", gold_position="first", flipped=False),
        Sides(gold_side="b", gold_position="second", flipped=True),
        Sides(gold_side="b", gold_position="first"),
        Sides(),
    ]
    found = kept(tmp_path, *(result(n, n != 2, sides=s) for n, s in enumerate(told, 1)))
    (one,) = debate_gain.placed(found)
    counted = [(p.right, p.n) for p in one[1:]]
    assert counted == [(1, 1), (1, 2), (1, 1), (2, 2), (0, 1), (1, 2)]


def message(found: Study) -> str:
    return " ".join(text for text in findings(analysed(found)) if "No row" in text)


@pytest.mark.parametrize(
    ("tokens", "end"),
    [
        (30, "0.30 of them; --samples 30 would about match."),
        (5, "0.05 of them, and the 100 samples that can be asked for are too few."),
        (300, "3.00 of them; --samples 3 would about match."),
    ],
)
def test_the_samples_that_would_match_a_debate_are_named(
    tmp_path: Path, tokens: int, end: str
) -> None:
    found = kept(
        tmp_path,
        *(result(n, n < 6) for n in range(1, 11)),
        *(result(n, n < 6, "self_consistency", tokens=tokens) for n in range(1, 11)),
    )
    before = "No row spends about as many tokens as rsd on samples: self_consistency spends "
    assert message(found) == (before + end if end else "")


def test_samples_for_as_many_tokens_are_compared_by_a_test(tmp_path: Path) -> None:
    wrong, message = range(1, 7), "rsd is better than self_consistency at about as many tokens"
    found = kept(
        tmp_path,
        *(result(n, True) for n in range(1, 11)),
        *(result(n, n not in wrong, "self_consistency") for n in range(1, 11)),
    )
    (one,) = analysed(found).sampled
    p = 2 / 2 ** len(wrong)
    assert one.p == one.holm == pytest.approx(p)
    assert one.difference.value == len(wrong) / 10
    (sentence,) = (text for text in findings(analysed(found)) if "at about as many" in text)
    assert message in sentence and "exact McNemar p = 0." in sentence
    (table,) = (table for table in tables(analysed(found)) if table.key == "sampled")
    shown = dict(zip((column.name for column in table.columns), table.rows[0], strict=True))
    assert shown["p, exact McNemar"] == shown["Holm"] == pytest.approx(p)
    assert shown["difference, points"] == one.difference


def test_ledgers_of_several_rows_are_corrected_before_debating_is_said_to_have_helped(
    tmp_path: Path,
) -> None:
    rows = [DEBATE, sample.row("basic")]
    asked = sample.items("decide", 6)
    results = [result(n, True, before=False) for n in range(1, 7)]
    results += [result(n, True, "basic", before=True) for n in range(1, 7)]
    found = study([sample.write(tmp_path / "two", "decide", rows, asked, results)])
    analysis = analysed(found)
    assert analysis.family == 3  # the two ledgers, and the two rows beside one another
    assert [one.holm for one in analysis.turned] == pytest.approx([3 / 32, 1])
    told = findings(analysis)
    assert any(
        text.startswith("No difference can be shown: rsd is 100.0 points above the vote before it")
        and "exact McNemar p = 0.031, 0.094 after Holm)" in text
        for text in told
    )
    alone = study([sample.write(tmp_path / "one", "decide", rows[:1], asked, results[:6])])
    assert findings(analysed(alone))[0].startswith("rsd is better than the vote before it: 100.0")
