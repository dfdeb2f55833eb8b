"""Write runs and evaluations as a static site, for ``dialectree view --bundle``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic_core import from_json, to_json

from dialectree.evals.evaluation_list import list_evaluations
from dialectree.interfaces.cli import streams
from dialectree.records import RunSummary
from dialectree.records.folder import RunFolder
from dialectree.report.bundle import INDEX, RUNS, Bundle, BundledEvaluation
from dialectree.report.published import FolderNames
from dialectree.service.debates import Debates
from dialectree.text import count

_EVALUATIONS = "evaluations"
_PAGES = {"report.html": "report", "audit.html": "audit", "route.html": "route"}
"""The pages of an evaluation, the first one behind its title."""
_FILES = ("*.html", "report.md", "report.csv", "audit.md", "audit.json", "route.md", "report/*")
"""The files of an evaluation that readers elsewhere get."""
_TEXTS = (".csv", ".html", ".json", ".md", ".svg")
_SHEETS = "rating-sheet"
"""The beginning of the names of files for raters, which are no result."""


def write_bundle(folder: Path, runs: Path, evaluations: Mapping[str, Path]) -> None:
    """Write the runs in ``runs`` and the evaluations by name into ``folder``; print its index.

    Runs under way are left out, and a line says so.
    """
    bundle = Bundle(folder)
    names = FolderNames([Path.home(), Path.cwd(), runs.absolute(), runs.resolve()])
    inside = [place for place in evaluations.values() if runs.resolve() == (place / "runs").resolve()]
    summaries = [] if inside else _write_runs(bundle, RUNS, runs, names)
    entries = {str(entry["name"]): entry for entry in list_evaluations(evaluations)}
    bundled = [_write_evaluation(bundle, entry, evaluations[name], names) for name, entry in entries.items()]
    bundle.write("debates.json", to_json(summaries, indent=1))
    bundle.write_index(INDEX, "Debates", summaries, bundled)
    bundle.finish()
    print(folder / INDEX)
    streams.notice(f"{count(len(summaries), 'run')} and {count(len(bundled), 'evaluation')} are in {folder}")


def _write_runs(bundle: Bundle, place: str, runs: Path, names: FolderNames) -> list[RunSummary]:
    """Write the runs that have ended into ``place``; return their summaries, the newest first."""
    summaries: list[RunSummary] = []
    under_way: list[str] = []
    for summary in Debates(runs).list_runs(streams.notice):
        if summary.status == "running":
            under_way.append(summary.run_id)
            continue
        bundle.write_run(f"{place}/{summary.run_id}", RunFolder(runs / summary.run_id), names)
        dumped = summary.model_copy(update={"owner": None, "thread": None}).model_dump(mode="json")
        summaries.append(RunSummary.model_validate(names.including(dumped["models"]).hide_in(dumped)))
    if under_way:
        streams.notice(f"{count(len(under_way), 'run')} under way left out: {', '.join(under_way)}")
    return summaries


def _write_evaluation(
    bundle: Bundle, entry: Mapping[str, Any], folder: Path, names: FolderNames
) -> BundledEvaluation:
    """Write the reports and the runs of an evaluation, and a list of its runs."""
    place = f"{_EVALUATIONS}/{entry['name']}"
    hidden = names.including(_read_json(folder / "evaluation.json"), str(folder.resolve() / "results.jsonl"))
    copied: list[str] = []
    for file in sorted(file for pattern in _FILES for file in folder.glob(pattern)):
        if file.is_file() and not file.name.startswith(_SHEETS):
            name = file.relative_to(folder).as_posix()
            bundle.write(f"{place}/{name}", _read_hidden(file, hidden))
            copied.append(name)
    summaries = _write_runs(bundle, f"{place}/runs", folder / "runs", hidden)
    title = str(entry.get("title") or entry["name"])
    bundle.write_index(f"{place}/{INDEX}", title, summaries, above=f"../../{INDEX}")
    address = f"{_EVALUATIONS}/{quote(str(entry['name']), safe='')}"
    pages = {title: f"{address}/{page}" for page, title in _PAGES.items() if page in copied}
    return BundledEvaluation(hidden.hide_in({**entry}), {**pages, "its runs": f"{address}/{INDEX}"})


def _read_hidden(file: Path, names: FolderNames) -> bytes:
    """Return a file's content, without folders of this machine if it is a text."""
    content = file.read_bytes()
    return names.hide(content.decode()).encode() if file.suffix in _TEXTS else content


def _read_json(file: Path) -> object:
    """Return the JSON in a file; empty if the file cannot be read."""
    try:
        return from_json(file.read_bytes())
    except (OSError, ValueError):
        return {}
