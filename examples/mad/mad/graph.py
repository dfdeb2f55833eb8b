"""The graphs of multi-agent debate and of its ablation."""

from mad import script
from mad import unmoderated as without_moderator

graph = script.compile("mad")
unmoderated = without_moderator.compile("unmoderated")
