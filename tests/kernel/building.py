"""Copy the kernel, RSD and a stranger's protocol into an empty folder, and count the kernel.

``python -m tests.kernel.building FOLDER`` does it, and ends with status 1 where the kernel is
larger than it may be.
"""

from __future__ import annotations

import ast
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from dialectree.protocols.plugins import GROUP

ROOT = Path(__file__).parents[2]
ROOMS = ("flow", "models", "protocols", "records", "running", "service", "system")
MODULES = ("answers.py", "errors.py", "text.py", "trace/events.py")
_PACKAGES = ("dialectree/__init__.py", "dialectree/trace/__init__.py")
"""Files that say what a package exports. They are copied, and count for no room."""
PARTS = frozenset(
    (
        *("protocols/calibrations.py", "protocols/routes.py", "records/estimate.py"),
        *("running/estimates.py", "running/recordings.py", "running/rehearsal.py"),
    )
)
"""Modules in the kernel's rooms that are none of it."""
MOST_LINES, MOST_FILES = 9_500, 90
"""Of code, and of the files that have it."""
_RSD = ("graphs/role_switching_debate", "nodes/role_switching_debate")
_SHARED = ("nodes/quotations.py", "dialectree/quotations.py", "graphs/__init__.py")
_PROMPTS = ("role_switching_debate", "small")


def find_kernel_files() -> Iterator[Path]:
    """Yield the files of the kernel, relative to the checkout."""
    kernel = ROOT / "dialectree"
    for room in ROOMS:
        for path in sorted((kernel / room).glob("*.py")):
            if f"{room}/{path.name}" not in PARTS:
                yield path.relative_to(ROOT)
    yield from (Path("dialectree", name) for name in MODULES)
    yield Path("prompts/__init__.py")


def count_code_lines(path: Path) -> int:
    """Return the lines that are neither blank, comment, docstring nor import."""
    text = path.read_text(encoding="utf-8")
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        body = getattr(node, "body", None)
        for one in body if isinstance(body, list) else []:
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
                left_out.update(range(one.lineno, (one.end_lineno or one.lineno) + 1))
    rows = enumerate(text.splitlines(), 1)
    return sum(
        bool(row.strip()) and not row.strip().startswith("#") and number not in left_out
        for number, row in rows
    )


def build(folder: Path) -> tuple[int, int]:
    """Copy all that a debate by RSD takes; return the kernel's lines of code and its files."""
    files = [*find_kernel_files()]
    for path in (*files, *map(Path, _PACKAGES)):
        _copy(path, folder)
    for name in (*_RSD, *_SHARED):
        for path in sorted((ROOT / name).rglob("*.py")) if "." not in name else [ROOT / name]:
            _copy(path.relative_to(ROOT), folder)
    for name in _PROMPTS:
        for path in sorted((ROOT / "prompts" / name).rglob("*.md")):
            _copy(path.relative_to(ROOT), folder)
    _register(folder, "dialectree", "rsd = dialectree.graphs.role_switching_debate:protocol")
    shutil.copytree(ROOT / "examples/mad/mad", folder / "mad", dirs_exist_ok=True)
    _register(folder, "mad", "mad = mad:protocol")
    tests = folder / "tests"
    shutil.copytree(ROOT / "tests/kernel", tests / "kernel", dirs_exist_ok=True)
    (tests / "__init__.py").touch()
    (folder / "pytest.ini").write_text("[pytest]\n")  # without it pytest takes ours, further up
    return sum(count_code_lines(ROOT / path) for path in files), len(files)


def _copy(path: Path, folder: Path) -> None:
    """Copy a file of the checkout to where the installed package has it."""
    inside = path if path.parts[0] == "dialectree" else Path("dialectree", path)
    (folder / inside.parent).mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / path, folder / inside)


def _register(folder: Path, name: str, entry: str) -> None:
    """Write what says that a package is installed and which protocol it has."""
    about = folder / f"{name}-0.1.0.dist-info"
    about.mkdir(exist_ok=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n")
    (about / "entry_points.txt").write_text(f"[{GROUP}]\n{entry}\n")


def main() -> int:
    """Build, print what the kernel has, and return the exit status."""
    lines, files = build(Path(sys.argv[1]))
    print(f"the kernel: {lines:,} lines of code in {files} files")
    if lines > MOST_LINES or files > MOST_FILES:
        print(f"that is more than {MOST_LINES:,} in {MOST_FILES}: delete, or build a part", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
