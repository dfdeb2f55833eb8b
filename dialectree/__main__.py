"""Run the command ``dialectree`` as ``python -m dialectree``."""

from dialectree.interfaces.cli import main

main()
