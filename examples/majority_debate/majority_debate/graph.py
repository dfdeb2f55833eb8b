"""The graph of majority debate."""

from majority_debate import script

graph = script.compile("majority_debate")
