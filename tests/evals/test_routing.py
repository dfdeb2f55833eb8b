"""Below which agreement of votes a debate pays: read from a folder, and true of simulated ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dialectree.errors import InputError
from dialectree.evals.reporting import route_page
from dialectree.evals.results import Vote
from dialectree.evals.route_choice import FOLDS, Routing, Sample, pick
from dialectree.evals.voted_debates import read
from dialectree.protocols.routes import ALWAYS, NEVER, read_route
from dialectree.records import Verdict
from tests.evals.routed import TRUTHS, Truth, covers, result, sample, written


def made(shares: str, votes: str, debates: str, times: int = 1) -> Sample:
    """A sample of questions: thirds that agree, whether the vote is right, and the debate."""
    agreed = np.array([int(sign) / 3 for sign in shares * times])
    before, after = (np.array([float(sign) for sign in text * times]) for text in (votes, debates))
    n = len(agreed)
    names = [f"q{k}" for k in range(n)]
    return Sample(agreed, before, after, np.full(n, 300.0), np.full(n, 1200.0), names)


# Rules


def test_a_rule_debates_below_its_share_and_pays_for_votes_unless_it_debates_everything() -> None:
    own = made("1233", "0101", "1010")
    assert own.rules == (NEVER, 0.66, 1.0, ALWAYS)
    assert [own.answers(at).tolist() for at in own.rules] == [
        [0, 1, 0, 1],
        [1, 1, 0, 1],
        [1, 0, 0, 1],
        [1, 0, 1, 0],
    ]
    assert [float(own.spent(at).sum()) for at in own.rules] == [1200, 2400, 3600, 4800]


@pytest.mark.parametrize(
    ("votes", "debates", "picked"),
    [
        ("0011", "1111", 1.0),  # right where they disagree: the fewest tokens
        ("0000", "1111", ALWAYS),  # right everywhere: a loss would be shown
        ("1111", "0000", 0.66),  # harm: the least of it, and no gain is shown
    ],
)
def test_the_cheapest_rule_without_a_shown_loss_is_picked(votes: str, debates: str, picked: float) -> None:
    own = made("1233", votes, debates, times=12)
    assert pick(own, own.rules) == (picked, votes < debates)


def test_no_question_has_a_say_in_the_rule_that_answers_it() -> None:
    own = sample("helps below", 3)
    one = Routing(own)
    assert {*one.folds.tolist()} == {*range(FOLDS)} and len({*one.rule_of.tolist()}) > 1
    for fold in range(FOLDS):
        turned = np.where(one.folds == fold, 1 - own.debates, own.debates)
        other = Routing(replace(own, debates=turned))
        mine = one.folds == fold
        assert other.rule_of[mine].tolist() == one.rule_of[mine].tolist()


def test_the_same_results_give_the_same_figures_and_few_questions_tell_nothing() -> None:
    one, again = (Routing(sample("helps below", 3), seed=5) for _ in range(2))
    assert one.held_out.tolist() == again.held_out.tolist()
    assert (one.accuracy, one.tokens(0.66)) == (again.accuracy, again.tokens(0.66))
    few = Routing(made("1333", "0111", "1111"))
    assert few.call == "unknown" and few.needed > few.sample.n


def test_each_rule_is_compared_with_debating_everything_which_no_rule_differs_from_itself() -> None:
    (never, debating) = Routing(made("3333", "0011", "1111", times=12)).lines
    assert never.difference.value == pytest.approx(-0.5)
    assert (debating.at, debating.difference[:3]) == (ALWAYS, (0, 0, 0))


# From a folder


def test_a_folder_is_read_without_a_call(tmp_path: Path) -> None:
    own = sample("helps below", 2, 90, clustered=True)
    for method in ("rsd", "vote_first"):
        voted = read(written(tmp_path / method, own, method=method))
        for name in ("shares", "votes", "debates", "vote_tokens", "debate_tokens"):
            assert np.allclose(getattr(voted.sample, name), getattr(own, name)), name
        assert voted.sample.clusters == own.clusters
        assert (voted.voters, voted.votes) == (["openai:small"] * 3, 3)
        assert (voted.inside, voted.left_out) == (method == "vote_first", {})


def test_what_is_neither_right_nor_wrong_is_left_out_aloud(tmp_path: Path) -> None:
    own = sample("harms", 1, 40)
    usual = [result("rsd", f"q{n}", own, n) for n in range(6)]
    assert usual[1].vote
    hazy = usual[1].vote.model_copy(update={"right": None})
    withheld = usual[3].scores[0].model_copy(update={"value": "unanswered", "score": 0.0})
    unread = usual[4].scores[0].model_copy(update={"value": "unparsed", "score": None})
    unscored = usual[5].scores[0].model_copy(update={"value": "failed", "score": None})
    changed = {
        "q0": usual[0].model_copy(update={"status": "failed", "scores": []}),
        "q1": usual[1].model_copy(update={"vote": hazy}),
        "q2": usual[2].model_copy(update={"vote": Vote(answers=[None] * 3)}),
        "q3": usual[3].model_copy(update={"status": "unresolved", "scores": [withheld]}),
        "q4": usual[4].model_copy(update={"scores": [unread]}),
        "q5": usual[5].model_copy(update={"scores": [unscored]}),
    }
    voted = read(written(tmp_path, own, changed=changed))
    assert voted.left_out == {
        "failed": 1,
        "without a judgement of the vote": 1,
        "without a judgement of the debate": 2,
    }
    assert (voted.withheld, voted.sample.n) == (1, 36)
    assert (voted.sample.shares[0], voted.sample.votes[0]) == (0.0, 0.0)  # nobody answered
    said = " ".join(route_page.remarks(voted))
    assert "1 failed, 1 without a judgement of the vote and 2 without a judgement of the" in said
    assert "1 debate withheld" in said


def test_a_folder_that_tells_nothing_is_refused_with_what_to_run(tmp_path: Path) -> None:
    own = sample("harms", 1, 12)

    def refused(method: str = "rsd", row: str | None = None, **update: Any) -> str:
        path = tmp_path / f"{method}{len(list(tmp_path.iterdir()))}"
        one = result(method, "q0", own, 0)
        every = {f"q{n}": result(method, f"q{n}", own, n) for n in range(own.n)}
        for item, each in every.items() if update.pop("all", False) else [("q0", one)]:
            every[item] = each.model_copy(update=update)
        with pytest.raises(InputError) as error:
            read(written(path, own, method=method, changed=every), row)
        assert "\n" not in str(error.value)
        return str(error.value)

    spared = Verdict(answer="w", label="A", confidence=1.0, confidence_source="agreement")
    said = refused("vote_first", verdict=spared)
    assert "held no debate on 1 of 12 questions" in said and "--agree-at 1.01" in said
    assert "--vote-first 3" in refused(all=True, vote=None)
    assert "--agree-at 1.01" in refused(all=True, vote=None)
    assert "rows are rsd" in refused(row="another")
    one = Vote(answers=["A"], label="A", right=True)
    assert "a single vote" in refused(vote=one)
    assert "right answer and a wrong one" in refused(
        vote=Vote(answers=["A", "B"], label="A", right=True, pair=True)
    )


# What is said


def test_every_call_has_one_sentence_with_figures(tmp_path: Path) -> None:
    said = {
        Routing(own).call: route_page.sentence(Routing(own), 3)
        for own in (
            made("1233", "0011", "1111", times=12),
            made("1233", "0000", "1111", times=12),
            made("1233", "1111", "0000", times=12),
            made("1233", "0111", "1011", times=2),
        )
    }
    assert said["below"] == (
        "debate below 1 (fewer than 3 of 3 votes agree): 75 % of the tokens, no difference in "
        "accuracy shown (−11.5 to +11.5 points)"
    )
    helps_and_harms = Routing(sample("helps and harms", 3, 400))
    assert route_page.sentence(helps_and_harms) == (
        "debate below 0.66: 42 % of the tokens, 6.2 points more right answers (+0.4 to +12.2 points)"
    )
    assert said["everything"].startswith("debate everything: 100.0 points more right answers than")
    assert said["never"].startswith("do not debate: 4.0 times the tokens of the vote")
    assert said["unknown"].startswith("cannot be told from 8 questions; about ")


def test_a_vote_without_tokens_has_no_price() -> None:
    for votes, debates, said in (
        ("0000", "1111", "debate everything: 100.0 points more right answers than the vote (+"),
        ("1111", "0000", "do not debate: no rule gains more than −"),
    ):
        own = made("1233", votes, debates, times=12)
        sentence = route_page.sentence(Routing(replace(own, vote_tokens=np.zeros(own.n))))
        assert sentence.startswith(said) and "times" not in sentence


def test_the_route_that_is_saved_is_the_one_that_a_vote_reads(tmp_path: Path) -> None:
    own = made("1233", "0011", "1111", times=12)
    voted = read(written(tmp_path / "out", own))
    routing = Routing(voted.sample)
    path = tmp_path / "route.json"
    path.write_text(route_page.route(voted, routing).model_dump_json(by_alias=True))
    found = read_route(path)
    assert (found.protocol, found.method, found.agree_at, found.n) == ("rsd", "rsd", 1.0, 48)
    assert found.voters == ["openai:small"] * 3 and found.task == "decide"
    assert found.models == dict.fromkeys(("debater_a", "debater_b", "judge"), "openai:small")
    assert found.figures.debates == 0.5 and found.sentence == route_page.sentence(routing, 3)
    unclear = Routing(made("1233", "0111", "1011", times=2))
    with pytest.raises(InputError, match="--save: no file is written: cannot be told"):
        route_page.route(voted, unclear)


def test_the_page_shows_sentence_table_plot_and_how_it_was_computed(tmp_path: Path) -> None:
    own = made("1233", "0011", "1111", times=12)
    voted = read(written(tmp_path, own))
    routing = Routing(voted.sample)
    page = route_page.write(voted, routing, tmp_path).read_text()
    answer = f"RSD: {route_page.sentence(routing, voted.votes)}."
    assert f'<h1 class="first-line" dir="auto">{answer}</h1>' in page
    assert (tmp_path / "route.md").read_text().startswith(f"# {answer}\n")
    for text in (page, (tmp_path / "route.md").read_text()):
        assert "debate below 1 (fewer than 3 of 3 votes agree)" in text
        assert "Bonferroni" in text and "never debate" in text
    assert "<svg" in page and "<script" not in page


@pytest.mark.parametrize("n", [1, 2, 3, 7, 13])
@pytest.mark.parametrize("right", ["01", "10", "00", "11"])
def test_few_questions_have_a_sentence_and_a_table_too(n: int, right: str) -> None:
    own = sample("harms", n, n)
    votes, debates = (np.full(n, float(sign)) for sign in right)
    routing = Routing(replace(own, votes=votes, debates=debates, clusters=["one"] * n))
    for one in (routing, Routing(replace(routing.sample, clusters=own.clusters))):
        assert route_page.sentence(one) and route_page.figures(one).accuracy.value is not None
        assert len(one.lines) == len(one.sample.rules) >= 2


# Simulated evaluations of known truth


def _hold(truth: Truth, runs: int, n: int, *, clustered: bool) -> tuple[float, float, float]:
    """Return how often both intervals cover the truth, and how often a debate is recommended."""
    routings = [Routing(sample(truth, k, n, clustered=clustered), seed=k) for k in range(runs)]
    covered = np.mean([covers(one, truth) for one in routings], axis=0)
    debating = np.mean([one.call in ("everything", "below") for one in routings])
    return float(covered[0]), float(covered[1]), float(debating)


@pytest.mark.parametrize("truth", TRUTHS)
def test_few_simulated_intervals_miss_and_few_debates_are_recommended_in_vain(truth: Truth) -> None:
    runs = 50
    right, less, debating = _hold(truth, runs, 120, clustered=truth == "changes nothing")
    least = binom.ppf(0.001, runs, 0.93) / runs
    assert min(right, less) >= least
    if truth in ("changes nothing", "harms"):
        assert debating <= binom.ppf(0.999, runs, 0.05) / runs


@pytest.mark.slow
@pytest.mark.parametrize(("n", "clustered"), [(120, False), (120, True), (300, False)])
@pytest.mark.parametrize("truth", TRUTHS)
def test_a_thousand_simulated_evaluations_hold(truth: Truth, n: int, clustered: bool) -> None:
    right, less, debating = _hold(truth, 1000, n, clustered=clustered)
    print(f"{truth}, {n}, clusters {clustered}: {right:.3f}, {less:.3f}, {debating:.3f}")
    assert min(right, less) >= 0.93
    if truth in ("changes nothing", "harms"):
        assert debating <= 0.05
