"""Try dialectree as others install it: in an environment of its own, outside this checkout.

The endpoint of the tests answers instead of a model, so that the debates mean nothing.
"""
