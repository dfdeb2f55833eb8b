"""Declare protocols: their phases, their settings, and the sources of the settings."""
