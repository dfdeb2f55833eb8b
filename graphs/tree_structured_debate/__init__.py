"""Tree-Structured Debate: its graphs and its baselines."""
