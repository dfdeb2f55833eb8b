"""The house: folders, links, build files and names must agree."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import dialectree
from dialectree.cli.server_file import content

ROOT = Path(__file__).resolve().parent.parent
ROOMS = {"evals", "graphs", "nodes", "prompts", "retrieval"}


def test_every_package_folder_is_mapped() -> None:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    links = {p.name for p in (ROOT / "dialectree").iterdir() if p.is_symlink()}
    mapped = {v for k, v in tool["package-dir"].items() if k != "dialectree"}
    assert mapped == ROOMS
    assert links in (mapped, set())  # a checkout without links has none
    folders = [*(ROOT / room for room in mapped), ROOT / "dialectree"]
    on_disk = {
        ".".join(["dialectree", *p.parent.relative_to(base.parent).parts[folder_is_package:]])
        for base in folders
        for folder_is_package in [int(base.name == "dialectree")]
        for p in base.rglob("__init__.py")
        if not any(part.is_symlink() for part in p.parents)
    }
    assert on_disk == set(tool["packages"])


def test_links_point_at_the_rooms_beside_the_package() -> None:
    for link in (p for p in (ROOT / "dialectree").iterdir() if p.is_symlink()):
        assert os.readlink(link) == f"../{link.name}"


@pytest.mark.parametrize("kind", ["", "all", "image"])
def test_the_project_files_serve_what_is_declared(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    served = json.loads((ROOT / f"langgraph{kind and '.'}{kind}.json").read_text())
    declared = content(["."], every=kind == "all", image=kind == "image")
    graphs = {
        name: graph
        for name, graph in declared["graphs"].items()
        if graph["path"].startswith("dialectree.")
    }
    assert served == {**declared, "graphs": graphs}
    assert ("no_tree" in served["graphs"]) == (kind == "all")


def test_the_distributions_hold_all_that_the_repository_does(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no repository")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    source = tmp_path / "source"
    files = {path for path in map(Path, listed.stdout.split()) if (ROOT / path).is_file()}
    for path in files:
        (source / path.parent).mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, source / path)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path)]
    done = subprocess.run([*command, source], capture_output=True, text=True, check=True)
    assert "would be ignored" not in done.stdout + done.stderr
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as packed:
        assert files <= {Path(*Path(name).parts[1:]) for name in packed.getnames()}
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = {Path(name) for name in wheel.namelist()}
    rooms = {path for path in files if path.parts[0] in ROOMS}
    assert {"dialectree" / path for path in rooms} <= names
    assert {path for path in files if path.parts[0] == "dialectree"} <= names


def test_the_package_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dialectree", "-h"], capture_output=True, text=True, check=True
    )
    assert "Usage: python -m dialectree" in done.stdout


def test_public_names_exist() -> None:
    assert {"Flow", "Protocol", "run", "resume", "answer", "aanswer"} <= {*dir(dialectree)}
    for name in dir(dialectree):
        assert getattr(dialectree, name) is not None
    with pytest.raises(AttributeError):
        _ = dialectree.no_such_name


def test_importing_the_package_and_the_command_line_loads_nothing_heavy() -> None:
    heavy = ("torch", "langgraph", "langchain_core", "openai", "sentence_transformers", "faiss")
    code = (
        "import sys, dialectree, dialectree.cli.program; "
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_pin_is_exact_and_names_no_place() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert all("==" in line and "://" not in line and "@" not in line for line in lines)
    assert "torch==2.13.0" in lines
