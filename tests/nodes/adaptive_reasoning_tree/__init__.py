"""Adaptive Reasoning Trees."""
