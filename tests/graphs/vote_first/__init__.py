"""Vote first."""
