"""Plots: the same bytes each time, text as text, colours that follow the page."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from dialectree.evals.dataset_items import Task
from dialectree.evals.plots import Plot, inline, plots
from dialectree.evals.reporting.analysis import analysed
from dialectree.evals.reporting.study import study
from tests.evals import sample


def drawn(folder: Path, task: Task) -> list[Plot]:
    return plots(analysed(study([sample.evaluation(folder, task, 24)])))


def test_a_plot_is_drawn_the_same_each_time(tmp_path: Path) -> None:
    (one,), (other,) = drawn(tmp_path, "compare"), drawn(tmp_path, "compare")
    assert one.key == "summaries"
    assert one.svg == other.svg and one.svg.startswith("<?xml")
    assert one.png == other.png and one.png.startswith(b"\x89PNG")


def test_a_plot_in_a_page_takes_its_colours_and_keeps_its_text(tmp_path: Path) -> None:
    ids: list[str] = []
    plots_of_answers = drawn(tmp_path, "answer")
    assert [plot.key for plot in plots_of_answers] == ["accuracy", "front", "reliability", "risk"]
    for plot in plots_of_answers:
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
