"""Plots: the same bytes each time, text as text, colours that follow the page."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dialectree.evals import drawing, figures
from dialectree.evals.drawing import Plot
from dialectree.evals.items import Task
from dialectree.evals.reporting.analysis import analysed
from dialectree.evals.reporting.study import RUBRIC, study
from dialectree.evals.results import Score
from tests.evals import sample


def plots(folder: Path, task: Task, n: int = 24, **fields: object) -> list[Plot]:
    return figures.plots(analysed(study([sample.evaluation(folder, task, n, **fields)])))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("task", "keys"),
    [
        ("answer", ["accuracy", "front", "reliability", "risk", "categories"]),
        ("verify", ["accuracy", "front", "reliability", "roots", "risk", "categories"]),
        ("compare", ["summaries"]),
    ],
)
def test_each_task_has_its_plots(tmp_path: Path, task: Task, keys: list[str]) -> None:
    assert [plot.key for plot in plots(tmp_path, task)] == keys


def test_the_same_results_are_drawn_the_same(tmp_path: Path) -> None:
    first, second = (dict(drawing.files(plots(tmp_path, "decide"))) for _ in range(2))
    assert first == second
    assert all(data.startswith((b"<?xml", b"\x89PNG")) for data in first.values())


def test_a_plot_in_a_page_takes_its_colours_and_keeps_its_text(tmp_path: Path) -> None:
    made = plots(tmp_path, "answer")
    ids: list[str] = []
    for plot in made:
        drawn = drawing.inline(plot)
        ElementTree.fromstring(drawn)
        assert not re.search(r"#[0-9a-f]{6}\b", drawn)
        assert "var(--plot-0)" in drawn and "<style" not in drawn and "<script" not in drawn
        assert ">tsd<" in drawn
        ids += re.findall(r'\bid="([^"]*)"', drawn)
        assert set(re.findall(r'(?:xlink:href="#|url\(#)([^")]*)', drawn)) <= set(ids)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", ["$x^2$ \\frac", "<b>&amp;</b>", "模型 🙂", "a\x07\u202eb", ""])
def test_a_name_is_only_a_name(tmp_path: Path, name: str) -> None:
    asked = sample.items("answer", 6)
    rows = [sample.row("tsd", name=f"{name}1"), sample.row("single_shot", name=f"{name}2")]
    found = study(
        [sample.write(tmp_path, "answer", rows, asked, sample.results("answer", rows, asked))]
    )
    for plot in figures.plots(analysed(found)):
        ElementTree.fromstring(plot.svg)
        ElementTree.fromstring(drawing.inline(plot))
        assert plot.png


def test_an_interval_that_begins_at_0_is_drawn_from_0(tmp_path: Path) -> None:
    rows = [sample.row("tod")]
    asked = sample.items("compare", 2)
    marks = (0.0, 100.0)
    results = [
        made.model_copy(
            update={
                "status": "answered",
                "scores": [Score(key=key, score=mark, value="scored") for key in RUBRIC],
            }
        )
        for made, mark in zip(sample.results("compare", rows, asked), marks, strict=True)
    ]
    found = study([sample.write(tmp_path, "compare", rows, asked, results)])
    (plot,) = (one for one in figures.plots(analysed(found)) if one.key == "summaries")
    arms = [list(line.get_xdata()) for line in plot.figure.axes[0].get_lines()]  # type: ignore[arg-type]
    assert arms[0] == [0, 100]


def right_at(folder: Path, right: dict[str, set[str]]) -> dict[str, Plot]:
    """The plots of methods that are right at these of four questions."""
    rows = [sample.row(method) for method in right]
    asked = sample.items("decide", 4)
    results = []
    for made in sample.results("decide", rows, asked):
        score = Score(key="choice", score=float(made.item in right[made.row]), value="scored")
        results.append(made.model_copy(update={"status": "answered", "scores": [score]}))
    found = study([sample.write(folder, "decide", rows, asked, results)])
    return {plot.key: plot for plot in figures.plots(analysed(found))}


ALL = {"q1", "q2", "q3", "q4"}


@pytest.mark.parametrize(
    ("dear", "cheap", "drawn"), [(ALL, {"q1"}, True), ({"q1"}, ALL, False), (ALL, ALL, False)]
)
def test_the_legend_names_the_front_where_there_is_a_line(
    tmp_path: Path, dear: set[str], cheap: set[str], drawn: bool
) -> None:
    plot = right_at(tmp_path, {"rsd": dear, "basic": cheap})["front"]
    _, names = plot.figure.axes[0].get_legend_handles_labels()
    assert ("nothing cheaper is as good" in names) is drawn


def test_a_mark_at_0_or_100_percent_is_drawn_whole(tmp_path: Path) -> None:
    made = right_at(tmp_path, {"rsd": ALL, "basic": set()})
    assert {"accuracy", "front", "reliability", "risk", "categories"} <= made.keys()
    for key in made.keys() - {"reliability"}:  # its curves' small marks lie under larger ones
        lines = made[key].figure.axes[0].get_lines()
        marked = [line for line in lines if line.get_marker() not in ("", "None", None)]
        assert marked and not any(line.get_clip_on() for line in marked if len(line.get_xdata()))  # type: ignore[arg-type]
