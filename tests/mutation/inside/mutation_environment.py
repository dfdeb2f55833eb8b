"""A pytest plugin that carries ``sitecustomize`` to processes with an environment of their own.

Some tests start a process with another ``PYTHONPATH``, or with few variables. What runs there would
be neither noted nor mutated.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from typing import Any

INSIDE, TREE = os.environ["PYTHONPATH"].split(os.pathsep)[:2]
start_process: Any = subprocess.Popen.__init__


def pytest_configure() -> None:
    def start(
        self: subprocess.Popen[Any],
        args: Any,
        *more: Any,
        env: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        environment = with_ours(os.environ if env is None else env)
        start_process(self, args, *more, env=environment, **options)

    setattr(subprocess.Popen, "__init__", start)  # noqa: B010 (mypy refuses the plain assignment)


def with_ours(environment: Mapping[str, str]) -> dict[str, str]:
    """Return ``environment`` with the variables and folders that ``sitecustomize`` needs."""
    ours = {name: text for name, text in os.environ.items() if name.startswith("MUTATION_")}
    folders = environment.get("PYTHONPATH", "").split(os.pathsep)
    path = [INSIDE, *(folder for folder in folders if folder not in ("", INSIDE))]
    if TREE not in path:
        path.append(TREE)
    return {**environment, **ours, "PYTHONPATH": os.pathsep.join(path)}
