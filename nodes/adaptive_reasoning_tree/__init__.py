"""Adaptive Reasoning Trees: its roles."""
