"""A model that says what it is told to, by kind of reply, and keeps what it was asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import openai
from pydantic import BaseModel, PrivateAttr

from dialectree import testing
from dialectree.testing import Asked, Said

__all__ = ["Asked", "Said", "Say", "ScriptedModel", "no_reply"]

Say = Said | Callable[[Asked], Said]
"""A reply, its raw text, an error to raise, or a function of the call that gives one of them."""


def no_reply() -> openai.OpenAIError:
    """What a model raises that has no reply to this call, to the last try."""
    refused: Any = SimpleNamespace(status_code=400, headers={}, request=None)
    return openai.BadRequestError("maximum context length", response=refused, body=None)


class ScriptedModel(testing.ScriptedModel):
    """Answers each kind of reply from its own queue; the last entry is said again and again."""

    _says: defaultdict[tuple[str, str], list[Say]] = PrivateAttr(
        default_factory=lambda: defaultdict[tuple[str, str], list[Say]](list)
    )

    def will_say(
        self, *replies: Say, to: type[BaseModel] | None = None, at: str = "", times: int = 1
    ) -> None:
        """Queue ``replies``.

        ``to`` names the kind where a reply does not tell it itself. What is said ``at`` a node of
        the tree goes before what is said at any.
        """
        for reply in replies * times:
            kind = to or (type(reply) if isinstance(reply, BaseModel) else None)
            if kind is None:
                raise TypeError("say to which kind of question this is the reply")
            self._says[kind.__name__, at].append(reply)

    def will_say_now(self, *replies: Say, to: type[BaseModel] | None = None, at: str = "") -> None:
        """The same in place of what was queued before."""
        for reply in replies:
            kind = to or type(reply)
            self._says[kind.__name__, at].clear()
        self.will_say(*replies, to=to, at=at)

    def will_always_say(self, said: Said) -> None:
        """Queue ``said`` alone for every kind of reply, at every node."""
        for queue in self._says.values():
            queue[:] = [said]

    def says(self, kind: type[BaseModel], at: str = "") -> Callable[[Asked], Said]:
        """What would be said next to a ``kind``, for a script that changes only some of it."""
        usual = (self._says[kind.__name__, at] or self._says[kind.__name__, ""])[0]
        return lambda call: _said(usual, call)

    @property
    def asked(self) -> list[str]:
        """The kinds of reply that were asked for, in order."""
        return [call.kind for call in self._calls]

    @property
    def prompts(self) -> list[str]:
        """All that was shown to the model, one text a call."""
        return [call.prompt for call in self._calls]

    @property
    def places(self) -> list[tuple[str, str]]:
        """(node, role) of each call, in order."""
        return [(call.node, call.role) for call in self._calls]

    def _next(self, call: Asked) -> Said:
        queue = self._says[call.kind, call.node] or self._says[call.kind, ""]
        assert queue, f"nothing was scripted for {call.kind}"
        said = queue[0] if len(queue) == 1 else queue.pop(0)
        return _said(said, call)


def _said(say: Say, call: Asked) -> Said:
    return say(call) if callable(say) and not isinstance(say, BaseModel) else say
