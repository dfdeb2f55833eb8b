"""What the endpoint's clients did: one entry a call, and totals."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, TextIO

from benchmarks.endpoint_options import Options


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
    kind: str = "text"
    """The response format: json_schema, json_object or text."""
    status: int = 200
    """0 where the connection was cut."""
    fault: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    body: str | None = None


@dataclass
class Ledger:
    """The calls so far, and the integrals of busy and waiting calls over time."""

    options: Options
    log: TextIO | None = None
    entries: list[Entry] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    running: int = 0
    waiting: int = 0
    peak_running: int = 0
    busy_s: float = 0.0
    queued_s: float = 0.0
    mark: float = field(default_factory=time.monotonic)

    def arrive(self, digest: str, model: str) -> Entry:
        """A request has come and waits."""
        self.seen[digest] += 1
        return Entry(digest, model, self.seen[digest], self._move(waiting=1))

    def start(self, entry: Entry) -> None:
        """A request has left the queue."""
        entry.started = self._move(waiting=-1, running=1)

    def end(self, entry: Entry) -> None:
        """A call is over, however it ended."""
        held = entry.started > 0
        entry.ended = self._move(waiting=0 if held else -1, running=-1 if held else 0)
        entry.started = entry.started or entry.ended
        if entry.status == 200 and entry.fault is None:
            self.answered[entry.digest] += 1
        self.entries.append(entry)
        if self.log:
            print(json.dumps(asdict(entry)), file=self.log, flush=True)

    def reset(self) -> None:
        """Forget everything but the calls under way."""
        self._move()
        self.entries.clear()
        self.seen.clear()
        self.answered.clear()
        self.peak_running, self.busy_s, self.queued_s = self.running, 0.0, 0.0

    def _move(self, waiting: int = 0, running: int = 0) -> float:
        """Bring the integrals up to now, then change the numbers of waiting and running calls."""
        now = time.monotonic()
        self.busy_s += self.running * (now - self.mark)
        self.queued_s += self.waiting * (now - self.mark)
        self.mark = now
        self.waiting += waiting
        self.running += running
        self.peak_running = max(self.peak_running, self.running)
        return now

    def totals(self) -> dict[str, Any]:
        """Everything that is counted."""
        self._move()
        first = min((entry.arrived for entry in self.entries), default=0.0)
        last = max((entry.ended for entry in self.entries), default=0.0)
        wall, slots = last - first, self.options.max_concurrency
        return {
            "calls": len(self.entries),
            "kinds": Counter(entry.kind for entry in self.entries),
            "statuses": Counter(str(entry.status) for entry in self.entries),
            "faults": Counter(entry.fault for entry in self.entries if entry.fault),
            "unique_requests": len(self.seen),
            "duplicate_requests": self.seen.total() - len(self.seen),
            "paid_twice": self.answered.total() - len(self.answered),
            "running": self.running,
            "waiting": self.waiting,
            "peak_running": self.peak_running,
            "busy_s": self.busy_s,
            "queued_s": self.queued_s,
            "first": first,
            "last": last,
            "wall_s": wall,
            "mean_running": self.busy_s / wall if wall else 0.0,
            "utilisation": self.busy_s / (wall * slots) if wall and slots else None,
            "prompt_tokens": sum(entry.prompt_tokens for entry in self.entries),
            "completion_tokens": sum(entry.completion_tokens for entry in self.entries),
        }
