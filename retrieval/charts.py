"""Read charts of Word, Excel and PowerPoint as tables with the names of their series."""

from __future__ import annotations

from itertools import groupby
from typing import Any, NamedTuple

from dialectree.retrieval.archives import iterate_texts, read_attribute
from dialectree.retrieval.builder import Cell, DocumentBuilder


class _Series(NamedTuple):
    """The points of one line, or of the bars of one colour, by their numbers."""

    name: str
    categories: dict[str, str]
    values: dict[str, str]


def read_chart(chart: Any, builder: DocumentBuilder, page: int | None = None) -> None:
    """Add the titles of a chart as notes, and its points as the rows of a table."""
    for paragraph in chart.iter("{*}p"):
        text = "".join(iterate_texts(paragraph, "t"))
        builder.expect(text)
        if (block := builder.make(text, "note", page)) is not None:
            builder.append(block)
    series = [_read_series(element) for element in chart.iter("{*}ser")]
    for _, alike in groupby(series, key=lambda data_series: data_series.categories):
        group = [*alike]
        points = [number for data_series in group for number in data_series.values]
        rows = [["", *(data_series.name for data_series in group)]]
        for number in dict.fromkeys([*group[0].categories, *points]):
            category = group[0].categories.get(number, "")
            rows.append([category, *(data_series.values.get(number, "") for data_series in group)])
        for row in rows:
            builder.expect(" ".join(row))
        for block in builder.make_rows([[*map(Cell, row)] for row in rows], 1, page):
            builder.append(block)


def _read_series(series: Any) -> _Series:
    name = " ".join(_read_points(series.find("{*}tx")).values())
    return _Series(
        name or "".join(iterate_texts(series.find("{*}tx"), "v")),
        _read_points(series.find("{*}cat")) or _read_points(series.find("{*}xVal")),
        _read_points(series.find("{*}val")) or _read_points(series.find("{*}yVal")),
    )


def _read_points(element: Any) -> dict[str, str]:
    """Return the points by their numbers; labels of several levels are joined."""
    if element is None:
        return {}
    percent = any("%" in code for code in iterate_texts(element, "formatCode"))
    points: dict[str, str] = {}
    for point in element.iter("{*}pt"):
        number, text = read_attribute(point, "idx"), "".join(iterate_texts(point, "v"))
        text = _format_percent(text) if percent else text
        points[number] = f"{text} {points[number]}" if number in points else text
    return points


def _format_percent(text: str) -> str:
    try:
        return f"{float(text) * 100:.12g} %"
    except ValueError:
        return text
