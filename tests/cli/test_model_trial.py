"""``doctor --try``: what is measured of models that debate well, badly, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dialectree.evals.model_trial import disagrees
from dialectree.evals.trial_cases import load_files
from dialectree.evals.trial_result import Share, TrialResult, chance_of, find_remarks
from dialectree.interfaces.cli import progress
from dialectree.running.plug_points import WatchReading as Reading
from tests.cli.commands import Done, command, refused
from tests.endpoint import LocalEndpoint
from tests.nobody import nobody

OPENINGS = [case for file in load_files() for case in file.cases if case.first]
Rules = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def medium(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIALECTREE_PROMPT_FORM", "medium")


def answer_second_turns(**fields: str) -> Rules:
    """Return rules by which a second speaker names the other camp, or says ``fields``."""
    other = {
        "bread": "A paper bag keeps bread fresh, not the refrigerator.",
        "ice float": "Ice is less dense than water.",
        "Java or Python": "A beginner should learn Python.",
        "seasons": "The tilt of the axis causes them.",
        "tram line or": "A bus line is better.",
        "cat or a dog": "A cat is better than a dog.",
    }
    said = {"support": "There is more to it.", "rebuttal": "It leaves something out."}
    return [{"match": name, "set": {**said, "claim": claim, **fields}} for name, claim in other.items()]


def choose(letter: str, *answers: str) -> Rules:
    """Return rules by which a judge chooses each of ``answers`` that bears ``letter``."""
    return [
        {"match": rf"<candidates>.*{letter}: {re.escape(one)}\n", "set": {"answer": one}} for one in answers
    ]


RIGHT = ["carbon dioxide", "a hen", "how hot or cold something is, its temperature"]
RIGHT += ["it reflects light from the Sun"]
WRONG = ["nitrogen", "a cow that lives on a farm", "weight", "it burns"]
GOOD = [
    *answer_second_turns(),
    *choose("[AB]", *RIGHT),
    {"match": "You rate one argument", "set": {"direction": "attacks"}},
]
BAD = [
    *(
        {
            "match": re.escape(case.input["question"]),
            "set": {**case.given[0].fields, "rebuttal": case.given[0].fields["support"]},
        }
        for case in OPENINGS
    ),
    *choose("A", *RIGHT, *WRONG),
    {"match": "You rate one argument", "set": {"direction": "supports"}},
]


def measure(endpoint: LocalEndpoint, *more: str) -> Done:
    done = command("doctor", "--try", "openai:any", "--base-url", endpoint.url, *more)
    assert not Path("runs").exists()
    return done


def test_a_good_model_gets_a_short_table_and_no_remark() -> None:
    with LocalEndpoint(rules=GOOD) as endpoint:
        done = measure(endpoint)
        assert len(endpoint.calls()) == 26
    assert done.status == 0, done.err
    head, *rows = done.out.splitlines()
    assert head.startswith("openai:any, asked in the medium form, 26 calls in ")
    assert rows[:6] == [
        "  replies fit the schema          26 of 26",
        "  second speakers disagree        6 of 6",
        "  turns copied                    0 of 6",
        "  attacks that attack             6 of 6 (as the model itself rates them)",
        "  judge chose the first answer    4 of 8, and the right one in 8",
        "  texts cut by a limit            0 of 26",
    ]
    assert rows[6].startswith("  seconds a call ") and rows[7].startswith("  a debate takes about ")
    assert len(rows) == 8 and max(map(len, rows)) <= 80


def test_a_bad_model_is_said_to_copy_to_prefer_a_place_and_to_support() -> None:
    with LocalEndpoint(rules=BAD) as endpoint:
        done = measure(endpoint)
    assert "  turns copied                    6 of 6\n" in done.out
    assert "  attacks that attack             0 of " in done.out
    remarks = " ".join(done.out.split())
    assert "Second speakers copy the first one: 6 of 6 (n is small)." in remarks
    assert "prefers the answer that stands first" in remarks
    assert "Its rulings may be chance" in remarks
    assert "Few attackers attack: 0 of " in remarks


def test_a_model_that_breaks_the_schema_uses_up_thirty_calls() -> None:
    wrong = {"claim": 3, "confidence": "very", "arguments": "none"}
    with LocalEndpoint(rules=[{"match": "", "set": wrong}]) as endpoint:
        done = measure(endpoint, "--json")
        assert len(endpoint.calls()) == 30
    record = done.record
    assert (done.status, record["calls"]) == (0, 30)
    assert record["fits"]["count"] == 0 and record["failed"]["n"] == record["fits"]["n"] == 10
    assert record["disagree"] == {"count": 0, "n": 0}
    gap, failed = record["remarks"]
    assert "0 of 6 second turns, 0 of 8 rulings and 0 of 6 attacks" in gap
    assert "a debate would fail" in failed


def test_a_smaller_budget_of_the_user_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIALECTREE_MAX_CALLS", "4")
    with LocalEndpoint(rules=GOOD) as endpoint:
        done = measure(endpoint)
        assert len(endpoint.calls()) == 4
    assert done.status == 0 and "--max-calls 4 is used up" in " ".join(done.out.split())


def test_json_holds_each_count_with_its_n() -> None:
    with LocalEndpoint(rules=GOOD) as endpoint:
        record = measure(endpoint, "--json").record
    counts = {name: figure for name, figure in record.items() if isinstance(figure, dict)}
    minutes = counts.pop("minutes")
    assert {name: (figure["count"], figure["n"]) for name, figure in counts.items()} == {
        "fits": (26, 26),
        "repaired": (0, 26),
        "failed": (0, 26),
        "disagree": (6, 6),
        "copied": (0, 6),
        "attacks": (6, 6),
        "first_chosen": (4, 8),
        "right_chosen": (8, 8),
        "cut": (0, 26),
    }
    assert [*minutes] == ["TSD (one leaf)", "RSD", "ART"]
    assert record["form"] == "medium" and record["remarks"] == [] and not record["at_chance"]
    assert record["prompt_tokens"] > record["completion_tokens"] > 0


def test_a_model_at_chance_and_one_that_loses_turns_are_said_to_be_so() -> None:
    with LocalEndpoint(rules=GOOD) as endpoint:
        result = TrialResult.model_validate(measure(endpoint, "--json").record)
    small = result.model_copy(update={"at_chance": True})
    assert find_remarks(small) == ["It has fewer than 1 billion parameters: its answers are at chance."]
    (lossy,) = find_remarks(result.model_copy(update={"failed": Share(count=3, n=26)}))
    assert "3 of 26" in lossy and "lose parts" in lossy
    (cut,) = find_remarks(result.model_copy(update={"cut": Share(count=9, n=26)}))
    assert "9 of 26" in cut and "break off" in cut


def test_a_model_that_does_not_answer_ends_as_doctor_does() -> None:
    with nobody() as address:
        done = command("doctor", "--try", f"openai:any@{address}/v1")
    assert (done.status, done.out) == (3, "")
    assert done.err.startswith("dialectree: ")


def test_an_interrupt_prints_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def counting(things: str) -> Iterator[Reading]:
        def tell(what: str, done: int, of: int) -> None:
            if (what, done) == ("rulings", 3):
                raise KeyboardInterrupt

        yield tell

    monkeypatch.setattr(progress, "counting", counting)
    with LocalEndpoint(rules=GOOD) as endpoint:
        done = measure(endpoint)
    assert done.status == 130 and "interrupted" in done.err
    assert "  judge chose the first answer    2 of 3, and the right one in 3\n" in done.out
    assert "It ended early, as it was interrupted: the figures rest on " in done.out


def test_one_model_is_tried_and_only_then_json_is_printed() -> None:
    both = command("doctor", "--try", "openai:any", "--model", "openai:other")
    refused(both, "--model and --try both name a model; give one")
    refused(command("doctor", "--json"), "--json prints what --try measured")


@pytest.mark.parametrize(
    ("claim", "other_camp"),
    [
        ("A dog is the better pet for a small flat.", False),
        ("A dog is better than a cat.", False),
        ("A cat is the better pet; dogs bark.", True),
        ("A dog is not the better pet for a small flat.", True),
        ("A dog isn't the better pet.", True),
        ("Keep a goldfish rather than a dog.", True),
        ("A dog, not a cat, is the better pet.", False),
        ("Goldfish need little room.", False),
    ],
)
def test_a_claim_disagrees_where_it_names_the_other_camp_or_denies_the_first(
    claim: str, other_camp: bool
) -> None:
    assert disagrees(claim, ["dog"], ["cat"]) is other_camp


def test_the_chance_of_a_count_is_that_of_a_coin() -> None:
    assert [chance_of(least, 2) for least in range(3)] == [1.0, 0.75, 0.25]
