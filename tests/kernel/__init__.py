"""The kernel alone: its rooms, one protocol, and nothing that it can do without.

These files import nothing of the other tests, so that they run where the kernel is all there is:
``make kernel`` copies them there.
"""
