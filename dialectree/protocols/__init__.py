"""Declare protocols: their phases, their settings, and the sources of these."""
