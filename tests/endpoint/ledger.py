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
    """When it left the queue."""
    ended: float = 0.0
    status: int = 200
    """0 where the client left."""
    fault: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    body: str | None = None


@dataclass
class Ledger:
    """The calls so far, and the integral of busy calls over time."""

    slots: int
    entries: list[Entry] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    running: int = 0
    peak_running: int = 0
    busy_s: float = 0.0
    mark: float = field(default_factory=time.monotonic)

    def arrive(self, digest: str, model: str) -> Entry:
        """Note a request that has come and waits."""
        self.seen[digest] += 1
        return Entry(digest, model, self.seen[digest], time.monotonic())

    def start(self, entry: Entry) -> None:
        """Note that a request has left the queue."""
        entry.started = self._run(1)

    def end(self, entry: Entry) -> None:
        """Note that a call is over, however it ended."""
        entry.ended = self._run(-1 if entry.started else 0)
        entry.started = entry.started or entry.ended
        if entry.status == 200 and entry.fault is None:
            self.answered[entry.digest] += 1
        self.entries.append(entry)

    def reset(self) -> None:
        """Forget everything but the calls under way."""
        self._run(0)
        self.entries.clear()
        self.seen.clear()
        self.answered.clear()
        self.peak_running, self.busy_s = self.running, 0.0

    def _run(self, more: int) -> float:
        """Bring the integral up to now, then change the number of running calls."""
        now = time.monotonic()
        self.busy_s += self.running * (now - self.mark)
        self.mark = now
        self.running += more
        self.peak_running = max(self.peak_running, self.running)
        return now

    def totals(self) -> dict[str, Any]:
        """Return everything that is counted."""
        self._run(0)
        first = min((entry.arrived for entry in self.entries), default=0.0)
        wall = max((entry.ended for entry in self.entries), default=0.0) - first
        return {
            "calls": len(self.entries),
            "statuses": Counter(str(entry.status) for entry in self.entries),
            "faults": Counter(entry.fault for entry in self.entries if entry.fault),
            "unique_requests": len(self.seen),
            "duplicate_requests": self.seen.total() - len(self.seen),
            "paid_twice": self.answered.total() - len(self.answered),
            "running": self.running,
            "peak_running": self.peak_running,
            "wall_s": wall,
            "utilisation": self.busy_s / (wall * self.slots) if wall and self.slots else None,
            "prompt_tokens": sum(entry.prompt_tokens for entry in self.entries),
            "completion_tokens": sum(entry.completion_tokens for entry in self.entries),
        }
