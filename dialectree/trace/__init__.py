"""Show debates to others: traces, telemetry, and events that report progress."""
