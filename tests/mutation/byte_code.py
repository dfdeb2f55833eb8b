"""Compile source with a probe, or with a mutant, for processes to load in place of their own."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import marshal
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from types import CodeType

from .drawing import PACKAGE, module_of
from .mutants import Mutant

PROBE = "mutation_entered"
"""A function that ``inside/sitecustomize.py`` adds to Python's built-in ones."""


def write_probes(tree: Path, drawn: Sequence[Mutant], folder: Path) -> None:
    """Compile each file that has mutants into ``folder``; its functions tell that they run."""
    numbers: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for number, mutant in enumerate(drawn):
        numbers[mutant.file][mutant.function_line] = number
    for file, number_by_line in numbers.items():
        module = ast.parse((tree / file).read_text())
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                _add_probe(node, number_by_line.get(node.lineno))
        _write(file, _compile(tree, file, module), folder)


def write_mutant(tree: Path, mutant: Mutant, folder: Path) -> bool:
    """Compile the file of ``mutant`` into ``folder``.

    Returns:
        Whether the change acts when the module is imported, as that of a parameter's default does.
    """
    source = (tree / mutant.file).read_text()
    before = _compile(tree, mutant.file, ast.parse(source))
    after = _compile(tree, mutant.file, ast.parse(mutant.apply(source)))
    _write(mutant.file, after, folder)
    return any(not code.co_flags & inspect.CO_OPTIMIZED for code in _changed(before, after))


def _add_probe(node: ast.FunctionDef | ast.AsyncFunctionDef, number: int | None) -> None:
    """Put a call of the probe first in a function that has a number, behind its docstring."""
    if number is None:
        return
    place = 1 if ast.get_docstring(node, clean=False) is not None else 0
    call = ast.parse(f"{PROBE}({number})").body[0]
    for part in ast.walk(call):
        ast.copy_location(part, node.body[min(place, len(node.body) - 1)])
    node.body.insert(place, call)


def _compile(tree: Path, file: str, module: ast.Module) -> CodeType:
    """Compile ``module`` as if Python had found it in the package."""
    path = tree / file if Path(file).parts[0] == PACKAGE else tree / PACKAGE / file
    return compile(module, str(path), "exec", dont_inherit=True)


def _write(file: str, code: CodeType, folder: Path) -> None:
    """Write a ``.pyc`` file, whose first bytes tell for which Python it is."""
    folder.mkdir(parents=True, exist_ok=True)
    content = importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)
    (folder / f"{module_of(file)}.pyc").write_bytes(content)


def _changed(before: CodeType, after: CodeType) -> list[CodeType]:
    """Return the parts of ``after`` that differ themselves, not only in the functions they hold."""
    inner = [
        [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        for code in (before, after)
    ]
    changed = [] if _own_part(before) == _own_part(after) else [after]
    for old, new in zip_longest(*inner):
        if old is not None and new is not None:
            changed += _changed(old, new)
    return changed


def _own_part(code: CodeType) -> Mapping[str, object]:
    constants = [part for part in code.co_consts if not isinstance(part, CodeType)]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return {"code": code.co_code, "constants": list(map(repr, constants)), "names": names}
