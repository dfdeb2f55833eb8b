"""The ways to a debate: the command line, the server, MCP, and tools of agents."""
