"""Cut papers into segments, and find evidence for queries."""
