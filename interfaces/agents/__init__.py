"""Debates for agents of LangChain: a protocol as a tool, and a gate for an agent's answers."""
