"""Reads the data set of the paper: pairs of papers, each on one topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_PARTS = ("title", "abstract", "introduction")
_COLUMNS = (
    *("topic", "url_a", "title_a", "abstract_a", "introduction_a"),
    *("url_b", "title_b", "abstract_b", "introduction_b", "task", "cites"),
)


def pair(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return two papers and a topic; the category says what they share and whether one cites.

    ``method_or_task`` is ``method`` where the task is the same and the method another.
    """
    cited = str(row["cites"]).lower() in ("true", "1", "yes")
    fields = {
        "category": f"{row['method_or_task']}, {'cited' if cited else 'not cited'}",
        "topic": row["topic"],
    }
    for side in "ab":
        paper = row[f"paper_{side}"]
        if not isinstance(paper, dict):
            raise ValueError(f"'paper_{side}' is not an object with title, abstract, introduction")
        fields |= {f"{part}_{side}": paper.get(part) for part in (*_PARTS, "body")}
    return fields


def published(text: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of tree_of_debate_dataset.tsv: a pair a line, eleven cells, nothing quoted.

    Lines broken by a stray tab or line break are left out; an id is a place among all lines.
    """
    for place, line in enumerate(text.split("\n")[1:]):
        cells = [cell.strip() for cell in line.rstrip("\r").split("\t")]
        if len(cells) != len(_COLUMNS) or not {cells[-2], cells[-1]} <= {"0", "1"}:
            continue
        row = dict(zip(_COLUMNS, cells, strict=True))
        yield {
            "id": f"tod-{place:03}",
            "topic": row["topic"],
            "method_or_task": "task" if row["task"] == "1" else "method",
            "cites": row["cites"],
            **{f"paper_{s}": {part: row[f"{part}_{s}"] for part in _PARTS} for s in "ab"},
        }
