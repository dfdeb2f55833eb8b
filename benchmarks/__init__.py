"""Speed and scale, measured against a local endpoint; run by hand, never part of the tests.

``python -m benchmarks equivalence --before OLD [--after NEW] [--only PATTERN]`` compares: two
checkouts, each with its own ``.venv``, run the same cases with one scripted model. What they ask,
record and raise must be the same. The exit status is 1 where anything differs.
"""
