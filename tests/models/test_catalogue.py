"""The list of models, and fetching from a stand-in for the hub on the loopback address."""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import NamedTuple

import huggingface_hub
import huggingface_hub.file_download
import pytest
from filelock import FileLock
from huggingface_hub import constants

from dialectree.errors import (
    DialectreeError,
    DiskFull,
    InputError,
    KeyRefused,
    ModelUnavailable,
    RequestError,
    Unreachable,
)
from dialectree.models import catalogue

NAME = "smollm2-360m"
ENTRY = next(entry for entry in catalogue.listed() if entry.name == NAME)
COMMIT, LATER_COMMIT = "a" * 40, "b" * 40
MODEL = b"GGUF" + bytes(range(256)) * 400


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Seen(NamedTuple):
    """One request that reached the stand-in."""

    method: str
    path: str
    user_agent: str


class Hub:
    """A hub with one file: where it is answered with a redirect, the bytes are in a second place.

    The real one answers in the same two steps, so that the token never leaves it.
    """

    def __init__(self) -> None:
        self.content = MODEL
        self.commit = COMMIT
        self.told_sha256: str | None = None
        """What the metadata claims, if not the truth."""
        self.refuses: tuple[int, str] | None = None
        """A status and the hub's own code for it, instead of an answer."""
        self.plain = False
        """Answer as any web site does, with a page."""
        self.cuts: list[int] = []
        """After how many bytes to cut the line, one number a request."""
        self.then_status = 200
        """What the store answers once there is nothing left to cut."""
        self.seen: list[Seen] = []
        self.address = self.store = ""

    @property
    def downloads(self) -> list[Seen]:
        return [request for request in self.seen if request.path.startswith("/store/")]


class Request(BaseHTTPRequestHandler):
    """What hub and store answer."""

    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_HEAD(self) -> None:
        self.answer()

    def do_GET(self) -> None:
        self.answer()

    def answer(self) -> None:
        self.hub.seen.append(Seen(self.command, self.path, self.headers["user-agent"]))
        if self.path.startswith("/store/"):
            self.give()
        elif self.hub.plain:
            self.say(200, {"Content-Type": "text/html"}, b"<html>Please log in</html>")
        elif self.hub.refuses is not None:
            status, code = self.hub.refuses
            self.say(status, {"X-Error-Code": code}, b"no")
        else:
            self.point()

    def point(self) -> None:
        """Say what the file is, and where its bytes lie."""
        hub = self.hub
        facts = {
            "X-Repo-Commit": hub.commit,
            "X-Linked-Etag": f'"{hub.told_sha256 or sha256(hub.content)}"',
            "X-Linked-Size": str(len(hub.content)),
            "Location": f"{hub.store}/store{self.path}",
        }
        self.say(302, facts, b"")

    def give(self) -> None:
        """Send the bytes, or what is still missing of them; cut the line where told to."""
        content, wanted = self.hub.content, self.headers.get("range", "")
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        rest = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
        if self.hub.cuts:
            self.start(206 if start else 200, rest if start else {}, len(content) - start)
            self.wfile.write(content[start : start + self.hub.cuts.pop(0)])
            self.wfile.flush()
            self.close_connection = True
        elif self.hub.then_status != 200:
            self.say(self.hub.then_status, {}, b"busy")
        else:
            self.say(206 if start else 200, rest if start else {}, content[start:])

    def say(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.start(status, headers, len(content))
        if self.command != "HEAD":
            self.wfile.write(content)

    def start(self, status: int, headers: dict[str, str], length: int) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing; the tests look at ``seen``."""


@contextmanager
def serving(hub: Hub) -> Iterator[str]:
    """An address where the stand-in answers."""

    class Handler(Request):
        pass

    Handler.hub = hub
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def own_corner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Neither the user's token nor cache nor proxy nor patience comes into a test."""
    for name in (
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    hurried = SimpleNamespace(sleep=lambda seconds: None)
    monkeypatch.setattr(huggingface_hub.file_download, "time", hurried)
    huggingface_hub.close_session()
    yield
    huggingface_hub.close_session()


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub()
    with serving(hub) as hub.address, serving(hub) as hub.store:
        yield hub


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "models"


def note(folder: Path) -> dict[str, object]:
    text = (folder / f"{ENTRY.file}.json").read_text(encoding="utf-8")
    facts = json.loads(text)
    assert isinstance(facts, dict)
    return facts


def left_behind(folder: Path) -> list[Path]:
    """What a fetch should have tidied away; the empty lock may stay."""
    return [path for path in (folder / ".fetching").iterdir() if path.suffix != ".lock"]


# The list


def test_the_list_names_each_model_once_with_a_free_licence_and_its_source() -> None:
    entries = catalogue.listed()
    assert 4 <= len(entries) <= 7
    assert len({entry.name for entry in entries}) == len({entry.file for entry in entries})
    for entry in entries:
        assert entry.licence in ("Apache-2.0", "MIT")
        assert entry.file.endswith(".gguf") and "/" not in entry.file
        assert entry.source.startswith(f"https://huggingface.co/{entry.repository}/")
        assert entry.remark.endswith(".") and "\n" not in entry.remark


def test_no_model_of_the_list_is_called_as_the_embedded_one() -> None:
    assert "smollm2" not in {entry.name for entry in catalogue.listed()}


def test_the_list_comes_without_loading_the_hub_library() -> None:
    code = (
        "import sys; from dialectree.models import catalogue; catalogue.listed(); "
        "print('huggingface_hub' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


# Fetching


def test_a_model_is_fetched_verified_and_written_down(hub: Hub, folder: Path) -> None:
    fetched = catalogue.get(NAME, folder, endpoint=hub.address)

    assert fetched == catalogue.Fetched(
        path=folder / ENTRY.file,
        repository=ENTRY.repository,
        revision=COMMIT,
        sha256=sha256(MODEL),
        size_bytes=len(MODEL),
        already_there=False,
    )
    assert fetched.path.read_bytes() == MODEL
    facts = note(folder)
    assert str(facts.pop("fetched_at")).endswith("Z")
    assert facts == {
        "schema": "dialectree.model/1",
        "name": NAME,
        "repository": ENTRY.repository,
        "file": ENTRY.file,
        "revision": COMMIT,
        "sha256": sha256(MODEL),
        "size_bytes": len(MODEL),
        "licence": ENTRY.licence,
    }
    assert not left_behind(folder)


def test_the_download_is_pinned_to_the_commit_that_the_hub_named(hub: Hub, folder: Path) -> None:
    catalogue.get(NAME, folder, endpoint=hub.address + "/")

    assert hub.seen[0].path == f"/{ENTRY.repository}/resolve/main/{ENTRY.file}"
    pinned = f"/store/{ENTRY.repository}/resolve/{COMMIT}/{ENTRY.file}"
    assert [request.path for request in hub.downloads] == [pinned]


def test_nothing_but_the_file_is_asked_for_and_nothing_is_told_about_the_machine(
    hub: Hub, folder: Path
) -> None:
    before = constants.HF_HUB_DISABLE_TELEMETRY
    catalogue.get(NAME, folder, endpoint=hub.address)

    assert all(ENTRY.file in request.path for request in hub.seen)
    assert not any("torch" in seen.user_agent or "agent/" in seen.user_agent for seen in hub.seen)
    assert before == constants.HF_HUB_DISABLE_TELEMETRY


def test_progress_is_told_up_to_the_last_byte(hub: Hub, folder: Path) -> None:
    told: list[tuple[int, int]] = []
    catalogue.get(
        NAME, folder, endpoint=hub.address, progress=lambda *numbers: told.append(numbers)
    )
    assert told == sorted(told)
    assert told[-1] == (len(MODEL), len(MODEL))
    assert {size for _, size in told} == {len(MODEL)}


def test_without_progress_nothing_is_drawn(
    hub: Hub, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    catalogue.get(NAME, folder, endpoint=hub.address)
    assert capfd.readouterr() == ("", "")


def test_a_second_get_downloads_nothing(hub: Hub, folder: Path) -> None:
    first = catalogue.get(NAME, folder, endpoint=hub.address)
    written = note(folder)
    second = catalogue.get(NAME, folder, endpoint=hub.address)

    assert second.already_there and not first.already_there
    assert second.path == first.path
    assert len(hub.downloads) == 1
    assert note(folder) == written


def test_a_newer_commit_with_the_same_bytes_is_only_written_down(hub: Hub, folder: Path) -> None:
    catalogue.get(NAME, folder, endpoint=hub.address)
    hub.commit = LATER_COMMIT
    fetched = catalogue.get(NAME, folder, endpoint=hub.address)

    assert fetched.already_there and fetched.revision == LATER_COMMIT
    assert note(folder)["revision"] == LATER_COMMIT
    assert len(hub.downloads) == 1


def test_a_newer_file_takes_the_place_of_the_one_fetched_before(hub: Hub, folder: Path) -> None:
    catalogue.get(NAME, folder, endpoint=hub.address)
    hub.commit, hub.content = LATER_COMMIT, MODEL + b"more"
    fetched = catalogue.get(NAME, folder, endpoint=hub.address)

    assert not fetched.already_there
    assert fetched.path.read_bytes() == MODEL + b"more"
    assert note(folder)["sha256"] == sha256(MODEL + b"more")


def test_the_default_folder_is_the_users_data_folder(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "user_data_dir", lambda name: str(tmp_path / name))
    fetched = catalogue.get(NAME, endpoint=hub.address)
    assert fetched.path == tmp_path / "dialectree" / "models" / ENTRY.file
    assert catalogue.path_of(NAME) == fetched.path


def test_the_hubs_own_setting_says_where_it_is(
    hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", hub.address)
    template = hub.address + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    assert catalogue.get(NAME, folder).revision == COMMIT


# What can go wrong


def test_bytes_with_the_wrong_hash_are_not_installed(hub: Hub, folder: Path) -> None:
    hub.told_sha256 = "0" * 64
    with pytest.raises(ModelUnavailable, match="came with SHA-256") as caught:
        catalogue.get(NAME, folder, endpoint=hub.address)

    assert caught.value.status == 3
    assert not (folder / ENTRY.file).exists()
    assert catalogue.installed(folder) == ()
    assert not left_behind(folder)


def test_bytes_with_the_wrong_hash_leave_the_former_model_where_it_was(
    hub: Hub, folder: Path
) -> None:
    catalogue.get(NAME, folder, endpoint=hub.address)
    hub.commit, hub.told_sha256 = LATER_COMMIT, "0" * 64
    with pytest.raises(ModelUnavailable):
        catalogue.get(NAME, folder, endpoint=hub.address)

    assert (folder / ENTRY.file).read_bytes() == MODEL
    assert note(folder)["revision"] == COMMIT


def test_an_unknown_name_is_answered_with_the_known_ones(folder: Path) -> None:
    with pytest.raises(InputError) as caught:
        catalogue.get("gpt", folder)
    assert all(entry.name in str(caught.value) for entry in catalogue.listed())
    assert not folder.exists()


def test_without_a_network_one_line_says_so(folder: Path) -> None:
    with socket.socket() as taken:  # bound and never listening: nobody answers here
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(Unreachable) as caught:
            catalogue.get(NAME, folder, endpoint=address)
    assert address in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_hubs_offline_mode_is_told_in_one_line(
    hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(Unreachable, match="HF_HUB_OFFLINE"):
        catalogue.get(NAME, folder, endpoint=hub.address)
    assert hub.seen == []


@pytest.mark.parametrize(
    ("status", "code", "fault"),
    [
        (401, "GatedRepo", KeyRefused),
        (403, "GatedRepo", KeyRefused),
        (401, "RepoNotFound", KeyRefused),
        (404, "EntryNotFound", RequestError),
        (404, "", RequestError),
        (429, "", Unreachable),
        (503, "", Unreachable),
    ],
)
def test_what_the_hub_refuses_is_told_in_one_line(
    hub: Hub, folder: Path, status: int, code: str, fault: type[DialectreeError]
) -> None:
    hub.refuses = (status, code)
    with pytest.raises(fault, match=str(status)) as caught:
        catalogue.get(NAME, folder, endpoint=hub.address)
    assert ENTRY.repository in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("trouble", ["refuses", "plain", "none", "cut"])
def test_what_opens_the_hub_is_used_and_not_shown(
    hub: Hub, folder: Path, trouble: str, caplog: pytest.LogCaptureFixture
) -> None:
    hub.refuses = (401, "GatedRepo") if trouble == "refuses" else None
    hub.plain = trouble == "plain"
    address = hub.address.replace("://", "://bob:hunter2@")
    if trouble == "none":
        address = "ftp://bob:hunter2@hub"
    if trouble == "cut":
        hub.cuts = [0] * 10
    with pytest.raises(DialectreeError) as caught:
        catalogue.get(NAME, folder, endpoint=address)
    assert "hunter2" not in str(caught.value) + caplog.text


def test_a_page_instead_of_a_hub_is_not_taken_for_one(hub: Hub, folder: Path) -> None:
    hub.plain = True
    with pytest.raises(Unreachable, match="does not answer like a model hub"):
        catalogue.get(NAME, folder, endpoint=hub.address)


@pytest.mark.parametrize("address", ["", "hub", "ftp://hub", "http://", "http://[", "http://h:x"])
def test_an_address_that_is_none_is_a_wrong_call(folder: Path, address: str) -> None:
    with pytest.raises(InputError, match="address of a hub"):
        catalogue.get(NAME, folder, endpoint=address or "no address")


def test_a_cut_line_is_taken_up_where_it_broke(hub: Hub, folder: Path) -> None:
    hub.cuts = [30_000, 20_000]
    fetched = catalogue.get(NAME, folder, endpoint=hub.address)
    assert fetched.path.read_bytes() == MODEL
    assert len(hub.downloads) == 3


def test_a_line_that_stays_cut_installs_nothing_and_can_be_tried_again(
    hub: Hub, folder: Path
) -> None:
    hub.cuts, hub.then_status = [30_000], 503
    with pytest.raises(Unreachable, match="503"):
        catalogue.get(NAME, folder, endpoint=hub.address)
    assert not (folder / ENTRY.file).exists()
    assert catalogue.installed(folder) == ()
    assert not left_behind(folder)

    hub.then_status = 200
    assert catalogue.get(NAME, folder, endpoint=hub.address).path.read_bytes() == MODEL


def test_a_line_cut_again_and_again_is_given_up_in_one_line(hub: Hub, folder: Path) -> None:
    hub.cuts = [0] * 20
    with pytest.raises(Unreachable) as caught:
        catalogue.get(NAME, folder, endpoint=hub.address)
    assert "\n" not in str(caught.value)
    assert not left_behind(folder)


def test_too_small_a_disk_is_told_before_the_download(
    hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = SimpleNamespace(total=10, used=0, free=len(MODEL) - 1)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: room)
    with pytest.raises(DiskFull, match="0 MB free") as caught:
        catalogue.get(NAME, folder, endpoint=hub.address)
    assert caught.value.status == 4
    assert hub.downloads == []


@pytest.mark.parametrize(("number", "fault"), [(errno.ENOSPC, DiskFull), (errno.EROFS, InputError)])
def test_a_disk_that_refuses_on_the_way_is_told_in_one_line(
    hub: Hub,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    fault: type[DialectreeError],
) -> None:
    def refuse(*args: object, **kwargs: object) -> str:
        raise OSError(number, "the disk says no")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", refuse)
    with pytest.raises(fault, match=str(folder)):
        catalogue.get(NAME, folder, endpoint=hub.address)
    assert not (folder / ENTRY.file).exists()


def test_a_folder_that_cannot_be_made_is_a_wrong_call(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(InputError, match="cannot write"):
        catalogue.get(NAME, tmp_path / "file" / "models", endpoint=hub.address)


def test_a_file_of_the_users_own_is_never_overwritten(hub: Hub, folder: Path) -> None:
    folder.mkdir()
    (folder / ENTRY.file).write_bytes(b"my own")
    with pytest.raises(InputError, match="move it away"):
        catalogue.get(NAME, folder, endpoint=hub.address)
    assert (folder / ENTRY.file).read_bytes() == b"my own"
    assert hub.downloads == []


def test_a_model_changed_since_it_was_fetched_is_never_overwritten(hub: Hub, folder: Path) -> None:
    catalogue.get(NAME, folder, endpoint=hub.address)
    changed = b"X" * len(MODEL)
    (folder / ENTRY.file).write_bytes(changed)
    with pytest.raises(InputError, match="move it away"):
        catalogue.get(NAME, folder, endpoint=hub.address)
    assert (folder / ENTRY.file).read_bytes() == changed


def test_the_same_file_put_there_by_hand_is_adopted(hub: Hub, folder: Path) -> None:
    folder.mkdir()
    (folder / ENTRY.file).write_bytes(MODEL)
    assert catalogue.get(NAME, folder, endpoint=hub.address).already_there
    assert catalogue.path_of(NAME, folder) == folder / ENTRY.file
    assert hub.downloads == []


def test_two_at_once_do_not_fetch_the_same_model(hub: Hub, folder: Path) -> None:
    (folder / ".fetching").mkdir(parents=True)
    with (
        FileLock(folder / ".fetching" / f"{NAME}.lock"),
        pytest.raises(InputError, match="already"),
    ):
        catalogue.get(NAME, folder, endpoint=hub.address)
    assert hub.seen == []


def test_what_a_killed_fetch_left_is_tidied_away(hub: Hub, folder: Path) -> None:
    (folder / ".fetching" / NAME).mkdir(parents=True)
    (folder / ".fetching" / NAME / "half.incomplete").write_bytes(b"half")
    catalogue.get(NAME, folder, endpoint=hub.address)
    assert not left_behind(folder)


# What was fetched before


def test_what_was_fetched_is_found_again_by_name(hub: Hub, folder: Path) -> None:
    assert catalogue.installed(folder) == ()
    assert catalogue.path_of(NAME, folder) is None
    fetched = catalogue.get(NAME, folder, endpoint=hub.address)

    (model,) = catalogue.installed(folder)
    assert (model.name, model.path, model.revision) == (NAME, fetched.path, COMMIT)
    assert (model.licence, model.size_bytes) == (ENTRY.licence, len(MODEL))
    assert catalogue.path_of(NAME, folder) == fetched.path
    assert catalogue.path_of("mistral-7b", folder) is None


def test_a_note_without_its_file_is_not_a_model(hub: Hub, folder: Path) -> None:
    catalogue.get(NAME, folder, endpoint=hub.address).path.unlink()
    assert catalogue.installed(folder) == ()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "{}", '{"schema": "dialectree.model/1"}', "[" * 100_000, "\x00"],
)
def test_a_note_that_is_none_of_ours_is_passed_over(folder: Path, text: str) -> None:
    folder.mkdir()
    (folder / "x.gguf").write_bytes(b"GGUF")
    (folder / "x.gguf.json").write_text(text, encoding="utf-8")
    assert catalogue.installed(folder) == ()


def test_a_note_cannot_point_at_another_file(hub: Hub, folder: Path) -> None:
    catalogue.get(NAME, folder, endpoint=hub.address)
    facts = note(folder) | {"file": "../elsewhere.gguf"}
    (folder / f"{ENTRY.file}.json").write_text(json.dumps(facts), encoding="utf-8")
    assert catalogue.installed(folder) == ()
