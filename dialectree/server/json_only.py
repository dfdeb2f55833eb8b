"""Guard the server against what any web page may send to this machine unasked.

A browser sends a form or plain text to another site without asking that site first, and LangGraph's
API would read JSON in it. JSON under its own name is asked for first, and ``http.cors`` in
langgraph.json says no. A WebSocket is never asked for first: only pages name their Origin in it.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

_REFUSED = "send the body as JSON, with the header Content-Type: application/json"


class JsonOnly:
    """Answers 415 to a body that does not say that it is JSON; closes the WebSocket of a page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "http" and _is_unnamed(Headers(scope=scope)):
            refused = JSONResponse({"detail": _REFUSED}, status_code=415)
            await refused(scope, receive, send)
        elif scope["type"] == "websocket" and "origin" in Headers(scope=scope):
            await WebSocketClose()(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _is_unnamed(headers: Headers) -> bool:
    """Tell whether there is a body, and it is not called JSON."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    return body and kind != "application/json"
