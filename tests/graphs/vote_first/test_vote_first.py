"""Votes before a debate: who is asked, when a debate is held, and about which answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import dialectree
from dialectree.contests import Drop, Replace, Restore
from dialectree.errors import InputError, SettingsError
from dialectree.graphs.vote_first import EARLY, VoteReply, agree, put, share
from dialectree.protocols.protocol import follow_routes, inner_settings, protocol
from dialectree.protocols.routes import Interval, Route, RouteFigures
from dialectree.protocols.script import SaidTurn, Talk
from dialectree.protocols.settings import build_settings
from dialectree.records import RunRecord
from dialectree.testing import ScriptedModel, check_protocol
from tests.contesting import speakers
from tests.graphs.role_switching_debate.switching import within
from tests.scripted import Asked

COWS: dict[str, Any] = {"question": "What do cows eat?", "options": ["clay", "grass", "meat", "sea water"]}
CLAIM = {"question": "Bats are blind."}
OPEN = {"question": "Why do cities grow?"}


def model(*answers: str, sure: float = 0.9) -> ScriptedModel:
    """A model that plays every role, and whose votes are ``answers``, by voter."""
    spoken = speakers()

    def say(call: Asked) -> Any:
        if call.kind != "VoteReply":
            return spoken._next(call)
        answer = answers[int(call.speaker) - 1]
        if answer == "!":
            raise ValueError("no such vote")
        return VoteReply(reasoning=f"Voter {call.speaker} says so.", answer=answer, confidence=sure)

    return ScriptedModel(script=say)


def vote(asked: dict[str, Any], *answers: str, **settings: Any) -> tuple[RunRecord, ScriptedModel]:
    speaking = model(*answers, **{k: settings.pop(k) for k in ("sure",) if k in settings})
    options: dict[str, Any] = {"model": speaking, "runs": Path("runs"), "cache": False}
    return dialectree.run("vote_first", **asked, **options, **settings), speaking


def roles(speaking: ScriptedModel) -> list[str]:
    return [call.role for call in speaking.calls]


def defended(speaking: ScriptedModel) -> set[str]:
    """The answers that debaters were given to defend."""
    return {within(call, "answer") for call in speaking.calls if call.kind == "ProposalReply"}


def test_voters_who_agree_spare_the_debate() -> None:
    record, speaking = vote(COWS, "B", "B", "B")
    assert roles(speaking) == ["voter"] * 3
    assert record.usage.critical_path_calls == 1
    verdict = record.verdict
    assert verdict is not None and (verdict.answer, verdict.label) == ("grass", "B")
    assert (verdict.confidence, verdict.confidence_source) == (1.0, "agreement")
    assert verdict.notes == ["3 votes: B 3; samples of one model; no debate"]
    assert record.tree.nodes["0"].scores == {"agreement": 1.0}
    assert all("You answer a question" in call.prompt for call in speaking.calls)


def test_voters_who_do_not_agree_make_a_debate_about_their_answers() -> None:
    record, speaking = vote(COWS, "D", "B", "D")
    expected = dialectree.estimate("vote_first", **COWS, model=speaking)
    assert expected.early is not None and expected.early.most == 3
    assert expected.late is not None
    assert expected.late.least <= record.usage.calls <= expected.late.most
    assert "3 calls if they agree, 12" in str(expected)
    assert roles(speaking)[:3] == ["voter"] * 3 and record.usage.calls == 12
    assert record.usage.critical_path_calls == 1 + 6
    assert defended(speaking) == {"grass", "sea water"}
    assert record.tree.nodes["0.0"].protocol == "rsd"
    verdict = record.verdict
    assert verdict is not None and verdict.answer in ("grass", "sea water")
    assert verdict.label == {"grass": "B", "sea water": "D"}[verdict.answer]
    assert verdict.notes[0] == "3 votes: D 2, B 1; samples of one model; debated by Role-Switching Debate"
    assert verdict.confidence_source == "judge"


@pytest.mark.parametrize(
    ("asked", "answers", "settings", "debated"),
    [
        (COWS, "BBA", {"agree_at": 0.66}, ""),  # two of three are 0.6667, and below 0.67
        (COWS, "ABC", {"agree_at": 0}, ""),
        (COWS, "BBB", {"agree_at": 1.01}, "rsd"),
        (COWS, "BBB", {"sure_at": 0.95}, "rsd"),
        (COWS, "BBB", {"sure_at": 0.5}, ""),
        (COWS, "BBBBA", {"voters": 5}, ""),
        (COWS, "B", {"voters": 1}, ""),
        (CLAIM, ["True", "True", "True"], {}, ""),
        (CLAIM, ["True", "False", "True"], {}, "art"),
        (CLAIM, ["True", "False", "True"], {"then": "rsd"}, "rsd"),
        (OPEN, ["Work.", "work.", " Work. "], {}, ""),
        (OPEN, ["Work.", "Trade.", "Work."], {"inner": {"tsd": {"max_depth": 0}}}, "tsd"),
        (OPEN, ["Work.", "Trade.", "Work."], {"then": "rsd"}, "rsd"),
        ({"question": "Is it so?"}, ["True", "True", "False"], {"then": "art"}, "art"),
    ],
)
def test_what_debates_and_when(
    asked: dict[str, Any], answers: Sequence[str], settings: dict[str, Any], debated: str
) -> None:
    record, speaking = vote(asked, *answers, **settings)
    part = record.tree.nodes.get("0.0")
    assert (part.protocol if part else "") == debated
    assert record.verdict is not None and record.verdict.answer is not None
    assert roles(speaking).count("voter") == settings.get("voters", 3)
    if not debated:
        assert len(speaking.calls) == settings.get("voters", 3)


def test_answers_to_an_open_question_become_the_candidates() -> None:
    _, speaking = vote(OPEN, "Work.", "Trade.", "Work.", then="rsd")
    assert defended(speaking) == {"Work.", "Trade."}


def test_votes_that_fail_or_are_dropped_never_make_agreement_of_one() -> None:
    record, speaking = vote(COWS, "B", "Z", "B")  # no such option, to the last repair
    assert record.status == "degraded" and "0.0" in record.tree.nodes
    assert "1 failed" in str(record.verdict and record.verdict.notes)
    changed = dialectree.contest(record, [Drop("0/1")], model=speaking, runs=Path("runs"))
    assert "0.0" in changed.tree.nodes


def test_a_vote_that_a_person_changes_routes_anew() -> None:
    first, speaking = vote(COWS, "B", "D", "B")
    asked = len(speaking.calls)
    options: dict[str, Any] = {"model": speaking, "runs": Path("runs")}
    spared = dialectree.contest(first, [Replace("0/2", "B")], **options)
    assert spared.verdict is not None and spared.verdict.confidence_source == "agreement"
    assert "0.0" not in spared.tree.nodes and len(speaking.calls) == asked
    dropped = dialectree.contest(first, [Drop("0/2")], **options)
    assert dropped.verdict is not None
    assert dropped.verdict.notes == ["2 votes: B 2; samples of one model; no debate"]
    back = dialectree.contest(dropped, [Restore("0/2")], **options)
    assert back.verdict == first.verdict and len(speaking.calls) == asked
    agreed, _ = vote(COWS, "B", "B", "B")
    debated = dialectree.contest(agreed, [Replace("0/2", "D")], **options)
    assert debated.verdict is not None and debated.verdict.answer in ("grass", "sea water")


@pytest.mark.parametrize(("answers", "calls"), [("BBB", 3), ("BDB", 3 + 10)])
def test_voters_read_the_sources_and_the_debate_argues_from_them(
    answers: str, calls: int, tmp_path: Path
) -> None:
    notes = tmp_path / "cows.md"
    notes.write_text("Cows eat grass. Sea water is salty. Clay is no food.")
    record, speaking = vote(COWS, *answers, sources=[str(notes)])
    assert len(speaking.calls) == calls  # of the debate one is the checker's
    assert all("Cows eat grass." in call.prompt for call in speaking.calls if call.role == "voter")
    assert record.verdict is not None and record.verdict.grounds
    assert {ground.source for ground in record.verdict.grounds} == {"cows.md"}


def test_models_of_their_own_are_no_samples_of_one_model() -> None:
    others = {f"voter_{n}": model("B", "B", "B") for n in (1, 2)}
    record, speaking = vote(COWS, "B", "B", "B", roles=others)
    assert record.verdict is not None and record.verdict.notes == ["3 votes: B 3; no debate"]
    assert [len(one.calls) for one in (*others.values(), speaking)] == [1, 1, 1]


@pytest.mark.parametrize("answers", [("B", "B", "B"), ("B", "D", "B")])
def test_it_has_all_that_a_protocol_has(answers: Sequence[str], tmp_path: Path) -> None:
    speaking = model(*answers)
    check_protocol("vote_first", COWS, speaking._next, tmp_path)


@pytest.mark.parametrize(
    ("asked", "settings", "words"),
    [
        ({"question": " "}, {}, "the question is empty"),
        ({**COWS, "options": ["a", "a"]}, {}, "options 1 and 2 are the same"),
        (COWS, {"then": "tsd"}, "`then` tsd: it takes no options"),
        (OPEN, {"then": "tod"}, "tod cannot answer a question"),
        (OPEN, {"then": "none"}, "no such protocol"),
        (OPEN, {"then": "vote_first"}, "debates inside itself"),
    ],
)
def test_what_cannot_be_put_to_a_vote_is_refused(
    asked: dict[str, Any], settings: dict[str, Any], words: str
) -> None:
    with pytest.raises((InputError, SettingsError), match=words):
        vote(asked, "B", "B", "B", **settings)


# A threshold out of an evaluation


def route(path: Path, *voters: str, **fields: Any) -> Path:
    known = Interval(value=0.8, low=0.7, high=0.9)
    figures = RouteFigures(
        accuracy=known, difference=known, vote=known, debate=known, tokens=0.4, debates=0.3
    )
    of_rsd: dict[str, str] = dict.fromkeys(["debater_a", "debater_b", "judge"], "openai:m")
    written = Route(
        protocol="rsd", method="rsd", task="decide", voters=[*voters], models=of_rsd,
        agree_at=0.5, n=100, figures=figures, sentence="debate below 0.5",
    )  # fmt: skip
    path.write_text(written.model_copy(update=fields).model_dump_json(by_alias=True))
    return path


def test_a_route_sets_the_threshold_for_its_own_models(tmp_path: Path) -> None:
    settings: Any = protocol("vote_first").settings
    path = str(route(tmp_path / "route.json", *["openai:m"] * 3))
    given = settings(model="openai:m", route=path)
    assert given.agree_at == 0.67  # no file is read before a run begins
    taken = follow_routes(given)
    assert (taken.agree_at, taken.then) == (0.5, "rsd")
    kept = json.loads(taken.model_dump_json())
    Path(path).unlink()  # a run that goes on has the figures in its record
    assert follow_routes(settings(**kept)).agree_at == 0.5


def test_a_route_of_a_vote_inside_is_followed_as_well(tmp_path: Path) -> None:
    path = str(route(tmp_path / "route.json", *["openai:m"] * 3))
    outer: Any = protocol("tsd").settings
    inner = {"vote_first": {"route": path, "voters": 3, "then": "rsd"}}
    taken = follow_routes(outer(model="openai:m", leaf_protocol="vote_first", inner=inner))
    vote: Any = inner_settings(taken, protocol("vote_first").methods()["vote_first"])
    assert (vote.agree_at, vote.then, vote.voters) == (0.5, "rsd", 3)


@pytest.mark.parametrize(
    ("voters", "fields", "settings", "words"),
    [
        (["openai:m"] * 3, {}, {"model": "openai:other"}, "it is for the voters"),
        (["openai:m"] * 5, {}, {}, "it is for the voters"),
        (["openai:m"] * 3, {}, {"roles": {"judge": "openai:other"}}, "it is for judge openai:m"),
        (["openai:m"] * 3, {"method": "basic"}, {}, "debates by basic"),
        (["openai:m"] * 3, {}, {"then": "tsd"}, "debates by rsd"),
        (["openai:m"] * 3, {"schema_": "dialectree.route/9"}, {}, "not a file of"),
    ],
)
def test_a_route_for_others_is_refused(
    tmp_path: Path, voters: list[str], fields: Any, settings: Any, words: str
) -> None:
    path = route(tmp_path / "route.json", *voters, **fields)
    given = {"model": "openai:m", "route": str(path), **settings}
    with pytest.raises(InputError, match=words):
        follow_routes(build_settings(protocol("vote_first").settings, **given))


# Rules


def talk(answers: str, dropped: int = 0, sure: float = 0.9, **settings: Any) -> Talk:
    said = [SaidTurn(phase=EARLY.phase, answer=a, confidence=sure) for a in answers]
    own = {"voters": len(answers) + dropped, "agree_at": 0.67, "sure_at": None, **settings}
    return Talk(input={}, settings=SimpleNamespace(**own), said=said, dropped=dropped)


@pytest.mark.parametrize(
    ("case", "agreement", "agreed"),
    [
        (talk("AAA"), 1.0, True),
        (talk("AAB"), 2 / 3, False),
        (talk("AAB", agree_at=2 / 3), 2 / 3, True),
        (talk("AABB"), 0.5, False),
        (talk("AA", dropped=1), 1.0, True),
        (talk("AA", voters=3), 2 / 3, False),
        (talk("", voters=3), 0.0, False),
        (talk("", voters=3, agree_at=0), 0.0, False),
        (talk("AAA", sure_at=0.95), 1.0, False),
        (talk("AAA", sure_at=0.9), 1.0, True),
        (talk("ABC", agree_at=0, sure_at=0.95), 1 / 3, True),
    ],
)
def test_agreement_is_a_share_of_the_votes_that_were_asked_for(
    case: Talk, agreement: float, agreed: bool
) -> None:
    assert share(case) == pytest.approx(agreement)
    assert agree(case) is agreed


@pytest.mark.parametrize(
    ("text", "options", "name"),
    [
        ("Is it so?", None, "tsd"),
        ("Is it so?", ["a", "b"], "rsd"),
        ("It is so.", None, "art"),
        ("He asks “is it so?”", None, "tsd"),
        ("是吗？", None, "tsd"),
        ("Choose one.", ["a", "b"], "rsd"),
    ],
)
def test_the_input_says_what_debates(text: str, options: list[str] | None, name: str) -> None:
    assert put({"question": text, "options": options}, None)[0] == name
