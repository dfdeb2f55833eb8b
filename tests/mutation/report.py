"""Print what a run found, and what has become worse since another run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .mutants import Mutant
from .results import PASS_MARK, Key, Result, Tally, count, status_of

LONGEST = 140
"""Characters of a source line to show."""


def progress_line(place: int, total: int, result: Result) -> str:
    noticed = f" by {result.test}" if result.test else ""
    where = f"{result.file}:{result.line} [{result.kind}]"
    return f"{place:3}/{total} {result.verdict:9} {where} {result.cpu_s:.0f} s{noticed}"


def report_lines(results: Sequence[Result], equivalents: Mapping[Key, str]) -> Iterator[str]:
    """Yield the report: what was not noticed, what the list excuses, and a table of rooms."""
    by_status: defaultdict[str, list[Result]] = defaultdict(list)
    for result in sorted(results, key=lambda result: (result.file, result.line)):
        by_status[status_of(result, equivalents)].append(result)
    for status in ("survived", "unsettled"):
        yield from _section(status.capitalize(), by_status[status])
    yield from _section("Equivalent, by the list", by_status["equivalent"], equivalents)
    wrong = [result for result in by_status["killed"] if result.key in equivalents]
    yield from _section("On the list of equivalents, but killed: take them out", wrong)
    yield from _table(results, equivalents)


def unmatched_lines(equivalents: Mapping[Key, str], candidates: Iterable[Mutant]) -> Iterator[str]:
    """Yield a line for each entry of the list that is no possible mutant any more."""
    possible = {mutant.key for mutant in candidates}
    for key in equivalents.keys() - possible:
        file, function, old, new, _ = key
        yield f"Listed as equivalent, but not in the source: {file} {function}: {old} -> {new}"


def comparison_lines(before: Iterable[Result], after: Iterable[Result]) -> Iterator[str]:
    """Yield the mutants that tests noticed before and do not notice now."""
    killed = {result.key: result for result in before if result.verdict == "killed"}
    lost = [result for result in after if result.key in killed and result.verdict != "killed"]
    for result in sorted(lost, key=lambda result: (result.file, result.line)):
        yield from _about(result)
        yield f"    was noticed by {killed[result.key].test or killed[result.key].reason}"


def _section(
    title: str, results: Sequence[Result], reasons: Mapping[Key, str] | None = None
) -> Iterator[str]:
    if results:
        yield f"{title}: {len(results)}"
        for result in results:
            yield from _about(result)
            yield f"    {(reasons or {}).get(result.key, _evidence(result))}"
        yield ""


def _about(result: Result) -> Iterator[str]:
    yield f"  {result.file}:{result.line} {result.function} [{result.kind}]"
    yield f"    - {result.old[:LONGEST]}"
    yield f"    + {result.new[:LONGEST]}"


def _evidence(result: Result) -> str:
    return f"{result.reason}; {result.entering} enter the function"


def _table(results: Sequence[Result], equivalents: Mapping[Key, str]) -> Iterator[str]:
    rooms: defaultdict[str, list[Result]] = defaultdict(list)
    for result in results:
        rooms[result.room].append(result)
    names = ("drawn", "killed", "survived", "unsettled", "equivalent", "score")
    yield f"{'room':12}" + "".join(f"{name:>11}" for name in names)
    for room in sorted(rooms):
        yield _row(room, count(rooms[room], equivalents))
    yield _row("all", count(results, equivalents))
    by_clock = sum("no end after" in result.reason for result in results)
    computed_s = sum(result.cpu_s for result in results)
    yield f"{by_clock} were killed by the clock. The runs took {computed_s:.0f} s of computing."
    yield f"The tests have to notice {PASS_MARK:.0%}."


def _row(name: str, tally: Tally) -> str:
    counts = (tally.drawn, tally.killed, tally.survived, tally.unsettled, tally.equivalent)
    return f"{name:12}" + "".join(f"{number:11}" for number in counts) + f"{tally.score:11.1%}"
