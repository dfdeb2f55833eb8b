"""arXiv: an id fetches its PDF once, within the deadline, or says what to do by hand."""

from __future__ import annotations

import contextlib
import gzip
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from dialectree.errors import InputError
from dialectree.retrieval import arxiv
from dialectree.retrieval.papers import read
from tests.retrieval import pdfs


class Shelf(ThreadingHTTPServer):
    """Serve PDFs by their path, and keep the paths of the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.papers: dict[str, bytes] = {}
        self.paths: list[str] = []
        self.accepted: list[str | None] = []
        self.seconds = 0.0


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        shelf = self.server
        assert isinstance(shelf, Shelf)
        shelf.paths.append(self.path)
        if self.path.endswith("/2402.00003"):
            self.send_response(301)
            self.send_header("Location", "/pdf/2402.13234")
            self.end_headers()
            return
        data = shelf.papers.get(self.path.removeprefix("/pdf/"))
        shelf.accepted.append(self.headers["Accept-Encoding"])
        self.send_response(200 if data is not None else 404)
        if data is not None and data.startswith(b"\x1f\x8b"):
            self.send_header("Content-Encoding", "gzip, gzip")
        self.send_header("Content-Length", str(len(data or b"")))
        self.end_headers()
        time.sleep(shelf.seconds)
        with contextlib.suppress(OSError):
            self.wfile.write(data or b"")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    server = Shelf()
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    monkeypatch.setattr(arxiv, "ADDRESS", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("2402.13234", "2402.13234"),
        ("arXiv:2402.13234", "2402.13234"),
        ("math.GT/0309136", "math.GT/0309136"),
        ("http://www.arxiv.org/pdf/2402.13234.pdf", "2402.13234"),
        ("paper.pdf", None),
        ("math.GT/٠٣٠٩١٣٦", None),
    ],
)
def test_ids_are_known_by_their_form(source: str, found: str | None) -> None:
    assert arxiv.id_in(source) == found


def test_a_paper_is_fetched_by_its_id(shelf: Shelf) -> None:
    text = ["# Introduction", *pdfs.sentences(5)]
    shelf.papers = {"2402.13234": pdfs.paper(text), "math.GT/0309136": pdfs.paper(text)}
    paper = read("arXiv:2402.13234")
    assert paper.name == "arXiv:2402.13234"
    assert paper.title == "A Study of Paired Debates"
    assert read("https://arxiv.org/abs/math.GT/0309136").name == "arXiv:math.GT/0309136"
    assert read("2402.00003").passages == paper.passages
    assert shelf.paths[:2] == ["/pdf/2402.13234", "/pdf/math.GT/0309136"]


def test_a_failed_download_says_to_fetch_it_by_hand(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.papers = {"2402.13234": b"<html>no</html>", "2402.00001": b"%PDF-1.4" + b" " * 5000}
    with pytest.raises(InputError, match=r"^arXiv:2402.13234: .*something else .*by hand"):
        read("2402.13234")
    with pytest.raises(InputError, match=r"^arXiv:2402.99999: arXiv has no such paper"):
        read("2402.99999")
    monkeypatch.setattr(arxiv, "LARGEST", 1000)
    with pytest.raises(InputError, match=r"^arXiv:2402.00001: over .*by hand"):
        read("2402.00001")
    monkeypatch.setattr(arxiv, "DEADLINE", 0.3)
    shelf.seconds = 1.0
    with pytest.raises(InputError, match=r"^arXiv:2402.13234: no reply within 0.3 s.*by hand"):
        read("2402.13234")


def test_a_packed_reply_is_not_unpacked(shelf: Shelf) -> None:
    """A few bytes, packed twice, could fill the memory before their size is known."""
    shelf.papers = {"2402.13234": gzip.compress(gzip.compress(pdfs.paper(pdfs.sentences(5))))}
    with pytest.raises(InputError, match="something else than a PDF"):
        read("2402.13234")
    assert shelf.accepted == ["identity"]


def test_other_addresses_are_not_fetched() -> None:
    with pytest.raises(InputError, match="only arXiv"):
        read("https://example.org/paper.pdf")


def test_without_a_network_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arxiv, "ADDRESS", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(InputError, match=r"^arXiv:2402.13234: no connection .*by hand") as caught:
        read("2402.13234")
    assert "\n" not in str(caught.value)
