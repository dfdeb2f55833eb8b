"""The longest chain of calls, where arguments grow side by side and knockouts round by round."""

from __future__ import annotations

from typing import Any

import pytest

from dialectree.records import Call, Event, Tree
from tests.folding import critical_path, fold
from tests.records.test_records import call


def tree(**kinds: str) -> Tree:
    """A tree from ids, with underscores in place of dots and in front, and their kinds."""
    of = {name[1:].replace("_", "."): kind for name, kind in kinds.items()}
    events: list[Event] = []
    for name, kind in of.items():
        parent = name.rpartition(".")[0] or None
        opened: dict[str, Any] = {"text": "t", "depth": name.count("."), "parent": parent}
        events.append(event(name, "opened", opened | {"kind": kind}))
    for name, kind in of.items():
        if children := [child for child in of if child.rpartition(".")[0] == name]:
            split = {"children": children, "kind": kind, "in_turn": kind == "knockout"}
            events.append(event(name, "branched", split))
    return fold(events)[0]


def event(node: str, kind: str, data: dict[str, Any]) -> Event:
    return Event.model_validate({"t": "", "run_id": "r", "node": node, "kind": kind, "data": data})


def generation(node: str, repairs: tuple[int, int] = (0, 0), again: int = 0) -> list[Call]:
    """Both sides at once; ``again`` counts the second tries, which follow."""
    sides = ("supporter", "attacker")
    first = [
        asked(node, side, "generation", repair=n)
        for side, count in zip(sides, repairs, strict=True)
        for n in range(count + 1)
    ]
    second = [asked(node, side, "generation", step=1, round=2) for side in sides[:again]]
    return [*first, *second]


def asked(node: str, role: str, phase: str, step: int = 0, speaker: str = "", **more: Any) -> Call:
    return call(node, speaker, phase, step, role=role, **more)


def strength(node: str, repairs: int = 0) -> list[Call]:
    return [asked(node, "scorer", "strength", repair=n) for n in range(repairs + 1)]


def meetings(node: str, repairs: int = 0, late: int = 0) -> list[Call]:
    """Two comparisons at once, one of them repaired, and then ``late`` scores at once."""
    return [
        asked(node, "pairwise_judge", "tournament", speaker="a:b"),
        *(asked(node, "pairwise_judge", "tournament", speaker="a:c", repair=n) for n in range(repairs + 1)),
        *(asked(node, "scorer", "tournament", step=1, speaker=str(n)) for n in range(late)),
    ]


SMALL = tree(_0="claim", _0_0="argument", _0_1="argument")
DEEP = tree(_0="claim", _0_0="argument", _0_1="argument", _0_0_0="argument", _0_0_1="argument")


def small(**more: Any) -> list[Call]:
    return [
        *generation("0", more.get("generators", (0, 0)), more.get("again", 0)),
        *strength("0.0", more.get("scorer", 0)),
        *strength("0.1"),
        *meetings("0", more.get("judge", 0), more.get("late", 0)),
    ]


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ({}, 2),
        ({"generators": (2, 0)}, 4),
        ({"again": 1}, 3),
        ({"scorer": 2}, 4),
        ({"judge": 1, "scorer": 2}, 4),
        ({"late": 2}, 3),
        ({"late": 2, "judge": 2}, 5),
    ],
)
def test_a_claim_with_two_arguments_takes_generation_and_the_slowest_judgement(
    more: dict[str, Any], path: int
) -> None:
    assert critical_path(SMALL, small(**more)) == path


@pytest.mark.parametrize(
    ("more", "below", "path"),
    [
        ({}, (0, 0), 3),
        ({"judge": 2}, (0, 0), 4),
        ({"late": 2}, (0, 0), 3),
        ({"late": 2, "judge": 1}, (0, 0), 4),
        ({"scorer": 2}, (0, 0), 4),
        ({}, (2, 0), 5),
    ],
)
def test_a_level_is_judged_while_the_next_one_grows(
    more: dict[str, Any], below: tuple[int, int], path: int
) -> None:
    deeper = [
        *generation("0.0", below), *strength("0.0.0"), *strength("0.0.1"), *meetings("0.0"),
    ]  # fmt: skip
    assert critical_path(DEEP, [*small(**more), *deeper]) == path


KNOCKOUT = tree(_0="knockout", _0_0="open", _0_1="open", _0_2="open")


def debate(node: str, length: int, repairs: int = 0) -> list[Call]:
    steps = [call(node, step=n) for n in range(length)]
    return [*steps, *(call(node, step=0, repair=n) for n in range(1, repairs + 1))]


def test_the_rounds_of_a_knockout_follow_one_another() -> None:
    opened: dict[str, Any] = {"text": "t", "depth": 1, "parent": "0", "kind": "leaf"}
    rounds = {"0.0": 1, "0.1": 1, "0.2": 2}
    events = [
        event("0", "opened", {"text": "t", "depth": 0}),
        *(event(one, "opened", {**opened, "round": number}) for one, number in rounds.items()),
        event("0", "branched", {"children": [*rounds], "kind": "knockout"}),
    ]
    calls = [*debate("0.0", 6), *debate("0.1", 7, repairs=1), *debate("0.2", 6)]
    assert critical_path(fold(events)[0], calls) == 8 + 6


def test_the_debates_of_a_node_in_turn_follow_one_another() -> None:
    calls = [*debate("0.0", 6), *debate("0.1", 6), *debate("0.2", 7)]
    assert critical_path(KNOCKOUT, calls) == 19
    split = tree(_0="branch", _0_0="open", _0_1="open", _0_2="open")
    assert critical_path(split, calls) == 7


def test_each_repair_in_a_knockout_lengthens_it_and_so_does_what_comes_before_it() -> None:
    calls = [*debate("0.0", 6, repairs=2), *debate("0.1", 6, repairs=1), *debate("0.2", 6)]
    assert critical_path(KNOCKOUT, calls) == 18 + 3
    gate = [call("0", speaker=str(n), phase="direct") for n in range(3)]
    assert critical_path(KNOCKOUT, [*gate, *calls]) == 1 + 18 + 3


TOPICS = tree(_0="topic", _0_0="topic", _0_1="topic", _0_0_0="topic")


def deliberation(node: str, filters: int = 6, repairs: int = 0) -> list[Call]:
    """Both papers' claims, the filters at once, and the subtopics."""
    return [
        *(asked(node, "persona", "claims", speaker=who) for who in "ab"),
        *(asked(node, "persona", "relevance", speaker="ab"[n % 2], round=n) for n in range(filters)),
        *(asked(node, "persona", "relevance", speaker="a", repair=n + 1) for n in range(repairs)),
        asked(node, "moderator", "subtopics"),
    ]


def exchange(node: str, in_turn: int = 0) -> list[Call]:
    """Present, respond, revise: b at the same time as a, or a step later but for the first."""
    return [
        asked(node, "persona", stage, step=in_turn * (who == "b") * (stage != "present"), speaker=who)
        for stage in ("present", "respond", "revise")
        for who in "ab"
    ]


SUMMARY = asked("0", "moderator", "summary")


@pytest.mark.parametrize(
    ("calls", "path"),
    [
        ([*deliberation("0"), *exchange("0.0"), *exchange("0.1"), SUMMARY], 7),
        ([*deliberation("0", 0), *exchange("0.0"), SUMMARY], 6),
        ([*deliberation("0", 30), *exchange("0.0"), SUMMARY], 7),
        ([*deliberation("0", 6, 2), *exchange("0.0"), SUMMARY], 9),
        ([*deliberation("0"), *exchange("0.0", in_turn=1), *exchange("0.1"), SUMMARY], 9),
        (
            [
                *deliberation("0"), *exchange("0.0"), asked("0.0", "moderator", "progress"),
                *deliberation("0.0"), *exchange("0.0.0"), *exchange("0.1"), SUMMARY,
            ],
            14,
        ),
    ],
)  # fmt: skip
def test_a_topic_is_debated_then_taken_apart_and_the_summary_waits_for_all(
    calls: list[Call], path: int
) -> None:
    assert critical_path(TOPICS, calls) == path
