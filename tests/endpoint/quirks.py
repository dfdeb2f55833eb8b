"""How model servers behave that are no doubles: one behaviour a row, each as somebody reported it.

A behaviour answers a request, of which it may be the first or a repair. It is served by
:class:`tests.models.scripted_endpoint.ScriptedEndpoint`.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from aiohttp import web

from tests.models.scripted_endpoint import Answer, breaks_off, fails, says, sends, writes


class Request(NamedTuple):
    """A request to the endpoint, and a reply that would do."""

    body: Mapping[str, Any]
    number: int
    """1 for the first request that the endpoint gets."""
    good: str
    """A reply that fits what was asked for."""

    @property
    def way(self) -> str:
        """How a structured reply is asked for."""
        return str((self.body.get("response_format") or {}).get("type", "text"))

    @property
    def schema(self) -> Any:
        """The schema in the request, if it has one."""
        return (self.body.get("response_format") or {}).get("json_schema", {}).get("schema", {})

    @property
    def is_repair(self) -> bool:
        """Whether it says what was wrong with a reply, or what is wrong with all of them."""
        text = json.dumps(self.body["messages"])
        return "Your last reply cannot be used" in text or "Send the object itself" in text

    def has(self, *keywords: str) -> str:
        """The first of ``keywords`` in the schema."""
        text = json.dumps(self.schema)
        return next((one for one in keywords if f'"{one}":' in text), "")


class Quirk(NamedTuple):
    """A behaviour, and who reported it."""

    source: str
    behave: Callable[[Request], Answer]


def good(request: Request) -> Answer:
    return says(request.good)


def refuses(*names: str, words: str, **error: Any) -> Callable[[Request], Answer]:
    """An endpoint that refuses parameters, by ``words`` that name the first one there."""

    def behave(request: Request) -> Answer:
        name = next((one for one in names if request.body.get(one) is not None), "")
        return fails(400, words.format(name), **{**error, "param": name}) if name else good(request)

    return behave


def refuses_keywords(*keywords: str, answer: Callable[[str], Answer]) -> Callable[[Request], Answer]:
    def behave(request: Request) -> Answer:
        bad = request.has(*keywords)
        return answer(bad) if bad else good(request)

    return behave


def refuses_system(answer: Answer) -> Callable[[Request], Answer]:
    def behave(request: Request) -> Answer:
        return answer if request.body["messages"][0]["role"] == "system" else good(request)

    return behave


def at_third(answer: Answer) -> Callable[[Request], Answer]:
    """One request in the middle of a run that meets another fate."""
    return lambda request: answer if request.number == 3 else good(request)


def dressed(shape: Callable[[str], str]) -> Callable[[Request], Answer]:
    """A good reply with something around it."""
    return lambda request: says(shape(request.good))


def until_repaired(shape: Callable[[str], str]) -> Callable[[Request], Answer]:
    return lambda request: good(request) if request.is_repair else says(shape(request.good))


def beside(**message: Any) -> Callable[[Request], Answer]:
    """An empty content, with the reply (``{}``) in another field of the message."""

    def behave(request: Request) -> Answer:
        text = json.dumps(message).replace('"{}"', json.dumps(request.good))
        return says(None, **json.loads(text))

    return behave


def thinks(tokens: int) -> Callable[[Request], Answer]:
    """Thoughts that count against the limit of a reply."""

    def behave(request: Request) -> Answer:
        limits = (request.body.get(name) for name in ("max_tokens", "max_completion_tokens"))
        if max(filter(None, limits), default=10**6) < tokens:
            return says("", "length", reasoning_content="Let me see.")
        return good(request)

    return behave


def counts(usage: Any) -> Callable[[Request], Answer]:
    def behave(request: Request) -> Answer:
        choice = {"message": {"role": "assistant", "content": request.good}, "finish_reason": "stop"}
        return sends({"choices": [{"index": 0, **choice}], "usage": usage})

    return behave


def encoded(coding: str, pack: Callable[[bytes], bytes]) -> Callable[[Request], Answer]:
    """A body that is packed in some way, and says so."""

    def behave(request: Request) -> Answer:
        async def answer(asked: web.BaseRequest) -> web.StreamResponse:
            choice = {"message": {"role": "assistant", "content": request.good}}
            body = json.dumps({"choices": [{"index": 0, "finish_reason": "stop", **choice}]})
            headers = {"content-type": "application/json", "content-encoding": coding}
            return web.Response(body=pack(body.encode()), headers=headers)

        return answer

    return behave


def streamed(request: Request) -> Answer:
    half = len(request.good) // 2
    deltas = [{"role": "assistant", "content": request.good[:half]}, {"content": request.good[half:]}]
    chunks = [{"id": "1", "choices": [{"index": 0, "delta": one}]} for one in deltas]
    chunks[-1]["choices"][0]["finish_reason"] = "stop"  # type: ignore[index]
    usage = {"id": "1", "choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 5}}
    lines = "".join(f"data: {json.dumps(one)}\n\n" for one in (*chunks, usage))
    return writes(f": keep-alive\n\n{lines}data: [DONE]\n\n", "text/event-stream")


def _longest(schema: Any) -> int:
    values = schema.values() if isinstance(schema, dict) else schema
    if not isinstance(schema, dict | list):
        return 0
    own = schema.get("maxLength", 0) if isinstance(schema, dict) else 0
    return max([own, *map(_longest, values)])


def _two_members(body: bytes) -> bytes:
    return gzip.compress(body[:40]) + gzip.compress(body[40:])


_GRAMMAR = fails(400, "Failed to initialize samplers: failed to parse grammar", code=400)
_UNKNOWN = "Invalid JSON payload received. Unknown name \"{}\" at 'response_schema': Cannot find field."
_TPM = (
    "Request too large for model `m` on `on_demand` on tokens per minute (TPM): Limit 6000, "
    "Requested 7137, please reduce your message size and try again."
)

QUIRKS: Mapping[str, Quirk] = {
    # what stands in the reply
    "fence": Quirk(
        "ollama#15540", dressed("Here it is:\n```json\n{}\n```\nMore?".replace("{}", "%s").__mod__)
    ),
    "braces before a fence": Quirk(
        "gpt-researcher#985", dressed("I weigh {A} and {B}.\n```json\n%s\n```".__mod__)
    ),
    "thoughts": Quirk("llama.cpp#13212", dressed('<think>Say {"x": 1}?</think>\n%s'.__mod__)),
    "thoughts without a beginning": Quirk("vllm", dressed('Say {"x": 1}?\n</think>\n%s'.__mod__)),
    "thoughts in brackets": Quirk("inspect_ai#2000", dressed('[THINK]{"x"}[/THINK]%s'.__mod__)),
    "thoughts in a channel": Quirk("gemma", dressed('<|channel>thought\nSay {"x": 1}?<channel|>%s'.__mod__)),
    "harmony": Quirk(
        "TensorRT-LLM#9256",
        dressed(
            '<|channel|>analysis<|message|>Say {"x": 1}?<|end|><|start|>assistant<|channel|>final '
            "<|constrain|>json<|message|>%s<|return|>".__mod__
        ),
    ),
    "a tool that nobody offered": Quirk(
        "vllm#41902",
        beside(tool_calls=[{"id": "x", "type": "function", "function": {"name": "r", "arguments": "{}"}}]),
    ),
    "the reply among the thoughts": Quirk("SpeakMCP#156", beside(reasoning_content="{}")),
    "a content that is an object": Quirk(
        "gateways",
        lambda request: sends(
            {"choices": [{"message": {"content": json.loads(request.good)}, "finish_reason": "stop"}]}
        ),
    ),
    "a content of parts": Quirk(
        "magistral",
        lambda request: sends(
            {
                "choices": [
                    {
                        "message": {
                            "content": [
                                {"type": "thinking", "thinking": [{"type": "text", "text": "{x"}]},
                                {"type": "output_text", "text": request.good},
                            ]
                        }
                    }
                ]
            }
        ),
    ),
    "a bare text": Quirk(
        "completions", lambda request: sends({"choices": [{"text": request.good, "index": 0}]})
    ),
    "the reply parsed": Quirk(
        "gateways",
        lambda request: sends(
            {"choices": [{"message": {"content": None, "parsed": json.loads(request.good)}}]}
        ),
    ),
    "an object in an object": Quirk("instructor", until_repaired('{"Weighed": %s}'.__mod__)),
    # a part of the request is refused
    "no temperature": Quirk(
        "langchainjs#8642",
        refuses("temperature", words="Unsupported value: '{}' does not support 0.3 with this model."),
    ),
    "nothing optional": Quirk(
        "litellm#13432",
        refuses(
            *("max_tokens", "temperature", "seed", "top_p"),
            words="Unsupported parameter: '{}' is not supported. Use 'max_completion_tokens' instead.",
        ),
    ),
    "no extra fields": Quirk(
        "mistral",
        lambda request: (
            sends({"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"]}]}, 422)
            if "seed" in request.body
            else good(request)
        ),
    ),
    "strict mode": Quirk(
        "node-DeepResearch#79",
        refuses_keywords(
            *("minLength", "maxLength", "prefixItems"),
            answer=lambda bad: fails(
                400,
                "Invalid schema for response_format 'Weighed': In context=('properties', 'title'), "
                f"'{bad}' is not permitted.",
                param="response_format",
            ),
        ),
    ),
    "unknown keywords, in a list": Quirk(
        "ComfyUI-NewBie-LLM-Formatter#3",
        refuses_keywords(
            *("prefixItems", "maxLength"),
            answer=lambda bad: sends([{"error": {"code": 400, "message": _UNKNOWN.format(bad)}}], 400),
        ),
    ),
    "items false": Quirk(
        "llama.cpp",
        lambda request: (
            fails(400, "JSON schema conversion failed: Unrecognized schema: false")
            if '"items": false' in json.dumps(request.schema)
            else good(request)
        ),
    ),
    "no long texts": Quirk(
        "llama.cpp#27859", lambda request: _GRAMMAR if _longest(request.schema) >= 2000 else good(request)
    ),
    "no grammar, no mode": Quirk(
        "LM Studio",
        lambda request: (
            good(request)
            if request.way == "text"
            else sends({"error": "Error compiling grammar for structured output"}, 400)
            if request.way == "json_schema"
            else sends({"error": "'response_format.type' must be 'json_schema' or 'text'"}, 400)
        ),
    ),
    "no schema, in a text": Quirk(
        "ollama",
        lambda request: (
            sends({"error": "json_schema response format is not supported by this model"}, 400)
            if request.way == "json_schema"
            else good(request)
        ),
    ),
    "no system role": Quirk("chat-ui#1386", refuses_system(fails(400, "System role not supported"))),
    "roles must alternate": Quirk(
        "vllm#2964",
        refuses_system(sends({"message": "Conversation roles must alternate user/assistant/user/..."}, 400)),
    ),
    "a valid role": Quirk(
        "gemini", refuses_system(sends([{"error": {"message": "Please use a valid role: user."}}], 400))
    ),
    "no system in the first place": Quirk(
        "o1-mini",
        refuses_system(
            fails(
                400,
                "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
                param="messages[0].role",
            )
        ),
    ),
    # one call of several fails
    "flagged": Quirk("BettaFish#108", at_third(fails(400, "Content Exists Risk"))),
    "flagged by a moderator": Quirk(
        "openrouter",
        at_third(sends({"error": {"code": 403, "message": "requires moderation: flagged"}}, 403)),
    ),
    "flagged by an inspection": Quirk(
        "dashscope", at_third(fails(400, "Input text data may be bad.", code="data_inspection_failed"))
    ),
    "too large for a minute": Quirk("continue#10218", at_third(fails(413, _TPM))),
    "too many tokens": Quirk(
        "gemini",
        at_third(
            sends([{"error": {"message": "The input token count (12) exceeds the maximum number."}}], 400)
        ),
    ),
    "too many tokens, in a text": Quirk(
        "text-generation-inference",
        at_third(
            sends({"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 9"}, 422)
        ),
    ),
    # what passes
    "the endpoint's own check": Quirk(
        "langchain#31459", at_third(fails(400, "Failed to generate JSON.", code="json_validate_failed"))
    ),
    "a crash": Quirk("lmstudio#1347", at_third(sends({"error": "The model has crashed."}, 400))),
    "an error in a 200": Quirk(
        "langchain#40364", at_third(sends({"error": {"message": "upstream", "code": 502}}))
    ),
    "cut": Quirk("common", at_third(breaks_off(b'{"id": "1", "cho'))),
    # envelopes
    "a stream that nobody asked for": Quirk("open-webui#193", streamed),
    "a charset as an encoding": Quirk("common", encoded("utf-8", bytes)),
    "deflate": Quirk("common", encoded("deflate", zlib.compress)),
    "raw deflate": Quirk("common", encoded("deflate", lambda body: zlib.compress(body)[2:-4])),
    "two members": Quirk("common", encoded("gzip", _two_members)),
    "a byte order mark": Quirk("common", encoded("identity", b"\xef\xbb\xbf".__add__)),
    # thoughts and counts
    "thoughts count": Quirk("python-genai#1405", thinks(2600)),
    "hidden thoughts": Quirk(
        "any-llm#1290", counts({"prompt_tokens": 120, "completion_tokens": 20, "total_tokens": 940})
    ),
    # what ends a run
    "unpaid in a 200": Quirk(
        "openrouter", lambda request: sends({"error": {"message": "No credits", "code": 402}})
    ),
    "a key that is none": Quirk(
        "gemini", lambda request: sends([{"error": {"code": 400, "message": "API key not valid."}}], 400)
    ),
    "a block page": Quirk(
        "cloudflare",
        lambda request: writes("<html><title>You have been blocked</title></html>", "text/html", 403),
    ),
}
