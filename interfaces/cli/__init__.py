"""The command line. Every command imports what it needs when it runs, so that help is instant."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line. Ctrl-C ends it in order from the first import on."""
    try:
        from dialectree.interfaces.cli.program import run

        run()
    except KeyboardInterrupt:
        sys.exit(130)
