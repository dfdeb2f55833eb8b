"""An MCP server: the installed protocols as tools of any client that speaks MCP."""
