"""The door to randomness: draws that a seed fixes, and the few that nothing should fix."""

from __future__ import annotations

import random
import secrets
from hashlib import blake2b


def seed(run_seed: int, *place: str | int) -> int:
    """A seed in 0 .. 2**31 - 1, made from the run's seed and a place: (node, role, sample)."""
    text = "\x1f".join(map(str, (run_seed, *place)))
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big") >> 1


def coin(run_seed: int, *place: str | int) -> bool:
    """A fair coin that falls the same way for the same seed and place."""
    return bool(seed(run_seed, "coin", *place) & 1)


def draws(run_seed: int, *place: str | int) -> random.Random:
    """A source of draws that come out the same way for the same seed and place."""
    return random.Random(seed(run_seed, *place))


def token() -> str:
    """Six hex digits that no seed fixes, so that two runs never share an id."""
    return secrets.token_hex(3)


def secret() -> str:
    """A key that nobody can guess, of 43 letters, digits, ``-`` and ``_``."""
    return secrets.token_urlsafe(32)


def jitter(most: float) -> float:
    """A wait between 0 and ``most``, drawn anew each time, so that clients do not retry in step."""
    return random.uniform(0.0, most)
