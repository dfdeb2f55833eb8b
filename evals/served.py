"""Serve the evaluations of folders over HTTP: a list of evaluations, and the pages of each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from dialectree.errors import DialectreeError, RunNotFound
from dialectree.evals.results import PAGE, EvaluationFile, Result, measure, outcome
from dialectree.evals.results_file import Folder
from dialectree.text import line

_FILE = "evaluation.json"
PAGES = {"report": PAGE, "audit": "audit.html", "route": "route.html"}
"""The pages of an evaluation, by the command that writes each: ``dialectree eval report``."""
_SAFE = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
_REPORT = {
    # The report's own policy names its script. The sandbox bars that script from the runs' routes.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox allow-scripts allow-popups",
    "Referrer-Policy": "no-referrer",
}


def find_evaluations(folders: Iterable[Path]) -> dict[str, Path]:
    """Return the evaluations in ``folders``, or directly below them, by name."""
    places = [file.parent for folder in folders for file in (folder / _FILE, *folder.glob(f"*/{_FILE}"))]
    return {place.resolve().name: place for place in places if (place / _FILE).is_file()}


def place(folders: Mapping[str, Path], name: str) -> Path:
    """Return the folder of an evaluation; RunNotFound for an unknown name."""
    if name not in folders:
        raise RunNotFound(f"there is no evaluation {name!r:.200} here")
    return folders[name]


def routes(
    evaluations: Callable[[], Mapping[str, Path]], address_of: Callable[[str, str], str]
) -> list[Route]:
    """Return the routes of the list of evaluations, and of a redirect to each of their pages.

    ``evaluations`` is called at each request. ``address_of`` returns the address of a page by the
    name of the evaluation and the page's file.
    """

    async def list_evaluations(request: Request) -> Response:
        """Answer with the evaluations, the newest first."""
        return JSONResponse(await asyncio.to_thread(read), headers=_SAFE)

    def read() -> list[dict[str, Any]]:
        entries = (_make_list_entry(name, Folder(folder)) for name, folder in evaluations().items())
        return sorted(entries, key=lambda entry: str(entry["started"]), reverse=True)

    async def to_page(request: Request) -> Response:
        """Redirect to a page of an evaluation."""
        name, file = str(request.path_params["name"]), request.url.path.rpartition("/")[2]
        await asyncio.to_thread(lambda: place(evaluations(), name))
        headers = {**_SAFE, "Referrer-Policy": "no-referrer"}
        return RedirectResponse(address_of(name, file), headers=headers)

    return [
        Route("/evaluations", list_evaluations),
        *(Route(f"/evaluations/{{name}}/{file}", to_page) for file in PAGES.values()),
    ]


def report_routes(folder: Callable[[Scope], Path]) -> list[Route]:
    """Return the routes of the pages, tables and plots of the evaluation in a folder."""

    def page_route(name: str, file: str) -> Route:
        async def answer(request: Request) -> Response:
            """Answer with the page."""

            def page() -> bytes:
                path = folder(request.scope) / file
                if not path.is_file():
                    raise RunNotFound(f"there is no {name} yet: dialectree eval {name} writes it")
                return path.read_bytes()

            content = await asyncio.to_thread(page)
            return Response(content, media_type="text/html", headers={**_SAFE, **_REPORT})

        return Route(f"/{file}", answer)

    async def send_report_file(request: Request) -> Response:
        """Answer with a table or a plot of the report."""

        def path() -> Path:
            file = str(request.path_params["file"])
            path = folder(request.scope) / "report" / file
            if not path.is_file():
                raise RunNotFound(f"there is no {file!r:.200} in the report")
            return path

        return FileResponse(await asyncio.to_thread(path), headers={**_SAFE, **_REPORT})

    return [
        Route("/report/{file}", send_report_file),
        *(page_route(name, file) for name, file in PAGES.items()),
        Route("/runs/{run_id}/{file}", _to_run),
    ]


async def _to_run(request: Request) -> Response:
    """Redirect a link in a report to the page that shows the run."""
    return RedirectResponse(f"../../page/?{urlencode({'run': request.path_params['run_id']})}")


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

    ``right`` of ``asked`` counts a withheld answer as not right; failed questions are not counted.
    Both are None if nothing says what is right.
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
            "accuracy": right / judged if judged else None,
            "right": right if asked else None,
            "asked": asked or None,
        }
