"""How the endpoint behaves, and the command line that says so."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

FAULTS = (
    "malformed_json",
    "truncate",
    "wrong_schema",
    "empty",
    "refusal",
    "http_500",
    "http_503",
    "hang",
    "disconnect",
)


@dataclass(frozen=True)
class Options:
    """How the endpoint behaves. A fault is a probability, drawn anew when a request comes again."""

    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = 0
    """Port to listen on; 0 takes a free one, named in the line printed at the start."""
    seed: str = "0"
    """Changes every reply, every latency and every fault."""
    latency_ms: str = "0"
    """From taking a request up to its reply: ``200``, or ``lognormal:200:0.5`` (median, sigma)."""
    max_concurrency: int = 0
    """Requests answered at once; the others queue; 0: no limit."""
    rate_limit_rpm: float = 0.0
    """Requests a minute; over it, 429 with Retry-After; 0: no limit."""
    rules: str = "[]"
    """``[{"match": regex on the prompt, "set": {property: value}}, ...]``, or a file of it."""
    array_items: int = 0
    """Items of an array that sets no least number, as far as it may have them; 0: 2 to 4."""
    models: str = ""
    """Names of models, separated by commas; any other is a 404; empty: every name is known."""
    key: str = ""
    """The key that a client must send; any other is a 401; empty: none is asked for."""
    refuses: str = ""
    """Response formats that are a 400 here, separated by commas: ``json_schema,json_object``."""
    ignores: str = ""
    """Response formats that are read over, as if they were not there."""
    log: str = ""
    """File to which one JSON line a call is added."""
    keep_bodies: bool = False
    """Keep each request as it came, as ``body`` of its call."""
    with_parent: bool = False
    """End when the standard input is closed."""

    malformed_json: float = 0.0
    """JSON that does not parse: a comma too many, single quotes, or cut off inside a code fence."""
    truncate: float = 0.0
    """A text that ends half way, with finish_reason ``length``."""
    wrong_schema: float = 0.0
    """JSON that breaks its schema."""
    empty: float = 0.0
    """An empty text."""
    refusal: float = 0.0
    """A refusal and no text."""
    http_500: float = 0.0
    """Status 500."""
    http_503: float = 0.0
    """Status 503 with Retry-After."""
    hang: float = 0.0
    """No answer until the client gives up."""
    disconnect: float = 0.0
    """The connection is cut, before the headers or within the body."""

    def __post_init__(self) -> None:
        for name in FAULTS:
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is a probability, from 0 to 1")

    def latency(self) -> tuple[float, float]:
        """The median in seconds, and sigma of its logarithm."""
        median, _, sigma = self.latency_ms.removeprefix("lognormal:").partition(":")
        return float(median) / 1000, float(sigma or 0)


def flags(options: Options) -> list[str]:
    """The command line that gives these options."""
    return [
        _flag(name) if value is True else f"{_flag(name)}={value}"
        for name, value in asdict(options).items()
        if value != getattr(Options, name)
    ]


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def parsed(arguments: Sequence[str] | None = None) -> Options:
    """The options that a command line gives."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.endpoint",
        description="An OpenAI-compatible endpoint on this machine, with no model behind it.",
        epilog="Options in benchmarks/endpoint_options.py say what each is for.",
    )
    for field in fields(Options):
        flag, default = _flag(field.name), field.default
        if isinstance(default, bool):
            parser.add_argument(flag, action="store_true")
        else:
            parser.add_argument(flag, type=type(default), default=default, metavar="VALUE")
    return Options(**vars(parser.parse_args(arguments)))
