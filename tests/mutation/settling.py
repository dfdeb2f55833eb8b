"""Come to a verdict on a mutant: does a test fail with it that passes without it?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .byte_code import write_mutant
from .mutants import Mutant
from .recording import Recording, order_tests, tests_near
from .sessions import Outcome, Session, SessionFailed

MOST_NEAR = 200
"""Tests at most of a mutant whose room is asked, too: those that enter the function go first."""
BUDGET_S = 60.0
"""Seconds of computing that one mutant is worth."""

VerdictName = Literal["killed", "survived", "unsettled"]


@dataclass(frozen=True)
class Verdict:
    """What became of one mutant."""

    verdict: VerdictName
    reason: str
    test: str = ""
    """Test that notices the mutant."""
    entering: int = 0
    """Tests that enter the function."""
    chosen: int = 0
    """Tests that were to run, until one would fail."""
    cpu_s: float = 0.0


class Settler:
    """Settles mutants, several at once if need be.

    Args:
        tree: Root of the checkout.
        session: Session of all tests of ``tree``, without any mutant.
        recording: Which tests enter which mutated function.
        folder: Place for byte code. It holds none that ``session`` would load.
    """

    def __init__(self, tree: Path, session: Session, recording: Recording, folder: Path) -> None:
        self.tree = tree
        self.session = session
        self.recording = recording
        self.folder = folder
        self.unfit: set[str] = set()
        """Tests that fail in a fork without any mutant."""

    def settle(self, number: int, mutant: Mutant) -> Verdict:
        """Run the tests that enter the mutated function, cheap ones first, until one fails.

        A fork of the common session goes first. What runs when the tests are collected is also
        tried in a session of its own, which loads the mutant from the start.
        """
        code = self.folder / str(number)
        acts_at_import = write_mutant(self.tree, mutant, code)
        entering = self.recording.entering[number]
        trial = Trial(self, code)
        chosen = self.choose(mutant, entering)
        if chosen and not acts_at_import:
            trial.run(self.session, chosen)
        if not trial.killed and (acts_at_import or not trial.swapped or number in self.recording.at_import):
            near = tests_near(mutant, self.recording, self.tree)
            first = self.choose(mutant, entering)
            others = self.choose(mutant, near.difference(entering))
            chosen = [*first, *others[: max(0, MOST_NEAR - len(first))]]
            self.try_from_start(trial, chosen)
        verdict, reason, test = trial.verdict(bool(chosen))
        return Verdict(verdict, reason, test, len(entering), len(chosen), round(trial.cpu_s, 1))

    def choose(self, mutant: Mutant, tests: Iterable[str]) -> list[str]:
        return order_tests(mutant, set(tests) - self.unfit, self.recording, BUDGET_S)

    def run_without_mutant(self, tests: Sequence[str]) -> Outcome:
        return self.session.run(tests, self.recording.seconds, self.session.code)

    def try_from_start(self, trial: Trial, tests: Sequence[str]) -> None:
        """Try tests in a session that imports the mutant."""
        files = sorted({test.partition("::")[0] for test in tests})
        try:
            with Session(self.tree, trial.code, files) as session:
                trial.run(session, tests)
        except SessionFailed:
            trial.killed = Outcome(message="no test can be collected")


class Trial:
    """The runs of one mutant.

    A test that fails with the mutant kills it only if it passes after the same tests without it.
    """

    def __init__(self, settler: Settler, code: Path) -> None:
        self.settler = settler
        self.code = code
        self.killed: Outcome | None = None
        self.passed: set[str] = set()
        self.swapped = True
        self.cpu_s = 0.0

    def verdict(self, tried: bool) -> tuple[VerdictName, str, str]:
        """Return the verdict, its reason and the test that noticed the mutant."""
        if self.killed:
            return "killed", self.killed.message, self.killed.test
        if self.passed:
            return "survived", f"{len(self.passed)} tests pass", ""
        return "unsettled", "no test can run in a fork" if tried else "no test enters it", ""

    def run(self, session: Session, tests: Sequence[str]) -> None:
        """Run ``tests`` in forks of ``session``, leaving out those that fail without a mutant."""
        seconds = self.settler.recording.seconds
        remaining = list(tests)
        while remaining:
            outcome = session.run(remaining, seconds, self.code)
            self.cpu_s += outcome.cpu_s
            self.swapped = outcome.swapped
            if not outcome.swapped:
                return
            if outcome.passed:
                self.passed.update(remaining)
                return
            place = remaining.index(outcome.test) if outcome.test else 0
            without = self.settler.run_without_mutant(remaining[: place + 1])
            self.cpu_s += without.cpu_s
            if without.passed:
                self.killed = outcome
                return
            self.passed.update(remaining[:place])
            self.settler.unfit.add(without.test)
            remaining = [test for test in remaining[place:] if test not in self.settler.unfit]
