"""Whoever has the baton goes on; the next one when that one's requests are on their way.

The branches of a tree speak at once, and their replies come together. Left to the event loop they
would go on side by side, a step here and a step there, and every branch's next request would leave
only when the last one's does: each step would take as long as all branches need. One after
another, the first branch's requests are out while the second's are still being written. The
branches stay as far apart as they once came, and a step takes as long as one branch needs. Who
speaks side by side at one node of the tree goes on together: the branch needs all of them.
"""

from __future__ import annotations

import asyncio

_TURNS = 16
"""Turns of the event loop that a branch is given. LangGraph needs about 12 from a reply to the
requests that follow it; 6 to 30 of them made no difference to the wall time of a tree."""


class Baton:
    """One for the branches of a run. Nobody gives it back: it goes on by itself."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        """Where it is held."""
        self._branch = ""
        """Who has it: a node of the tree."""
        self._turns = 0
        self._waiting: dict[str, list[asyncio.Future[None]]] = {}

    async def take(self, branch: str) -> None:
        """Returns when it is the turn of ``branch``, first come first served."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._waiting = loop, {}
            self._hold(branch)
            self._wait()
        elif branch == self._branch:
            self._hold(branch)
        else:
            turn = loop.create_future()
            self._waiting.setdefault(branch, []).append(turn)
            await turn

    def _hold(self, branch: str) -> None:
        self._branch, self._turns = branch, _TURNS

    def _wait(self) -> None:
        assert self._loop is not None
        if self._turns:
            self._turns -= 1
            self._loop.call_soon(self._wait)
        else:
            self._pass_on()

    def _pass_on(self) -> None:
        for branch in [*self._waiting]:
            # Whoever waited may have been called off.
            turns = [turn for turn in self._waiting.pop(branch) if not turn.done()]
            for turn in turns:
                turn.set_result(None)
            if turns:
                self._hold(branch)
                self._wait()
                return
        self._loop = None
