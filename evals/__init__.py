"""Data sets, scorers, statistics and runs: whether debating helped."""
