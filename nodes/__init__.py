"""One role a file: what it reads, what it asks for, what it leaves in the state."""
