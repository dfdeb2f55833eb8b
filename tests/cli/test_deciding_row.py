"""A row of a PDF's table decides a claim, and the claim is undecided without that file."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from dialectree.service.debates import Debates
from tests.cli.commands import command
from tests.endpoint.instances import Inventor, resolved, words_of
from tests.retrieval.test_awkward_documents import FOLDER

CLAIM = "Belmark has 12 hospitals."
ROW = "Country: Belmark; Hospitals: 12; Schools: 30"
POINT = "The table counts 12 hospitals."
WORDS = ["--embeddings", "bm25", "--no-cache", "--quiet", "--depth", "1", "--breadth", "1"]
TEXTS = {
    "a.txt": "The coast\n\nThe coast of Belmark is rocky. Few ships land there.",
    "b.md": "# Roads\n\nThe roads of Belmark are paved. Hospitals are not mentioned here.",
    "c.html": "<h1>Trains</h1><p>Trains stop in Belmark at noon. They are slow.</p>",
    "d.tex": "\\section{Schools}\nSchools of Belmark open in May. They close in June.",
    "e.json": '{"town": "Lund in Belmark", "people": 900}',
}


def reply_fields(prompt: str) -> dict[str, Any]:
    """Return the fields of a reply that depend on what the prompt shows."""
    shown = re.findall(r"^\[(e\d+)\] (.*)$", prompt, re.MULTILINE)
    rows = [name for name, words in shown if "Country: Belmark; Hospitals: 12" in words]
    argues = "You argue for the statement" in prompt
    points = re.findall(r"^(p\d+): ", prompt, re.MULTILINE)
    return {
        "evidence": [{"point": POINT, "sentences": rows}] if rows and argues else [],
        "look_for": [],
        "rests_on": rows,
        "marks": [{"point": name, "reason": "It does.", "verdict": "yes"} for name in points],
        "winner": "SUPPORT" if POINT in prompt else "TIE",
        "truth": 0.9 if POINT in prompt else 0.5,
        "weight": 0.9 if POINT in prompt else 0.5,
    }


class Reader(BaseHTTPRequestHandler):
    """Plays every role by what a prompt shows: it finds the row itself, under any id."""

    fields = staticmethod(reply_fields)

    def do_POST(self) -> None:
        """Answer a chat completion; any other way to ask is not there."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "messages" not in body:
            self._send({"error": {"message": "not found"}}, 404)
            return
        prompt = "\n\n".join(message["content"] for message in body["messages"])
        schema = resolved(body["response_format"]["json_schema"]["schema"])
        inventor = Inventor(random.Random(prompt), words_of(prompt), self.fields(prompt))
        content = json.dumps(inventor.instance(schema))
        message = {"role": "assistant", "content": content}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        about = {"id": "1", "object": "chat.completion", "created": 0, "model": body["model"]}
        self._send({**about, "choices": [choice], "usage": usage})

    def _send(self, answer: dict[str, Any], status: int = 200) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing of a request."""


@contextmanager
def serve_model(handler: type[Reader]) -> Iterator[list[str]]:
    """Serve a model; yield the flags that name it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield ["--model", f"openai:reader@http://127.0.0.1:{server.server_port}/v1"]
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def model() -> Iterator[list[str]]:
    """Serve the reader; return the flags that name it."""
    with serve_model(Reader) as flags:
        yield flags


@pytest.fixture
def valley() -> str:
    """Return a folder with one document of each format that is read."""
    folder = Path("valley")
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    for name in ("sup.docx", "table.pdf"):
        shutil.copy(FOLDER / name, folder)
    return str(folder)


@pytest.mark.parametrize("part", ["source", "segment"])
def test_a_row_of_a_table_decides_a_claim_until_it_is_dropped(
    model: list[str], valley: str, part: str
) -> None:
    done = command("verify", CLAIM, "--sources", valley, *WORDS, *model)
    assert done.status == 0, done.err
    assert f"Rests on “{ROW}” (table.pdf, p. 1)" in done.out
    assert "more likely true than false" in done.out
    record = Debates(Path("runs")).find("last").record()
    names = [source["name"] for source in record.sources]
    assert names == [*TEXTS, "sup.docx", "table.pdf"]
    assert record.verdict is not None
    [ground] = record.verdict.grounds
    assert (ground.source, ground.page) == ("table.pdf", 1)

    segment = ground.id.rpartition(".")[0]
    drop = segment.partition(":")[0] if part == "source" else segment
    without = command("contest", "last", "--drop", drop, "--quiet", *model)
    assert without.status == 5, without.err
    why = "no evidence: the verdict rests on nothing in the sources"
    assert f"The debate ended without an answer: {why}." in without.out
    assert "the label becomes none" in without.out and ROW not in without.out
    assert "finished, but unresolved" in without.err
