"""How the endpoint behaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

FAULTS = ("malformed_json", "empty", "http_500", "http_429", "hang")
HUNG_S = 2.0


@dataclass(frozen=True)
class Options:
    """How the endpoint behaves. A fault is a probability, drawn anew when a request comes again."""

    seed: int = 0
    """Changes every reply, every latency and every fault."""
    latency_ms: float = 0.0
    """From taking a request up to its reply; with ``spread`` the median."""
    spread: float = 0.0
    """Sigma of the latency's logarithm; 0: every reply takes equally long."""
    max_concurrency: int = 0
    """Requests answered at once; the others queue; 0: no limit."""
    rules: Sequence[dict[str, Any]] = ()
    """``{"match": regex on the prompt, "set": {property: value}}``; of two the later one counts."""
    array_items: int = 0
    """Items of an array that sets no least number, as far as it may have them; 0: 2 to 4."""
    key: str = ""
    """The key that a client must send; any other is a 401; empty: none is asked for."""
    call_tools: bool = False
    """Answer a request that offers tools by a call of the first one."""
    keep_bodies: bool = False
    """Keep each request as it came, as ``body`` of its call."""

    malformed_json: float = 0.0
    """JSON that does not parse: a comma too many, single quotes, or cut off inside a code fence."""
    empty: float = 0.0
    """An empty text."""
    http_500: float = 0.0
    """Status 500."""
    http_429: float = 0.0
    """Status 429, to be tried again after a second."""
    hang: float = 0.0
    """Status 504 after ``HUNG_S`` seconds, as from a gateway whose model does not answer."""
