"""Modules that the processes of the tests load from this folder, by their bare names.

They import nothing of ``tests``: the tests may be those of another checkout.
"""
