"""Read the clock; only this module does."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime


def read_utc_time() -> datetime:
    """Return the current time, in UTC."""
    return datetime.now(UTC)


def stamp() -> str:
    """Return the current time as ISO 8601 text in UTC: 2026-01-31T12:00:00.000000Z."""
    return read_utc_time().isoformat(timespec="microseconds").replace("+00:00", "Z")


def seconds() -> float:
    """Return the seconds of a clock that never runs backwards, for measuring."""
    return time.monotonic()


async def sleep(duration_s: float) -> None:
    """Wait without blocking other tasks."""
    await asyncio.sleep(duration_s)
