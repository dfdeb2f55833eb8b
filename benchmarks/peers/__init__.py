"""Measure other programs that let models debate or vote, and our nearest protocols.

``python -m benchmarks.peers --venvs DIR`` makes an environment for each of them in DIR, which
downloads some 400 MB, and measures for a quarter of an hour. Run it by hand. All programs use one
endpoint without a model: the figures show the cost of a verdict, not its quality.
"""
