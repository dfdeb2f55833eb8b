"""Runs in the background of a server: broken off and taken up again at once."""

from __future__ import annotations

import asyncio
from pathlib import Path

from dialectree.interfaces.background import BackgroundDebates
from dialectree.protocols.protocol import method
from tests.endpoint import LocalEndpoint


def test_a_run_goes_on_at_once_while_it_is_being_broken_off(tmp_path: Path) -> None:
    async def break_off_and_resume() -> None:
        with LocalEndpoint(latency_ms=50.0) as endpoint:
            settings = {"model": f"openai:any@{endpoint.url}", "cache": False}
            debates = BackgroundDebates(tmp_path)
            given = {"question": "What do cows eat?", "options": ["plants", "meat"]}
            run = await debates.start(method("rsd"), given, settings)
            assert not await run.follow(0.08)
            broken_off = asyncio.create_task(debates.cancel(run.record.run_id))
            while not run.ending:
                await asyncio.sleep(0)
            again = await debates.resume(run.record.run_id, {})
            assert again is not run
            assert (await broken_off).status in ("partial", "running")
            assert await again.follow(30)
            record = await asyncio.to_thread(debates.result, run.record.run_id)
            assert record.status == "answered" and record.usage.calls == 9

    asyncio.run(break_off_and_resume())
