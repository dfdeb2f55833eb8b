"""Try a wheel on each Python of this machine that it is for: ``make dist``."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.distributions.trial import DEBATES, RECORDED, endpoint, try_out

ROOT = Path(__file__).resolve().parents[2]
PYENV = Path.home() / ".pyenv" / "versions"
FROM_THE_WHEEL = "import dialectree, sys; assert dialectree.__file__.startswith(sys.prefix)"


def pythons() -> Iterator[str]:
    """Yield one interpreter of each version that pyproject.toml names, where there is one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for version in re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"])):
        candidates = [f"python{version}", *map(str, PYENV.glob(f"{version}.*/bin/python"))]
        for python in filter(shutil.which, candidates):
            if subprocess.run([python, "-c", ""], capture_output=True).returncode == 0:
                yield python
                break
        else:
            print(f"There is no Python {version} here.")


def main(wheel: str) -> None:
    """Install ``wheel`` into an empty environment of each Python, and debate there."""
    with endpoint() as variables:
        for python in pythons():
            with TemporaryDirectory() as folder:
                print(f"{python}: installing {Path(wheel).name}", flush=True)
                subprocess.run([python, "-m", "venv", folder], check=True)
                programs = Path(folder, "bin")
                pip: list[str | Path] = [programs / "python", "-m", "pip", "install", "-q"]
                pip += ["-c", ROOT / "constraints.txt", wheel]
                subprocess.run(pip, check=True)
                imported = ["python", "-c", FROM_THE_WHEEL]
                try_out(programs, [imported, *RECORDED, *DEBATES], variables)


if __name__ == "__main__":
    main(*sys.argv[1:])
