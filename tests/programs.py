"""Programs of the system that tests run."""

from __future__ import annotations

import os
import shutil

import pytest


def find_program(name: str) -> str:
    """Return the path of a program, on the PATH or where systems keep theirs.

    The test is skipped where there is none.
    """
    path = os.pathsep.join([os.environ.get("PATH", ""), os.defpath])
    found = shutil.which(name, path=path)
    if found is None:
        pytest.skip(f"this system has no {name}")
    return found
