"""Role-Switching Debate."""
