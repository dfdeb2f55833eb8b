"""Tree-Structured Debate: its roles."""
