"""Traces, telemetry, events and what is under way."""
