"""Tree-of-Debate."""
