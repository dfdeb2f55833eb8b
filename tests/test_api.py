"""dialectree from Python."""

import asyncio
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

import dialectree
from dialectree.errors import InputError, SettingsError
from dialectree.protocols.protocol import method
from tests.endpoint import LocalEndpoint
from tests.rules import children

ROOT = Path(__file__).resolve().parent.parent
QUESTION = "Do all people in Europe speak one language?"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with LocalEndpoint(rules=children(2)) as endpoint:
        yield endpoint.url


def test_answer_returns_the_record_that_lies_in_the_folder(url: str) -> None:
    record = dialectree.answer(QUESTION, model=f"openai:any@{url}", max_depth=0)
    assert record.usage.calls == 8
    assert record.verdict is not None
    assert record.verdict.answer
    (folder,) = Path("runs").iterdir()
    assert dialectree.RunRecord.read((folder / "run.json").read_text()) == record


def test_answer_works_where_a_loop_is_already_running(url: str) -> None:
    async def notebook() -> dialectree.RunRecord:
        return dialectree.answer(QUESTION, model=f"openai:any@{url}", max_depth=0)

    assert asyncio.run(notebook()).status == "answered"


CELL = """
import asyncio, sys, dialectree

async def cell():
    dialectree.answer("Q?", method_name="best_of_n", samples=9, concurrency=1, model=sys.argv[1])

try:
    asyncio.new_event_loop().run_until_complete(cell())
except KeyboardInterrupt:
    print("interrupted", flush=True)
    input()
"""


def test_interrupting_a_notebooks_cell_ends_the_debate_as_in_a_script() -> None:
    with (
        LocalEndpoint(latency_ms=500) as slow,
        subprocess.Popen(
            [sys.executable, "-c", CELL, f"openai:any@{slow.url}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as notebook,
    ):
        give_up = time.monotonic() + 60
        while not slow.stats()["running"]:
            assert time.monotonic() < give_up and notebook.poll() is None
            time.sleep(0.02)
        notebook.send_signal(signal.SIGINT)
        assert notebook.stdout is not None
        assert notebook.stdout.readline() == "interrupted\n"
        (folder,) = Path("runs").iterdir()
        record = dialectree.RunRecord.read((folder / "run.json").read_text())
        assert (record.status, record.notices) == ("partial", ["interrupted"])
        assert record.usage.calls == slow.stats()["calls"] < 10
        assert (folder / "report.html").exists()
        notebook.communicate("\n", timeout=20)
        assert slow.stats()["calls"] == record.usage.calls


def test_several_questions_at_once_do_not_mix(url: str) -> None:
    questions = [f"Is {n} a number?" for n in range(5)]

    async def debate() -> list[dialectree.RunRecord]:
        asked = (dialectree.aanswer(q, model=f"openai:any@{url}", max_depth=0) for q in questions)
        return list(await asyncio.gather(*asked))

    records = asyncio.run(debate())
    assert [record.input["question"] for record in records] == questions
    assert [record.tree.nodes["0"].text for record in records] == questions
    assert len({record.run_id for record in records}) == 5


def test_a_tool_answers_with_the_confidence_and_the_run(url: str) -> None:
    tool = dialectree.as_tool("tsd", model=f"openai:any@{url}", max_depth=0)
    said = tool.invoke({"question": QUESTION})
    assert re.search(r"Confidence: \S+\. Run: \d{8}-\d{6}-[0-9a-f]{6}\.", said)
    assert tool.name == "dialectree_tsd"


def test_wrong_settings_are_said_before_a_folder_is_made() -> None:
    with pytest.raises(SettingsError, match=r"^max_depth: "):
        dialectree.answer(QUESTION, max_depth=-1)
    with pytest.raises(SettingsError, match="max_dpeth"):
        dialectree.answer(QUESTION, **cast(Any, {"max_dpeth": 1}))
    with pytest.raises(InputError, match="empty"):
        dialectree.answer("  ")
    with pytest.raises(InputError, match="--method magic: there is no such method; known: "):
        method("magic")
    assert not Path("runs").exists()
