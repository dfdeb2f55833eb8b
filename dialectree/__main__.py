"""``python -m dialectree`` is the command ``dialectree``."""

from dialectree.cli import main

main()
