"""A run that is watched while it is written: connections are lost, pages opened again, by two."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import uvicorn
from starlette.types import Message, Receive, Scope, Send

from dialectree.interfaces.server import following, local
from dialectree.records.folder import RunFolder
from tests.docs.blocks import ROOT
from tests.waiting import PATIENCE_S
from tests.web.page_script import PAGE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.e2e
DEMO = ROOT / "graphs" / "tree_structured_debate" / "demo"
TOKEN = "a-token-of-this-server"


class Watched:
    """Serves two runs, ``whole`` and ``growing``, in a thread; to the first one over bad lines.

    ``whole-NAME`` and ``growing-NAME`` are names for them. Whoever begins to follow a name of
    ``growing`` makes it grow by an event.
    """

    def __init__(self, runs: Path) -> None:
        shutil.copytree(DEMO, runs / "whole")
        shutil.copytree(DEMO, runs / "growing")
        for name in ("whole", "growing"):
            record = RunFolder(runs / name).record().model_copy(update={"run_id": name})
            RunFolder(runs / name).write_record(record)
        text = (DEMO / "events.jsonl").read_text(encoding="utf-8").replace(" the ", " thé 🜁 ")
        self.lines = text.encode().splitlines(keepends=True)
        (runs / "whole" / "events.jsonl").write_bytes(b"".join(self.lines))
        self._growing = runs / "growing" / "events.jsonl"
        self._growing.write_bytes(b"")
        self._left = iter(self.lines)
        self.cuts: dict[str, list[int]] = {}
        """By the name of a run, after how many bytes of events its next connections are cut."""
        self._app = local.app(local.folder(lambda scope: runs), TOKEN)
        listening = local.listen(0)
        self.address = f"http://127.0.0.1:{listening.getsockname()[1]}/{TOKEN}/page/"
        self._server = uvicorn.Server(uvicorn.Config(self, log_level="critical", ws="none"))
        work = self._server.serve(sockets=[listening])
        self._thread = threading.Thread(target=asyncio.run, args=[work])
        self._thread.start()

    def grow(self, events: int = 1) -> None:
        """Write the next events of the run that grows."""
        with self._growing.open("ab") as file:
            file.writelines(islice(self._left, events))

    def stop(self) -> None:
        """End the server."""
        self._server.should_exit = self._server.force_exit = True
        self._thread.join()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, as far as its connection goes."""
        parts = scope.get("path", "").split("/")
        follows = parts[-1] == "events"
        name = parts[3] if follows else ""
        left = self.cuts[name].pop(0) if self.cuts.get(name) else None
        if "-" in name:
            parts[3] = name.partition("-")[0]
            scope = {**scope, "path": "/".join(parts)}
            if parts[3] == "growing":
                self.grow()

        async def send_some(message: Message) -> None:
            nonlocal left
            body = message.get("body", b"")
            if left is None or not body or body.startswith(b":"):
                await send(message)
            elif left > len(body):
                left -= len(body)
                await send(message)
            else:
                await send({**message, "body": body[:left]})
                raise ConnectionAbortedError

        await self._app(scope, receive, send_some)


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    monkeypatch.setattr(following, "PACE_S", 0.01)
    monkeypatch.setattr(following, "EACH_S", 0)
    served = Watched(tmp_path / "runs")
    yield served
    served.stop()


def cuts(lines: list[bytes]) -> Iterator[int]:
    """Yield where the stream of ``lines`` is cut: before, in and behind each, and in a letter."""
    sent = [b"id: %d\ndata: %b\n" % numbered for numbered in enumerate(lines, 1)]
    for begin, part in zip(accumulate(map(len, sent), initial=0), sent, strict=False):
        letter = next((n for n, byte in enumerate(part) if byte > 127), 3)
        yield from (begin + n for n in (1, letter + 1, len(part) // 2, len(part) - 1, len(part)))


def test_every_event_comes_once_wherever_the_connection_is_cut_or_the_page_is_opened(
    watched: Watched, tmp_path: Path
) -> None:
    watched.cuts = {f"whole-{n}": [n] for n in cuts(watched.lines)}
    asked = [*watched.cuts, *(f"growing-{n}" for n in range(len(watched.lines)))]
    (tmp_path / "asked.json").write_text(json.dumps(asked))
    script = Path(__file__).with_name("watch.mjs")
    words = [script, PAGE, watched.address, tmp_path / "asked.json", tmp_path / "answered.json"]
    subprocess.run(["node", *map(str, words)], check=True, timeout=PATIENCE_S)
    every = [json.loads(line) for line in watched.lines]
    seen = json.loads((tmp_path / "answered.json").read_text())
    assert [name for name, events in zip(asked, seen, strict=True) if events != every] == []
    assert not any(watched.cuts.values())


def test_a_page_that_was_broken_off_shows_in_the_end_what_another_shows(
    watched: Watched, browser: Browser
) -> None:
    contexts = [browser.new_context() for _ in range(3)]
    steady, broken, second = (context.new_page() for context in contexts)
    steady.goto(f"{watched.address}?run=growing")
    broken.goto(f"{watched.address}?run=growing")
    step = len(watched.lines) // 4
    for _ in range(4):
        watched.grow(step)
        watched.cuts["growing"] = [len(watched.lines[0]) + 200]
        broken.reload()
        broken.wait_for_selector(".run")
    second.goto(f"{watched.address}?run=growing")
    watched.grow(len(watched.lines))
    shown = []
    for page in (steady, broken, second):
        page.locator(f"input[type=range][max='{len(watched.lines)}']").wait_for()
        shown.append(page.locator("main").inner_text())
    assert shown[0] == shown[1] == shown[2]
    assert not watched.cuts["growing"]
    for context in contexts:
        context.close()
