"""The graph of ReConcile."""

from reconcile import script

graph = script.compile("reconcile")
