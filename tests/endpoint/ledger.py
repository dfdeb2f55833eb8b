"""What the endpoint's clients did: one entry a call, and totals."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Entry:
    """One call. Times are seconds of this machine's monotonic clock."""

    digest: str
    """The same for two requests that are the same byte for byte."""
    model: str
    times: int
    """1 for the first request of its kind, 2 for the second ..."""
    arrived: float
    started: float = 0.0
    """When it left the queue; 0 where the client left before."""
    ended: float = 0.0
    status: int = 200
    """0 where the client left."""
    fault: str | None = None
    body: str | None = None
    prompt_tokens: int = 0
    """Of the messages, and of the schemas and tools sent along."""
    completion_tokens: int = 0


@dataclass
class Ledger:
    """The calls so far, in the order of their ends."""

    slots: int
    entries: list[Entry] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    running: int = 0

    def arrive(self, digest: str, model: str) -> Entry:
        """Note a request that has come and waits."""
        self.seen[digest] += 1
        return Entry(digest, model, self.seen[digest], time.monotonic())

    def start(self, entry: Entry) -> None:
        """Note that a request has left the queue."""
        entry.started = time.monotonic()
        self.running += 1

    def end(self, entry: Entry) -> None:
        """Note that a call is over, however it ended."""
        entry.ended = time.monotonic()
        self.running -= entry.started > 0
        self.entries.append(entry)

    def reset(self) -> None:
        """Forget everything but the calls under way."""
        self.entries.clear()
        self.seen.clear()

    def totals(self) -> dict[str, Any]:
        """Return everything that is counted."""
        good = [one.digest for one in self.entries if one.status == 200 and one.fault is None]
        busy = sum(one.ended - one.started for one in self.entries if one.started)
        first = min((one.arrived for one in self.entries), default=0.0)
        wall = max((one.ended for one in self.entries), default=0.0) - first
        return {
            "calls": len(self.entries),
            "unique_requests": len(self.seen),
            "duplicate_requests": self.seen.total() - len(self.seen),
            "paid_twice": len(good) - len(set(good)),
            "running": self.running,
            "utilisation": busy / (wall * self.slots) if wall and self.slots else None,
        }
