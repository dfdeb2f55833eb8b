"""The graph of the council."""

from council import script

graph = script.compile("council")
