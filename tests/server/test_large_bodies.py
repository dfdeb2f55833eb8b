"""Bodies that are larger than a server takes, told by their header or counted as they come."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from dialectree.interfaces.server.keys import SmallOnly


@pytest.fixture
def client() -> TestClient:
    """Return a client of a server that answers with the number of bytes, of 1000 at most."""

    async def measure(request: Request) -> PlainTextResponse:
        return PlainTextResponse(str(len(await request.body())))

    route = Route("/", measure, methods=["POST"])
    return TestClient(Starlette(routes=[route], middleware=[Middleware(SmallOnly, largest=1000)]))


@pytest.mark.parametrize("size", [0, 1, 1000, 1001, 5000])
@pytest.mark.parametrize("told", [True, False])
def test_a_body_is_taken_up_to_the_limit(client: TestClient, size: int, *, told: bool) -> None:
    def pieces() -> Iterator[bytes]:
        yield from (b"x" * len(range(at, min(at + 300, size))) for at in range(0, size, 300))

    answer = client.post("/", content=b"x" * size if told else pieces())
    if size <= 1000:
        assert (answer.status_code, answer.text) == (200, str(size))
    else:
        assert answer.status_code == 413 and "at most 64 MB" in answer.text


@pytest.mark.parametrize("says", ["-1", "many", "1e9", "٣", ""])
def test_a_length_that_is_none_does_not_count(client: TestClient, says: str) -> None:
    headers = {b"content-length": says.encode()}
    answer = client.post("/", content=iter([b"x" * 400] * 3), headers=headers)
    assert answer.status_code == 413
