"""Measure other programs that let models debate or vote, beside our nearest protocols.

``python -m benchmarks.peers --venvs DIR`` makes an environment for each of them in DIR, which
downloads some 400 MB, and measures for a quarter of an hour. It is run by hand. All talk to one
endpoint without a model: the figures say what a verdict costs, and nothing about its worth.
"""
