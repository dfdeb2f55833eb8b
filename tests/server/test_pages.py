"""The page on a server: its file needs no key, and its policy lets only its own code run."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send

from dialectree.interfaces.server import pages

SCRIPT, STYLE = "let a = 1 < 2;\n", "b { color: red }"
STAND_IN = f"""<!doctype html><style>{STYLE}</style>
<script id="data" type="text/plain"></script><script type="module">{SCRIPT}</script>"""


class AsksForAKey:
    """Stands for the keys of a server: it refuses all that comes this far."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = PlainTextResponse("no key", 401) if scope["type"] == "http" else self._app
        await app(scope, receive, send)


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """Return a client of a server that has a page and asks for keys."""
    monkeypatch.setattr(pages, "FILE", tmp_path / "page.html")
    pages.FILE.write_text(STAND_IN)
    app = Starlette(
        routes=[Route("/debates", AsksForAKey)], middleware=[Middleware(pages.Pages), Middleware(AsksForAKey)]
    )
    yield TestClient(Starlette(routes=[Mount("/prefix", app), Mount("/", app)]))


@pytest.mark.parametrize("prefix", ["", "/prefix"])
def test_the_page_needs_no_key_and_all_else_does(client: TestClient, prefix: str) -> None:
    found = client.get(f"{prefix}/page")
    assert (found.status_code, found.text) == (200, STAND_IN)
    assert found.url.path == f"{prefix}/page/"
    assert client.head(f"{prefix}/page/").status_code == 200
    others = ("/debates", "/page/x", "/page//", "/Page/", "/page/../debates", "/")
    assert {client.get(f"{prefix}{path}").status_code for path in others} == {401}
    assert client.post(f"{prefix}/page/").status_code == 401


def test_the_policy_lets_the_script_and_the_style_of_the_page_run_and_no_other(client: TestClient) -> None:
    found = client.get("/page/")
    policy = dict(part.strip().split(" ", 1) for part in found.headers["content-security-policy"].split(";"))
    script, style = (b64encode(sha256(one.encode()).digest()).decode() for one in (SCRIPT, STYLE))
    assert policy["default-src"] == "'self'"
    assert policy["script-src"] == f"'sha256-{script}'"
    assert policy["style-src"] == f"'sha256-{style}'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert found.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in found.headers
