"""The table that a paper prints: every figure computed a second time, and LaTeX that compiles."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from pylatexenc.latexwalker import LatexEnvironmentNode, LatexWalker
from scipy.stats import norm

from dialectree.errors import InputError
from dialectree.evals.reporting.analysis import analyse_study
from dialectree.evals.reporting.formatting import Table
from dialectree.evals.reporting.paper_table import make_paper_table, write_paper_table
from dialectree.evals.reporting.study import study
from dialectree.evals.reporting.writing import ENDINGS, print_paper_table, report
from dialectree.evals.results import AnswerScore, Result
from dialectree.records import Usage, Verdict
from tests.cli.commands import command, refused
from tests.evals import sample

ROWS = {
    "rsd": "11111 11111 1110- 0000-",
    "basic": "11110 10000 10000 00100",
    "self_consistency": "11110 00000 11000 11001",
}
"""By method and question: right (1), wrong (0) or withheld (-)."""
NAMES = {"rsd": "RSD", "basic": "RSD w/o both", "self_consistency": "Self-consistency@9"}
Z = float(norm.isf(0.025))


def outcomes(method: str) -> str:
    return ROWS[method].replace(" ", "")


def written(folder: Path, names: dict[str, str] | None = None) -> Path:
    """An evaluation of 20 questions by three methods."""
    rows = [sample.row(method, name=(names or {}).get(method, "")) for method in ROWS]
    results = [
        Result(
            row=row.name,
            item=f"q{number}",
            status="unresolved" if end == "-" else "answered",
            verdict=Verdict() if end == "-" else Verdict(answer="x", label="A"),
            scores=[
                AnswerScore(
                    key="choice", score=float(end == "1"), value="unanswered" if end == "-" else "scored"
                )
            ],
            usage=Usage(calls=3 + number % 2, prompt_tokens=900 + number, completion_tokens=50),
            ended=sample.STAMP,
        )
        for row in rows
        for number, end in enumerate(outcomes(row.method), 1)
    ]
    return sample.write(folder, "decide", rows, sample.items("decide", 20), results)


# The formulas, from their papers


def wilson(right: int, n: int) -> tuple[float, float]:
    """The roots of (p − p̂)² = z² p (1 − p) / n in p."""
    a, b, c = 1 + Z**2 / n, -2 * right / n - Z**2 / n, (right / n) ** 2
    root = math.sqrt(b**2 - 4 * a * c)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def bisect(rejected: Callable[[float], bool], inside: float, outside: float) -> float:
    for _ in range(80):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if rejected(middle) else (middle, outside)
    return inside


def tango(only_first: int, only_second: int, n: int) -> tuple[float, float]:
    """The differences whose score statistic is at most z; q is the constrained estimate of p21."""
    b, c = only_first, only_second

    def rejected(delta: float) -> bool:
        second = 2 * n  # the quadratic of Tango's appendix: 2n q² + B q + C = 0
        first = -b - c + (2 * n - b + c) * delta
        q = (-first + math.sqrt(max(0.0, first**2 + 4 * second * c * delta * (1 - delta)))) / (2 * second)
        variance = n * (2 * q + delta * (1 - delta))
        return variance > 0 and abs(b - c - n * delta) / math.sqrt(variance) > Z

    value = (b - c) / n
    return bisect(rejected, value, -1.0), bisect(rejected, value, 1.0)


def mcnemar(only_first: int, only_second: int) -> float:
    """Twice the smaller tail of a fair coin's binomial distribution."""
    n = only_first + only_second
    tail = sum(math.comb(n, k) for k in range(min(only_first, only_second) + 1))
    return float(min(Fraction(1), 2 * Fraction(tail, 2**n)))


def holm(ps: dict[str, float]) -> dict[str, float]:
    adjusted, least = {}, 0.0
    for place, name in enumerate(sorted(ps, key=lambda name: ps[name])):
        least = max(least, min(1.0, (len(ps) - place) * ps[name]))
        adjusted[name] = least
    return adjusted


def lines(text: str) -> dict[str, dict[str, str]]:
    return {line["method"]: line for line in csv.DictReader(text.splitlines())}


def test_every_figure_of_the_table_is_what_its_formula_gives(tmp_path: Path) -> None:
    table = lines(print_paper_table([written(tmp_path)], "csv"))
    assert [*table] == [*NAMES.values()]
    baseline = outcomes("self_consistency")
    ledgers = {}
    for method, name in NAMES.items():
        ends, line = outcomes(method), table[name]
        right = ends.count("1")
        assert (line["n"], line["withheld"]) == ("20", str(ends.count("-")))
        assert float(line["accuracy"]) == pytest.approx(right / 20, abs=1e-4)
        interval = float(line["accuracy_low"]), float(line["accuracy_high"])
        assert interval == pytest.approx(wilson(right, 20), abs=1e-4)
        assert float(line["calls"]) == 3.5
        assert float(line["tokens"]) == pytest.approx(950 + 10.5)
        if method == "self_consistency":
            compared = ("paired_difference", "paired_difference_low", "p_holm", "cohens_h")
            assert {line[key] for key in compared} == {""}
            continue
        pairs = list(zip(ends, baseline, strict=True))
        only_first = sum(a == "1" != b for a, b in pairs)
        only_second = sum(b == "1" != a for a, b in pairs)
        ledgers[name] = only_first, only_second
        assert float(line["paired_difference"]) == pytest.approx((only_first - only_second) / 20, abs=1e-4)
        ends_of_it = float(line["paired_difference_low"]), float(line["paired_difference_high"])
        assert ends_of_it == pytest.approx(tango(only_first, only_second, 20), abs=1e-4)
        h = 2 * math.asin(math.sqrt(right / 20)) - 2 * math.asin(math.sqrt(baseline.count("1") / 20))
        assert float(line["cohens_h"]) == pytest.approx(h, abs=1e-4)
    ps = {name: mcnemar(*ledger) for name, ledger in ledgers.items()}
    # RSD withheld two answers, so that it is tested at equal coverage as well; the draw of the two
    # answers that its rival withholds is by the seed.
    (as_many,) = (
        one.as_many for one in analyse_study(study([tmp_path])).comparisons if one.as_many is not None
    )
    assert sum(as_many.second) in (7, 8, 9)
    gained = sum(a > b for a, b in zip(as_many.first, as_many.second, strict=True))
    lost = sum(b > a for a, b in zip(as_many.first, as_many.second, strict=True))
    corrected = holm({**ps, "at equal coverage": mcnemar(gained, lost)})
    for name in ledgers:
        assert float(table[name]["p_holm"]) == pytest.approx(corrected[name], rel=1e-3)


def test_the_forms_say_the_same_in_markdown_and_latex(tmp_path: Path) -> None:
    folder = written(tmp_path)
    table = lines(print_paper_table([folder], "csv"))
    markdown = print_paper_table([folder], "md").splitlines()
    latex = print_paper_table([folder], "latex")
    for name, line in table.items():
        (row,) = (text for text in markdown if text.startswith(f"| {name} |"))
        shares = [100 * float(line[key]) for key in ("accuracy", "accuracy_low", "accuracy_high")]
        cell = "{:.1f}% [{:.1f}, {:.1f}]".format(*shares)
        assert cell in row and cell.replace("%", r"\%") in latex
    assert "Paired difference to Self-consistency@9" in markdown[-1]
    assert "exact McNemar test, corrected by Holm over 3 tests" in markdown[-1]


HOSTILE = {
    "rsd": r"50% & more_of #1 {x} \input{y} ~^ $z$",
    "basic": "模型 <b> | 10⁻⁴ × − –",
    "self_consistency": "a" * 80,
}


def compiled(latex: str) -> list[list[str]]:
    """Parse LaTeX strictly and return the cells of its one tabular; raise for what would not compile."""
    nodes, _, length = LatexWalker(latex, tolerant_parsing=False).get_latex_nodes()
    assert length == len(latex)
    (table,) = (node for node in nodes if isinstance(node, LatexEnvironmentNode))
    (tabular,) = (node for node in table.nodelist if isinstance(node, LatexEnvironmentNode))
    assert (table.environmentname, tabular.environmentname) == ("table", "tabular")
    assert not re.search(r"(?<!\\)[#_^~]", re.sub(r"\$[^$]*\$", "", latex))  # only inside formulas
    assert len(re.findall(r"(?<!\\)\$", latex)) % 2 == 0
    assert latex.splitlines()[0].startswith("%")
    assert not [line for line in latex.splitlines()[1:] if re.search(r"(?<!\\)%", line)]
    body = latex[latex.index(r"\toprule") : latex.index(r"\bottomrule")]
    rows = [line for line in body.splitlines() if "&" in line]
    assert all(line.endswith(r" \\") for line in rows)
    columns = re.search(r"\\begin\{tabular\}\{([lr]+)\}", latex)
    cells = [re.split(r"(?<!\\)&", line.removesuffix(r"\\")) for line in rows]
    assert columns and {len(line) for line in cells} == {len(columns[1])}
    return [[cell.strip() for cell in line] for line in cells]


@pytest.mark.parametrize("names", [None, HOSTILE])
def test_the_latex_compiles_whatever_a_method_is_called(names: dict[str, str] | None, tmp_path: Path) -> None:
    cells = compiled(print_paper_table([written(tmp_path, names)], "latex"))
    assert len(cells) == 4 and cells[0][1] == "$n$"
    if names:
        assert cells[1][0].startswith(r"50\% \& more\_of \#1 \{x\} \textbackslash{}input\{y\}")
        assert cells[2][0].endswith(r"$10^{-4}$ $\times$ $-$ --")


def test_small_p_values_and_summaries_are_written_in_every_form(tmp_path: Path) -> None:
    marks = sample.evaluation(tmp_path / "compare", "compare", 8)
    for form in ENDINGS:
        assert "ToD (No Tree)" in print_paper_table([marks], form)
    assert "mark [95\\%]" in print_paper_table([marks], "latex")
    table = lines(print_paper_table([marks], "csv"))
    assert "cohens_h" not in table["ToD"] and float(table["ToD"]["mark"]) > 50
    compiled(print_paper_table([marks], "latex"))
    rows = [sample.row("rsd"), sample.row("self_consistency")]
    asked = sample.items("decide", 90)
    results = sample.results("decide", rows, asked, shares={"rsd": 2.0, "self_consistency": -1.0})
    folder = sample.write(tmp_path / "clear", "decide", rows, asked, results)
    assert r"$\times$$10^{-" in print_paper_table([folder], "latex")
    assert 0 < float(lines(print_paper_table([folder], "csv"))["RSD"]["p_holm"]) < 1e-12


def test_methods_with_baselines_of_their_own_name_them(tmp_path: Path) -> None:
    rows = [
        *(sample.row("rsd", name="plain"), sample.row("self_consistency", name="samples")),
        *(sample.row("rsd", candidates="oracle", name="on two"),),
        *(sample.row("judge_alone", candidates="oracle", name="judge on two"),),
    ]
    asked = sample.items("decide", 12)
    folder = sample.write(tmp_path, "decide", rows, asked, sample.results("decide", rows, asked))
    table = lines(print_paper_table([folder], "csv"))
    baselines = {name: line["baseline"] for name, line in table.items()}
    assert baselines == {"plain": "samples", "samples": "", "on two": "judge on two", "judge on two": ""}
    compiled(print_paper_table([folder], "latex"))


def test_a_table_needs_an_answer(tmp_path: Path) -> None:
    rows = [sample.row("rsd")]
    empty = sample.write(tmp_path, "decide", rows, sample.items("decide", 2), [])
    assert make_paper_table(analyse_study(study([empty]))) is None
    with pytest.raises(InputError, match="no answer has been judged yet"):
        print_paper_table([empty], "md")
    report([empty])
    assert not (tmp_path / "report" / "paper.csv").exists()


def test_the_command_prints_the_table_that_the_report_keeps(tmp_path: Path) -> None:
    folder = written(tmp_path / "e")
    for form, ending in ENDINGS.items():
        done = command("eval", "report", str(folder), "--table", form)
        assert (done.status, done.err) == (0, "")
        assert not (folder / "report.html").exists()
        assert done.out == write_paper_table(table_of(folder), form)
        report([folder])
        assert (folder / "report" / f"paper.{ending}").read_text() == done.out
        page = (folder / "report.html").read_text()
        (folder / "report.html").unlink()
        assert 'id="copy-table"' in page and '<option value="latex">LaTeX</option>' in page
    refused(command("eval", "report", str(folder), "--table", "html"), "html")
    other = command("eval", "report", str(folder), "--table", "csv", "--baseline", "basic")
    assert lines(other.out)["RSD w/o both"]["p_holm"] == "" != lines(other.out)["RSD"]["p_holm"]


def table_of(folder: Path) -> Table:
    table = make_paper_table(analyse_study(study([folder])))
    assert table is not None
    return table
