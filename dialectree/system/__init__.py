"""Clock, chance, event loop, threads, streams, packages, addresses and databases."""
