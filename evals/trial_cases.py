"""Read the cases of a trial: each protocol has a ``trial.toml`` next to its graph."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

from pydantic import BaseModel

from dialectree.protocols.protocol import Method, load_protocols, method
from dialectree.records import Turn

FILE = "trial.toml"
Skill = Literal["second turns", "rulings", "attacks"]
"""The skills: a second speaker disagrees, a judge rules for the right answer in either place, and an
attacker's argument attacks."""


class GivenTurn(BaseModel, frozen=True):
    """A turn that the model is not asked for: its place and the fields of its reply."""

    phase: str
    speaker: str = ""
    """The name of the speaker; empty if any name fits."""
    fields: dict[str, str]

    def is_at(self, turn: Turn) -> bool:
        """Return whether the given turn has the place of ``turn``."""
        speaker = self.speaker in ("", turn.speaker)
        return turn.phase == self.phase and turn.step == 0 and speaker


class Case(BaseModel, frozen=True):
    """One debate of the trial, with its expected outcome."""

    input: dict[str, str]
    given: list[GivenTurn] = []
    first: list[str] = []
    """Beginnings of words that name the camp of the given turn; only for a second turn."""
    other: list[str] = []
    right: str = ""
    """The letter of the right answer; only for a ruling."""

    def swap_proposals(self) -> Case:
        """Return a case for a judge with its two proposals in the other order."""
        first_turn, second_turn = self.given
        turns = [
            first_turn.model_copy(update={"fields": second_turn.fields}),
            second_turn.model_copy(update={"fields": first_turn.fields}),
        ]
        right = "B" if self.right == "A" else "A"
        return self.model_copy(update={"given": turns, "right": right})


class WholeDebate(BaseModel, frozen=True):
    """The debate whose length the trial estimates."""

    title: str
    input: dict[str, str]
    settings: dict[str, Any] = {}


class CaseFile(BaseModel, frozen=True):
    """The cases with which a protocol measures one skill."""

    protocol: str
    method: str
    skill: Skill
    settings: dict[str, Any]
    asked: dict[str, str]
    """The phase of each role that the model is asked for."""
    shown_by: str
    """The role whose turn shows the skill."""
    debate: WholeDebate
    cases: list[Case]

    def asks(self, turn: Turn) -> bool:
        """Return whether the model is asked for ``turn``; only turns of the first round are."""
        return self.asked.get(turn.role) == turn.phase and turn.round <= 1

    def find_method(self) -> Method:
        """Return the method that debates the cases."""
        return method(self.method, self.protocol)


def load_files() -> list[CaseFile]:
    """Return the cases of dialectree's own protocols; cases for a judge are there in both orders."""
    files: list[CaseFile] = []
    for name, declared in load_protocols().items():
        path = declared.file(FILE) if declared.ours else None
        if path is not None:
            data: Mapping[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
            read = CaseFile.model_validate({**data, "protocol": name})
            if read.skill == "rulings":
                orders = [
                    case
                    for original_case in read.cases
                    for case in (original_case, original_case.swap_proposals())
                ]
                read = read.model_copy(update={"cases": orders})
            files.append(read)
    return sorted(files, key=lambda file: get_args(Skill).index(file.skill))


def mix_cases(files: list[CaseFile]) -> Iterator[tuple[CaseFile, Case]]:
    """Yield all cases, mixed, so that a trial that ends early has measured part of each skill."""
    placed = [
        ((number + 0.5) / len(file.cases), file, case)
        for file in files
        for number, case in enumerate(file.cases)
    ]
    for _, file, case in sorted(placed, key=lambda row: row[0]):
        yield file, case
