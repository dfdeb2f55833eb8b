"""Every command and every Python block of the README and of the site runs as it is printed.

A block that a test cannot run stands below a line ``<!-- not run: reason -->``. Blocks of other
kinds are read or compared with the files that they show. The CPU goes into a hundred debates and
evaluations, whose programs are forks.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from typer.main import get_command

from dialectree.evals.comparisons import smallest_paired
from dialectree.interfaces.cli.program import app
from dialectree.protocols.protocol import Protocol
from dialectree.protocols.protocol import load_protocols as protocols
from dialectree.running import estimates
from tests.docs import files
from tests.docs.blocks import ROOT, Block, blocks, commands, reader, with_local_addresses
from tests.endpoint import LocalEndpoint
from tests.forking import ADDRESS, REHEARSALS

MOST_NOT_RUN = 10
WITH_CLIENTS = ("docs/chat.md", "docs/mcp.md", "docs/server.md")
"""Pages that start servers or use the clients of others."""
WITH_A_TEST_OF_ITS_OWN = ("docs/providers.md",)
"""The page names the addresses of others: test_providers_page.py runs its blocks."""
WITH_ESTIMATES = ("docs/compare-papers.md", "docs/evaluations.md")
"""Pages that show how many calls are estimated."""
READ: dict[str, Callable[[str], object]] = {
    "json": json.loads,
    "jsonl": lambda text: [json.loads(line) for line in text.splitlines()],
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
}
SHOWN = ("csv", "ini", "markdown", "mermaid", "text")
RULES = [{"match": "`winner`: one of these words", "set": {"winner": "ATTACK"}}]
"""No tie, which could not be flipped."""


def written() -> dict[str, str]:
    """Return the pages that are files, by their path in the repository."""
    paths = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}


WRITTEN = written()
page_of: Callable[[Protocol], str] = import_module("docs.generated_pages").protocol_page
GENERATED = {f"protocols/{name}.md": page_of(one) for name, one in protocols().items()}
PAGES = {**WRITTEN, **GENERATED}


def runs(block: Block) -> bool:
    return block.kind in ("console", "python") and block.reason is None


WITH_BLOCKS = [
    pytest.param(name, marks=pytest.mark.clients if name in WITH_CLIENTS else ())
    for name, text in PAGES.items()
    if name not in WITH_A_TEST_OF_ITS_OWN and any(map(runs, blocks(text)))
]


@pytest.fixture(autouse=True)
def few_rehearsals() -> None:
    """Pages say by :data:`WITH_ESTIMATES` how often they rehearse."""


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(rules=RULES) as served:
        yield served


@pytest.mark.parametrize("name", WITH_BLOCKS)
def test_the_blocks_of_a_page_run_in_order(
    name: str, endpoint: LocalEndpoint, target: Path, forked: str, tmp_path: Path
) -> None:
    page = blocks(with_local_addresses(PAGES[name], endpoint.url))
    variables = {
        "DIALECTREE_EMBEDDINGS": "bm25",
        "DIALECTREE_MODEL": "openai:any",
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": endpoint.url,
        "PYTHONPATH": str(target),
    }
    if name in WITH_ESTIMATES:
        variables[REHEARSALS] = str(estimates.MOST)
    if name not in WITH_CLIENTS:
        variables[ADDRESS] = forked
    with reader(tmp_path / "home", **variables) as reading:
        files.write_files(reading.folder)
        reading.read(page)


def test_few_blocks_are_not_run() -> None:
    found = [
        (name, block.line, block.reason)
        for name, text in PAGES.items()
        for block in blocks(text)
        if block.reason is not None
    ]
    marks = sum(text.count("<!-- not run: ") for text in PAGES.values())
    assert marks == len(found) <= MOST_NOT_RUN, found


@pytest.mark.parametrize("name", WRITTEN)
def test_every_block_is_of_a_kind_that_is_run_or_read(name: str) -> None:
    text = WRITTEN[name]
    found = blocks(text)
    assert len(found) * 2 == len(re.findall("^ *(?:```|~~~)", text, re.MULTILINE))
    examples = "".join(
        path.read_text() for path in sorted((ROOT / "examples").rglob("*")) if path.suffix in (".py", ".yaml")
    )
    for block in found:
        if block.kind in READ:
            content = READ[block.kind](block.text)
            servers = content.get("mcpServers", {}) if isinstance(content, dict) else {}
            for server in servers.values():
                if "command" in server:
                    require_options(server["command"], *server["args"])
        elif block.kind == "py":
            assert block.text in examples, block.text
        else:
            assert block.kind in ("console", "python", *SHOWN), block
            for variable in re.findall(r"^(?:\$ export )?DIALECTREE_([A-Z_]+)=", block.text, re.M):
                assert is_read(variable), variable


ROOMS = ("dialectree", "interfaces", "deploy")


def is_read(variable: str) -> bool:
    """Return whether some program reads ``DIALECTREE_`` and this name."""
    sources = (path for part in ROOMS for path in (ROOT / part).rglob("*.py"))
    settings = {name for one in protocols().values() for name in one.settings.model_fields}
    return variable.lower() in settings or any(
        f"DIALECTREE_{variable}" in path.read_text() for path in sources
    )


def require_options(program: str, name: str, *arguments: str) -> None:
    """Fail unless the command ``name`` of ``program`` takes these arguments."""
    assert program == "dialectree"
    group: Any = get_command(app)
    command = group.get_command(click.Context(group), name)
    assert command is not None, name
    command.make_parser(click.Context(command)).parse_args([*arguments])


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_link_outside_the_site_leads_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
    assert [t for t in targets if "://" not in t and not (ROOT / t).exists()] == []


def test_the_readme_begins_with_a_demo_and_names_the_commands_with_which_ci_begins() -> None:
    consoles = [block.text for block in blocks(WRITTEN["README.md"]) if block.kind == "console"]
    calls = [[command.strip() for command, _ in commands(text)] for text in consoles]
    assert calls[0] == ["make demo"]
    assert re.findall(r"^ *PATH=\$bare (make \w+)$", (ROOT / ".ci" / "run").read_text(), re.M) in calls


# Figures and facts that pages state


def test_the_smallest_gains_are_those_of_the_test() -> None:
    rows = re.findall(r"^\| ([\d,]+) \| (\d+) \|$", WRITTEN["docs/evaluations.md"], re.MULTILINE)
    assert len(rows) == 5
    for questions, points in rows:
        gain = smallest_paired(int(questions.replace(",", "")), 0.2)
        assert gain is not None and round(100 * gain) == int(points)


def test_the_citation_names_the_version_and_the_licence_of_the_project() -> None:
    project = metadata("dialectree")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == project["Version"]
    assert citation["license"] == project["License-Expression"]
    assert f"version = {{{project['Version']}}}" in WRITTEN["docs/cite.md"]
