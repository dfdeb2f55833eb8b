"""Models that run on this machine: a small catalogue, its files, and the engine."""
