"""Tree-Structured Debate."""
