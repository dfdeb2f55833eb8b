"""``dialectree view``: a folder of runs and evaluations, served by a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import httpx
import pytest

from dialectree.interfaces.cli.view import open_in_browser
from dialectree.records.folder import RunFolder
from tests.cli.commands import command, refused
from tests.evals import sample
from tests.report.recorded import events, record
from tests.waiting import PATIENCE_S, wait_until


@contextmanager
def viewing(folder: Path, runs: Path) -> Iterator[httpx.Client]:
    """Return a client of ``dialectree view``; Ctrl-C ends it."""
    command = [sys.executable, "-m", "dialectree", "view", str(runs), "--no-open"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            assert address.endswith("/page/")
            with httpx.Client(base_url=address.removesuffix("page/"), timeout=PATIENCE_S) as client:
                yield client
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE_S) == 130
        finally:
            process.kill()


def test_a_run_that_another_process_writes_is_followed_to_its_end(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "runs", "new")
    running = record("rsd").model_copy(update={"run_id": "new", "status": "running"})
    folder.write_record(running)
    rated = sample.evaluation(tmp_path / "runs" / "rated", n=2)
    RunFolder.create(rated / "runs", "asked").write_whole(record("tsd"), [], [])
    told = [one.model_dump_json() for one in events("rsd")]
    file = folder.path / "events.jsonl"
    file.write_text("".join(f"{line}\n" for line in told[:3]))
    with viewing(tmp_path, tmp_path / "runs") as client:
        (head,) = client.get("debates").json()
        assert (head["run_id"], head["status"]) == ("new", "running")
        with client.stream("GET", "debates/new/events?after=0") as stream:
            seen: list[str] = []
            for line in stream.iter_lines():
                if not line.startswith("data: "):
                    continue
                seen.append(line.removeprefix("data: "))
                if len(seen) == 3:
                    with open(file, "a") as more:
                        more.write("".join(f"{line}\n" for line in told[3:]))
        assert [json.loads(one)["n"] for one in seen] == [*range(1, len(told) + 1)]
        bare = str(client.base_url.copy_with(path="/debates"))
        assert httpx.get(bare).status_code == 401
        (listed,) = client.get("evaluations").json()
        assert listed["name"] == "rated"
        (inner,) = client.get("evaluations/rated/debates").json()
        assert inner["run_id"] == "asked"
        assert client.get("evaluations/rated/page/").text == client.get("page/").text
        assert client.get("evaluations/nosuch/debates").status_code == 404
        apart = client.get("evaluations/rated/report.html").headers["location"]
        token = client.base_url.path.strip("/")
        assert token not in apart and client.get(apart).status_code == 404  # no report yet
        (rated / "report.html").write_text("<p>figures</p>")
        report = httpx.URL(bare).join(apart)
        assert httpx.get(report).text == "<p>figures</p>"
        (inner,) = httpx.get(report.join("debates")).json()
        assert inner["run_id"] == "asked"
        cell = httpx.get(report.join("runs/asked/run.json"))
        page = httpx.get(cell.url.join(cell.headers["location"]))
        assert page.status_code == 200 and token not in str(page.url)
        key = apart.split("/")[2]
        for wrong in (key[:-1], key.upper(), token, "rated", ""):
            assert httpx.get(str(report).replace(key, wrong)).status_code in (404, 307)


def test_the_token_stands_in_no_command_but_in_a_file_of_the_persons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIALECTREE_CACHE_DIR", str(tmp_path))
    seen: list[tuple[str, str, int]] = []

    def browser(url: str) -> bool:
        file = Path(url2pathname(urlsplit(url).path))
        seen.append((url, file.read_text(), file.stat().st_mode & 0o777))
        return True

    monkeypatch.setattr("webbrowser.open", browser)
    with open_in_browser("http://127.0.0.1:1/a-token/page/"):
        wait_until(lambda: bool(seen))
    ((url, content, mode),) = seen
    assert url.startswith("file:") and "a-token" not in url and mode == 0o600
    assert "url=http://127.0.0.1:1/a-token/page/" in content
    assert not [*(tmp_path / "view").iterdir()]
    monkeypatch.setenv("DIALECTREE_CACHE_DIR", str(tmp_path / "file"))
    (tmp_path / "file").write_text("")
    with open_in_browser("http://127.0.0.1:1/a-token/page/"):
        pass
    assert len(seen) == 1


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    refused(command("view", str(tmp_path / "no"), "--no-open"), "no: there is no such folder")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("dialectree.system.packages.missing", lambda wanted: ["uvicorn"])
    line = "dialectree view needs uvicorn (not installed): pip install 'dialectree[view]'"
    refused(command("view", str(tmp_path)), line)
