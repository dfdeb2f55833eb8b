"""What can go wrong, as one small family. Each class knows the exit status of the command line.

DialectreeError                 1   a fault of ours
├── InputError                  2   the call or its input is wrong; a ValueError, too
│   ├── SettingsError               a flag, an environment variable or dialectree.toml
│   │   └── ArgumentError           there is no such argument, or one is missing; a TypeError, too
│   ├── MissingPackage              a package that this work needs is not installed
│   ├── RunFolderError              a run's folder cannot be made, read or written
│   │   └── RunNotFound             there is no such run; a FileNotFoundError, too
│   ├── RequestError                the endpoint says that the request is wrong (400, 404, ...)
│   └── ReplayMiss                  --replay, and the cache has no such reply
├── ModelUnavailable            3   there is no model to talk to
│   ├── Unreachable                 nobody answers at the address
│   └── KeyRefused                  the endpoint refuses the key (401, 403)
├── Halted                      4   stopped in good order; `resume` goes on
│   ├── BudgetReached               calls, tokens, seconds or cost
│   └── DiskFull                    a run's file could not be completed
└── PartFailed                  5   one call failed for good; the debate goes on without it
    ├── CallError                   no reply: errors, time-outs or cut connections to the last try
    ├── ReplyError                  a reply that stayed invalid
    └── Dropped                     a person took the part out of a run that is contested
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the operating system says where a disk, or a quota, is full."""


class DialectreeError(RuntimeError):
    """The root of the family; ``status`` is the exit status of the command line."""

    status = 1
    run_id: str = ""
    """The run that it broke off; empty without one."""


class InputError(DialectreeError, ValueError):
    """The call or its input is wrong; the message says what to change."""

    status = 2


class SettingsError(InputError):
    """A flag, an environment variable or a line of dialectree.toml is wrong."""


class ArgumentError(SettingsError, TypeError):
    """A function was given an argument that it does not take, or lacks one that it needs."""


class MissingPackage(InputError, ImportError):
    """A package that this work needs is not installed; the message has the pip line."""


class RunFolderError(InputError):
    """A run's folder cannot be made, read or written."""


class RunNotFound(RunFolderError, FileNotFoundError):
    """There is no run of that id, and none in that folder."""


class RequestError(InputError):
    """The endpoint says that the request itself is wrong; trying again cannot help."""


class ReplayMiss(InputError):
    """``--replay`` was asked for, and the cache has no reply to this request."""


class ModelUnavailable(DialectreeError):
    """There is no model to talk to."""

    status = 3


class Unreachable(ModelUnavailable):
    """Nobody answers at the endpoint's address."""


class KeyRefused(ModelUnavailable):
    """The endpoint refuses the key."""


class Halted(DialectreeError):
    """The run stopped in good order; ``resume`` goes on from there."""

    status = 4


class BudgetReached(Halted):
    """A budget that the user set is used up."""


class DiskFull(Halted):
    """There is no room to complete a run's file."""


class PartFailed(DialectreeError):
    """One call failed for good. The graph decides what the debate does without it."""

    status = 5
    role: str | None = None
    """The role that spoke, or should have."""
    speaker: str = ""
    """The speaker's name where two play one role."""


class CallError(PartFailed):
    """No reply came, to the last try."""


class ReplyError(PartFailed):
    """A reply stayed invalid after its repairs.

    Names the prompt, the node of the tree and the fault, so that a reader can find the call.
    """

    def __init__(self, prompt: str, node: str, fault: str) -> None:
        self.prompt, self.node, self.fault = prompt, node, fault
        super().__init__(f"{prompt} at node {node}: {fault}")


class Contradiction(ReplyError):
    """A reply named two sides as one, and so did its repair.

    Raised by ``ask`` where a ruling's winner and its answer disagree: nothing is certified then.
    """


class Dropped(PartFailed):
    """A person took this part out. It is no failure, and the record names it elsewhere."""


def fault_line(error: ValidationError) -> str:
    """Return the first fault of ``error`` in words: where it is, then what is wrong there."""
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where, message = ".".join(map(str, fault["loc"])), fault["msg"]
    message = message.removeprefix("Value error, ")
    message = f"{message[:1].lower()}{message[1:]}"
    return f"{where}: {message}" if where else message
