"""``python -m dialectree`` is the command ``dialectree``."""

from dialectree.interfaces.cli import main

main()
