"""Measured numbers: their names, the bounds that they must keep, and the table of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Figure:
    """One measured number."""

    part: str
    name: str
    value: float
    unit: str = ""
    limit: float | None = None
    """The benchmark fails above this."""
    least: float | None = None
    """The benchmark fails below this."""
    note: str = ""

    @property
    def held(self) -> bool:
        """Return whether the number keeps its bounds."""
        above = self.limit is None or self.value <= self.limit
        return above and (self.least is None or self.value >= self.least)

    def row(self) -> tuple[str, str, str, str]:
        """Return the cells of the table."""
        bounds = [
            f"{word} {bound:g} {'✓' if self.held else '✗'}"
            for word, bound in (("at most", self.limit), ("at least", self.least))
            if bound is not None
        ]
        return self.name, f"{self.value:,.4g} {self.unit}", ", ".join(bounds), self.note


def show(figures: Sequence[Figure], console: Console) -> None:
    """Print a table for each part."""
    for part in dict.fromkeys(figure.part for figure in figures):
        table = Table(title=part, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
        table.add_column("measured", min_width=50)
        table.add_column("value", justify="right", min_width=12)
        table.add_column("must hold", min_width=14)
        table.add_column("note")
        for figure in figures:
            if figure.part == part:
                table.add_row(*figure.row())
        console.print(table)


def write(figures: Iterable[Figure], path: Path) -> None:
    """Write the figures as JSON."""
    rows = [{**asdict(figure), "held": figure.held} for figure in figures]
    path.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
