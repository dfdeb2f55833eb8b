"""Fetching: the pinned file or nothing, whole or not at all. The server is on this machine."""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dialectree.errors import DiskFull, InputError
from dialectree.evals import fetching
from dialectree.evals.catalogue import CATALOGUE, Dataset
from dialectree.evals.datasets import load
from dialectree.evals.fetching import Pin, fetched
from dialectree.evals.tables import rows

CONTENT = b'id,claim,label\n1,"Ice is cold",yes\n'
DIGEST = hashlib.sha256(CONTENT).hexdigest()
Answer = Callable[[BaseHTTPRequestHandler], None]


def give(content: bytes = CONTENT, status: int = 200, said: int | None = None) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Length", str(said or len(content)))
        request.end_headers()
        request.wfile.write(content)

    return answer


@contextmanager
def serving(answer: Answer) -> Iterator[tuple[str, list[str]]]:
    """An address where ``answer`` is given, and the paths that were asked for."""
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


def refused(url: str, home: Path, said: str, **limits: float) -> None:
    """Nothing is fetched, one line says why, and nothing is left behind."""
    with pytest.raises(InputError) as caught:
        fetched(Pin(url, DIGEST), home, **limits)  # type: ignore[arg-type]
    told = str(caught.value)
    assert said in told and "--data FILE" in told and "\n" not in told
    assert not home.exists() or [*home.iterdir()] == []


def test_a_file_is_fetched_once_and_kept(tmp_path: Path) -> None:
    with serving(give()) as (url, asked):
        path = fetched(Pin(url, DIGEST), tmp_path / "kept")
        assert fetched(Pin(url, DIGEST), tmp_path / "kept") == path
    assert path.read_bytes() == CONTENT and path.name.endswith("-claims.csv")
    assert len(asked) == 1
    assert [*path.parent.iterdir()] == [path]


def test_it_is_kept_in_the_users_cache_folder(tmp_path: Path) -> None:
    assert fetching.folder() == tmp_path / "cache" / "datasets"


def test_a_damaged_copy_is_fetched_anew(tmp_path: Path) -> None:
    with serving(give()) as (url, asked):
        path = fetched(Pin(url, DIGEST), tmp_path)
        path.write_bytes(CONTENT[:9])
        assert fetched(Pin(url, DIGEST), tmp_path).read_bytes() == CONTENT
    assert len(asked) == 2


def test_another_file_than_the_pinned_one_is_refused_with_both_hashes(tmp_path: Path) -> None:
    with serving(give(b"something else")) as (url, _):
        refused(url, tmp_path / "kept", DIGEST)
        refused(url, tmp_path / "kept", hashlib.sha256(b"something else").hexdigest())


def test_an_error_half_a_file_a_huge_one_or_nobody_is_refused(tmp_path: Path) -> None:
    for answer, said in (
        (give(status=404), "status 404"),
        (give(said=len(CONTENT) + 5), "cannot be fetched"),
        (give(b"x" * 2000), "more than 1,000 bytes"),
    ):
        with serving(answer) as (url, _):
            refused(url, tmp_path / "kept", said, largest=1000)
    refused(url, tmp_path / "kept", "cannot be fetched")
    refused("http://[", tmp_path / "kept", "cannot be fetched")


def test_nothing_is_unpacked_on_the_way(tmp_path: Path) -> None:
    """A few bytes, packed twice, could fill the memory before their size is known."""
    wanted: list[str | None] = []

    def packed(request: BaseHTTPRequestHandler) -> None:
        wanted.append(request.headers["Accept-Encoding"])
        request.send_response(200)
        request.send_header("Content-Encoding", "gzip, gzip")
        request.end_headers()
        request.wfile.write(gzip.compress(gzip.compress(CONTENT)))

    with serving(packed) as (url, _):
        refused(url, tmp_path / "kept", "another file")
    assert wanted == ["identity"]


def test_a_server_that_hangs_or_drips_is_given_up(tmp_path: Path) -> None:
    over = threading.Event()

    def hang(request: BaseHTTPRequestHandler) -> None:
        over.wait(5)

    def drip(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        while not over.wait(0.02):
            try:
                request.wfile.write(b"x")
            except OSError:
                return

    for answer in (hang, drip):
        over.clear()
        with serving(answer) as (url, _):
            refused(url, tmp_path / "kept", "cannot be fetched", deadline_s=0.2)
            over.set()


def test_a_full_disk_is_said_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dialectree.evals.fetching.os.fsync", full)
    with serving(give()) as (url, _), pytest.raises(DiskFull, match="no room left"):
        fetched(Pin(url, DIGEST), tmp_path)
    assert [*tmp_path.iterdir()] == []


def test_a_folder_that_cannot_be_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="file"):
        fetched(Pin("http://127.0.0.1:9/x", DIGEST), tmp_path / "file")


def test_a_set_by_name_is_fetched_and_read(tmp_path: Path) -> None:
    with serving(give()) as (url, _):
        medqa: Dataset = replace(
            CATALOGUE["medqa"],
            pin=Pin(url, DIGEST),
            published=lambda path, data: iter(rows(path, data)),
        )
        loaded = load("medqa", catalogue={"medqa": medqa})
    assert loaded.sha256 == DIGEST
    assert loaded.items[0].reference.label is True
