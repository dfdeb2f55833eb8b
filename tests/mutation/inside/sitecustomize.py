"""Load prepared byte code in place of a module's own, and note which functions run.

Python imports a module of this name at its start, wherever ``PYTHONPATH`` leads to one. That is how
it reaches the processes that tests start. Two variables tell it what to do:

- ``MUTATION_CODE``: a folder of ``<module>.pyc`` files, each loaded in place of that module.
- ``MUTATION_ENTRIES``: a folder in which ``running`` holds the number of the test that runs, and
  to whose ``entries.txt`` each process adds ``<function> <test>`` once for each pair.
"""

from __future__ import annotations

import builtins
import marshal
import mmap
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import MAGIC_NUMBER, module_from_spec
from types import CodeType, ModuleType


def prepared_file(module: str) -> str | None:
    """Return the file whose byte code is to be loaded for ``module``, if there is one."""
    folder = os.environ.get("MUTATION_CODE")
    path = os.path.join(folder, f"{module}.pyc") if folder else None
    return path if path and os.path.exists(path) else None


class PreparedLoader(SourceFileLoader):
    """Loads a module from prepared byte code; nothing is written next to its source."""

    def get_code(self, fullname: str) -> CodeType | None:
        if path := prepared_file(fullname):
            with open(path, "rb") as file:
                content = file.read()
            if content.startswith(MAGIC_NUMBER):
                code: CodeType = marshal.loads(content[16:])
                return code
        return super().get_code(fullname)


class PreparedFinder:
    """Finds the modules that have prepared byte code."""

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if prepared_file(fullname) is None:
            return None
        for finder in sys.meta_path:  # an editable installation has one of its own
            spec = None if finder is PreparedFinder else finder.find_spec(fullname, path, target)
            if spec is not None and isinstance(spec.loader, SourceFileLoader):
                spec.loader = PreparedLoader(spec.loader.name, spec.loader.path)
                return spec
        return None


def note_entries(folder: str) -> None:
    """Let the probes of this process write to ``folder``."""
    low: list[int] = []
    while (descriptor := os.open(os.path.join(folder, "running"), os.O_RDONLY)) < 3:
        # A test closed standard streams; the map, which copies the descriptor, must not fill one.
        low.append(descriptor)
    running = mmap.mmap(descriptor, 8, prot=mmap.PROT_READ)
    for opened in (descriptor, *low):
        os.close(opened)
    seen: set[tuple[int, bytes]] = set()
    path = os.path.join(folder, "entries.txt")
    # Bound here, as tests replace functions of ``os``: to find calls that block, for example.
    open_, write, close = os.open, os.write, os.close

    def mutation_entered(function: int) -> None:
        entry = function, running[:]
        if entry not in seen:
            seen.add(entry)
            file = open_(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            write(file, b"%d %d\n" % (function, int.from_bytes(entry[1], "little")))
            close(file)

    builtins.mutation_entered = mutation_entered  # type: ignore[attr-defined]


def run_hidden_module() -> None:
    """Run the module of the same name that this one hides, which a test may have put there."""
    here = os.path.dirname(__file__)
    spec = PathFinder.find_spec("sitecustomize", [path for path in sys.path if path != here])
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


if "MUTATION_CODE" in os.environ:
    sys.meta_path.insert(0, PreparedFinder)
if "MUTATION_ENTRIES" in os.environ:
    note_entries(os.environ["MUTATION_ENTRIES"])
run_hidden_module()
