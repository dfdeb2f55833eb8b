"""Role-Switching Debate: its roles."""
