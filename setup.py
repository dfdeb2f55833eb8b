"""Make the package page out of the README.

All else stands in pyproject.toml.

A package page is not the repository: relative links and pictures lead nowhere on it, and it draws
no Mermaid. With ``Repository`` among the project's URLs they lead there. Without one, a link shows
the path of its file, which is in the source distribution, and a picture is left out.
"""

import re
import tomllib
from pathlib import Path

from setuptools import setup

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

urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
setup(
    long_description=package_page((ROOT / "README.md").read_text(encoding="utf-8"), urls.get("Repository")),
    long_description_content_type="text/markdown",
)
