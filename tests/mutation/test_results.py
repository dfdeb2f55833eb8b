"""The file of results, the list of equivalents, and the comparison of two runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutation.mutants import Mutant, find_mutants
from tests.mutation.report import comparison_lines, report_lines, unmatched_lines
from tests.mutation.results import Key, Result, ResultsFile, count, read_equivalents, read_results, result_of
from tests.mutation.settling import Verdict, VerdictName

SOURCE = """def share(part, total):
    if total <= 0:
        return None
    return part / total
"""
MUTANTS = find_mutants("evals/rows.py", SOURCE)


def results(*verdicts: VerdictName) -> list[Result]:
    """Return one verdict for each of the first mutants."""
    return [
        result_of(mutant, Verdict(verdict, "why", "tests/test_rows.py::test_share"))
        for mutant, verdict in zip(MUTANTS, verdicts, strict=False)
    ]


def listed(mutant: Mutant) -> dict[Key, str]:
    return {mutant.key: "both return nothing"}


def test_the_score_leaves_out_equivalents_and_counts_the_unsettled() -> None:
    tally = count(results("killed", "survived", "unsettled"), listed(MUTANTS[1]))
    assert (tally.drawn, tally.killed, tally.equivalent) == (3, 1, 1)
    assert tally.score == 1 / 2


def test_a_mutant_of_the_list_that_a_test_notices_is_no_equivalent() -> None:
    killed = results("killed")
    assert count(killed, listed(MUTANTS[0])).equivalent == 0
    assert any("take them out" in line for line in report_lines(killed, listed(MUTANTS[0])))


def test_the_report_names_survivors_and_why_equivalents_are_excused() -> None:
    lines = [*report_lines(results("survived", "survived"), listed(MUTANTS[1]))]
    assert lines[0] == "Survived: 1"
    assert lines[1].strip() == "evals/rows.py:2 share [guard dropped]"
    assert "    both return nothing" in lines


def test_an_entry_of_the_list_without_its_mutant_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "equivalent.toml"
    entry = {"file": "evals/rows.py", "function": "share", "old": "if total <= 0:"}
    text = "".join(f'{name} = "{value}"\n' for name, value in entry.items())
    path.write_text(f'[[mutant]]\n{text}new = "if total < 0:"\nreason = "no sum is negative"\n')
    equivalents = read_equivalents(path)
    assert list(unmatched_lines(equivalents, MUTANTS)) == []
    (line,) = unmatched_lines(equivalents, MUTANTS[:1])
    assert "if total <= 0: -> if total < 0:" in line


def test_a_run_that_was_broken_off_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    first, second = results("killed", "survived")
    ResultsFile(path, {"seed": 4}).add(first)
    with open(path, "a") as file:
        file.write('{"file": "evals/ro')
    ResultsFile(path, {"seed": 4}).add(second)
    assert read_results(path) == [first, second]
    with pytest.raises(SystemExit, match="another run"):
        ResultsFile(path, {"seed": 5})


def test_a_comparison_names_what_is_noticed_no_more() -> None:
    before = results("killed", "killed", "survived")
    lost = comparison_lines(before, results("survived", "killed", "unsettled"))
    assert [line.strip() for line in lost] == [
        "evals/rows.py:2 share [guard dropped]",
        "- if total <= 0:",
        "+ if False:",
        "was noticed by tests/test_rows.py::test_share",
    ]
    assert list(comparison_lines(before, before)) == []
