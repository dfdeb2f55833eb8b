"""Refuse a flag that is given twice with a text: the parser would silently keep the last text."""

from __future__ import annotations

from typing import Any

from dialectree.errors import InputError
from dialectree.interfaces.cli.help_groups import GroupedCommand


class OneText(GroupedCommand):
    """A command in which each flag that takes an id and a text may be given once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of a call; raise InputError if a flag with an id and a text is given twice."""
        words = [word.partition("=")[0] for word in args]
        paired = (parameter for parameter in self.params if parameter.nargs == 2)
        for flag in (flag for parameter in paired for flag in parameter.opts):
            if words.count(flag) > 1:
                raise InputError(f"{flag}: one at a time; contest the new run for another")
        return super().parse_args(ctx, args)
