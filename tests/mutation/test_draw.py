"""Mutants as they are found and drawn."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.mutation.drawing import draw, module_of, room_of, source_files
from tests.mutation.mutants import Mutant, find_mutants, is_valid

ROOT = Path(__file__).parents[2]
COUNT = 40


SMALL_ROOMS = {"flow", "graphs", "prompts"}


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    """Return the source of some rooms; a draw from all takes seconds."""
    found = source_files(ROOT)
    return {file: source for file, source in found.items() if room_of(file) in SMALL_ROOMS}


@pytest.fixture(scope="module")
def drawn(sources: dict[str, str]) -> list[Mutant]:
    return draw(sources, 1, COUNT)


def changes(*body: str) -> list[str]:
    """Return the lines that stand in place of ``body`` in the mutants of a function."""
    source = "\n    ".join(["def function(a, b, items):", *body, ""])
    found = find_mutants("evals/rows.py", source)
    return [mutant.new for mutant in found if is_valid(mutant, source)]


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("return a < b", ["return a <= b"]),
        ("return a not in b", ["return a in b"]),
        ("return a and b", ["return a or b"]),
        ("return a < b < 7", ["return a <= b < 7", "return a < b <= 7", "return a < b < 8"]),
        ("return not (a or b)", ["return (a or b)", "return not (a and b)"]),
        ("return a + b", ["return a - b"]),
        ("return a + 'text'", []),
        ("return a[-1]", ["return a[-2]"]),
        ("return True", ["return False"]),
        ("a.append(b)", ["pass"]),
        ("a.total = b", ["pass"]),
        ("a = a.strip()", ["pass"]),
        ("c = a.strip()", []),
        ("a += b", ["pass"]),
        ("return max(a, b)", ["return min(a, b)"]),
        ("return a.f(a, b)", ["return a.f(b, a)"]),
        ("return f(a, x=b, y=a)", ["return f(a, y=a)", "return f(a, x=b)"]),
        ("return f(x=b)", ["return f()"]),
        ("return zip(a, b, strict=True)", ["return zip(b, a, strict=True)"]),
        ("return [x for x in items if x]", ["return [x for x in items if True]"]),
        ("return a if b else 'c'", ["return a if not b else 'c'"]),
        ("raise ValueError(1 + 2)", []),
        ('"""Return 1 < 2."""', []),
    ],
)
def test_a_line_has_these_mutants(line: str, changed: list[str]) -> None:
    assert changes(line) == changed


def test_a_guard_is_dropped_or_negated() -> None:
    assert changes("if a:", "    return b", "return a") == ["if False:", "if not a:"]


def test_a_default_is_changed_but_not_that_of_a_stub() -> None:
    found = find_mutants("evals/rows.py", "def f(a=1):\n    return a\ndef g(a=1): ...\n")
    assert [mutant.new for mutant in found] == ["def f(a=2):"]


def test_drawn_mutants_stand_in_a_function_each_and_change_it(
    sources: dict[str, str], drawn: list[Mutant]
) -> None:
    assert len(drawn) == COUNT == len({(mutant.file, mutant.function) for mutant in drawn})
    for mutant in drawn:
        source = sources[mutant.file]
        changed = mutant.apply(source)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))
        assert changed.count("\n") == source.count("\n")  # functions are swapped by their lines
        function = next(
            node
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.lineno == mutant.function_line
        )
        assert function.lineno <= mutant.line <= (function.end_lineno or 0)
        assert mutant.function.endswith(function.name)


def test_every_room_has_its_share(drawn: list[Mutant]) -> None:
    counts = Counter(room_of(mutant.file) for mutant in drawn)
    assert counts.keys() == SMALL_ROOMS
    assert counts["prompts"] < counts["flow"] < counts["graphs"]


def test_a_draw_depends_on_seed_and_source_alone(sources: dict[str, str], drawn: list[Mutant]) -> None:
    assert draw(dict(reversed(sources.items())), 1, COUNT) == drawn
    assert draw(sources, 2, COUNT) != drawn


def test_a_mutant_keeps_its_key_where_other_lines_change(sources: dict[str, str]) -> None:
    file = "prompts/__init__.py"
    moved = "# A comment.\n\n" + sources[file]
    before, after = (find_mutants(file, source) for source in (sources[file], moved))
    assert [mutant.key for mutant in before] == [mutant.key for mutant in after]
    assert len({mutant.key for mutant in before}) == len(before)


def test_modules_are_named_as_they_are_imported() -> None:
    assert module_of("evals/rows.py") == "dialectree.evals.rows"
    assert module_of("dialectree/text.py") == "dialectree.text"
    assert module_of("prompts/__init__.py") == "dialectree.prompts"
