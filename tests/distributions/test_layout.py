"""The house: folders, links, build files and names must agree."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

import dialectree
from dialectree.evals.options import EvaluationOptions
from dialectree.interfaces.cli.server_file import content
from dialectree.protocols.protocol import load_protocols
from tests.programs import find_program

ROOT = Path(__file__).resolve().parents[2]
ROOMS = {"evals", "graphs", "interfaces", "nodes", "prompts", "retrieval"}
KERNEL = ("dialectree", "evals", "interfaces", "retrieval")
VERBS = ("dialectree/functions.py",)
"""The functions called as the commands of our protocols are."""


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
def test_the_project_files_serve_what_is_declared(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    served = json.loads((ROOT / f"langgraph{kind and '.'}{kind}.json").read_text())
    declared = content(["."], all_methods=kind == "all", image=kind == "image")
    graphs = {
        name: graph for name, graph in declared["graphs"].items() if graph["path"].startswith("dialectree.")
    }
    assert served == {**declared, "graphs": graphs}
    assert ("no_tree" in served["graphs"]) == (kind == "all")


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build both distributions from the files of the repository, the wheel from the other one."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no repository")
    folder = tmp_path_factory.mktemp("distributions")
    for path in repository_files():
        (folder / "source" / path.parent).mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / "source" / path)
    assert "would be ignored" not in build(folder / "source", folder)
    return folder


def repository_files() -> set[Path]:
    """Return the files of the repository, relative to its root."""
    listed = subprocess.run([find_program("git"), "ls-files"], cwd=ROOT, capture_output=True, text=True)
    return {path for path in map(Path, listed.stdout.split()) if (ROOT / path).is_file()}


def build(source: Path, target: Path, *options: str) -> str:
    """Build what ``source`` distributes into ``target``; return what the build printed."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target), *options]
    done = subprocess.run([*command, source], capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of the wheel in ``folder``, but for the list of them."""
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist() if "RECORD" not in name}


def test_the_distributions_hold_all_that_the_repository_does(distributions: Path) -> None:
    files = repository_files()
    with tarfile.open(next(distributions.glob("*.tar.gz"))) as packed:
        assert files <= {Path(*Path(name).parts[1:]) for name in packed.getnames()}
    names = {Path(name) for name in contents(distributions)}
    rooms = {path for path in files if path.parts[0] in ROOMS}
    assert {"dialectree" / path for path in rooms} <= names
    assert {path for path in files if path.parts[0] == "dialectree"} <= names
    about = f"dialectree-{dialectree.__version__}.dist-info"
    assert {path.parts[0] for path in names} == {"dialectree", about}
    assert not {path for path in names if path.suffix == ".pyc"}
    assert Path(about, "licenses", "LICENSE") in names


def test_the_repository_and_the_source_distribution_make_the_same_wheel(
    distributions: Path, tmp_path: Path
) -> None:
    build(distributions / "source", tmp_path, "--wheel")
    assert contents(tmp_path) == contents(distributions)


def test_the_package_page_has_no_relative_links(distributions: Path) -> None:
    about = f"dialectree-{dialectree.__version__}.dist-info"
    _, _, page = contents(distributions)[f"{about}/METADATA"].decode().partition("\n\n")
    assert page.startswith("# dialectree\n")
    targets = re.findall(r"""(?:\]\(|src=["']|href=["'])([^)"']+)""", page)
    assert [target for target in targets if "://" not in target and target[0] != "#"] == []
    assert "```mermaid" not in page


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("", "\n[A](https://a.example/b) a guide (docs/guide.md#b) [c](#c)\n"),
        (
            'Repository = "https://host.example/us"',
            "![d e](https://host.example/us/raw/HEAD/docs/d.png)\n[A](https://a.example/b) "
            "[a guide](https://host.example/us/blob/HEAD/docs/guide.md#b) [c](#c)\n",
        ),
    ],
)
def test_the_links_of_the_package_page_lead_to_the_repository_once_it_has_a_home(
    url: str, page: str, tmp_path: Path
) -> None:
    shutil.copy(ROOT / "setup.py", tmp_path)
    (tmp_path / "README.md").write_text(
        "![d e](docs/d.png)\n[A](https://a.example/b) [a guide](docs/guide.md#b) [c](#c)\n"
        "```mermaid\nflowchart LR\n```\n\n"
    )
    project = '[project]\nname = "one"\nversion = "1"\ndynamic = ["readme"]\n[project.urls]\n'
    (tmp_path / "pyproject.toml").write_text(project + url)
    command = [sys.executable, "setup.py", "-q", "--long-description"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.removesuffix("\n") == page


def test_the_package_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dialectree", "-h"], capture_output=True, text=True, check=True
    )
    assert "Usage: python -m dialectree" in done.stdout


def test_public_names_exist() -> None:
    public = {"Flow", "Protocol", "run", "resume", "answer", "aanswer", "__version__"}
    assert public <= {*dir(dialectree)}
    for name in dir(dialectree):
        assert getattr(dialectree, name) is not None
    with pytest.raises(AttributeError):
        _ = dialectree.no_such_name


def test_the_version_is_the_declared_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert dialectree.__version__ == version("dialectree") == project["version"]


def test_importing_the_package_and_the_command_line_loads_nothing_heavy() -> None:
    heavy = ("torch", "langgraph", "langchain_core", "openai", "sentence_transformers", "faiss")
    code = (
        "import sys, dialectree, dialectree.interfaces.cli.program; "
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_pin_is_exact_and_names_no_place() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert all("==" in line and "://" not in line and "@" not in line for line in lines)
    assert "torch==2.13.0" in lines


def _named(match: re.Match[str]) -> str:
    return match[2] or match[3]


def test_no_line_of_the_kernel_names_a_protocol_but_in_examples() -> None:
    """Anything particular to a protocol stands in its declaration."""
    ours = [one for one in load_protocols().values() if one.graph.startswith("dialectree.")]
    folders = [one.graph.split(".")[2] for one in ours]
    short = "|".join(one.name for one in ours)
    naming = re.compile(rf"""(["'])({short})\1|\b({"|".join(folders)})\b""")
    options = {*EvaluationOptions.model_fields}  # `eval --vote-first` is older than the protocol
    found: list[str] = []
    for room in KERNEL:
        for path in sorted((ROOT / room).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            linked = any(part.is_symlink() for part in (path, *path.parents))
            if linked or not path.is_file() or "__pycache__" in path.parts or name in VERBS:
                continue
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            code = [(n, line) for n, line in enumerate(lines, 1) if ">>>" not in line]
            own = options if name.startswith(("evals/", "interfaces/cli/evaluat")) else set()
            found += [f"{name}:{n}" for n, line in code if {*map(_named, naming.finditer(line))} - own]
    assert found == []
