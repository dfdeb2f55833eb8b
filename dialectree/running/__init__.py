"""Carry out a run, from its settings to its record."""
