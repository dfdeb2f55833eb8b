"""Plots: the same bytes each time, text as text, colours that follow the page."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dialectree.evals.dataset_items import Task
from dialectree.evals.plot_style import Plot, inline
from dialectree.evals.plots import plots
from dialectree.evals.reporting.analysis import analysed
from dialectree.evals.reporting.study import study
from dialectree.evals.results import Score
from tests.evals import sample


def drawn(folder: Path, task: Task) -> list[Plot]:
    return plots(analysed(study([sample.evaluation(folder, task, 24)])))


@pytest.mark.parametrize(
    ("task", "keys"),
    [
        ("answer", ["accuracy", "front", "reliability", "risk"]),
        ("compare", ["summaries"]),
    ],
)
def test_each_task_has_its_plots_which_are_drawn_the_same_each_time(
    tmp_path: Path, task: Task, keys: list[str]
) -> None:
    first, second = drawn(tmp_path, task), drawn(tmp_path, task)
    assert [plot.key for plot in first] == keys
    for one, other in zip(first, second, strict=True):
        assert one.svg == other.svg and one.svg.startswith("<?xml")
        assert one.png == other.png and one.png.startswith(b"\x89PNG")


def test_a_plot_in_a_page_takes_its_colours_and_keeps_its_text(tmp_path: Path) -> None:
    ids: list[str] = []
    for plot in drawn(tmp_path, "answer"):
        text = inline(plot)
        ElementTree.fromstring(text)
        assert not re.search(r"#[0-9a-f]{6}\b", text)
        assert "var(--plot-0)" in text and "<style" not in text and "<script" not in text
        assert ">tsd<" in text
        ids += re.findall(r'\bid="([^"]*)"', text)
        assert set(re.findall(r'(?:xlink:href="#|url\(#)([^")]*)', text)) <= set(ids)
    assert len(ids) == len(set(ids))


def test_a_name_is_only_a_name(tmp_path: Path) -> None:
    asked = sample.items("answer", 6)
    names = ("$x^2$ \\frac", "<b>&amp;</b>", "模型 🙂", "a\x07\u202eb")
    rows = [sample.row("tsd", name=name) for name in names]
    results = sample.results("answer", rows, asked)
    found = study([sample.write(tmp_path, "answer", rows, asked, results)])
    for plot in plots(analysed(found)):
        ElementTree.fromstring(plot.svg)
        ElementTree.fromstring(inline(plot))


ALL = {"q1", "q2", "q3", "q4"}


@pytest.mark.parametrize(
    ("dear", "cheap", "stepped"), [(ALL, {"q1"}, True), ({"q1"}, ALL, False), (ALL, set(), True)]
)
def test_the_front_has_a_line_and_marks_at_its_ends_are_whole(
    tmp_path: Path, dear: set[str], cheap: set[str], stepped: bool
) -> None:
    right = {"rsd": dear, "basic": cheap}
    rows, asked = [sample.row(method) for method in right], sample.items("decide", 4)
    results = []
    for made in sample.results("decide", rows, asked):
        score = Score(key="choice", score=float(made.item in right[made.row]), value="scored")
        results.append(made.model_copy(update={"status": "answered", "scores": [score]}))
    found = study([sample.write(tmp_path, "decide", rows, asked, results)])
    made_plots = {plot.key: plot for plot in plots(analysed(found))}
    _, names = made_plots["front"].figure.axes[0].get_legend_handles_labels()
    assert ("nothing cheaper is as good" in names) is stepped
    for key in ("accuracy", "front", "risk"):
        lines = made_plots[key].figure.axes[0].get_lines()
        drawn = [line for line in lines if len(line.get_xdata())]  # type: ignore[arg-type]
        marked = [line for line in drawn if line.get_marker() not in ("", "None", None)]
        assert marked and not any(line.get_clip_on() for line in marked)
