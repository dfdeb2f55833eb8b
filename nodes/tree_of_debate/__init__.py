"""Tree-of-Debate: its roles."""
