"""A debate argues from what any retriever returns, and a run that goes on is told the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document

import dialectree
from dialectree.contests import Drop, Restore
from dialectree.errors import SettingsError
from dialectree.records.folder import RunFolder
from tests.breaking_off import Crash
from tests.grounding import Pointing, pointing, written
from tests.retrieval.test_retriever import Web

QUESTION = "What do cows eat?"
FOUND = [
    Document("Cows eat grass. Some lick clay.", metadata={"url": "http://a/cows"}),
    Document("A cow chews twice.", metadata={"url": "http://b/cows", "title": "Chewing"}),
]


@pytest.mark.parametrize("sources", [False, True])
def test_a_run_goes_on_and_is_contested_with_what_the_retriever_returned(
    tmp_path: Path, sources: bool
) -> None:
    web = Web(texts=FOUND)
    given: dict[str, Any] = {"runs": tmp_path / "runs", "retriever": web, "question": QUESTION}
    given["options"] = ["grass", "meat"]
    if sources:
        given["sources"] = [str(written(tmp_path / "notes"))]
    expected = dialectree.estimate("rsd", **given)
    assert expected.calls.median == 10 and not web.asked
    with pytest.raises(Crash):
        dialectree.run("rsd", **given, model=pointing(Pointing(fragile_at=7)), cache=False)
    [folder] = RunFolder.all(tmp_path / "runs")
    asked = [*web.asked]
    record = dialectree.resume(folder.path, model=pointing(), cache=False)
    assert asked and web.asked == asked
    assert record.status == "answered" and record.settings["retriever"] == "live:Web"
    assert record.tree.segments["s1001:1"].source == "http://a/cows"
    first = "s1:1.1" if sources else "s1001:1.1"
    assert [ground.id for ground in record.verdict.grounds] == [first]
    again: dict[str, Any] = {"model": pointing(), "runs": tmp_path / "runs", "cache": False}
    contested = dialectree.contest(folder.path, [Drop("s1001")], **again)
    assert "s1001" not in str(contested.verdict.grounds) and contested.verdict.grounds
    restored = dialectree.contest(contested, [Restore("s1001")], **again)
    assert restored.verdict == record.verdict and web.asked == asked
    (RunFolder(restored.path).path / "retrievals.jsonl").unlink()
    with pytest.raises(SettingsError, match="must not choose code to run: name live:Web again"):
        dialectree.contest(restored, [Drop("s1002")], **again)
