"""Wrap clock, chance, event loop, threads, streams, packages, addresses and databases."""

from dialectree.system import chance as chance
