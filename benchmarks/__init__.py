"""Speed and scale, measured against a local endpoint; run by hand, never part of the tests."""
