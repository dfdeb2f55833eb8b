"""Draw seeded and unseeded random numbers; only this module does."""

from __future__ import annotations

import random
import secrets
from hashlib import blake2b


def seed(run_seed: int, *place: str | int) -> int:
    """Return a seed in 0 .. 2**31 - 1 from the run's seed and a place: (node, role, sample)."""
    text = "\x1f".join(map(str, (run_seed, *place)))
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big") >> 1


def coin(run_seed: int, *place: str | int) -> bool:
    """Return a fair coin that falls the same way for the same seed and place."""
    return bool(seed(run_seed, "coin", *place) & 1)


def draws(run_seed: int, *place: str | int) -> random.Random:
    """Return a generator whose draws repeat for the same seed and place."""
    return random.Random(seed(run_seed, *place))


def token() -> str:
    """Return six unseeded hex digits, so that two runs never share an id."""
    return secrets.token_hex(3)


def secret() -> str:
    """Return an unguessable key of 43 letters, digits, ``-`` and ``_``."""
    return secrets.token_urlsafe(32)


def jitter(max_seconds: float) -> float:
    """Return an unseeded wait up to ``max_seconds``, so that clients do not retry in step."""
    return random.uniform(0.0, max_seconds)
