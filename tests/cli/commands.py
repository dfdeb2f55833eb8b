"""Commands as a person gives them, in this very process: a start of Python each would take long."""

from __future__ import annotations

import gc
import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from dialectree.cli import main


class Done(NamedTuple):
    """How a command ended and what it said."""

    status: int
    out: str
    err: str

    @property
    def record(self) -> dict[str, Any]:
        """The one JSON document of ``--json``."""
        document: dict[str, Any] = json.loads(self.out)
        return document


def command(*words: str, stdin: str = "") -> Done:
    """``dialectree`` with ``words``, to its end."""
    out, err, status = io.StringIO(), io.StringIO(), 0
    given = patch.multiple(sys, argv=["dialectree", *words], stdin=io.StringIO(stdin))
    with given, redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else int(bool(ended.code))
        finally:
            gc.enable()
            gc.unfreeze()
    return Done(status, out.getvalue(), err.getvalue())


def refused(done: Done, said: str) -> None:
    """Wrong input: status 2, one line on stderr, nothing on stdout."""
    assert (done.status, done.out) == (2, ""), done
    assert said in done.err
    assert done.err.startswith("dialectree: ") and done.err.count("\n") == 1


def runs() -> list[Path]:
    """The folders of all runs."""
    folder = Path("runs")
    return [*folder.iterdir()] if folder.exists() else []
