"""Any retriever: what it returned is the run's for good, and only a person names its code."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document as Text
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from pydantic import Field

from dialectree.errors import CallError, DialectreeError, ReplayMiss, SettingsError
from dialectree.models.run import Run
from dialectree.protocols.grounded import GroundedSettings
from dialectree.protocols.settings import accept_settings, build_settings, read_settings
from dialectree.records.journal import Journal
from dialectree.retrieval.blocks import Block
from dialectree.retrieval.corpus import Material
from dialectree.retrieval.material import material_of
from dialectree.retrieval.retriever import import_retriever
from dialectree.retrieval.sources import Document, documents_folder, write_document
from tests.retrieval.test_material import listed

TIDES = Text("The tide comes twice a day.  It\nis high.", metadata={"url": "http://a/tides"})
MOON = Text(
    "The moon pulls the sea.",
    metadata={"source": "moon.pdf", "title": "The moon", "page": 3, "page_label": "4"},
)
SEA = Document.from_blocks("sea.txt", [Block("The sea is deep. It is wide.")])


class Web(BaseRetriever):
    """Finds the same for every query, and counts how often it is asked."""

    texts: list[Text] = Field(default_factory=lambda: [TIDES, MOON])
    asked: list[str] = Field(default_factory=list)

    def _get_relevant_documents(self, query: str, **_: Any) -> list[Text]:
        self.asked.append(query)
        return self.texts


@pytest.fixture
def web() -> Web:
    return Web()


def opened(folder: Path, context: GroundedSettings) -> Run:
    journal = Journal(folder / "calls.jsonl")
    journal.close()  # no call is made
    return Run("", context, journal)


def material(run: Run, context: GroundedSettings, *documents: Document) -> Material:
    for document in documents:
        write_document(document, documents_folder())
    return asyncio.run(material_of(listed(*documents), context, run))


def find(found: Material, query: str, dropped: Sequence[str] = (), count: int = 8) -> list[str]:
    [best] = asyncio.run(found.search([query], count, dropped))
    return [segment.id for segment in best]


def made(**values: Any) -> GroundedSettings:
    return build_settings(GroundedSettings, **{"embeddings": "bm25", **values})


def test_what_is_retrieved_follows_the_documents_as_sources_of_its_own(web: Web, tmp_path: Path) -> None:
    context = made(retriever=web)
    found = material(opened(tmp_path, context), context, SEA)
    assert find(found, "deep sea") == ["s1:1", "s1001:1", "s1002:1"]
    names = [(one.id, one.name, one.title) for one in found.sources.values()]
    urls = ("s1001", "http://a/tides", "http://a/tides")
    assert names == [("s1", "sea.txt", "sea"), urls, ("s1002", "moon.pdf", "The moon")]
    assert found.segment("s1002:1").page == 4 and found.sentence("s1001:1.2") == "It is high."
    assert found.segment("s1001:1").text == "The tide comes twice a day. It is high."
    assert find(found, "deep sea", ["s1001", "s1:1"]) == ["s1002:1"]
    web.texts = [
        Text("The moon pulls the sea."),
        MOON,
        Text(" ".join(f"It is {n} now." for n in range(30)), metadata=MOON.metadata),
        Text("The sea is deep. It is wide."),
    ]
    assert find(found, "another") == ["s1003:1", "s1002:2", "s1002:3", "s1002:4", "s1003:2"]  # alike, once
    assert [len(found.segment(f"s1002:{n}").sentences) for n in (2, 3, 4)] == [12, 12, 6]
    assert found.sources["s1003"].name == "live:Web" and web.asked == ["deep sea", "another"]
    assert [one.id for one in asyncio.run(found.near("moon sea", 2))] == ["s1:1", "s1002:1"]
    assert len(web.asked) == 2
    for id in ("s1003:3", "s1003:1.2", "s9:1", "s1:2", ""):
        with pytest.raises(DialectreeError):
            found.sentence(id)


def test_a_run_that_goes_on_is_told_the_same_and_asks_nobody(web: Web, tmp_path: Path) -> None:
    context = made(retriever=web)
    run = opened(tmp_path, context)
    first = material(run, context)
    before = [find(first, query) for query in ("one", "two")], [*first.sources.values()]
    lines = (tmp_path / "retrievals.jsonl").read_text().splitlines()
    assert [json.loads(line)["query"] for line in lines] == ["one", "two"]
    (tmp_path / "retrievals.jsonl").write_text("\n".join([*lines, '{"by": "torn']))
    recorded = json.loads(context.model_dump_json(include={"embeddings", "retriever"}))
    assert recorded["retriever"] == "live:Web"
    for again in (
        read_settings(GroundedSettings, recorded, "a run", own_run=True),
        made(retriever=web),
        made(),
    ):
        run = opened(tmp_path, again)
        found = material(run, again)
        assert ([find(found, query) for query in ("one", "two")], [*found.sources.values()]) == before
        if again.retriever is not web:
            with pytest.raises(SettingsError, match=r"must not choose code to run: name live:Web again"):
                find(found, "three")
    assert web.asked == ["one", "two"]


def test_what_is_found_after_a_torn_line_is_kept_too(web: Web, tmp_path: Path) -> None:
    """A process that was killed while it wrote leaves a line that nobody can read."""
    context = made(retriever=web)
    first = find(material(opened(tmp_path, context), context), "one")
    with open(tmp_path / "retrievals.jsonl", "a") as file:
        file.write('{"by": "torn')
    for _ in range(2):
        found = material(opened(tmp_path, context), context)
        assert [find(found, query) for query in ("one", "two")] == [first, first]
    assert web.asked == ["one", "two"]


def test_a_replay_is_told_what_any_run_was_told_last(web: Web, tmp_path: Path) -> None:
    context = made(retriever=web)
    find(material(Run("", context), context), "one")
    web.texts = [MOON]
    find(material(Run("", context), context), "one")
    uncached = made(retriever=web, cache=False)
    find(material(Run("", uncached), uncached), "two")
    assert web.asked == ["one", "one", "two"]
    again = made(retriever=web, replay=True)
    found = material(Run("", again), again)
    assert find(found, "one") == ["s1001:1"] and found.sources["s1001"].name == "moon.pdf"
    with pytest.raises(ReplayMiss, match="what live:Web returned to 'two'"):
        find(found, "two")
    assert web.asked == ["one", "one", "two"]


def fails(query: str) -> Any:
    raise ConnectionError("no\nroute")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (fails, "failed: ConnectionError: no route"),
        (lambda query: time.sleep(0.4), r"has not answered within 0\.1 s"),
        (lambda query: ["text"], "returned a str, not documents"),
        (lambda query: None, "returned a NoneType, not documents"),
    ],
)
def test_a_retriever_that_fails_or_hangs_is_named(answer: Any, why: str) -> None:
    def some(query: str) -> Any:
        return answer(query) if query == "bad" else [TIDES]

    context = made(retriever=RunnableLambda(some), call_deadline=0.1)
    run = Run("", context)
    found = material(run, context)
    with pytest.raises(CallError, match=f"the retriever live:RunnableLambda {why}"):
        asyncio.run(found.search(["bad", "good"], 8))
    assert find(found, "good") == ["s1001:1"] and run.retrievals.ids("live:RunnableLambda", "bad") is None


MODULE = """
from tests.retrieval.test_retriever import Web
ready = Web()
class make:
    later = Web
number = 3
"""


def test_code_is_named_by_a_flag_a_variable_or_a_program_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ours_to_find.py").write_text(MODULE)
    for name in ("ours_to_find:ready", "ours_to_find:make.later"):
        monkeypatch.setenv("DIALECTREE_RETRIEVER", name)
        context = made()
        found = material(Run("", context), context)
        assert find(found, "one") == ["s1001:1", "s1002:1"]
        recorded = {"retriever": name, "embeddings": "bm25"}
        assert read_settings(GroundedSettings, recorded, "a run").trust.unnamed == ()
    for name, why in (
        ("ours_to_find:number", "is of type int; give a LangChain BaseRetriever"),
        ("ours_to_find:gone", "cannot be loaded: AttributeError"),
        ("not_there:x", "cannot be loaded: ModuleNotFoundError"),
    ):
        with pytest.raises(SettingsError, match=f"`retriever`: {name} {why}"):
            import_retriever(name)
    monkeypatch.delenv("DIALECTREE_RETRIEVER")
    for wrong in ("no colon", 3, "os.system:ls -l"):
        with pytest.raises(SettingsError, match="`retriever`: a retriever is"):
            made(retriever=wrong)
    for setting in ("retriever", "rerank", "reader"):
        values = {setting: "ours_to_find:ready"}
        assert read_settings(GroundedSettings, values, "a run").trust.unnamed == (setting,)
        assert read_settings(GroundedSettings, values, "a run", values).trust.unnamed == ()
        with pytest.raises(SettingsError, match=f"{setting}: the server's operator sets it"):
            accept_settings(GroundedSettings, values)
        Path("dialectree.toml").write_text(f'{setting} = "ours_to_find:ready"')
        with pytest.raises(SettingsError, match=rf"dialectree\.toml, {setting}: only a flag, DIALEC"):
            made()
        Path("dialectree.toml").unlink()
