"""Adaptive Reasoning Trees: its graphs and its baselines."""
