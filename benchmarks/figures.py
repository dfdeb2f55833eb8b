"""What was measured: named numbers, what each must not exceed, and the table of them."""

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
    target: float | None = None
    """What is aimed at on an idle machine."""
    note: str = ""

    @property
    def held(self) -> bool:
        """True unless the number exceeds its limit."""
        return self.limit is None or self.value <= self.limit

    def row(self) -> tuple[str, str, str, str]:
        """The cells of the table."""
        bounds = [
            f"{word} {bound:g}"
            for word, bound in (("target", self.target), ("limit", self.limit))
            if bound is not None
        ]
        mark = "" if self.limit is None else " ✓" if self.held else " ✗"
        unit = f" {self.unit}" if self.unit else ""
        return self.name, f"{_short(self.value)}{unit}", ", ".join(bounds) + mark, self.note


def _short(value: float) -> str:
    """Three or so significant digits; whole numbers as they are."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def show(figures: Sequence[Figure], console: Console) -> None:
    """A table for each part."""
    for part in dict.fromkeys(figure.part for figure in figures):
        table = Table(title=part, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
        table.add_column("measured", min_width=46)
        table.add_column("value", justify="right", min_width=16)
        table.add_column("must hold", min_width=26)
        table.add_column("note")
        for figure in figures:
            if figure.part == part:
                table.add_row(*figure.row())
        console.print(table)


def write(figures: Iterable[Figure], path: Path) -> None:
    """The same as JSON."""
    rows = [{**asdict(figure), "held": figure.held} for figure in figures]
    path.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
