"""Role-Switching Debate: its graphs and its baselines."""
