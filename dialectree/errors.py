"""Define the errors, as one small family. Each class has its exit status for the command line.

DialectreeError                 1   a fault in dialectree
├── InputError                  2   the call or its input is wrong; also a ValueError
│   ├── SettingsError               a flag, an environment variable or dialectree.toml
│   │   └── ArgumentError           an argument is unknown or missing; also a TypeError
│   ├── MissingPackage              a package that this work needs is not installed
│   ├── RunFolderError              a run's folder cannot be made, read or written
│   │   └── RunNotFound             the run does not exist; also a FileNotFoundError
│   ├── RequestError                the endpoint says that the request is wrong (400, 404, ...)
│   └── ReplayMiss                  --replay, and the cache has no reply to the request
├── ModelUnavailable            3   no model can be reached
│   ├── Unreachable                 the endpoint's address does not answer
│   └── KeyRefused                  the endpoint refuses the key (401, 403)
├── Halted                      4   stopped in an orderly way; `resume` goes on
│   ├── BudgetReached               calls, tokens, seconds or cost
│   └── DiskFull                    a run's file could not be completed
└── PartFailed                  5   one call failed for good; the debate goes on without it
    ├── CallError                   no reply: the last try failed, timed out or was cut off
    ├── ReplyError                  a reply stayed invalid after its repairs
    └── Dropped                     a person removed the part in a contest
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of the operating system for a full disk or quota."""


class DialectreeError(RuntimeError):
    """The base class of all errors; ``status`` is the exit status of the command line."""

    status = 1
    run_id: str = ""
    """The run that the error stopped; empty without a run."""


class InputError(DialectreeError, ValueError):
    """The call or its input is wrong; the message says what to change."""

    status = 2


class SettingsError(InputError):
    """A flag, an environment variable or a line of dialectree.toml is wrong."""


class ArgumentError(SettingsError, TypeError):
    """A function got an unknown argument, or lacks a required one."""


class MissingPackage(InputError, ImportError):
    """A package that this work needs is not installed; the message has the pip line."""


class RunFolderError(InputError):
    """A run's folder cannot be made, read or written."""


class RunNotFound(RunFolderError, FileNotFoundError):
    """The named run does not exist, neither by its id nor as a folder."""


class RequestError(InputError):
    """The endpoint says that the request itself is wrong; trying again cannot help."""


class ReplayMiss(InputError):
    """``--replay`` was asked for, and the cache has no reply to this request."""


class ModelUnavailable(DialectreeError):
    """No model can be reached."""

    status = 3


class Unreachable(ModelUnavailable):
    """The endpoint's address does not answer."""


class KeyRefused(ModelUnavailable):
    """The endpoint refuses the key."""


class Halted(DialectreeError):
    """The run stopped in an orderly way; ``resume`` goes on from there."""

    status = 4


class BudgetReached(Halted):
    """A budget that the user set is used up."""


class DiskFull(Halted):
    """The disk is too full to complete a run's file."""


class PartFailed(DialectreeError):
    """One call failed for good. The graph decides what the debate does without it."""

    status = 5
    role: str | None = None
    """The role whose call failed."""
    speaker: str = ""
    """The speaker's name where two speakers play one role."""


class CallError(PartFailed):
    """No reply came, even after the last retry."""


class ReplyError(PartFailed):
    """A reply stayed invalid after its repairs.

    Names the prompt, the node of the tree and the fault, so that a reader can find the call.
    """

    def __init__(self, prompt: str, node: str, fault: str) -> None:
        self.prompt, self.node, self.fault = prompt, node, fault
        super().__init__(f"{prompt} at node {node}: {fault}")


class Contradiction(ReplyError):
    """A reply contradicts itself, and so does its repair.

    ``ask`` raises it where a ruling's winner and its answer are different candidates.
    """


class Dropped(PartFailed):
    """A person removed this part. The record lists it with the changes, not with the failures."""


def fault_line(error: ValidationError) -> str:
    """Return the first fault of ``error`` in words: its place, then the fault."""
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where, message = ".".join(map(str, fault["loc"])), fault["msg"]
    message = message.removeprefix("Value error, ")
    message = f"{message[:1].lower()}{message[1:]}"
    return f"{where}: {message}" if where else message
