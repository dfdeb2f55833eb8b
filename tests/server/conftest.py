"""The server that tests share: a start of ``langgraph dev`` takes seconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import LocalEndpoint
from tests.rules import FOUR_CHILDREN
from tests.server.test_langgraph_dev import AT_ONCE, JUDGE_SAYS_B, serving


@pytest.fixture(scope="session")
def endpoint() -> Iterator[LocalEndpoint]:
    """An address that the operator allows."""
    with LocalEndpoint(rules=JUDGE_SAYS_B) as started:
        yield started


@pytest.fixture(scope="session")
def slow() -> Iterator[LocalEndpoint]:
    """Another one, whose replies take a while."""
    with LocalEndpoint(rules=JUDGE_SAYS_B, latency_ms=50) as started:
        yield started


@pytest.fixture(scope="session")
def splitting() -> Iterator[LocalEndpoint]:
    """Another one, which splits the first question into four."""
    with LocalEndpoint(rules=FOUR_CHILDREN) as started:
        yield started


@pytest.fixture(scope="session")
def server_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the server runs."""
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="session")
def server(
    server_folder: Path, endpoint: LocalEndpoint, slow: LocalEndpoint, splitting: LocalEndpoint
) -> Iterator[str]:
    """The address of a server without keys, which has no key for a model either."""
    environment: Any = {
        "OPENAI_API_KEY": "",
        "DIALECTREE_MODEL": "openai:any",
        "DIALECTREE_ALLOW_URLS": f"{endpoint.url}, {splitting.url}/, {slow.url}",
    }
    with serving(server_folder, "--n-jobs-per-worker", str(AT_ONCE), **environment) as url:
        yield url
