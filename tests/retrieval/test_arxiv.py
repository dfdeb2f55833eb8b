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

PAPER = pdfs.paper(["# Introduction", *pdfs.sentences(5)])
SERVED = {
    "2402.13234": PAPER,
    "math.GT/0309136": PAPER,
    "2402.00001": b"<html>no</html>",
    "2402.00002": b"%PDF-1.4" + b" " * 2 * len(PAPER),
    "2402.00004": gzip.compress(PAPER),
}
"""What arXiv sends, by the id; a few bytes that it packs could unpack to gigabytes."""


class Handler(BaseHTTPRequestHandler):
    """Serve the PDFs; 2402.00003 stands elsewhere, and 2402.00005 takes a second."""

    def do_GET(self) -> None:
        identifier = self.path.removeprefix("/pdf/")
        data = SERVED.get(identifier, b"")
        moved = identifier == "2402.00003"
        time.sleep(identifier == "2402.00005")
        with contextlib.suppress(OSError):
            self.send_response(301 if moved else 200 if data else 404)
            if moved:
                self.send_header("Location", "/pdf/2402.13234")
            if data.startswith(b"\x1f\x8b"):
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    monkeypatch.setattr(arxiv, "ADDRESS", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("source", "identifier"),
    [
        ("2402.13234", "2402.13234"),
        ("arXiv:2402.13234", "2402.13234"),
        ("math.GT/0309136", "math.GT/0309136"),
        ("http://www.arxiv.org/pdf/2402.13234.pdf", "2402.13234"),
        ("paper.pdf", None),
        ("math.GT/٠٣٠٩١٣٦", None),
    ],
)
def test_ids_are_known_by_their_form(source: str, identifier: str | None) -> None:
    assert arxiv.find_id(source) == identifier


def test_a_paper_is_fetched_by_its_id(served: None) -> None:
    paper = read("arXiv:2402.13234")
    assert (paper.name, paper.title) == ("arXiv:2402.13234", "A Study of Paired Debates")
    assert read("https://arxiv.org/abs/math.GT/0309136").name == "arXiv:math.GT/0309136"
    assert read("2402.00003").passages == paper.passages


@pytest.mark.parametrize(
    ("identifier", "why"),
    [
        ("2402.00001", "something else .*by hand"),
        ("2402.99999", "arXiv has no such paper"),
        ("2402.00002", "over .*by hand"),
        ("2402.00004", "something else than a PDF"),
        ("2402.00005", "no reply within 0.5 s.*by hand"),
    ],
)
def test_a_failed_download_says_to_fetch_it_by_hand(
    identifier: str, why: str, served: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arxiv, "LARGEST_FILE", len(PAPER))
    monkeypatch.setattr(arxiv, "DEADLINE", 0.5)
    with pytest.raises(InputError, match=rf"\AarXiv:{identifier}: .*{why}[^\n]*\Z"):
        read(identifier)


def test_other_addresses_are_not_fetched() -> None:
    with pytest.raises(InputError, match="only arXiv"):
        read("https://example.org/paper.pdf")


def test_without_a_network_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arxiv, "ADDRESS", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(InputError, match=r"\AarXiv:2402.13234: no connection .*by hand[^\n]*\Z"):
        read("2402.13234")
