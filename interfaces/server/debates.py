"""Routes that show the runs of one folder: list, record, events, reports, difference.

A client sees only its own runs. File work stays out of the event loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from math import inf
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from dialectree import report
from dialectree.contests.run_diff import difference
from dialectree.errors import DialectreeError, InputError, RunNotFound, fault_line
from dialectree.evidence.documents import describe_source
from dialectree.interfaces.background import BackgroundDebates
from dialectree.interfaces.server.following import events
from dialectree.interfaces.server.keys import owner_of
from dialectree.protocols.sources import runs_home
from dialectree.records import RunSummary
from dialectree.records.folder import RunFolder
from dialectree.report.memo_files import MemoFile, MemoFormat, write_memo


class _Page(BaseModel):
    """The query of a list: which runs, in which order, and how many of them."""

    after: str = ""
    """The id of the last run that the client has."""
    limit: int = Field(default=100, ge=1, le=1000)
    sort: Literal["newest", "figure", "cost", "calls", "question"] = "newest"
    """The largest figure, cost or number of calls comes first, a run without that value last. Runs of one
    question are together. Among equals the newest comes first."""
    protocol: str = ""
    status: str = ""
    """A status of runs; ``waiting`` selects the runs that wait for a person."""
    text: str = ""
    """A text that occurs in a run's question, answer or id, or in the id of the run that it contests."""

    def select(self, summaries: Sequence[RunSummary]) -> list[RunSummary]:
        """Return the matching runs, at most one more than a page has."""
        remaining = iter(summaries if self.sort == "newest" else sorted(summaries, key=self._key))
        if self.after and not any(summary.run_id == self.after for summary in remaining):
            raise RunNotFound(f"`after`: there is no run {self.after!r:.200} of yours here")
        return [*islice(filter(self._fits, remaining), self.limit + 1)]

    def _key(self, summary: RunSummary) -> str | float:
        if self.sort == "question":
            return summary.question.casefold()
        figure = summary.verdict.confidence if summary.verdict else None
        value = {"figure": figure, "cost": summary.cost, "calls": summary.calls}[self.sort]
        return inf if value is None else -value

    def _fits(self, summary: RunSummary) -> bool:
        answer = summary.verdict.answer if summary.verdict else None
        parts = summary.run_id, summary.contests, summary.question, answer
        searchable_text = " ".join(filter(None, parts)).casefold()
        return (
            self.protocol in ("", summary.protocol)
            and self.status in ("", summary.status, "waiting" * summary.waits)
            and self.text.casefold() in searchable_text
        )


class _After(BaseModel):
    after: int = Field(ge=0)


Query = TypeVar("Query", bound=BaseModel)
_log = logging.getLogger("dialectree")
_PAGE = {
    # The page's own policy names its script. The sandbox keeps it from the routes of the runs.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox allow-scripts",
    "Referrer-Policy": "no-referrer",
}
SAFE = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
RUNS = "dialectree.runs"
"""The key of the folder of runs in a request's scope. Without the key, the server's folder is used."""


def _runs(request: Request) -> Path:
    """Return the folder of runs that the request is about."""
    return Path(request.scope.get(RUNS) or runs_home())


def debates_of(request: Request) -> BackgroundDebates:
    """Return the debates that the client may see. A debate can ask the person at the page."""
    owner = owner_of(_identity(request))
    return BackgroundDebates(_runs(request), owner=owner, files_from=(), person=True)


def _identity(request: Request) -> str:
    return str(request.user.identity) if "user" in request.scope else ""


def _make_run_endpoint(work: Callable[[RunFolder], str | bytes]) -> Callable[[Request], Any]:
    """Return the endpoint of a run: it answers with the text that ``work`` makes of the run."""

    async def answer(request: Request) -> Response:
        def read() -> str | bytes:
            return work(debates_of(request).find(request.path_params["run_id"]))

        kind = {"html": "text/html", "md": "text/markdown"}.get(
            request.url.path.rpartition(".")[2], "application/json"
        )
        page = _PAGE if kind == "text/html" else {}
        content = await asyncio.to_thread(read)
        return Response(content, media_type=kind, headers={**SAFE, **page})

    return answer


class _Memo(BaseModel):
    format: MemoFormat = "md"


async def download_memo(request: Request) -> Response:
    """Answer with the memo of a run, as a file to keep."""
    format = _query(_Memo, request).format

    def write() -> MemoFile:
        return write_memo(debates_of(request).find(request.path_params["run_id"]).record(), format)

    file = await asyncio.to_thread(write)
    page = _PAGE if format == "html" else {}
    name = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}"}
    return Response(file.content, media_type=file.media_type, headers={**SAFE, **page, **name})


async def list_runs(request: Request) -> Response:
    """Answer with a page of the client's runs, the newest first unless ``sort`` says otherwise.

    The header ``Link`` has the address of the next page, ``Protocols`` the protocols of all runs.
    """
    page = _query(_Page, request)

    def read() -> tuple[list[RunSummary], set[str]]:
        summaries = debates_of(request).list_runs(_log.warning)
        return page.select(summaries), {summary.protocol for summary in summaries}

    matches, protocols = await asyncio.to_thread(read)
    rows = matches[: page.limit]
    headers = {**SAFE, "Protocols": ",".join(map(quote, sorted(protocols)))}
    if len(matches) > page.limit:
        following = request.url.include_query_params(after=rows[-1].run_id)
        headers["Link"] = f'<?{following.query}>; rel="next"'
    return Response(to_json(rows), media_type="application/json", headers=headers)


async def no_evaluations(request: Request) -> Response:
    """Answer with an empty list; ``dialectree view`` has a route that finds the evaluations of its folder."""
    return JSONResponse([], headers=SAFE)


async def follow(request: Request) -> Response:
    """Answer with the events of a run as they come, one server-sent event each."""
    latest = request.headers.get("last-event-id") or request.query_params.get("after") or "0"
    after = _query(_After, request, {"after": latest}).after
    folder = await asyncio.to_thread(debates_of(request).find, request.path_params["run_id"])
    headers = {**SAFE, "X-Accel-Buffering": "no"}
    return StreamingResponse(events(folder, after), media_type="text/event-stream", headers=headers)


def _report(run: RunFolder) -> str:
    return report.html(run.record(), run.calls(), run.events(), run.texts())


def _load_contested_record(run: RunFolder) -> str:
    """Return the record of the run that ``run`` contests."""
    if not (run.path / "contested.json").is_file():
        raise RunNotFound(f"{run.run_id} contests no run")
    return run.read_contested_record().model_dump_json()


async def compare(request: Request) -> Response:
    """Answer with the difference of two runs."""

    def read() -> str:
        runs, names = debates_of(request), request.path_params
        return difference(runs.result(names["run_id"]), runs.result(names["other"])).model_dump_json()

    content = await asyncio.to_thread(read)
    return Response(content, media_type="application/json", headers=SAFE)


async def show_source(request: Request) -> Response:
    """Answer with all blocks of a source of a run, and with what was left out of it."""

    def read() -> bytes:
        names = request.path_params
        return to_json(describe_source(debates_of(request).find(names["run_id"]), names["digest"]))

    content = await asyncio.to_thread(read)
    return Response(content, media_type="application/json", headers=SAFE)


def _query(kind: type[Query], request: Request, parameters: Mapping[str, str] | None = None) -> Query:
    """Return the query of a request; raise InputError if it does not fit."""
    try:
        return kind.model_validate(parameters or dict(request.query_params))
    except ValidationError as error:
        raise InputError(f"the query: {fault_line(error):.300}") from None


def body_of(kind: type[Query], content: bytes, how: str = "") -> Query:
    """Return the body of a request; raise InputError unless it is JSON in the shape of ``kind``."""
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        raise InputError(f"the body: {fault_line(error):.300}{how}") from None


async def refuse(request: Request, error: Exception) -> Response:
    """Answer with the line that says what went wrong."""
    status = 404 if isinstance(error, RunNotFound) else 422 if isinstance(error, InputError) else 502
    line = str(error).replace(f"{_runs(request)}/", "")  # clients must not learn the folder's path
    return JSONResponse({"detail": line}, status, headers=SAFE)


routes = [
    Route("/debates", list_runs),
    Route("/debates/{run_id}", _make_run_endpoint(lambda run: run.record().model_dump_json())),
    Route("/debates/{run_id}/report.html", _make_run_endpoint(_report)),
    Route(
        "/debates/{run_id}/report.md",
        _make_run_endpoint(lambda run: report.markdown(run.record(), run.calls())),
    ),
    Route("/debates/{run_id}/memo", download_memo),
    Route("/debates/{run_id}/events", follow),
    Route("/debates/{run_id}/calls", _make_run_endpoint(lambda run: to_json(run.calls()))),
    Route("/debates/{run_id}/prompts", _make_run_endpoint(lambda run: to_json(run.texts()))),
    Route("/debates/{run_id}/sources/{digest}", show_source),
    Route("/debates/{run_id}/contested", _make_run_endpoint(_load_contested_record)),
    Route("/debates/{run_id}/compare/{other}", compare),
    Route("/evaluations", no_evaluations),
]
exception_handlers = {DialectreeError: refuse}
