"""What a protocol declares: itself, its settings, its phases, and where settings come from."""
