"""From a paper to segments, from a query to evidence."""
