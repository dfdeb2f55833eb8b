"""How hypothesis is run here: the same cases every day."""

from hypothesis import settings
from hypothesis import strategies as st

steady = settings(derandomize=True, database=None, deadline=None, max_examples=30)

answers = st.lists(
    st.tuples(st.integers(0, 20).map(lambda n: n / 20), st.booleans()), min_size=1, max_size=40
)
"""Confidences with many ties, and whether each came true."""
