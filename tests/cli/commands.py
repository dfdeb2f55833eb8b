"""Runs commands in this very process: a start of Python each would take long."""

from __future__ import annotations

import gc
import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from dialectree.interfaces.cli import main


class Done(NamedTuple):
    """How a command ended and what it printed."""

    status: int
    out: str
    err: str

    @property
    def record(self) -> dict[str, Any]:
        """Return the one JSON document of ``--json``."""
        document: dict[str, Any] = json.loads(self.out)
        return document


def command(*words: str, stdin: str = "") -> Done:
    """Run ``dialectree`` with ``words`` to its end."""
    out, err = io.StringIO(), io.StringIO()
    with patch.object(sys, "stdin", io.StringIO(stdin)), redirect_stdout(out), redirect_stderr(err):
        status = ended(*words)
    return Done(status, out.getvalue(), err.getvalue())


def ended(*words: str) -> int:
    """Return the status of ``dialectree`` with ``words``; the standard streams stay as they are."""
    frozen = patch.object(gc, "freeze")  # what tests make is to be collected
    with patch.object(sys, "argv", ["dialectree", *words]), frozen:
        try:
            main()
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(bool(end.code))
        finally:
            gc.enable()
    return 0


def refused(done: Done, message: str) -> None:
    """Assert status 2, one line on stderr that holds ``message``, and nothing on stdout."""
    assert (done.status, done.out) == (2, ""), done
    assert message in done.err
    assert done.err.startswith("dialectree: ") and done.err.count("\n") == 1


def runs() -> list[Path]:
    """Return the folders of all runs."""
    folder = Path("runs")
    return [*folder.iterdir()] if folder.exists() else []
