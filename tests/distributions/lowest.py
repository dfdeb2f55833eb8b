"""Try the lowest versions that pyproject.toml promises: ``make lowest``.

The argument is the environment into which they are installed. Its file ``lowest.txt`` lists them.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.distributions.trial import COMPARISON, DEBATES, RECORDED, endpoint, try_out

ROOT = Path(__file__).resolve().parents[2]
IMPORT_ALL = """
from importlib import import_module
from pkgutil import walk_packages
import dialectree
for module in walk_packages(dialectree.__path__, "dialectree."):
    if not module.name.endswith("__main__"):
        import_module(module.name)
"""


def main(environment: str) -> None:
    """Fail where a promised version was not installed, or does not work."""
    if broken := untried(Path(environment, "lowest.txt").read_text()):
        raise SystemExit("pyproject.toml promises what was not installed:\n" + "\n".join(broken))
    programs = Path(environment, "bin").absolute()
    with endpoint() as variables:
        imports = ["python", "-c", IMPORT_ALL]
        try_out(programs, [imports, *RECORDED, *DEBATES, COMPARISON], variables)


def untried(installed: str) -> list[str]:
    """Return the requirements whose lowest version is not among those ``installed``."""
    pins = (line.partition(" ")[0].split("==") for line in installed.splitlines())
    versions = {canonicalize_name(name): Version(version) for name, version in pins}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = Requirement(project["optional-dependencies"]["all"][0]).extras
    requirements = [
        *project["dependencies"],
        *(one for extra in extras for one in project["optional-dependencies"][extra]),
    ]
    return [
        f"{one}, but {version} is the lowest that goes with the others"
        for one in map(Requirement, requirements)
        for bound in one.specifier
        if bound.operator == ">="
        if (version := versions[canonicalize_name(one.name)]) != Version(bound.version)
    ]


if __name__ == "__main__":
    main(*sys.argv[1:])
