"""List the evaluations of folders: title, data, and the accuracy of each row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dialectree.errors import DialectreeError, RunNotFound
from dialectree.evals.results import PAGE, EvaluationFile, Result, measure, outcome
from dialectree.evals.results_file import Folder
from dialectree.text import line

_FILE = "evaluation.json"
PAGES = {"report": PAGE, "audit": "audit.html", "route": "route.html"}
"""The pages of an evaluation, by the command that writes each: ``dialectree eval report``."""


def find_evaluations(folders: Iterable[Path]) -> dict[str, Path]:
    """Return the evaluations in ``folders``, or directly below them, by name."""
    places = [file.parent for folder in folders for file in (folder / _FILE, *folder.glob(f"*/{_FILE}"))]
    return {place.resolve().name: place for place in places if (place / _FILE).is_file()}


def find_evaluation(folders: Mapping[str, Path], name: str) -> Path:
    """Return the folder of an evaluation; RunNotFound for an unknown name."""
    if name not in folders:
        raise RunNotFound(f"there is no evaluation {name!r:.200} here")
    return folders[name]


def list_evaluations(folders: Mapping[str, Path]) -> list[dict[str, Any]]:
    """Return an entry for each evaluation, the newest first, with the reason if it cannot be read."""
    entries = (_make_list_entry(name, Folder(folder)) for name, folder in folders.items())
    return sorted(entries, key=lambda entry: str(entry["started"]), reverse=True)


def _make_list_entry(name: str, folder: Folder) -> dict[str, Any]:
    """Return the list entry of an evaluation, with the reason if the evaluation cannot be read."""
    try:
        return _summary(name, folder)
    except (DialectreeError, OSError, ValueError, LookupError) as error:
        why = line(str(error) or type(error).__name__, 300)
        return {"name": name, "title": name, "started": "", "damaged": why, "rows": [], "pages": []}


def _summary(name: str, folder: Folder) -> dict[str, Any]:
    """Return the list entry of an evaluation, with a line for each row."""
    evaluation = folder.require_evaluation()
    results: dict[str, dict[str, Result]] = {row.name: {} for row in evaluation.rows}
    for result in folder.results():
        results.setdefault(result.row, {})[result.item] = result
    return {
        "name": name,
        "title": evaluation.title,
        "data": evaluation.data.name,
        "questions": len(evaluation.items),
        "started": evaluation.started,
        "ended": evaluation.ended,
        "demonstration": evaluation.demonstration,
        "rows": [*_rows(evaluation, results)],
        "report": (folder.path / PAGE).is_file(),
        "pages": [
            {"name": page, "href": f"evaluations/{quote(name, safe='')}/{file}"}
            for page, file in PAGES.items()
            if (folder.path / file).is_file()
        ],
    }


def _rows(
    evaluation: EvaluationFile, results: Mapping[str, Mapping[str, Result]]
) -> Iterable[dict[str, Any]]:
    """Yield each row: its method, its number of results and of judged answers, and its accuracy.

    ``accuracy`` is ``right`` divided by ``asked``: a withheld answer is not right. Failed questions are
    not counted. All three are None if nothing says what is right.
    """
    for row in evaluation.rows:
        done = [*results[row.name].values()]
        key = measure(done)
        ends = [outcome(result, key) for result in done]
        right, judged = ends.count("right"), ends.count("right") + ends.count("wrong")
        asked = judged + ends.count("unanswered")
        yield {
            "name": row.name,
            "method": row.method,
            "done": len(done),
            "judged": judged,
            "accuracy": right / asked if asked else None,
            "right": right if asked else None,
            "asked": asked or None,
        }
