"""The graph of vote_first."""

from dialectree.graphs.vote_first import script

graph = script.compile("vote_first")
