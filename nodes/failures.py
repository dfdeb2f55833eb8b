"""What happens to a debate when one part of it fails for good: told, and gone on without."""

from __future__ import annotations

from collections.abc import Mapping
from functools import wraps
from typing import Any, TypeVar

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from dialectree.errors import Contradiction, Dropped, PartFailed
from dialectree.events import tell
from dialectree.nodes.kinds import Node

State = TypeVar("State", bound=Mapping[str, object])
Update = TypeVar("Update")
Instead = TypeVar("Instead")
Otherwise = TypeVar("Otherwise")


class Failed(TypedDict):
    """What a role leaves that could not speak."""

    failed: bool


FAILED: Failed = {"failed": True}


class Contradicted(TypedDict):
    """What a role leaves whose ruling contradicted itself."""

    contradicted: bool


CONTRADICTED: Contradicted = {"contradicted": True}


def may_fail(
    node: Node[State, Update],
    instead: Instead,
    dropped: Instead | None = None,
    contradicted: Otherwise | None = None,
) -> Node[State, Update | Instead | Otherwise]:
    """``node``, which leaves ``instead`` in the state when its call fails for good.

    Only PartFailed is a failure of one part; whatever else goes wrong ends the run. The stopping
    rule after the node reads what it left, so the drawing shows where the debate goes on. What a
    person dropped is left out alike, and is no failure; where the count of parts matters, it leaves
    ``dropped``. A ruling that contradicts itself leaves ``contradicted`` where that is given. (An
    ``error_handler`` of LangGraph would also keep the errors that end a run: resumed, the run would
    not take the step up again.)
    """

    @wraps(node)
    async def attempt(state: State, runtime: Runtime[Any]) -> Update | Instead | Otherwise:
        try:
            return await node(state, runtime)
        except Dropped:
            return instead if dropped is None else dropped
        except PartFailed as error:
            role = error.role or attempt.__name__
            failed = {"role": role, "who": error.who, "fault": str(error)}
            tell(runtime, str(state.get("id", "0")), "failed", failed)
            if contradicted is not None and isinstance(error, Contradiction):
                return contradicted
            return instead

    return attempt
