"""A pytest plugin that takes chance and the clock out of tests that Hypothesis writes."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("mutation", deadline=None, derandomize=True)
settings.load_profile("mutation")
