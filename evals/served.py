"""Serve the evaluations of folders over HTTP: a list of evaluations, and the pages of each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from dialectree.errors import RunNotFound
from dialectree.evals.evaluation_list import PAGES, find_evaluation, list_evaluations

_SAFE = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
_REPORT = {
    # The report's own policy names its script. The sandbox bars that script from the runs' routes.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox allow-scripts allow-popups",
    "Referrer-Policy": "no-referrer",
}


def routes(
    evaluations: Callable[[], Mapping[str, Path]], address_of: Callable[[str, str], str]
) -> list[Route]:
    """Return the routes of the list of evaluations, and of a redirect to each of their pages.

    ``evaluations`` is called at each request. ``address_of`` returns the address of a page by the
    name of the evaluation and the page's file.
    """

    async def send_list(request: Request) -> Response:
        """Answer with the evaluations, the newest first."""
        entries = await asyncio.to_thread(lambda: list_evaluations(evaluations()))
        return JSONResponse(entries, headers=_SAFE)

    async def to_page(request: Request) -> Response:
        """Redirect to a page of an evaluation."""
        name, file = str(request.path_params["name"]), request.url.path.rpartition("/")[2]
        await asyncio.to_thread(lambda: find_evaluation(evaluations(), name))
        headers = {**_SAFE, "Referrer-Policy": "no-referrer"}
        return RedirectResponse(address_of(name, file), headers=headers)

    return [
        Route("/evaluations", send_list),
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
