"""A run at an endpoint that refuses all that is optional: it is stopped, resumed and contested."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import dialectree
from dialectree.contests import Replace
from dialectree.errors import BudgetReached
from dialectree.records.folder import RunFolder
from tests.endpoint.instances import Inventor
from tests.models.scripted_endpoint import Answer, ScriptedEndpoint, fails, says
from tests.running.test_old_runs import copy_of

pytestmark = pytest.mark.anyio
REFUSED = ("max_tokens", "temperature", "top_p", "seed")
ASKED: Any = {"question": "What do cows eat?", "options": ["plants", "meat"], "cache": False}


@pytest.fixture
def anyio_backend() -> str:
    """Let asynchronous tests run in asyncio alone."""
    return "asyncio"


def behave(body: Any) -> Answer:
    """Refuse what is optional, one after the other; else reply by chance."""
    for name in REFUSED:
        if body.get(name) is not None:
            words = f"Unsupported parameter: '{name}' is not supported with this model."
            return fails(400, words, param=name, code="unsupported_parameter")
    prompt = json.dumps(body["messages"])
    invent = Inventor(random.Random(prompt), ("so", "it", "is"), {})
    return says(json.dumps(invent.instance(body["response_format"]["json_schema"]["schema"])))


async def test_it_is_stopped_resumed_and_contested_and_pays_nothing_twice() -> None:
    async with ScriptedEndpoint(choose=behave) as served:
        model: Any = {"model": f"openai:any@{served.url}"}
        with pytest.raises(BudgetReached) as stopped:
            await dialectree.arun("rsd", **ASKED, **model, max_calls=4)
        folder = RunFolder(Path("runs", str(stopped.value.run_id)))
        held = {call.key for call in folder.ledger()}
        assert len(held) == 4
        assert all(call.sent and call.sent.decoding == {} for call in folder.ledger())
        record = await dialectree.aresume(folder.path, **model)
        assert record.status in ("answered", "unresolved")  # its judge rules by chance
        assert held < {call.key for call in folder.ledger()}
        refused = [body for body in served.bodies if any(body.get(one) for one in REFUSED)]
        assert len(served.bodies) == record.usage.calls + len(refused) and len(refused) <= 4
        new = await dialectree.acontest(folder.path, [Replace("0/B4", "No.")], **model)
        assert new.verdict is not None and 0 < new.usage.calls < record.usage.calls


async def test_a_run_that_kept_no_sampling_of_its_calls_is_read_again() -> None:
    folder = copy_of("rsd", "finished")
    before = folder.record()
    told = [json.loads(line) for line in (folder.path / "calls.jsonl").read_text().splitlines()]
    for line in told:
        del line["sent"]["decoding"]
    folder.write("calls.jsonl", "".join(f"{json.dumps(line)}\n" for line in told))
    resumed = await dialectree.aresume(folder.path)
    assert (resumed.status, resumed.verdict) == (before.status, before.verdict)
    assert all(call.sent and call.sent.decoding == {} for call in folder.ledger())
