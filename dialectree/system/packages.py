"""Find missing optional packages, and the pip line that installs them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution

from dialectree.errors import MissingPackage


@contextmanager
def explain_missing_package(by: str, requirement: str, advice: str = "") -> Iterator[None]:
    """Raise MissingPackage, with the pip line, if the code of ``by`` lacks a package.

    ``requirement`` is the text for pip. If it is empty, or a module of dialectree itself is missing,
    the ModuleNotFoundError stays: the fault is in the code, not in the installation.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if not requirement or package == "dialectree":
            raise
        raise _missing(by, [package], requirement, advice) from error


def require(by: str, requirement: str, advice: str = "") -> None:
    """Raise MissingPackage, with the pip line, unless all packages of ``requirement`` are installed."""
    if absent := missing(requirement):
        raise _missing(by, absent, requirement, advice)


def _missing(by: str, packages: list[str], requirement: str, advice: str = "") -> MissingPackage:
    line = pip_line(requirement, advice)
    return MissingPackage(f"{by} needs {', '.join(packages)} (not installed): {line}")


def pip_line(requirement: str, advice: str = "") -> str:
    """Return the command that installs ``requirement``, with ``advice`` for the user."""
    return " ".join([f"pip install '{requirement}'", *([f"({advice})"] if advice else [])])


def missing(requirement: str) -> list[str]:
    """Return the missing packages of ``requirement``, such as ``dialectree[eval]``.

    Checks only the packages that ``requirement`` names, not what these packages require.
    """
    return [package for package in _names_in(requirement) if not is_installed(package)]


@cache
def _names_in(requirement: str) -> list[str]:
    """Return the package that ``requirement`` names, and, if installed, the packages of its extras."""
    from packaging.requirements import Requirement

    package = Requirement(requirement)
    if not is_installed(package.name):
        return [package.name]
    dependencies = map(Requirement, distribution(package.name).requires or ())
    return [
        dependency.name
        for dependency in dependencies
        if any(dependency.marker and dependency.marker.evaluate({"extra": extra}) for extra in package.extras)
    ]


def is_installed(package: str) -> bool:
    """Return whether the package called ``package`` is installed."""
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


def extras() -> list[str]:
    """Return the pip requirement of each optional group of packages of dialectree."""
    names = distribution("dialectree").metadata.get_all("Provides-Extra") or []
    return [f"dialectree[{name}]" for name in names if name not in ("all", "dev")]
