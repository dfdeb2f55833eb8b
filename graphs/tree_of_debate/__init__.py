"""Tree-of-Debate: its graphs and its baselines."""
