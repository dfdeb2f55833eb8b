"""Make the package page out of the README, and signatures for editors out of the declarations.

All else stands in pyproject.toml.

A package page is not the repository: relative links and pictures lead nowhere on it, and it draws
no Mermaid. With ``Repository`` among the project's URLs they lead there. Without one, a link shows
the path of its file, which is in the source distribution, and a picture is left out.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

DRAWING = re.compile(r"^```mermaid\n.*?^```\n+", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"!\[([^]]*)\]\((?!\w+:)([^)]+)\)")
LINK = re.compile(r"(?<!!)\[([^]]*)\]\((?!\w+:|#)([^)]+)\)")


def package_page(readme: str, repository: str | None) -> str:
    """Return ``readme`` without what a package page cannot show."""
    page = DRAWING.sub("", readme)
    if repository:
        page = PICTURE.sub(rf"![\1]({repository}/raw/HEAD/\2)", page)
        return LINK.sub(rf"[\1]({repository}/blob/HEAD/\2)", page)
    return LINK.sub(r"\1 (\2)", PICTURE.sub("", page))


ROOT = Path(__file__).resolve().parent


class BuildWithSignatures(build_py):
    """Writes ``dialectree/service/functions.pyi``, in an editable install beside its module."""

    def run(self) -> None:
        """Build the modules, then the signatures, of the declarations that were built."""
        super().run()
        self.run_command("egg_info")  # tells which declarations there are
        built = ROOT if self.editable_mode else Path(self.build_lib).resolve()
        target = built / "dialectree" / "service" / "functions.pyi"
        # What was there may lead to the packages that pip installed for this build.
        path = os.pathsep.join([str(built), str(ROOT), os.environ.get("PYTHONPATH", "")])
        # -B: compiled files that it wrote to the build would be packed.
        command = [sys.executable, "-BP", "-m", "dialectree.service.stub", str(target)]
        subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=True)


urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
setup(
    cmdclass={"build_py": BuildWithSignatures},
    long_description=package_page(
        (ROOT / "README.md").read_text(encoding="utf-8"), urls.get("Repository")
    ),
    long_description_content_type="text/markdown",
)
