"""Models come by their names, whole and as they were pinned, from a hub that may fail."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar, NamedTuple

import huggingface_hub.utils  # noqa: F401  (it reads the constants once)
import pytest
from huggingface_hub import constants

from dialectree.embedded import catalogue as catalogues
from dialectree.embedded import engine as embedded
from dialectree.embedded import model_files
from dialectree.embedded.catalogue import CatalogueModel, catalogue, find_model, models_folder
from dialectree.embedded.model_files import fetch_model, remove_model, take_model
from dialectree.errors import DiskFull, InputError, ModelUnavailable, SettingsError
from dialectree.models.sizes import local_parameters
from tests.cli.commands import command

CONTENT = b"GGUF" + bytes(range(256)) * 8_000
TINY = CatalogueModel(
    title="Tiny",
    licence="Apache-2.0",
    parameters=7,
    size=len(CONTENT),
    memory_gb=0.1,
    repository="a/tiny",
    revision="main",
    file="tiny.gguf",
    sha256=sha256(CONTENT).hexdigest(),
    hash="verified here",
)


class Hub(BaseHTTPRequestHandler):
    """A double of the Hub with one file, which can break off, or have another one in its place."""

    content = CONTENT
    breaks_off_after: int | None = None
    status = 200
    asked: ClassVar[list[str]] = []

    def do_HEAD(self) -> None:
        """Say what the file is."""
        self._answer(head=True)

    def do_GET(self) -> None:
        """Send the file, from where it is asked for."""
        self._answer(head=False)

    def _answer(self, *, head: bool) -> None:
        start = int((self.headers.get("range") or "bytes=0-").removeprefix("bytes=").split("-")[0])
        if self.status != 200 or self.path != "/a/tiny/resolve/main/tiny.gguf":
            self.send_response(404 if self.status == 200 else self.status)
            self.send_header("x-error-code", "EntryNotFound")
            self.send_header("content-length", "0")
            self.end_headers()
            return
        content = self.content[start:]
        self.send_response(206 if start else 200)
        self.send_header("etag", f'"{sha256(self.content).hexdigest()}"')
        self.send_header("x-repo-commit", "a" * 40)
        self.send_header("accept-ranges", "bytes")
        self.send_header("content-length", str(len(content)))
        if start:
            whole = len(self.content)
            self.send_header("content-range", f"bytes {start}-{whole - 1}/{whole}")
        self.end_headers()
        if head:
            return
        type(self).asked.append(f"from {start}")
        stop = self.breaks_off_after
        self.wfile.write(content[:stop])
        if stop is not None:
            self.close_connection = True
            type(self).status = 503

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing of a request."""


class Served(NamedTuple):
    """The double and its behaviour."""

    url: str
    hub: type[Hub]


@pytest.fixture(autouse=True)
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """Serve the double in the place of the Hub, with one tiny model in the catalogue."""
    handler = type("Handler", (Hub,), {"asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    for name in ("HF_HUB_OFFLINE", "HF_HUB_DISABLE_PROGRESS_BARS"):
        monkeypatch.setattr(constants, name, name.endswith("BARS"))
    monkeypatch.setenv("HF_ENDPOINT", url)
    for module in (catalogues, embedded, model_files):
        monkeypatch.setattr(module, "catalogue", lambda: {"tiny": TINY})
    yield Served(url, handler)
    server.shutdown()
    server.server_close()
    thread.join()


def left() -> list[str]:
    """Return the files of models that a person sees."""
    return sorted(path.name for path in models_folder().glob("[!.]*"))


def test_a_model_is_fetched_once_and_runs_by_its_name(hub: Served) -> None:
    done = command("model", "get", "tiny")
    assert done.status == 0 and "--model local:tiny runs it" in done.out, done.err
    path = find_model("tiny")
    assert path is not None and path.read_bytes() == CONTENT and left() == [path.name]
    assert fetch_model("tiny") == path and len(hub.hub.asked) == 1
    assert embedded.locate("tiny") == path
    assert "tiny: Tiny (Apache-2.0; here;" in command("model", "list").out
    assert remove_model("tiny") == len(CONTENT) and not left()
    assert command("model", "remove", "tiny").out == "tiny is not here\n"


def test_a_fetch_that_was_broken_off_goes_on_where_it_stopped(
    hub: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # the Hub's client waits to try again
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 100_000)
    hub.hub.breaks_off_after = 1_000_000
    with pytest.raises(ModelUnavailable, match=r"goes on where it stopped|gives no tiny"):
        fetch_model("tiny")
    assert not left() and find_model("tiny") is None
    part = models_folder() / ".tiny.part" / "tiny.gguf"
    assert 0 < part.stat().st_size <= 1_000_000
    hub.hub.breaks_off_after, hub.hub.status = None, 200
    assert fetch_model("tiny").read_bytes() == CONTENT
    assert hub.hub.asked[-1] != "from 0" and not part.exists()


def test_another_file_than_the_pinned_one_is_refused_and_not_kept(hub: Served) -> None:
    hub.hub.content = CONTENT[:-1] + b"x"
    for _ in range(2):
        done = command("model", "get", "tiny")
        assert done.status == 2 and "is not the file that the catalogue names" in done.err
    assert not left() and not [*models_folder().rglob("tiny.gguf")]
    hub.hub.content = CONTENT
    assert fetch_model("tiny").read_bytes() == CONTENT


def test_a_hub_that_is_not_there_or_lacks_the_file_is_said(
    hub: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.hub.status = 404
    with pytest.raises(ModelUnavailable, match=r"the Hub gives no tiny\.gguf of a/tiny: .*--from"):
        fetch_model("tiny")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ModelUnavailable, match=r"tiny\.gguf was not fetched: .*--from FILE"):
        fetch_model("tiny")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelUnavailable, match="was not fetched"):
        fetch_model("tiny")
    assert not left()


def test_no_room_is_said_before_and_while_a_model_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type(shutil.disk_usage("."))

    def full(model: object, parts: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda path: usage(9, 8, 1))
        with pytest.raises(DiskFull, match=r"no room for tiny\.gguf: it has 0\.0 GB"):
            fetch_model("tiny")
    monkeypatch.setattr(model_files, "_download", full)
    with pytest.raises(DiskFull, match=r"no room left for tiny\.gguf"):
        fetch_model("tiny")
    assert not left()


def test_a_file_that_the_user_has_is_taken_after_the_same_check(tmp_path: Path) -> None:
    (good := tmp_path / "mine.gguf").write_bytes(CONTENT)
    (bad := tmp_path / "other.gguf").write_bytes(CONTENT[1:])
    with pytest.raises(InputError, match="is not the file that the catalogue names"):
        take_model("tiny", bad)
    with pytest.raises(InputError, match="no such file"):
        take_model("tiny", tmp_path / "none")
    assert bad.is_file() and not left()
    done = command("model", "get", "tiny", "--from", str(good))
    assert done.status == 0 and good.is_file(), done.err
    path = find_model("tiny")
    assert path is not None and path.read_bytes() == CONTENT


def test_a_name_that_is_not_here_or_not_known_says_what_to_do() -> None:
    with pytest.raises(SettingsError, match=r"local:tiny is not here: \S+ model get tiny fetches"):
        embedded.require("tiny")
    done = command("model", "get", "huge")
    assert done.status == 2 and "no model 'huge' in the catalogue; it has tiny" in done.err


def test_the_catalogue_pins_every_file_and_says_how_its_hash_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = catalogue()
    monkeypatch.setattr(embedded, "catalogue", catalogue)
    assert {"smollm2", "qwen2.5-coder-1.5b"} <= {*known}
    for name, model in known.items():
        assert model.licence in ("Apache-2.0", "MIT") and model.size > 10**7, name
        assert local_parameters(name) == model.parameters
        assert model.file.endswith(".gguf") and model.repository.count("/") == 1
    assert known["smollm2"].parameters == embedded.PARAMETERS
