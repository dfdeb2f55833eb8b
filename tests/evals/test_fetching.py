"""Fetching: the pinned file or nothing. The server is on this machine."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dialectree.errors import InputError
from dialectree.evals import fetching
from dialectree.evals.catalogue import CATALOGUE
from dialectree.evals.datasets import load
from dialectree.evals.fetching import Pin, fetched
from dialectree.evals.tables import rows

CONTENT = b'id,claim,label\n1,"Ice is cold",yes\n'
DIGEST = hashlib.sha256(CONTENT).hexdigest()
Answer = Callable[[BaseHTTPRequestHandler], None]


def give(content: bytes = CONTENT, status: int = 200, length: int | None = None) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Length", str(length or len(content)))
        request.end_headers()
        request.wfile.write(content)

    return answer


@contextmanager
def serving(answer: Answer) -> Iterator[tuple[str, list[str]]]:
    """Serve ``answer``: its address, and the paths that were asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            answer(self)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/at/commit/claims.csv", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def refused(url: str, timeout_s: float = fetching.TIMEOUT_S) -> None:
    """Nothing is fetched, one line says why, and nothing is left behind."""
    with pytest.raises(InputError) as caught:
        fetched(Pin(url, DIGEST), timeout_s)
    message = str(caught.value)
    assert "cannot be fetched" in message and "--data FILE" in message and "\n" not in message
    home = fetching.folder()
    assert not home.exists() or [*home.iterdir()] == []


def test_a_file_is_fetched_once_into_the_cache_folder_and_a_damaged_copy_anew(
    tmp_path: Path,
) -> None:
    with serving(give()) as (url, asked):
        path = fetched(Pin(url, DIGEST))
        assert fetched(Pin(url, DIGEST)) == path
        assert (path.read_bytes(), len(asked)) == (CONTENT, 1)
        assert path.parent == tmp_path / "cache" / "datasets" and [*path.parent.iterdir()] == [path]
        path.write_bytes(CONTENT[:9])
        assert fetched(Pin(url, DIGEST)).read_bytes() == CONTENT


def hang(request: BaseHTTPRequestHandler) -> None:
    threading.Event().wait(0.5)


@pytest.mark.parametrize(
    "answer", [give(b"something else"), give(status=404), give(length=len(CONTENT) + 5), hang]
)
def test_another_file_an_error_half_a_file_or_silence_is_refused(answer: Answer) -> None:
    with serving(answer) as (url, _):
        refused(url, timeout_s=0.2)


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/x", "http://["])
def test_an_address_without_a_server_is_refused(url: str) -> None:
    refused(url)


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir(exist_ok=True)
    (tmp_path / "cache" / "datasets").write_text("x")
    with pytest.raises(InputError, match="cannot be fetched"):
        fetched(Pin("http://127.0.0.1:9/x", DIGEST))


def test_a_set_by_name_is_fetched_and_read() -> None:
    with serving(give()) as (url, _):
        medqa = replace(
            CATALOGUE["medqa"],
            pin=Pin(url, DIGEST),
            published=lambda path, text: iter(rows(path, text)),
        )
        loaded = load("medqa", catalogue={"medqa": medqa})
    assert loaded.sha256 == DIGEST
    assert loaded.items[0].reference.label is True
