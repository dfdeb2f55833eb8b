"""Data sets, scorers, baselines and runs."""
