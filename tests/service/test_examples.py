"""The examples in the docstrings of what users call first, as they stand there."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import dialectree
from tests.endpoint import LocalEndpoint
from tests.retrieval.pdfs import paper, sentences

FIRST = (
    *("answer", "decide", "verify", "compare", "run", "estimate", "resume", "contest", "load"),
    *("evaluate", "as_tool", "ClaimGate"),
)


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with LocalEndpoint(seed=5) as endpoint:
        yield endpoint.url


def test_the_examples_of_what_users_call_first_run(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", model)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("DIALECTREE_MODEL", "openai:NAME")
    monkeypatch.setenv("DIALECTREE_TOD_EMBEDDINGS", "bm25")
    for name in ("one.pdf", "other.pdf"):
        Path(name).write_bytes(paper(sentences(9, len(name))))
    runner = doctest.DocTestRunner()
    for name in FIRST:
        text = inspect.getdoc(getattr(dialectree, name))
        found = doctest.DocTestParser().get_doctest(text or "", {"dialectree": dialectree}, name, None, 0)
        assert found.examples, name
        runner.run(found)
    assert runner.summarize().failed == 0
