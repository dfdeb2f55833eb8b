"""``dialectree view --bundle``: runs and evaluations as a site that any web server shows."""

from __future__ import annotations

import base64
import json
import re
import shutil
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import urlopen

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialectree.evals.reporting.writing import report
from dialectree.records import Contest
from dialectree.records.folder import RunFolder
from dialectree.report.published import FolderNames
from tests.cli.commands import command, refused
from tests.evals import sample
from tests.report.recorded import DEMOS, HOSTILE, calls, events, everywhere, record

TRICKS = "\n".join(text for text in HOSTILE if len(text) < 1_000).replace("\ud800", "")
SECRETS = ["ann-of-the-keys", "thread-of-ann", "/private-folder"]
"""A client, a thread and a folder, which a bundle must not name."""


def keep(run_id: str, name: str, **fields: object) -> RunFolder:
    """Keep a demonstration as a run of a client."""
    folder = RunFolder.create(Path("runs"), run_id)
    about = {"run_id": run_id, "owner": SECRETS[0], "thread": SECRETS[1], **fields}
    folder.write_whole(record(name).model_copy(update=about), events(name), calls(name))
    return folder


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an evaluation, its report and a run behind one of its cells."""
    folder = sample.evaluation(tmp_path_factory.mktemp("evaluations") / "rated & more", n=2)
    first = json.loads((folder / "results.jsonl").read_text().splitlines()[0])["run"]
    run = RunFolder.create(folder / "runs", first)
    run.write_whole(
        record("tsd").model_copy(update={"run_id": first, "owner": SECRETS[0]}), events("tsd"), []
    )
    file = folder / "evaluation.json"
    written = json.loads(file.read_text())
    written["data"] |= {"path": f"{SECRETS[2]}/data/mine.csv", "name": f"{SECRETS[2]}/data/mine.csv"}
    file.write_text(json.dumps(written))
    report([folder])
    return folder


@pytest.fixture
def evaluation(rated: Path, tmp_path: Path) -> Path:
    """Return the evaluation in the folder ``evaluations`` of a test."""
    place = tmp_path / "evaluations" / rated.name
    shutil.copytree(rated, place)
    return place


class Shown(HTMLParser):
    """The elements, attributes, links and text that a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.names: set[str] = set()
        self.links: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the element."""
        self.elements.append(tag)
        self.names |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        """Note the text."""
        self.text += data


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine; yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def crawl(start: str) -> dict[str, int]:
    """Return the status of each address that is reached from ``start`` over links, also those of scripts."""
    statuses: dict[str, int] = {}
    waiting = [start]
    while waiting:
        address = waiting.pop()
        if address in statuses:
            continue
        try:
            with urlopen(address) as answer:
                statuses[address], content = answer.status, answer.read()
        except HTTPError as error:
            statuses[address] = error.code
            continue
        if urlsplit(address).path.endswith((".html", "/")):
            text = content.decode()
            cells = re.findall(r'"((?:\.\./)*[\w./%-]*runs/[^"]+/(?:report\.html|run\.json))"', text)
            links = [link for link in [*Shown(text).links, *cells] if not link.startswith(("data:", "#"))]
            assert all(not urlsplit(link).scheme and not link.startswith("/") for link in links)
            waiting += [urljoin(address, link).partition("#")[0] for link in links]
    return statuses


def unpacked(page: str) -> str:
    """Return the run that a page holds, as JSON."""
    packed = page.partition('<script id="data" type="text/plain">')[2].partition("</script>")[0]
    return zlib.decompress(base64.b64decode(packed), wbits=-15).decode()


def test_a_bundle_is_whole_under_any_path_of_any_server(tmp_path: Path, evaluation: Path) -> None:
    for name in DEMOS:
        keep(f"{name} & more?", name)
    done = command("view", "--bundle", "site/of runs")
    assert done.status == 0 and Path(done.out.strip()) == Path("site/of runs/index.html")
    assert "5 runs and 1 evaluation are in" in done.err
    with serving(tmp_path / "site") as address:
        statuses = crawl(f"{address}of%20runs/index.html")
    assert set(statuses.values()) == {200}
    reached = {unquote(urlsplit(each).path).removeprefix("/of runs/") for each in statuses}
    written = {path.relative_to("site/of runs").as_posix() for path in Path("site/of runs").rglob("*.*")}
    pages = {name for name in written if name.endswith(".html")}
    assert len(pages) == 2 * 5 + 2 + 3 and pages <= reached
    assert json.loads(Path("site/of runs/bundle.json").read_text())["files"] == sorted(
        path.relative_to("site/of runs").as_posix()
        for path in Path("site/of runs").rglob("*")
        if path.is_file()
    )


def test_no_client_no_folder_and_no_token_gets_into_a_bundle(tmp_path: Path, evaluation: Path) -> None:
    place = f"{SECRETS[2]}/deep er/notes.md"
    run = keep(
        "asked",
        "rsd",
        models={"judge": f"local:{SECRETS[2]}/models/small.gguf"},
        notices=[f"{SECRETS[2]}/cache.db cannot be opened", f"see {tmp_path}/runs/asked and {Path.home()}/x"],
        settings={"calibration": f"{SECRETS[2]}/c.json"},
        input={
            **record("rsd").input,
            "sources": [{"id": "s1", "name": place, "title": "Notes", "digest": "0"}],
        },
    )
    (run.path / "calls.jsonl").write_text(
        "".join(
            call.model_copy(update={"model": f"local:{SECRETS[2]}/models/small.gguf"}).model_dump_json()
            + "\n"
            for call in calls("rsd")
        )
    )
    assert command("view", "--bundle", "site").status == 0
    page = (tmp_path / "site/debates/asked/report.html").read_text()
    texts = [unpacked(page), *(path.read_text(errors="replace") for path in Path("site").rglob("*.*"))]
    for hidden in (*SECRETS, str(tmp_path), f"{Path.home()}/"):
        assert not any(hidden in text for text in texts), hidden
    assert (
        "notes.md" in texts[0] and "local:small.gguf" in texts[0] and "cache.db cannot be opened" in texts[0]
    )
    assert json.loads((tmp_path / "runs/asked/run.json").read_text())["owner"] == SECRETS[0]


def test_the_text_of_a_run_is_no_markup_in_the_list(tmp_path: Path) -> None:
    folder = RunFolder.create(Path("runs"), "odd")
    folder.write_whole(everywhere("rsd", TRICKS), [], [])
    keep("new", "rsd", contest=Contest(run="odd", changes=[TRICKS], before=None, after=None, why=TRICKS))
    sample.evaluation(tmp_path / "evaluations" / "odd", n=1, text=TRICKS)
    assert command("view", "--bundle", "site").status == 0
    shown = Shown((tmp_path / "site" / "index.html").read_text())
    assert shown.elements.count("script") == shown.elements.count("style") == 1
    assert not {"img", "iframe", "form", "object"} & {*shown.elements}
    assert not [name for name in shown.names if name.startswith("on") or name == "style"]
    assert "debates/odd/report.html" in shown.links and "<script>alert(1)</script>" in shown.text
    with serving(tmp_path / "site") as address:
        assert set(crawl(f"{address}index.html").values()) == {200}


def test_runs_under_way_are_left_out_and_named(tmp_path: Path) -> None:
    keep("ended", "rsd")
    RunFolder.create(tmp_path / "runs", "going").write_record(
        record("rsd").model_copy(update={"run_id": "going", "status": "running"})
    )
    done = command("view", "--bundle", "site")
    assert "1 run under way left out: going" in done.err
    assert not (tmp_path / "site/debates/going").exists()
    assert [one["run_id"] for one in json.loads((tmp_path / "site/debates.json").read_text())] == ["ended"]


def test_a_new_bundle_takes_the_place_of_an_earlier_one_and_of_nothing_else(tmp_path: Path) -> None:
    keep("first", "rsd")
    keep("second", "art")
    assert command("view", "--bundle", "site").status == 0
    (tmp_path / "site/mine.txt").write_text("mine")
    shutil.rmtree(tmp_path / "runs/second")
    assert command("view", "runs", "--bundle", "site").status == 0
    assert not (tmp_path / "site/debates/second").exists() and (tmp_path / "site/mine.txt").exists()
    refused(command("view", "--bundle", "runs"), "runs: it holds other files and no bundle")
    (tmp_path / "file").write_text("")
    refused(command("view", "--bundle", "file"), "file: it holds other files and no bundle")
    (tmp_path / "site/bundle.json").write_text(
        '{"format": "dialectree.bundle/1", "files": ["../runs/first/run.json"]}'
    )
    assert command("view", "--bundle", "site").status == 0
    assert (tmp_path / "runs/first/run.json").exists()


def test_one_evaluation_is_a_bundle_with_its_runs(tmp_path: Path, evaluation: Path) -> None:
    assert command("view", str(evaluation), "--bundle", "site").status == 0
    with serving(tmp_path / "site") as address:
        reached = crawl(f"{address}index.html")
    assert set(reached.values()) == {200} and any("/runs/" in each for each in reached)


@settings(derandomize=True, database=None, deadline=None, max_examples=100)
@given(st.text(), st.text(), st.sampled_from(["/home/ann", "/srv/data sets/x", "C:\\Users\\Ann"]))
def test_folders_are_hidden_and_all_else_stays(before: str, after: str, folder: str) -> None:
    names = FolderNames([folder])
    assert folder not in names.hide(f"{before} {folder}/{after}") or folder in before + after
    assert FolderNames([]).hide(before) == before
    if folder not in before:
        assert names.hide(before) == before


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("local:/models/big/a.gguf", "local:a.gguf"),
        ("/models/big/a b.md", "a b.md"),
        ("C:\\models\\a.gguf", "a.gguf"),
        ("cannot read '/models/big/a.md'", "cannot read 'a.md'"),
        ("http://models/big/a.md", "http://models/big/a.md"),
        ("either/or", "either/or"),
        ("openai:any@http://127.0.0.1:8000/v1", "openai:any@http://127.0.0.1:8000/v1"),
    ],
)
def test_the_folders_of_the_files_that_a_record_names_are_hidden(told: str, shown: str) -> None:
    assert FolderNames([]).including({"x": [told]}).hide_in({"y": told}) == {"y": shown}
