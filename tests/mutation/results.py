"""Keep the verdicts of a run in a file, and count them."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from .drawing import room_of
from .mutants import Mutant
from .settling import Verdict

PASS_MARK = 0.85
"""Least share of the mutants that the tests have to notice."""
EQUIVALENTS = Path(__file__).parent / "equivalent.toml"

Key = tuple[str, str, str, str, int]


@dataclass(frozen=True)
class Result:
    """A mutant that was drawn and the verdict on it."""

    file: str
    function: str
    line: int
    kind: str
    old: str
    new: str
    nth: int
    verdict: str
    reason: str
    test: str
    entering: int
    chosen: int
    cpu_s: float

    @property
    def key(self) -> Key:
        return self.file, self.function, self.old, self.new, self.nth

    @property
    def room(self) -> str:
        return room_of(self.file)


def result_of(mutant: Mutant, verdict: Verdict) -> Result:
    shown = ("file", "function", "line", "kind", "old", "new", "nth")
    return Result(**{name: getattr(mutant, name) for name in shown}, **asdict(verdict))


class ResultsFile:
    """A file of JSON lines: what was run, then a line for each result.

    Args:
        path: Where it is. A file that exists goes on, if it is of the same run.
        about: What tells runs apart: seed, count, fingerprints.
    """

    def __init__(self, path: Path, about: Mapping[str, object]) -> None:
        self.path = path
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        if lines and json.loads(lines[0]) != about:
            raise SystemExit(f"{path} is of another run. Remove it, or name another file.")
        complete = [line for line in lines if line.endswith("\n")] or [json.dumps(about) + "\n"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(complete))

    def add(self, result: Result) -> None:
        with open(self.path, "a") as file:
            file.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")


def read_results(path: Path) -> list[Result]:
    """Return the results of a file of JSON lines."""
    return [Result(**json.loads(line)) for line in path.read_text().splitlines()[1:]]


def read_equivalents(path: Path = EQUIVALENTS) -> dict[Key, str]:
    """Return why each mutant of the list changes nothing that a user could observe."""
    entries = tomllib.loads(path.read_text()).get("mutant", [])
    fields = ("file", "function", "old", "new")
    return {(*(entry[name] for name in fields), entry.get("nth", 1)): entry["reason"] for entry in entries}


def status_of(result: Result, equivalents: Mapping[Key, str]) -> str:
    """Return the verdict, or ``equivalent`` for a mutant of the list that no test noticed."""
    excused = result.verdict != "killed" and result.key in equivalents
    return "equivalent" if excused else result.verdict


@dataclass(frozen=True)
class Tally:
    """How many mutants came to which end."""

    drawn: int
    killed: int
    survived: int
    unsettled: int
    equivalent: int

    @property
    def score(self) -> float:
        """Share of the mutants that tests noticed, of those that change something."""
        relevant = self.drawn - self.equivalent
        return self.killed / relevant if relevant else 1.0


def count(results: Iterable[Result], equivalents: Mapping[Key, str]) -> Tally:
    counts = Counter(status_of(result, equivalents) for result in results)
    names = ("killed", "survived", "unsettled", "equivalent")
    return Tally(drawn=counts.total(), **{name: counts[name] for name in names})
